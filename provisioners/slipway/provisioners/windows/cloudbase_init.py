"""User data for cloudbase-init: a script, known by its first line, that runs once as an administrator."""

from slipway.provisioners.windows.hostname import computer_name
from slipway.provisioners.windows.items import calls, zone, zone_call
from slipway.provisioners.windows.programs import program
from slipway.provisioners.windows.quoting import call
from slipway.provisioners.windows.script import body, entry_point, text
from slipway.sdk import RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb

# It must stand at byte 0, with a line break behind it; with a byte order mark before it cloudbase-init does nothing.
_HEADER = "#ps1_sysnative"


def render(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> UserData:
    """Give the script."""
    name = computer_name(bundle.os, ctx)
    zone_name = zone(bundle.os, ctx)
    items = calls(bundle.os, ctx)
    if zone_name is not None:
        items.insert(0, zone_call(zone_name))
    rename = [*program("rename"), call("Set-HostName", name)] if name is not None else []
    lines = [_HEADER, *program("start"), *rename, *body(items, entry_point(bundle), finish=(), ctx=ctx)]
    return UserData(text(lines))
