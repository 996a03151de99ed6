// The crash lab: choose a moment, kill the worker, recover, go on. All kills came from Python at once.
const PHASES = ["aimed", "killed", "recovered", "ended"];

function render({ model, el }) {
  const root = openRoot(el, "Crash lab: kill run-7 at a moment, recover, go on", "rs-in-crash");
  const view = {};
  const build = () => {
    const stage = freshStage(root);
    if (model.get("sealed")) return stage.append(...sealedParts(model));
    stage.append(...labParts(model, stage, view));
    paintLab(model, root, view);
  };
  // Loop and point arrive one after the other: what lies between them is no place to paint.
  const repaint = () => { if (model.get("graph").runs && view.live && pointOf(model)) paintLab(model, root, view); };
  const quiet = [watch(model, ["sealed", "graph"], build), watch(model, ["loop", "keyed", "point", "phase", "prediction"], repaint)];
  on(root, "keydown", (press) => {
    const name = { K: "kill", R: "recover", G: "go_on" }[press.key.toUpperCase()];
    if (!name || press.ctrlKey || press.metaKey || press.altKey) return;
    press.preventDefault();
    view.steps?.[name].button.click();
  });
  build();
  return () => quiet.forEach((stop) => stop());
}

const keyOf = (model) => model.get("graph").keys[Number(model.get("keyed"))].id;
const nameOf = (model) => `${model.get("loop")}, ${keyOf(model)}`;
const runOf = (model) => model.get("graph").runs[nameOf(model)];
const pointOf = (model) => runOf(model).points[model.get("point")];

function labParts(model, stage, view) {
  const graph = model.get("graph");
  view.prediction = element("div", { class: "rs-prediction" });
  view.loops = radios("Loop", graph.loops, model.get("loop"), (loop) => change(model, loop, keyOf(model)));
  view.keys = radios("Deploy and tests", graph.keys, keyOf(model), (key) => change(model, model.get("loop"), key));
  view.picture = element("div", { class: "rs-picture rs-strip" });
  view.live = element("p", { class: "rs-live", role: "status", "aria-live": "polite" });
  view.steps = {
    kill: stepControl(model, "kill", "Kill here", "K", "killed"),
    recover: stepControl(model, "recover", "Recover", "R", "recovered"),
    go_on: stepControl(model, "go_on", "Let w2 go on", "G", "ended"),
    spare: stepControl(model, "spare", "Kill nobody", "", "aimed"),
  };
  const presses = element("div", { class: "rs-presses", role: "group", "aria-label": "Kill, recover, go on" }, ...Object.values(view.steps).map((one) => one.part));
  view.scrub = scrubber(stage, { at: () => model.get("point"), length: () => runOf(model).words.length, go: (point) => aim(model, point) });
  view.calls = wideArea("What recover() says", "rs-calls");
  view.books = element("div", { class: "rs-books" });
  view.same = folded("The same place in every loop");
  view.matrix = folded("Every kill point, every loop");
  return [faultPlace(model), view.prediction, element("div", { class: "rs-bar" }, view.loops, view.keys), view.picture, view.live, view.scrub.bar, presses,
    element("div", { class: "rs-lab-columns" }, view.calls, view.books), view.same, view.matrix,
    exportBar(stage, "crash-lab", { table: () => stage.querySelector("details[open] table") ?? view.calls.querySelector("table") })];
}

// A table may be wider than a narrow page: then this area scrolls, by keys as well.
function wideArea(label, name) {
  return element("div", { class: `rs-wide ${name}`, role: "region", tabindex: "0", "aria-label": label });
}

function folded(title) {
  return element("details", { class: "rs-compare" }, element("summary", {}, title), wideArea(title, "rs-folded"));
}

function stepControl(model, name, label, key, phase) {
  const button = element("button", { type: "button", class: "rs-lab-press", "data-do": name, "aria-keyshortcuts": key || null }, label, key ? element("kbd", {}, key) : null);
  const note = element("span", { class: "rs-why", id: freshId("why") });
  on(button, "click", () => { if (!isOff(button)) store(model, { phase }); });
  return { button, note, part: element("div", { class: "rs-actor" }, button, note) };
}

function aim(model, point) {
  if (point !== model.get("point")) store(model, { point, phase: "aimed" });
}

function change(model, loop, key) {
  const point = pointOf(model).same[`${loop}, ${key}`];
  store(model, { loop, keyed: key === model.get("graph").keys[1].id, point });
}

function paintLab(model, root, view) {
  const graph = model.get("graph"), run = runOf(model), point = pointOf(model), phase = model.get("phase");
  const [before, asked, deployed, attempts] = point.counts, ended = phase === "ended";
  Object.assign(root.dataset, { loop: model.get("loop"), keyed: String(model.get("keyed")), point: String(model.get("point")), phase, deployed: String(ended ? deployed : before) });
  paintLabPrediction(model, view, point, ended);
  tick(view.loops, model.get("loop"));
  tick(view.keys, keyOf(model));
  paintStrip(model, view, graph, run, point, phase);
  view.live.textContent = point.said[phase];
  for (const [name, { button, note }] of Object.entries(view.steps)) switchControl(button, note, graph.reasons[phase][name] ?? "");
  view.scrub.show();
  paintCalls(view, graph, point, phase);
  paintBooks(view, point, ended ? [asked, deployed, attempts] : null);
  const same = Object.entries(point.same).map(([name, at]) => [name, graph.runs[name].points[at].row]);
  view.same.lastChild.replaceChildren(table("The same place in every loop", graph.compare_heads, same.map(([, row]) => row), same.findIndex(([name]) => name === nameOf(model))));
  const main = graph.rows[nameOf(model)][model.get("point")];
  const rows = graph.matrix.map((row) => row.map((cell, column) => (column && cell && cell !== graph.usual ? element("b", {}, cell) : cell)));
  view.matrix.lastChild.replaceChildren(table(graph.matrix_title, graph.matrix_heads, rows, main));
}

function paintStrip(model, view, graph, run, point, phase) {
  const drawn = (places) => places.map((place) => graph.marks[place]);
  const happened = phase === "aimed" ? run.words.length : model.get("point");
  const picture = drawing(graph.size, `${nameOf(model)}. ${point.said[phase]}`);
  const second = { recovered: point.read, ended: point.went }[phase] ?? point.idle;
  picture.append(drawGroup(drawn(run.ground), { class: "rs-base" }), drawGroup(drawn(phase === "aimed" ? point.whole : point.life), {}),
    ...run.moments.slice(0, happened).map((places) => drawGroup(drawn(places), { class: "rs-moment" })),
    ...run.ghosts.slice(happened).map((places) => drawGroup(drawn(places), { class: "rs-ghost" })),
    drawGroup(drawn(phase === "aimed" ? point.aim : point.kill), {}), drawGroup(drawn(second), { class: "rs-second" }),
    ...run.gaps.map((x, at) => gapHit(model, run, x, at)));
  view.picture.replaceChildren(picture);
}

function gapHit(model, run, x, at) {
  const wide = run.gaps[1] - run.gaps[0];
  const hit = drawMark(["rect", { x: String(x - wide / 2), y: "0", width: String(wide), height: "170", class: "rs-hit", "data-point": String(at) }, ""]);
  hit.append(drawMark(["title", {}, at < run.words.length ? `kill before ${run.words[at]}` : "kill after the end"]));
  on(hit, "click", () => aim(model, at));
  return hit;
}

function paintCalls(view, graph, point, phase) {
  if (PHASES.indexOf(phase) < 2) return view.calls.replaceChildren(element("h4", {}, "What recover() says"), element("p", { class: "rs-why" }, "Nothing yet: kill the worker, then recover."));
  const rows = point.calls.length ? table("What recover() says", graph.call_heads, point.calls, -1)
    : element("p", {}, "Nothing is open: no call is known that has no result.");
  view.calls.replaceChildren(...(point.calls.length ? [rows] : [element("h4", {}, "What recover() says"), rows]));
}

function paintBooks(view, point, counts) {
  const title = element("h4", {}, "The world and the books");
  if (!counts) return view.books.replaceChildren(title, element("p", { class: "rs-why" }, "Known when w2 has gone on."));
  const [asked, deployed, attempts] = counts, list = element("dl", {});
  const rows = [["asked to deploy", times(asked)], ["really deployed", times(deployed)], ["attempts in the books", String(attempts)], ["the state says", point.says], ["the run is", point.status]];
  for (const [name, words] of rows) list.append(element("dt", {}, name), element("dd", {}, words));
  view.books.replaceChildren(title, list, element("p", { class: `rs-verdict-${point.mood}` }, point.row.at(-1)));
}

function times(count) { return count === 1 ? "1 time" : `${count} times`; }

function paintLabPrediction(model, view, point, ended) {
  const { choice, why } = model.get("prediction");
  view.prediction.hidden = !choice;
  if (!choice) return;
  view.prediction.replaceChildren(
    element("p", {}, element("b", {}, "You said: "), choice, why ? element("span", { class: "rs-reason" }, ` (${why})`) : ""),
    element("p", {}, element("b", {}, "This kill: "), ended ? point.row.at(-1) : "w2 has not gone on yet"));
}
