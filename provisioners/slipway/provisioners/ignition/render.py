"""The provisioner: a bundle as one Ignition config."""

from collections.abc import Mapping, Sequence

from slipway.provisioners.ignition import accounts, features, spec2, storage, units
from slipway.provisioners.ignition.document import (
    Config,
    Ignition,
    KernelArguments,
    Nested,
    Passwd,
    Security,
    Storage,
    Systemd,
    Tls,
    Unit,
    emit,
    resource,
)
from slipway.provisioners.ignition.extension import nested_configs
from slipway.provisioners.ignition.nodes import Nodes
from slipway.sdk import RenderContext, UserData
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_HOSTNAME = "/etc/hostname"
_AUTHORITIES = "os.files.remote.ca"


class IgnitionProvisioner:
    """Renders Ignition configs, for Fedora CoreOS and Flatcar."""

    name = "ignition"
    version = "0.1.0"
    documentation_url = "https://coreos.github.io/ignition/"

    def formats(self) -> Sequence[provisionerpb.FormatInfo]:
        """Give the formats, one for each spec."""
        return features.formats()

    def render(self, bundle: bundlepb.BootstrapBundle, target: clusterpb.Target, ctx: RenderContext) -> UserData:
        """Turn the bundle into a config. Ignition is the same on every distribution: no target is needed."""
        del target
        spec = ctx.format.format.partition("/")[2]
        config = _config(bundle, ctx, spec)
        if ctx.refusals:
            return UserData(b"")
        document = config.as_json()
        return UserData(emit(spec2.translate(document) if spec.startswith("2.") else document))


def _config(bundle: bundlepb.BootstrapBundle, ctx: RenderContext, spec: str) -> Config:
    system = bundle.os
    is_spec2 = spec.startswith("2.")
    filesystems = storage.Filesystems(system, ctx, spec2=is_spec2)
    nodes = _nodes(system, ctx, late=filesystems.late, is_spec2=is_spec2)
    all_units = _units(bundle, ctx, reserved=None if is_spec2 else nodes.paths)
    if not is_spec2:
        for path in sorted(units.paths(all_units) & nodes.places.keys()):
            ctx.refuse(*nodes.places[path], "has the path of a unit or drop-in, which Ignition refuses")
    reserved = nodes.paths | {unit.name for unit in all_units}
    nested = nested_configs(bundle, ctx, spec=spec, reserved=reserved)
    return Config(
        ignition=Ignition(
            version=spec, config=Nested(merge=nested) if nested else None, security=_security(bundle, ctx)
        ),
        kernel_arguments=_kernel_arguments(system),
        passwd=Passwd(
            users=accounts.users(system, ctx) or None,
            groups=accounts.groups(system) or None,
        ),
        storage=Storage(
            disks=storage.disks(system, ctx, spec2=is_spec2) or None,
            filesystems=filesystems.made or None,
            directories=list(nodes.directories.values()) or None,
            files=list(nodes.files.values()) or None,
            links=list(nodes.links.values()) or None,
        ),
        systemd=Systemd(units=all_units),
    )


def _nodes(system: ospb.OperatingSystem, ctx: RenderContext, *, late: Mapping[str, str], is_spec2: bool) -> Nodes:
    nodes = Nodes(ctx, links=[link.path for link in system.links], late=late, spec2=is_spec2)
    for index, directory in enumerate(system.directories):
        nodes.add_directory(directory, f"os.directories[{index}]")
    for index, link in enumerate(system.links):
        nodes.add_link(link, f"os.links[{index}]")
    for index, file in enumerate(system.files):
        nodes.add_file(file, f"os.files[{index}]")
    accounts.add_sudoers(system, ctx, nodes)
    if system.HasField("hostname"):
        # A part that is known only on the machine would be a feature that this format does not declare.
        name = system.hostname.name.value or "".join(part.text for part in system.hostname.name.segments)
        nodes.add_own(_HOSTNAME, f"{name}\n".encode(), mode=0o644, where="os.hostname", feature="os.hostname")
    return nodes


def _units(bundle: bundlepb.BootstrapBundle, ctx: RenderContext, *, reserved: frozenset[str] | None) -> list[Unit]:
    """Give all units. `reserved` are the paths of files, which no unit that is made here may have; None in spec 2."""
    entry = units.entry_point(bundle.plan.entrypoint)
    names = {unit.name for unit in entry}
    for index, unit in enumerate(bundle.os.systemd_units):
        if unit.name in names:
            ctx.refuse(f"os.systemd_units[{index}]", "os.systemd.units", "has the name of a unit that is made here")
    own = units.bundle_units(bundle.os, ctx)
    names |= {unit.name for unit in bundle.os.systemd_units}
    return [*own, *entry, *storage.mount_units(bundle.os, ctx, names=names, reserved=reserved)]


def _kernel_arguments(system: ospb.OperatingSystem) -> KernelArguments | None:
    if not system.kernel_arguments:
        return None
    # Spec 3 refuses an argument that stands there twice, which means the same as once.
    present, absent = (
        list(dict.fromkeys(entry.argument for entry in system.kernel_arguments if entry.absent is is_absent))
        for is_absent in (False, True)
    )
    return KernelArguments(should_exist=present or None, should_not_exist=absent or None)


def _security(bundle: bundlepb.BootstrapBundle, ctx: RenderContext) -> Security | None:
    """Give the authorities that vouch for the servers of all downloads, or None where none has its own.

    Ignition has one list of them for a whole config: all downloads must agree. A file with authorities is refused where
    another download, which did not ask for them, would trust them, too. What an extension downloads is not known here.
    """
    remotes = {f"os.files[{index}]": file.remote for index, file in enumerate(bundle.os.files)}
    secured = {where for where, remote in remotes.items() if any(url.startswith("https:") for url in remote.urls)}
    own = [where for where, remote in remotes.items() if remote.HasField("ca")]
    if not own:
        return None
    authorities = {ctx.content(remotes[where].ca, f"{where}.remote.ca") for where in own}
    if secured != set(own) or len(authorities) > 1 or bundle.extensions:
        for where in own:
            why = "Ignition would trust these authorities for other downloads as well"
            ctx.refuse(where, _AUTHORITIES, why if where in secured else "no server of it shows a certificate")
        return None
    return Security(tls=Tls(certificate_authorities=[resource(authorities.pop())]))
