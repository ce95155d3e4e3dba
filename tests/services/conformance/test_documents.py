"""Documents of extensions: read and written in each form, varied one thing at a time, and compared as a whole."""

import json
from pathlib import Path

import pytest

from slipway.conformance import documents, user_files
from slipway.conformance.compare import compare
from slipway.conformance.surplus import surplus
from slipway.conformance.v1alpha1 import machine_state_pb2 as statepb
from slipway.v1alpha1 import bundle_pb2 as bundlepb

TREE = {"a": {"on": True, "off": False, "count": 3, "words": ["x", "y"]}}


@pytest.mark.parametrize(
    "media_type", ["application/json", "application/vnd.a+json; v=1", "application/yaml", "a/toml"]
)
def test_a_document_is_read_as_it_is_written(media_type: str) -> None:
    """In each form that is known, quotes and signs beyond ASCII too."""
    tree = {**TREE, "text": 'it\'s "so" #1: ü\n'}
    assert documents.read(documents.written(tree, media_type), media_type) == tree


@pytest.mark.parametrize(
    ("data", "media_type", "reason"),
    [
        (b"{", "application/json", "no JSON"),
        (b"a = ", "a/toml", "no TOML"),
        (b"a: [", "a/yaml", "no YAML"),
        (b"\xff", "application/json", "no text"),
        (b"a", "text/plain", "another form"),
    ],
)
def test_what_is_no_document(data: bytes, media_type: str, reason: str) -> None:
    """It is left alone, and not guessed at."""
    assert documents.read(data, media_type) is None, reason


def test_values_differ_in_one_place() -> None:
    """Truths are turned, numbers are others, lists are longer and the other way around, and tables are there twice."""
    made = list(documents.values(TREE))
    assert TREE not in made
    assert len({json.dumps(tree) for tree in made}) == len(made)
    assert {**TREE, "a": {**TREE["a"], "off": True}} in made
    assert {**TREE, "a": {**TREE["a"], "words": ["y", "x"]}} in made
    assert {**TREE, "a-2": TREE["a"]} in made


def test_each_text_is_marked_once() -> None:
    """Texts only, those in lists too, one at a time."""
    made = [tree["a"] for tree in documents.marked(TREE, "mark")]
    assert made == [{**TREE["a"], "words": ["mark", "y"]}, {**TREE["a"], "words": ["x", "mark"]}]


def test_each_thing_lacks_once() -> None:
    """A document of five things and a list of two has as many that lack one."""
    assert len(list(documents.lacking(TREE))) == 1 + 4 + 2


@pytest.mark.parametrize(
    ("trees", "want", "reason"),
    [
        ([{"a": {"b": 1}}, {"a": {"c": 2}}], {"a": {"b": 1, "c": 2}}, "mappings are merged"),
        ([{"a": 1}, {"a": 2}], {"a": 2}, "the later one counts"),
        ([[1], [2]], [1, 2], "lists stand in a row"),
        (["a", {}], ["a", {}], "of two kinds"),
    ],
)
def test_several_are_joined(trees: list, want: object, reason: str) -> None:
    """As systems join them."""
    assert documents.joined(trees) == want, reason


@pytest.mark.parametrize(
    ("there", "problems", "reason"),
    [
        ([TREE], 0, "as the bundle says it"),
        ([], 1, "nothing of it"),
        ([{"a": {**TREE["a"], "off": True}}], 1, "another value"),
        ([{"a": {key: value for key, value in TREE["a"].items() if key != "off"}}], 1, "one value is lost"),
    ],
)
def test_a_document_is_compared(there: list, problems: int, reason: str) -> None:
    """Value by value, whatever form the decoder reports it in."""
    bundle = bundlepb.BootstrapBundle()
    extension = bundle.extensions.add(id="acme.example.com/a", media_type="application/toml")
    extension.content.segments.add(data=documents.written(TREE, "application/toml"))
    name = "ext.acme.example.com/a"
    others = [statepb.Other(name=name, text=json.dumps(tree)) for tree in there]
    state = statepb.MachineState(features=[name], others=others)
    assert len(compare(bundle, state, windows=False).problems) == problems, reason
    assert surplus(bundle, state, windows=False) == []
    assert len(surplus(bundlepb.BootstrapBundle(), state, windows=False)) == min(1, len(there))


@pytest.mark.parametrize(
    ("text", "problem", "reason"),
    [
        ("id: acme.example.com/a\nmediaType: a/b\ncontent: {text: x}", "", "a document"),
        ("id: acme.example.com/a\nmediaTyp: a/b", "mediaTyp", "a key that there is not"),
        ("id: acme\nmediaType: a/b\ncontent: {text: x}", "id", "an id without a domain"),
        ("[", "cannot be read", "no YAML"),
        ("a", "extension", "no mapping"),
    ],
)
def test_a_file_of_an_extension(text: str, problem: str, reason: str, tmp_path: Path) -> None:
    """It is an entry of a spec's `extensions`; anything else is refused by name."""
    file = tmp_path / "extension.yaml"
    file.write_text(text, encoding="utf-8")
    if not problem:
        assert user_files.read_extension(file).id == "acme.example.com/a"
        return
    with pytest.raises(user_files.ExtensionFileError, match=problem):
        user_files.read_extension(file)


def test_the_example_has_a_document() -> None:
    """That of Bottlerocket can be tried as it is."""
    file = Path(__file__).parents[3] / "examples" / "provisioner-go" / "extension.yaml"
    extension = user_files.read_extension(file)
    assert documents.read(extension.content.text.encode(), extension.media_type)["admin"]["enabled"] is True
