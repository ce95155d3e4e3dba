"""The container runtime and the proxies of the system's services."""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.containerd_config import holds_secrets, toml_content
from slipway.bootstrapper.lowering.containerd_files import configuration, registry_files
from slipway.bootstrapper.lowering.draft import PRIVATE, PUBLIC, CannotLower, Draft
from slipway.bootstrapper.lowering.emission import put_file
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.bootstrapper.lowering.windows.powershell import script
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

CONTAINERD, PROXY = "windows.containerd", "windows.proxy"


def lower_containerd(items: Sequence[Item], draft: Draft) -> None:
    """Write containerd's files and start the service anew; it keeps its own runtime for Windows containers."""
    (item,) = items
    containerd: ospb.Containerd = item.message
    if containerd.HasField("cgroup_driver"):
        remedy = "drop containerd.cgroupDriver"
        raise CannotLower(item, "Windows has no control groups", remedy=remedy, fields=["cgroup_driver"])
    runtime = needed(draft.profile.containerd, item)
    content = toml_content(configuration(item, runtime, None))
    mode = PRIVATE if holds_secrets(content) else PUBLIC
    put_file(draft, item, runtime.configuration, content, by=CONTAINERD, mode=mode)
    for path, file in registry_files(item, runtime, separator="\\", colon="_"):
        put_file(draft, item, path, file, by=CONTAINERD)
    calls = [["Restart-Runtime", runtime.service]]
    if containerd.HasField("proxy"):
        calls.insert(0, _environment(runtime.service, containerd.proxy))
    text = script(calls, programs=["services"])
    draft.step(Rank.CONTAINERD, "containerd", source=item.message, by=CONTAINERD, script=text)


def lower_proxy(items: Sequence[Item], draft: Draft) -> None:
    """Give the services of the container runtime and the kubelet their environment."""
    (item,) = items
    names = [needed(draft.profile.containerd, item).service, needed(draft.profile.kubelet, item).service]
    calls = [_environment(name, item.message) for name in names]
    calls += [["Restart-Present", name] for name in names]
    text = script(calls, programs=["services"])
    draft.step(Rank.SYSTEMD_UNITS, "proxy", source=item.message, by=PROXY, script=text)


def _environment(service: str, proxy: ospb.Proxy) -> list[str]:
    return ["Set-Environment", service, proxy.http_proxy, proxy.https_proxy, ",".join(proxy.no_proxy)]
