// Keeping what is shown: the drawing as an SVG file, the table as a CSV file. No kernel is needed.
// One line for a widget: stage.append(exportBar(stage, "scheduler")).
// `picture` and `table` give the ones that are meant, where those are not the first of the stage.
const exportBar = (() => {
  const LOOKS = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-dasharray", "stroke-linecap", "stroke-linejoin", "opacity",
    "font-family", "font-size", "font-weight", "font-style", "letter-spacing", "text-anchor", "dominant-baseline", "text-decoration-line"];
  const PLACED = ["d", "x", "y", "x1", "y1", "x2", "y2", "cx", "cy", "r", "rx", "ry", "width", "height", "points", "transform", "viewBox", "text-anchor"];

  function exportBar(stage, name, { picture = () => stage.querySelector("svg.rs-drawing"), table = () => stage.querySelector("table.rs-table") } = {}) {
    const said = element("span", { class: "rs-why", role: "status" });
    const press = (what, label, file, make, find) => {
      const button = element("button", { type: "button", "data-do": `save-${what}` }, label);
      on(button, "click", () => {
        const found = find();
        said.textContent = found ? `${file} is among your downloads.` : `No ${what} is shown; nothing to save.`;
        if (found) hand(make(found), file);
      });
      return button;
    };
    return element("div", { class: "rs-exports", role: "group", "aria-label": "Save what is shown" },
      press("picture", "Save picture (SVG)", `${name}.svg`, (node) => ["image/svg+xml", drawnAlone(node)], picture),
      press("table", "Save table (CSV)", `${name}.csv`, (node) => ["text/csv", tableAsCsv(node)], table), said);
  }

  function hand([type, text], file) {
    const address = URL.createObjectURL(new Blob([text], { type: `${type};charset=utf-8` }));
    const link = element("a", { href: address, download: file, hidden: "" });
    document.body.append(link);
    link.click();
    link.remove();
    // The browser reads the file after the click; a minute is more than it needs.
    setTimeout(() => URL.revokeObjectURL(address), 60000);
  }

  // The drawing by itself: what it looks like here is written into each of its parts.
  function drawnAlone(svg) {
    for (const one of svg.getAnimations?.({ subtree: true }) ?? []) one.finish();
    const { width, height } = svg.viewBox.baseVal, alone = drawMark(["svg", { viewBox: `0 0 ${width} ${height}`, width, height, role: "img" }, ""]);
    const title = svg.getAttribute("aria-label") ?? "";
    alone.setAttribute("aria-label", title);
    alone.append(drawMark(["title", {}, title]), drawMark(["rect", { width: "100%", height: "100%", fill: groundOf(svg) }, ""]), ...partsAlone(svg));
    return `<?xml version="1.0" encoding="UTF-8"?>\n${new XMLSerializer().serializeToString(alone)}\n`;
  }

  function partsAlone(parent) {
    return Array.from(parent.childNodes).flatMap((node) => {
      if (node.nodeType === Node.TEXT_NODE) return [node.cloneNode()];
      if (node.nodeType !== Node.ELEMENT_NODE || ["title", "style", "script"].includes(node.tagName)) return [];
      const look = getComputedStyle(node);
      if (look.display === "none" || look.visibility === "hidden" || node.classList.contains("rs-hit")) return [];
      const copy = drawMark([node.tagName, placeOf(node), ""]);
      for (const name of LOOKS) { const value = look.getPropertyValue(name); if (value && worth(node, name, value)) copy.setAttribute(name, value); }
      copy.append(...partsAlone(node));
      return [copy];
    });
  }

  function placeOf(node) {
    return Object.fromEntries(PLACED.filter((name) => node.hasAttribute(name)).map((name) => [name, node.getAttribute(name)]));
  }

  // A group hands its look on; only what is written at the leaves has to be kept, and what is not the usual.
  const USUAL = { "fill-opacity": "1", opacity: "1", "stroke-dasharray": "none", "stroke-linecap": "butt", "stroke-linejoin": "miter", "font-style": "normal",
    "letter-spacing": "normal", "dominant-baseline": "auto", "text-decoration-line": "none" };
  const OF_TEXT = /^(font|letter|text|dominant)/;
  function worth(node, name, value) {
    if (value === USUAL[name]) return false;
    if (node.tagName === "g") return name === "opacity";
    if (name.startsWith("stroke-") && getComputedStyle(node).stroke === "none") return false;
    return OF_TEXT.test(name) === /^(text|tspan)$/.test(node.tagName) || !OF_TEXT.test(name);
  }

  function groundOf(svg) {
    for (let node = svg; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor, parts = colour.match(/[\d.]+/g) ?? [];
      if (parts.length === 3 || parts[3] === "1") return colour;
    }
    return "#ffffff";
  }

  function tableAsCsv(table) {
    const rows = Array.from(table.querySelectorAll("tr"), (row) => Array.from(row.cells, (cell) => csvCell(cell.textContent.trim())).join(","));
    return `${rows.join("\n")}\n`;
  }

  function csvCell(text) { return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text; }
  return exportBar;
})();
