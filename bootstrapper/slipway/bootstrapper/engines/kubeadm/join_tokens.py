"""The tokens by which machines join a cluster of kubeadm's."""

from slipway.bootstrapper.engines.bootstrap_tokens import BootstrapTokens

_TOKEN = {
    "usage-bootstrap-signing": "true",
    "usage-bootstrap-authentication": "true",
    "auth-extra-groups": "system:bootstrappers:kubeadm:default-node-token",
}

JOIN_TOKENS = BootstrapTokens(worker=_TOKEN, control_plane=_TOKEN)
"""A joining control plane brings its keys with it, so that its token is a worker's."""
