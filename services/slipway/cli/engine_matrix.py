"""Engines and formats in the answer to Explain: which engine makes the machine with which format."""

from collections.abc import Iterator, Sequence

from rich import box
from rich.table import Table
from rich.text import Text

from slipway.cli.output import style_of
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb

NO_ENGINE = "no engine"
"""What is shown for formats of systems that bootstrap themselves."""


def engine_matrix(title: str, answer: bootstrappb.ExplainResponse, shown: Sequence[int]) -> Table:
    """Give a table with a row for each engine and a column for each provisioner.

    A cell says "rendered", "refused", or "rendered by 2 of 3" where the formats of a provisioner differ. What takes no
    plan of an engine is below all of them.
    """
    provisioners = list(dict.fromkeys(answer.columns[index].provisioner for index in shown))
    table = Table(
        title=title, title_justify="left", title_style="bold cyan", header_style="dim", box=box.SIMPLE_HEAD,
        pad_edge=False, padding=(0, 1, 0, 0), show_edge=False,
    )  # fmt: skip
    for name in ("engine", *provisioners):
        table.add_column(name, overflow="fold", vertical="bottom", min_width=8)
    columns = [answer.columns[index] for index in shown]
    for engine in sorted({column.engine for column in columns}, key=lambda name: (not name, _place(columns, name))):
        words = [
            _word([column for column in columns if (column.engine, column.provisioner) == (engine, provisioner)])
            for provisioner in provisioners
        ]
        cells = (Text(word, style=style_of(word)) for word in words)
        table.add_row(Text(engine or NO_ENGINE, style="bold"), *cells)
    table.add_section()
    return table


def by_engine(
    title: str, answer: bootstrappb.ExplainResponse, shown: Sequence[int]
) -> Iterator[tuple[str, bootstrappb.ExplainResponse, list[int]]]:
    """Give the answer for each engine alone, with its title and the indices of the columns to show.

    An answer that compares no engines is given as it is.
    """
    engines = list(dict.fromkeys(column.engine for column in answer.columns))
    if engines in ([], [""]):
        yield title, answer, list(shown)
        return
    for engine in engines:
        kept = [index for index, column in enumerate(answer.columns) if column.engine == engine]
        part = bootstrappb.ExplainResponse(columns=[answer.columns[index] for index in kept])
        for row in answer.rows:
            part.rows.add(origin=row.origin, feature=row.feature, cells=[row.cells[index] for index in kept])
        part.diagnostics.extend(answer.diagnostics)
        indices = [place for place, index in enumerate(kept) if index in set(shown)]
        if indices:
            yield f"{title}, engine {engine}" if engine else f"{title}, {NO_ENGINE}", part, indices


def _place(columns: Sequence[bootstrappb.ExplainColumn], engine: str) -> int:
    return next(index for index, column in enumerate(columns) if column.engine == engine)


def _word(columns: Sequence[bootstrappb.ExplainColumn]) -> str:
    rendered = sum(column.renderable for column in columns)
    if not columns:
        return "-"
    if rendered in (0, len(columns)):
        return "rendered" if rendered else "refused"
    return f"rendered by {rendered} of {len(columns)}"
