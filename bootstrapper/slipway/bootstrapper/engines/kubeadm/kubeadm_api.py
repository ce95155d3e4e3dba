"""Which kubeadm API a machine speaks, by its Kubernetes version.

Source: the mapping of Cluster API's kubeadm provider.
"""

from enum import Enum

from slipway.bootstrapper.engines.kubernetes_version import KubernetesVersion, KubernetesVersionError

OLDEST = (1, 22)
"""Oldest minor version for which this engine writes a configuration."""


class KubeadmApi(Enum):
    """The kubeadm configuration APIs that this engine writes."""

    V1BETA3 = "kubeadm.k8s.io/v1beta3"
    V1BETA4 = "kubeadm.k8s.io/v1beta4"


def kubeadm_api(version: KubernetesVersion) -> KubeadmApi:
    """Choose the kubeadm API: 1.22 to 1.30 v1beta3, later v1beta4; a pre-release counts as its release.

    Raises:
        KubernetesVersionError: the version is older than 1.22.
    """
    if version.series < OLDEST:
        raise KubernetesVersionError("Kubernetes older than v1.22 is not supported")
    return KubeadmApi.V1BETA3 if version.series < (1, 31) else KubeadmApi.V1BETA4
