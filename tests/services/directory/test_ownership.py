"""The mark of our objects is read back as it was written, and nothing else is taken for one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.directory.ownership import Mark, prefix

_NAME = st.from_regex(r"[a-z0-9]([a-z0-9.-]{0,30}[a-z0-9])?", fullmatch=True)


@given(_NAME, _NAME, _NAME)
def test_a_mark_is_read_back(owner: str, namespace: str, machine: str) -> None:
    """Owner and machine come back, and the text begins as all of the owner's do."""
    mark = Mark(owner, f"{namespace}/{machine}")
    assert Mark.parse(mark.text) == mark
    assert mark.text.startswith(prefix(owner))


@pytest.mark.parametrize(
    "text",
    [
        "", "a server", "slipway", "slipway owner=a", "slipway owner=a machine=b",
        "slipway owner= machine=b/c", "slipway owner=a machine=b/c d",
        "slipway machine=b/c owner=a", "other owner=a machine=b/c", "slipway owner=A machine=b/c",
        "slipway owner=a machine=b/c/d",
    ],
)  # fmt: skip
def test_another_description_is_no_mark(text: str) -> None:
    """Descriptions by people are not ours, nor is anything that we would not write."""
    assert Mark.parse(text) is None


@pytest.mark.parametrize(
    ("owner", "machine"), [("a b", "c/d"), ("", "c/d"), ("a" * 64, "c/d"), ("a", "c"), ("a", "c/d e")]
)
def test_a_mark_that_could_not_be_read_back_is_refused(owner: str, machine: str) -> None:
    """It fails before it is written."""
    with pytest.raises(ValueError, match=r"owner's id|NAMESPACE/NAME"):
        Mark(owner, machine)
