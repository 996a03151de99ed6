// The status chart: press an event, or the status you want to reach; the store answers.
function render({ model, el }) {
  const root = openRoot(el, "Status chart: try an event");
  const view = {};
  const build = () => {
    const stage = freshStage(root);
    if (model.get("sealed")) return stage.append(...sealedParts(model));
    stage.append(...chartParts(model, stage, view));
    paintChart(model, root, view);
  };
  const repaint = () => { if (model.get("graph").nodes) paintChart(model, root, view); };
  const quiet = [watch(model, ["sealed", "graph"], build), watch(model, ["tries", "at"], repaint)];
  build();
  return () => quiet.forEach((stop) => stop());
}

function chartParts(model, stage, view) {
  const graph = model.get("graph");
  view.picture = element("div", { class: "rs-picture" });
  view.live = element("p", { class: "rs-live", role: "status", "aria-live": "polite" });
  view.events = element("div", { class: "rs-events", role: "group", "aria-label": "Propose an event" });
  view.buttons = Object.fromEntries(graph.kinds.map((kind) => [kind, eventButton(model, kind)]));
  view.events.append(...Object.values(view.buttons));
  view.reset = element("button", { type: "button", "data-do": "reset" }, "Start again");
  view.resetNote = element("span", { class: "rs-why", id: freshId("why") });
  on(view.reset, "click", () => { if (!isOff(view.reset)) store(model, { tries: [], at: 0 }); });
  view.scrub = scrubber(stage, { at: () => model.get("at"), length: () => model.get("tries").length, go: (at) => store(model, { at }) });
  view.scrub.bar.append(view.reset, view.resetNote);
  view.trace = element("div", { class: "rs-trace" });
  return [faultPlace(model), view.picture, view.live, view.events, view.scrub.bar, view.trace];
}

function eventButton(model, kind) {
  const button = element("button", { type: "button", class: "rs-event", "data-do": kind });
  on(button, "click", () => propose(model, kind));
  return button;
}

function propose(model, kind) {
  const tries = [...model.get("tries").slice(0, model.get("at")), kind];
  store(model, { tries, at: tries.length });
}

// Where the run stands before each attempt, and what each one was answered.
function walk(graph, tries) {
  let status = graph.start, revision = 0;
  return tries.map((kind) => {
    const answer = graph.answers[status][kind], before = status;
    if (answer.to) { status = answer.to; revision += 1; }
    return { kind, answer, before, status, revision };
  });
}

function paintChart(model, root, view) {
  const graph = model.get("graph"), steps = walk(graph, model.get("tries").slice(0, model.get("at")));
  const here = steps.at(-1), status = here?.status ?? graph.start, revision = here?.revision ?? 0;
  Object.assign(root.dataset, { status, revision: String(revision), at: String(steps.length) });
  view.live.textContent = here ? here.answer.said : `The run is ${status}. Propose an event.`;
  const picture = drawing(graph.size, `${graph.title}: ${status} is current. ${view.live.textContent}`);
  // What is open from here lies over what is not, where both share a trunk.
  const ways = [...graph.arrows].sort((one, other) => (one.from === status) - (other.from === status));
  picture.append(...ways.map((arrow) => chartArrow(arrow, status, steps)));
  picture.append(...Object.entries(graph.nodes).map(([name, marks]) => chartNode(model, view, graph, name, marks, status)));
  if (here && !here.answer.to) picture.append(drawGroup(here.answer.marks, { class: "rs-attempt" }));
  view.picture.replaceChildren(picture);
  for (const [kind, button] of Object.entries(view.buttons)) {
    const legal = Boolean(graph.answers[status][kind].to);
    button.replaceChildren(kind, element("span", { class: "rs-next" }, legal ? ` to ${graph.answers[status][kind].to}` : " not from here"));
    button.classList.toggle("rs-illegal", !legal);
  }
  switchControl(view.reset, view.resetNote, model.get("tries").length ? "" : "nothing to undo yet");
  view.scrub.show();
  const rows = steps.map((step, index) => [String(index + 1), step.kind, step.before, step.answer.to ? `accepted, now ${step.status}` : `refused by ${step.answer.rule}`, String(step.revision)]);
  view.trace.replaceChildren(table("Trace", ["step", "event", "at status", "answer", "revision"], rows, rows.length - 1));
}

function chartArrow(arrow, status, steps) {
  const taken = steps.some((step) => step.answer.to === arrow.to && step.before === arrow.from);
  const open = arrow.from === status;
  return drawGroup(arrow.marks, { class: `rs-way${open ? " rs-open" : ""}${taken ? " rs-taken" : ""}` });
}

function chartNode(model, view, graph, name, marks, status) {
  const node = drawGroup(marks, { class: name === status ? "rs-node rs-lit" : "rs-node", "data-status": name });
  on(node, "click", () => {
    const kinds = graph.kinds.filter((kind) => graph.towards[kind] === name);
    const kind = kinds.find((one) => graph.answers[status][one].to) ?? kinds[0];
    if (kind) propose(model, kind);
    else view.live.textContent = `No event leads to ${name}: nothing to propose.`;
  });
  return node;
}
