// A board's orders: every node was played once in Python and is found here by the order so far.
const MOVE = /[A-Z][!_~+?]?|[a-z]/g;

function movesOf(schedule) { return schedule.match(MOVE) ?? []; }

function nodeOf(model, variant, key) {
  const graph = model.get("graph"), found = graph.nodes[variant]?.[key];
  if (found) return { key, step: graph.steps[found[0]], state: graph.states[found[1]], moves: graph.moves[found[2]], token: found[3] };
  const [step, state, moves, token] = model.get("more")[variant]?.[key] ?? [];
  return step ? { key, step, state, moves, token } : null;
}

// The nodes of an order, the start first. A move that is not open on this variant is a step in which nothing is done.
function walk(model, variant, schedule) {
  const path = [nodeOf(model, variant, "")];
  for (const move of movesOf(schedule)) {
    const here = path.at(-1), next = nodeOf(model, variant, here.key + move);
    const why = next ? "" : whyNot(here, move);
    if (!next && !why) return { path, missing: true };
    path.push(next ?? skipped(model, here, move, why));
  }
  return { path, missing: false };
}

function whyNot(node, move) {
  const offered = node.moves.find(([name]) => name === move);
  return offered ? offered[2] : `there is no move ${move} here`;
}

function skipped(model, here, move, why) {
  const graph = model.get("graph"), letter = move[0].toUpperCase();
  const [, name, , whole] = graph.workers.find(([worker]) => worker === letter) ?? [letter, "", "", letter];
  const who = name ? `${letter} ${name}` : letter;
  const step = { said: `${whole} takes no step here: ${why}.`, row: [who, "takes no step here", why, here.state.revision],
    short: [], changes: [], marks: [...(here.step.rest ?? []), ...(graph.idle[letter] ?? [])], rest: here.step.rest };
  return { ...here, step };
}

// What a typed text means: { schedule, shown } to show, { ask } for the kernel, or { reason }.
function readTyped(model, text) {
  const typed = text.trim(), shown = model.get("shown"), graph = model.get("graph");
  if (/[-/]/.test(typed)) return knownToken(graph, typed, shown) ?? { ask: typed };
  const plain = typed.replaceAll(/[\s,]/g, ""), order = plain === plain.toLowerCase() ? plain.toUpperCase() : plain;
  const strange = order.replaceAll(MOVE, "");
  if (strange) return { reason: `${strange[0]} is no move; an order is made of ${graph.workers.map(([letter]) => letter).join(", ")}` };
  let here = nodeOf(model, shown, "");
  for (const move of movesOf(order)) {
    const next = nodeOf(model, shown, here.key + move), why = next ? "" : whyNot(here, move);
    if (why) return { reason: `${why} after ${here.key || "no move"}` };
    if (!next) return { ask: order };
    here = next;
  }
  return { schedule: order, shown };
}

function knownToken(graph, typed, shown) {
  for (const variant of [shown, ...Object.keys(graph.nodes)])
    for (const [schedule, [, , , token]] of Object.entries(graph.nodes[variant])) if (token === typed) return { schedule, shown: variant };
  return null;
}

function windowOf(newest, at, columns) {
  const last = Math.min(Math.max(at + 1, columns), Math.max(newest, columns));
  return { from: last - columns + 1, to: last };
}
