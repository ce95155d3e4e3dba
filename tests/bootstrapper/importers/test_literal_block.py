"""What a literal block makes of a text is read without a parser, and exactly as a parser reads it."""

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from slipway.bootstrapper.importers.mapping.literal_block import from_literal_block, read_without_parser

_INDENT = " " * 6
_HOSTILE = [
    *(
        "",
        "a",
        "#",
        "# a",
        "a: b",
        "- a",
        "|",
        "|2",
        ">-",
        "---",
        "...",
        "end: x",
        "%YAML",
        "'",
        '"',
        "{{ x }}",
        "&a *a",
    ),
    *(" ", "  ", "\t", " \t", "\n", "\n\n", "\r\n", "\r", "\x85", "\u2028", "\u2029", "\ufeff", "\x00", "\x1b", "\x7f"),
    *("\ufffe", "\ufffd", "\ud7ff", "\U0001f600", "\xa0", "\u3000", "\x0b", "\x0c"),
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(_HOSTILE), max_size=12).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=60),
    st.lists(st.tuples(st.integers(0, 4), st.sampled_from(_HOSTILE)), max_size=8).map(
        lambda lines: "\n".join(" " * depth + line for depth, line in lines)
    ),
)


def _parsed(text: str) -> str:
    """Give the text of the block by PyYAML; the text itself where the document is broken by it."""
    document = "content: |\n" + _INDENT + text.replace("\n", f"\n{_INDENT}") + "\nend: here\n"
    try:
        tree = yaml.safe_load(document)
    except yaml.YAMLError:
        return text
    return str(tree["content"]) if isinstance(tree, dict) and tree.keys() == {"content", "end"} else text


@settings(max_examples=300)
@given(TEXTS)
@example("\n#!/bin/sh\n")
@example("   \n  # a\n")
@example("  a\n # b\n")
@example("  a\n    \n   \n")
@example(" \ufeffa\n\ufeff b")
@example("a\r\nb\r")
def test_a_text_is_what_a_parser_reads(text: str) -> None:
    """Indentation, blank lines, line breaks of other kinds, and what YAML forbids."""
    assert from_literal_block(text) == _parsed(text)


@pytest.mark.parametrize("text", ["\n" + "a\n" * 1000, "  a\n   b\n\n" * 1000, "a\r\n" * 1000, " \n" * 1000])
def test_a_large_text_takes_no_parser(text: str) -> None:
    """It would take seconds for some hundred kilobytes."""
    assert read_without_parser(text) == from_literal_block(text) == _parsed(text)
