"""What a spec says about secrets that have to be generated."""

from datetime import timedelta

from slipway.bootstrapper.credentials.entropy import KeyType
from slipway.bootstrapper.credentials.store import KeySettings
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import spec_pb2 as specpb

_KEY_TYPES = {
    kubernetespb.KEY_ALGORITHM_RSA_2048: KeyType.RSA_2048,
    kubernetespb.KEY_ALGORITHM_RSA_3072: KeyType.RSA_3072,
    kubernetespb.KEY_ALGORITHM_RSA_4096: KeyType.RSA_4096,
    kubernetespb.KEY_ALGORITHM_ECDSA_P256: KeyType.ECDSA_P256,
    kubernetespb.KEY_ALGORITHM_ECDSA_P384: KeyType.ECDSA_P384,
}


def key_settings(spec: specpb.MachineBootstrapSpec) -> KeySettings:
    """Give the settings: what the spec says, else ECDSA P-256, else RSA-2048 for an imported one.

    Nothing changes for the owners of imported configs: the kubeadm provider makes RSA-2048 keys.
    """
    certificates = spec.kubernetes.certificates
    default = KeyType.RSA_2048 if spec.HasField("imported") else KeyType.ECDSA_P256
    settings = KeySettings(key_type=_KEY_TYPES.get(certificates.key_algorithm, default))
    if certificates.HasField("ca_validity"):
        validity = timedelta(seconds=certificates.ca_validity.seconds)
        return KeySettings(key_type=settings.key_type, authority_validity=validity)
    return settings
