// The space-time picture: a window on the columns of a run, as wide as there is room.
// Columns that stay keep their elements and slide; only what comes into the window is drawn.
const FEWEST_COLUMNS = 3;

function paintRunPicture(view, moves) {
  const { run, rows, at, said } = moves, [left] = run.graph.size, tape = tapeOf(view, run), current = placeOf(rows, at);
  const span = (row) => run.graph.size[row.folded ? 2 : 1], [start, end] = rowsAround(rows, current, tape.width - left - 6, span);
  tape.svg.setAttribute("aria-label", `Space-time picture. ${said}`);
  const stay = new Map();
  let x = left;
  for (let index = start; index < end; index += 1) {
    const row = rows[index], key = `${row.first}-${row.folded ? row.last : ""}-${row.opened}`, wide = span(row);
    const group = tape.columns.get(key) ?? tape.svg.appendChild(columnOf(run, row, wide, moves));
    group.setAttribute("transform", `translate(${x + wide / 2} 0)`);
    if (index === current) paintShade(tape, x, wide);
    group.classList.toggle("rs-here", index === current);
    stay.set(key, group);
    x += wide;
  }
  for (const [key, group] of tape.columns) if (!stay.has(key)) group.remove();
  tape.columns = stay;
  markColumns(view, moves);
}

// The column that wrote what is under the lens, and the one that a comparison starts from.
function markColumns({ tape }, { owner, since }) {
  for (const group of tape.columns.values()) {
    const step = group.classList.contains("rs-step") ? Number(group.dataset.column) : -2;
    group.classList.toggle("rs-wrote", step === owner.step);
    group.classList.toggle("rs-compared", step === since);
  }
}

function paintShade({ shade }, x, wide) {
  shade.setAttribute("transform", `translate(${x + 2} 0)`);
  shade.setAttribute("width", wide - 4);
}

// The rows that fit into the room, the current one near the middle.
function rowsAround(rows, current, room, span) {
  let start = current, end = current + 1, used = span(rows[current]);
  for (let grows = true; grows; ) {
    grows = false;
    for (const side of [start - 1, end]) {
      if (!rows[side] || used + span(rows[side]) > room) continue;
      used += span(rows[side]);
      [start, end, grows] = [Math.min(start, side), Math.max(end, side + 1), true];
    }
  }
  return [start, end];
}

function tapeOf(view, run) {
  const [left, column, , height] = run.graph.size, width = Math.max(view.width || 820, left + FEWEST_COLUMNS * column + 6);
  if (view.tape?.run === run && view.tape.width === width && view.tape.svg.parentNode === view.picture) return view.tape;
  const svg = drawing([width, height], ""), shade = drawMark(["rect", { x: 0, y: 2, width: column - 4, height: height - 4, rx: 8, class: "rs-column" }, ""]);
  svg.append(shade, drawGroup(run.graph.ground, { class: "rs-base" }));
  view.picture.replaceChildren(svg);
  view.tape = { run, width, svg, shade, columns: new Map() };
  return view.tape;
}

function columnOf(run, row, wide, { go, unfold }) {
  const step = run.steps[row.first], { graph } = run, height = graph.size[3];
  const words = { "#step": String(row.first), "#revision": String(step.revision), "#many": foldWords(row) };
  const marks = row.folded ? graph.fold : graph.columns[step.column];
  const group = drawMark(["g", { class: row.folded ? "rs-fold" : "rs-step", "data-column": row.first }, ""]);
  group.append(drawMark(["rect", { x: 2 - wide / 2, y: 2, width: wide - 4, height: height - 4, rx: 8, class: "rs-hit" }, ""]));
  group.append(...marks.map(([tag, attributes, text]) => drawMark([tag, attributes, words[text] ?? text])));
  on(group, "click", () => (row.folded ? unfold(row.first, !row.opened) : go(row.first)));
  return group;
}
