"""The credentials of an intent, as the bootstrapper gives them: what the machine's role needs, and nothing else."""

from slipway.conformance import material
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb

_AUTHORITY = secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY
_PAIRS = {
    "cluster_ca": (material.CLUSTER_CA, _AUTHORITY),
    "etcd_ca": ("slipway.dev/etcd-ca", _AUTHORITY),
    "front_proxy_ca": ("slipway.dev/front-proxy-ca", _AUTHORITY),
    "service_account": ("slipway.dev/service-account", secretpb.SECRET_KIND_KEY_PAIR),
}


def given(bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo) -> None:
    """Set the credentials of a bundle's role in place of those that it has; secrets of others stay."""
    held = bundle.intent.credentials
    own = {
        (reference.name, reference.key)
        for reference in [held.cluster_ca.certificate, held.bootstrap_token, *held.declared]
    }
    kept = [secret for secret in bundle.secrets.secrets if (secret.name, secret.key) not in own]
    bundle.secrets.CopyFrom(secretpb.SecretMaterial(secrets=kept))
    bundle.intent.ClearField("credentials")
    _cluster(bundle, controls=bundle.intent.role != clusterpb.ROLE_WORKER)
    for declaration in info.secrets:
        for key, value in material.for_role(declaration, clusterpb.Role.Name(bundle.intent.role)).items():
            bundle.intent.credentials.declared.add(name=declaration.name, key=key)
            bundle.secrets.secrets.add(name=declaration.name, key=key, value=value, kind=declaration.kind)
    put_in_order(bundle)


def put_in_order(bundle: bundlepb.BootstrapBundle) -> None:
    """Sort the secrets by name and key, as the contract says."""
    if bundle.HasField("secrets"):
        found = sorted(bundle.secrets.secrets, key=lambda one: (one.name, one.key))
        bundle.secrets.CopyFrom(secretpb.SecretMaterial(secrets=found))


def _cluster(bundle: bundlepb.BootstrapBundle, *, controls: bool) -> None:
    """Add the cluster's own: its authority and a token, and for a control plane all pairs with their keys."""
    credentials, secrets = bundle.intent.credentials, bundle.secrets.secrets
    for field, (name, kind) in _PAIRS.items() if controls else [("cluster_ca", _PAIRS["cluster_ca"])]:
        declaration = secretpb.SecretDeclaration(name=name, kind=kind)
        values = material.values(declaration)
        reference = getattr(credentials, field)
        reference.certificate.name, reference.certificate.key = name, "tls.crt"
        secrets.add(name=name, key="tls.crt", value=values["tls.crt"], kind=kind)
        if controls:
            reference.private_key.name, reference.private_key.key = name, "tls.key"
            secrets.add(name=name, key="tls.key", value=values["tls.key"], kind=kind)
    credentials.bootstrap_token.name, credentials.bootstrap_token.key = material.BOOTSTRAP_TOKEN, "token"
    kind = secretpb.SECRET_KIND_BOOTSTRAP_TOKEN
    token = material.token(material.BOOTSTRAP_TOKEN)
    secrets.add(name=material.BOOTSTRAP_TOKEN, key="token", value=token, kind=kind)
    credentials.ca_hashes.append(material.ca_hash(material.CLUSTER_CA))
