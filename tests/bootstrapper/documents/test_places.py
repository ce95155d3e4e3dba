"""Fields are found in files by the names that refusals give them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.documents.places import Places, parse
from slipway.contract.source_position import path_text
from slipway.contract.yaml_source import load_documents

TEXT = """\
kind: A
metadata: {name: a}
spec:
  files:
    - path: x
    - path: y
      mode: 1
---
kind: List
items:
  - kind: B
    metadata: {name: b}
    spec: {odd.key: 1}
"""
TABLE = [
    ("A/a: spec.files[1].mode", "", (7, 7), "document and path"),
    ("A/a: spec.files[1].owner", "", (6, 7), "a field that is not there: what is above it"),
    ("A/a: spec.files[1] (through linux.files, runner)", "", (6, 7), "made of it by passes"),
    ("spec.files[0]", "A/a", (5, 7), "the path alone, in the machine's config"),
    ("B/b: spec[odd.key]", "", (13, 12), "an item of a List, with an odd key"),
    ("C/c: spec", "", None, "a document that is not there"),
    ("machine.role", "A/a", None, "a fact, which is no field of the document"),
    ("", "A/a", None, "no field at all"),
    ("Slipway (through kubeadm)", "A/a", None, "made by us alone"),
]


@pytest.mark.parametrize(("field", "config", "expected", "reason"), TABLE, ids=[row[-1] for row in TABLE])
def test_a_field_is_found(field: str, config: str, expected: tuple[int, int] | None, reason: str) -> None:
    """By line and column, or not at all; nothing is guessed."""
    found = Places(load_documents(TEXT, file="f.yaml")).find(field, config=config)
    position = found.position if found else None
    assert ((position.line, position.column) if position else None) == expected, reason


PART = st.one_of(st.integers(0, 99), st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,9}", fullmatch=True))


@given(path=st.lists(PART, min_size=1, max_size=6))
def test_a_path_is_read_back_from_its_text(path: list[str | int]) -> None:
    """What is written as Kubernetes does is taken apart again."""
    assert parse(path_text(tuple(path))) == tuple(path)
