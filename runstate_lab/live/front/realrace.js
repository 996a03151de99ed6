// A real race: the kernel starts processes when a button is pressed; the page shows what came out.

function render({ model, el }) {
  const root = openRoot(el, "A real race for one file", "rs-in-race");
  const view = { waiting: null, said: "" };
  const build = () => {
    const stage = freshStage(root);
    view.live = null;
    if (model.get("sealed")) return stage.append(...sealedParts(model));
    stage.append(...raceParts(model, stage, view));
    paintRace(model, root, view);
  };
  const repaint = () => { if (view.live) paintRace(model, root, view); };
  const heard = (content) => { hearRace(view, content); repaint(); };
  model.on("msg:custom", heard);
  const quiet = [watch(model, ["sealed", "graph"], build), watch(model, ["rows", "marks", "said"], repaint)];
  build();
  return () => { quiet.forEach((stop) => stop()); view.waiting?.(); model.off("msg:custom", heard); };
}

function raceParts(model, stage, view) {
  view.picture = element("div", { class: "rs-picture" });
  view.live = element("p", { class: "rs-live", role: "status", "aria-live": "polite" });
  view.note = element("span", { class: "rs-why", id: freshId("why") });
  view.buttons = [["race", "Race now", false], ["worst", "Race in the worst order", true]].map(([name, label, worst]) => {
    const button = element("button", { type: "button", "data-do": name }, label);
    on(button, "click", () => { if (!isOff(button)) askRace(model, stage, view, worst); });
    return button;
  });
  view.trace = element("div", { class: "rs-race-trace" });
  return [faultPlace(model), view.picture, view.live, element("div", { class: "rs-race-presses", role: "group", "aria-label": "Start the processes" }, ...view.buttons, view.note,
    element("span", { class: "rs-why" }, "In the worst order all read before any of them writes.")),
    view.trace, exportBar(stage, "real-race")];
}

function askRace(model, stage, view, worst) {
  view.busy = true;
  view.said = "The kernel starts the processes …";
  view.waiting = askKernel(model, { race: true, worst }, (said) => { Object.assign(view, { busy: false, said }); paintRace(model, stage.parentElement, view); });
  paintRace(model, stage.parentElement, view);
}

function hearRace(view, { started, ended }) {
  if (!started && !ended) return;
  view.waiting?.();
  Object.assign(view, { busy: !ended, said: ended ? "" : "The processes are racing …" });
}

function paintRace(model, root, view) {
  const { size, heads, opening } = model.get("graph"), rows = model.get("rows"), raced = rows.length ? model.get("said") : "";
  Object.assign(root.dataset, { raced: String(rows.length), busy: String(Boolean(view.busy)) });
  view.live.textContent = view.said || raced || opening;
  const picture = drawing(size, raced || opening);
  picture.append(drawGroup(model.get("marks"), { class: "rs-race" }));
  view.picture.replaceChildren(picture);
  for (const button of view.buttons) switchControl(button, view.note, view.busy ? "a race is on" : "");
  view.trace.replaceChildren(table("Processes that write to one SQLite file at once", heads, rows));
}
