"""A scanner of other people finds nothing worse on a machine that meets a benchmark than on one without."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.node import documents
from tests.node.harbour import SECONDS
from tests.node.rendering import Rendering
from tools.node import site
from tools.node.flavours import FLAVOURS
from tools.node.machine import Machine
from tools.oracles import openscap

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1800)]

FLAVOUR = FLAVOURS["1.30"]
"""On Debian 12, for which the scanner has profiles."""
CIS = "cis-kubernetes-1.10"
WAIVERS = [{"control": f"{CIS}/1.2.11", "reason": "the images of these machines are preloaded"}]
BETTER = {"pass", "fixed"}

Results = dict[str, dict[str, str]]
"""The result of each rule, by profile of the scanner."""


def _scanned(name: str, compliance: dict[str, object], *, spoil: tuple[str, ...] = ()) -> tuple[Results, Results]:
    """What the scanner says of a control plane, and what it says once a command has run on it."""
    options = {"kubeadm": {"ignoredPreflightErrors": ["HTTPProxyCIDR"]}}  # See tests.node.examples.PROXY.
    config = documents.config(name, engineOptions=options, **compliance)
    cluster = documents.cluster({"cp": ("Init", name)}, name=name, version=FLAVOUR.version)
    with site.opened() as opened:
        machine = opened.machine("cp", flavour=FLAVOUR.name)
        machine.boot(Rendering(documents.text(cluster, config)).user_data("cp"))
        machine.wait_sentinel(timeout=SECONDS)
        before = _judged(machine)
        if spoil:
            assert machine.run(spoil).status == 0
        return before, _judged(machine) if spoil else {}


def _judged(machine: Machine) -> Results:
    return {profile: openscap.scan(Path(f"/proc/{machine.leader()}/root"), profile) for profile in openscap.PROFILES}


def test_a_benchmark_makes_no_machine_worse(engine: Callable[..., None]) -> None:
    """No rule fails that passes on a control plane without the profile; and the scanner sees what is worse."""
    engine("node-1.30", "root-openscap")
    plain, spoiled = _scanned("plain", {}, spoil=("chmod", "666", "/etc/passwd"))
    profiles = {"profiles": [f"{CIS}/level-1"], "waivers": WAIVERS}
    hardened, _ = _scanned("hardened", {"compliance": profiles})
    assert _worse(plain, spoiled) == {profile: ["file_permissions_etc_passwd"] for profile in openscap.PROFILES}
    assert _worse(plain, hardened) == {}


def _worse(before: Results, after: Results) -> dict[str, list[str]]:
    """The rules that passed before and do not any more, by profile."""
    worse = {
        profile: [rule for rule, result in rules.items() if result in BETTER and after[profile].get(rule) not in BETTER]
        for profile, rules in before.items()
    }
    return {profile: rules for profile, rules in worse.items() if rules}
