"""The YAML loader gives what Kubernetes' tools see, and says where everything stands."""

import json

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from slipway.contract.source_position import (
    Position,
    SourceError,
    SourceProblem,
)
from slipway.contract.yaml_source import load_documents


def load(text: str) -> object:
    (document,) = load_documents(text, file="f.yaml")
    return document.value


SCALARS = [
    ("yes", True, "YAML 1.1 booleans are Kubernetes' booleans"),
    ("y", True, "even a single letter"),
    ("Off", False, "capitalised"),
    ("oFF", "oFF", "mixed case is text"),
    ("0644", 420, "a leading zero is octal"),
    ("0o644", 420, "and so is 0o"),
    ("0x1F", 31, "hexadecimal"),
    ("-0b11", -3, "binary with a sign"),
    ("08", 8.0, "no octal number: Go reads it as a float"),
    ("1_000", 1000, "underscores are dropped"),
    ("1e3", 1000.0, "float"),
    (".5", 0.5, "float without a zero"),
    ("1.34", 1.34, "an unquoted version is a number"),
    ("v1.34.0", "v1.34.0", "text"),
    ("2001-12-14", "2001-12-14", "a timestamp stays text"),
    ("2001-12-14T21:59:43Z", "2001-12-14T21:59:43Z", "a full timestamp stays text"),
    ("12:30:45", "12:30:45", "base 60 is text"),
    ("~", None, "null"),
    ("18446744073709551615", 2**64 - 1, "the largest unsigned number"),
    ("18446744073709551616", float(2**64), "beyond it a float"),
    ("'yes'", "yes", "quotes make text"),
    ('"0644"', "0644", "quotes make text"),
    ("!!str yes", "yes", "so does the tag"),
    ("!!float 3", 3.0, "an explicit float"),
    ("! 12", "12", "the non-specific tag makes text"),
]


@pytest.mark.parametrize(("text", "value", "reason"), SCALARS)
def test_scalars_mean_what_they_mean_to_kubernetes(text: str, value: object, reason: str) -> None:
    """Each bare word has the value and the type that Go's yaml.v2 gives it."""
    got = load(f"a: {text}\n")
    assert got == {"a": value}, reason
    assert type(got["a"]) is type(value), reason  # type: ignore[index]


BROKEN = [
    ("a: 1\nb: {c: 2, c: 3}\n", (2, 11, "b.c"), "duplicate key, first used in line 2"),
    ("yes: 1\ntrue: 2\n", (2, 1, "true"), "duplicate key, first used in line 1"),
    ("a: *x\n", (1, 4, "a"), "an alias of an anchor that is not defined before it"),
    ("a: &x [*x]\n", (1, 8, "a[0]"), "an alias of an anchor that is not defined before it"),
    ("a:\n- !custom b\n", (2, 3, "a[0]"), "a tag that Kubernetes does not know"),
    ("a: !custom {b: 1}\n", (1, 4, "a"), "a tag that Kubernetes does not know"),
    ("a: !!int x\n", (1, 4, "a"), "the value does not fit its tag"),
    ("a: !!binary aGk=\n", (1, 4, "a"), "Kubernetes cannot read !!binary"),
    ("? [a]\n: b\n", (1, 3, ""), "a key must be text"),
    ("1.5: b\n", (1, 1, ""), "a key must be text: put it in quotes"),
    ("a: .nan\n", (1, 4, "a"), "not a finite number"),
    ("a: {<<: 1}\n", (1, 5, "a"), "<< needs a mapping or a list of mappings"),
    ("x:\n  - a: 1\n   b: 2\n", (3, 4, ""), "not YAML: did not find expected '-' indicator"),
    ('a: "secretvalue\n', (2, 1, ""), "not YAML: found unexpected end of stream"),
    ("a: \x01\n", (1, 4, ""), "not YAML: a character that YAML does not allow"),
]


@pytest.mark.parametrize(("text", "place", "message"), BROKEN)
def test_what_is_wrong_is_named_with_its_place(text: str, place: tuple[int, int, str], message: str) -> None:
    """Every refusal names file, line, column and path, and repeats no value."""
    with pytest.raises(SourceError) as caught:
        load_documents(text, file="f.yaml")
    (problem,) = caught.value.problems
    assert problem.position is not None
    assert (problem.position.line, problem.position.column, problem.path) == place
    assert problem.message.startswith(message)
    assert "secretvalue" not in str(caught.value)
    assert str(caught.value).startswith("f.yaml:")


def test_positions_follow_the_document() -> None:
    """The place of a field is its key, of an item its start, of an absent field its nearest parent."""
    text = "---\n# nothing\n---\nspec:\n  files:\n  - path: /a\n    content: |\n      x\n      y: [\n"
    (document,) = load_documents(text, file="f.yaml")
    where = document.source.position
    assert where(("spec",)) == Position(4, 1)
    assert where(("spec", "files", 0)) == Position(6, 5)
    assert where(("spec", "files", 0, "content")) == Position(7, 5)
    assert where(("spec", "files", 3, "content")) == Position(5, 3)
    assert document.source.text_position(("spec", "files", 0, "content"), Position(2, 4)) == Position(9, 1)
    assert document.source.text_position(("spec", "files", 0, "path"), Position(1, 1)) == Position(6, 5)


def test_places_are_mapped_back_to_the_file() -> None:
    """A text made by substitution reports places of the file that it was made from."""
    (document,) = load_documents("a: 1\nb: 2\n", file="f", original=lambda p: Position(p.line + 10, p.column))
    assert document.source.position(("b",)) == Position(12, 1)


def test_merge_keys_add_what_is_not_there() -> None:
    """`<<` fills in; a key of the mapping itself wins, whatever comes first."""
    text = "base: &b {x: 1, z: 2}\na: {x: 9, <<: *b}\nb: {<<: [{x: 3}, *b]}\n"
    got = load(text)
    assert got == {"base": {"x": 1, "z": 2}, "a": {"x": 9, "z": 2}, "b": {"x": 3, "z": 2}}


def test_aliases_are_copies() -> None:
    """Changing one use of an anchor does not change another."""
    got = load("a: &x [1]\nb: *x\n")
    got["b"].append(2)  # type: ignore[index]
    assert got == {"a": [1], "b": [1, 2]}


PRINTABLE = st.text(st.characters(exclude_categories=["Cc", "Cs", "Cn"]))
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | PRINTABLE | st.floats(-1e9, 1e9),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(PRINTABLE, inner, max_size=4),
    max_leaves=20,
)


@given(TREES)
def test_json_reads_back(tree: object) -> None:
    """Whatever JSON can say comes back as it was: JSON is read as Kubernetes reads it."""
    text = json.dumps({"a": tree}, ensure_ascii=False)
    assert load_documents(text, file="f")[0].value == {"a": tree}


@given(st.dictionaries(st.text(), st.text() | st.lists(st.text(), max_size=3), max_size=4))
def test_yaml_text_reads_back(tree: dict[str, object]) -> None:
    """Text that PyYAML writes in double quotes comes back as it was."""
    text = yaml.safe_dump({"a": tree}, default_style='"')
    assert load_documents(text, file="f")[0].value == {"a": tree}


@given(st.text(alphabet=" \n\t-:{}[]&*!|>'\"%@`abc#,?0", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    """No text leads to anything but documents or a SourceError with a place."""
    problems: tuple[SourceProblem, ...] = ()
    try:
        load_documents(text, file="f")
    except SourceError as error:
        problems = error.problems
    assert all(problem.position for problem in problems)
