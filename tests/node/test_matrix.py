"""The matrix of nodes: each engine, by each first-boot system, as first control plane, joined control plane and worker.

Every machine of it asks for the same items of the operating system. Each becomes a Ready node that has them, and is
the same after a reboot. A cluster has three machines: the first is set up by one system, those that join by the other.
"""

import dataclasses
import itertools
import json
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

import pytest

from slipway.bootstrapper.engines.table import built_in_engines
from tests.node import documents, k0s
from tests.node.matrix_items import (
    ANSWERS,
    AUTHORITY,
    CONTROL_PLANE,
    HOOKS,
    NODE,
    PLANE_ANSWERS,
    PLANE_QUESTIONS,
    QUESTIONS,
    SYSTEM,
)
from tests.node.readiness import wait_ready
from tests.node.rendering import Rendering
from tools.node import site
from tools.node.first_disk import FirstBoot
from tools.node.machine import Machine
from tools.oracles.failures import EngineBroken, EngineTimeout

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

SECONDS = 300.0
FLAVOUR = "1.34-k0s"
PKI = {"kubeadm": "/etc/kubernetes/pki", "k0s": "/var/lib/k0s/pki"}
TOKENS = {"kubeadm": 1, "k0s": 2}
ENGINES = {"kubeadm": documents.config, "k0s": k0s.config}
"""What a config says for the sake of an engine, and of the images that are booted here."""

ROLES = {"first": ("Init", "cp"), "joined": ("ControlPlane", "cp"), "worker": ("Worker", "worker")}
OTHER = {FirstBoot.CLOUD_INIT: FirstBoot.IGNITION, FirstBoot.IGNITION: FirstBoot.CLOUD_INIT}


@dataclasses.dataclass(frozen=True)
class Shape:
    """A cluster of the matrix.

    Attributes:
        engine: what bootstraps Kubernetes on its machines.
        first: what reads the user data of the first one.
    """

    engine: str
    first: FirstBoot

    def by(self, role: str) -> FirstBoot:
        """What reads the user data of a machine."""
        return self.first if role == "first" else OTHER[self.first]

    def text(self) -> str:
        """The documents of the cluster."""
        configs = [
            ENGINES[self.engine](name, os=dict(SYSTEM), kubernetes={"engine": self.engine, **parts}, commands=HOOKS)
            for name, parts in (
                ("cp", {"node": dict(NODE), "controlPlane": dict(CONTROL_PLANE)}),
                ("worker", {"node": dict(NODE)}),
            )
        ]
        return documents.text(documents.cluster(ROLES, name="matrix"), *configs)


def answers(machine: Machine) -> dict[str, str]:
    """What a machine answers to the questions."""
    return {
        what: machine.run(["sh", "-c", question], stdin=AUTHORITY.encode()).output
        for what, question in QUESTIONS.items()
    }


@dataclasses.dataclass(frozen=True)
class Node:
    """What was seen of a machine that became a node.

    Attributes:
        answers: to the questions, when all nodes of its cluster were Ready.
        after_reboot: the same when all were Ready again.
        boots: how often it has booted by then.
        failures: records of failed steps.
        authority_key: the private key of the cluster's authority, "" where it has none.
    """

    answers: Mapping[str, str]
    after_reboot: Mapping[str, str]
    boots: int
    failures: list[str]
    authority_key: str


@dataclasses.dataclass(frozen=True)
class Seen:
    """What was seen of a cluster.

    Attributes:
        nodes: its machines by role.
        tokens: the tokens that it holds.
        registered: its nodes by role, as the API server has them.
        planes: the answers of its control planes by role.
    """

    nodes: Mapping[str, Node]
    tokens: list[Mapping[str, str]]
    registered: Mapping[str, Any]
    planes: Mapping[str, Mapping[str, str]]


def look(shape: Shape) -> Seen:
    """Boot a cluster, reboot all its machines at once, so that none finds another, and give what both showed."""
    rendering = Rendering(shape.text())
    with site.opened() as place:
        machines = {role: place.machine(role, flavour=FLAVOUR) for role in ROLES}
        for role, machine in machines.items():
            machine.boot(rendering.user_data(role, shape.by(role)), by=shape.by(role))
            if role == "first":  # those that join may do so side by side
                machine.wait_sentinel(timeout=SECONDS)
        wait_all_ready(machines)
        before = {role: answers(machine) for role, machine in machines.items()}
        registered = json.loads(machines["first"].run(["kubectl", "get", "nodes", "-o", "json"]).output)["items"]
        planes = {role: plane_answers(shape, machines[role]) for role in ("first", "joined")}
        held = machines["first"].run(["kubectl", "-n", "kube-system", "get", "secrets", "-o", "json"]).output
        since = time.time()
        with ThreadPoolExecutor(len(machines)) as pool:
            list(pool.map(Machine.reboot, machines.values()))
        wait_all_ready(machines, since=since)
        nodes = {
            role: Node(
                before[role],
                answers(machine),
                machine.boots,
                machine.failures(),
                machine.run(["cat", f"{PKI[shape.engine]}/ca.key"]).output,
            )
            for role, machine in machines.items()
        }
    secrets = [item for item in json.loads(held)["items"] if item["type"] == "bootstrap.kubernetes.io/token"]
    by_name = {item["metadata"]["name"]: item for item in registered}
    return Seen(nodes, [item["data"] for item in secrets], by_name, planes)


def plane_answers(shape: Shape, machine: Machine) -> dict[str, str]:
    """What a control plane answers to its questions."""
    return {
        what: machine.run(["sh", "-c", question % {"pki": PKI[shape.engine]}]).output
        for what, question in PLANE_QUESTIONS.items()
    }


def wait_all_ready(machines: Mapping[str, Machine], *, since: float = 0.0) -> None:
    """Wait until every machine has its sentinel and is a Ready node."""
    for machine in machines.values():
        machine.wait_sentinel(timeout=SECONDS)
    wait_ready(machines["first"], *machines, since=since)


@pytest.fixture(scope="module")
def seen(engine: Any) -> Callable[[Shape], Seen]:
    """A function that looks at a cluster once, however many tests ask what was seen of it."""
    engine(f"node-{FLAVOUR}")
    futures: dict[Shape, Future[Seen]] = {}

    def give(shape: Shape) -> Seen:
        if shape not in futures:
            futures[shape] = Future()
            try:
                futures[shape].set_result(look(shape))
            except (EngineBroken, EngineTimeout) as error:
                futures[shape].set_exception(error)
        return futures[shape].result()

    return give


SHAPES = [Shape(engine, first) for engine in ENGINES for first in FirstBoot]
CELLS = [(shape, role) for shape in SHAPES for role in ROLES]
each_cell = pytest.mark.parametrize(
    ("shape", "role"), [pytest.param(*cell, id=f"{cell[0].engine}, {cell[0].by(cell[1])}, {cell[1]}") for cell in CELLS]
)
each_cluster = pytest.mark.parametrize(
    "shape", SHAPES, ids=[f"{shape.engine}, {shape.first} first" for shape in SHAPES]
)


def test_the_matrix_is_complete() -> None:
    """Each engine of the table, first-boot system and role meets each of the others on a machine of its own."""
    cells = [(shape.engine, shape.by(role), ROLES[role][0]) for shape, role in CELLS]
    wanted = itertools.product(built_in_engines().names, FirstBoot, ("Init", "ControlPlane", "Worker"))
    assert sorted(cells) == sorted(wanted)


@each_cell
def test_a_machine_is_a_ready_node_with_everything_of_its_system(
    seen: Callable[[Shape], Seen], shape: Shape, role: str
) -> None:
    """All items are there, the same ones by each first-boot system and each engine; nothing failed."""
    node = seen(shape).nodes[role]
    assert node.answers == ANSWERS
    assert node.failures == []


@each_cell
def test_a_node_is_the_same_after_a_reboot(seen: Callable[[Shape], Seen], shape: Shape, role: str) -> None:
    """It is Ready again, with all items, and no hook has run a second time."""
    node = seen(shape).nodes[role]
    assert node.boots == 2
    assert node.after_reboot == ANSWERS


@each_cell
def test_a_node_has_its_labels_and_taints(seen: Callable[[Shape], Seen], shape: Shape, role: str) -> None:
    """In the API, where schedulers look; k0s taints no control plane by itself here, and kubeadm takes ours instead."""
    node = seen(shape).registered[role]
    (label,) = NODE["labels"]
    assert node["metadata"]["labels"][label["name"]] == label["value"]
    ours = [taint for taint in node["spec"].get("taints", []) if taint["key"].startswith("harbour.")]
    assert [{key: taint[key] for key in ("key", "value", "effect")} for taint in ours] == NODE["taints"]["items"]


@each_cluster
def test_control_planes_have_their_argument_and_name(seen: Callable[[Shape], Seen], shape: Shape) -> None:
    """The process of the API server was called with the argument, and serves a certificate for the further name."""
    assert seen(shape).planes == dict.fromkeys(("first", "joined"), PLANE_ANSWERS)


@each_cluster
def test_members_share_an_authority_whose_key_no_worker_has(seen: Callable[[Shape], Seen], shape: Shape) -> None:
    """It is that of the credentials, by which user data of all machines was made before any of them booted."""
    keys = {role: node.authority_key for role, node in seen(shape).nodes.items()}
    assert keys["first"] == keys["joined"] != ""
    assert keys["worker"] == ""


@each_cluster
def test_tokens_by_which_machines_join_expire(seen: Callable[[Shape], Seen], shape: Shape) -> None:
    """There are those of the credentials, and tokens that k0s makes for its own nodes, which have a description."""
    tokens = seen(shape).tokens
    joining = [token for token in tokens if shape.engine != "k0s" or "description" not in token]
    assert len(joining) == TOKENS[shape.engine]
    assert all("expiration" in token for token in tokens)
