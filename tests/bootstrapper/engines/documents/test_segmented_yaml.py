"""Segmented YAML: literal text and slots never mix, whatever the text is."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.engines.documents.segmented_yaml import Splice, segmented_yaml
from slipway.bootstrapper.engines.documents.spliced import Slot, Spliced, UnquotableTextError

CONTENT = Slot("secret")
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=("Cs",)), max_size=30),
    st.sampled_from(["splice0x", "splice0x0z", "splice1x", "splice0", "\x85", "\ufeff", "{{", "a\nb\n", "# c", "---"]),
)
FACTS = st.text("abcXYZ0189.:/-_", max_size=20)
FILLERS = st.text(st.characters(exclude_categories=("C", "Z"), include_characters="\n\t "), max_size=20)
WHOLE = st.builds(lambda filler: Spliced((Slot(filler),)), FILLERS)
SLOTTED = st.one_of(
    WHOLE,
    st.lists(st.one_of(TEXTS, st.builds(Slot, FACTS)), min_size=2, max_size=4).map(lambda parts: Spliced(tuple(parts))),
)
TREES = st.dictionaries(
    TEXTS,
    st.recursive(st.one_of(TEXTS, SLOTTED, st.booleans(), st.integers()), lambda v: st.lists(v, max_size=3)),
)


def fill(pieces: list[str | Splice]) -> str:
    """Put each slot's filler into the text, as the splice says."""
    return "".join(piece if isinstance(piece, str) else _filler(piece) for piece in pieces)


def _filler(splice: Splice) -> str:
    text = str(splice.slot.content)
    return json.dumps(text, ensure_ascii=False) if splice.as_json_string else text


def plain(value: object) -> object:
    """Give the tree as it should read when all slots are filled."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, Spliced):
        return "".join(part if isinstance(part, str) else str(part.content) for part in value.parts)
    return value


@given(TREES)
def test_filled_text_parses_back_to_the_tree(tree: dict[str, object]) -> None:
    """parse(fill(emit(tree))) is the tree with its slots filled, for text and fillers of every kind."""
    pieces = segmented_yaml([tree], leading_separator=False)  # type: ignore[list-item]
    assert yaml.safe_load(fill(pieces)) == plain(tree)


@given(TREES)
def test_every_slot_comes_out_once_and_in_no_literal(tree: dict[str, object]) -> None:
    """The number of slots is the same before and after, so none was lost or doubled."""
    pieces = segmented_yaml([tree], leading_separator=False)  # type: ignore[list-item]
    assert sum(isinstance(piece, Splice) for piece in pieces) == _count(tree)
    assert all(piece != "" for piece in pieces)


def test_text_that_looks_like_a_marker_stays_text() -> None:
    """A user who writes our marker gets it back; the slot beside it is still found."""
    pieces = segmented_yaml(
        [{"a": "splice0x0z", "b": Spliced(("splice1x0z", CONTENT, "end"))}], leading_separator=False
    )
    assert [piece for piece in pieces if isinstance(piece, Splice)] == [Splice(CONTENT, as_json_string=False)]
    assert yaml.safe_load(fill(pieces)) == {"a": "splice0x0z", "b": "splice1x0zsecretend"}


def test_a_value_that_is_the_whole_scalar_is_spliced_with_its_quotes() -> None:
    """The filler is a JSON string, which is also a YAML scalar; nothing of it stands in the literal text."""
    pieces = segmented_yaml([{"token": Spliced((CONTENT,))}], leading_separator=False)
    assert pieces == ["token: ", Splice(CONTENT, as_json_string=True), "\n"]


def test_a_part_of_a_scalar_is_spliced_inside_quotes() -> None:
    """Literal text around it is escaped for the quotes; the part itself is written as it is."""
    pieces = segmented_yaml([{"id": Spliced(('a"b:', CONTENT, "/c"))}], leading_separator=False)
    assert pieces == ['id: "a\\"b:', Splice(CONTENT, as_json_string=False), '/c"\n']


@pytest.mark.parametrize(
    ("template", "literal", "line"),
    [
        ("{{ a }}", "x", "v: '{{ a }}x'\n"),
        ('{{ a["b"] }}', "it's", "v: '{{ a[\"b\"] }}it''s'\n"),
        ("{{ a['b'] }}", "it's", "v: \"{{ a['b'] }}it's\"\n"),
    ],
)
def test_template_text_is_never_escaped(template: str, literal: str, line: str) -> None:
    """The quotes are chosen so that another program finds its own text unchanged, and YAML still parses."""
    pieces = segmented_yaml([{"v": Spliced((Slot(template, verbatim=template), literal))}], leading_separator=False)
    assert fill(pieces) == line
    assert yaml.safe_load(fill(pieces)) == {"v": template + literal}


@pytest.mark.parametrize("template", ["{{ a['b'] + \"c\" }}", "{{ 'a\\n' }}", "{{ a\n}}", "{{ \u00e4 }}"])
def test_template_text_that_no_quotes_can_hold_is_refused(template: str) -> None:
    """Both quotes, a backslash besides single quotes, several lines: an error that does not show it."""
    with pytest.raises(UnquotableTextError) as caught:
        segmented_yaml([{"v": Spliced((Slot(template, verbatim=template),))}], leading_separator=False)
    assert template not in str(caught.value)


def test_separators_between_documents() -> None:
    """An empty line and `---` between documents; before the first one only if the role wants it."""
    documents: list[dict[str, object]] = [{"a": 1}, {"b": 2}]
    assert segmented_yaml(documents, leading_separator=True) == ["---\na: 1\n\n---\nb: 2\n"]  # type: ignore[arg-type]
    assert segmented_yaml(documents, leading_separator=False) == ["a: 1\n\n---\nb: 2\n"]  # type: ignore[arg-type]


def _count(value: object) -> int:
    if isinstance(value, dict):
        return sum(_count(item) for item in value.values())
    if isinstance(value, list):
        return sum(_count(item) for item in value)
    return sum(isinstance(part, Slot) for part in value.parts) if isinstance(value, Spliced) else 0
