// The ground of every front part: elements, marks, controls that say why, faults in place.
// Parts are plain scripts, joined in a listed order by live.py; the last one exports render.
const SVG_SPACE = "http://www.w3.org/2000/svg";

// Letters that a saved picture cannot hold, as one sign that can be seen; the same as Python's.
const ILLEGAL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ud800-\udfff\ufffe\uffff]/gu;

function legal(words) { return String(words).replace(ILLEGAL, "\ufffd"); }

function element(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) node.setAttribute(name, value);
  node.append(...children.filter((child) => child !== null).map((child) => (typeof child === "string" ? legal(child) : child)));
  return node;
}

// A mark is [tag, attributes, text]; Python draws the same marks into the stored picture.
function drawMark([tag, attributes, text]) {
  const node = document.createElementNS(SVG_SPACE, tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, legal(value));
  if (text) node.textContent = legal(text);
  // Where only a part of a name is to be seen, the pointer finds the whole.
  if (attributes["aria-label"] && tag === "text") node.append(drawMark(["title", {}, attributes["aria-label"]]));
  return node;
}

function drawGroup(marks, attributes) {
  const group = drawMark(["g", attributes, ""]);
  group.append(...marks.map(drawMark));
  return group;
}

function drawing([width, height], label) {
  return drawMark(["svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label, class: "rs-drawing" }, ""]);
}

// Every listener goes through here: a fault is shown in the widget, never swallowed.
function on(node, event, work) {
  node.addEventListener(event, (happening) => {
    try { return work(happening); } catch (fault) { showFault(node, fault); }
  });
}

function showFault(node, fault) {
  const place = node.closest(".runstate")?.querySelector(".rs-fault");
  if (!place) throw fault;
  place.textContent = `This control failed: ${fault}`;
  place.hidden = false;
}

function faultPlace(model) {
  const place = element("p", { class: "rs-fault", role: "alert" });
  const show = () => { place.textContent = legal(model.get("fault")); place.hidden = !model.get("fault"); };
  model.on("change:fault", show);
  show();
  return place;
}

// A control that is off stays focusable and names its reason in text that is on the page.
function switchControl(control, note, reason) {
  control.setAttribute("aria-disabled", reason ? "true" : "false");
  control.setAttribute("aria-describedby", note.id);
  note.textContent = reason;
  note.hidden = !reason;
}

// JupyterLab keeps Enter from a form's own handling, so a field asks for it.
function sendOnEnter(field, form) {
  on(field, "keydown", (press) => {
    if (press.key !== "Enter" || press.isComposing) return;
    press.preventDefault();
    form.requestSubmit();
  });
}

function isOff(control) { return control.getAttribute("aria-disabled") === "true"; }

// Every widget is a module of its own, so the page has to do the counting.
function freshId(stem) {
  window.runstateIssued = (window.runstateIssued ?? 0) + 1;
  return `rs-${stem}-${window.runstateIssued}`;
}

// The kernel may be gone: the view goes on, the model keeps the value locally.
function store(model, values) {
  for (const [name, value] of Object.entries(values)) model.set(name, value);
  try { model.save_changes(); } catch (fault) { console.warn("no kernel to tell:", fault.message); }
}

const PATIENCE = 5000;
const SILENT = "The kernel has not answered yet. If it is busy, your press waits; if it is gone, run this cell again.";

// Asks the kernel and, when no answer has come for a while, tells so. Call what it returns when the answer is there.
// A kernel that is gone throws at once; to a learner that is the same silence.
function askKernel(model, message, tell) {
  const waiting = setTimeout(() => tell(SILENT), PATIENCE);
  try { model.send(message); } catch (fault) { console.warn("no kernel to ask:", fault.message); }
  return () => clearTimeout(waiting);
}

function radios(legend, options, chosen, choose) {
  const name = freshId("choice");
  const set = element("fieldset", { class: "rs-choice" }, element("legend", {}, legend));
  for (const { id, label } of options) {
    const input = element("input", { type: "radio", name, value: id });
    input.checked = id === chosen;
    on(input, "change", () => choose(id));
    set.append(element("label", {}, input, element("span", {}, label)));
  }
  return set;
}

function tick(set, chosen) {
  for (const input of set.querySelectorAll("input")) input.checked = input.value === chosen;
}

function table(caption, heads, rows, current) {
  const body = element("tbody", {});
  rows.forEach((cells, index) => {
    const row = element("tr", index === current ? { class: "rs-now", "aria-current": "step" } : {});
    cells.forEach((cell, column) => row.append(element(column ? "td" : "th", column ? {} : { scope: "row" }, cell)));
    body.append(row);
  });
  const head = element("tr", {}, ...heads.map((text) => element("th", { scope: "col" }, text)));
  return element("table", { class: "rs-table" }, element("caption", {}, caption), element("thead", {}, head), body);
}

// The root of every widget; JupyterLab's one-letter shortcuts stop at its edge. Each kind of widget
// brings the common sheet again, so its own sheet names its kind to win over every copy.
function openRoot(el, label, kind = "") {
  el.replaceChildren();
  const root = element("section", { class: `runstate ${kind}`.trim(), "aria-label": label, "data-lm-suppress-shortcuts": "true" });
  // JupyterLab asks the focused element itself, not the widget around it: x would cut the cell.
  root.addEventListener("focusin", ({ target }) => target.setAttribute("data-lm-suppress-shortcuts", "true"));
  el.append(root);
  return root;
}

// A fresh floor to build on: listeners of an earlier one leave with it.
function freshStage(root) {
  const stage = element("div", { class: "rs-stage" });
  root.replaceChildren(stage);
  return stage;
}

// Listens to the model and lets go of it when the view is closed.
function watch(model, names, work) {
  for (const name of names) model.on(`change:${name}`, work);
  return () => { for (const name of names) model.off(`change:${name}`, work); };
}

function sealedParts(model) {
  return [element("p", { class: "rs-locked" }, element("strong", {}, "Locked. "), model.get("sealed"))];
}
