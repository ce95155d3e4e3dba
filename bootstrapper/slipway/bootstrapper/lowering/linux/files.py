"""Files, directories and links that a provisioner does not take are installed by the runner."""

from collections.abc import Iterator, Sequence
from functools import partial

from slipway.bootstrapper.lowering.draft import CannotLower, Draft, derived
from slipway.bootstrapper.lowering.emission import each
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import refuse_read_only
from slipway.bootstrapper.lowering.texts import has_template, refuse_control_characters
from slipway.contract.grammars import is_windows_path
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

FILES, DIRECTORIES, LINKS = "linux.files", "linux.directories", "linux.links"


def lower_files(items: Sequence[Item], draft: Draft) -> None:
    """Stage files: appended, remote, with machine facts, or of an owner who is not there before."""
    each(draft, items, partial(_stage_file, draft))


def lower_directories(items: Sequence[Item], draft: Draft) -> None:
    """Stage directories."""
    each(draft, items, lambda item: _stage(item, draft, DIRECTORIES))


def lower_links(items: Sequence[Item], draft: Draft) -> None:
    """Stage symbolic and hard links; a link to a folder stands before what is installed below it."""
    folders = {folder for staged in draft.staged for folder in _folders(staged.entry.path)}

    def lower(item: Item) -> None:
        refuse_control_characters(item, item.message.target)
        folder = not item.message.hard and item.message.path in folders
        _stage(item, draft, LINKS, rank=Rank.DIRECTORIES if folder else Rank.FILES)
        folders.update(_folders(item.message.path))

    each(draft, items, lower)


def _folders(path: str) -> Iterator[str]:
    """Give the folders that a path lies in."""
    return (path[:at] for at, sign in enumerate(path) if sign == "/")


def _stage_file(draft: Draft, item: Item) -> None:
    file: ospb.File = item.message
    if has_template([*file.content.segments, *file.remote.ca.segments]):
        raise CannotLower(
            item,
            "the content holds template text that only the program it was written for can render",
            remedy="use machine facts in its place",
            other_formats=True,
        )
    _stage(item, draft, FILES)


def _stage(item: Item, draft: Draft, by: str, *, rank: Rank = Rank.FILES) -> None:
    refuse_read_only(item, draft)
    if is_windows_path(item.message.path):
        raise CannotLower(item, "the path is one of Windows", remedy="write a path that starts with /")
    entry = type(item.message)()
    entry.CopyFrom(item.message)
    entry.origin.CopyFrom(derived(item.message, by))
    draft.stage(entry, rank=rank)
