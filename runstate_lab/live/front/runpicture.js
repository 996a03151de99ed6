// The space-time picture: a window on the columns of a run, as wide as there is room.
const FEWEST_COLUMNS = 3;

function columnsIn(width, [left, column]) {
  return Math.max(FEWEST_COLUMNS, Math.floor(((width || 820) - left - 6) / column));
}

function paintRunPicture(view, { run, rows, at, said, go, unfold }) {
  const { graph } = run, [left, column, height] = graph.size, many = view.columns, width = Math.max(view.width || 820, left + FEWEST_COLUMNS * column + 6);
  const picture = drawing([width, height], `Space-time picture. ${said}`);
  const current = placeOf(rows, at), [start, end] = windowOf(rows.length, current, many);
  const middle = (index) => left + column / 2 + (index - start) * column;
  picture.append(drawMark(["rect", { x: middle(current) - column / 2 + 2, y: 2, width: column - 4, height: height - 4, rx: 8, class: "rs-column" }, ""]));
  picture.append(drawGroup(graph.ground, { class: "rs-base" }));
  for (let index = start; index < end; index += 1) picture.append(columnOf(run, rows[index], middle(index), { go, unfold }));
  view.picture.replaceChildren(picture);
}

function columnOf(run, row, x, { go, unfold }) {
  const step = run.steps[row.first], { graph } = run, [, column, height] = graph.size;
  const words = { "#step": String(row.first), "#revision": String(step.revision), "#many": String(row.last - row.first + 1) };
  const marks = row.folded ? graph.fold : graph.columns[step.column];
  const group = drawMark(["g", { transform: `translate(${x} 0)`, class: row.folded ? "rs-fold" : "rs-step", "data-column": row.first }, ""]);
  group.append(drawMark(["rect", { x: 2 - column / 2, y: 2, width: column - 4, height: height - 4, rx: 8, class: "rs-hit" }, ""]));
  group.append(...marks.map(([tag, attributes, text]) => drawMark([tag, attributes, words[text] ?? text])));
  on(group, "click", () => (row.folded ? unfold(row.first, !row.opened) : go(row.first)));
  return group;
}
