"""Mutants of what a provisioner says of itself."""

import itertools
import time
from collections.abc import Callable, Iterator
from typing import Any

from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tests.services.conformance.bent import Bent
from tests.services.conformance.mutants.bending import said, setting, setting_first
from tests.services.conformance.mutants.mutant import Info, Mutant


def mutants() -> Iterator[Mutant]:
    """Give them."""
    numbers = itertools.count()
    yield Mutant("a name with capitals", ("INF-001.name",), said(setting(name="Cloud_Init")))
    yield Mutant("a name that is too long", ("INF-001.name",), said(setting(name="a" * 64)))
    yield Mutant("a version with a v", ("INF-002.version",), said(setting(implementation_version="v1.0")), ("RND",))
    yield Mutant("no word on the contract", ("INF-003.contract",), said(setting(contract_version="")))
    yield Mutant("features not advertised", ("INF-004.advertised",), said(setting(features_advertised=False)))
    yield Mutant(
        "no formats", ("INF-005.formats", "FEA-001.core-profile"), said(lambda info: info.ClearField("formats"))
    )
    yield Mutant(
        "a format twice", ("INF-005.formats",), said(lambda info: info.formats.append(info.formats[0])), ("ERR",)
    )
    yield Mutant(
        "a format with capitals", ("INF-006.format-id",), said(setting_first(format="Cloud Config")),
        ("FEA", "RND", "ERR", "LIM", "SEC", "EXE", "VER"), why="it does not serve the format that it says",
    )  # fmt: skip
    yield Mutant(
        "neither plan nor intent", ("INF-007.kubernetes-input",), said(setting_first(kubernetes_input=0)), ("EXE",)
    )
    yield Mutant(
        "no family", ("INF-008.os-families",), said(lambda info: info.formats[0].ClearField("os_families")), ("RND",)
    )
    yield Mutant(
        "an unspecified family", ("INF-008.os-families",), said(lambda info: info.formats[0].os_families.append(0))
    )
    yield Mutant(
        "a malformed feature", ("INF-009.feature-ids",), said(lambda info: info.formats[0].features.add(id="Os Files"))
    )
    yield Mutant(
        "a feature twice", ("INF-009.feature-ids",), said(lambda info: info.formats[0].features.add(id="os.files"))
    )
    yield Mutant(
        "a feature that is misspelt", ("INF-010.known-features",),
        said(lambda info: info.formats[0].features.add(id="os.flies")),
    )  # fmt: skip
    yield Mutant(
        "another answer every time", ("INF-011.always-equal",),
        Bent(info=lambda info, _: setting(documentation_url=f"https://example.com/{next(numbers)}")(info) and None),
    )  # fmt: skip
    yield Mutant(
        "an answer for each caller", ("INF-011.whoever-asks",),
        Bent(info=lambda info, caller: setting(documentation_url=caller)(info) and None),
    )  # fmt: skip
    yield Mutant("an OS profile without versions", ("INF-017.os-profiles",), said(_with_profile(versions=[])))
    yield Mutant("an OS profile of another family", ("INF-017.os-profiles",), said(_with_profile(os_family=2)))
    yield Mutant(
        "an OS profile whose default is missing", ("INF-017.os-profiles",), said(_with_profile(default_version="7"))
    )
    yield Mutant(
        "a path of an OS profile that is relative", ("INF-017.os-profiles",), said(_with_profile(folder="etc"))
    )
    yield Mutant("too much to say", ("INF-012.size",), said(setting(documentation_url="x" * 70_000)))
    yield Mutant(
        "a default target of another family", ("INF-013.default-target",),
        said(lambda info: _set_family(info, clusterpb.OS_FAMILY_WINDOWS)),
        ("FEA", "RND", "LIM", "SEC", "EXE", "ERR", "VER"), why="every request is for a target that it refuses",
    )  # fmt: skip
    for name, value in (("media_type", "text"), ("file_extension", ".yaml"), ("secret_format", "Cloud Config")):
        yield Mutant(f"a malformed {name}", ("INF-014.words",), said(setting_first(**{name: value})), ("RND",))
    yield Mutant(
        "a secret of somebody else", ("INF-015.declared-secrets",),
        said(lambda info: info.formats[0].secrets.add(
            name="slipway.dev/cluster-ca", kind=secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY, full_roles=["ROLE_INIT"])),
    )  # fmt: skip
    yield Mutant(
        "a secret without kind and roles", ("INF-015.declared-secrets",),
        said(lambda info: info.formats[0].secrets.add(name="cloud-init.slipway.dev/x")),
    )  # fmt: skip
    yield Mutant("an answer that takes long", ("INF-016.in-time",), _slow_once())


def _slow_once() -> Bent:
    """Take long for the second answer only, so that nobody has to wait for others."""
    count = itertools.count()
    return said(lambda _: time.sleep(2.1) if next(count) == 1 else None)


def _set_family(info: Info, family: Any) -> None:
    info.formats[0].default_target.os_family = family


def _with_profile(
    *,
    folder: str = "/etc/systemd/system",
    default_version: str = "1",
    os_family: int = 1,
    versions: list[str] | None = None,
) -> Callable[[Info], None]:
    """Add an OS profile that may be wrong."""

    def change(info: Info) -> None:
        profile = info.formats[0].os_profiles.add(distribution="harbouros", default_version=default_version)
        profile.os_family = os_family  # type: ignore[assignment]
        for version in ["1"] if versions is None else versions:
            profile.versions.add(version=version, systemd_directory=folder)

    return change
