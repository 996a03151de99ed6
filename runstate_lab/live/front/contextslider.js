// The context at every budget: all of them were built by the kernel at once; the slider looks them up.
const NARROW = 600;

function render({ model, el }) {
  const root = openRoot(el, "Context slider: what a model gets to see", "rs-in-context");
  const view = { model, root };
  const build = () => {
    const stage = freshStage(root);
    if (model.get("sealed")) return stage.append(...sealedParts(model));
    stage.append(...sliderParts(stage, view).filter(Boolean));
    paintContext(view);
  };
  const repaint = () => { if (model.get("graph").shown && view.live) paintContext(view); };
  const quiet = [watch(model, ["sealed", "graph"], build), watch(model, ["budget", "privacy", "shown", "compare"], repaint)];
  on(root, "keydown", (press) => {
    if (press.altKey || press.ctrlKey || press.metaKey || press.target.matches("input, select, textarea")) return;
    const name = { ArrowLeft: "narrower", ArrowRight: "wider", Home: "least", End: "all", p: "private" }[press.key];
    if (!name || !view.does) return;
    press.preventDefault();
    if (name === "private") otherMode(view);
    else view.does[name].button.click();
  });
  build();
  return () => { quiet.forEach((stop) => stop()); view.measure?.disconnect(); };
}

function otherMode({ model }) {
  const modes = model.get("graph").modes.map(({ id }) => id);
  store(model, { privacy: modes[(modes.indexOf(model.get("privacy")) + 1) % modes.length] });
}

function sliderParts(stage, view) {
  const { model } = view, graph = model.get("graph");
  view.states = radios("Revision", graph.states, model.get("shown"), (id) => store(model, { shown: id }));
  view.modes = radios("Privacy", graph.modes, model.get("privacy"), (id) => store(model, { privacy: id }));
  view.picture = element("div", { class: "rs-picture" });
  // On a narrow page the bar is half as long, so that its words stay readable.
  view.measure?.disconnect();
  view.measure = new ResizeObserver(() => { if (view.shownNow && (view.picture.clientWidth < NARROW) !== (view.page === "narrow")) paintBar(view, view.shownNow, view.shownSaid); });
  view.measure.observe(view.picture);
  view.slider = element("input", { type: "range", min: "1", max: String(graph.most), step: String(graph.step), "aria-label": "Budget in characters" });
  on(view.slider, "input", () => store(model, { budget: Number(view.slider.value) }));
  view.legend = element("ul", { class: "rs-ctx-legend", "aria-label": "What the budget is spent on" });
  view.live = element("p", { class: "rs-live", role: "status", "aria-live": "polite" });
  view.text = element("ol", { class: "rs-ctx-text", "aria-label": "Context", tabindex: "0" });
  view.out = element("ul", { class: "rs-ctx-out", "aria-label": "Left out", tabindex: "0" });
  view.lines = element("div", { class: "rs-ctx-scroll", role: "region", "aria-label": "Lines", tabindex: "0" });
  view.compared = element("details", { class: "rs-compare" }, element("summary", {}, "The same budget at every revision"),
    element("div", { class: "rs-ctx-scroll", role: "region", "aria-label": "Revisions compared", tabindex: "0" }));
  view.compared.hidden = graph.states.length < 2;
  on(view.compared, "toggle", () => { if (view.compared.open !== model.get("compare")) store(model, { compare: view.compared.open }); });
  const choices = element("div", { class: "rs-bar" }, graph.states.length > 1 ? view.states : null, graph.modes.length > 1 ? view.modes : null);
  return [faultPlace(model), graph.states.length > 1 || graph.modes.length > 1 ? choices : null, view.picture,
    element("div", { class: "rs-ctx-bar" }, view.slider), budgetSteps(view), view.live, view.legend,
    element("div", { class: "rs-ctx-panes" }, element("div", {}, element("h4", {}, "Context"), view.text), element("div", {}, element("h4", {}, "Left out"), view.out)),
    view.lines, view.compared, exportBar(stage, "context")];
}

function budgetSteps(view) {
  const { model } = view;
  view.does = {};
  const jump = (name, sign, label, target) => {
    const button = element("button", { type: "button", class: "rs-jump", "aria-label": label, title: label, "data-do": name }, sign);
    on(button, "click", () => { if (!isOff(button)) store(model, { budget: target() }); });
    view.does[name] = { button };
    return button;
  };
  const turns = () => hereOf(view).turns, budget = () => model.get("budget"), most = () => model.get("graph").most;
  view.note = element("span", { class: "rs-why", id: freshId("why") });
  view.typed = element("input", { type: "text", inputmode: "numeric", id: freshId("budget"), size: "6", autocomplete: "off" });
  view.wrong = element("span", { class: "rs-why", id: freshId("why"), role: "status" });
  view.typed.setAttribute("aria-describedby", view.wrong.id);
  const form = element("form", { class: "rs-ctx-steps" }, jump("least", "|◀", "Least budget (Home)", () => 1),
    jump("narrower", "◀", "The line before (left arrow)", () => turns().findLast((turn) => turn < budget()) ?? 1),
    jump("wider", "▶", "The next line (right arrow)", () => turns().find((turn) => turn > budget()) ?? most()),
    jump("all", "▶|", "Enough for everything (End)", most), view.note,
    element("label", { for: view.typed.id }, "Budget"), view.typed, element("button", { type: "submit" }, "Build"), view.wrong);
  on(form, "submit", (happening) => {
    happening.preventDefault();
    const typed = view.typed.value.trim(), fits = /^\d+$/.test(typed) && Number(typed) >= 1;
    view.wrong.textContent = fits ? "" : `${typed || "nothing"} is no whole number from 1`;
    view.typed.setAttribute("aria-invalid", String(!fits));
    if (fits) store(model, { budget: Math.min(Number(typed), most()) });
  });
  sendOnEnter(view.typed, form);
  return form;
}

function hereOf({ model }, name = model.get("shown")) { return model.get("graph").shown[name][model.get("privacy")]; }

// The view at a budget: the one of the last change at or before it.
function viewAt(view, name) {
  const here = hereOf(view, name), budget = view.model.get("budget");
  return here.views[here.stops.findLastIndex((stop) => stop <= budget)];
}

// Each view tells only what it changes; the lines at a budget are folded from the first view on.
function linesAt(view, name) {
  const here = hereOf(view, name), budget = view.model.get("budget"), held = [];
  for (const { lines } of here.views.slice(0, here.stops.findLastIndex((stop) => stop <= budget) + 1)) for (const [row, place] of lines) held[row] = place;
  const { lines, keys } = view.model.get("graph");
  return held.map((place) => unpacked(lines[place], keys));
}

// Of a line that is cut only the length is sent, counted in characters as Python counts them.
function unpacked([place, shown, kind, size, where, why], keys) {
  const key = keys[place];
  const words = typeof shown === "number" ? `${Array.from(key).slice(0, shown).join("")}…` : shown ?? key;
  return { key, shown: words, kind, size, where, why };
}

function paintContext(view) {
  const { model, root } = view, graph = model.get("graph"), budget = model.get("budget"), now = viewAt(view);
  const lines = linesAt(view), shown = lines.filter(({ where }) => where !== "out");
  const said = `Budget ${budget}: ${now.said}`;
  Object.assign(root.dataset, { budget: String(budget), privacy: model.get("privacy"), shown: model.get("shown"), lines: String(shown.length) });
  tick(view.states, model.get("shown"));
  tick(view.modes, model.get("privacy"));
  view.slider.value = String(budget);
  view.slider.setAttribute("aria-valuetext", `${budget} characters, ${shown.length} lines`);
  if (document.activeElement !== view.typed) view.typed.value = String(budget);
  view.live.textContent = legal(said);
  paintBar(view, now, said);
  paintSteps(view, budget, now);
  const fresh = new Set(now.changed.filter(() => hereOf(view).stops.includes(budget)));
  view.text.replaceChildren(...shown.map(({ shown: words, key }) => element("li", fresh.has(key) ? { class: "rs-ctx-new" } : {}, ...struck(words))));
  const left = now.left.map((place) => graph.left[place]);
  view.out.replaceChildren(...left.map(({ what, why }) => element("li", {}, `${what}: ${why}`)));
  const missing = lines.filter(({ where }) => where === "out");
  if (missing.length) view.out.append(element("li", { class: "rs-ctx-none" }, "These lines:"), ...missing.map(({ shown: words }) => element("li", { class: "rs-ctx-missing" }, ...struck(words))));
  if (!left.length) view.out.append(element("li", { class: "rs-ctx-none" }, "nothing"));
  view.lines.replaceChildren(table("Lines", graph.heads, lines.map(({ shown: words, size, where, why }) => [words, String(size), where, why])));
  paintStates(view, graph, budget);
}

// What was struck out is marked, so that it is not taken for a value.
function struck(words) {
  return words.split(/(\[redacted\])/).map((part) => (part === "[redacted]" ? element("mark", {}, part) : part));
}

function paintBar(view, now, said) {
  const graph = view.model.get("graph"), budget = view.model.get("budget"), { left, room: full, top, high, half } = graph.bar;
  view.page = view.picture.clientWidth && view.picture.clientWidth < NARROW ? "narrow" : "wide";
  const { size, room, base } = graph.pages[view.page], scale = room / full;
  const picture = drawing(size, said), spent = now.bar.reduce((sum, [, size]) => sum + size, 0);
  const parts = now.bar.flatMap(([kind, , x, width, label]) => [
    ["rect", { x: left + (x - left) * scale, y: top, width: width * scale, height: high, rx: 2, class: `rs-ctx-${kind.replaceAll(" ", "-")}` }, ""],
    ...(label && scale === 1 ? [["text", { x: x + width / 2, y: top + 21, "text-anchor": "middle", class: "rs-label" }, label]] : [])]);
  picture.append(drawGroup(base, { class: "rs-base" }), drawGroup(parts, { class: "rs-bar-spent" }));
  const x = left + (budget * room) / graph.most;
  picture.append(drawGroup([
    ["path", { d: `M${x} ${top - 6}V${top + high + 6}`, class: "rs-ctx-budget", fill: "none" }, ""],
    ["text", { x: Math.min(Math.max(x, left + half), left + room - half), y: top - 11, "text-anchor": "middle", class: "rs-ctx-words" }, `budget ${budget}`],
  ], { class: "rs-budget" }));
  view.picture.replaceChildren(picture);
  Object.assign(view, { shownNow: now, shownSaid: said });
  view.legend.replaceChildren(...now.bar.map(([kind, size]) => element("li", {}, swatch(kind), `${graph.names[kind]} ${size}`)), element("li", {}, swatch("all"), `free ${budget - spent}`));
}

function swatch(kind) {
  const picture = drawMark(["svg", { viewBox: "0 0 14 14", "aria-hidden": "true" }, ""]);
  picture.append(drawMark(["rect", { x: "1", y: "1", width: "12", height: "12", rx: "2", class: `rs-ctx-${kind.replaceAll(" ", "-")}` }, ""]));
  return picture;
}

function paintSteps(view, budget, now) {
  const least = budget <= 1 ? "this is the least budget" : "", all = budget >= view.model.get("graph").most ? "nothing more could be shown" : "";
  for (const [name, reason] of [["least", least], ["narrower", least], ["wider", all], ["all", all]]) {
    const { button } = view.does[name];
    button.setAttribute("aria-disabled", reason ? "true" : "false");
    button.setAttribute("aria-describedby", view.note.id);
  }
  const place = hereOf(view).stops.includes(budget) && now.story ? `here ${now.story}` : "";
  view.note.textContent = least || all || place;
}

function paintStates(view, graph, budget) {
  view.compared.open = view.model.get("compare");
  if (graph.states.length < 2) return;
  const names = graph.states.map(({ id }) => id);
  const found = names.map((name) => new Map(linesAt(view, name).map(({ key, where }) => [key, where])));
  const keys = new Set([...found].reverse().flatMap((one) => [...one.keys()]));
  const rows = [...keys].map((key) => [key, ...found.map((one) => one.get(key) ?? "not there")]);
  view.compared.lastChild.replaceChildren(table(`Lines at budget ${budget}`, ["line", ...names.map((name) => `at revision ${name}`)], rows));
}
