"""The operating system's items that Talos has fields for: files, sysctls, modules, time, proxies, trust."""

from dataclasses import dataclass, field
from typing import Any

from slipway.provisioners.talos import registries
from slipway.provisioners.talos.documents import (
    NTP,
    EnvironmentConfig,
    HostnameConfig,
    Kernel,
    KernelModule,
    MachineFile,
    MachineNetwork,
    Named,
    Time,
    TimeSyncConfig,
    TrustedRootsConfig,
)
from slipway.provisioners.talos.material import certificates
from slipway.provisioners.talos.naming import Names
from slipway.provisioners.talos.versions import TalosVersion
from slipway.sdk import RenderContext
from slipway.v1alpha1 import os_pb2 as ospb

_PERMISSIONS = 0o777


@dataclass(slots=True)
class Host:
    """What becomes of the operating system's items.

    Attributes:
        machine: fields of the main document's machine section.
        documents: documents of their own.
    """

    machine: dict[str, Any] = field(default_factory=dict)
    documents: list[Named] = field(default_factory=list)


def host(system: ospb.OperatingSystem, names: Names, version: TalosVersion, ctx: RenderContext) -> Host:
    """Give the operating system's items in the shape of a Talos version."""
    result = Host()
    result.machine["files"] = _files(system, ctx) or None
    result.machine["sysctls"] = {sysctl.name: sysctl.value for sysctl in system.sysctls} or None
    if system.kernel_modules:
        modules = [
            KernelModule(name=module.name, parameters=list(module.parameters) or None)
            for module in system.kernel_modules
        ]
        result.machine["kernel"] = Kernel(modules=modules)
    if version.network_documents:
        _network_documents(result, system, names, ctx)
    else:
        _network_sections(result, system, names, ctx)
    _environment(result, system, version)
    for index, root in enumerate(system.trusted_certificates):
        path = f"os.trusted_certificates[{index}].certificate"
        pem = certificates(ctx.content(root.certificate, path), path)
        result.documents.append(TrustedRootsConfig(name=root.name, certificates=pem))
    return result


def _files(system: ospb.OperatingSystem, ctx: RenderContext) -> list[MachineFile]:
    files = []
    for index, file in enumerate(system.files):
        path = f"os.files[{index}]"
        if file.owner != "root" or file.group != "root":
            why = "has an owner other than root, and Talos has no other users"
            ctx.refuse(path, "os.files", why, remedy="leave out owner and group")
        if file.mode > _PERMISSIONS:
            why = "has a setuid, setgid or sticky bit, which Talos does not set"
            ctx.refuse(f"{path}.mode", "os.files", why, remedy="choose a mode up to 0777")
        try:
            content = ctx.content(file.content, f"{path}.content").decode()
        except UnicodeDecodeError:
            why = "is not UTF-8, and Talos takes text only"
            ctx.refuse(f"{path}.content", "os.files", why, remedy="write text in UTF-8, or put the file into the image")
            continue
        files.append(MachineFile(content=content, permissions=file.mode, path=file.path))
    return files


def _network_documents(result: Host, system: ospb.OperatingSystem, names: Names, ctx: RenderContext) -> None:
    auto = "stable" if names.hostname is None else None
    result.documents.append(HostnameConfig(auto=auto, hostname=names.hostname))
    if system.HasField("ntp"):
        ntp = NTP(servers=list(system.ntp.servers)) if system.ntp.servers else None
        result.documents.append(TimeSyncConfig(enabled=_enabled(system.ntp), ntp=ntp))
    result.documents += registries.documents(list(system.containerd.registries), ctx)


def _network_sections(result: Host, system: ospb.OperatingSystem, names: Names, ctx: RenderContext) -> None:
    if names.hostname is not None:
        result.machine["network"] = MachineNetwork(hostname=names.hostname)
    if system.HasField("ntp"):
        result.machine["time"] = Time(disabled=not _enabled(system.ntp), servers=list(system.ntp.servers) or None)
    result.machine["registries"] = registries.sections(list(system.containerd.registries), ctx)


def _enabled(ntp: ospb.Ntp) -> bool:
    return ntp.enabled if ntp.HasField("enabled") else True


def _environment(result: Host, system: ospb.OperatingSystem, version: TalosVersion) -> None:
    proxy = system.proxy
    variables = {
        "http_proxy": proxy.http_proxy,
        "https_proxy": proxy.https_proxy,
        "no_proxy": ",".join(proxy.no_proxy),
    }
    variables = {name: value for name, value in variables.items() if value}
    if variables and version.environment_document:
        result.documents.append(EnvironmentConfig(variables=variables))
    elif variables:
        result.machine["env"] = variables
