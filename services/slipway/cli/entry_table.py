"""The table of a render: machine by provisioner, so narrow that it is read in a small terminal too."""

import re
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from slipway.cli.output import style_of
from slipway.cli.rendering import Entry

_NUMBERS = {"status": 8, "bytes": 7, "gzip": 7, "ms": 8}
_NARROW = 24
"""Width of the first column where all names are short."""
_LAST = "lowered, or refused"
_INDENT = "  "
_GAP = 1
_WIDE = 40
_PREFIXES = ("spec.kubeadmConfigSpec.", "spec.template.spec.kubeadmConfigSpec.", "spec.template.spec.", "spec.")
_HIDDEN = {"plan.steps", "os.files"}
"""Features of nearly every machine: that these are lowered is not worth a line."""


def entry_table(entries: Sequence[Entry], screen: Console, *, most_fields: int = 2) -> RenderableType:
    """Give one table of all entries, grouped by machine.

    Args:
        entries: the entries, those of a machine next to each other.
        screen: where it will be shown; its width decides where the last column wraps.
        most_fields: how many refused features are named before the rest is counted.
    """
    longest = max((len(_INDENT + by(entry)) for entry in entries), default=0)
    widths = _widths(longest, screen.width)
    parts: list[RenderableType] = [_grid(widths, [[Text(name, style="bold") for name in widths]])]
    for machine in dict.fromkeys(entry.machine for entry in entries):
        group = [entry for entry in entries if entry.machine == machine]
        parts.append(Text.assemble((machine, "bold cyan"), (f"  {group[0].role}{_bundles(group)}", "dim")))
        parts.append(_grid(widths, [_row(entry, most_fields, widths) for entry in group]))
    return Group(*parts)


def by(entry: Entry) -> str:
    """Name provisioner and format, without saying the same twice: "ignition 3.3.0"."""
    name = entry.provisioner or "(the spec's choice)"
    form = entry.format.removeprefix(f"{entry.provisioner}/")
    return name if form in {"", name, "cloud-config"} else f"{name} {form}"


def _bundles(group: Sequence[Entry]) -> str:
    """Give the id that the machine's events have, so that a report is matched to a render; of several, whose it is."""
    by_id: dict[str, list[str]] = {}
    for entry in group:
        if entry.bundle_id:
            by_id.setdefault(entry.bundle_id, []).append(by(entry))
    several = len(by_id) > 1
    ids = ", ".join(f"{bundle} ({', '.join(names)})" if several else bundle for bundle, names in by_id.items())
    return f"  bundle {ids}" if ids else ""


def _widths(longest: int, screen: int) -> dict[str, int]:
    """Share the screen among the columns: numbers have what they need, then names, the rest is for the last one."""
    room = max(screen - sum(_NUMBERS.values()) - _GAP * (len(_NUMBERS) + 1) - 1, _NARROW)
    first = min(max(longest, _NARROW), max(room - len(_LAST), room // 2))
    return {"": first, **_NUMBERS, _LAST: room - first}


def _grid(widths: Mapping[str, int], rows: Sequence[Sequence[RenderableType]]) -> Table:
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    for name, width in widths.items():
        right = name in {"bytes", "gzip", "ms"}
        grid.add_column(width=width, justify="right" if right else "left", overflow="fold", no_wrap=name in _NUMBERS)
    for row in rows:
        grid.add_row(*row)
    return grid


def _row(entry: Entry, most_fields: int, widths: Mapping[str, int]) -> list[RenderableType]:
    numbers = (str(entry.bytes or ""), str(entry.gzip_bytes or ""), f"{entry.milliseconds:.1f}")
    rendered = entry.status == "rendered"
    refused = _refused(entry, most_fields, with_features=widths[_LAST] >= _WIDE)
    last = [", ".join(_lowered(entry))] if rendered else refused
    return [
        Text("\n".join(_INDENT + line for line in _broken(by(entry), widths[""] - len(_INDENT)))),
        Text(entry.status, style=style_of(entry.status)),
        *(Text(number) for number in numbers),
        Text(
            "\n".join(part for line in last for part in _broken(line, widths[_LAST])), style="dim" if rendered else ""
        ),
    ]


def _broken(name: str, width: int) -> Iterator[str]:
    """Give a name in lines of at most this width, broken where people would: behind a dot, a dash, a slash, a space."""
    line = ""
    for part in re.findall(r"[^-./ ]*[-./ ]?", name):
        if line and len((line + part).rstrip()) > width:
            yield line.rstrip()
            line = ""
        line += part
    yield line


def _lowered(entry: Entry) -> list[str]:
    return sorted(
        {str(element["feature"]).removeprefix("os.") for element in entry.lowered if element["feature"] not in _HIDDEN}
    )


def _refused(entry: Entry, most: int, *, with_features: bool) -> Iterator[str]:
    """Give a line for each refused feature: the first field that uses it, and how many more do."""
    fields: dict[str, list[str]] = {}
    for refusal in entry.refusals:
        fields.setdefault(refusal["feature"], []).append(short_field(refusal["field"]))
    for feature, places in list(fields.items())[:most]:
        more = f" +{len(places) - 1}" if len(places) > 1 else ""
        name = f" ({feature})" if with_features else ""
        yield f"{places[0]}{more}{name}" if places[0] else feature
    if len(fields) > most:
        rest = len(fields) - most
        yield f"and {rest} more feature{'s' if rest > 1 else ''}"


def short_field(field: str) -> str:
    """Give a field's path without what all fields of its document share."""
    path = field.rpartition(": ")[2]
    return next((path.removeprefix(prefix) for prefix in _PREFIXES if path.startswith(prefix)), path)
