"""The matrix of `slipway explain` for people: few columns, few rows, and below it the why.

Formats of one provisioner that agree in everything share a column; what a feature's own parts would only repeat is left
out. The whole of it is in the JSON.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from slipway.bootstrapper.assembly.paths import describe
from slipway.bootstrapper.deliveries import DELIVERY
from slipway.bootstrapper.explain_diagnostics import NOT_CHOSEN
from slipway.bootstrapper.explain_matrix import HIDDEN, counts_fields
from slipway.cli.entry_table import short_field
from slipway.cli.output import style_of
from slipway.contract.source_position import with_remedy
from slipway.contract.yaml_names import enum_word
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

_EXTENSION = "ext."
_WIDE = 110
_VERDICT_WIDTH = 8
_MOST_NAMED = 2
_MOST_FIELDS = 3


def verdict(cell: bootstrappb.ExplainCell) -> str:
    """Give a verdict for people: "native"."""
    return enum_word(bootstrappb.Verdict.DESCRIPTOR, cell.verdict)


def matrix(title: str, answer: bootstrappb.ExplainResponse, shown: Sequence[int], width: int) -> Table:
    """Give the matrix: a row for each field and feature, a column for formats that agree in everything.

    Args:
        title: what stands above it.
        answer: the matrix.
        shown: indices of the columns to show.
        width: columns of the terminal; a wide one gets the features too.
    """
    groups = _groups(answer, shown)
    made = Table(
        title=title, title_justify="left", title_style="bold cyan", header_style="dim", box=box.SIMPLE_HEAD,
        pad_edge=False, padding=(0, 1, 0, 0), show_edge=False,
    )  # fmt: skip
    made.add_column("field", overflow="fold", vertical="bottom", min_width=16)
    if width >= _WIDE:
        made.add_column("feature", overflow="fold", vertical="bottom")
    for group in groups:
        provisioner = answer.columns[group[0]].provisioner
        forms = "\n".join(_forms(answer, group))
        made.add_column(f"{provisioner}\n{forms}".rstrip(), overflow="fold", min_width=_VERDICT_WIDTH)
    rows_shown = set()
    for row in _rows(answer, groups):
        head = [short_field(row.origin.path) or row.feature, *([row.feature] if width >= _WIDE else [])]
        words = [verdict(row.cells[group[0]]) for group in groups]
        if (*head, *words) not in rows_shown:
            rows_shown.add((*head, *words))
            _add(made, head, words)
    made.add_section()
    words = ["rendered" if answer.columns[group[0]].renderable else "refused" for group in groups]
    _add(made, ["the machine", *([""] if width >= _WIDE else [])], words, style="bold ")
    return made


def reasons(answer: bootstrappb.ExplainResponse, shown: Sequence[int]) -> Iterator[str]:
    """Give a line for everything that is lowered (to what), refused or omitted (why, and what to do), each once."""
    yield from _lowered(answer, shown)
    results: dict[tuple[str, str], dict[int, dict[str, None]]] = {}
    for row in answer.rows:
        for index in shown:
            cell = row.cells[index]
            if cell.verdict in {bootstrappb.VERDICT_REFUSED, bootstrappb.VERDICT_OMITTED}:
                reason = with_remedy(cell.reason, cell.remedy)
                results.setdefault((verdict(cell), reason), {}).setdefault(index, {})[describe(row.origin)] = None
    for index in shown:
        column = answer.columns[index]
        named = any(row.cells[index].verdict == bootstrappb.VERDICT_REFUSED for row in answer.rows)
        if not column.renderable and not (named and counts_fields(column.refusal)):
            results.setdefault(("refused", column.refusal), {})[index] = {}
    everything = len({describe(row.origin) for row in answer.rows})
    for (kind, reason), by_format in results.items():
        for fields, indices in _same_fields(by_format):
            where = _few(fields) if len(fields) < everything or len(fields) == 1 else ""
            yield f"{kind} by {names(answer, indices)}: {where}{reason}"
    yield from _of_the_whole(answer, {answer.columns[index].format for index in shown})


def _of_the_whole(answer: bootstrappb.ExplainResponse, formats: Collection[str]) -> Iterator[str]:
    for one in answer.diagnostics:
        if one.code == DELIVERY and one.message.partition(": ")[0] not in formats:
            continue
        if one.code in NOT_CHOSEN:
            yield f"refused, although another provisioner may support it: {describe(one.origin)}: {one.message}"
        elif not one.field_path:
            yield one.message


def _same_fields(by_format: dict[int, dict[str, None]]) -> Iterator[tuple[tuple[str, ...], list[int]]]:
    """Put formats together that say the same of the same fields."""
    groups: dict[tuple[str, ...], list[int]] = {}
    for index, fields in by_format.items():
        groups.setdefault(tuple(fields), []).append(index)
    yield from groups.items()


def _few(fields: Sequence[str]) -> str:
    """Name the first field in full, a few more in short, and count the rest."""
    if not fields:
        return ""
    first, *others = fields[:_MOST_FIELDS]
    shown_fields = [first, *map(short_field, others)]
    rest = len(fields) - len(shown_fields)
    return ", ".join(shown_fields) + (f" and {rest} more" if rest else "") + ": "


def _lowered(answer: bootstrappb.ExplainResponse, shown: Sequence[int]) -> Iterator[str]:
    results: dict[tuple[str, str], dict[str, None]] = {}
    for row in _rows(answer, [[index] for index in shown]):
        targets: dict[str, list[int]] = {}
        for index in shown:
            cell = row.cells[index]
            if cell.verdict == bootstrappb.VERDICT_LOWERED and cell.into:
                targets.setdefault(", ".join(cell.into), []).append(index)
        for into, indices in targets.items():
            results.setdefault((into, names(answer, indices)), {})[row.feature] = None
    for (into, whose), features in results.items():
        yield f"lowered to {into} for {whose}: {', '.join(features)}"


def names(answer: bootstrappb.ExplainResponse, indices: Iterable[int]) -> str:
    """Name formats: the provisioner where it is all of its formats, else each format."""
    chosen = list(indices)
    names = []
    for provisioner in dict.fromkeys(answer.columns[index].provisioner for index in chosen):
        group = [index for index in chosen if answer.columns[index].provisioner == provisioner]
        whole = len(group) == sum(column.provisioner == provisioner for column in answer.columns)
        names += [provisioner] if whole else [answer.columns[index].format for index in group]
    return ", ".join(names)


def _rows(answer: bootstrappb.ExplainResponse, groups: Sequence[Sequence[int]]) -> Iterator[bootstrappb.ExplainRow]:
    """Give the rows that say something: not those of a part of a feature with the same verdicts as the whole.

    Nor what every machine has, such as its Kubernetes version, where none of the formats that are shown refuses it.
    """
    results: dict[tuple[str, str], tuple[int, ...]] = {}
    verdicts_at: dict[str, set[tuple[int, ...]]] = defaultdict(set)
    for row in answer.rows:
        place = describe(row.origin)
        verdicts = tuple(row.cells[group[0]].verdict for group in groups)
        parents = row.feature.split(".")
        above = [results.get((place, ".".join(parents[:length]))) for length in range(1, len(parents) + 1)]
        if place and row.feature.startswith(_EXTENSION):
            # Of a text: a part of the item that was written there, whose features are not above it by name.
            above += verdicts_at[place]
        if verdicts not in above and (bootstrappb.VERDICT_REFUSED in verdicts or not row.feature.startswith(HIDDEN)):
            yield row
        results[place, row.feature] = verdicts
        verdicts_at[place].add(verdicts)


def _add(made: Table, head: Sequence[str], words: Sequence[str], *, style: str = "") -> None:
    verdicts = (Text(word, style=style + style_of(word)) for word in words)
    made.add_row(*(Text(cell, style=style.strip()) for cell in head), *verdicts)


def _groups(answer: bootstrappb.ExplainResponse, shown: Sequence[int]) -> list[list[int]]:
    """Put formats of one provisioner together that agree in every verdict."""
    groups: dict[tuple[object, ...], list[int]] = {}
    for index in shown:
        column = answer.columns[index]
        key = (column.provisioner, column.renderable, *(row.cells[index].verdict for row in answer.rows))
        groups.setdefault(key, []).append(index)
    return list(groups.values())


def _forms(answer: bootstrappb.ExplainResponse, group: Sequence[int]) -> list[str]:
    """Name the formats of a group in few words."""
    name = answer.columns[group[0]].provisioner
    forms = [answer.columns[index].format.removeprefix(f"{name}/") for index in group]
    whole = len(group) == sum(column.provisioner == name for column in answer.columns)
    if whole:
        return [] if len(forms) == 1 else [f"all {len(forms)}"]
    return forms if len(forms) <= _MOST_NAMED else [f"{forms[0]} to", forms[-1]]
