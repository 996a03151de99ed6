// Things to answer with: choices, slips to put in order, blanks to fill. Each gives letters.
const LETTERS = "abcdefghijklmnopqrstuvwxyz";

// Backticks mark code.
function prose(text) {
  return text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part));
}

function choiceAnswer(item, changed) {
  const name = freshId("choice");
  const list = element("div", { class: "rs-options" });
  item.choices[0].forEach((choice, index) => {
    const input = element("input", { type: "radio", name, value: LETTERS[index] });
    on(input, "change", changed);
    list.append(element("label", {}, input, element("span", {}, ...prose(choice))));
  });
  const letters = () => list.querySelector("input:checked")?.value ?? "";
  const show = (given) => { for (const input of list.querySelectorAll("input")) input.checked = input.value === given; };
  return { part: list, letters, show, missing: () => (letters() ? "" : "choose one first") };
}

function orderAnswer(item, changed) {
  const list = element("ol", { class: "rs-slips" });
  const out = (slip) => slip.classList.contains("rs-out");
  item.choices[0].forEach((text, index) => list.append(slip(text, LETTERS[index], changed)));
  const letters = () => Array.from(list.children).filter((one) => !out(one)).map((one) => one.dataset.letter).join("");
  // An order of nothing is the one of the beginning, with nothing left out.
  const show = (given) => {
    const byLetter = new Map(Array.from(list.children, (one) => [one.dataset.letter, one]).sort());
    for (const letter of given) { list.append(byLetter.get(letter)); leaveOut(byLetter.get(letter), false); byLetter.delete(letter); }
    for (const one of byLetter.values()) { list.append(one); leaveOut(one, Boolean(given)); }
  };
  return { part: list, letters, show, missing: () => (letters() ? "" : "keep at least one slip") };
}

function slip(text, letter, changed) {
  const press = (label, sign) => element("button", { type: "button", "aria-label": `${label}: ${text}` }, sign);
  const up = press("Move up", "▲"), down = press("Move down", "▼"), out = press("Leave out", "leave out");
  const item = element("li", { "data-letter": letter }, element("span", { class: "rs-slip-text" }, ...prose(text)), up, down, out);
  on(up, "click", () => { item.previousElementSibling?.before(item); up.focus(); changed(); });
  on(down, "click", () => { item.nextElementSibling?.after(item); down.focus(); changed(); });
  on(out, "click", () => { leaveOut(item, !item.classList.contains("rs-out")); changed(); });
  return item;
}

function leaveOut(item, left) {
  item.classList.toggle("rs-out", left);
  const button = item.lastElementChild, text = item.firstElementChild.textContent;
  button.textContent = left ? "put back" : "leave out";
  button.setAttribute("aria-label", `${left ? "Put back" : "Leave out"}: ${text}`);
}

function fillAnswer(item, changed) {
  const code = element("pre", { class: "rs-code" });
  const blanks = item.choices.map((choices, index) => {
    const select = element("select", { "aria-label": `Blank ${index + 1}` }, element("option", { value: "" }, `… ${index + 1} …`));
    choices.forEach((choice, place) => select.append(element("option", { value: LETTERS[place] }, choice)));
    on(select, "change", changed);
    return select;
  });
  const seen = new Set();
  for (const part of item.code.split(/(<\d+>)/)) {
    const number = /^<(\d+)>$/.exec(part)?.[1];
    if (!number) code.append(part);
    else if (seen.has(number)) code.append(`⟨${number}⟩`);
    else { seen.add(number); code.append(blanks[number - 1]); }
  }
  const letters = () => blanks.map((select) => select.value).join("");
  const show = (given) => blanks.forEach((select, index) => { select.value = given[index] ?? ""; });
  return { part: code, letters, show, missing: () => (letters().length === blanks.length ? "" : "fill every blank first") };
}
