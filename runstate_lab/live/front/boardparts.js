// The heart of a board: the space-time picture, a press for each worker, the state and the trace.
function boardPicture(model, path, newest, at) {
  const graph = model.get("graph"), { size, columns, apart, first, pill } = graph.layout, { from, to } = windowOf(newest, at, columns);
  const last = path.at(-1), picture = drawing(size, `${last.step.said} ${last.state.says}`);
  const moved = (marks, x, role) => drawGroup(marks, { class: role, transform: `translate(${x} 0)` });
  if (at >= from) picture.append(moved([graph.shade], first + (at - from) * apart, "rs-shade"));
  picture.append(drawGroup(graph.base, { class: "rs-base" }));
  for (let number = from; number <= to; number += 1) {
    const x = first + (number - from) * apart, step = path[number]?.step;
    if (step) picture.append(moved(step.marks, x, number === at ? "rs-step rs-now" : "rs-step"));
    picture.append(drawMark(["text", { x, y: size[1] - 6, "text-anchor": "middle", class: "rs-soft" }, String(number)]));
  }
  const { revision } = path[Math.min(from, path.length) - 1].state;
  picture.append(moved(graph.pill.map(([tag, attributes, text]) => [tag, attributes, text && revision]), pill, "rs-base"));
  return picture;
}

const MOST_WORDS = 38;

function shortly(words, most) { return words.length > most ? `${words.slice(0, most - 1).trimEnd()}…` : words; }

function workerPress(view, [letter, name, hue]) {
  const button = element("button", { type: "button", class: `rs-press rs-${hue}`, "data-do": letter, "aria-keyshortcuts": letter.toLowerCase() });
  const note = element("span", { class: "rs-why", id: freshId("why") });
  on(button, "click", () => { if (!isOff(button)) pressMove(view, letter + view.mark); });
  const show = (offered) => {
    const [, label, why] = offered[letter + view.mark] ?? [];
    const next = why ? "" : shortly(view.mark ? offered[letter][1] : label, MOST_WORDS);
    if (next) button.title = label; else button.removeAttribute("title");
    button.replaceChildren(element("b", {}, letter), ` ${name} `, element("span", { class: "rs-next" }, next ? `${view.mark ? faultName(view.mark) : "next"}: ${next}` : "takes no step"));
    switchControl(button, note, why ?? "");
  };
  return { letter, show, button, part: element("div", { class: "rs-actor" }, button, note) };
}

function paintState(view, node) {
  const { state, step } = node, facts = element("ul", { class: "rs-facts" });
  for (const [text, mood] of state.facts) facts.append(element("li", { class: `rs-fact-${mood}` }, mood === "lost" ? element("s", {}, text) : text, mood === "lost" ? " accepted, now gone" : ""));
  if (!state.facts.length) facts.append(element("li", { class: "rs-fact-none" }, "no facts yet"));
  const others = element("dl", { class: "rs-board-other" }, ...state.other.flatMap(([name, held]) => [element("dt", {}, name), element("dd", {}, held)]));
  view.now.replaceChildren(element("h4", {}, "State"), element("p", {}, "revision ", element("b", {}, state.revision), `, ${state.status}`), facts, others,
    element("p", { class: `rs-verdict rs-verdict-${state.mood}` }, state.mood === "open" ? "" : state.short));
  const changes = step.changes.length ? element("ul", {}, ...step.changes.map((one) => element("li", {}, one))) : element("p", { class: "rs-why" }, node.key ? "nothing" : "no step was made yet");
  view.diff.replaceChildren(element("h4", {}, "Changed by this step"), changes);
  const signs = { good: "✓", lost: "✗", open: "·" };
  const laws = state.laws.map(([name, words, mood]) => element("li", { class: `rs-law-${mood}` }, element("span", { "aria-hidden": "true" }, signs[mood]), ` ${name.replaceAll("_", " ")}: `, element("b", {}, words)));
  view.laws.replaceChildren(element("h4", {}, "Laws"), element("ul", {}, ...laws, ...state.unasked.map((one) => element("li", { class: "rs-law-lost" }, one))));
  if (!laws.length) view.laws.append(element("p", { class: "rs-why" }, "none was given"));
}

function paintPrediction(model, view, { state }) {
  const { choice, why } = model.get("prediction");
  view.prediction.hidden = !choice;
  if (!choice) return;
  view.prediction.replaceChildren(
    element("p", {}, element("b", {}, "You said: "), choice, why ? element("span", { class: "rs-reason" }, ` (${why})`) : ""),
    element("p", {}, element("b", {}, "This order: "), state.over ? state.outcome : "not finished yet"));
}

function orderField(view) {
  const { model } = view, tokens = model.get("graph").parts.includes("token");
  const input = element("input", { type: "text", id: freshId("order"), maxlength: "400", size: tokens ? "34" : "14", spellcheck: "false", autocomplete: "off" });
  const why = element("span", { class: "rs-why", id: freshId("why"), role: "status" });
  const form = element("form", { class: "rs-order" }, element("label", { for: input.id }, tokens ? "Order or token" : "Order so far"), input, element("button", { type: "submit" }, "Play this order"), why);
  input.setAttribute("aria-describedby", why.id);
  form.refuse = (reason) => { why.textContent = reason; input.setAttribute("aria-invalid", reason ? "true" : "false"); };
  on(form, "submit", (happening) => {
    happening.preventDefault();
    const { schedule, shown, ask, reason } = readTyped(model, input.value);
    form.refuse(reason ?? "");
    if (ask !== undefined) return askBoard(view, "play", ask, form.refuse);
    if (!reason) visitOrder(view, schedule, movesOf(schedule).length, { shown });
  });
  sendOnEnter(input, form);
  form.show = () => { if (document.activeElement !== input || input.getAttribute("aria-invalid") !== "true") { input.value = model.get("schedule"); form.refuse(""); } };
  return form;
}

function paintTried(view) {
  const { model } = view, tried = model.get("tried"), total = model.get("graph").orders[model.get("shown")];
  const plain = tried.filter((order) => /^[A-Z]*$/.test(order)).length, faulty = tried.length - plain;
  const without = model.get("graph").faulted ? " without a fault" : "";
  const of = total ? ` of ${total === 1 ? "1 order" : `the ${total} orders`}` : plain === 1 ? " order" : " orders";
  view.count.textContent = `${plain}${of}${without} played${faulty ? `, and ${faulty} with a fault` : ""}`;
  if (tried.length < view.chips.children.length) view.chips.replaceChildren();
  for (const order of tried.slice(view.chips.children.length)) view.chips.append(chip(view, order));
  tried.forEach((order, index) => {
    const button = view.chips.children[index].firstChild, { path, missing } = walk(model, model.get("shown"), order), { state } = path.at(-1);
    button.replaceChildren(element("code", {}, order), missing ? "" : ` ${state.short}`);
    button.setAttribute("aria-current", String(order === model.get("schedule")));
    button.className = `rs-chip rs-chip-${missing ? "open" : state.mood}`;
  });
}

function chip(view, order) {
  const button = element("button", { type: "button" });
  on(button, "click", () => showOrder(view, order));
  return element("li", {}, button);
}
