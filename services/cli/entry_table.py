"""The table of a render: machine by provisioner, so narrow that it is read in a small terminal too."""

from collections.abc import Iterator, Sequence

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from services.cli.output import style_of
from services.cli.rendering import Entry

_FIXED = {"": 24, "status": 8, "bytes": 6, "gzip": 6, "ms": 7}
_LAST = "lowered, or refused"
_INDENT = "  "
_GAP = 1
_WIDE = 40
_PREFIXES = ("spec.kubeadmConfigSpec.", "spec.template.spec.kubeadmConfigSpec.", "spec.template.spec.", "spec.")
_HIDDEN = {"plan.steps", "os.files"}
"""Features of nearly every machine: that these are lowered tells nobody anything."""


def entry_table(entries: Sequence[Entry], screen: Console, *, most_fields: int = 2) -> RenderableType:
    """Give one table of all entries, grouped by machine.

    Args:
        entries: the entries, those of a machine next to each other.
        screen: where it will be shown; its width decides where the last column wraps.
        most_fields: how many refused features are named before the rest is counted.
    """
    rest = max(screen.width - sum(_FIXED.values()) - _GAP * len(_FIXED) - 1, len(_LAST))
    parts: list[RenderableType] = [_grid(rest, [[Text(name, style="bold") for name in (*_FIXED, _LAST)]])]
    for machine in dict.fromkeys(entry.machine for entry in entries):
        group = [entry for entry in entries if entry.machine == machine]
        parts.append(Text.assemble((machine, "bold cyan"), (f"  {group[0].role}", "dim")))
        parts.append(_grid(rest, [_row(entry, most_fields, with_features=rest >= _WIDE) for entry in group]))
    return Group(*parts)


def by(entry: Entry) -> str:
    """Name provisioner and format, without saying the same twice: "ignition 3.3.0"."""
    name = entry.provisioner or "(the spec's choice)"
    form = entry.format.removeprefix(f"{entry.provisioner}/")
    return name if form in {"", "cloud-config"} else f"{name} {form}"


def _grid(rest: int, rows: Sequence[Sequence[RenderableType]]) -> Table:
    grid = Table.grid(padding=(0, _GAP, 0, 0))
    for name, width in _FIXED.items():
        grid.add_column(width=width, justify="right" if name in {"bytes", "gzip", "ms"} else "left", overflow="fold")
    grid.add_column(width=rest, overflow="fold")
    for row in rows:
        grid.add_row(*row)
    return grid


def _row(entry: Entry, most_fields: int, *, with_features: bool) -> list[RenderableType]:
    numbers = (str(entry.bytes or ""), str(entry.gzip_bytes or ""), f"{entry.milliseconds:.1f}")
    rendered = entry.status == "rendered"
    refused = _refused(entry, most_fields, with_features=with_features)
    last = ", ".join(_lowered(entry)) if rendered else "\n".join(refused)
    return [
        Text(_INDENT + by(entry)),
        Text(entry.status, style=style_of(entry.status)),
        *(Text(number) for number in numbers),
        Text(last, style="dim" if rendered else ""),
    ]


def _lowered(entry: Entry) -> list[str]:
    return sorted({str(one["feature"]).removeprefix("os.") for one in entry.lowered if one["feature"] not in _HIDDEN})


def _refused(entry: Entry, most: int, *, with_features: bool) -> Iterator[str]:
    """Give a line for each refused feature: the first field that uses it, and how many more do."""
    fields: dict[str, list[str]] = {}
    for one in entry.refusals:
        fields.setdefault(one["feature"], []).append(short_field(one["field"]))
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
    return next((path.removeprefix(one) for one in _PREFIXES if path.startswith(one)), path)
