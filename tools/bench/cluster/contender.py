"""Who is measured: a bootstrap provider as its users run it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tools.cluster import listening, providers
from tools.cluster.management import RunningCluster
from tools.cluster.processes import Process
from tools.cluster.topology import BOOTSTRAP
from tools.oracles import go_programs

Object = dict[str, Any]

_ACCOUNT = ("capi-kubeadm-bootstrap-system", "capi-kubeadm-bootstrap-manager")
_WEBHOOKS_OF = providers.KUBEADM_BOOTSTRAP
_HEALTH = 19744
_DIAGNOSTICS = 19844
_SOCKET = "unix:///run/containerd/containerd.sock"
_UNLIMITED = 100_000


@dataclass(frozen=True, slots=True)
class Limits:
    """How many calls a second a provider's clients may make, with which bursts; None is the program's own default.

    Attributes:
        name: in the table.
        management: of the management cluster.
        workload: of a workload cluster. Slipway's own clients of those have no limit.
    """

    name: str
    management: tuple[int, int] | None = None
    workload: tuple[int, int] | None = None


DEFAULT = Limits("default flags")
EQUAL = Limits("equal client limits", management=(100, 200), workload=(_UNLIMITED, _UNLIMITED))
UNTHROTTLED = Limits("unthrottled", management=(_UNLIMITED, _UNLIMITED), workload=(_UNLIMITED, _UNLIMITED))


@dataclass(frozen=True, slots=True)
class Contender:
    """A provider: the config of a machine by its metadata, its processes, and the service account that they are.

    ``processes`` also gives the cluster what the provider needs there.
    """

    name: str
    account: tuple[str, str]
    config: Callable[[Object], Object]
    processes: Callable[[RunningCluster, Limits, str], Sequence[Process]]

    @property
    def user(self) -> str:
        """As whom its calls stand in the audit log."""
        return "system:serviceaccount:{}:{}".format(*self.account)


def _kubeadm_config(metadata: Object) -> Object:
    node = {"nodeRegistration": {"criSocket": _SOCKET}}
    return {
        "apiVersion": BOOTSTRAP,
        "kind": "KubeadmConfig",
        "metadata": metadata,
        "spec": {
            "files": [{"path": "/etc/hello", "content": "hello\n", "permissions": "0644"}],
            "joinConfiguration": node,
        },
    }


def _kubeadm_processes(cluster: RunningCluster, limits: Limits, run: str) -> Sequence[Process]:
    """The provider's original program, unchanged, at its own default flags but for the addresses."""
    health, webhooks = f"{cluster.address}:{_HEALTH}", providers.webhook_port(_WEBHOOKS_OF, cluster.address)
    flags = [
        f"--{client}-{word}={value}"
        for client, limit in (("kube-api", limits.management), ("clustercache-client", limits.workload))
        for word, value in zip(("qps", "burst"), limit or (), strict=bool(limit))
    ]
    command = (
        str(go_programs.PROGRAMS["cluster-api-1.14-kubeadm-bootstrap"].require()),
        f"--kubeconfig={cluster.kubeconfig_of_account(*_ACCOUNT)}", f"--webhook-port={webhooks}",
        f"--webhook-cert-dir={cluster.administration.directory / 'serving'}", f"--health-addr={health}",
        f"--diagnostics-address={cluster.address}:{_DIAGNOSTICS}", *flags,
    )  # fmt: skip
    ready = f"http://{health}/readyz"
    return [cluster.supervisor.process(f"kubeadm-{run}", command, ready=lambda: listening.answers_ok(ready))]


KUBEADM = Contender("kubeadm bootstrap provider 1.14.2", _ACCOUNT, _kubeadm_config, _kubeadm_processes)
