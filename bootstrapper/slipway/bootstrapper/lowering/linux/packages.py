"""Packages, by the distribution's own manager, without any question asked."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.linux.package_repositories import put_repositories
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.bootstrapper.os_profiles.profile import PackageManager
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

ID = "linux.packages"

_APT = (
    "env",
    "DEBIAN_FRONTEND=noninteractive",
    "apt-get",
    "-y",
    "-o",
    "DPkg::Lock::Timeout=600",
    "-o",
    "Dpkg::Options::=--force-confdef",
    "-o",
    "Dpkg::Options::=--force-confold",
)
_ZYPPER = ("zypper", "--non-interactive")


@dataclass(frozen=True, slots=True)
class _Manager:
    """The commands of a package manager. `pinned` writes a package with a version."""

    update: tuple[str, ...]
    upgrade: tuple[str, ...]
    install: tuple[str, ...]
    pinned: Callable[[str, str], str]


def _with_equals(name: str, version: str) -> str:
    return f"{name}={version}"


def _with_dash(name: str, version: str) -> str:
    return f"{name}-{version}"


def _dnf_like(program: str) -> _Manager:
    return _Manager((program, "-y", "makecache"), (program, "-y", "upgrade"), (program, "-y", "install"), _with_dash)


_MANAGERS: Mapping[PackageManager, _Manager] = {
    PackageManager.APT: _Manager(
        (*_APT, "update"), (*_APT, "dist-upgrade"), (*_APT, "install", "--no-install-recommends"), _with_equals
    ),
    PackageManager.DNF: _dnf_like("dnf"),
    PackageManager.YUM: _dnf_like("yum"),
    PackageManager.TDNF: _dnf_like("tdnf"),
    PackageManager.APK: _Manager(("apk", "update"), ("apk", "upgrade"), ("apk", "add"), _with_equals),
    PackageManager.ZYPPER: _Manager((*_ZYPPER, "refresh"), (*_ZYPPER, "update"), (*_ZYPPER, "install"), _with_equals),
}


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Add repositories; refresh the index, upgrade and install, as far as each is asked for, in one step."""
    (item,) = items
    if draft.profile.image_based:
        raise CannotLower(
            item,
            "the distribution is image based: packages cannot be installed on a machine",
            remedy="build an image that has them, or bring the programs as files",
        )
    name = needed(draft.profile.packages, item)
    manager = _MANAGERS[name]
    if any("/" in package.name for package in item.message.install):
        raise CannotLower(item, "a package is named by a path or an address", remedy="name packages by their names")
    if item.message.repositories and item.message.HasField("update") and not item.message.update:
        raise CannotLower(
            item,
            "a package manager knows nothing of a repository before its index is refreshed",
            remedy="leave update out, or set it to true",
            fields=["update"],
        )
    before = list(put_repositories(item, draft, name, by=ID))
    text = script([*before, *_calls(item.message, manager)])
    draft.step(Rank.PACKAGES, "packages", source=item.message, by=ID, script=text)


def install_calls(manager: PackageManager, names: Sequence[str]) -> list[Sequence[str]]:
    """Give the commands that refresh the index and install packages of another pass."""
    commands = _MANAGERS[manager]
    return [commands.update, [*commands.install, *names]]


def _calls(packages: ospb.Packages, manager: _Manager) -> Iterator[Sequence[str]]:
    update = (
        packages.update
        if packages.HasField("update")
        else bool(packages.install or packages.upgrade or packages.repositories)
    )
    if update:
        yield manager.update
    if packages.upgrade:
        yield manager.upgrade
    if packages.install:
        names = [
            manager.pinned(package.name, package.version) if package.version else package.name
            for package in packages.install
        ]
        yield [*manager.install, *names]
