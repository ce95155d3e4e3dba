"""What a config of k0s says on the images that are booted here, which are those of kubeadm's nodes."""

from typing import Any

from tests.node import documents

_PROGRAMS = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
_COMPONENTS = ("konnectivity-server", "metrics-server", "autopilot", "helm")
_OPTIONS = {"program": "/usr/bin/k0s", "networkProvider": "custom", "disabledComponents": list(_COMPONENTS)}


def config(name: str, *, os: dict[str, Any], kubernetes: dict[str, Any], **spec: Any) -> dict[str, Any]:
    """A config for a control plane, whose name is "cp", or a worker.

    The kubelet's unit of the image is masked, since k0s runs a kubelet of its own. The image's containerd leaves
    control groups to systemd, and the network of pods is there already.
    """
    links = [{"path": f"/usr/bin/{program}", "target": "kubebox"} for program in _PROGRAMS]
    system = {
        "links": [*links, {"path": "/etc/kubernetes/admin.conf", "target": "/var/lib/k0s/pki/admin.conf"}],
        "systemdUnits": [{"name": "kubelet.service", "masked": True}],
        **os,
    }
    node = {"taints": {}, "kubeletArguments": [{"name": "cgroup-driver", "value": "systemd"}]}
    parts = {"engine": "k0s", **kubernetes, "node": {**node, **kubernetes.get("node", {})}}
    if name == "cp":
        plane = {"kubeProxy": {"disabled": True}, "dns": {"disabled": True}}
        parts["controlPlane"] = {**plane, **kubernetes.get("controlPlane", {})}
    return documents.config(
        name,
        os=system,
        kubernetes=parts,
        engineOptions={"k0s": _OPTIONS},
        **spec,
    )
