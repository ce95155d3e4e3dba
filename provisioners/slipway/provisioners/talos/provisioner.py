"""The Talos provisioner as the SDK serves it."""

from collections.abc import Sequence

from slipway.provisioners.talos.capabilities import formats
from slipway.provisioners.talos.render import render
from slipway.sdk import RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


class TalosProvisioner:
    """Machine configuration for Talos 1.9 to 1.13."""

    name = "talos"
    version = "0.1.0"
    documentation_url = ""

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        """Give one format for each Talos version, the newest first."""
        return formats()

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        """Give the machine configuration; see `slipway.provisioners.talos.render`."""
        return render(bundle, target, ctx)
