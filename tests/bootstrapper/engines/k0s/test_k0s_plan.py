"""Plans of k0s: what stands on each kind of machine, and what runs there."""

from collections.abc import Callable

import pytest

from slipway.bootstrapper.engines.k0s.engine import K0sEngine
from slipway.bootstrapper.engines.testing import FORMAT
from slipway.v1alpha1 import content_pb2 as contentpb
from tests.bootstrapper.engines.k0s.conftest import Plan, bundle

Make = Callable[..., Plan]
CONFIG = "/etc/k0s/k0s.yaml"
JOIN = "/etc/slipway/k0s-join.conf"
BOOTSTRAP = "/var/lib/k0s/kubelet-bootstrap.conf"


@pytest.mark.parametrize(
    ("role", "paths", "steps"),
    [
        (
            "ROLE_INIT",
            {
                "/var/lib/k0s/pki/ca.crt": 0o640,
                "/var/lib/k0s/pki/ca.key": 0o600,
                "/etc/slipway/k0s-worker-token": 0o600,
                "/etc/slipway/k0s-control-plane-token": 0o600,
                CONFIG: 0o600,
                "/etc/systemd/system/k0scontroller.service": 0o644,
            },
            ["20-k0s", "30-k0s-worker-token", "31-k0s-control-plane-token"],
        ),
        (
            "ROLE_CONTROL_PLANE",
            {JOIN: 0o600, CONFIG: 0o600, "/etc/systemd/system/k0scontroller.service": 0o644},
            ["10-k0s-token", "20-k0s"],
        ),
        ("ROLE_WORKER", {BOOTSTRAP: 0o600, "/etc/systemd/system/k0sworker.service": 0o644}, ["20-k0s"]),
    ],
)
def test_each_role_has_its_files_and_steps(plan: Make, role: str, paths: dict[str, int], steps: list[str]) -> None:
    """The key of the authority is on the first machine only: a joining control plane fetches it from there."""
    made = plan(role)
    assert {path: file.mode for path, file in made.files.items()} == paths
    assert [step.id for step in made.result.steps] == steps


@pytest.mark.parametrize(
    ("role", "path", "server", "user", "token"),
    [
        (
            "ROLE_CONTROL_PLANE",
            JOIN,
            "https://api.example.com:9443",
            "controller-bootstrap",
            "slipway.dev/control-plane-token",
        ),
        ("ROLE_WORKER", BOOTSTRAP, "https://api.example.com:6443", "kubelet-bootstrap", "slipway.dev/bootstrap-token"),
    ],
)
def test_machines_join_by_a_token_of_their_own_kind(  # noqa: PLR0913, PLR0917  # the columns of the table
    plan: Make, role: str, path: str, server: str, user: str, token: str
) -> None:
    """With a control plane's token a worker could fetch the key of the authority."""
    made = plan(role)
    config = made.document(path)
    assert config["clusters"][0]["cluster"] == {
        "server": server,
        "certificate-authority-data": "slipway.dev/cluster-ca",
    }
    assert config["contexts"][0]["context"] == {"cluster": "k0s", "user": user}
    assert config["users"] == [{"name": user, "user": {"token": token}}]
    encodings = {
        entry.secret_ref.name: entry.encoding
        for entry in made.files[path].content.segments
        if entry.HasField("secret_ref")
    }
    assert encodings["slipway.dev/cluster-ca"] == contentpb.SPLICE_ENCODING_BASE64


@pytest.mark.parametrize("host", ["fd00::1", "[fd00::1]"])
def test_an_address_has_brackets_only_where_its_port_follows(plan: Make, host: str) -> None:
    """k0s takes the external address as it is, as a name of its certificates, too."""
    endpoint = {"host": host, "port": 6443}
    assert plan("ROLE_INIT", endpoint=endpoint).document(CONFIG)["spec"]["api"]["externalAddress"] == "fd00::1"
    servers = [
        plan(role, endpoint=endpoint).document(path)["clusters"][0]["cluster"]["server"]
        for role, path in (("ROLE_CONTROL_PLANE", JOIN), ("ROLE_WORKER", BOOTSTRAP))
    ]
    assert servers == ["https://[fd00::1]:9443", "https://[fd00::1]:6443"]


def test_the_configuration_has_what_the_spec_says(plan: Make) -> None:
    """API server, components, networks of both families, add-ons, images; reports to the makers are off."""
    spec = {
        "kubernetes": {
            "controlPlane": {
                "apiServerSans": ["a.example.com"],
                "advertiseAddress": {"value": "10.0.0.1"},
                "apiServer": {"arguments": [{"name": "v", "value": "4"}]},
                "scheduler": {"arguments": [{"name": "v", "value": "2"}]},
                "kubeProxy": {"disabled": True},
                "encryption": {"configuration": {"text": "x"}},
            },
            "etcd": {"local": {"arguments": [{"name": "quota-backend-bytes", "value": "1"}]}},
            "images": {"repository": "registry.example.com"},
        },
        "engineOptions": {"k0s": {"networkProvider": "calico"}},
    }
    networks = {"podCidrs": ["fd00::/48", "10.1.0.0/16"], "serviceCidrs": ["10.2.0.0/16", "fd01::/112"]}
    assert plan("ROLE_INIT", spec, **networks).document(CONFIG)["spec"] == {
        "api": {
            "address": "10.0.0.1",
            "externalAddress": "api.example.com",
            "extraArgs": {
                "v": "4",
                "encryption-provider-config": "/etc/k0s/slipway/api-server/encryption-configuration",
            },
            "port": 6443,
            "sans": ["a.example.com"],
        },
        "images": {"repository": "registry.example.com"},
        "network": {
            "dualStack": {"enabled": True, "IPv6podCIDR": "fd00::/48", "IPv6serviceCIDR": "fd01::/112"},
            "kubeProxy": {"disabled": True},
            "podCIDR": "10.1.0.0/16",
            "provider": "calico",
            "serviceCIDR": "10.2.0.0/16",
        },
        "scheduler": {"extraArgs": {"v": "2"}},
        "storage": {
            "type": "etcd",
            "etcd": {"peerAddress": "10.0.0.1", "extraArgs": {"quota-backend-bytes": "1"}},
        },
        "telemetry": {"enabled": False},
    }


def test_a_cluster_is_stored_elsewhere_where_the_spec_says_so(plan: Make) -> None:
    """In an etcd of its own, or in a database whose password stays a reference."""
    external = {
        "endpoints": ["https://10.0.0.9:2379"],
        "caFile": "/e/ca.crt",
        "certFile": "/e/client.crt",
        "keyFile": "/e/client.key",
    }
    storage = plan("ROLE_INIT", {"kubernetes": {"etcd": {"external": external}}}).document(CONFIG)["spec"]["storage"]
    assert storage["etcd"]["externalCluster"]["clientKeyFile"] == "/e/client.key"
    source = {"secretRef": {"name": "database", "key": "url"}}
    made = plan("ROLE_INIT", {"engineOptions": {"k0s": {"kineDataSource": source}}})
    assert made.document(CONFIG)["spec"]["storage"] == {"type": "kine", "kine": {"dataSource": "database"}}
    assert "database" in {entry.secret_ref.name for entry in made.files[CONFIG].content.segments}


def test_the_command_line_has_what_the_spec_says_of_the_node(plan: Make) -> None:
    """Each word is quoted, so that nothing in it is meaning to systemd."""
    node = {
        "name": {"value": "node"},
        "labels": [{"name": "a.b/c", "value": "d"}, {"name": "e"}],
        "taints": {"items": [{"key": "k", "value": "v", "effect": "NoExecute"}, {"key": "l", "effect": "NoSchedule"}]},
        "kubeletArguments": [{"name": "max-pods", "value": "9"}, {"name": "root-dir", "value": '%h$HOME"\\'}],
        "criSocket": "unix:///run/other.sock",
    }
    made = plan("ROLE_WORKER", {"kubernetes": {"node": node}, "engineOptions": {"k0s": {"workerProfile": "p"}}})
    assert made.command == (
        'ExecStart="/usr/local/bin/k0s" "worker" "--cri-socket=remote:unix:///run/other.sock" "--profile=p" '
        '"--labels=a.b/c=d,e=" "--taints=k=v:NoExecute,l:NoSchedule" '
        '"--kubelet-extra-args=--max-pods=9 --root-dir=%%h$$HOME\\"\\\\ --hostname-override=node"'
    )


@pytest.mark.parametrize(
    ("spec", "words", "without"),
    [
        ({}, ("--enable-worker", "--cri-socket"), ("--no-taints",)),
        ({"kubernetes": {"node": {"taints": {}}}}, ("--enable-worker", "--no-taints"), ("--taints=",)),
        ({"engineOptions": {"k0s": {"controlPlaneNodes": False}}}, (), ("--enable-worker", "--cri-socket")),
        ({"engineOptions": {"k0s": {"ownContainerRuntime": True}}}, ("--enable-worker",), ("--cri-socket",)),
        (
            {
                "kubernetes": {"controlPlane": {"dns": {"disabled": True}}},
                "engineOptions": {"k0s": {"program": "/opt/k0s", "disabledComponents": ["metrics-server"]}},
            },
            ('"/opt/k0s"', "--disable-components=metrics-server,coredns"),
            (),
        ),
    ],
    ids=["default", "no taints", "no node", "own runtime", "components"],
)
def test_a_control_plane_is_a_node_unless_said_otherwise(
    plan: Make, spec: dict[str, object], words: tuple[str, ...], without: tuple[str, ...]
) -> None:
    """Cluster API waits for a node of every machine."""
    command = plan("ROLE_CONTROL_PLANE", spec).command
    assert all(word in command for word in words)
    assert not any(word in command for word in without)


def test_the_wait_for_a_machine_is_bounded(plan: Make) -> None:
    """By the timeouts of the spec: k0s itself tries again for ever."""
    timeouts = {"kubernetes": {"timeouts": {"tlsBootstrap": "20s", "controlPlaneComponent": "90s"}}}
    for role, seconds in (("ROLE_WORKER", "20"), ("ROLE_INIT", "90")):
        (step,) = (entry for entry in plan(role, timeouts).result.steps if entry.id == "20-k0s")
        assert seconds in step.command.argv
    (step,) = plan("ROLE_WORKER").result.steps
    assert "300" in step.command.argv


@pytest.mark.parametrize(
    ("role", "path"),
    [
        ("ROLE_INIT", ""),
        ("ROLE_CONTROL_PLANE", "/etc/slipway/k0s-join.conf"),
        ("ROLE_WORKER", "/var/lib/k0s/kubelet-bootstrap.conf"),
    ],
)
def test_the_wait_knows_by_what_a_machine_joins(plan: Make, role: str, path: str) -> None:
    """A control plane of k0s does not say that it distrusts the cluster: this kubeconfig shows it."""
    result = plan(role).result
    (step,) = (entry for entry in result.steps if entry.id == "20-k0s")
    assert step.command.argv[-1] == path
    assert not path or path in {file.path for file in result.files}


def test_a_plan_is_made_twice_alike_and_the_bundle_stays() -> None:
    """The engine is a pure function."""
    sample = bundle("ROLE_INIT")
    before = sample.SerializeToString(deterministic=True)
    assert K0sEngine().build_plan(sample, FORMAT) == K0sEngine().build_plan(sample, FORMAT)
    assert sample.SerializeToString(deterministic=True) == before
