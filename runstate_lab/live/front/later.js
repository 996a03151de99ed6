// A result that comes when its prediction was made; until then a sentence says what to do.
function render({ model, el }) {
  const root = openRoot(el, "A result to predict first");
  let settled = () => {}, heard = () => {};
  const hear = () => heard();
  const build = () => {
    if (model.get("sealed")) return root.replaceChildren(faultPlace(model), ...sealedParts(model));
    const { choice, why } = model.get("prediction");
    const said = choice ? element("p", { class: "rs-prediction" }, element("span", {}, element("b", {}, "You said: "), choice, why ? ` (${why})` : "")) : null;
    const result = element("div", { class: "rs-result", role: "status" });
    result.innerHTML = model.get("graph").html ?? "";
    const again = element("button", { type: "button" }, "Run this again");
    const note = element("span", { class: "rs-why", role: "status" });
    on(again, "click", () => { settled(); settled = askKernel(model, { again: true }, (words) => { note.textContent = words; }); });
    heard = () => { settled(); note.textContent = ""; };
    root.replaceChildren(faultPlace(model), ...[said, result, again, " ", note].filter(Boolean));
  };
  const quiet = watch(model, ["sealed", "graph"], build);
  model.on("msg:custom", hear);
  build();
  return () => { quiet(); model.off("msg:custom", hear); settled(); };
}
