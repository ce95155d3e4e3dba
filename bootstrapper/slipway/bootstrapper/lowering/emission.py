"""What passes may and may not put on the machine: never a second origin for one path."""

from collections.abc import Callable, Iterable
from typing import TypeVar

from slipway.bootstrapper.lowering.draft import PUBLIC, CannotLower, Draft, derived
from slipway.bootstrapper.lowering.order import Rank
from slipway.contract.items import Item
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb

T = TypeVar("T")


def put_file(  # noqa: PLR0913  # a file has that many properties
    draft: Draft, item: Item, path: str, content: bytes | contentpb.Content, *, by: str, mode: int = PUBLIC
) -> ospb.File:
    """Add a file of root's, which the provisioner itself puts there, and give it.

    Raises:
        CannotLower: the spec has a file of that path, too.
    """
    claim(draft, item, path)
    return draft.file(path, content, source=item.message, by=by, mode=mode)


def stage_text(  # noqa: PLR0913  # a file has that many properties
    draft: Draft, item: Item, path: str, content: contentpb.Content, *, by: str, rank: Rank
) -> None:
    """Have the runner install a public file of root's whose content may be known only on the machine.

    Raises:
        CannotLower: the spec has a file of that path, too.
    """
    claim(draft, item, path)
    file = ospb.File(path=path, content=content, owner="root", group="root", mode=PUBLIC)
    file.origin.CopyFrom(derived(item.message, by))
    draft.stage(file, rank=rank)


def free_path(draft: Draft, stem: str, suffix: str) -> str:
    """Give `stem` + `suffix`, with a number between them where an earlier run of a pass has taken that path."""
    path = stem + suffix
    while draft.has_path(path):
        path = f"{stem}-{draft.number_after(stem + suffix) + 1}{suffix}"
    return path


def each(draft: Draft, items: Iterable[Item], lower: Callable[[Item], T]) -> list[T]:
    """Lower items one by one, and name all that cannot be at once: else a pass would begin anew after each of them.

    It is for items that do not depend on each other. What `lower` has emitted for an item before it gives it up is
    taken back, so that no other item finds it in its way.

    Raises:
        CannotLower: for the first of them, with the others.
    """
    given_up: list[CannotLower] = []
    made = []
    for item in items:
        emitted = draft.emitted()
        try:
            made.append(lower(item))
        except CannotLower as cannot:
            draft.take_back(emitted)
            given_up += [cannot, *cannot.others]
    if given_up:
        given_up[0].others = given_up[1:]
        raise given_up[0]
    return made


def claim(draft: Draft, item: Item, path: str) -> None:
    """Insist that nothing else writes a file.

    Raises:
        CannotLower: the spec has a file of that path, too.
    """
    if draft.has_path(path):
        raise CannotLower(
            item,
            f"{item.feature} has to write a file that the spec also writes by itself",
            remedy="take the file out of os.files, or set what it says in that file",
        )
