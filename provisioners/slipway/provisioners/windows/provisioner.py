"""The Windows provisioner as the SDK serves it."""

from collections.abc import Sequence

from slipway.contract.errors import UnsupportedTarget, Violation
from slipway.provisioners.windows import cloudbase_init, unattend
from slipway.provisioners.windows.capabilities import UNATTEND, formats
from slipway.sdk import RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


class WindowsProvisioner:
    """User data for cloudbase-init, and answer files."""

    name = "windows"
    version = "0.1.0"
    documentation_url = ""

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        """Give the two formats, cloudbase-init first."""
        return formats()

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        """Give the user data of the asked format.

        Raises:
            UnsupportedTarget: the machine is to be a control plane, which Windows cannot be.
        """
        if bundle.machine.role in (clusterpb.ROLE_INIT, clusterpb.ROLE_CONTROL_PLANE):
            raise UnsupportedTarget(
                "Windows runs workers only",
                violations=[
                    Violation(
                        "machine.role", "must be a worker on Windows", remedy="choose a Linux machine for this role"
                    )
                ],
                metadata={"supported": "ROLE_WORKER"},
            )
        if ctx.format.format == UNATTEND:
            return unattend.render(bundle, target, ctx)
        return cloudbase_init.render(bundle, ctx)
