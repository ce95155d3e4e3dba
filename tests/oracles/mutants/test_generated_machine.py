"""Defects of what a generated machine asks the network: each of them leaves other files than the servers hold.

Only the runner runs, with real clients and real servers, so that a defect costs a second and not a boot.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from slipway.bootstrapper.lowering.runners.wave import Wave
from slipway.contract.content import SecretIndex, content_bytes
from slipway.v1alpha1 import os_pb2 as ospb
from tests.bootstrapper.lowering.runners.plans import lowered
from tests.oracles import generated_network
from tests.oracles.test_generated import DOWNLOADED, FACTS, ROOT
from tools.oracles import roots, sandbox
from tools.oracles.sandbox import Command, File

pytestmark = [pytest.mark.engine, pytest.mark.timeout(120)]

_TRUST = "/etc/ssl/certs/ca-certificates.crt"
_LIMIT = 60.0


@dataclass(frozen=True)
class Defect:
    """A change of a program of the runner's; ``number`` is that of the download which shows it."""

    reason: str
    old: str
    new: str
    number: int
    path: str = DOWNLOADED

    def __str__(self) -> str:
        return self.reason


DEFECTS = (
    Defect("a URL is a pattern", "-gfsSL", "-fsSL", 0),
    Defect("no redirect is followed", "-gfsSL", "-gfsS", 1),
    Defect("what has no hash has none that is right", '[ "$h" = - ] || ', "", 2),
    Defect("HTTPS may lead to HTTP", '"=${x}https"', '"=http,https"', 3),
    Defect("a hash is not compared", '[ "$("$a" <got.new)" = "$h  -" ]', "true", 4),
    Defect("no other URL is tried", "[ -e got ] ||", "[ -e got.new ] ||", 4),
    Defect("a region is a continent", "${v%-*}", "${v%%-*}", 0, FACTS),
    Defect("a fact has its line break", 'printf %s "$x"', 'printf "%s\\n" "$x"', 0, FACTS),
)


def wrong(number: int, old: str = "", new: str = "") -> set[str]:
    """The files that are not as they should be, of one download and all facts."""
    remote = ospb.File(path=DOWNLOADED, owner="root", group="root", mode=0o600)
    remote.remote.CopyFrom(generated_network.REMOTES[number])
    wave = Wave(id="files", files=(remote, generated_network.file_of_facts(FACTS)))
    made = lowered([wave], infrastructure=generated_network.INFRASTRUCTURE)
    texts = {one.path: content_bytes(one.content, SecretIndex([])) for one in made.files}
    changed = {path: text.replace(old.encode(), new.encode()) for path, text in texts.items()}
    assert (changed != texts) == bool(old)
    given = {path: File(text) for path, text in changed.items()} | {_TRUST: File(generated_network.certificate())}
    with sandbox.opened(roots.ROOTS[ROOT].require(), sites=generated_network.sites()) as box:
        box.session([Command(tuple(made.entrypoint.argv), timeout=_LIMIT)], files=given)
        return {path for path, content in expected().items() if content_of(box, path) != content}


def expected() -> dict[str, bytes]:
    """What the servers say."""
    return {DOWNLOADED: generated_network.CONTENT, FACTS: generated_network.facts_in_a_file()}


def content_of(box: sandbox.Sandbox, path: str) -> bytes | None:
    """What a file of the machine holds."""
    held = box.upper / path.lstrip("/")
    return held.read_bytes() if held.exists() else None


@pytest.mark.parametrize("number", range(len(generated_network.REMOTES)))
def test_a_sound_runner_has_no_defect(number: int, engine: Callable[..., None]) -> None:
    """Without it the others would prove nothing."""
    engine(f"root-{ROOT}")
    assert wrong(number) == set()


@pytest.mark.parametrize("defect", DEFECTS, ids=str)
def test_a_file_shows_a_defect(defect: Defect, engine: Callable[..., None]) -> None:
    """It is not what the servers hold."""
    engine(f"root-{ROOT}")
    assert defect.path in wrong(defect.number, defect.old, defect.new)
