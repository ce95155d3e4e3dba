"""The YAML loader gives what Kubernetes' tools see, and says where everything stands."""

import json
import time
import tracemalloc

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from slipway.contract.source_position import (
    Position,
    SourceError,
    SourceProblem,
    did_you_mean,
    path_text,
    unknown_field,
    with_remedy,
)
from slipway.contract.yaml_limits import Allowance, Limits
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


def test_expansion_is_bounded() -> None:
    """A document of a kilobyte cannot unfold to a billion values."""
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for name, before in zip("bcdefghij", "abcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]")
    started = time.monotonic()
    with pytest.raises(SourceError, match="aliases expanded"):
        load_documents("\n".join(lines), file="f")
    assert time.monotonic() - started < 10


def test_repeated_text_is_bounded() -> None:
    """What aliases stand for counts with its characters too, keys and merged mappings as well."""
    limits = Limits(max_characters=1000)
    for use in ("[*a, *a, *a, *a]", "{b: *a, c: *a, d: *a, e: *a}", "[{<<: *a}, {<<: *a}, {<<: *a}, {<<: *a}]"):
        text = f"- &a {{{'k' * 100}: {'v' * 100}}}\n- {use}\n"
        assert load_documents(text, file="f", limits=Limits(max_characters=2000))
        with pytest.raises(SourceError, match="more than 1000 characters, aliases expanded"):
            load_documents(text, file="f", limits=limits)


def test_texts_of_one_request_are_bounded_together() -> None:
    """Each text is small; the third is one too many, and further ones are not read at all."""
    together = Allowance(10)
    limits = Limits(together=together)
    for _ in range(2):
        load_documents("[1, 2, 3, 4]", file="f", limits=limits)
    assert (together.used, together.is_used_up) == (10, False)
    for _ in range(2):
        with pytest.raises(SourceError, match="more than 10 values in all such texts together"):
            load_documents("[1, 2, 3, 4]", file="f", limits=limits)
    assert together.used == 12


@pytest.mark.parametrize("text", ["[" * 5000, "{a: " * 5000, "- " * 5000 + "x"])
def test_nesting_is_bounded(text: str) -> None:
    """Deep nesting is refused before it can exhaust the stack."""
    with pytest.raises(SourceError, match="deeper than 100 levels"):
        load_documents(text, file="f")


def test_nesting_through_aliases_is_bounded() -> None:
    """Aliases of aliases count with the depth that they unfold to."""
    text = "a: &a [[[x]]]\nb: &b [[*a]]\n"
    assert load_documents(text, file="f", limits=Limits(max_depth=6))
    with pytest.raises(SourceError, match="deeper than 5 levels"):
        load_documents(text, file="f", limits=Limits(max_depth=5))


def test_size_is_bounded() -> None:
    """A text over the limit is refused before it is parsed."""
    with pytest.raises(SourceError, match="larger than 10 characters"):
        load_documents("a: 123456789", file="f", limits=Limits(max_characters=10))


def test_the_number_of_documents_is_bounded() -> None:
    """Each document costs work of its own, an empty one too."""
    limits = Limits(max_documents=3)
    assert len(load_documents("---\na: 1\n" * 3, file="f", limits=limits)) == 3
    for text in ("---\na: 1\n" * 4, "---\n" * 4, "---\n...\n" * 4):
        with pytest.raises(SourceError, match="more than 3 documents: split them") as caught:
            load_documents(text, file="f", limits=limits)
        assert str(caught.value).startswith(f"f:{text.count(chr(10)) // 4 * 3 + 1}:")
    with pytest.raises(SourceError, match="more than 5000 documents"):
        load_documents("--- 1\n" * 5001, file="f")


@pytest.mark.parametrize(
    ("text", "most", "reason"),
    [
        ("[" + "0," * 20_000 + "]", 500 * 20_000, "a value: its place and how it is written"),
        ("[" + "[0]," * 120_000 + "]", 160_000_000, "as many lists as a file may hold"),
        ("? " + "k" * 1_000_000 + "\n: 1\n", 8_000_000, "a long key: the text itself, a few times"),
        ("a: " + "v" * 1_000_000, 8_000_000, "a long value"),
    ],
    ids=["values", "lists", "key", "value"],
)
def test_memory_is_bounded_by_the_text(text: str, most: int, reason: str) -> None:
    """What a text costs is a small multiple of its length and of its values."""
    tracemalloc.start()
    try:
        load_documents(text, file="f")
        assert tracemalloc.get_traced_memory()[1] < most, reason
    finally:
        tracemalloc.stop()


def test_many_problems_are_shortened() -> None:
    """An error with hundreds of problems stays readable, and still holds them all."""
    (document,) = load_documents("a: 1", file="f")
    error = SourceError(document.source.problem(("a",), "wrong") for _ in range(300))
    assert len(error.problems) == 300
    assert "and 250 more" in str(error)


PATHS = [
    (("spec", "files", 0, "path"), "spec.files[0].path"),
    (("metadata", "labels", "example.com/a"), "metadata.labels[example.com/a]"),
    (("a", "b\nc"), "a[b?c]"),
    ((3, "x"), "[3].x"),
    ((), ""),
]


@pytest.mark.parametrize(("path", "text"), PATHS)
def test_paths_read_as_in_kubernetes(path: tuple[str | int, ...], text: str) -> None:
    """Paths are one line of text in Kubernetes' own form."""
    assert path_text(path) == text


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("preKubeadmCommand", "preKubeadmCommands"),
        ("PREKUBEADMCOMMANDS", "preKubeadmCommands"),
        ("zzz", None),
    ],
)
def test_a_misspelt_field_gets_a_proposal(word: str, meant: str | None) -> None:
    """The proposal is a field that exists, or none."""
    assert did_you_mean(word, ["files", "preKubeadmCommands"]) == meant
    said = f"did you mean {meant}?" if meant else "allowed: files, preKubeadmCommands"
    assert unknown_field(word, ["files", "preKubeadmCommands"]) == f"unknown field; {said}"


def test_what_is_allowed_is_counted_where_it_is_much() -> None:
    """A line that is too long to read does not help; where nothing is allowed there is nothing to name."""
    assert unknown_field("zzz", [f"k{number}" for number in range(30)]).endswith(", k23 and 6 more")
    assert unknown_field("zzz", []) == "unknown field"


REMEDIES = [
    ("use another", "it is wrong. Use another", "a sentence begins with a capital"),
    ("Use another", "it is wrong. Use another", "it may have one"),
    ("spec.os.files says it", "it is wrong. spec.os.files says it", "a path is spelt as it is"),
    ("max-pods is its name", "it is wrong. max-pods is its name", "so is an argument"),
    ("", "it is wrong", "there is nothing to do"),
]


@pytest.mark.parametrize(("remedy", "told", "reason"), REMEDIES)
def test_what_to_do_is_a_sentence_of_its_own(remedy: str, told: str, reason: str) -> None:
    """A message and its remedy come from two places, and are read as one text."""
    assert with_remedy("it is wrong", remedy) == told, reason


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
