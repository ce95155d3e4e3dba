"""What every bootstrap engine is, so that the bootstrapper needs to know none of them by name."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from slipway.bootstrapper.engines.result import EngineResult
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


class Engine(Protocol):
    """A bootstrap engine: a pure function of intent, target and credentials.

    Attributes:
        name: its name, e.g. "kubeadm"; also the family of control plane that it makes.
        version: its version.
        features: features of `kubernetes.*` and `engine_options.*` that it takes.
        remedies: by feature that it does not take, what to do in its place where that is more than to leave it out.
    """

    name: str
    version: str
    features: Sequence[provisionerpb.FeatureSupport]
    remedies: Mapping[str, str]

    def build_plan(self, bundle: bundlepb.BootstrapBundle) -> EngineResult:
        """Give the plan for a neutral bundle, or every reason why there can be none. Its credentials are references.

        Raises:
            SlipwayError: UnsupportedTarget or KubernetesVersionUnsupported.
        """
        ...
