"""Runs pods of one namespace of a real API server on a network of their own."""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from slipway.rpc.probe import probe
from tests.deploy.kubernetes.kubelet import container as containers
from tests.deploy.kubernetes.kubelet import pod_init
from tests.deploy.kubernetes.kubelet.container import Facts
from tests.deploy.kubernetes.kubelet.network import HERE, Network
from tests.deploy.kubernetes.kubelet.volumes import Volumes
from tools.cluster.management import RunningCluster
from tools.cluster.processes import Process

Object = dict[str, Any]

REPOSITORY = Path(__file__).resolve().parents[4]
_IMAGE = {"PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", "GRPC_VERBOSITY": "NONE"}
PATIENCE = 180.0
_INTERVAL = 0.2


@dataclass
class Pod:
    """One pod, with one container."""

    name: str
    number: int
    labels: dict[str, str]
    spec: Object
    address: str
    addresses: tuple[str, str]
    process: Process
    volumes: Volumes
    tunnels: tuple[tuple[str, int], ...]
    forwards: list[Process] = field(default_factory=list)
    doors: dict[int, str] = field(default_factory=dict)

    @property
    def container(self) -> Object:
        """Its container, as the manifest has it."""
        (only,) = self.spec["containers"]
        found: Object = only
        return found

    def log(self) -> str:
        """What it has said."""
        return self.process.log.read_text(encoding="utf-8")


class Kubelet:
    """A node. Its pods end with the cluster."""

    def __init__(self, cluster: RunningCluster, *, namespace: str) -> None:
        """Make the network of the node, with the API server where pods look for it."""
        self.cluster = cluster
        self.namespace = namespace
        self.network = Network(cluster.supervisor)
        self.pods: list[Pod] = []
        self._folder = cluster.directory / "pods"
        self._targets: dict[str, list[tuple[str, str, int]]] = {}
        self.services = [self._service("default", "kubernetes")]
        host, port = cluster.administration.endpoint
        self.network.service(self.services[0]["spec"]["clusterIP"], 443, [(HERE, host, port)])

    def serve(self, *names: str) -> None:
        """Learn of Services, so that pods that are started from now on know their names."""
        self.services += [self._service(self.namespace, name) for name in names]

    def lead(self, name: str) -> None:
        """Lead the connections to a Service to the pods that its selector selects."""
        service = next(one for one in self.services if one["metadata"]["name"] == name)
        selector = service["spec"]["selector"].items()
        chosen = [pod for pod in self.pods if selector <= pod.labels.items()]
        for port in service["spec"]["ports"]:
            targets = [(self.network.namespace, one.addresses[0], _target(one, port)) for one in chosen]
            self.network.service(service["spec"]["clusterIP"], port["port"], targets)

    def run(self, owner: Object, *, family: int = 4, tunnels: Sequence[tuple[str, int]] = ()) -> Pod:
        """Start a pod of a Deployment or Job; `tunnels` are servers of this machine that it shall reach, too.

        Raises:
            NotMounted: a volume is not there.
        """
        number = len(self.pods) + 1
        name = f"{owner['metadata']['name']}-{number}"
        template = owner["spec"]["template"]
        spec: Object = template["spec"]
        (container,) = spec["containers"]
        addresses = self.network.addresses(number)
        address = addresses[0] if family == 4 else addresses[1]
        context = spec["securityContext"]
        volumes = Volumes(self._folder / name, self.cluster.client, self.namespace, context["fsGroup"])
        account = self.cluster.client.get("v1", "ServiceAccount", spec["serviceAccountName"], namespace=self.namespace)
        binds = {str(path): (str(path), True) for path in _programs()}
        binds |= volumes.mount(spec, container)
        if account.get("automountServiceAccountToken", True):
            binds |= volumes.token(self._token(account))
        facts = Facts(
            name, self.namespace, address, account["metadata"]["name"], containers.service_variables(self.services)
        )
        variables = containers.environment(spec, container, facts)
        order = {
            "network": self.network.order(number),
            "root": str(self._folder / name / "root"),
            "binds": binds,
            "files": {
                "hosts": self._hosts(),
                "passwd": "slipway:x:65532:65532::/:\n",
                "nsswitch.conf": "hosts: files\n",
            },
            "read_only": container["securityContext"]["readOnlyRootFilesystem"],
            "user": context["runAsUser"],
            "group": context["runAsGroup"],
            "groups": context["fsGroup"],
            "command": containers.command(container, variables),
            "environment": {**_IMAGE, "PATH": f"{sys.prefix}/bin:/usr/bin:/bin", **variables},
        }
        path = self._folder / name / "order.json"
        path.write_text(json.dumps(order), encoding="utf-8")
        wall = ("unshare", "--mount", "--net", "--ipc", "--uts", "--propagation", "private")
        command = (*wall, sys.executable, "-I", "-S", "-B", str(Path(pod_init.__file__)), str(path))
        process = self.cluster.supervisor.process(name, command, ready=lambda: True)
        labels = template["metadata"]["labels"]
        pod = Pod(name, number, labels, spec, address, addresses, process, volumes, tuple(tunnels))
        self.pods.append(pod)
        self._start(pod)
        return pod

    def revive(self, pod: Pod) -> bool:
        """Start the container of a pod again if it has ended, as its restart policy says; tell whether it had."""
        if pod.process.running:
            return False
        # Whoever listens in its network keeps the old one, with its address.
        for forward in pod.forwards:
            forward.kill()
        pod.forwards.clear()
        self._start(pod)
        return True

    def _start(self, pod: Pod) -> None:
        pod.process.start()
        for host, port in pod.tunnels:
            _until(lambda: _is_up(pod), f"{pod.name} has a network")
            listen = (f"/proc/{pod.process.pid}/ns/net", host, port)
            pod.forwards.append(self.network.forward(listen, [(HERE, host, port)]))

    async def is_healthy(self, pod: Pod, kind: str) -> bool:
        """Ask a probe of a pod once: startupProbe, readinessProbe or livenessProbe."""
        port = pod.container[kind]["grpc"]["port"]
        return await probe(self.door(pod, port))

    def door(self, pod: Pod, port: int) -> str:
        """Give an address of this machine that leads to a port of a pod."""
        if port not in pod.doors:
            pod.doors[port] = self.network.door(pod.address, port)
        return pod.doors[port]

    def follow(self) -> list[Pod]:
        """Bring the volumes of all pods up to date; give the pods for which something has changed."""
        return [pod for pod in self.pods if pod.process.running and pod.volumes.follow(pod.spec)]

    def _service(self, namespace: str, name: str) -> Object:
        return self.cluster.client.get("v1", "Service", name, namespace=namespace)

    def _hosts(self) -> str:
        lines = ["127.0.0.1 localhost", "::1 localhost"]
        for service in self.services:
            name, namespace = service["metadata"]["name"], service["metadata"]["namespace"]
            names = [f"{name}.{namespace}.svc.cluster.local", f"{name}.{namespace}.svc", f"{name}.{namespace}"]
            own = [name] if namespace == self.namespace else []
            lines.append(" ".join([service["spec"]["clusterIP"], *names, *own]))
        return "\n".join(lines) + "\n"

    def _token(self, account: Object) -> dict[str, bytes]:
        access = self.cluster.administration.service_account(self.namespace, account["metadata"]["name"])
        return {
            "token": access.token.encode(),
            "ca.crt": self.cluster.administration.authority.certificate,
            "namespace": self.namespace.encode(),
        }


def _programs() -> list[Path]:
    """The folders of this machine that stand for the image."""
    found = {Path(sys.base_prefix), Path(sys.prefix), REPOSITORY}
    inside = {one for one in found if any(other in one.parents for other in found)}
    return sorted(one for one in found - inside if not one.is_relative_to("/usr"))


def _target(pod: Pod, port: Object) -> int:
    wanted = port["targetPort"]
    if isinstance(wanted, int):
        return wanted
    return next(int(one["containerPort"]) for one in pod.container["ports"] if one["name"] == wanted)


def _is_up(pod: Pod) -> bool:
    """Whether the pod has come to its command, and so through its network."""
    command = Path(f"/proc/{pod.process.pid}/cmdline").read_bytes()
    return b"pod_init" not in command and b"unshare" not in command


def _until(true: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not true():
        if time.monotonic() > end:
            raise AssertionError(f"not so after {PATIENCE:.0f} s: {what}")
        time.sleep(_INTERVAL)
