// A scheduler board: the kernel asks the real scheduler and answers with a frame; the past needs no kernel.
const TALL = 560;
const NARROW = 600;
const DESK_DOES = [
  ["take", "t", "Take what is ready"], ["finish", "f", "Finish"], ["fail", "x", "Fail"],
  ["late", "l", "Late result"], ["die", "d", "Die"],
];

function render({ model, el }) {
  const root = openRoot(el, "Node board: workers, claims and leases", "rs-in-nodeboard");
  const view = { root, model, waiting: null, number: 0 };
  const build = () => {
    const stage = freshStage(root);
    if (model.get("sealed")) return stage.append(...sealedParts(model));
    stage.append(...boardParts(stage, view).filter(Boolean));
    paintBoard(view);
  };
  const repaint = () => { if (model.get("graph").nodes && view.live) paintBoard(view); };
  const heard = (content) => { if (content.heard >= view.number) settle(view); };
  const quiet = [watch(model, ["sealed", "graph"], build), watch(model, ["frames", "at", "shown", "compare", "fault"], repaint)];
  model.on("msg:custom", heard);
  on(root, "keydown", (press) => pressKey(view, press));
  build();
  return () => { quiet.forEach((stop) => stop()); model.off("msg:custom", heard); view.waiting?.(); view.measure?.disconnect(); };
}

// The kernel decides; until it has, the place that is shown is the place where the press was made.
function ask(view, ...press) {
  const at = view.waiting ? null : view.model.get("at");
  view.number += 1;
  view.waiting?.();
  view.waiting = askKernel(view.model, { press, at, number: view.number }, (words) => {
    view.waiting = null;
    view.live.textContent = words;
    view.live.dataset.mood = "bad";
  });
}

function settle(view) {
  view.waiting?.();
  view.waiting = null;
}

function boardParts(stage, view) {
  const { model } = view, graph = model.get("graph");
  view.kinds = radios("Scheduler", graph.kinds, model.get("shown"), (id) => store(model, { shown: id }));
  view.picture = element("div", { class: "rs-picture" });
  // On a narrow page the same graph goes on in more and shorter bands.
  view.measure?.disconnect();
  view.measure = new ResizeObserver(() => { if (view.now && pageOf(view) !== view.page) paintGraph(view, view.past); });
  view.measure.observe(view.picture);
  view.live = element("p", { class: "rs-live", role: "status", "aria-live": "polite" });
  view.controls = {};
  view.clock = clockBar(view);
  view.desks = Object.fromEntries(graph.workers.map((worker, place) => [worker, desk(view, worker, place % 2)]));
  view.scrub = scrubber(stage, { at: () => model.get("at"), length: () => model.get("presses").length, go: (at) => store(model, { at }) });
  const reset = control(view, "reset", "Start again", () => ask(view, "reset"));
  view.scrub.bar.append(reset.button, reset.note);
  view.claims = scrolled("Claims");
  view.trace = scrolled("Presses");
  view.written = element("p", { class: "rs-nb-written" });
  view.compared = element("details", { class: "rs-compare" }, element("summary", {}, "The same presses on every scheduler"),
    element("div", { role: "region", "aria-label": "Schedulers compared", tabindex: "0" }));
  view.compared.hidden = graph.kinds.length < 2;
  on(view.compared, "toggle", () => { if (view.compared.open !== model.get("compare")) store(model, { compare: view.compared.open }); });
  return [faultPlace(model), graph.kinds.length > 1 ? element("div", { class: "rs-bar" }, view.kinds) : null, view.picture, view.live,
    view.clock, element("div", { class: "rs-nb-desks" }, ...Object.values(view.desks).map((one) => one.part)), view.scrub.bar,
    view.written, view.claims, view.trace, view.compared, exportBar(stage, "nodeboard")];
}

function scrolled(label) {
  return element("div", { class: "rs-nb-scrolled", role: "region", "aria-label": label, tabindex: "0" });
}

// A button with its reason beside it; `work` is asked only when the control is on.
function control(view, id, label, work, key, shared) {
  const button = element("button", { type: "button", "data-do": id, "aria-keyshortcuts": key ?? null, title: key ? `key ${key}` : null }, label);
  const note = shared ?? element("span", { class: "rs-why", id: freshId("why") });
  on(button, "click", () => { if (!isOff(button)) work(); });
  view.controls[id] = { button, note };
  return view.controls[id];
}

function chooser(label) {
  const select = element("select", { id: freshId("pick"), "data-pick": label });
  const part = element("label", { class: "rs-nb-pick", for: select.id }, `${label} `, select);
  return { part, select };
}

// Keeps what was chosen while it is still there, so that a press does not change another choice.
function offer({ part, select }, options, least = 2) {
  const before = select.value, wanted = JSON.stringify(options);
  part.hidden = options.length < least;
  if (select.dataset.options === wanted) return;
  select.dataset.options = wanted;
  select.replaceChildren(...options.map(([value, text]) => element("option", { value }, text)));
  if (options.some(([value]) => value === before)) select.value = before;
}

function clockBar(view) {
  view.time = element("span", { class: "rs-nb-time" });
  view.asked = chooser("question");
  view.stop = chooser("cancel");
  const chosen = () => view.now.asking[Math.max(0, view.asked.select.selectedIndex)];
  const tick = control(view, "tick", "+1 tick", () => ask(view, "tick", 1), "c");
  const end = control(view, "lease_end", "To the end of a lease", () => ask(view, "tick", view.now.next - view.now.tick), "e");
  const look = control(view, "release", "Let the scheduler look", () => ask(view, "release"), "r");
  const yes = control(view, "approve", "Approve", () => ask(view, "approve", chosen()[1], chosen()[0]), "a");
  const no = control(view, "deny", "Deny", () => ask(view, "deny", chosen()[1], chosen()[0]), "n", yes.note);
  const stop = control(view, "cancel", "Cancel it", () => ask(view, "cancel", view.stop.select.value));
  const both = ({ button, note }) => element("span", { class: "rs-nb-do" }, button, note);
  const group = (label, ...parts) => element("div", { class: "rs-nb-group", role: "group", "aria-label": label }, ...parts);
  return element("div", { class: "rs-nb-clock" }, group("Clock", view.time, both(tick), both(end), both(look)),
    group("Approver", view.asked.part, yes.button, both(no)), group("User", view.stop.part, both(stop)));
}

function desk(view, worker, hue) {
  const state = element("span", { class: "rs-nb-desk-state" });
  const slips = element("ul", { class: "rs-nb-slips-held" });
  const limit = element("select", { "aria-label": `How many ${worker} takes at most` }, ...[1, 2, 3, 4].map((most) => element("option", { value: String(most) }, `at most ${most}`)));
  const held = chooser("its node"), old = chooser("old attempt");
  const work = {
    take: () => ask(view, "take", worker, Number(limit.value)),
    finish: () => ask(view, "finish", worker, ...JSON.parse(held.select.value)),
    fail: () => ask(view, "fail", worker, ...JSON.parse(held.select.value)),
    late: () => ask(view, "late", worker, ...JSON.parse(old.select.value)),
    die: () => ask(view, view.now[`desk:${worker}`].alive ? "die" : "revive", worker),
  };
  const made = {};
  for (const [name, key, label] of DESK_DOES) made[name] = control(view, `${worker}-${name}`, label, work[name], key, name === "fail" ? made.finish.note : undefined);
  const row = (...parts) => element("div", { class: "rs-nb-do" }, ...parts);
  const part = element("section", { class: `rs-nb-desk rs-nb-desk-${hue}`, "aria-label": `Desk of ${worker}`, "data-desk": worker },
    element("div", { class: "rs-nb-desk-head" }, element("h4", {}, element("span", { class: `rs-nb-who rs-nb-who-${hue}` }, worker), " ", state), made.die.button), slips,
    row(made.take.button, limit, made.take.note), held.part, row(made.finish.button, made.fail.button, made.fail.note),
    old.part, row(made.late.button, made.late.note));
  return { part, state, slips, held, old, made };
}

function pressKey(view, press) {
  if (press.altKey || press.ctrlKey || press.metaKey || press.target.matches("input[type=text], select, textarea")) return;
  const worker = press.target.closest("[data-desk]")?.dataset.desk;
  const own = worker && DESK_DOES.find(([, key]) => key === press.key.toLowerCase());
  const common = { c: "tick", e: "lease_end", r: "release", a: "approve", n: "deny" }[press.key.toLowerCase()];
  const found = view.controls?.[own ? `${worker}-${own[0]}` : common];
  if (!found) return;
  press.preventDefault();
  found.button.click();
}

function paintBoard(view) {
  const { model, root } = view, frames = model.get("frames")[model.get("shown")] ?? [], at = Math.min(model.get("at"), frames.length - 1);
  if (at < 0) return;
  const past = frames.slice(0, at + 1), last = past.at(-1);
  view.now = Object.assign({}, ...past.map((frame) => frame.view));
  Object.assign(root.dataset, { at: String(at), tick: String(view.now.tick), revision: String(view.now.revision), shown: model.get("shown"), mood: last.mood });
  const off = at === model.get("presses").length && model.get("fault") ? "" : last.said;
  if (view.live.textContent !== off || !off) view.live.textContent = legal(last.said);
  view.live.dataset.mood = last.mood;
  tick(view.kinds, model.get("shown"));
  paintGraph(view, past);
  paintClock(view);
  for (const worker of Object.keys(view.desks)) paintDesk(view, worker);
  switchOff(view, "reset", model.get("presses").length ? "" : "nothing to undo yet");
  view.scrub.show();
  paintTables(view, past);
}

function pageOf({ picture }) { return picture.clientWidth && picture.clientWidth < NARROW ? "narrow" : "wide"; }

function paintGraph(view, past) {
  const graph = view.model.get("graph"), page = pageOf(view), nodes = graph.nodes.map((name) => view.now[`node:${name}`]);
  Object.assign(view, { past, page });
  const rows = graph.nodes.map((name, place) => `${name} ${nodes[place].status}`).join(", ");
  const { size, corners, ways } = graph.pages[page];
  const picture = drawing(size, `${rows || "No nodes"}. ${past.at(-1).said}`);
  picture.append(drawGroup(view.now.heading, { class: "rs-base" }), ...graph.nodes.map((name, place) => drawGroup(ways[name], { class: `rs-nb-${nodes[place].way}` })));
  const fresh = past.length > 1 ? past.at(-1).view : {}, scrolled = view.picture.scrollTop;
  graph.nodes.forEach((name, place) => picture.append(drawGroup(nodes[place].marks, {
    class: fresh[`node:${name}`] ? "rs-step rs-now" : "rs-step", transform: `translate(${corners[name].join(" ")})`,
    "data-node": name, "data-status": nodes[place].status })));
  view.picture.replaceChildren(picture);
  const tall = size[1] > TALL;
  setTall(view.picture, tall);
  // The first time the board is not on the page yet, and nothing has a place.
  if (tall) requestAnimationFrame(() => showNews(view.picture, picture, scrolled));
}

// A tall graph scrolls inside itself, so that the desks stay near.
function setTall(place, tall) {
  place.classList.toggle("rs-nb-tall", tall);
  for (const [name, value] of Object.entries({ role: "region", "aria-label": "Graph", tabindex: "0" })) {
    if (tall) place.setAttribute(name, value);
    else place.removeAttribute(name);
  }
}

// What the press changed is brought into the middle of a graph that is taller than its place.
function showNews(place, picture, scrolled) {
  place.scrollTop = scrolled;
  const news = picture.querySelector(".rs-now")?.getBoundingClientRect(), frame = place.getBoundingClientRect();
  if (news && (news.top < frame.top || news.bottom > frame.bottom)) place.scrollTop += news.top - frame.top - frame.height / 2;
}

function switchOff(view, id, reason) {
  const { button, note } = view.controls[id];
  switchControl(button, note, reason);
}

function paintClock(view) {
  const { now } = view, off = now.off;
  view.time.replaceChildren("Clock ", element("b", {}, `tick ${now.tick}`));
  const { lease_end, approve, deny, cancel, release } = view.controls;
  lease_end.button.textContent = now.next ? `To tick ${now.next}, the end of a lease` : "To the end of a lease";
  switchOff(view, "tick", "");
  switchOff(view, "lease_end", off.lease_end ?? "");
  switchOff(view, "release", off.release ?? "");
  const first = now.asking[0], ended = off.cancel ?? "";
  offer(view.asked, now.asking.map(([node]) => [node, node]));
  approve.button.textContent = now.asking.length === 1 ? legal(`${first[1]} approves ${first[0]}`) : "Approve";
  deny.button.textContent = now.asking.length === 1 ? legal(`${first[1]} denies ${first[0]}`) : "Deny";
  switchOff(view, "approve", first ? "" : "nobody is asked");
  switchOff(view, "deny", first ? "" : "nobody is asked");
  offer(view.stop, [["", "the run"], ...now.open.map((node) => [node, node])]);
  switchOff(view, "cancel", ended);
  release.button.setAttribute("title", "what is ready, blocked, run out (key r)");
}

function paintDesk(view, worker) {
  const { state, slips, held, old, part } = view.desks[worker], mine = view.now[`desk:${worker}`], off = view.now.off;
  part.dataset.alive = String(mine.alive);
  part.dataset.held = mine.held.map(([node]) => node).join(" ");
  state.textContent = mine.alive ? (mine.held.length ? "is at work" : "is free") : "is dead; the store was not told";
  slips.replaceChildren(...mine.held.map(([, , words]) => element("li", {}, words)), ...mine.old.map(([, , words]) => element("li", { class: "rs-nb-old" }, words)));
  if (!mine.held.length && !mine.old.length) slips.append(element("li", { class: "rs-nb-none" }, "holds nothing"));
  const options = (found) => found.map(([node, attempt]) => [JSON.stringify([node, attempt]), `${node}, attempt ${attempt}`]);
  offer(held, options(mine.held));
  offer(old, options(mine.old));
  const only = (found) => (found.length === 1 ? ` ${found[0][0]}` : "");
  const label = (name, text) => { view.controls[`${worker}-${name}`].button.textContent = legal(text); };
  label("finish", `Finish${only(mine.held)}`);
  label("fail", `Fail${only(mine.held) && ` at${only(mine.held)}`}`);
  label("late", mine.old.length === 1 ? `Late result of ${mine.old[0][0]}, attempt ${mine.old[0][1]}` : "Late result of an old attempt");
  label("die", mine.alive ? `${worker} dies` : `${worker} comes back`);
  for (const name of ["take", "finish", "fail", "late"]) switchOff(view, `${worker}-${name}`, off[`${worker}-${name}`] ?? "");
  switchOff(view, `${worker}-die`, "");
}

function paintTables(view, past) {
  const { model } = view, graph = model.get("graph");
  const rows = graph.nodes.flatMap((name) => view.now[`node:${name}`].rows);
  const fresh = past.length > 1 ? past.at(-1).view : {};
  view.claims.replaceChildren(table("Claims", graph.heads, rows, rows.findLastIndex(([name]) => fresh[`node:${name}`])));
  const presses = past.slice(1).map((frame) => frame.row);
  view.trace.replaceChildren(table("Presses", graph.press_heads, presses, presses.length - 1));
  view.written.textContent = view.now.written ? legal(`Written so far: ${view.now.written}.`) : "Nothing is written yet.";
  paintOthers(view, past.length - 1);
}

function paintOthers(view, at) {
  const { model } = view, graph = model.get("graph"), frames = model.get("frames"), kinds = graph.kinds.map(({ id }) => id);
  view.compared.open = model.get("compare");
  if (kinds.length < 2) return;
  const rows = Array.from({ length: at }, (_, place) => {
    const found = kinds.map((kind) => frames[kind][place + 1].row);
    return [found[0][0], found[0][2], ...found.map((row) => row[3]), new Set(found.map((row) => row[3])).size === 1 ? "same" : "differs"];
  });
  const written = kinds.map((kind) => Object.assign({}, ...frames[kind].slice(0, at + 1).map((frame) => frame.view)).written);
  rows.push(["end", "what was written", ...written, new Set(written).size === 1 ? "same" : "differs"]);
  view.compared.lastChild.replaceChildren(table("Presses on every scheduler", ["step", "press", ...kinds, "compared"], rows, at - 1));
}
