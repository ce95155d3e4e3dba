"""Repositories of packages, in the files of the distribution's own package manager."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import put_file
from slipway.bootstrapper.os_profiles.profile import PackageManager
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

_APT_KEYS, _RPM_KEYS = "/etc/apt/keyrings", "/etc/pki/rpm-gpg"
_FOLDERS = {
    PackageManager.APT: "/etc/apt/sources.list.d",
    PackageManager.DNF: "/etc/yum.repos.d",
    PackageManager.YUM: "/etc/yum.repos.d",
    PackageManager.TDNF: "/etc/yum.repos.d",
    PackageManager.ZYPPER: "/etc/zypp/repos.d",
}


def put_repositories(item: Item, draft: Draft, manager: PackageManager, *, by: str) -> Iterator[Sequence[str]]:
    """Write the files of every repository, and give the commands that have to run before the indexes are refreshed.

    Sources: sources.list(5), yum.conf(5), libzypp's zypp.conf and its handling of gpgkey.

    Raises:
        CannotLower: the manager has no such repositories, or one is not possible as it is written.
    """
    for number, repository in enumerate(item.message.repositories):
        field = f"repositories[{number}]"
        _check(item, repository, manager, field)
        name = f"slipway-{repository.name}"
        if manager is PackageManager.APT:
            key = f"{_APT_KEYS}/{name}.asc"
            put_file(draft, item, f"{_FOLDERS[manager]}/{name}.sources", _deb822(repository, key), by=by)
        else:
            key = f"{_RPM_KEYS}/{name}.asc"
            put_file(draft, item, f"{_FOLDERS[manager]}/{name}.repo", _repo(repository, name, key), by=by)
        put_file(draft, item, key, repository.key, by=by)
        if manager is PackageManager.ZYPPER:
            # It asks whether it may trust a key, unless rpm does already.
            yield ("rpm", "--import", key)


def _check(item: Item, repository: ospb.PackageRepository, manager: PackageManager, field: str) -> None:
    if manager not in _FOLDERS:
        raise CannotLower(
            item,
            "a repository of apk has a key of another kind, whose file name is a part of each signature",
            remedy="put its key below /etc/apk/keys and its line into /etc/apk/repositories by os.files",
            fields=["repositories"],
        )
    if manager is not PackageManager.APT and (repository.suites or repository.components):
        raise CannotLower(
            item,
            f"a repository of {manager} has neither suites nor components",
            remedy="leave them out, and write the address of the folder that repodata is in",
            fields=[f"{field}.{name}" for name in ("suites", "components") if getattr(repository, name)],
        )
    if bool(repository.suites) != bool(repository.components):
        lacking, there = ("components", "suites") if repository.suites else ("suites", "components")
        raise CannotLower(
            item, f"a repository has {there} and no {lacking}", remedy=f"add {lacking}", fields=[f"{field}.{there}"]
        )


def _deb822(repository: ospb.PackageRepository, key: str) -> bytes:
    lines = ["Types: deb", f"URIs: {repository.url}", f"Suites: {' '.join(repository.suites) or '/'}"]
    if repository.components:
        lines.append(f"Components: {' '.join(repository.components)}")
    return _text([*lines, f"Signed-By: {key}"])


def _repo(repository: ospb.PackageRepository, name: str, key: str) -> bytes:
    """Give the section of a repository. Many do not sign their index, which then has to come by https."""
    signed_index = int(urlsplit(repository.url).scheme == "http")
    return _text(
        [
            f"[{name}]",
            f"name={name}",
            f"baseurl={repository.url}",
            "enabled=1",
            "autorefresh=1",
            "gpgcheck=1",
            f"repo_gpgcheck={signed_index}",
            f"gpgkey=file://{key}",
        ]
    )


def _text(lines: Sequence[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()
