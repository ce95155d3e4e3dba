"""Machines that several tests look at, each booted once.

SLIPWAY_TEMPLATES names a folder of Cluster API manifests, whose machines are then compared as those of the examples:

    SLIPWAY_TEMPLATES=~/clusters .venv/bin/python -m pytest tests/oracles/test_same_as_today.py
"""

import dataclasses
import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from pathlib import Path
from typing import Any

import pytest

from slipway.bootstrapper.documents.machines import native_questions
from slipway.bootstrapper.documents.native import NativeCluster, NativeConfig, read_native
from slipway.contract.yaml_source import load_documents
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.oracles import configs, ours, today
from tests.oracles.machines import boot_cloud_init, boot_ignition
from tools.oracles.machine_state import MachineState

TEMPLATES = os.environ.get("SLIPWAY_TEMPLATES", "")
GIVEN = {
    f"given-{file.parent.name}-{file.stem}-{of_manifest}": of_manifest
    for file in (sorted(Path(TEMPLATES).rglob("*.yaml")) if TEMPLATES else ())
    for of_manifest in configs.of_manifests({str(file): file.read_text(encoding="utf-8")})
}
IMPORTED = {
    **{
        str(one): one
        for one in (*configs.corpus(), *configs.example("cluster-aws.yaml"), *configs.example("cluster-flatcar.yaml"))
    },
    **GIVEN,
}
_DOCUMENTS = [
    read_native(one)
    for one in load_documents((configs.EXAMPLES / "native.yaml").read_text(encoding="utf-8"), file="native.yaml")
]
NATIVE = {
    one.name: one
    for one in native_questions(
        [document for document in _DOCUMENTS if isinstance(document, NativeConfig)],
        [document for document in _DOCUMENTS if isinstance(document, NativeCluster)],
    )
}


def of_machine(name: str) -> pytest.MarkDecorator:
    """What every test of a machine is marked with, so that one process has all of them and boots it once."""
    return pytest.mark.xdist_group(f"machine-{name}")


def in_groups(names: Iterable[str]) -> list[Any]:
    """Names of machines as parameters of a test."""
    return [pytest.param(name, id=name, marks=of_machine(name)) for name in names]


@cache
def today_and_ours(name: str, *, kubeadm: int = 0) -> tuple[MachineState, MachineState]:
    """The machines of an imported config, by today's renderer and by us; `kubeadm` is the status that it ends with."""
    config = IMPORTED[name]
    boot = _boot(config, kubeadm=kubeadm)
    theirs = today.user_data(config)
    documents = (today.executed_in_order(theirs) if config.ignition else theirs, _ours(config))
    with ThreadPoolExecutor(2) as pool:
        left, right = pool.map(boot, documents)
    return left, right


@cache
def with_events(name: str, *, kubeadm: int = 0) -> tuple[MachineState, MachineState]:
    """The machine of an imported config, from what we render without events and with them."""
    config = IMPORTED[name]
    subject = bootstrappb.Subject()
    subject.CopyFrom(config.question.subject)
    subject.spec.reporting.sinks.add().console.SetInParent()
    reporting = dataclasses.replace(config, question=dataclasses.replace(config.question, subject=subject))
    return _boot(config, kubeadm=kubeadm)(_ours(config)), _boot(config, kubeadm=kubeadm)(_ours(reporting))


def ours_changed(name: str, change: Callable[[bytes], bytes]) -> MachineState:
    """The machine of an imported config, from what we render when that is changed."""
    config = IMPORTED[name]
    return _boot(config, kubeadm=0)(change(_ours(config)))


def _ours(config: configs.Config) -> bytes:
    given = ("ignition", "ignition/2.3.0") if config.ignition else ("cloud-init",)
    return ours.render(config.question, *given).user_data


def _boot(config: configs.Config, *, kubeadm: int) -> Callable[[bytes], MachineState]:
    if config.ignition:
        return partial(boot_ignition, unit="kubeadm.service", kubeadm=kubeadm)
    return partial(boot_cloud_init, kubeadm=kubeadm)


@cache
def native(name: str, provisioner: str) -> MachineState:
    """A machine of the native example."""
    user_data = ours.render(NATIVE[name], provisioner).user_data
    if provisioner == "cloud-init":
        return boot_cloud_init(user_data)
    return boot_ignition(user_data, unit="slipway-bootstrap.service")
