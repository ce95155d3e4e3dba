"""The cluster's secrets that k0s' machines need, and the tokens by which they join.

k0s makes all other keys of a cluster itself, and a joining control plane fetches the authority's key from another one.
The token that lets it do so is a secret of its own: with it a worker could fetch that key, too. Source: k0s' pkg/token
and cmd/api.
"""

from slipway.bootstrapper.credentials.cluster_secrets import BOOTSTRAP_TOKEN, CLUSTER_CA, authority
from slipway.bootstrapper.engines.bootstrap_tokens import BootstrapTokens
from slipway.v1alpha1 import secret_pb2 as secretpb

CONTROL_PLANE_TOKEN = "slipway.dev/control-plane-token"  # noqa: S105  # the name of a secret

SECRETS = (
    authority(
        CLUSTER_CA,
        common_name="kubernetes-ca",
        full_roles=("ROLE_INIT",),
        public_roles=("ROLE_CONTROL_PLANE", "ROLE_WORKER"),
    ),
    secretpb.SecretDeclaration(
        name=BOOTSTRAP_TOKEN,
        kind=secretpb.SECRET_KIND_BOOTSTRAP_TOKEN,
        full_roles=("ROLE_INIT", "ROLE_WORKER"),
    ),
    secretpb.SecretDeclaration(
        name=CONTROL_PLANE_TOKEN,
        kind=secretpb.SECRET_KIND_BOOTSTRAP_TOKEN,
        full_roles=("ROLE_INIT", "ROLE_CONTROL_PLANE"),
    ),
)

JOIN_TOKENS = BootstrapTokens(
    worker={
        "usage-bootstrap-api-auth": "true",
        "usage-bootstrap-api-worker-calls": "true",
        "usage-bootstrap-authentication": "true",
    },
    control_plane={
        "usage-bootstrap-api-auth": "true",
        "usage-bootstrap-authentication": "false",
        "usage-bootstrap-signing": "false",
        "usage-controller-join": "true",
    },
    control_plane_secret=CONTROL_PLANE_TOKEN,
)
