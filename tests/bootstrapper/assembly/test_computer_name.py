"""The name of a computer account follows from the Machine's name alone, and any domain takes it."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.assembly.computer_name import LONGEST, computer_name

LABEL = st.from_regex(r"[a-z0-9]([a-z0-9-]{0,20}[a-z0-9])?", fullmatch=True)
MACHINE = st.lists(LABEL, min_size=1, max_size=4).map(".".join)


@pytest.mark.parametrize(
    ("machine", "name", "reason"),
    [
        ("a", "A", "the shortest"),
        ("worker-1", "WORKER-1", "it is a computer's name already"),
        ("123-4", "123-4", "a dash beside digits is enough"),
        ("abcdefghijklmno", "ABCDEFGHIJKLMNO", "15 characters, the longest that fits"),
        ("abcdefghijklmnop", "ABCDEF-6OO2Y3F2", "16 characters"),
        ("worker-1.example.com", "WORKER-GV65IVC5", "a period would begin another domain"),
        ("12345", "12345-LGKEOGV3", "digits alone"),
        ("localhost", "LOCALH-JGLA3ZMI", "a reserved word"),
        ("domain", "DOMAIN-6L7YHBQK", "a reserved word"),
        ("a.b", "A-B-FZZTNXEO", "a period in a short name"),
        ("abc---defghijklmn", "ABC-DDPLJD7S", "no dash is doubled before the hash"),
    ],
)
def test_names_are_stable(machine: str, name: str, reason: str) -> None:
    """The names are part of what is in domains: none may ever change."""
    assert computer_name(machine) == name, reason


@pytest.mark.parametrize(
    "machine", ["", "A", "a_b", "-a", "a-", "a..b", ".a", "a.", "ä", "a b", "a\n", "a$", "x" * 254]
)
def test_what_no_machine_is_called_has_no_name(machine: str) -> None:
    """Only names that Kubernetes takes for a Machine are accepted."""
    with pytest.raises(ValueError, match="RFC 1123"):
        computer_name(machine)


@given(MACHINE)
def test_every_name_is_a_computers(machine: str) -> None:
    """At most 15 characters of letters, digits and dashes, not digits alone, neither beginning nor ending in a dash."""
    name = computer_name(machine)
    assert 1 <= len(name) <= LONGEST
    assert set(name) <= set(string.ascii_uppercase + string.digits + "-")
    assert not name.isdigit()
    assert name.strip("-") == name


@given(st.lists(MACHINE, min_size=2, max_size=5, unique=True))
def test_different_machines_have_different_names(machines: list[str]) -> None:
    """Names that differ anywhere have different accounts, however much their beginnings have in common."""
    assert len({computer_name(machine) for machine in machines}) == len(machines)
