// The space-time picture: a window on the columns of a run, as wide as there is room.
// Columns that stay keep their elements and slide; only what comes into the window is drawn.
const FEWEST_COLUMNS = 3;

function columnsIn(width, [left, column]) {
  return Math.max(FEWEST_COLUMNS, Math.floor(((width || 820) - left - 6) / column));
}

function paintRunPicture(view, { run, rows, at, said, go, unfold }) {
  const { graph } = run, [left, column] = graph.size;
  const tape = tapeOf(view, run), current = placeOf(rows, at), [start, end] = windowOf(rows.length, current, view.columns);
  const middle = (index) => left + column / 2 + (index - start) * column;
  tape.svg.setAttribute("aria-label", `Space-time picture. ${said}`);
  tape.shade.setAttribute("transform", `translate(${middle(current)} 0)`);
  const stay = new Map();
  for (let index = start; index < end; index += 1) {
    const row = rows[index], key = `${row.first}-${row.folded ? row.last : ""}-${row.opened}`;
    const group = tape.columns.get(key) ?? tape.svg.appendChild(columnOf(run, row, { go, unfold }));
    group.setAttribute("transform", `translate(${middle(index)} 0)`);
    group.classList.toggle("rs-here", index === current);
    stay.set(key, group);
  }
  for (const [key, group] of tape.columns) if (!stay.has(key)) group.remove();
  tape.columns = stay;
}

function tapeOf(view, run) {
  const [left, column, height] = run.graph.size, width = Math.max(view.width || 820, left + FEWEST_COLUMNS * column + 6);
  if (view.tape?.run === run && view.tape.width === width && view.tape.svg.parentNode === view.picture) return view.tape;
  const svg = drawing([width, height], ""), shade = drawMark(["rect", { x: 2 - column / 2, y: 2, width: column - 4, height: height - 4, rx: 8, class: "rs-column" }, ""]);
  svg.append(shade, drawGroup(run.graph.ground, { class: "rs-base" }));
  view.picture.replaceChildren(svg);
  view.tape = { run, width, svg, shade, columns: new Map() };
  return view.tape;
}

function columnOf(run, row, { go, unfold }) {
  const step = run.steps[row.first], { graph } = run, [, column, height] = graph.size;
  const words = { "#step": String(row.first), "#revision": String(step.revision), "#many": foldWords(row).split(" ").slice(0, 2).join(" ") };
  const marks = row.folded ? graph.fold : graph.columns[step.column];
  const group = drawMark(["g", { class: row.folded ? "rs-fold" : "rs-step", "data-column": row.first }, ""]);
  group.append(drawMark(["rect", { x: 2 - column / 2, y: 2, width: column - 4, height: height - 4, rx: 8, class: "rs-hit" }, ""]));
  group.append(...marks.map(([tag, attributes, text]) => drawMark([tag, attributes, words[text] ?? text])));
  on(group, "click", () => (row.folded ? unfold(row.first, !row.opened) : go(row.first)));
  return group;
}
