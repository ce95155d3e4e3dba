"""Clusters of other shapes: several control planes, etcd elsewhere, an older Kubernetes, imported configs, RSA keys."""

import json
from typing import Any

import pytest

from tests.node import documents
from tests.node.readiness import wait_ready
from tests.node.rendering import Rendering
from tests.services.certificates import Authority
from tools.node import addresses
from tools.node.flavours import FLAVOURS
from tools.node.machine import Machine
from tools.oracles import go_programs

pytestmark = [pytest.mark.boots, pytest.mark.xdist_group("node"), pytest.mark.timeout(1200)]

SECONDS = 300.0
AT_ONCE = 1  # with up to three machines each, whose kubeadm gives up when it is starved
ETCD_HOST = "etcd.example.com"
IMPORTED = f"""\
apiVersion: cluster.x-k8s.io/v1beta1
kind: Cluster
metadata: {{name: dinghy}}
spec:
  clusterNetwork: {{pods: {{cidrBlocks: [10.244.0.0/16]}}, services: {{cidrBlocks: [10.96.0.0/12]}}}}
  controlPlaneEndpoint: {{host: {addresses.machine(1)}, port: 6443}}
  controlPlaneRef: {{apiVersion: controlplane.cluster.x-k8s.io/v1beta1, kind: KubeadmControlPlane, name: dinghy}}
---
apiVersion: controlplane.cluster.x-k8s.io/v1beta1
kind: KubeadmControlPlane
metadata: {{name: dinghy}}
spec:
  version: VERSION
  replicas: 1
  machineTemplate:
    infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: cp}}
  kubeadmConfigSpec:
    clusterConfiguration:
      apiServer: {{extraArgs: {{profiling: "false"}}}}
    initConfiguration:
      nodeRegistration:
        kubeletExtraArgs: {{node-labels: example.com/mast=tall}}
        # The older kubeadm writes a URL there that the newer Go, which it is built by here, does not read.
        ignorePreflightErrors: [HTTPProxyCIDR]
    joinConfiguration: {{}}
    preKubeadmCommands: [sysctl -w net.ipv4.ip_forward=1]
    postKubeadmCommands: [touch /var/after-kubeadm]
---
apiVersion: cluster.x-k8s.io/v1beta1
kind: MachineDeployment
metadata: {{name: dinghy-md}}
spec:
  clusterName: dinghy
  template:
    spec:
      clusterName: dinghy
      version: VERSION
      bootstrap:
        configRef: {{apiVersion: bootstrap.cluster.x-k8s.io/v1beta1, kind: KubeadmConfigTemplate, name: dinghy-md}}
      infrastructureRef: {{apiVersion: infrastructure.cluster.x-k8s.io/v1beta1, kind: Metal3MachineTemplate, name: md}}
---
apiVersion: bootstrap.cluster.x-k8s.io/v1beta1
kind: KubeadmConfigTemplate
metadata: {{name: dinghy-md}}
spec:
  template:
    spec:
      joinConfiguration:
        nodeRegistration: {{name: "{{{{ ds.meta_data.local_hostname }}}}", kubeletExtraArgs: {{max-pods: "55"}}}}
      preKubeadmCommands: [sysctl -w net.ipv4.ip_forward=1]
"""


def nodes(machine: Machine, *options: str) -> dict[str, Any]:
    """Nodes by name."""
    done = machine.run(["kubectl", *options, "get", "nodes", "-o", "json"], timeout=30)
    return {item["metadata"]["name"]: item for item in json.loads(done.output or '{"items": []}')["items"]}


def key_kind(machine: Machine, path: str) -> str:
    """What kind of key a file on the machine holds, by openssl."""
    return machine.run(["openssl", "pkey", "-in", path, "-noout", "-text"]).output.splitlines()[0]


def test_three_control_planes_serve_on_when_one_is_gone(place):
    """Two more members join; the first loses its power, and the cluster still takes what is written to it."""
    members = {"one": ("Init", "cp"), "two": ("ControlPlane", "cp"), "three": ("ControlPlane", "cp")}
    rendering = Rendering(documents.text(documents.cluster(members, name="three"), documents.config("cp")))
    machines = {name: place.machine(name) for name in members}
    for name, machine in machines.items():  # one after another, as KubeadmControlPlane does
        machine.boot(rendering.user_data(name))
        machine.wait_sentinel(timeout=SECONDS)
    wait_ready(machines["one"], *members)
    machines["one"].cut_power()
    there = f"--server=https://{machines['two'].address}:6443"

    def written() -> bool:
        words = ["kubectl", there, "--request-timeout=5s", "create", "namespace", "after"]
        done = machines["two"].run(words)
        return done.status == 0 or "already exists" in done.errors

    machines["two"].wait_until(written, "the cluster does not serve", timeout=120, asks=True)
    assert set(nodes(machines["two"], there)) == set(members)


def test_etcd_elsewhere_holds_the_cluster(place):
    """No member runs on the machine; the servers and their certificates are those of the spec; keys are RSA."""
    folder = place.folder / "elsewhere"
    tls = Authority().fill(folder / "tls", hosts=[ETCD_HOST])
    etcd = go_programs.PROGRAMS["kubebox-1.34"].require()
    url = f"https://{ETCD_HOST}:2379"
    place.serve(
        str(etcd), "etcd", f"--data-dir={folder / 'data'}", f"--listen-client-urls=https://{addresses.GATEWAY}:2379",
        f"--advertise-client-urls={url}", "--listen-peer-urls=http://127.0.0.1:2380", "--client-cert-auth",
        f"--cert-file={tls / 'tls.crt'}", f"--key-file={tls / 'tls.key'}", f"--trusted-ca-file={tls / 'ca.crt'}",
    )  # fmt: skip
    names = {"caFile": "ca.crt", "certFile": "tls.crt", "keyFile": "tls.key"}
    files = [
        {"path": f"/etc/etcd-client/{name}", "mode": "0600", "content": {"text": (tls / name).read_text()}}
        for name in names.values()
    ]
    external = {"endpoints": [url], **{key: f"/etc/etcd-client/{name}" for key, name in names.items()}}
    config = documents.config(
        "cp",
        os={"files": files, "sysctls": [documents.FORWARDING]},
        kubernetes={"etcd": {"external": external}, "certificates": {"keyAlgorithm": "Rsa2048"}},
    )
    rendering = Rendering(documents.text(documents.cluster({"lone": ("Init", "cp")}, name="elsewhere"), config))
    machine = place.machine("lone", neighbours={ETCD_HOST: addresses.GATEWAY})
    machine.boot(rendering.user_data("lone"))
    machine.wait_sentinel(timeout=SECONDS)
    wait_ready(machine, "lone")
    assert machine.run(["pgrep", "-x", "etcd"]).status == 1
    held = b"".join(path.read_bytes() for path in (folder / "data").rglob("*") if path.is_file())
    assert b"/registry/minions/lone" in held
    assert "2048 bit" in key_kind(machine, "/etc/kubernetes/pki/ca.key")


@pytest.mark.parametrize("flavour", ["1.34", "1.30"])
def test_imported_configs_make_the_same_cluster(place, engine, flavour):
    """KubeadmConfigs as they are written today: v1beta4 by the newest, v1beta3 by 1.30 on an older system."""
    engine(f"node-{flavour}")
    version = FLAVOURS[flavour].version
    rendering = Rendering(IMPORTED.replace("VERSION", version))
    first, worker = (next(name for name in rendering.names if word in name) for word in ("init", "md"))
    machines = [place.machine(name, flavour=flavour) for name in ("captain", "sailor")]
    for machine, name in zip(machines, (first, worker), strict=True):
        machine.boot(rendering.user_data(name))
    for machine in machines:
        machine.wait_sentinel(timeout=SECONDS)
    captain = machines[0]
    wait_ready(captain, "captain", "sailor")
    found = nodes(captain)
    assert found["captain"]["metadata"]["labels"]["example.com/mast"] == "tall"
    assert found["sailor"]["status"]["capacity"]["pods"] == "55"
    assert {node["status"]["nodeInfo"]["kubeletVersion"] for node in found.values()} == {version}
    assert "--profiling=false" in captain.run(["sh", "-c", "cat /proc/$(pgrep -nx kube-apiserver)/cmdline"]).output
    assert captain.exists("/var/after-kubeadm")
    api = {"1.34": "v1beta4", "1.30": "v1beta3"}[flavour]
    assert f"kubeadm.k8s.io/{api}" in captain.run(["cat", "/run/kubeadm/kubeadm.yaml"]).output
    assert "2048 bit" in key_kind(captain, "/etc/kubernetes/pki/ca.key")
