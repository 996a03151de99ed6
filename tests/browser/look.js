// What axe does not look at: text in SVG, and ids that two widgets share. Gives one line for each fault found.
(roots) => {
  const numbers = (colour) => colour.match(/[\d.]+/g).map(Number);
  const clear = (colour) => colour === "none" || colour === "transparent" || (numbers(colour)[3] ?? 1) === 0;
  const light = (colour) => {
    const [red, green, blue] = numbers(colour).map((part) => part / 255).map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const holds = (outer, inner, slack) => inner.left >= outer.left - slack && inner.right <= outer.right + slack && inner.top >= outer.top - slack && inner.bottom <= outer.bottom + slack;
  const ground = (text) => {
    const box = text.getBoundingClientRect(), x = (box.left + box.right) / 2, y = (box.top + box.bottom) / 2;
    const under = Array.from(text.ownerSVGElement.querySelectorAll("rect")).filter((shape) => {
      const place = shape.getBoundingClientRect();
      const before = shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING;
      return before && !clear(getComputedStyle(shape).fill) && x >= place.left && x <= place.right && y >= place.top && y <= place.bottom;
    });
    if (under.length) return getComputedStyle(under.at(-1)).fill;
    for (let node = text.ownerSVGElement; node; node = node.parentElement) {
      const colour = getComputedStyle(node).backgroundColor;
      if (!clear(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const faults = [];
  let seen = 0;
  for (const drawing of document.querySelectorAll(roots)) {
    const texts = Array.from(drawing.querySelectorAll("text"));
    const frame = drawing.getBoundingClientRect(), widget = drawing.closest(".runstate").getBoundingClientRect();
    if (!holds(widget, frame, 0.5)) faults.push("a drawing is wider than its widget");
    texts.forEach((text, index) => {
      seen += 1;
      const words = text.textContent, box = text.getBoundingClientRect(), ratio = contrast(getComputedStyle(text).fill, ground(text));
      if (ratio < 4.5) faults.push(`"${words}" has contrast ${ratio.toFixed(2)}`);
      if (!holds(frame, box, 0.5)) faults.push(`"${words}" is clipped`);
      for (const other of texts.slice(index + 1)) {
        const place = other.getBoundingClientRect();
        const wide = Math.min(box.right, place.right) - Math.max(box.left, place.left), high = Math.min(box.bottom, place.bottom) - Math.max(box.top, place.top);
        if (wide > 1 && high > 3) faults.push(`"${words}" lies on "${other.textContent}"`);
      }
    });
  }
  const ids = Array.from(document.querySelectorAll(".runstate [id]"), (node) => node.id);
  faults.push(...ids.filter((id, place) => ids.indexOf(id) < place).map((id) => `two elements have the id ${id}`));
  return { seen, faults };
}
