"""The table of a render: every name and number can be read, however long and however narrow the screen."""

import io

import pytest
from rich.console import Console

from slipway.cli.entry_table import by, entry_table
from slipway.cli.rendering import Entry

LONG = "bottlerocket-settings.provisioners.example.com"


def shown(width: int, *provisioners: str) -> list[str]:
    """Give the lines of a table of one machine by some provisioners, each rendered."""
    screen = Console(file=io.StringIO(), width=width, no_color=True)
    entries = [
        Entry("machine", "worker", name, format=f"{name}/v1", status="rendered", bytes=123456, gzip_bytes=23456)
        for name in provisioners
    ]
    with screen.capture() as captured:
        screen.print(entry_table(entries, screen))
    return [line.rstrip() for line in captured.get().splitlines()]


def test_a_long_name_has_the_room_that_there_is() -> None:
    """On a wide screen the first column is as wide as the longest name, and the numbers stand below their heads."""
    head, _, short, long = shown(160, "talos", LONG)
    assert long.startswith(f"  {LONG} v1 rendered")
    assert head.index("status") == short.index("rendered") == long.index("rendered")
    assert head.index("bytes") + len("bytes") == long.index("123456") + len("123456")


@pytest.mark.parametrize("width", [70, 80, 100])
def test_no_name_is_broken_inside_a_word(width: int) -> None:
    """On a narrow one it goes on in the next line, behind a dot or a dash; numbers are never broken."""
    lines = shown(width, LONG)
    rows = lines[lines.index("machine  worker") + 1 :]
    parts = [part for line in rows for part in line.split()[:2] if part.strip("0123456789.")]
    assert "".join(parts).replace("rendered", "") == f"{LONG}v1"
    assert all(part[-1] in ".-" or part.endswith("com") or part in {"v1", "rendered"} for part in parts)
    assert any("123456   23456" in line for line in lines)


def test_nothing_is_said_twice() -> None:
    """A format that begins with its provisioner's name, or is it, adds only the rest."""
    names = [by(Entry("m", "worker", LONG, format=form)) for form in (LONG, f"{LONG}/v1", "kickstart", "")]
    assert names == [LONG, f"{LONG} v1", f"{LONG} kickstart", LONG]


def test_short_names_leave_the_table_as_it_is() -> None:
    """The names of ours fit into the column that everybody knows."""
    assert shown(100, "talos")[0].index("status") == 25


def bundled(*bundles: str) -> str:
    """Give the line of a machine whose entries have these ids."""
    screen = Console(file=io.StringIO(), width=160, no_color=True)
    entries = [Entry("machine", "worker", f"p{index}", bundle_id=bundle) for index, bundle in enumerate(bundles)]
    with screen.capture() as captured:
        screen.print(entry_table(entries, screen))
    return captured.get().splitlines()[1].rstrip()


@pytest.mark.parametrize(
    ("bundles", "line"),
    [
        (("", ""), "machine  worker"),
        (("0f", "", "0f"), "machine  worker  bundle 0f"),
        (("0f", "1e", ""), "machine  worker  bundle 0f (p0), 1e (p1)"),
    ],
    ids=["refused by all", "one for all", "one for each"],
)
def test_a_machine_has_the_ids_of_its_bundles(bundles: tuple[str, ...], line: str) -> None:
    """Where provisioners have different ones, it says whose each is."""
    assert bundled(*bundles) == line
