"""The provisioner: a bundle as one cloud-config document."""

from collections.abc import Sequence

from slipway.provisioners.cloud_init import accounts, commands, filesystems, storage
from slipway.provisioners.cloud_init.document import JINJA_HEADER, Value, emit
from slipway.provisioners.cloud_init.features import cloud_config
from slipway.provisioners.cloud_init.files import write_files
from slipway.provisioners.cloud_init.raw_items import raw_items
from slipway.provisioners.cloud_init.template_syntax import refuse_mistakes
from slipway.provisioners.cloud_init.texts import refuse_whole
from slipway.sdk import RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


class CloudInit:
    """Renders `#cloud-config` for cloud-init 22.4 and newer. Its one key is its one document."""

    name = "cloud-init"
    version = "0.1.0"
    documentation_url = "https://cloudinit.readthedocs.io/"

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        """Give the one format."""
        return [cloud_config()]

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        """Turn the bundle into a document. cloud-init knows its distribution itself: no target is needed."""
        del target
        document = {key: value for key, value in _sections(bundle, ctx).items() if value}
        if ctx.refusals:
            return UserData(b"")
        data = emit(document)
        if data.startswith(JINJA_HEADER):
            refuse_mistakes(bundle, data.decode(), ctx)
        return UserData(data)


def _sections(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> dict[str, Value]:
    system, entry, raw = bundle.os, bundle.plan.entrypoint, raw_items(bundle, ctx)
    refuse_whole(bundle.extensions, ctx)
    return {
        "write_files": [*write_files(system, ctx, raw), *commands.entry_point(entry)],
        "disk_setup": raw.disks(storage.disk_setup(system, ctx)),
        "fs_setup": raw.among("fs_setup", [[entry] for entry in filesystems.fs_setup(bundle, ctx)]),
        "mounts": raw.among(
            "mounts", [[row] for row in storage.mounts(system, ctx, needed=commands.written_early(entry))]
        ),
        "ntp": raw.ntp(),
        **_hostname(system.hostname),
        "timezone": system.time_zone.name,
        "groups": accounts.groups(system),
        "users": accounts.users(system, ctx, raw),
        "package_update": system.packages.update,
        "package_upgrade": system.packages.upgrade,
        "packages": [_package(package) for package in system.packages.install],
        "bootcmd": commands.bootcmd(bundle.commands, ctx, apart=not bundle.plan.entrypoint.commands),
        "runcmd": commands.runcmd(entry, ctx),
    }


def _hostname(hostname: ospb.Hostname) -> dict[str, Value]:
    """Name the machine. Both keys, since distributions differ in which one they prefer."""
    # A part that is known only on the machine would be a feature that this format does not declare.
    name = hostname.name.value or "".join(segment.text for segment in hostname.name.segments)
    return {"hostname": name, "fqdn": name}


def _package(package: ospb.Package) -> Value:
    return [package.name, package.version] if package.HasField("version") else package.name
