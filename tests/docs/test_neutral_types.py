"""Every field of the neutral types stands in the page that names two systems for it."""

import re
from pathlib import Path

import pytest
from google.protobuf.descriptor import Descriptor, FileDescriptor

from slipway.v1alpha1 import content_pb2, kubernetes_pb2, os_pb2, plan_pb2

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "neutral-types.md"
FILES: tuple[FileDescriptor, ...] = (
    os_pb2.DESCRIPTOR,
    content_pb2.DESCRIPTOR,
    plan_pb2.DESCRIPTOR,
    kubernetes_pb2.DESCRIPTOR,
)
NO_SECOND = "none"
TO_DO = (
    "docs/explanation/neutral-types.md: add a row below '### {message}' for `{field}` that names two unlike systems"
    " which implement it; if there is only one, put the field into engine_options or an extension"
)


def rows() -> dict[str, tuple[str, str]]:
    """Give the two systems of each row, by message and field."""
    found: dict[str, tuple[str, str]] = {}
    message = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("### "):
            message = line.removeprefix("### ")
        matched = re.fullmatch(r"\| `(?P<field>\w+)` \| (?P<first>.+?) \| (?P<second>.+?) \|", line)
        if matched:
            found[f"{message}.{matched['field']}"] = (matched["first"], matched["second"])
    return found


def fields(file: FileDescriptor) -> list[str]:
    """Give the fields of a file as "Message.field", without those that only say where an item was written."""
    messages: list[Descriptor] = list(file.message_types_by_name.values())
    return [
        f"{message.name}.{field.name}" for message in messages for field in message.fields if field.name != "origin"
    ]


@pytest.mark.parametrize("file", FILES, ids=[file.name for file in FILES])
def test_every_field_has_a_row(file: FileDescriptor) -> None:
    """The page names two systems for each field, in the order of the proto file's messages."""
    missing = [name for name in fields(file) if name not in rows()]
    assert not missing, "\n".join(
        TO_DO.format(message=name.partition(".")[0], field=name.partition(".")[2]) for name in missing
    )


def test_no_row_is_of_a_field_that_is_gone() -> None:
    """A field that was moved or renamed leaves no row behind."""
    assert sorted(set(rows()) - {name for file in FILES for name in fields(file)}) == []


def test_two_systems_are_named_and_unlike() -> None:
    """Both columns are filled, by different words."""
    for name, (first, second) in rows().items():
        assert NO_SECOND not in {first.split()[0], second.split()[0]}, name
        assert first != second, name
