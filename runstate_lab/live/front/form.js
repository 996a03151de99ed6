// Questions: the kernel judges. Nothing here knows what is right.
const ANSWERS = { choice: choiceAnswer, order: orderAnswer, fill: fillAnswer };

function render({ model, el }) {
  const root = openRoot(el, model.get("title"));
  const rows = model.get("items").map((item) => question(model, item));
  root.append(faultPlace(model), ...rows.map((row) => row.part));
  const show = () => rows.forEach((row) => row.reply(model.get("replies")[row.id]));
  const heard = (content) => rows.forEach((row) => row.heard(content.heard));
  model.on("msg:custom", heard);
  const quiet = watch(model, ["replies"], show);
  show();
  return () => { quiet(); model.off("msg:custom", heard); };
}

function question(model, item) {
  const part = element("form", { class: "rs-question", "data-id": item.id });
  const answer = ANSWERS[item.kind](item, () => decide());
  const set = element("fieldset", {}, element("legend", {}, ...prose(item.text)), answer.part);
  const why = item.why ? element("input", { type: "text", id: freshId("reason"), maxlength: "200", autocomplete: "off" }) : null;
  const button = element("button", { type: "submit" }, item.press);
  const note = element("span", { class: "rs-why", id: freshId("why") });
  const said = element("div", { class: "rs-said", role: "status" });
  let settled = () => {}, closed = "";
  const missing = () => closed || answer.missing() || (why && why.value.trim().length < 3 ? "write one line why" : "");
  const decide = () => switchControl(button, note, missing());
  if (why) {
    set.append(element("label", { class: "rs-reason-label", for: why.id }, "Why? One line."), why);
    on(why, "input", decide);
    sendOnEnter(why, part);
  }
  on(part, "submit", (happening) => {
    happening.preventDefault();
    if (missing()) return;
    said.textContent = "…";
    settled();
    settled = askKernel(model, { id: item.id, letters: answer.letters(), why: why?.value ?? "" }, (words) => { said.textContent = words; });
  });
  part.append(set, element("div", { class: "rs-go" }, button, note), said);
  decide();
  return { id: item.id, part, heard: (id) => {
    if (id !== item.id) return;
    settled();
    if (["…", SILENT].includes(said.textContent)) said.textContent = "";
  }, reply: (reply) => {
    // Begun again: empty, as it was at first.
    if (!reply && said.className === "rs-said") return;
    reply ??= { said: "", mood: "", given: "", why: "", closed: false, more: [] };
    settled();
    answer.show(reply.given);
    if (why && reply.why) why.value = reply.why;
    closed = reply.closed ? "kept" : "";
    for (const field of part.querySelectorAll("input")) field.disabled = reply.closed;
    said.className = reply.mood ? `rs-said rs-said-${reply.mood}` : "rs-said";
    said.replaceChildren(...[reply.said].filter(Boolean).map((line) => element("p", {}, ...prose(line))), ...reply.more.map((line) => element("p", {}, ...prose(line))));
    decide();
  } };
}
