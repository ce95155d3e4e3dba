"""A value in a script must be a value, whatever is in it."""

import base64
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.provisioners.windows.script import call, quoted

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
LITERAL = re.compile(r"'((?:[^']|'')*)'")
DECODED = re.compile(
    r"\(\[System\.Text\.Encoding\]::UTF8\.GetString\(\[System\.Convert\]::FromBase64String\('([A-Za-z0-9+/=]*)'\)\)\)"
)


def value(expression: str) -> str:
    """Evaluate what the encoder emits, as PowerShell does."""
    decoded = DECODED.fullmatch(expression)
    if decoded:
        return base64.b64decode(decoded[1]).decode()
    literal = LITERAL.fullmatch(expression)
    assert literal, "neither a literal nor a decoded text"
    return literal[1].replace("''", "'")


@given(TEXT)
def test_every_text_comes_back(text):
    """Quotes, dollar signs, backticks, line breaks and typographic quotes mean only themselves."""
    assert value(quoted(text)) == text


@given(TEXT)
def test_every_expression_is_one_line_of_printable_ascii(text):
    """Windows PowerShell reads anything else in the machine's code page."""
    assert quoted(text).isascii()
    assert quoted(text).isprintable()


@pytest.mark.parametrize(
    ("text", "expression"),
    [("a", "'a'"), ("", "''"), ("it's", "'it''s'"), ("$env:X `n", "'$env:X `n'"), ("C:\\a b", "'C:\\a b'")],
)
def test_plain_text_stays_readable(text, expression):
    """People read the script when something went wrong."""
    assert quoted(text) == expression


@pytest.mark.parametrize("quote", ["\u2018", "\u2019", "\u201a", "\u201b", "\u201c"])
def test_typographic_quotes_do_not_end_a_literal(quote):
    """PowerShell takes them for the plain ones."""
    assert quote not in quoted(f"a{quote}; Remove-Item C:\\")
    assert value(quoted(f"a{quote}b")) == f"a{quote}b"


def test_calls():
    """Booleans are PowerShell's own words."""
    assert call("Do-It", "a", True, False) == "Do-It 'a' $true $false"
