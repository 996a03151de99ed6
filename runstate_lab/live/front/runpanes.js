// The panes: the state by groups, the trace as a window of rows, the context; and below, owner and changes.
const TRACE_ROWS = 9, ELEMENTS = 6, PAGE = 10;
const SIGNS = { new: "+", changed: "~", gone: "−" };

function pane(title, ...children) {
  const note = element("span", { class: "rs-soft-note" });
  const body = element("div", { class: "rs-pane-body" }, ...children);
  return { part: element("section", { class: "rs-pane", "aria-label": title }, element("h4", {}, `${title} `, note), body), note, body };
}

// One row of the state: pressing it puts the lens on it.
function cellButton({ key, label, value, mark, picked, pick }) {
  const button = element("button", { type: "button", class: "rs-cell", "data-key": `cell:${key}`, "data-cell": key, "data-mark": mark || null, "aria-pressed": String(picked), tabindex: picked ? "0" : "-1" },
    element("span", { class: "rs-cell-name" }, label), element("span", { class: "rs-cell-value" }, value));
  if (mark) button.append(element("span", { class: "rs-mark" }, `${SIGNS[mark]} ${mark}`));
  on(button, "click", () => pick(key));
  return button;
}

function markAt(seen, at) {
  if (!at || seen.since !== at) return "";
  return seen.value === GONE ? "gone" : seen.before === GONE ? "new" : "changed";
}

function paintRunState(view, { run, at, picked, pick, repaint }) {
  const groups = [], empty = [];
  for (const [title, fields] of run.graph.groups) {
    const rows = fields.flatMap((field) => fieldRows(view, { run, at, picked, pick, repaint }, field, empty));
    if (rows.length) groups.push(element("div", { class: "rs-group", role: "group", "aria-label": title }, element("p", { class: "rs-group-name" }, title), ...rows));
  }
  if (empty.length) groups.push(element("div", { class: "rs-group rs-empty", role: "group", "aria-label": "Empty" }, element("p", { class: "rs-group-name" }, "Empty"), ...empty));
  view.state.body.replaceChildren(...groups);
  view.state.note.textContent = `after step ${at}, revision ${run.steps[at].revision}`;
  const buttons = [...view.state.body.querySelectorAll("[data-cell]")];
  if (buttons.length && !buttons.some(({ tabIndex }) => tabIndex === 0)) buttons[0].tabIndex = 0;
}

function fieldRows(view, { run, at, picked, pick, repaint }, field, empty) {
  const whole = lookUp(run.inside.get(field)[0], at), [short] = run.graph.values[whole.value];
  if (!run.tuples.has(field)) {
    const row = cellButton({ key: field, label: field, value: short, mark: markAt(whole, at), picked: picked === field, pick });
    if (short !== "none" || markAt(whole, at)) return [row];
    empty.push(row);
    return [];
  }
  const elements = elementsAt(run, field, at), alive = elements.filter(({ value }) => value !== GONE).length;
  const head = cellButton({ key: field, label: field, value: alive ? String(alive) : "none", mark: "", picked: picked === field, pick });
  if (!elements.length) { empty.push(head); return []; }
  const skipped = Math.min(view.skipped[field] ?? 0, Math.max(0, elements.length - ELEMENTS)), size = view.skipped[field] === undefined ? ELEMENTS : PAGE;
  const end = elements.length - skipped, shown = elements.slice(Math.max(0, end - size), end);
  const rows = shown.map((seen) => elementRow({ run, at, picked, pick }, field, seen));
  const turn = (to) => { view.skipped[field] = to; repaint(); };
  return [head, ...rows, elements.length > ELEMENTS ? pager({ field, hiddenBefore: end - shown.length, skipped, turn }) : null].filter(Boolean);
}

function elementRow({ run, at, picked, pick }, field, seen) {
  const { cell } = seen, mark = markAt(seen, at), [short] = run.graph.values[seen.value === GONE ? seen.before : seen.value];
  const label = short.startsWith(cell.element) ? "" : cell.element, key = `${field}/${cell.element}`;
  if (mark !== "gone") {
    const button = cellButton({ key, label, value: short, mark, picked: picked === key, pick });
    button.classList.add("rs-inner");
    return button;
  }
  return element("p", { class: "rs-cell rs-inner rs-cell-gone" }, element("span", { class: "rs-cell-name" }, label), element("s", { class: "rs-cell-value" }, short), element("span", { class: "rs-mark" }, `${SIGNS.gone} gone`));
}

function pager({ field, hiddenBefore, skipped, turn }) {
  const older = element("button", { type: "button", class: "rs-turn", "data-key": `older:${field}` }, `${hiddenBefore} older`);
  const newer = element("button", { type: "button", class: "rs-turn", "data-key": `newer:${field}` }, `${skipped} newer`);
  on(older, "click", () => turn(skipped + PAGE));
  on(newer, "click", () => turn(Math.max(0, skipped - PAGE)));
  return element("p", { class: "rs-pager" }, hiddenBefore ? older : null, skipped ? newer : null);
}

function paintRunTrace(view, { run, rows, at, go, unfold }) {
  const current = placeOf(rows, at), [start, end] = windowOf(rows.length, current, TRACE_ROWS);
  const body = element("tbody", {});
  for (let index = start; index < end; index += 1) body.append(rows[index].folded ? foldRow(rows[index], index === current, unfold) : stepRow(run, rows[index].first, index === current, go));
  const head = element("tr", {}, ...["step", "offered", "answer"].map((text) => element("th", { scope: "col" }, text)));
  view.trace.body.replaceChildren(element("table", { class: "rs-table rs-run-table" }, element("caption", { class: "rs-hidden-words" }, `Trace, rows ${start + 1} to ${end} of ${rows.length}`), element("thead", {}, head), body));
  const shown = rows.filter((row) => !row.folded && row.first).length;
  view.trace.note.textContent = rows.length > end - start ? `rows ${start + 1} to ${end} of ${rows.length}` : `${shown} of ${run.newest} steps`;
}

// A long identifier may be broken after a bar.
function breaking(name) {
  return name.split(/(?<=_)/).flatMap((part, index) => (index ? [element("wbr"), part] : [part]));
}

function centre(frame, row) {
  if (!row) return;
  const place = row.getBoundingClientRect(), room = frame.getBoundingClientRect();
  frame.scrollTop += (place.top + place.bottom - room.top - room.bottom) / 2;
}

function stepRow(run, number, current, go) {
  const step = run.steps[number];
  const button = element("button", { type: "button", class: "rs-number", "data-key": current ? "row:current" : `row:${number}`, "aria-label": `Go to step ${number}`, tabindex: current ? "0" : "-1" }, String(number));
  const offered = step.source ? [element("span", { class: "rs-kind-word" }, ...breaking(step.kind)), step.value ? ` ${step.value}` : "", element("span", { class: "rs-by" }, step.expected < 0 ? step.source : `${step.source}, from ${step.expected}`)] : ["the start"];
  const answer = step.code ? element("td", { class: "rs-no" }, "refused", element("span", { class: "rs-by" }, ...breaking(step.code))) : element("td", { class: "rs-yes" }, step.expected < 0 && number ? "" : `revision ${step.revision}`, step.remark ? element("span", { class: "rs-by" }, step.remark) : "");
  const row = element("tr", { class: current ? "rs-now" : null, "aria-current": current ? "step" : null, "data-row": number }, element("th", { scope: "row" }, button), element("td", {}, ...offered), answer);
  on(row, "click", () => go(number));
  return row;
}

function foldRow(row, current, unfold) {
  const button = element("button", { type: "button", class: "rs-turn", "data-key": `fold:${row.first}`, "aria-expanded": String(row.opened) }, foldWords(row));
  on(button, "click", () => unfold(row.first, !row.opened));
  const range = row.first === row.last ? `step ${row.first}` : `steps ${row.first} to ${row.last}`;
  return element("tr", { class: current ? "rs-now rs-folded-row" : "rs-folded-row", "aria-current": current ? "step" : null, "data-fold": row.first }, element("th", { scope: "row" }, "…"), element("td", { colspan: "2" }, button, element("span", { class: "rs-by" }, range)));
}

// Every row shown, for a file; it is never put on the page.
function wholeRunTable({ run, rows }) {
  const heads = ["step", "event", "value", "source", "authority", "call", "expects revision", "answer", "code", "revision"];
  const cellsOf = ({ number, kind, value, source, authority, call, expected, code, revision }) => (expected < 0
    ? [number, kind || "start", "", source, "", "", "", "", "", revision]
    : [number, kind, value, source, authority, call, expected, code ? "refused" : "accepted", code, revision]);
  const lines = rows.filter((row) => !row.opened).map((row) => (row.folded ? [`${row.first} to ${row.last}`, foldWords(row), ...Array(8).fill("")] : cellsOf(run.steps[row.first])).map(String));
  return table(`What was offered to ${run.graph.run}`, heads, lines, -1);
}

function paintRunContext(view, { run, at }) {
  const { lines, left } = contextAt(run, at), before = new Set(at ? contextAt(run, at - 1).lines : lines);
  const list = element("ul", { class: "rs-lines" });
  const most = 40, cut = Math.max(0, lines.length - most);
  lines.slice(0, cut ? 8 : undefined).forEach((line) => list.append(contextLine(line, before)));
  if (cut) { list.append(element("li", { class: "rs-more" }, `… ${cut} lines more, not drawn here …`)); lines.slice(8 + cut).forEach((line) => list.append(contextLine(line, before))); }
  const out = element("div", { class: "rs-left" }, element("p", { class: "rs-group-name" }, "Left out"), ...(left.length ? left.slice(-PAGE).map(([what, why]) => element("p", {}, what, element("span", { class: "rs-why-word" }, ` ${why}`))) : [element("p", { class: "rs-soft-note" }, "nothing")]));
  view.context.body.replaceChildren(list, out);
  view.context.note.textContent = run.graph.reader;
}

function contextLine(line, before) {
  const fresh = !before.has(line);
  return element("li", { class: fresh ? "rs-fresh" : null }, line, fresh ? element("span", { class: "rs-mark" }, "+ new") : "");
}

function paintRunOwner(view, { at, owner, go }) {
  const rows = owner.rows.map(([name, words]) => element("div", {}, element("dt", {}, name), element("dd", {}, words)));
  const jump = owner.step ? element("button", { type: "button", class: "rs-turn", "data-key": "jump" }, `Go to step ${owner.step}`) : null;
  if (jump) on(jump, "click", () => go(owner.step));
  view.owner.body.replaceChildren(...[element("p", { class: "rs-owner" }, owner.sentence), element("dl", { class: "rs-facts-of" }, ...rows), owner.step === at ? null : jump].filter(Boolean));
  view.owner.note.textContent = owner.name;
}

function paintRunChanges(view, { run, at, since }) {
  const base = since < 0 ? Math.max(0, at - 1) : Math.min(since, run.newest), found = differences(run, base, at);
  const list = element("ul", { class: "rs-changes" });
  for (const change of found.slice(0, 2 * PAGE)) list.append(changeLine(change));
  if (found.length > 2 * PAGE) list.append(element("li", { class: "rs-more" }, `… and ${found.length - 2 * PAGE} more`));
  if (!found.length) list.append(element("li", { class: "rs-more" }, "nothing changed"));
  view.changes.list.replaceChildren(list);
  view.changes.note.textContent = `from step ${base} to step ${at}`;
}

function changeLine({ name, before, after }) {
  const sign = before ? (after ? "~" : "−") : "+", item = element("li", {}, element("span", { class: "rs-sign", "aria-hidden": "true" }, sign), element("span", { class: "rs-cell-name" }, name), " ");
  if (!before) item.append("added ", element("ins", {}, after[0]));
  else if (!after) item.append("removed ", element("del", {}, before[0]));
  else contrast(before, after).forEach(([part, old, now], index) => item.append(index ? "; " : "", part ? `${part} ` : "", element("del", {}, old), " → ", element("ins", {}, now)));
  return item;
}
