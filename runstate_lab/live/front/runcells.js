// A run as cells: what each field, and each element in one, was from which step on. Nothing here draws.
const GONE = -1;

function openRun(graph) {
  const cells = graph.cells.map(([field, element, ...history], order) => ({ field, element, history, order }));
  const inside = Map.groupBy ? Map.groupBy(cells, (cell) => cell.field) : groupByField(cells);
  const newest = graph.steps.length - 1;
  return { graph, cells, inside, newest, tuples: new Set(graph.tuples), steps: graph.steps.map((row, number) => readStep(graph.words, row, number)) };
}

function groupByField(cells) {
  const found = new Map();
  for (const cell of cells) found.set(cell.field, [...(found.get(cell.field) ?? []), cell]);
  return found;
}

function readStep(words, [column, revision, expected, idle, ...told], number) {
  const [source, kind, value, authority, call, code, remark] = told.map((place) => words[place]);
  return { number, column, revision, expected, idle: Boolean(idle), source, kind, value, authority, call, code, remark };
}

// The value of a cell after a step: since when, which value, and where the life of the element began.
function lookUp({ history }, at) {
  let low = 0, high = history.length / 2 - 1, found = -1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (history[2 * middle] <= at) { found = middle; low = middle + 1; } else high = middle - 1;
  }
  if (found < 0) return { value: GONE, since: 0, born: 0 };
  let born = found;
  while (born > 0 && history[2 * born - 1] !== GONE) born -= 1;
  return { value: history[2 * found + 1], since: history[2 * found], born: history[2 * born], before: found ? history[2 * found - 1] : GONE };
}

function elementsAt(run, field, at) {
  const alive = [];
  for (const cell of run.inside.get(field)) {
    if (!cell.element) continue;
    const seen = lookUp(cell, at);
    if (seen.value !== GONE || (seen.since === at && at && seen.before !== GONE)) alive.push({ cell, ...seen });
  }
  return alive.sort((one, other) => one.born - other.born || one.cell.order - other.cell.order);
}

function several(elements) {
  const inside = elements.filter(({ value }) => value !== GONE).map(({ cell }) => cell.element);
  return inside.length > 6 ? `${inside.length} entries, the newest ${inside.at(-1)}` : inside.join(", ") || "none";
}

function saidAt(run, number) {
  const step = run.steps[number];
  if (!number) return `The start: ${run.graph.values[lookUp(run.inside.get("status")[0], 0).value][0]} at revision ${step.revision}.`;
  const more = step.remark ? ` ${step.remark}` : "";
  if (step.expected < 0) return `Step ${number}. ${step.source} ${step.kind}.${more}`.replace("  ", " ");
  const about = step.call ? `, about call ${step.call}` : "";
  const answer = step.code ? `refused, ${step.code}; the store stays at revision ${step.revision}.` : `accepted, revision ${step.revision}.`;
  return `Step ${number}. ${step.source} offers ${`${step.kind} ${step.value}`.trim()}${about}, made from revision ${step.expected}: ${answer}${more}`;
}

function contrast([oldShort, old], [newShort, now]) {
  const was = new Map(old), is = new Map(now);
  if (was.has("") || is.has("")) return [["", oldShort, newShort]];
  return [...new Set([...was.keys(), ...is.keys()])].filter((name) => was.get(name) !== is.get(name))
    .map((name) => [name, was.get(name) ?? "none", is.get(name) ?? "none"]);
}

function differences(run, from, to) {
  const found = [];
  for (const cell of run.cells) {
    if (run.tuples.has(cell.field) && !cell.element) continue;
    const old = lookUp(cell, from).value, now = lookUp(cell, to).value;
    if (old === now) continue;
    const [before, after] = [old, now].map((value) => (value === GONE ? null : run.graph.values[value]));
    found.push({ cell, name: `${cell.field} ${cell.element}`.trim(), before, after });
  }
  const rank = ({ before }) => (before ? 0 : 1), place = new Map([...run.inside.keys()].map((field, index) => [field, index]));
  return found.sort((one, other) => place.get(one.cell.field) - place.get(other.cell.field) || rank(one) - rank(other) || one.cell.order - other.cell.order);
}

function ownerOf(run, picked, at) {
  const [field, ...rest] = picked.split("/"), element = rest.join("/"), name = `${field} ${element}`.trim();
  const cell = run.inside.get(field)?.find((one) => one.element === element);
  const seen = cell ? lookUp(cell, at) : { value: GONE };
  if (seen.value === GONE) return { name, sentence: `${name} is not in the state at this step.`, rows: [] };
  const [short, parts] = run.graph.values[seen.value], own = new Map(parts);
  const value = run.tuples.has(field) && !element ? several(elementsAt(run, field, at)) : short;
  if (!seen.since) return fromTheStart(name, value, field === "facts" ? own : new Map());
  const step = run.steps[seen.since];
  if (step.expected < 0) return { name, value, sentence: `${name} is ${value}: changed at step ${seen.since} by no entry of the trace.`, rows: [] };
  const entry = run.steps.slice(1, seen.since + 1).filter(({ expected }) => expected >= 0).length;
  const wish = field === "calls" && element ? run.graph.wishes[own.get("call_id")] : undefined;
  const [proposedAt, proposer] = wish && wish[0] < seen.since ? wish : [null, step.source];
  const earlier = proposedAt === null ? "" : ` at step ${proposedAt}`, call = step.call ? ` about call ${step.call}` : "";
  const rows = [["proposed by", proposer + earlier], ["source", step.source], ["authority", step.authority], ["event", step.kind + call],
    ["revision", String(step.revision)], ["trace entry", `${entry} (step ${seen.since})`]];
  if (own.get("checkpoint")) rows.push(["checkpoint", own.get("checkpoint")]);
  return { name, value, rows, step: seen.since, sentence: `${name} is ${value}. Proposed by ${proposer}${earlier}; written with source ${step.source}, ` +
    `authority ${step.authority}, by ${step.kind}${call}: revision ${step.revision}, trace entry ${entry}.` };
}

function fromTheStart(name, value, own) {
  const source = own.get("source"), call = own.get("call_id") ? `, call ${own.get("call_id")}` : "";
  const itself = source ? ` It says of itself: source ${source}, authority ${own.get("authority") ?? ""}${call}, revision ${own.get("revision") ?? "0"}.` : "";
  const rows = source ? [["says of itself", ""], ...[...own].filter(([part]) => !["key", "value"].includes(part))] : [];
  return { name, value, rows, sentence: `${name} is ${value}: so since the start; no entry of this trace wrote it.${itself}` };
}

// The rows shown: a step each, or several steps that are folded.
function siftRows(run, { hidden, rejected, folds, words, opened }) {
  const wanted = words.toLowerCase(), out = new Set(hidden), open = new Set(opened), rows = [];
  const keeps = (step) => !step.number || !(out.has(step.source) || (rejected && !step.code) || (folds && step.idle) || (wanted && !saidAt(run, step.number).toLowerCase().includes(wanted)));
  for (let first = 0; first <= run.newest; ) {
    const shown = keeps(run.steps[first]);
    let last = first;
    while (last < run.newest && keeps(run.steps[last + 1]) === shown) last += 1;
    if (!shown) rows.push({ first, last, folded: true, opened: open.has(first) });
    if (shown || open.has(first)) for (let number = first; number <= last; number += 1) rows.push({ first: number, last: number, folded: false, opened: false });
    first = last + 1;
  }
  return rows;
}

const placeOf = (rows, at) => rows.findIndex((row) => row.first <= at && at <= row.last && !row.opened);

function windowOf(many, centre, width) {
  const start = Math.max(0, Math.min(centre - (width >> 1), many - width));
  return [start, Math.min(many, start + width)];
}

function foldWords({ first, last, opened }) {
  const many = last - first + 1;
  return `${many === 1 ? "1 step" : `${many} steps`} ${opened ? "opened" : "folded"}`;
}

function contextAt({ graph }, at) {
  const [lines, out] = graph.contexts[graph.shown[at]];
  return { lines: stretched(graph.lines, lines), left: stretched(graph.left, out) };
}

// What stands in stretches of a list: first and length of each.
function stretched(list, ranges) {
  const found = [];
  for (let index = 0; index < ranges.length; index += 2) found.push(...list.slice(ranges[index], ranges[index] + ranges[index + 1]));
  return found;
}
