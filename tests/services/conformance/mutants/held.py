"""Mutants whose machines hold other secrets than the bundle gives them: fewer, more, or in each other's place."""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import yaml

from tests.services.conformance.bent import Bent, Request, Response
from tests.services.conformance.mutants.bending import answered
from tests.services.conformance.mutants.control_plane import NewestTalos
from tests.services.conformance.mutants.mutant import Mutant

_CORE, _EXTENDED = ("RND-018.core-items",), ("RND-019.extended-items",)
_SECTIONS = {"cluster_ca": "ca", "front_proxy_ca": "aggregatorCA", "service_account": "serviceAccount"}


def mutants() -> Iterator[Mutant]:
    """Give them."""
    yield Mutant("no authority of the machine's own API", _CORE, _talos(_no_machine_ca))
    yield Mutant("a worker with a key of its machine's authority", _CORE, _talos(_key_of_its_own))
    yield Mutant("two tokens in each other's place", _CORE, _talos(_tokens_mixed_up))
    yield Mutant("no key of the machine's authority on control planes", _EXTENDED, _planes(_no_machine_key))
    yield Mutant("no key that encrypts etcd", _EXTENDED, _planes(_no_secretbox))
    yield Mutant("etcd trusts another authority", _EXTENDED, _planes(_other_etcd))
    for name, section in _SECTIONS.items():
        yield Mutant(f"a control plane without the key of {name}", _EXTENDED, _planes(_WithoutKey(section)))
    yield Mutant("a control plane without the key of etcd_ca", _EXTENDED, _planes(_no_etcd_key))


def _talos(change: Callable[[dict[str, Any]], object]) -> Bent:
    """Change the main document of each machine configuration."""

    def after(_request: Request, response: Response) -> None:
        if response.user_data:
            documents = list(yaml.safe_load_all(response.user_data))
            change(documents[0])
            response.user_data = yaml.safe_dump_all(documents, sort_keys=False).encode()

    return answered(after, provisioner=NewestTalos)


def _planes(change: Callable[[dict[str, Any]], object]) -> Bent:
    """Change the main document of control planes."""

    def plane(document: dict[str, Any]) -> None:
        if document["machine"]["type"] == "controlplane":
            change(document)

    return _talos(plane)


def _no_machine_ca(document: dict[str, Any]) -> None:
    del document["machine"]["ca"]


def _key_of_its_own(document: dict[str, Any]) -> None:
    if document["machine"]["type"] == "worker":
        document["machine"]["ca"]["key"] = base64.b64encode(b"a key").decode()


def _tokens_mixed_up(document: dict[str, Any]) -> None:
    machine, cluster = document["machine"], document["cluster"]
    machine["token"], cluster["token"] = cluster["token"], machine["token"]


def _no_machine_key(document: dict[str, Any]) -> None:
    del document["machine"]["ca"]["key"]


def _no_secretbox(document: dict[str, Any]) -> None:
    del document["cluster"]["secretboxEncryptionSecret"]


def _other_etcd(document: dict[str, Any]) -> None:
    document["cluster"]["etcd"]["ca"]["crt"] = document["cluster"]["ca"]["crt"]


def _no_etcd_key(document: dict[str, Any]) -> None:
    del document["cluster"]["etcd"]["ca"]["key"]


class _WithoutKey:
    """Takes a key out of a section of the cluster."""

    def __init__(self, section: str) -> None:
        self._section = section

    def __call__(self, document: dict[str, Any]) -> None:
        del document["cluster"][self._section]["key"]
