"""How the place of a problem reads, and what to do about it."""

import pytest

from slipway.contract.source_position import (
    SourceError,
    did_you_mean,
    path_text,
    unknown_field,
    with_remedy,
)
from slipway.contract.yaml_source import load_documents


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
