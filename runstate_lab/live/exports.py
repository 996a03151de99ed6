"""Machinery. What a widget can be kept as: a picture, a table, its words.

    w.svg()               the picture as one SVG document with its alt text
    w.csv()               the table, one line a row
    w.save("board.svg")   the same as a file: .svg, .csv or .txt

A file that is there already is replaced only if it is surely the kit's own: a
picture that names its widget, a table or words that this very widget saved. A sealed widget gives nothing away.

What is not here: the two buttons that do the same in the browser (see
`front/exports.js`).
"""

from __future__ import annotations

import base64
import binascii
import os
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from runstate_lab.live.faults import Askew
from runstate_lab.show.letters import legal

SVG_SPACE = "http://www.w3.org/2000/svg"
IMAGE = re.compile(r'src="data:image/svg\+xml;base64,([^"]+)"')
NAMED = {".svg": "picture", ".csv": "table", ".txt": "words"}
GAP = 12
GROUND = "#ffffff"


class Exports:
    """What every widget can be kept as; it has `sentence`, `picture`, `table`."""

    def svg(self) -> str:
        """The picture shown, as one SVG document that needs nothing else."""
        self._unsealed("to save the picture")
        drawings = [decoded(found) for found in IMAGE.findall(self.picture())]
        if not drawings:
            kind = type(self).__name__
            raise Askew(f"the picture of a {kind}", "no drawing", 'save(".txt") keeps its words')
        return standalone(drawings, self.sentence(), mark=type(self).__name__)

    def csv(self) -> str:
        """The table shown, one line a row, its heads first."""
        self._unsealed("to save the table")
        frame = self._frame()
        if frame is None:
            kind = type(self).__name__
            raise Askew(f"the table of a {kind}", "no table", 'save(".txt") keeps its words')
        return str(frame.to_csv(index=False, lineterminator="\n"))

    def _words(self) -> str:
        """All that is shown, in lines to read aloud; the first names the kind."""
        self._unsealed("to save the words")
        said, text = self.sentence(), getattr(self, "text", str)()
        lines = [f"{type(self).__name__}, in words.", said]
        lines += [text] if text and text not in said else []
        frame = self._frame()
        if frame is not None and len(frame):
            lines.append(_spoken(frame))
        return "\n".join(lines) + "\n"

    def save(self, path: str | Path) -> str:
        """What was saved where: .svg the picture, .csv the table, .txt the words."""
        named = isinstance(path, (str, Path)) and str(path).isprintable()
        if not named:
            raise Askew(f"to save as {path!r:.60}", "no name of a file", 'give such as "board.svg"')
        place = Path(path)
        kind = place.suffix.lower()
        if kind not in NAMED:
            hint = f"end the name in {', '.join(NAMED)}"
            raise Askew(f"to save as {place.name!r}", f"the ending {place.suffix!r}", hint)
        make = {".svg": self.svg, ".csv": self.csv, ".txt": self._words}[kind]
        kept, text = self.__dict__.setdefault("_saved", set()), make()
        write(place, text, mark=type(self).__name__, known=kept)
        kept.add(filed(text))
        return f"Saved the {NAMED[kind]} as {place}."

    def _frame(self) -> Any:
        table = getattr(self, "table", None)
        if table is None:
            return None
        frame = table()
        return frame.reset_index() if frame.index.name else frame


def decoded(coded: str) -> str:
    """The SVG text in the coded part of an image's source.

    >>> decoded("PHN2Zy8+")
    '<svg/>'
    """
    try:
        return base64.b64decode(coded).decode()
    except (binascii.Error, UnicodeDecodeError) as fault:
        raise Askew("the drawing in a picture", str(fault), "draw the picture again") from fault


def standalone(drawings: Sequence[str], title: str, *, mark: str) -> str:
    """One SVG document of the drawings, one below the other, on an opaque ground.

    >>> one = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="10"><path/></svg>'
    >>> both = standalone([one, one], "Two lines", mark="Lines")
    >>> both.count("<path"), 'height="32"' in both, "<title>Two lines</title>" in both
    (2, True, True)
    """
    roots = [ElementTree.fromstring(drawing) for drawing in drawings]
    sizes = [(float(root.get("width", 0)), float(root.get("height", 0))) for root in roots]
    wide = max(width for width, _ in sizes)
    high = sum(height for _, height in sizes) + GAP * (len(sizes) - 1)
    page = ElementTree.Element(_tag("svg"), {
        "width": f"{wide:g}", "height": f"{high:g}", "viewBox": f"0 0 {wide:g} {high:g}",
        "role": "img", "aria-label": legal(title), "data-widget": mark,
    })  # fmt: skip
    ElementTree.SubElement(page, _tag("title")).text = legal(title)
    ElementTree.SubElement(page, _tag("rect"), {"width": "100%", "height": "100%", "fill": GROUND})
    top = 0.0
    for root, (_, height) in zip(roots, sizes, strict=True):
        # The page has the name; a second one would be read aloud twice.
        for name in ("role", "aria-label"):
            root.attrib.pop(name, None)
        root.set("y", f"{top:g}")
        page.append(root)
        top += height + GAP
    ElementTree.register_namespace("", SVG_SPACE)
    return ElementTree.tostring(page, encoding="unicode") + "\n"


def filed(text: str) -> bytes:
    r"""The text as a file holds it.

    >>> filed("half \ud800")
    b'half \\ud800'
    """
    return text.encode(errors="backslashreplace")


def write(place: Path, text: str, *, mark: str, known: Collection[bytes] = ()) -> None:
    """Write the text whole or not at all; any file that is not surely the kit's own stays.

    `known` are the contents that the same widget has saved before.
    """
    asked = f"to save as {place}"
    try:
        if place.is_symlink():
            raise Askew(asked, "a link to another file", "choose another name, or remove it first")
        if place.exists() and not _alike(place, mark, (filed(text), *known)):
            found = "a folder" if place.is_dir() else f"a file there that no {mark} saved"
            found += "" if place.is_dir() or place.suffix.lower() == ".svg" else " just now"
            raise Askew(asked, found, "choose another name, or remove it first")
        fresh = place.with_name(f".{place.name}.new")
        try:
            fresh.write_bytes(filed(text))
            os.replace(fresh, place)
        finally:
            fresh.unlink(missing_ok=True)
    except OSError as fault:
        words = f"{fault.strerror or fault}".lower()
        raise Askew(asked, words, "name a folder that is there and can be written to") from fault


def _alike(place: Path, mark: str, known: Collection[bytes]) -> bool:
    if not place.is_file():
        return False
    if place.suffix.lower() != ".svg":
        return place.read_bytes() in known
    with place.open("rb") as file:
        head = file.read(8_192).decode(errors="replace").partition(">")[0]
    return head.startswith("<svg") and f' data-widget="{mark}"' in head


def _spoken(frame: Any) -> str:
    from runstate_lab.show.frames import CaptionedFrame, captioned

    if isinstance(frame, CaptionedFrame):
        return frame.text()
    rows = frame.itertuples(index=False, name=None)
    return captioned("Table", list(frame.columns), rows).text()


def _tag(name: str) -> str:
    return f"{{{SVG_SPACE}}}{name}"
