"""YAML that is written must be read back as the same values, by rules that Go's reader shares."""

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from slipway.provisioners.talos.yaml_text import Spelling, emit, read_kubernetes, read_patch

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
TREES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(TEXT, TREES, max_size=4))
def test_what_is_written_is_read_back(tree):
    """Every text, whatever it looks like, comes back as the text that it was."""
    assert list(yaml.safe_load_all(emit([tree]))) == [tree]
    assert read_kubernetes(emit([{"x": tree}])) == [{"x": tree}]


@pytest.mark.parametrize(
    "text",
    ["yes", "On", "null", "~", "0644", "0o17", "1e3", "1_000", ".5", "0x1f", "2020-01-01", "<<", "=", "12:30:45"],
)
def test_text_that_looks_like_something_else_is_quoted(text):
    """A reader of YAML 1.1 or 1.2 must not take a text for a number, a boolean or a date."""
    assert emit([{"a": text}]) == f'---\na: "{text}"\n'.encode()


@pytest.mark.parametrize("spelling", ["1.10", "0o644", "0644", "yes", "1e3", "0x1f"])
def test_bare_scalars_of_a_patch_keep_their_spelling(spelling):
    """What a bare word means depends on the field, which only Talos knows."""
    tree = read_patch(f"a: {spelling}\n".encode())
    assert isinstance(tree[0]["a"], Spelling)
    assert emit(tree) == f"---\na: {spelling}\n".encode()


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"\xff", "is not UTF-8"),
        (b"a: [hunter2", "is not YAML"),
        (b"hunter2: 1\nhunter2: 2", "is not YAML"),
    ],
)
def test_what_can_not_be_read_is_refused_without_its_text(data, reason):
    """The message goes to logs and to other people."""
    with pytest.raises(ValueError, match=reason) as caught:
        read_kubernetes(data)
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"a: .nan", "not a finite number"),
        (b"a0: &a0 [x]\n" + b"".join(
            f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n".encode() for level in range(1, 8)
        ), "more than 20000 values"),
        (b"[" * 3000, "nested deeper"),
    ],
)  # fmt: skip
def test_a_patch_that_could_not_be_read_back_is_refused(data, reason):
    """Before it is merged: afterwards it would be a defect of ours, or the end of the process's memory."""
    with pytest.raises(ValueError, match=reason):
        read_patch(data)
