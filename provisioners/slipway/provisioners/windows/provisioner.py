"""The Windows provisioner as the SDK serves it, and its user data for cloudbase-init.

That is a script, known by its first line, that runs once as an administrator.
"""

from collections.abc import Sequence

from slipway.contract.errors import UnsupportedTarget, Violation
from slipway.provisioners.windows import unattend
from slipway.provisioners.windows.capabilities import UNATTEND, formats
from slipway.provisioners.windows.items import calls, computer_name, zone, zone_call
from slipway.provisioners.windows.script import body, call, entry_point, program, text
from slipway.sdk import RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

# It must stand at byte 0, with a line break behind it; with a byte order mark before it cloudbase-init does nothing.
_HEADER = "#ps1_sysnative"


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
        return _cloudbase_init(bundle, ctx)


def _cloudbase_init(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> UserData:
    """Give the script."""
    name = computer_name(bundle.os, ctx)
    zone_name = zone(bundle.os, ctx)
    items = calls(bundle.os, ctx)
    if zone_name is not None:
        items.insert(0, zone_call(zone_name))
    rename = [*program("rename"), call("Set-HostName", name)] if name is not None else []
    lines = [_HEADER, *program("start"), *rename, *body(items, entry_point(bundle), finish=(), ctx=ctx)]
    return UserData(text(lines))
