"""The container runtime: its configuration file, a folder for each registry, its proxy, and a restart."""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.containerd_config import (
    Runtime,
    RuntimeOptions,
    Runtimes,
    holds_secrets,
    sandbox_place,
    toml_content,
)
from slipway.bootstrapper.lowering.containerd_files import configuration, registry_files
from slipway.bootstrapper.lowering.draft import PRIVATE, PUBLIC, Draft
from slipway.bootstrapper.lowering.emission import claim, put_file
from slipway.bootstrapper.lowering.linux.proxy import drop_in_mode, variables
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.linux.systemd_units import environment_drop_in
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

ID = "linux.containerd"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Write all of containerd's files and have it read them; without a sandbox image the machine's own stays pinned."""
    (item,) = items
    containerd: ospb.Containerd = item.message
    runtime = needed(draft.profile.containerd, item)
    systemd = needed(draft.profile.systemd_directory, item)
    options = RuntimeOptions(systemd_cgroup=containerd.cgroup_driver != ospb.CGROUP_DRIVER_CGROUPFS)
    content = toml_content(configuration(item, runtime, Runtimes(runtimes={"runc": Runtime(options=options)})))
    mode = PRIVATE if holds_secrets(content) else PUBLIC
    calls: list[list[str]] = []
    path = runtime.configuration
    if not containerd.sandbox_image:
        claim(draft, item, path)
        path = f"{path}.slipway"
        calls.append(["adopt", path, runtime.configuration, *sandbox_place(runtime.configuration_version)])
    put_file(draft, item, path, content, by=ID, mode=mode)
    for file_path, file in registry_files(item, runtime, separator="/"):
        put_file(draft, item, file_path, file, by=ID)
    drop_ins = f"{systemd}/{runtime.service}.d"
    if runtime.environment:
        put_file(draft, item, f"{drop_ins}/10-slipway-config.conf", environment_drop_in(runtime.environment), by=ID)
    if containerd.HasField("proxy"):
        text = environment_drop_in(variables(containerd.proxy, complete=True))
        mode = drop_in_mode(containerd.proxy)
        put_file(draft, item, f"{drop_ins}/20-slipway-proxy.conf", text, by=ID, mode=mode)
    calls += [["systemctl", verb, *names] for verb, names in _verbs(runtime.service)]
    text = script(calls, programs=["containerd"])
    draft.step(Rank.CONTAINERD, "containerd", source=item.message, by=ID, script=text)


def _verbs(service: str) -> list[tuple[str, list[str]]]:
    return [("daemon-reload", []), ("enable", [service]), ("restart", [service])]
