"""What a pass needs of an OS profile, or the refusal for a distribution of which nobody has looked it up."""

from typing import TypeVar

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.os_profiles import OsProfile
from slipway.contract.items import Item

Part = TypeVar("Part")


def needed(part: Part | None, item: Item) -> Part:
    """Give a part of the profile.

    Raises:
        CannotLower: the profile has no entry for it.
    """
    if not part:
        raise CannotLower(
            item,
            f"the OS profile of target.distribution has no entry for {item.feature}",
            remedy="add one to the directory of OS profiles",
            alternative=", or choose a first-boot system that takes it natively",
        )
    return part


def needed_program(name: str, item: Item, profile: OsProfile) -> str:
    """Give the name of a program that makes or changes users and groups.

    Raises:
        CannotLower: the distribution does not have it.
    """
    if name not in needed(profile.accounts, item).programs:
        raise CannotLower(
            item,
            f"the distribution has no {name}",
            remedy="choose a first-boot system that takes it natively, or put it into image and OS profile",
        )
    return name


def refuse_read_only(item: Item, draft: Draft) -> None:
    """Let an item pass whose path can be written, and one of an imported config without a profile: as today.

    Raises:
        CannotLower: it lies below a /usr that is read-only.
    """
    path: str = item.message.path
    if not path.startswith("/usr/") or draft.is_imported_without_profile:
        return
    profile = draft.profile
    if profile.read_only_usr and not any(path.startswith(f"{folder}/") for folder in profile.writable):
        raise CannotLower(
            item,
            "the distribution has /usr read-only",
            remedy="choose a path below /etc, /opt or /var",
        )
