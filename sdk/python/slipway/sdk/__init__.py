"""Everything that the author of a provisioner does not want to write.

An author writes one object: a name, a version, what each format takes, and a pure `render`. This package
turns it into a service: the feature check, limits, hashing, expiry, TLS, health, registration, lease, drain
and command line.
"""

from slipway.sdk.core import ProvisionerCore
from slipway.sdk.core import ProvisionerCore as in_process  # noqa: N813  # reads as the act: in_process(provisioner)
from slipway.sdk.provisioner import Provisioner, RenderContext, UserData
from slipway.sdk.refusal import Refusal, refuse, unsupported_feature

__all__ = [
    "Provisioner",
    "ProvisionerCore",
    "Refusal",
    "RenderContext",
    "UserData",
    "in_process",
    "refuse",
    "unsupported_feature",
]
