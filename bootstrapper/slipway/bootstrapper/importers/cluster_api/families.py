"""What a cluster is bootstrapped by, as far as the kinds of Cluster API's providers say.

Sources: the API types of each provider; the control plane of Kamaji runs in pods, and its workers join by kubeadm.
"""

_CONTROL_PLANES = {
    "KubeadmControlPlane": "kubeadm",
    "KamajiControlPlane": "kubeadm",
    "TalosControlPlane": "talos",
    "K0sControlPlane": "k0s",
    "K0smotronControlPlane": "k0s",
    "KThreesControlPlane": "k3s",
    "RKE2ControlPlane": "rke2",
    "MicroK8sControlPlane": "microk8s",
}
_CONFIGS = {
    "KubeadmConfig": "kubeadm",
    "TalosConfig": "talos",
    "K0sControllerConfig": "k0s",
    "K0sWorkerConfig": "k0s",
    "KThreesConfig": "k3s",
    "RKE2Config": "rke2",
    "MicroK8sConfig": "microk8s",
}


def family_of_control_plane(kind: str) -> str:
    """Give what a control plane of a kind is bootstrapped by, "" for a kind that is not known."""
    return _CONTROL_PLANES.get(kind, "")


def family_of_config(kind: str) -> str:
    """Give what the machine of a bootstrap config of a kind is bootstrapped by, "" where the kind does not say."""
    return _CONFIGS.get(kind, "")
