// The status chart: press an event, an arrow or the status you want to reach; the store answers.
// A chart that asks first draws no arrow that nobody has found yet, and answers when a status is expected.
const REFUSED = "refused";
const AIMS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const HOPE_GAP = 5;

function render({ model, el }) {
  const root = openRoot(el, "Status chart: try an event", "rs-in-chart");
  const view = {};
  const build = () => {
    const stage = freshStage(root);
    view.live = null;
    if (model.get("sealed")) return stage.append(...sealedParts(model));
    stage.append(...chartParts(model, stage, view).filter(Boolean));
    paintChart(model, root, view);
  };
  // A chart that was just unsealed is told its attempts before it is built.
  const repaint = () => { if (model.get("graph").nodes && view.live) paintChart(model, root, view); };
  const quiet = [watch(model, ["sealed", "graph", "predicting"], build), watch(model, ["tries", "at", "expectations", "proposed", "expected"], repaint)];
  build();
  return () => quiet.forEach((stop) => stop());
}

function chartParts(model, stage, view) {
  const graph = model.get("graph");
  view.picture = element("div", { class: "rs-picture" }, buildDrawing(model, view));
  view.live = element("p", { class: "rs-live", role: "status", "aria-live": "polite" });
  view.holds = element("p", { class: "rs-holds" });
  view.events = element("div", { class: "rs-events", role: "group", "aria-label": "Propose an event" });
  view.buttons = Object.fromEntries(graph.kinds.map((kind) => [kind, eventButton(model, view, kind)]));
  view.events.append(...Object.values(view.buttons));
  view.reset = element("button", { type: "button", "data-do": "reset" }, "Start again");
  view.resetNote = element("span", { class: "rs-why", id: freshId("why") });
  on(view.reset, "click", () => { if (!isOff(view.reset)) store(model, { tries: [], expectations: [], at: 0, proposed: "", expected: "" }); });
  view.scrub = scrubber(stage, { at: () => model.get("at"), length: () => model.get("tries").length, go: (at) => store(model, { at, proposed: "", expected: "" }) });
  view.scrub.bar.append(view.reset, view.resetNote);
  view.trace = element("div", { class: "rs-trace" });
  return [faultPlace(model), view.picture, view.holds, view.live, model.get("predicting") ? askingBar(model, view) : null,
    view.events, view.scrub.bar, view.trace, exportBar(stage, "status-chart")];
}

function askingBar(model, view) {
  const refused = element("button", { type: "button", "data-do": "refused" }, "I expect: it is refused");
  on(refused, "click", () => foresee(model, REFUSED));
  view.score = element("span", { class: "rs-score" });
  return element("div", { class: "rs-asking", role: "group", "aria-label": "What do you expect?" },
    element("span", { class: "rs-why" }, "Expect a status: press it in the diagram. Or:"), refused, view.score);
}

function eventButton(model, view, kind) {
  const button = element("button", { type: "button", class: "rs-event", "data-do": kind });
  on(button, "click", () => {
    propose(model, kind);
    // What comes next is in the diagram; the keyboard goes there too.
    if (model.get("proposed")) view.nodes[view.lit].focus();
  });
  return button;
}

function propose(model, kind) {
  if (model.get("predicting") && !model.get("expected")) return store(model, { proposed: kind });
  answer(model, kind, model.get("expected"));
}

function foresee(model, status) {
  if (model.get("proposed")) answer(model, model.get("proposed"), status);
  else store(model, { expected: status });
}

function answer(model, kind, expected) {
  const at = model.get("at"), before = Array.from({ length: at }, (_, index) => model.get("expectations")[index] ?? "");
  const tries = [...model.get("tries").slice(0, at), kind];
  store(model, { tries, expectations: [...before, expected], at: tries.length, proposed: "", expected: "" });
}

// Where the run stands before each attempt, what was expected, and what came of it.
function walk(model) {
  const graph = model.get("graph"), expectations = model.get("expectations");
  let place = graph.start, revision = 0;
  return model.get("tries").slice(0, model.get("at")).map((kind, index) => {
    const answer = graph.answers[place][kind], before = graph.places[place].status, expected = expectations[index] ?? "";
    if (answer.to) { place = answer.to; revision += 1; }
    const { status } = graph.places[place];
    return { kind, answer, before, place, status, revision, expected, held: expected === status || (expected === REFUSED && !answer.to) };
  });
}

function named(expected) { return expected === REFUSED ? "a refusal" : expected; }

function saidOf({ kind, before, expected, answer, status }) {
  if (!expected) return answer.said;
  const found = answer.to ? `it is ${status}` : `it was refused by ${answer.rule}`;
  return `${kind} at ${before}: you expected ${named(expected)}; ${found}${answer.why}.`;
}

function sayNow(model, here, status) {
  if (model.get("proposed")) return `${model.get("proposed")} is proposed at ${status}. Which status do you expect, or is it refused?`;
  if (model.get("expected")) return `You expect ${named(model.get("expected"))}. Propose an event.`;
  return here ? saidOf(here) : `The run is ${status}. Propose an event.`;
}

function scoreOf(steps) {
  const guessed = steps.filter((step) => step.expected);
  return guessed.length ? `${guessed.filter((step) => step.held).length} of ${guessed.length} as expected.` : "Nothing was expected yet.";
}

function paintChart(model, root, view) {
  const graph = model.get("graph"), steps = walk(model), here = steps.at(-1), predicting = model.get("predicting");
  view.place = here?.place ?? graph.start;
  const { status, holds } = graph.places[view.place], revision = here?.revision ?? 0, open = model.get("proposed") || model.get("expected");
  Object.assign(root.dataset, { status, revision: String(revision), at: String(steps.length), proposed: model.get("proposed"), expected: model.get("expected") });
  view.live.textContent = sayNow(model, here, status);
  view.holds.textContent = `Run-7: ${holds}.`;
  paintWays(model, view, steps, status, predicting);
  paintNodes(model, view, status, predicting);
  view.attempt.replaceChildren(...(here && !here.answer.to && !open ? graph.refused[here.answer.marks].map(drawMark) : []));
  paintHope(model, view, predicting && !open ? here?.expected : model.get("expected"));
  view.drawing.setAttribute("aria-label", `${graph.title}: ${status} is current; ${holds}. ${view.live.textContent}`);
  for (const [kind, button] of Object.entries(view.buttons)) paintEvent(button, kind, predicting ? null : graph.answers[view.place][kind], model.get("proposed"));
  if (view.score && predicting) view.score.textContent = scoreOf(steps);
  switchControl(view.reset, view.resetNote, model.get("tries").length || open ? "" : "nothing to undo yet");
  view.scrub.show();
  view.trace.replaceChildren(table("Trace", predicting ? graph.heads_expected : graph.heads, steps.map((step, index) => chartRow(step, index, predicting)), steps.length - 1));
}

function chartRow(step, index, predicting) {
  const answer = step.answer.to ? `accepted, ${step.status === step.before ? "still" : "now"} ${step.status}` : `refused by ${step.answer.rule}`;
  const guessed = predicting ? [step.expected, step.expected && (step.held ? "yes" : "no")] : [];
  return [String(index + 1), step.kind, step.before, ...guessed, answer, String(step.revision)];
}

function paintEvent(button, kind, answer, proposed) {
  const next = answer && element("span", { class: "rs-next" }, ` ${answer.next}`);
  button.replaceChildren(...[kind, next].filter(Boolean));
  button.classList.toggle("rs-illegal", Boolean(answer && !answer.to));
  if (!answer) button.setAttribute("aria-pressed", String(kind === proposed));
}

// The drawing is built once, so that the focus stays where it is.
function buildDrawing(model, view) {
  const graph = model.get("graph");
  view.drawing = drawing(graph.size, graph.title);
  view.drawing.setAttribute("role", "group");
  [view.ways, view.places, view.attempt, view.hope] = ["rs-ways", "rs-places", "rs-attempt", "rs-hopes"].map((role) => drawMark(["g", { class: role }, ""]));
  view.nodes = Object.fromEntries(Object.entries(graph.nodes).map(([name, marks]) => [name, chartNode(model, view, name, marks)]));
  view.places.append(...Object.values(view.nodes));
  view.drawing.append(view.ways, view.places, view.attempt, view.hope);
  return view.drawing;
}

function takenKinds(steps, { from, to }) {
  return new Set(steps.filter((step) => step.answer.to && step.status === to && step.before === from).map((step) => step.kind));
}

function paintWays(model, view, steps, status, predicting) {
  const graph = model.get("graph");
  if (predicting) return view.ways.replaceChildren(...foundArrows(graph, steps));
  // What is open from here lies over what is not, where both share a trunk.
  const ways = [...graph.arrows].sort((one, other) => (one.from === status) - (other.from === status));
  view.ways.replaceChildren(...ways.map((arrow) => chartArrow(model, view, arrow, arrow.from === status, takenKinds(steps, arrow).size > 0)));
}

// An arrow is there when it was found, and has its name when every kind of event that makes it was.
function foundArrows(graph, steps) {
  const found = graph.arrows.filter((arrow) => takenKinds(steps, arrow).size), names = new Map();
  for (const arrow of found) {
    if (takenKinds(steps, arrow).size < arrow.kinds.length) continue;
    for (const mark of nameOf(graph, arrow)) names.set(JSON.stringify(mark), mark);
  }
  const lines = found.map((arrow) => drawGroup(arrow.marks.filter(([tag]) => tag !== "text"), { class: "rs-way rs-taken", "data-from": arrow.from, "data-to": arrow.to }));
  return [...lines, drawGroup([...names.values()], { class: "rs-names" })];
}

// Its own, or that of the arrow whose end it shares.
function nameOf(graph, arrow) {
  const sharing = [arrow, ...graph.arrows.filter(({ to }) => to === arrow.to)];
  return sharing.map(({ marks }) => marks.filter(([tag]) => tag === "text")).find((marks) => marks.length) ?? [];
}

function chartArrow(model, view, arrow, open, taken) {
  const { kinds } = arrow, answers = model.get("graph").answers[view.place];
  const group = drawGroup(arrow.marks, { class: `rs-way${open ? " rs-open rs-can" : ""}${taken ? " rs-taken" : ""}`, "data-from": arrow.from, "data-to": arrow.to });
  if (!open || !kinds.length) return group;
  group.prepend(drawMark(["title", {}, `Propose ${kinds.join(" or ")}`]));
  group.append(drawMark(["path", { d: arrow.marks[0][1].d, class: "rs-hit", fill: "none" }, ""]));
  on(group, "click", (press) => {
    const word = press.target.textContent.split(",")[0];
    propose(model, kinds.includes(word) ? word : firstTaken(kinds, answers));
  });
  return group;
}

function chartNode(model, view, name, marks) {
  const node = drawGroup(marks, { class: "rs-node", role: "button", tabindex: "-1", "data-status": name });
  on(node, "click", () => pressNode(model, view, name));
  on(node, "keydown", (press) => {
    if (press.altKey || press.ctrlKey || press.metaKey) return;
    if (press.key === "Enter" || press.key === " ") pressNode(model, view, name);
    else if (AIMS[press.key]) neighbour(model, view, name, AIMS[press.key])?.focus();
    else return;
    press.preventDefault();
    press.stopPropagation();
  });
  on(node, "focus", () => { for (const one of Object.values(view.nodes)) one.setAttribute("tabindex", one === node ? "0" : "-1"); });
  return node;
}

function pressNode(model, view, name) {
  if (model.get("predicting")) return foresee(model, name);
  const kind = kindTowards(model.get("graph"), view.place, name);
  if (kind) propose(model, kind);
  else view.live.textContent = `No event leads to ${name}: nothing to propose.`;
}

function kindTowards(graph, place, name) {
  return firstTaken(graph.kinds.filter((kind) => graph.towards[kind] === name), graph.answers[place]);
}

// The kind that the store would take here, or else the first.
function firstTaken(kinds, answers) { return kinds.find((one) => answers[one].to) ?? kinds[0]; }

function middleOf(marks) {
  const { x, y, width, height } = marks[0][1];
  return [Number(x) + width / 2, Number(y) + height / 2];
}

// The nearest status that way; what lies aside counts twice.
function neighbour(model, view, name, [aimX, aimY]) {
  const nodes = model.get("graph").nodes, [x, y] = middleOf(nodes[name]);
  const ahead = Object.keys(nodes).map((other) => {
    const [otherX, otherY] = middleOf(nodes[other]), along = (otherX - x) * aimX + (otherY - y) * aimY;
    return { other, along, far: along + 2 * Math.abs((otherX - x) * aimY + (otherY - y) * aimX) };
  }).filter(({ other, along }) => other !== name && along > 1);
  ahead.sort((one, other) => one.far - other.far);
  return ahead.length ? view.nodes[ahead[0].other] : null;
}

function paintNodes(model, view, status, predicting) {
  const graph = model.get("graph"), focused = Object.values(view.nodes).includes(document.activeElement);
  for (const [name, node] of Object.entries(view.nodes)) {
    node.classList.toggle("rs-lit", name === status);
    if (!focused && view.lit !== status) node.setAttribute("tabindex", name === status ? "0" : "-1");
    node.setAttribute("aria-label", `${name}${name === status ? ", current" : ""}: ${predicting ? "expect this" : deedAt(graph, view.place, name)}`);
  }
  view.lit = status;
}

function deedAt(graph, place, name) {
  const kind = kindTowards(graph, place, name), answer = graph.answers[place][kind];
  if (!kind) return "no event leads here";
  return answer.to ? `propose ${kind}` : `propose ${kind}, ${answer.next}`;
}

function paintHope(model, view, expected) {
  const marks = model.get("graph").nodes[expected];
  if (!marks) return view.hope.replaceChildren();
  const { x, y, width, height } = marks[0][1], wider = (value, by) => String(Number(value) + by);
  view.hope.replaceChildren(drawMark(["rect", { x: wider(x, -HOPE_GAP), y: wider(y, -HOPE_GAP), width: wider(width, 2 * HOPE_GAP), height: wider(height, 2 * HOPE_GAP), rx: "13", class: "rs-hope" }, ""]));
}
