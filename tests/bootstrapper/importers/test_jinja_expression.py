"""Expressions of Jinja are told from what other languages write between the same braces."""

import pytest

from slipway.bootstrapper.importers.jinja import NotJinja, pieces
from slipway.bootstrapper.importers.jinja_expression import is_expression, is_statement

JINJA = [
    "ds.meta_data.local_hostname",
    "ds.meta_data['local-hostname'].split('.')[0]",
    "x | default('a') | upper",
    "-1 + 2 ** 3 // 4",
    "{'a': [1, 2, (3, 4)]}[name]",
    "a if b is not defined else c",
    "x is divisibleby 3",
    "not a and b not in c",
    "f(*args, **more)",
    "'a' 'b'",
    "l[1:]",
    "a ~ b",
]
OTHERS = [
    ".PodCIDR",
    ".Values.image.tag",
    "$labels.instance",
    "$x := .y",
    'if eq .a "b"',
    'include "chart.name" .',
    'define "name"',
    'printf "%s" .x',
    "json .NetworkSettings",
    "x | quote",
    "index .a 0",
    "",
    "a b",
    "(a",
    "a)",
]


@pytest.mark.parametrize("text", JINJA)
def test_an_expression_is_one(text: str) -> None:
    """What Jinja's parser takes stays Jinja."""
    assert is_expression(text)


@pytest.mark.parametrize("text", OTHERS)
def test_another_language_is_none(text: str) -> None:
    """What is a syntax error to Jinja is told."""
    assert not is_expression(text)


@pytest.mark.parametrize(("text", "wanted"), [("if a", True), ("endif", True), ("do x()", True), ("frobnicate", False)])
def test_statements_by_their_first_word(text: str, wanted: bool) -> None:
    """A tag that Jinja does not have makes it no statement."""
    assert is_statement(text) is wanted


@pytest.mark.parametrize("text", ["{{ .PodCIDR }}", "{{ range .Items }}{{ .Name }}{{ end }}", "a {% frobnicate %}"])
def test_a_template_of_another_language_is_no_jinja(text: str) -> None:
    """One such place is enough for the whole text: today cloud-init drops the user data for it."""
    with pytest.raises(NotJinja):
        pieces(text)
