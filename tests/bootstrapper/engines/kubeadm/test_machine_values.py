"""Values of kubeadm's file that only the machine knows: each at its place, in the document that has it."""

from typing import Any

import pytest
import yaml

OPTIONS = "engine_options { kubeadm { %s } }"
FACT = "segments { fact { kind: FACT_KIND_%s } }"
SANS = 'intent { kubernetes { control_plane { api_server_sans: "a.example.com" api_server_sans: "b.example.com" } } }'
TAINTS = 'intent { kubernetes { node { taints { items { key: "k" effect: TAINT_EFFECT_NO_SCHEDULE } } } } }'


def value(field: str, kind: str, text: str = "") -> str:
    """Give a value of the options."""
    before = f'segments {{ text: "{text}" }} ' if text else ""
    return OPTIONS % f'machine_values {{ field: "{field}" value {{ {before}{FACT % kind} }} }}'


def documents(machines: Any, role: str, *texts: str, **facts: Any) -> list[dict[str, Any]]:
    """Give the documents of kubeadm's file."""
    return list(yaml.safe_load_all(machines.config(role, *texts, **facts)))


@pytest.mark.parametrize("version", ["v1.34.2", "v1.29.4"])
def test_names_stand_among_those_that_are_known(machines: Any, version: str) -> None:
    """The last one first: each stands at the place that it names, in the file of the machine that begins."""
    added = [value("apiServer.certSANs[3]", "REGION", "x."), value("apiServer.certSANs[1]", "PUBLIC_IPV4")]
    cluster, _ = documents(machines, "ROLE_INIT", SANS, *added, version=version)
    first, second = cluster["apiServer"]["certSANs"][1::2]
    assert cluster["apiServer"]["certSANs"][::2] == ["a.example.com", "b.example.com"]
    assert (first.startswith("fact-"), second.startswith("x.fact-")) == (True, True)


def test_names_of_etcd_need_no_others(machines: Any) -> None:
    """The list is there for them alone."""
    added = [value("etcd.local.serverCertSANs[0]", "PRIVATE_IPV4"), value("etcd.local.peerCertSANs[0]", "HOSTNAME")]
    cluster, _ = documents(machines, "ROLE_INIT", *added)
    assert [len(cluster["etcd"]["local"][key]) for key in ("serverCertSANs", "peerCertSANs")] == [1, 1]


@pytest.mark.parametrize("role", ["ROLE_INIT", "ROLE_CONTROL_PLANE", "ROLE_WORKER"])
def test_what_belongs_to_the_node(machines: Any, role: str) -> None:
    """Socket and taints are in the document of each machine; what belongs to the cluster is in that of the first."""
    added = [
        value("nodeRegistration.criSocket", "HOSTNAME", "unix:///"),
        value("nodeRegistration.taints[0].value", "REGION"),
        value("apiServer.certSANs[0]", "PUBLIC_IPV4"),
    ]
    *cluster, machine = documents(machines, role, TAINTS, *added)
    node = machine["nodeRegistration"]
    assert node["criSocket"].startswith("unix:///fact-")
    assert node["taints"][0]["value"].startswith("fact-")
    assert "apiServer" not in machine
    assert len(cluster) == (role == "ROLE_INIT")


def test_the_endpoint_of_the_discovery(machines: Any) -> None:
    """It takes the place of the cluster's endpoint."""
    field = "discovery.bootstrapToken.apiServerEndpoint"
    (join,) = documents(machines, "ROLE_WORKER", value(field, "PRIVATE_IPV4"))
    assert join["discovery"]["bootstrapToken"]["apiServerEndpoint"].startswith("fact-")
    assert join["discovery"]["bootstrapToken"]["token"]


REFUSED = [
    ("ROLE_WORKER", TAINTS, "nodeRegistration.taints[1].value", "does not have"),
    ("ROLE_WORKER", "", "nodeRegistration.taints[0].value", "does not have"),
    ("ROLE_INIT", "", "discovery.bootstrapToken.apiServerEndpoint", "creates the cluster"),
    ("ROLE_WORKER", 'intent { kubernetes { discovery { file { path: "/k" } } } }',
     "discovery.bootstrapToken.apiServerEndpoint", "has a file"),
    ("ROLE_INIT", 'intent { kubernetes { etcd { external { endpoints: "https://e:2379" ca_file: "/c" } } } }',
     "etcd.local.peerCertSANs[0]", "external has none"),
]  # fmt: skip


@pytest.mark.parametrize(("role", "text", "field", "why"), REFUSED)
def test_a_place_that_is_not_there_is_refused(machines: Any, role: str, text: str, field: str, why: str) -> None:
    """By its path, with the reason."""
    (refusal,) = machines.plan(role, text, value(field, "REGION")).refusals
    assert refusal.path == "engine_options.kubeadm.machine_values[0]"
    assert why in refusal.message
