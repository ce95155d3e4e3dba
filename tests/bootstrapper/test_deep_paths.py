"""Paths of many parts: what is done for each folder above a path costs no more than a small multiple of the spec."""

import asyncio
import tracemalloc

import pytest

from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.contract.errors import SpecInvalid
from slipway.contract.grammars import MOST_PATH_PARTS
from slipway.embedded.bootstrapper import embedded_bootstrapper
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from tests.bootstrapper.test_callers import subject

pytestmark = pytest.mark.long

MIB = 2**20


def request(provisioner: str, kind: str, *, parts: int) -> bootstrappb.GetUserDataRequest:
    """Ask for as many entries of a kind as a spec may have, each with folders of its own."""
    machine = subject("a")
    machine.spec.provisioner.name = provisioner
    for number in range(512 if kind == "files" else 256):
        path = "/opt/" + "/".join(f"d{number}x{part:05d}" for part in range(parts - 1))
        entry = getattr(machine.spec.os, kind).add(path=path)
        if kind == "files":
            entry.content.text = "x"
        elif kind == "links":
            entry.target = "/x" + "/y" * (parts - 1)
    return bootstrappb.GetUserDataRequest(subject=machine, accept_attachments=True)


@pytest.mark.parametrize("kind", ["files", "links", "directories"])
@pytest.mark.parametrize("provisioner", ["cloud-init", "ignition"])
def test_the_deepest_paths_cost_little(provisioner: str, kind: str) -> None:
    """Bootstrapper and provisioner together: some 30 MiB for the largest spec of a tenant, not hundreds."""
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    deep = request(provisioner, kind, parts=MOST_PATH_PARTS)
    tracemalloc.start()
    try:
        assert asyncio.run(bootstrapper.user_data(deep)).user_data
        assert tracemalloc.get_traced_memory()[1] < 64 * MIB
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", ["files", "links", "directories"])
def test_deeper_paths_are_refused(kind: str) -> None:
    """By their field, before anything is made of them."""
    bootstrapper = embedded_bootstrapper(store=PlaceholderStore())
    with pytest.raises(SpecInvalid) as caught:
        asyncio.run(bootstrapper.user_data(request("cloud-init", kind, parts=MOST_PATH_PARTS + 1)))
    assert caught.value.violations[0].path == f"spec.os.{kind}[0].path"
