"""What of a kubelet's request is believed: only what the management cluster knows of its Machine."""

import base64
import random
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import rsa

from slipway.controller import serving_request
from slipway.controller.serving_request import Doubt, is_open
from slipway.controller.serving_request import doubt as doubt_of
from slipway.kubernetes_api.resources import Json
from tests.services.controller.serving_requests import (
    ADDRESSES,
    NODE,
    USAGES,
    machine_status,
    names,
    request_object,
    signing_request,
)

MACHINE: Json = {"metadata": {"name": "w", "namespace": "default"}, "status": machine_status(*ADDRESSES)}


def doubt(request: Json, *machines: Json) -> Doubt | None:
    """Judge a request by Machines; by default by that of the Node."""
    return doubt_of(request, machines or [MACHINE])


@pytest.mark.parametrize(
    "alternatives",
    [("w", "192.0.2.7"), ("192.0.2.7",), ("w",), ("w.example.com", "2001:db8::7"), ("W.EXAMPLE.com", "2001:DB8:0::7")],
)
def test_what_a_machine_has_is_approved(alternatives: tuple[str, ...]) -> None:
    """Any part of its addresses, however they are written, and its own name where the Node has it."""
    assert doubt(request_object(signing_request(*names(*alternatives)))) is None
    rsa = request_object(usages=[*USAGES, "key encipherment"])
    assert doubt(rsa) is None


@pytest.mark.parametrize(
    "alternatives",
    [
        ("w", "192.0.2.8"),  # the address of another machine
        ("w", "10.96.0.1"),  # the API server's in the cluster
        ("kubernetes.default.svc",),
        ("w", "x"),  # the name of another machine
        ("*.example.com",),
        ("192.0.2.7", "2001:db8::8"),
        ("w.example.com.",),
    ],
)
def test_what_a_machine_does_not_have_is_not_approved(alternatives: tuple[str, ...]) -> None:
    """One foreign name or address is enough, whatever else is right."""
    assert doubt(request_object(signing_request(*names(*alternatives)))) is Doubt.FOREIGN_NAME


def test_the_name_of_a_node_alone_is_no_proof() -> None:
    """A machine chooses its Node's name: where the Machine has another one, it has to be in its addresses."""
    node = "kubernetes.default.svc"
    request = request_object(
        signing_request(*names(node), common_name=f"system:node:{node}"), username=f"system:node:{node}"
    )
    machine = {**MACHINE, "status": machine_status(*ADDRESSES, node=node)}
    assert doubt(request, machine) is Doubt.FOREIGN_NAME
    named = {**MACHINE, "status": machine_status(*ADDRESSES, ("Hostname", node), node=node)}
    assert doubt(request, named) is None


def test_a_node_is_one_of_a_single_machine() -> None:
    """A Node without a Machine, such as one of a MachinePool, or of two, is not known here."""
    other = {"metadata": {"name": "x", "namespace": "default"}, "status": machine_status(*ADDRESSES, node="x")}
    bare: Json = {"metadata": {"name": "y", "namespace": "default"}}
    assert doubt(request_object(), other, bare) is Doubt.NO_MACHINE
    assert doubt(request_object(), other, MACHINE) is None
    assert doubt(request_object(), {**MACHINE}, MACHINE) is Doubt.SEVERAL_MACHINES


def test_invalid_addresses_are_never_approved() -> None:
    """What an infrastructure reports in another shape is no address."""
    status = machine_status(("InternalIP", "none"), ("InternalIP", ""), ("Hostname", ""), ("", ""))
    assert doubt(request_object(), {**MACHINE, "status": status}) is Doubt.FOREIGN_NAME


MALFORMED: dict[str, dict[str, Any]] = {
    "another user": {"username": "system:node:x"},
    "a person": {"username": "jane"},
    "no name": {"username": None},
    "not of the group": {"groups": ["system:authenticated"]},
    "groups of another shape": {"groups": "system:nodes"},
    "for clients": {"usages": ["digital signature", "client auth"]},
    "for clients, too": {"usages": [*USAGES, "client auth"]},
    "no usages": {"usages": []},
    "usages of another shape": {"usages": [{}]},
    "no request": {"request": None},
    "no base64": {"request": "-----BEGIN"},
    "no certificate request": {"request": base64.b64encode(b"x").decode()},
    "too long": {"request": "A" * 16385},
}
CONTENTS: dict[str, bytes] = {
    "no names": signing_request(),
    "another name": signing_request(*names("w"), common_name="system:node:x"),
    "another group": signing_request(*names("w"), organizations=["system:masters"]),
    "two groups": signing_request(*names("w"), organizations=["system:nodes", "system:masters"]),
    "no group": signing_request(*names("w"), organizations=[]),
    "a mail address": signing_request(*names("w"), x509.RFC822Name("w@example.com")),
    "an address of the web": signing_request(*names("w"), x509.UniformResourceIdentifier("spiffe://x/y")),
    "an authority": signing_request(*names("w"), authority=True),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_what_no_kubelet_asks_for_is_not_approved(name: str) -> None:
    """The API server has said who asks; that has to be the Node, and the usages those of a server."""
    assert doubt(request_object(**MALFORMED[name])) is Doubt.MALFORMED


@pytest.mark.parametrize("name", CONTENTS)
def test_what_the_signer_would_not_expect_is_not_approved(name: str) -> None:
    """Subject, kinds of names and constraints are those of a kubelet."""
    assert doubt(request_object(CONTENTS[name])) is Doubt.MALFORMED


def test_a_key_that_is_costly_to_verify_is_none_of_a_kubelet(monkeypatch: pytest.MonkeyPatch) -> None:
    """A signature costs the controller time: keys have usual sizes, and only a Node with a Machine has one verified."""
    for key in (rsa.generate_private_key(65537, 4096), rsa.generate_private_key(3, 2048)):
        assert doubt(request_object(signing_request(*names(NODE, "192.0.2.7"), key=key))) is None
    large = rsa.generate_private_key(65537, 5120)
    assert doubt(request_object(signing_request(*names(NODE, "192.0.2.7"), key=large))) is Doubt.MALFORMED

    def never(signed: x509.CertificateSigningRequest) -> bool:
        pytest.fail(f"verified {type(signed).__name__}")

    monkeypatch.setattr(serving_request, "_is_proven", never)
    foreign = signing_request(*names("x"), common_name="system:node:x")
    assert doubt(request_object(foreign, username="system:node:x")) is Doubt.NO_MACHINE


def test_any_bytes_are_judged() -> None:
    """Whatever a machine sends: a request of which anything was changed is not approved, and ends nothing."""
    random_bytes = random.Random(21)
    pem = signing_request(*names(NODE, "192.0.2.7"))
    lines = pem.split(b"\n")
    der = bytearray(base64.b64decode(b"".join(lines[1:-2])))
    for _ in range(500):
        changed = bytearray(der)
        changed[random_bytes.randrange(len(der))] ^= 1 << random_bytes.randrange(8)
        text = b"\n".join([lines[0], base64.b64encode(bytes(changed)), *lines[-2:]])
        reason = doubt(request_object(text))
        if reason is None:
            # The number of unused bits of the signature may be one where the last bit is 0: it changes nothing.
            assert signed_parts(text) == signed_parts(pem)
        else:
            assert reason in {Doubt.MALFORMED, Doubt.FOREIGN_NAME, Doubt.NO_MACHINE}


def signed_parts(pem: bytes) -> tuple[bytes, bytes]:
    """Give what is signed, and the signature."""
    request = x509.load_pem_x509_csr(pem)
    return request.tbs_certrequest_bytes, request.signature


@pytest.mark.parametrize(
    ("changes", "is_undecided"),
    [
        ({}, True),
        ({"status": {}}, True),
        ({"status": None}, True),
        ({"status": {"conditions": [{"type": "Denied"}]}}, False),
        ({"status": {"conditions": [{"type": "Approved"}]}}, False),
        ({"status": {"certificate": "AA=="}}, False),
        ({"spec": {"signerName": "kubernetes.io/kube-apiserver-client-kubelet"}}, False),
        ({"spec": None}, False),
        ({"status": "x"}, False),
    ],
)
def test_what_others_have_decided_stays(changes: Json, is_undecided: bool) -> None:
    """Only requests of this signer without a decision are looked at."""
    assert is_open({**request_object(), **changes}) is is_undecided
