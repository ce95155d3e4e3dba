"""A part of a spec that is said for every role and anew for one: what is wrong is told where it was written."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.services.cli.conftest import Slipway

MACHINE = """apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayCluster
metadata: {name: demo}
spec:
  cluster:
    kubernetesVersion: v1.34.2
    endpoint: {host: api.example.com}
  machines:
    - {name: demo-0, role: Init, config: one}
---
apiVersion: bootstrap.slipway.dev/v1alpha1
kind: SlipwayConfig
metadata: {name: one}
spec:
  provisioner: {name: PROVISIONER}
  kubernetes:
    BASE
  os:
    BASE_OS
  init:
    kubernetes:
      UPPER
    os:
      UPPER_OS
"""
BASE = "17:5: SlipwayConfig/one: spec.kubernetes."
NONE = "node: {labels: [{name: a, value: b}]}"
NO_OS = "sysctls: [{name: vm.swappiness, value: '1'}]"
UPPER = "22:7: SlipwayConfig/one: spec.init.kubernetes."


@dataclass(frozen=True)
class Case:
    """What stands in BASE, UPPER, BASE_OS and UPPER_OS, and where it is refused by whom."""

    reason: str
    provisioner: str
    parts: tuple[str, ...]
    told: list[str]


CASES = [
    Case(
        "each field where it stands, of one item that is refused twice",
        "talos",
        ("node: {criSocket: unix:///run/x.sock}", "node: {imagePullPolicy: Always}", NO_OS, NO_OS),
        [f"{BASE}node: kubernetes.node.cri_socket is", f"{UPPER}node: kubernetes.node.image_pull_policy is"],
    ),
    Case(
        "the later list counts, so that it is its own",
        "talos",
        (NONE, NONE, "ntp: {enabled: true, pools: [a.example.com]}", "ntp: {pools: [b.example.com]}"),
        ["24:7: SlipwayConfig/one: spec.init.os.ntp: os.ntp.pools is"],
    ),
    Case(
        "a field of the item that the role says nothing of",
        "talos",
        (NONE, NONE, "ntp: {pools: [a.example.com]}", "ntp: {enabled: true}"),
        ["19:5: SlipwayConfig/one: spec.os.ntp: os.ntp.pools is"],
    ),
    Case(
        "two parts that exclude each other only together",
        "cloud-init",
        (
            "etcd: {local: {dataDir: /var/lib/etcd}}",
            "etcd: {external: {endpoints: ['https://e.example:2379'], caFile: /a, certFile: /b, keyFile: /c}}",
            NO_OS,
            NO_OS,
        ),
        [f"{BASE}etcd: must have exactly one", f"{UPPER}etcd: must have exactly one"],
    ),
    Case(
        "a path that is nobody's, in the list of the role",
        "cloud-init",
        (
            NONE,
            NONE,
            "files: [{path: /a, content: {text: a}}]",
            "files: [{path: /etc/slipway/a, content: {text: a}}]",
        ),
        ["24:16: SlipwayConfig/one: spec.init.os.files[0].path: lies in"],
    ),
]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.reason)
def test_what_is_wrong_is_told_where_it_was_written(slipway: Slipway, write: Callable[..., Path], case: Case) -> None:
    """File, line, column and path are those of the part that said it: of both, where both did."""
    text = MACHINE.replace("PROVISIONER", case.provisioner)
    for name, part in zip(("BASE_OS", "UPPER_OS", "BASE", "UPPER"), (*case.parts[2:], *case.parts[:2]), strict=True):
        text = text.replace(name, part)
    file = write(text)
    lines = [line for line in slipway("render", "-f", file).stderr.splitlines() if line.startswith("refused: ")]
    places = [line.removeprefix(f"refused: {file}:") for line in lines]
    matching = [(one, line) for one in case.told for line in places if line.startswith(one)]
    assert [one for one, _ in matching] == case.told, places
    assert len(places) == len(case.told), places
