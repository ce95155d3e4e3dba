"""What a spec says is in force on the nodes that booted from it: one rich cluster, one row of the spec a test.

The machines of the cluster have no container image when they boot: all of them come from a private registry that only
the spec knows.
"""

import base64
import json
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from tests.node import webhook
from tests.node.node_state import lasting_taints
from tests.node.readiness import wait_ready
from tests.node.rendering import Rendering
from tests.node.rich_cluster import MIRROR, MIRROR_PORT, PROXY, WEBHOOK_PORT, rich_documents
from tests.services.certificates import Authority
from tools.node import addresses, registry, site
from tools.node.first_disk import FirstBoot, Store
from tools.node.flavours import FLAVOURS
from tools.node.machine import Machine

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(600)]

SECONDS = 300.0  # for a bootstrap on a machine that does much else


@dataclass
class Rich:
    """The running cluster."""

    place: site.Site
    control_plane: Machine
    workers: dict[str, Machine]

    def kubectl(self, *arguments: str) -> Any:
        """What kubectl prints, as JSON has it."""
        done = self.control_plane.run(["kubectl", *arguments, "-o", "json"])
        assert done.status == 0, done.errors
        return json.loads(done.output)

    def kubelet(self, node: str) -> dict[str, Any]:
        """The configuration that a kubelet runs by."""
        done = self.control_plane.run(["kubectl", "get", "--raw", f"/api/v1/nodes/{node}/proxy/configz"])
        return json.loads(done.output)["kubeletconfig"]


def arguments(machine: Machine, program: str) -> list[str]:
    """How a program was called; the newest process of that name."""
    done = machine.run(["sh", "-c", f"cat /proc/$(pgrep -nx {program})/cmdline"])
    return done.output.split("\0")


def environment(machine: Machine, program: str) -> list[str]:
    """What a program has in its environment."""
    done = machine.run(["sh", "-c", f"cat /proc/$(pgrep -ox {program})/environ"])
    return done.output.split("\0")


@pytest.fixture(scope="module")
def rich(engine, tmp_path_factory) -> Any:
    """Three machines that are Ready: the second worker was set up by Ignition."""
    engine("node-1.34")
    authority = Authority()
    folder = authority.fill(tmp_path_factory.mktemp("tls"), hosts=[MIRROR])
    rendering = Rendering(rich_documents(authority.certificate.decode()))
    with site.opened() as place:
        place.serve(
            sys.executable, "-m", registry.__name__, addresses.GATEWAY, str(MIRROR_PORT),
            str(FLAVOURS["1.34"].archive), str(folder / "tls.crt"), str(folder / "tls.key"),
        )  # fmt: skip
        place.serve(sys.executable, "-m", webhook.__name__, addresses.GATEWAY, str(WEBHOOK_PORT))
        wishes = {"store": Store.EMPTY, "neighbours": {MIRROR: addresses.GATEWAY}}
        machines = {name: place.machine(name, **wishes) for name in rendering.names}
        machines["cp"].boot(rendering.user_data("cp"))
        machines["first"].boot(rendering.user_data("first"))
        machines["second"].boot(rendering.user_data("second", FirstBoot.IGNITION), by=FirstBoot.IGNITION)
        for machine in machines.values():
            machine.wait_sentinel(timeout=SECONDS)
        cluster = Rich(place, machines.pop("cp"), machines)
        wait_ready(cluster.control_plane, "lighthouse", "w-first", "w-second")
        yield cluster


def test_nodes_are_named_by_a_literal_and_by_a_fact(rich):
    """The control plane carries its literal name, each worker what its own host name makes of it."""
    names = {item["metadata"]["name"] for item in rich.kubectl("get", "nodes")["items"]}
    assert names == {"lighthouse", "w-first", "w-second"}


@pytest.mark.parametrize(
    ("node", "label"), [("lighthouse", "top"), ("w-first", "ground"), ("w-second", "ground")], ids=str
)
def test_labels_are_on_the_node(rich, node, label):
    """The label of the spec is the Node's."""
    assert rich.kubectl("get", "node", node)["metadata"]["labels"]["example.com/storey"] == label


def test_taints_are_on_the_node_and_no_others(rich):
    """The list of the spec replaces kubeadm's own taint; a worker has none."""
    taints = lasting_taints(rich.kubectl("get", "node", "lighthouse"))
    assert [(taint["key"], taint["value"], taint["effect"]) for taint in taints] == [
        ("example.com/lamp", "hot", "NoSchedule")
    ]
    assert lasting_taints(rich.kubectl("get", "node", "w-first")) == []


@pytest.mark.parametrize(
    ("node", "provider_id"),
    [("lighthouse", "example://tower/1"), ("w-first", "example://tower/first"), ("w-second", "example://tower/second")],
    ids=str,
)
def test_the_provider_id_is_the_given_one(rich, node, provider_id):
    """Literal or from a fact: Cluster API finds the Machine of a Node by it."""
    assert rich.kubectl("get", "node", node)["spec"]["providerID"] == provider_id


def test_kubelet_arguments_reach_the_kubelet(rich):
    """A literal one, and one whose value is a fact of the machine."""
    assert "--v=3" in arguments(rich.control_plane, "kubelet")
    for worker in rich.workers.values():
        assert f"--node-ip={worker.address}" in arguments(worker, "kubelet")


def test_kubelet_configuration_is_what_the_kubelet_runs_by(rich):
    """The document of the spec counts on its machine, and on no other."""
    assert rich.kubelet("lighthouse")["maxPods"] == 77
    assert rich.kubelet("w-first")["maxPods"] == 110


def test_kernel_parameters_of_the_network_are_set(rich):
    """On each machine, by each first-boot system."""
    for machine in (rich.control_plane, *rich.workers.values()):
        assert machine.run(["cat", "/proc/sys/net/ipv4/tcp_keepalive_time"]).output == "611\n"


def test_every_image_came_through_the_private_registry(rich):
    """The machines had no image; the registry gave each, by the authority that only the spec names."""
    for image in ("kube-apiserver", "etcd", "pause", "kube-proxy", "coredns/coredns"):
        assert f"/v2/{image}/manifests/" in rich.place.served, image
    listing = ["ctr", "--namespace=k8s.io", "images", "ls", "-q"]
    for machine in rich.workers.values():
        machine.wait_until(
            lambda one=machine: "registry.k8s.io/kube-proxy" in one.run(listing).output, "no kube-proxy", timeout=60
        )


@pytest.mark.parametrize("program", ["containerd", "kubelet"])
def test_proxies_reach_the_system_services(rich, program):
    """Both variables, and the exceptions."""
    for machine in (rich.control_plane, *rich.workers.values()):
        held = {word.partition("=")[0].upper(): word.partition("=")[2] for word in environment(machine, program)}
        assert held["HTTPS_PROXY"] == held["HTTP_PROXY"] == PROXY
        assert "10.0.0.0/8" in held["NO_PROXY"].split(",")


def test_the_static_pod_runs(rich):
    """Its mirror in the API is Running."""
    assert rich.kubectl("-n", "kube-system", "get", "pod", "beacon-lighthouse")["status"]["phase"] == "Running"


@pytest.mark.parametrize(
    ("program", "argument"),
    [
        ("kube-apiserver", "--profiling=false"),
        ("kube-controller", "--node-monitor-grace-period=37s"),
        ("kube-scheduler", "--kube-api-qps=61"),
        ("etcd", "--snapshot-count=4321"),
    ],
)
def test_component_arguments_reach_the_component(rich, program, argument):
    """The process itself was called so."""
    assert argument in arguments(rich.control_plane, program)


def test_component_volumes_and_environment_are_in_the_container(rich):
    """The file that a command put on the host is seen by the API server; so is the variable."""
    machine = rich.control_plane
    assert machine.run(["sh", "-c", "cat /proc/$(pgrep -nx kube-apiserver)/root/etc/chart/rock"]).output == "reef\n"
    assert "SEA=calm" in environment(machine, "kube-apiserver")


def test_further_names_are_in_the_certificate_that_is_served(rich):
    """A client that insists on the name is content, one that insists on another is not."""
    trust = ["--cacert", "/etc/kubernetes/pki/ca.crt", "--noproxy", "*"]
    for name, status in (("keeper.example.com", 0), ("stranger.example.com", 60)):
        found = rich.control_plane.run(
            ["curl", "-s", *trust, "--resolve", f"{name}:6443:{addresses.machine(1)}", f"https://{name}:6443/healthz"]
        )
        assert found.status == status, found


def test_the_audit_policy_is_used(rich):
    """What the policy asks for is logged with its body, and what it leaves out is not."""
    for namespace in ("audited", "unheard"):
        rich.control_plane.run(["kubectl", "create", "namespace", namespace])
        word = f"--from-literal=in={namespace}-word"
        rich.control_plane.run(["kubectl", "-n", namespace, "create", "configmap", "word", word])
    log = rich.control_plane.run(["cat", "/var/log/kubernetes/audit/audit.log"]).output
    assert "audited-word" in log
    assert "unheard-word" not in log


def test_secrets_are_ciphertext_in_etcd(rich):
    """The data of a ConfigMap is found in etcd's files, that of a Secret is not, and reads back all the same."""
    kinds = {"secret": "hidden-treasure", "configmap": "plain-driftwood"}
    for kind, value in kinds.items():
        words = ["generic"] if kind == "secret" else []
        rich.control_plane.run(["kubectl", "create", kind, *words, "chest", f"--from-literal=in={value}"])
    read = rich.kubectl("get", "secret", "chest")["data"]["in"]
    assert base64.b64decode(read).decode() == kinds["secret"]
    folder = rich.control_plane.folder / "data/etcd"
    files = b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())
    assert kinds["configmap"].encode() in files
    assert kinds["secret"].encode() not in files
    assert b"k8s:enc:secretbox:v1:first" in files


def test_the_authentication_webhook_is_asked(rich):
    """A token that only the webhook knows makes its user; another one makes nobody."""
    server = [f"--server=https://{addresses.machine(1)}:6443", "--certificate-authority=/etc/kubernetes/pki/ca.crt"]
    who = ["kubectl", "--kubeconfig=/dev/null", *server, "auth", "whoami", "-o", "jsonpath={.status.userInfo.username}"]
    assert rich.control_plane.run([*who, "--token", webhook.TOKEN]).output == webhook.USER
    assert rich.control_plane.run([*who, "--token", "mellon"]).status != 0
    assert "review authentication.k8s.io/v1 True" in rich.place.served


def test_the_cluster_resolves_names_and_reaches_services(rich):
    """CoreDNS and kube-proxy work: from a worker, the API by the address of its service."""
    # A node is Ready before kube-proxy has told its kernel of the services.
    patient = ["--retry", "60", "--retry-delay", "1", "--retry-max-time", "60", "--retry-all-errors"]
    reached = rich.workers["first"].run(
        ["curl", "-sk", "--noproxy", "*", "--max-time", "10", *patient, "https://10.96.0.1/version"],
        timeout=120.0,
    )
    assert '"gitVersion": "v1.34.10"' in reached.output
