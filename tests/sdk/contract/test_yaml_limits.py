"""What one text of YAML may hold, and several together."""

import tracemalloc

import pytest

from slipway.contract.source_position import (
    SourceError,
)
from slipway.contract.yaml_limits import Allowance, Limits
from slipway.contract.yaml_source import load_documents

pytestmark = pytest.mark.long


def test_expansion_is_bounded() -> None:
    """A document of a kilobyte cannot unfold to a billion values."""
    lines = ["a: &a [x, x, x, x, x, x, x, x, x, x]"]
    for name, before in zip("bcdefghij", "abcdefghi", strict=True):
        lines.append(f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]")
    with pytest.raises(SourceError, match="aliases expanded"):
        load_documents("\n".join(lines), file="f")


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
