// Look at a run: a picture, a slider, three panes. Every step came from Python at once; nothing is run here.
const RUN_MOVES = ["at", "since", "hidden", "rejected", "folds", "words", "opened"];

function render({ model, el }) {
  const root = openRoot(el, "Look at a run", "rs-runview");
  const view = { skipped: {} };
  const build = () => {
    view.run = null;
    const key = keyOfFocus(root), stage = freshStage(root);
    if (model.get("sealed")) return stage.append(...sealedParts(model));
    view.run = openRun(model.get("graph"));
    stage.append(...runParts(model, stage, view));
    paintRun(model, root, view);
    focusOn(root, key);
  };
  const repaint = () => { if (view.run) paintRun(model, root, view); };
  const quiet = [watch(model, ["sealed", "graph", "prediction"], build), watch(model, RUN_MOVES, repaint), watch(model, ["picked"], () => { if (view.run) paintPicked(model, root, view); })];
  const room = new ResizeObserver(() => { if (view.run && Math.abs((view.width ?? 0) - view.picture.clientWidth) > 1) repaint(); });
  build();
  room.observe(root);
  return () => { quiet.forEach((stop) => stop()); room.disconnect(); };
}

function runParts(model, stage, view) {
  const { run } = view;
  view.title = element("p", { class: "rs-run-title" }, element("b", {}, run.graph.run), " ", element("span", { class: "rs-soft-note" }));
  view.picture = element("div", { class: "rs-picture" });
  view.scrub = scrubber(stage, { at: () => model.get("at"), length: () => run.newest, go: (to) => move(model, view, to) });
  view.live = element("p", { class: "rs-live", role: "status", "aria-live": "polite" });
  view.state = pane("State");
  view.trace = pane("Trace");
  view.context = pane("Context");
  view.context.body.tabIndex = 0;
  view.owner = pane("Who wrote it?");
  view.changes = changesPane(model, view);
  view.filter = filterPart(model, view);
  on(view.state.body, "keydown", (press) => roveCells(press, view));
  on(view.trace.body, "keydown", (press) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[press.key];
    if (!by) return;
    press.preventDefault();
    move(model, view, model.get("at") + by);
  });
  const { choice, why } = model.get("prediction");
  const foretold = choice ? element("p", { class: "rs-prediction" }, element("span", {}, element("b", {}, "You said: "), choice, why ? ` (${why})` : "")) : null;
  const begins = run.graph.begins ? element("p", { class: "rs-begins" }, run.graph.begins) : null;
  return [faultPlace(model), foretold, element("div", { class: "rs-run-head" }, view.title, refreshPart(model)), begins, view.filter.part, view.picture, view.scrub.bar, view.live,
    element("div", { class: "rs-panes" }, view.state.part, view.trace.part, view.context.part),
    element("div", { class: "rs-panes rs-below" }, view.owner.part, view.changes.part),
    exportBar(stage, "run", { table: () => wholeRunTable(view) })].filter(Boolean);
}

// One step on or back passes over what is folded; a jump goes where it was told.
function move(model, view, to) {
  const at = model.get("at"), shown = view.rows.filter((row) => !row.folded).map((row) => row.first);
  const target = to === at + 1 ? shown.find((number) => number > at) : to === at - 1 ? shown.findLast((number) => number < at) : to;
  if (target !== undefined) store(model, { at: Math.max(0, Math.min(view.run.newest, target)) });
  view.scrub.show();
}

function roveCells(press, view) {
  const by = { ArrowUp: -1, ArrowDown: 1 }[press.key];
  const buttons = [...view.state.body.querySelectorAll("[data-cell]")], here = buttons.indexOf(press.target);
  if (!by || here < 0) return;
  press.preventDefault();
  const next = buttons[Math.max(0, Math.min(buttons.length - 1, here + by))];
  next.focus();
  next.click();
}

function movesOf(model, root, view) {
  const { run } = view, at = Math.min(model.get("at"), run.newest), picked = model.get("picked");
  view.rows = siftedRows(model, view);
  return {
    run, at, rows: view.rows, said: saidAt(run, at), picked, owner: ownerOf(run, picked, at), since: model.get("since"),
    go: (to) => store(model, { at: to }), pick: (picked) => store(model, { picked }), repaint: () => paintRun(model, root, view),
    unfold: (first, open) => store(model, { opened: open ? [...model.get("opened"), first] : model.get("opened").filter((one) => one !== first) }),
  };
}

function paintRun(model, root, view) {
  const moves = movesOf(model, root, view), { run, at, rows } = moves, key = keyOfFocus(root);
  Object.assign(root.dataset, { at: String(at), steps: String(run.newest), revision: String(run.steps[at].revision), picked: moves.picked, rows: String(rows.length) });
  const width = view.picture.clientWidth;
  view.width = width;
  const many = run.newest === 1 ? "1 step" : `${run.newest} steps`;
  view.title.lastChild.textContent = `${many}, ${run.refused ??= run.steps.filter(({ code }) => code).length} refused`;
  for (const paint of [paintRunPicture, paintRunState, paintRunTrace, paintRunContext, paintRunOwner, paintRunChanges]) paint(view, moves);
  view.live.textContent = legal(moves.said) + (rows[placeOf(rows, at)]?.folded ? " This step is folded away now." : "");
  for (const part of [view.scrub, view.filter, view.changes]) part.show();
  centre(view.trace.body, view.trace.body.querySelector(".rs-now"));
  focusOn(root, key);
}

// Another field under the lens changes nothing else on the page.
function paintPicked(model, root, view) {
  const moves = movesOf(model, root, view), key = keyOfFocus(root);
  root.dataset.picked = moves.picked;
  paintRunState(view, moves);
  paintRunOwner(view, moves);
  markColumns(view, moves);
  focusOn(root, key);
}

// What is drawn anew keeps the focus: an element is known by its key.
function keyOfFocus(root) {
  const focus = root.getRootNode().activeElement;
  return root.contains(focus) ? focus.dataset.key : undefined;
}

function focusOn(root, key) {
  if (key) root.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

function siftedRows(model, view) {
  const sieve = { hidden: model.get("hidden"), rejected: model.get("rejected"), folds: model.get("folds"), words: model.get("words"), opened: model.get("opened") };
  const asked = JSON.stringify(sieve);
  if (view.sieved?.run === view.run && view.sieved.asked === asked) return view.sieved.rows;
  const rows = siftRows(view.run, sieve);
  view.sieved = { run: view.run, asked, rows };
  return rows;
}

function changesPane(model, view) {
  const input = element("input", { type: "text", inputmode: "numeric", size: "4", id: freshId("since"), autocomplete: "off" });
  const why = element("span", { class: "rs-why", role: "status", id: freshId("why") });
  const here = element("button", { type: "button" }, "Compare from here"), previous = element("button", { type: "button" }, "Previous step"), note = element("span", { class: "rs-why", id: freshId("why") });
  const form = element("form", { class: "rs-since" }, element("label", { for: input.id }, "Since step"), input, here, previous, note, why);
  input.setAttribute("aria-describedby", why.id);
  on(form, "submit", (happening) => {
    happening.preventDefault();
    const typed = input.value.trim(), step = Number(typed), fits = /^\d+$/.test(typed) && step <= view.run.newest;
    why.textContent = fits ? "" : `${typed || "nothing"} is not a step from 0 to ${view.run.newest}`;
    input.setAttribute("aria-invalid", String(!fits));
    if (fits) store(model, { since: step });
  });
  sendOnEnter(input, form);
  on(input, "change", () => form.requestSubmit());
  on(here, "click", () => store(model, { since: model.get("at") }));
  on(previous, "click", () => { if (!isOff(previous)) store(model, { since: -1 }); });
  const made = pane("What changed", form), list = element("div", {});
  made.body.append(list);
  const show = () => {
    const since = model.get("since");
    if (input !== input.getRootNode().activeElement) input.value = String(since < 0 ? Math.max(0, model.get("at") - 1) : since);
    switchControl(previous, note, since < 0 ? "shown now" : "");
  };
  return { ...made, list, show };
}

function filterPart(model, view) {
  const search = element("input", { type: "text", size: "18", id: freshId("search"), autocomplete: "off", spellcheck: "false" });
  on(search, "input", () => store(model, { words: search.value, opened: [] }));
  const refused = checkbox("rejected only", () => store(model, { rejected: refused.input.checked, opened: [] }));
  const idle = checkbox("fold steps that changed nothing", () => store(model, { folds: idle.input.checked, opened: [] }));
  const sources = view.run.graph.sources.map((source) => {
    const one = checkbox(source, () => store(model, { hidden: one.input.checked ? model.get("hidden").filter((name) => name !== source) : [...model.get("hidden"), source], opened: [] }));
    return { source, ...one };
  });
  const all = element("button", { type: "button" }, "Show everything"), note = element("span", { class: "rs-why", id: freshId("why") });
  on(all, "click", () => { if (!isOff(all)) store(model, { hidden: [], rejected: false, folds: false, words: "", opened: [] }); });
  const now = element("span", { class: "rs-soft-note", role: "status" });
  const part = element("details", { class: "rs-filter", open: view.filterOpen ? "" : null }, element("summary", {}, "Filter and fold ", now),
    element("div", { class: "rs-bar" }, element("span", { class: "rs-search" }, element("label", { for: search.id }, "Search"), search), element("div", { class: "rs-choice" }, refused.part, idle.part)),
    element("fieldset", { class: "rs-choice" }, element("legend", {}, "Sources"), ...sources.map((one) => one.part)), element("p", { class: "rs-go" }, all, note));
  on(part, "toggle", () => { view.filterOpen = part.open; });
  const show = () => {
    const hidden = model.get("hidden"), shown = view.rows.filter((row) => !row.folded && row.first).length;
    if (search.value !== model.get("words")) search.value = model.get("words");
    refused.input.checked = model.get("rejected");
    idle.input.checked = model.get("folds");
    for (const { source, input } of sources) input.checked = !hidden.includes(source);
    now.textContent = `${shown} of ${view.run.newest} steps shown`;
    const open = !hidden.length && !model.get("rejected") && !model.get("folds") && !model.get("words");
    switchControl(all, note, open ? "nothing is hidden" : "");
  };
  return { part, show };
}

function checkbox(label, change) {
  const input = element("input", { type: "checkbox" });
  on(input, "change", change);
  return { input, part: element("label", {}, input, element("span", {}, label)) };
}

function refreshPart(model) {
  if (!model.get("rereads")) return null;
  const button = element("button", { type: "button", "data-key": "refresh" }, "Read the store again"), note = element("span", { class: "rs-why", role: "status" });
  on(button, "click", () => {
    note.textContent = "";
    const heard = (message) => {
      if (!message.refreshed) return;
      settled();
      if (note.textContent === SILENT) note.textContent = "";
      model.off("msg:custom", heard);
    };
    model.on("msg:custom", heard);
    const settled = askKernel(model, { refresh: true }, (words) => { note.textContent = words; });
  });
  return element("span", { class: "rs-refresh" }, note, button);
}
