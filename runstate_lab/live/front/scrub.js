// Back and forward over steps that have happened. Moving the cursor never runs a step again.
const JUMPS = [
  ["first", "|◀", "First step", "Home"],
  ["back", "◀", "One step back", "left arrow"],
  ["forward", "▶", "One step forward", "right arrow"],
  ["last", "▶|", "Last step", "End"],
];
const KEYS = { Home: "first", ArrowLeft: "back", ArrowRight: "forward", End: "last" };

function scrubber(stage, { at, length, go }) {
  const slider = element("input", { type: "range", min: "0", step: "1", "aria-label": "Step shown" });
  const note = element("span", { class: "rs-why", id: freshId("why") });
  const place = element("span", { class: "rs-place" });
  const target = (name) => ({ first: 0, back: at() - 1, forward: at() + 1, last: length() })[name];
  const move = (name) => go(Math.max(0, Math.min(length(), target(name))));
  const buttons = Object.fromEntries(JUMPS.map(([name, sign, label, key]) => {
    const button = element("button", { type: "button", class: "rs-jump", "aria-label": label, title: `${label} (${key})`, "data-do": name }, sign);
    on(button, "click", () => { if (!isOff(button)) move(name); });
    return [name, button];
  }));
  on(slider, "input", () => go(Number(slider.value)));
  on(stage, "keydown", (press) => {
    const name = KEYS[press.key];
    if (!name || press.altKey || press.ctrlKey || press.metaKey || ownsArrows(press.target)) return;
    press.preventDefault();
    move(name);
  });
  const show = () => {
    slider.max = String(length());
    slider.value = String(at());
    slider.setAttribute("aria-valuetext", `step ${at()} of ${length()}`);
    place.textContent = `step ${at()} of ${length()}`;
    const atStart = at() === 0 ? "this is the start" : "";
    const atEnd = at() === length() ? "this is the newest step" : "";
    for (const [name, reason] of [["first", atStart], ["back", atStart], ["forward", atEnd], ["last", atEnd]]) {
      buttons[name].setAttribute("aria-disabled", reason ? "true" : "false");
      buttons[name].setAttribute("aria-describedby", note.id);
    }
    note.textContent = atStart && atEnd ? "nothing has happened yet" : atStart || atEnd;
  };
  const { first, back, forward, last } = buttons;
  return { show, bar: element("div", { class: "rs-scrub", role: "group", "aria-label": "Back and forward" }, first, back, slider, forward, last, place, note) };
}

function ownsArrows(node) {
  return node.matches("input[type=text], input[type=radio], input[type=range], select, textarea");
}
