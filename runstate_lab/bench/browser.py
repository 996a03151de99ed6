"""Row: from a press to what is seen of it, in a real JupyterLab and a real Chromium.

The time runs from the click until the widget has told its new place and the
browser has painted a frame, so that a frame's own length is part of it.

What is not here: the laboratory (see `lab`).
"""

from __future__ import annotations

from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from runstate_lab.bench.lab import SIZE, Visit, a_browser, a_server, a_visit
from runstate_lab.bench.rows import Aim, Line, Row
from runstate_lab.bench.scale import Scale
from runstate_lab.bench.timing import spread

BOARD = 'from runstate_lab.live import Board\nBoard("two_writers")'
RUN = """from runstate_lab import RunState, Runtime, StateProposal, StateStore, ToolCall
from runstate_lab.live import RunView
store = StateStore(RunState("run-7"))
runtime = Runtime(store)
runtime.accept_runtime(StateProposal("run_started", "", 0))
for number in range({events} // 2):
    call = ToolCall(f"c{{number}}", "scan")
    state = runtime.accept_runtime(StateProposal("tool_dispatched", call, store.load().revision))
    runtime.accept_tool_result(
        "scan", StateProposal("tool_result_recorded", f"scan{{number}}=clean", state.revision),
        call_id=call.call_id)
RunView(store)"""

PRESSES = """async ([choices, presses]) => {
  const root = document.querySelector("section.runstate");
  const open = (name) => {
    const found = root.querySelector(`[data-do="${name}"]`);
    return found && found.getAttribute("aria-disabled") !== "true" ? found : null;
  };
  const painted = () => new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  const told = () => new Promise((done) => {
    const watch = new MutationObserver(() => { watch.disconnect(); done(); });
    watch.observe(root, { attributes: true });
  });
  const took = [];
  for (let press = 0; press < presses; press += 1) {
    const button = choices.map(open).find(Boolean);
    await painted();
    const begun = performance.now(), effect = told();
    button.click();
    await effect;
    await painted();
    took.push(performance.now() - begun);
  }
  return took;
}"""
SCRUB = """async () => {
  const root = document.querySelector("section.runstate");
  const bar = root.querySelector('[data-do="forward"]');
  root.querySelector('[data-do="first"]').click();
  const begun = performance.now();
  let steps = 0;
  while (bar.getAttribute("aria-disabled") !== "true") {
    bar.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true }));
    await Promise.resolve();
    steps += 1;
  }
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
  return [steps, performance.now() - begun];
}"""


def measure(scale: Scale) -> Row:
    """How long a press takes to be seen, and how long it takes to scrub through a long run."""
    events = scale.steps[0]
    with TemporaryDirectory() as folder, a_browser() as browser:
        with a_server(Path(folder)) as server, a_visit(browser, server) as visit:
            presses = _shown(visit, "board.ipynb", BOARD).evaluate(
                PRESSES, [["A", "B", "reset"], scale.laps // 20 + 7]
            )
            page = _shown(visit, "run.ipynb", RUN.format(events=events))
            steps, scrubbed = page.evaluate(SCRUB)
            version = browser.version
    lines = (
        Line("a press on the board", median(presses), "ms", spread=spread(presses)),
        Line(f"a scrub through {steps:,} steps", scrubbed / 1000, "s"),
        Line("one step of that scrub", scrubbed / max(steps, 1), "ms"),
    )
    aim = Aim("click to visible effect, in ms", 100, median(presses), at_most=True)
    wide, high = SIZE["width"], SIZE["height"]
    note = f"Chromium {version}, {wide} x {high}; {len(presses)} presses; a frame is 16.7 ms of each"
    return Row("browser", "press to effect, and scrubbing", lines, (aim,), (note,))


def _shown(visit: Visit, name: str, cell: str) -> Any:
    """The page, once the widget of the only cell is on it."""
    visit.open(visit.server.write(name, [cell]))
    visit.run_all()
    visit.page.locator("section.runstate [data-do='forward']").wait_for()
    return visit.page
