// The approval desk: a press asks the kernel's stores; what they answered comes back as one more step.

function render({ model, el }) {
  const root = openRoot(el, "Approval desk: rosa is asked, the store answers", "rs-in-desk");
  const view = {};
  const build = () => {
    const stage = freshStage(root);
    if (model.get("sealed")) return stage.append(...sealedParts(model));
    stage.append(...deskParts(model, root, stage, view));
    paintDesk(model, root, view);
  };
  const repaint = () => { if (model.get("graph").controls && view.live) paintDesk(model, root, view); };
  const heard = () => {
    view.waiting?.();
    if (root.dataset.silent && view.live) paintDesk(model, root, view);
  };
  const quiet = [watch(model, ["sealed", "graph"], build), watch(model, ["shown", "at", "beside_it", "prediction"], repaint)];
  model.on("msg:custom", heard);
  on(root, "keydown", (press) => pressKey(model, view, press));
  build();
  return () => { quiet.forEach((stop) => stop()); model.off("msg:custom", heard); view.waiting?.(); };
}

function pressKey(model, view, press) {
  if (press.ctrlKey || press.metaKey || press.altKey || press.target.matches("input[type=text], select")) return;
  const found = Object.entries(model.get("graph").controls ?? {}).find(([, one]) => one.key === press.key.toUpperCase());
  if (!found) return;
  press.preventDefault();
  view.controls[found[0]].button.click();
}

function deskParts(model, root, stage, view) {
  const graph = model.get("graph");
  view.prediction = element("div", { class: "rs-prediction" });
  view.card = element("div", { class: "rs-card" });
  view.old = element("div", { class: "rs-card rs-card-old" });
  view.state = element("p", { class: "rs-stands" });
  view.controls = {};
  const groups = graph.groups.map(([title, names]) => controlGroup(model, root, view, title, names));
  view.live = element("p", { class: "rs-live", role: "status", "aria-live": "polite" });
  view.picture = element("div", { class: "rs-picture" });
  view.ledger = wideArea("Ledger of presses", "rs-ledger");
  view.ends = wideArea("What became of it", "rs-ends");
  view.cards = element("details", { class: "rs-compare" }, element("summary", {}, "All cards as a table"),
    wideArea("All cards", "rs-cards"));
  view.beside = besideChoice(model, root, view);
  view.scrub = scrubber(stage, { at: () => model.get("at"), length: () => model.get("shown").length - 1, go: (at) => store(model, { at }) });
  view.reset = element("button", { type: "button", "data-do": "reset" }, "Start again");
  view.resetNote = element("span", { class: "rs-why", id: freshId("why") });
  on(view.reset, "click", () => { if (!isOff(view.reset)) store(model, { shown: model.get("shown").slice(0, 1), at: 0 }); });
  view.scrub.bar.append(view.reset, view.resetNote);
  const left = element("div", { class: "rs-desk-left" }, view.card, view.old);
  return [faultPlace(model), view.prediction, element("div", { class: "rs-desk-top" }, left, element("div", { class: "rs-desk-right" }, ...groups)),
    view.live, view.scrub.bar, view.state, view.picture, view.ledger, view.beside.part, view.ends, view.cards,
    exportBar(stage, "approval-desk", { table: () => view.ledger.querySelector("table") })];
}

// A table may be wider than a narrow page: then this area scrolls, by keys as well.
function wideArea(label, name) {
  return element("div", { class: `rs-wide ${name}`, role: "region", tabindex: "0", "aria-label": label });
}

function controlGroup(model, root, view, title, names) {
  const heading = element("h4", { id: freshId("group") }, title);
  const group = element("div", { class: "rs-desk-group", role: "group", "aria-labelledby": heading.id }, heading);
  for (const name of names) {
    const { label, key } = model.get("graph").controls[name];
    const button = element("button", { type: "button", "data-do": name, "aria-keyshortcuts": key || null }, label, key ? element("kbd", {}, key) : null);
    const note = element("span", { class: "rs-why", id: freshId("why") });
    on(button, "click", () => { if (!isOff(button)) ask(model, root, view, { press: name }); });
    view.controls[name] = { button, note };
    group.append(element("div", { class: "rs-desk-control" }, button, note));
  }
  return group;
}

function ask(model, root, view, content) {
  view.waiting?.();
  view.waiting = askKernel(model, content, (words) => { view.live.textContent = words; root.dataset.silent = "true"; });
}

function besideChoice(model, root, view) {
  const select = element("select", { id: freshId("beside") }, element("option", { value: "" }, "no other desk"));
  for (const [name, label] of model.get("graph").others) select.append(element("option", { value: name }, label));
  on(select, "change", () => ask(model, root, view, { beside: select.value }));
  return { select, part: element("p", { class: "rs-beside" }, element("label", { for: select.id }, "The same presses on "), select) };
}

function paintDesk(model, root, view) {
  const graph = model.get("graph"), shown = model.get("shown"), at = Math.min(model.get("at"), shown.length - 1);
  const path = shown.slice(0, at + 1), step = path.at(-1), beside = model.get("beside_it");
  delete root.dataset.silent;
  Object.assign(root.dataset, { at: String(at), status: step.state.status, revision: String(step.state.revision), tick: String(step.state.tick), beside, answer: step.row[3] ?? "" });
  paintDeskPrediction(model, view, step, at);
  paintCard(view.card, "The card rosa sees", step.card);
  view.old.hidden = !step.old.title;
  if (step.old.title) paintCard(view.old, "The old card, kept", { ...step.old, rows: step.old.rows.slice(2, 4) });
  view.state.replaceChildren("Run-7 is ", element("b", {}, step.state.status), ` at revision ${step.state.revision}. Deployed: `, element("b", {}, step.state.deployed), ".");
  for (const [name, { button, note }] of Object.entries(view.controls)) switchControl(button, note, step.offs[name] ?? "");
  view.live.textContent = legal(step.said);
  const picture = drawing(step.size, `${step.said} ${step.cards.map((card) => card.join(", ")).join("; ")}.`);
  picture.append(drawGroup(step.marks, { class: "rs-desk" }));
  view.picture.replaceChildren(picture);
  const heads = beside ? [...graph.heads, beside] : graph.heads;
  const ledger = table("Presses and what the store answered", heads, path.slice(1).map((one) => one.row), at - 1);
  path.slice(1).forEach((one, index) => ledger.tBodies[0].rows[index].classList.toggle("rs-differs", one.differs));
  view.ledger.replaceChildren(at ? ledger : element("p", { class: "rs-why" }, "Nothing was pressed yet: the ledger is empty."));
  view.beside.select.value = beside;
  view.ends.hidden = !beside;
  view.ends.replaceChildren(table("What became of it", graph.end_heads, step.ends, -1));
  view.cards.lastChild.replaceChildren(table("Cards", graph.card_heads, step.cards, step.cards.length - 1));
  switchControl(view.reset, view.resetNote, shown.length > 1 ? "" : "nothing to undo yet");
  view.scrub.show();
}

function paintCard(place, heading, card) {
  const list = element("dl", {});
  for (const [name, words] of card.rows) list.append(element("dt", {}, name), element("dd", {}, words));
  place.classList.toggle("rs-card-closed", !card.open);
  place.replaceChildren(element("h4", {}, heading), element("p", { class: "rs-question-asked" }, card.question), list,
    element("p", { class: "rs-stamp" }, card.stamp));
}

function paintDeskPrediction(model, view, step, at) {
  const { choice, why } = model.get("prediction");
  view.prediction.hidden = !choice;
  if (!choice) return;
  view.prediction.replaceChildren(
    element("p", {}, element("b", {}, "You said: "), choice, why ? element("span", { class: "rs-reason" }, ` (${why})`) : ""),
    element("p", {}, element("b", {}, "The store: "), at ? step.said : "nothing was pressed yet"));
}
