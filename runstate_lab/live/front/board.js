// Be the scheduler: you say who goes next. What is known is shown at once, what is not is asked of the kernel.
const WATCHED = ["schedule", "at", "shown", "tried", "prediction", "comparing", "kept", "line", "more", "explored", "expected", "foretold"];

function render({ model, el }) {
  const root = openRoot(el, "Be the scheduler", "rs-in-board");
  const view = { root, model, mark: "", number: 0, waiting: null };
  const build = () => {
    const stage = freshStage(root);
    view.live = null;
    if (model.get("sealed")) return stage.append(...sealedParts(model));
    stage.append(...boardStage(view, stage).filter(Boolean));
    paintBoard(view);
  };
  const repaint = () => { if (view.live && !view.held && model.get("graph").nodes) paintBoard(view); };
  const heard = (content) => hearKernel(view, content);
  const quiet = [watch(model, ["sealed", "graph"], build), watch(model, WATCHED, repaint)];
  model.on("msg:custom", heard);
  on(root, "keydown", (press) => boardKey(view, press));
  build();
  return () => { quiet.forEach((stop) => stop()); model.off("msg:custom", heard); view.waiting?.(); };
}

function boardStage(view, stage) {
  const { model } = view, graph = model.get("graph"), has = (part) => graph.parts.includes(part), when = (part, make) => (has(part) ? make() : null);
  view.prediction = element("div", { class: "rs-prediction" });
  view.stores = radios("Played on", graph.settings, model.get("shown"), (id) => chooseVariant(view, id));
  view.picture = element("div", { class: "rs-picture" });
  view.live = element("p", { class: "rs-live", role: "status", "aria-live": "polite" });
  view.presses = graph.workers.map((worker) => workerPress(view, worker));
  view.reset = element("button", { type: "button", "data-do": "reset" }, "Start again");
  view.resetNote = element("span", { class: "rs-why", id: freshId("why") });
  on(view.reset, "click", () => { if (!isOff(view.reset)) visitOrder(view, "", 0); });
  view.expect = when("expect", () => expectBar(view));
  view.faults = when("faults", () => faultBar(view));
  view.scrub = scrubber(stage, { at: () => model.get("at"), length: () => movesOf(model.get("schedule")).length, go: (at) => put(view, { at }) });
  [view.now, view.diff, view.laws] = ["rs-state", "rs-board-diff", "rs-board-lawful"].map((name) => element("div", { class: name }));
  view.trace = element("div", { class: "rs-trace", role: "region", "aria-label": "Trace", tabindex: "0" });
  view.field = orderField(view);
  view.count = element("p", { class: "rs-count" });
  view.chips = element("ul", { class: "rs-chips", "aria-label": "Orders played" });
  view.compared = folded("The same order on all of them", "stores");
  on(view.compared, "toggle", () => { if (view.compared.open !== model.get("comparing")) put(view, { comparing: view.compared.open }); });
  view.explore = when("explore", () => explorePanel(view));
  view.branches = when("branches", () => branchPanel(view));
  view.token = when("token", () => tokenRow(view));
  const many = graph.settings.length > 1 && has("stores");
  const presses = element("div", { class: "rs-presses", role: "group", "aria-label": "One press, one step" }, ...view.presses.map(({ part }) => part), element("div", { class: "rs-actor" }, view.reset, view.resetNote));
  const left = element("div", { class: "rs-board-left" }, has("state") ? view.now : null, has("laws") ? view.laws : null, has("diff") ? view.diff : null);
  return [faultPlace(model), view.prediction, many ? element("div", { class: "rs-bar" }, view.stores) : null, has("picture") ? view.picture : null, view.live, view.expect?.part, presses,
    view.faults?.part, view.scrub.bar, left.children.length || has("trace") ? element("div", { class: has("trace") ? "rs-columns" : "rs-columns rs-board-wide" }, left, has("trace") ? view.trace : null) : null,
    ...(has("tried") ? [view.field, view.count, view.chips] : []), view.token?.part, many ? view.compared : null, view.explore?.part, view.branches?.part,
    keyLine(view), exportBar(stage, "board", { picture: () => view.picture.querySelector("svg"), table: () => view.trace.querySelector("table") })];
}

function keyLine({ model }) {
  const graph = model.get("graph"), letters = graph.workers.map(([letter]) => letter), key = (text) => element("kbd", {}, text);
  const line = element("p", { class: "rs-board-keys" }, "Keys: ", ...letters.map(key), " one step; ", key("←"), key("→"), " back and forward");
  if (graph.parts.includes("branches")) line.append("; ", key("f"), " fork");
  if (graph.parts.includes("stores") && graph.settings.length > 1) line.append("; ", key("s"), " the next store");
  return line;
}

function boardKey(view, press) {
  if (!view.live || press.altKey || press.ctrlKey || press.metaKey || press.target.matches("input[type=text], select, textarea")) return;
  const worker = view.presses.find(({ letter }) => letter === press.key.toUpperCase()), { parts, settings } = view.model.get("graph");
  if (worker) worker.button.click();
  else if (press.key === "f" && parts.includes("branches")) forkHere(view);
  else if (press.key === "s" && parts.includes("stores") && settings.length > 1) chooseVariant(view, nextSetting(view));
  else return;
  press.preventDefault();
}

function nextSetting({ model }) {
  const names = model.get("graph").settings.map(({ id }) => id);
  return names[(names.indexOf(model.get("shown")) + 1) % names.length];
}

// Several values, one painting.
function put(view, values) {
  view.held = true;
  try { store(view.model, values); } finally { view.held = false; }
  paintBoard(view);
}

function visitOrder(view, schedule, at, more = {}) {
  const { model } = view, shown = more.shown ?? model.get("shown"), { path } = walk(model, shown, schedule), tried = model.get("tried");
  const fresh = schedule && path.at(-1).state.over && !tried.includes(schedule);
  view.mark = "";
  put(view, { ...more, schedule, at, tried: fresh ? [...tried, schedule] : tried });
}

function showOrder(view, schedule) {
  if (walk(view.model, view.model.get("shown"), schedule).missing) return askBoard(view, "play", schedule);
  visitOrder(view, schedule, movesOf(schedule).length);
}

function pressMove(view, move) {
  const { model } = view, before = movesOf(model.get("schedule")).slice(0, model.get("at")), schedule = [...before, move].join("");
  if (!walk(model, model.get("shown"), schedule).missing) return visitOrder(view, schedule, before.length + 1, judged(model, schedule));
  view.mark = "";
  askBoard(view, "step", move);
}

function chooseVariant(view, shown) {
  if (walk(view.model, shown, view.model.get("schedule")).missing) return askBoard(view, "choose", shown);
  put(view, { shown });
}

function askBoard(view, what, about, refuse) {
  view.number += 1;
  view.refuse = refuse;
  view.live.textContent = "Asking the kernel ...";
  view.root.dataset.asking = String(view.number);
  view.waiting?.();
  view.waiting = askKernel(view.model, { do: what, what: about, number: view.number }, (words) => { view.live.textContent = words; delete view.root.dataset.asking; });
}

// The kernel says first that it is at work, which may take its time, then that it is done.
function hearKernel(view, { begun, heard, why, said }) {
  if (begun === view.number) {
    view.waiting?.();
    view.live.textContent = "The kernel is at work ...";
  }
  if (heard !== view.number || !view.live) return;
  view.waiting?.();
  delete view.root.dataset.asking;
  paintBoard(view);
  if (said || why) view.live.textContent = legal(said || why);
  if (why) view.refuse?.(why);
}

function paintBoard(view) {
  const { model, root } = view, schedule = model.get("schedule"), all = movesOf(schedule), at = Math.min(model.get("at"), all.length);
  const order = all.slice(0, at).join(""), { path, missing } = walk(model, model.get("shown"), order), here = path.at(-1);
  Object.assign(root.dataset, { schedule, at: String(at), store: model.get("shown"), revision: here.state.revision, mood: here.state.mood, branches: String(linesOf(model).length) });
  paintPrediction(model, view, here);
  tick(view.stores, model.get("shown"));
  view.picture.replaceChildren(boardPicture(model, path, all.length, path.length - 1));
  if (!missing && !root.dataset.asking) view.live.textContent = legal(here.step.said + judgedWords(model, order));
  const offered = Object.fromEntries(here.moves.map((one) => [one[0], one]));
  view.presses.forEach(({ show }) => show(offered));
  view.faults?.show(offered);
  switchControl(view.reset, view.resetNote, schedule ? "" : "nothing to undo yet");
  view.scrub.show();
  paintState(view, here);
  const rows = path.slice(1).map(({ step }, index) => [String(index + 1), ...step.row]);
  view.trace.replaceChildren(table("Trace", model.get("graph").heads.trace, rows, rows.length - 1));
  view.field.show();
  paintTried(view);
  paintCompared(view, order);
  for (const part of [view.expect, view.explore, view.branches, view.token]) part?.show(here);
}
