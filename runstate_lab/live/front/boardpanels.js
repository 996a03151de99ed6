// What grows around a board: faults, every order, branches, the token, the same order on every variant.
const FAULT_NAMES = { "": "as it is", "!": "crash", _: "lost", "~": "late", "+": "twice", "?": "unanswered" };

function faultName(mark) { return FAULT_NAMES[mark]; }

function faultBar(view) {
  const { faults, workers } = view.model.get("graph");
  const kinds = radios("The next press", ["", ...faults.map(([mark]) => mark)].map((id) => ({ id, label: FAULT_NAMES[id] })), "", (id) => { view.mark = id; paintBoard(view); });
  const said = element("p", { class: "rs-why" }), note = element("span", { class: "rs-why", id: freshId("why") });
  const mails = workers.map(([letter]) => {
    const move = letter.toLowerCase(), button = element("button", { type: "button", "data-do": `mail-${letter}` }, `Deliver the mail of ${letter}`);
    on(button, "click", () => { if (!isOff(button)) pressMove(view, move); });
    return { move, button };
  });
  const show = (offered) => {
    tick(kinds, view.mark);
    said.textContent = view.mark ? `${FAULT_NAMES[view.mark]}: ${faults.find(([mark]) => mark === view.mark)[1]}` : "";
    const reasons = mails.map(({ move, button }) => { const why = offered[move]?.[2] ?? ""; switchControl(button, note, why); return why; }).filter(Boolean);
    note.textContent = reasons.join("; ");
    note.hidden = !reasons.length;
  };
  const part = element("details", { class: "rs-board-faults" }, element("summary", {}, "Faults: let a step crash, a message be lost, late or doubled"),
    element("div", { class: "rs-board-panel" }, kinds, said, element("div", { class: "rs-board-row" }, ...mails.map(({ button }) => button), note)));
  return { part, show };
}

// What is expected of the next step is judged by the step itself, when it is made.
function expectBar(view) {
  const { model } = view, kinds = radios("I expect of the next step", model.get("graph").expected, "", (id) => put(view, { expected: id }));
  const score = element("span", { class: "rs-why" }), part = element("div", { class: "rs-board-expect" }, kinds, score);
  const show = () => {
    const told = model.get("foretold"), right = told.filter(([, hoped, came]) => hoped === came).length;
    tick(kinds, model.get("expected"));
    score.textContent = told.length ? `${right} of ${told.length} came as you said` : "";
  };
  return { part, show };
}

function judged(model, schedule) {
  const expected = model.get("expected");
  if (!expected) return {};
  const { step } = walk(model, model.get("shown"), schedule).path.at(-1);
  return { expected: "", foretold: [...model.get("foretold"), [schedule, expected, step.happened]] };
}

function judgedWords(model, order) {
  const [, hoped, came] = model.get("foretold").findLast(([schedule]) => schedule === order) ?? [];
  return hoped ? ` You expected: ${hoped}. ${hoped === came ? "So it is." : `It is: ${came}.`}` : "";
}

function folded(title, name) {
  return element("details", { class: "rs-compare", "data-part": name }, element("summary", {}, title), element("div", { class: "rs-board-panel" }));
}

// A wide table scrolls inside itself, also by keys.
function scrollable(label) { return element("div", { class: "rs-board-scrolled", role: "region", "aria-label": label, tabindex: "0" }); }

function paintCompared(view, order) {
  const { model } = view, graph = model.get("graph");
  const rows = graph.settings.map(({ id }) => lineOf(view, id, order));
  view.compared.open = model.get("comparing");
  const current = graph.settings.findIndex(({ id }) => id === model.get("shown"));
  if (!view.compared.table) view.compared.lastChild.append(view.compared.table = scrollable("The same order on all of them"));
  view.compared.table.replaceChildren(table(`Order ${order || "(nothing played yet)"}`, graph.heads.compare, rows, current));
}

// One order on one variant, as a row: what was answered, and what the state is.
function lineOf({ model }, variant, order) {
  const { path } = walk(model, variant, order), { state } = path.at(-1);
  const held = state.facts.filter(([, mood]) => mood !== "lost").map(([text]) => text);
  return [variant, path.flatMap(({ step }) => step.short).join(", ") || "no submit yet", state.revision, held.join(", "), state.short];
}

function explorePanel(view) {
  const part = folded("Every order", "explore"), button = element("button", { type: "button", "data-do": "explore" });
  const note = element("span", { class: "rs-why", id: freshId("why") }), found = element("div", { class: "rs-board-found" });
  part.open = true;
  on(button, "click", () => { if (!isOff(button)) askBoard(view, "explore", view.model.get("shown")); });
  part.lastChild.append(element("div", { class: "rs-board-row" }, button, note), found);
  const show = () => {
    const shown = view.model.get("shown"), seen = view.model.get("explored")[shown];
    button.textContent = view.model.get("graph").settings.length > 1 ? `Run every order on ${shown}` : "Run every order";
    switchControl(button, note, seen ? (seen.orders ? "every order was run" : "this was run; what it met is below") : "");
    // Built once: a button that was pressed keeps the focus.
    if (found.seen !== seen) found.replaceChildren(...(seen ? exploredParts(view, seen) : []));
    found.seen = seen;
  };
  return { part, show };
}

function exploredParts(view, { said, orders, outcomes, laws, failures }) {
  const groups = outcomes.map((one) => {
    const share = one.share ?? 0, count = one.count === null ? "in some orders" : `${one.count} of ${orders}, ${(100 * share).toFixed(0)}%`;
    const load = element("button", { type: "button", "data-load": one.schedule }, "Load one");
    load.setAttribute("aria-label", `Load ${one.schedule}, an order that ends so`);
    on(load, "click", () => showOrder(view, one.schedule));
    const bar = element("span", { class: `rs-board-bar ${one.broken.length ? "rs-board-bar-lost" : ""}`, style: `--share: ${share}`, "aria-hidden": "true" }, element("span", {}));
    return element("li", {}, element("span", { class: "rs-board-end" }, one.state.replace(/^State: /, "").replace(/\.$/, "")), bar, element("b", {}, count),
      element("span", { class: one.broken.length ? "rs-warn-words" : "rs-soft-words" }, one.broken.join(", ") || "no law broken"), load);
  });
  const broken = laws.map(([name, counted, schedule, token]) => {
    const load = element("button", { type: "button", "data-shortest": name }, "Load the shortest");
    on(load, "click", () => showOrder(view, schedule));
    const words = element("span", {}, `${name.replaceAll("_", " ")}: `, element("b", {}, counted));
    return element("li", {}, words, schedule ? element("code", { title: token }, schedule) : "", schedule ? load : "");
  });
  const wrong = failures.map(([who, kind, words, schedule]) => {
    const load = element("button", { type: "button" }, "Load it");
    on(load, "click", () => showOrder(view, schedule));
    return element("li", {}, element("b", {}, `${who}: ${kind}`), ` ${words} `, schedule ? load : "");
  });
  const list = (name, items) => (items.length ? element("ul", { class: name }, ...items) : "");
  return [element("p", { class: "rs-board-said" }, said), list("rs-board-wrong", wrong), list("rs-board-ends", groups), list("rs-board-laws", broken)];
}

function branchPanel(view) {
  const { model } = view, part = folded("Branches", "branches");
  const fork = element("button", { type: "button", "data-do": "fork", "aria-keyshortcuts": "f" }, "Fork here");
  const note = element("span", { class: "rs-why", id: freshId("why") }, "keeps this order, and goes on from this step in another one");
  const lines = element("div", { class: "rs-board-lines" }), rowOf = scrollable("Branches"), presses = element("div", { class: "rs-board-row" }), besides = element("div", { class: "rs-board-lines" });
  lines.append(rowOf, presses, besides);
  part.open = true;
  on(fork, "click", () => forkHere(view));
  part.lastChild.append(element("div", { class: "rs-board-row" }, fork, note), lines);
  const show = () => {
    const all = linesOf(model), graph = model.get("graph");
    lines.hidden = all.length < 2;
    if (lines.hidden) return;
    const rows = all.map(([schedule, at, shown], index) => {
      const order = movesOf(schedule).slice(0, at).join(""), [, , ...rest] = lineOf(view, shown, order);
      return [String(index + 1), order || "(start)", shown, ...rest];
    });
    while (presses.children.length > all.length) presses.lastChild.remove();
    while (presses.children.length < all.length) presses.append(branchButton(view, presses.children.length));
    Array.from(presses.children).forEach((button, index) => button.setAttribute("aria-current", String(index === model.get("line"))));
    const beside = all.map((one, index) => [index, one]).filter(([index]) => index !== model.get("line")).map(([index, [schedule, at, shown]]) => {
      const { path } = walk(model, shown, movesOf(schedule).slice(0, at).join(""));
      return element("figure", {}, element("figcaption", {}, `Branch ${index + 1}, as it was left`), boardPicture(model, path, movesOf(schedule).length, Math.min(at, path.length - 1)));
    });
    rowOf.replaceChildren(table("Branches", graph.heads.branches, rows, model.get("line")));
    besides.replaceChildren(...beside);
  };
  return { part, show };
}

function branchButton(view, index) {
  const button = element("button", { type: "button", "data-branch": String(index + 1) }, `Show branch ${index + 1}`);
  on(button, "click", () => switchBranch(view, index));
  return button;
}

function linesOf(model) {
  const lines = model.get("kept").map((one) => [...one]);
  lines[model.get("line")] = [model.get("schedule"), model.get("at"), model.get("shown")];
  return lines;
}

function forkHere(view) {
  const { model } = view, lines = linesOf(model), at = model.get("at"), schedule = movesOf(model.get("schedule")).slice(0, at).join("");
  lines.push([schedule, at, model.get("shown")]);
  put(view, { kept: lines, line: lines.length - 1, schedule });
  view.live.textContent = `Branch ${lines.length - 1} is kept; branch ${lines.length} goes on ${schedule ? `after ${schedule}` : "from the start"}.`;
}

function switchBranch(view, line) {
  const lines = linesOf(view.model), [schedule, at, shown] = lines[line];
  put(view, { kept: lines, line, schedule, at, shown });
}

function tokenRow(view) {
  const code = element("input", { type: "text", readonly: "", size: "44", id: freshId("token") }), said = element("span", { class: "rs-why", role: "status" });
  const copy = element("button", { type: "button", "data-do": "copy" }, "Copy");
  const byHand = () => { code.select(); said.textContent = document.execCommand("copy") ? "Copied." : "Selected; copy it with the keys of your system."; };
  on(copy, "click", () => navigator.clipboard ? navigator.clipboard.writeText(code.value).then(() => { said.textContent = "Copied."; }, byHand) : byHand());
  const show = ({ token }) => { if (code.value !== token) said.textContent = ""; code.value = token; };
  return { show, part: element("div", { class: "rs-board-token" }, element("label", { for: code.id }, "Token of this step"), code, copy, said) };
}
