"""Files, directories and links that a provisioner does not take are installed by the runner."""

from collections.abc import Sequence
from functools import partial

from slipway.bootstrapper.lowering.draft import CannotLower, Draft, derived
from slipway.bootstrapper.lowering.emission import each
from slipway.bootstrapper.lowering.texts import has_template, refuse_control_characters
from slipway.contract.grammars import is_windows_path
from slipway.contract.items import Item

FILES, DIRECTORIES, LINKS = "windows.files", "windows.directories", "windows.links"


def lower_files(items: Sequence[Item], draft: Draft) -> None:
    """Stage files: appended, remote, with machine facts, or of an owner who is not there before."""
    each(draft, items, partial(_stage_file, draft))


def lower_directories(items: Sequence[Item], draft: Draft) -> None:
    """Stage directories."""
    each(draft, items, lambda item: _stage(item, draft, DIRECTORIES))


def lower_links(items: Sequence[Item], draft: Draft) -> None:
    """Stage symbolic and hard links; Windows keeps no owner for a link."""

    def lower(item: Item) -> None:
        refuse_control_characters(item, item.message.target)
        _stage(item, draft, LINKS)

    each(draft, items, lower)


def _stage_file(draft: Draft, item: Item) -> None:
    if item.message.remote.HasField("ca"):
        raise CannotLower(
            item,
            "Windows trusts an authority for the whole system or not at all",
            remedy="add the authorities to os.trustedCertificates, and leave ca out",
            fields=["remote.ca"],
            field="remote.ca",
        )
    if has_template(item.message.content.segments):
        raise CannotLower(
            item,
            "the content holds template text that only the program it was written for can render",
            remedy="use machine facts in its place",
        )
    _stage(item, draft, FILES)


def _stage(item: Item, draft: Draft, by: str) -> None:
    if not is_windows_path(item.message.path):
        raise CannotLower(
            item, "the path is one of Linux", remedy="write a path that starts with a drive, such as C:\\"
        )
    entry = type(item.message)()
    entry.CopyFrom(item.message)
    entry.origin.CopyFrom(derived(item.message, by))
    draft.stage(entry)
