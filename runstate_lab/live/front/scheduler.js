// Be the scheduler: two writers, three presses each, one store. All steps came from Python at once.
function render({ model, el }) {
  const root = openRoot(el, "Be the scheduler: two writers and one store");
  const graph = () => model.get("graph");
  const view = {};
  const build = () => {
    const stage = freshStage(root);
    if (model.get("sealed")) return stage.append(...sealedParts(model));
    stage.append(...openParts(model, stage, view).filter(Boolean));
    paint(model, root, view);
  };
  // A board that was just unsealed is told its schedule before it is built.
  const repaint = () => { if (graph().stores && view.live) paint(model, root, view); };
  const quiet = [watch(model, ["sealed", "graph"], build), watch(model, ["schedule", "at", "shown", "cast", "tried", "prediction", "compare"], repaint)];
  on(root, "keydown", (press) => {
    const key = press.key.toUpperCase();
    if (!"AB".includes(key) || press.target.matches("input[type=text]") || press.ctrlKey || press.metaKey || press.altKey) return;
    press.preventDefault();
    view.actors?.[key].button.click();
  });
  build();
  return () => quiet.forEach((stop) => stop());
}

function openParts(model, stage, view) {
  const graph = model.get("graph");
  view.prediction = element("div", { class: "rs-prediction" });
  view.stores = radios("Store", graph.stores, model.get("shown"), (id) => store(model, { shown: id }));
  view.cast = radios("B is", graph.casts, model.get("cast"), (id) => store(model, { cast: id }));
  view.picture = element("div", { class: "rs-picture" });
  view.actors = Object.fromEntries(["A", "B"].map((id) => [id, actorControl(model, id)]));
  view.reset = element("button", { type: "button", "data-do": "reset" }, "Start again");
  on(view.reset, "click", () => { if (!isOff(view.reset)) store(model, { schedule: "", at: 0 }); });
  view.resetNote = element("span", { class: "rs-why", id: freshId("why") });
  view.scrub = scrubber(stage, { at: () => model.get("at"), length: () => model.get("schedule").length, go: (at) => store(model, { at }) });
  view.live = element("p", { class: "rs-live", role: "status", "aria-live": "polite" });
  view.now = element("div", { class: "rs-state" });
  view.trace = element("div", { class: "rs-trace" });
  view.compared = comparison(model);
  view.compared.hidden = graph.stores.length < 2;
  view.field = scheduleField(model);
  view.count = element("p", { class: "rs-count" });
  view.chips = element("ul", { class: "rs-chips", "aria-label": "Orders played" });
  const presses = element("div", { class: "rs-presses", role: "group", "aria-label": "One press, one step" },
    view.actors.A.part, view.actors.B.part, element("div", { class: "rs-actor" }, view.reset, view.resetNote));
  return [faultPlace(model), view.prediction, element("div", { class: "rs-bar" }, graph.stores.length > 1 ? view.stores : null, graph.casts.length > 1 ? view.cast : null),
    view.picture, view.live, presses, view.scrub.bar, element("div", { class: "rs-columns" }, view.now, view.trace),
    view.field, view.count, view.chips, view.compared, exportBar(stage, "scheduler", { table: () => view.trace.querySelector("table") })];
}

function actorControl(model, id) {
  const button = element("button", { type: "button", class: `rs-press rs-${id}`, "data-do": id });
  const note = element("span", { class: "rs-why", id: freshId("why") });
  on(button, "click", () => {
    if (isOff(button)) return;
    const schedule = model.get("schedule").slice(0, model.get("at")) + id;
    visit(model, schedule, schedule.length);
  });
  return { button, note, part: element("div", { class: "rs-actor" }, button, note) };
}

function visit(model, schedule, at) {
  const { total, length } = model.get("graph").orders;
  const tried = model.get("tried");
  const fresh = schedule.length === length && !tried.includes(schedule) && tried.length < total;
  store(model, { schedule, at, tried: fresh ? [...tried, schedule] : tried });
}

function scheduleField(model) {
  const input = element("input", { type: "text", id: freshId("order"), maxlength: "24", size: "12", spellcheck: "false", autocomplete: "off" });
  const why = element("span", { class: "rs-why", id: freshId("why"), role: "status" });
  const form = element("form", { class: "rs-order" }, element("label", { for: input.id }, "Order so far"), input, element("button", { type: "submit" }, "Play this order"), why);
  input.setAttribute("aria-describedby", why.id);
  on(form, "submit", (happening) => {
    happening.preventDefault();
    const { schedule, reason } = readOrder(model.get("graph"), input.value);
    why.textContent = reason;
    input.setAttribute("aria-invalid", reason ? "true" : "false");
    if (!reason) visit(model, schedule, schedule.length);
  });
  sendOnEnter(input, form);
  form.show = () => { input.value = model.get("schedule"); why.textContent = ""; input.setAttribute("aria-invalid", "false"); };
  return form;
}

function readOrder({ orders, tokens }, text) {
  const typed = text.trim();
  const schedule = tokens[typed] ?? typed.toUpperCase().replaceAll(/[\s,]/g, "");
  if (/[^AB]/.test(schedule)) return { schedule, reason: `${typed} is neither an order of A and B nor a token of these two writers` };
  const most = orders.length / 2;
  const over = ["A", "B"].find((id) => schedule.split(id).length - 1 > most);
  return { schedule, reason: over ? `${over} has ${most} steps, this order has ${schedule.split(over).length - 1}` : "" };
}

function paint(model, root, view) {
  const graph = model.get("graph"), schedule = model.get("schedule"), at = model.get("at");
  const prefix = schedule.slice(0, at), nodes = graph.nodes[model.get("cast")][model.get("shown")];
  const path = Array.from(prefix, (_, index) => graph.steps[nodes[prefix.slice(0, index + 1)][0]]);
  const state = graph.states[nodes[prefix][1]];
  const said = path.length ? path.at(-1).said : graph.opening;
  Object.assign(root.dataset, { schedule, at: String(at), store: model.get("shown"), revision: String(state.revision) });
  paintPrediction(model, view, state, at === graph.orders.length);
  tick(view.stores, model.get("shown"));
  tick(view.cast, model.get("cast"));
  paintPicture(view, graph, graph.base[model.get("cast")], path, `${said} ${state.says}`);
  view.live.textContent = said;
  paintActors(graph, view, prefix, model.get("cast"));
  switchControl(view.reset, view.resetNote, schedule ? "" : "nothing to undo yet");
  view.scrub.show();
  view.field.show();
  paintState(view, state);
  view.trace.replaceChildren(table("Trace", graph.heads, path.map((step) => step.row), path.length - 1));
  paintTried(model, view, graph);
  paintCompared(model, view, graph, prefix);
}

function paintPicture(view, graph, base, path, label) {
  const picture = drawing(graph.size, label);
  if (path.length) picture.append(drawMark(graph.shades[path.length - 1]));
  picture.append(drawGroup(base, { class: "rs-base" }));
  path.forEach((step, index) => picture.append(drawGroup(step.marks, { class: index === path.length - 1 ? "rs-step rs-now" : "rs-step" })));
  view.picture.replaceChildren(picture);
}

function paintActors(graph, view, prefix, cast) {
  for (const id of ["A", "B"]) {
    const done = prefix.split(id).length - 1, name = graph.writers[cast][id];
    const { button, note } = view.actors[id];
    const action = graph.actions[done];
    button.replaceChildren(element("b", {}, id), ` ${name} `, element("span", { class: "rs-next" }, action ? `${action} next` : "is done"));
    switchControl(button, note, action ? "" : `${id} has read, computed and submitted`);
  }
}

function paintState(view, state) {
  const facts = element("ul", { class: "rs-facts" });
  for (const [text, mood] of state.facts) facts.append(element("li", { class: `rs-fact-${mood}` }, mood === "lost" ? element("s", {}, text) : text, mood === "lost" ? " accepted, now gone" : ""));
  if (!state.facts.length) facts.append(element("li", { class: "rs-fact-none" }, "no facts yet"));
  view.now.replaceChildren(element("h4", {}, "State"), element("p", {}, "revision ", element("b", {}, String(state.revision)), `, ${state.status}`), facts,
    element("p", { class: "rs-verdict" }, state.mood === "open" ? "" : state.short));
}

function paintPrediction(model, view, state, complete) {
  const { choice, why } = model.get("prediction");
  view.prediction.hidden = !choice;
  if (!choice) return;
  view.prediction.replaceChildren(
    element("p", {}, element("b", {}, "You said: "), choice, why ? element("span", { class: "rs-reason" }, ` (${why})`) : ""),
    element("p", {}, element("b", {}, "This order: "), complete ? state.outcome : "not finished yet"));
}

function paintTried(model, view, graph) {
  const tried = model.get("tried"), nodes = graph.nodes[model.get("cast")][model.get("shown")];
  view.count.textContent = `${tried.length} of the ${graph.orders.total} orders played`;
  if (tried.length < view.chips.children.length) view.chips.replaceChildren();
  for (const order of tried.slice(view.chips.children.length)) view.chips.append(chip(model, order));
  tried.forEach((order, index) => {
    const button = view.chips.children[index].firstChild, state = graph.states[nodes[order][1]];
    button.replaceChildren(element("code", {}, order), ` ${state.short}`);
    button.setAttribute("aria-current", String(order === model.get("schedule")));
    button.className = `rs-chip rs-chip-${state.mood}`;
  });
}

function chip(model, order) {
  const button = element("button", { type: "button" });
  on(button, "click", () => visit(model, order, order.length));
  return element("li", {}, button);
}

function comparison(model) {
  const details = element("details", { class: "rs-compare" }, element("summary", {}, "The same order in every store"), element("div", {}));
  on(details, "toggle", () => { if (details.open !== model.get("compare")) store(model, { compare: details.open }); });
  return details;
}

function paintCompared(model, view, graph, prefix) {
  const nodes = graph.nodes[model.get("cast")];
  const rows = graph.stores.map(({ id, label }) => {
    const state = graph.states[nodes[id][prefix][1]];
    const answers = Array.from(prefix, (_, index) => graph.steps[nodes[id][prefix.slice(0, index + 1)][0]].short).filter(Boolean);
    const facts = state.facts.filter(([, mood]) => mood !== "lost").map(([text]) => text);
    return [label, answers.join(", ") || "no submit yet", String(state.revision), facts.join(", "), state.short];
  });
  view.compared.open = model.get("compare");
  const current = graph.stores.findIndex(({ id }) => id === model.get("shown"));
  view.compared.lastChild.replaceChildren(table(`Order ${prefix || "(nothing played yet)"}`, ["store", "answers", "revision", "facts", "in short"], rows, current));
}
