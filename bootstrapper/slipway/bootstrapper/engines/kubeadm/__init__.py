"""The kubeadm engine: the only place where Kubernetes intent becomes kubeadm documents, files and steps."""

from slipway.bootstrapper.engines.kubeadm.engine import KubeadmEngine as KubeadmEngine
