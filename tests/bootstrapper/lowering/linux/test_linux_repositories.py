"""Repositories of packages: what each manager is given, and that the real apt, dnf and zypper install from them.

The repositories beside this file were made with dpkg-deb, rpmbuild, createrepo_c and GnuPG; `key.asc` of each signed
it, and `other-key.asc` signed none.
"""

import configparser
from collections.abc import Callable
from pathlib import Path

import pytest

from slipway.bootstrapper.lowering.finish import finish
from slipway.contract.content import SecretIndex, content_bytes, literal
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.lowered_systems import SUPPORTS, LowerSystem
from tools.oracles import network, roots, sandbox
from tools.oracles.sandbox import Command, File

REPOSITORY = Path(__file__).with_name("apt_repository")
KEY, OTHER = (literal((REPOSITORY / name).read_bytes()) for name in ("key.asc", "other-key.asc"))
RPM_REPOSITORY = REPOSITORY.with_name("rpm_repository")
RPM_KEY = literal((RPM_REPOSITORY / "key.asc").read_bytes())
URL = "http://127.0.0.1:8080/flat/"


def system(**changes: object) -> ospb.OperatingSystem:
    """Give a system that installs a package of a repository."""
    fields = {"name": "hello", "url": URL, "key": KEY, **changes}
    packages = ospb.Packages(
        install=[ospb.Package(name="hello-slipway")],
        repositories=[ospb.PackageRepository(**fields)],  # type: ignore[arg-type]
    )
    return ospb.OperatingSystem(packages=packages)


def test_apt_trusts_a_key_for_its_repository_alone(lower: LowerSystem) -> None:
    """A flat repository, and one with suites, in the form of sources.list(5)."""
    done = lower(system())
    assert done.text("/etc/apt/keyrings/slipway-hello.asc").encode() == content_bytes(KEY, SecretIndex([]))
    signed = "Signed-By: /etc/apt/keyrings/slipway-hello.asc\n"
    path = "/etc/apt/sources.list.d/slipway-hello.sources"
    assert done.text(path) == f"Types: deb\nURIs: {URL}\nSuites: /\n{signed}"
    done = lower(system(suites=["stable", "testing"], components=["main"]))
    assert done.text(path) == f"Types: deb\nURIs: {URL}\nSuites: stable testing\nComponents: main\n{signed}"


FILES = [
    ("rocky", "/etc/yum.repos.d/slipway-hello.repo"),
    ("amzn", "/etc/yum.repos.d/slipway-hello.repo"),
    ("photon", "/etc/yum.repos.d/slipway-hello.repo"),
    ("sles", "/etc/zypp/repos.d/slipway-hello.repo"),
]


@pytest.mark.parametrize(("distribution", "path"), FILES)
@pytest.mark.parametrize(("url", "index"), [(URL, "1"), ("https://pkgs.example.com/rpm/", "0")])
def test_packages_of_rpm_are_verified(lower: LowerSystem, distribution: str, path: str, url: str, index: str) -> None:
    """Each package is; an index that comes by plain http is, too, since it could be an old one."""
    done = lower(system(url=url), distribution=distribution)
    section = configparser.ConfigParser(interpolation=None)
    section.read_string(done.text(path))
    repository = dict(section["slipway-hello"])
    key = repository["gpgkey"].removeprefix("file://")
    assert done.text(key).encode() == content_bytes(KEY, SecretIndex([]))
    assert (repository["baseurl"], repository["gpgcheck"], repository["repo_gpgcheck"]) == (url, "1", index)
    lines = done.scripts["20-packages"].splitlines()
    assert (f"rpm --import {key}" in lines) == (distribution == "sles")


REFUSED = [
    ("alpine", {}, "key of another kind", "apk has its own"),
    ("debian", {"suites": ["stable"]}, "suites and no components", "half of apt's two"),
    ("debian", {"components": ["main"]}, "components and no suites", "the other half"),
    ("rhel", {"suites": ["stable"], "components": ["main"]}, "neither suites nor components", "apt's words for dnf"),
]


@pytest.mark.parametrize(("distribution", "changes", "expected", "reason"), REFUSED)
def test_what_cannot_work_is_refused(
    lower: LowerSystem, distribution: str, changes: dict[str, object], expected: str, reason: str
) -> None:
    """With a reason and a remedy."""
    done = lower(system(**changes), distribution=distribution)
    ((feature, why),) = set(done.refusals)
    assert feature.startswith("os.packages"), reason
    assert expected in why


def test_an_index_that_is_not_refreshed_is_refused(lower: LowerSystem) -> None:
    """No package of the repository would be known."""
    wanted = system()
    wanted.packages.update = False
    assert [why for _, why in lower(wanted).refusals] == [
        "a package manager knows nothing of a repository before its index is refreshed"
    ]


@pytest.fixture(params=["trixie", "bookworm"])
def run(request: pytest.FixtureRequest, lower: LowerSystem, engine: Callable[..., None]) -> Callable[..., str]:
    """What runs a system on a new Debian that reaches the repository, and gives what it installed."""
    engine(f"root-{request.param}")
    answers = {f"/flat/{path.name}": network.Answer(path.read_bytes()) for path in REPOSITORY.iterdir()}
    site = network.Site("127.0.0.1", 8080, answers)

    def run_system(wanted: ospb.OperatingSystem) -> str:
        done = lower(wanted)
        finish(done.draft, SUPPORTS)
        # The distribution's own sources cannot be reached here.
        files = {"/etc/apt/sources.list": File(b""), "/etc/apt/sources.list.d/debian.sources": File(b"")}
        for file in done.draft.bundle.os.files:
            files[file.path] = File(content_bytes(file.content, SecretIndex([])), file.mode)
        commands = [("/bin/sh", "/var/lib/slipway/run"), ("cat", "/usr/share/hello-slipway/text")]
        with sandbox.opened(roots.ROOTS[request.param].require(), sites=[site]) as box:
            _, shown = box.session([Command(argv) for argv in commands], files=files, reboot=False)
        return shown.output.decode() if shown.status == 0 else ""

    return run_system


@pytest.mark.engine
def test_the_real_apt_installs_what_the_key_has_signed(run: Callable[..., str]) -> None:
    """And nothing where another key is given."""
    assert run(system(key=OTHER)) == ""
    assert run(system()) == "hi\n"


@pytest.fixture(params=["rocky", "sles"])
def run_rpm(request: pytest.FixtureRequest, lower: LowerSystem, engine: Callable[..., None]) -> Callable[..., str]:
    """What runs a system of an RPM distribution where its package manager is, and gives what that installed."""
    engine("root-rpm")
    paths = [path for path in RPM_REPOSITORY.rglob("*") if path.is_file()]
    answers = {f"/flat/{path.relative_to(RPM_REPOSITORY)}": network.Answer(path.read_bytes()) for path in paths}
    site = network.Site("127.0.0.1", 8080, answers)

    def run_system(wanted: ospb.OperatingSystem) -> str:
        done = lower(wanted, distribution=request.param)
        finish(done.draft, SUPPORTS)
        files = {
            file.path: File(content_bytes(file.content, SecretIndex([])), file.mode)
            for file in done.draft.bundle.os.files
        }
        # Debian keeps a database of RPM for each user; elsewhere it is the system's.
        files["/etc/rpm/macros"] = File(b"%_dbpath /var/lib/rpm\n")
        commands = [("/bin/sh", "/var/lib/slipway/run"), ("cat", "/usr/share/hello-slipway/text")]
        with sandbox.opened(roots.ROOTS["rpm"].require(), sites=[site]) as box:
            _, shown = box.session([Command(argv) for argv in commands], files=files, reboot=False)
        return shown.output.decode() if shown.status == 0 else ""

    return run_system


@pytest.mark.engine
def test_the_real_dnf_and_zypper_install_what_the_key_has_signed(run_rpm: Callable[..., str]) -> None:
    """And nothing where another key is given: neither the index nor a package of it counts."""
    assert run_rpm(system(key=OTHER)) == ""
    assert run_rpm(system(key=RPM_KEY)) == "hi\n"
