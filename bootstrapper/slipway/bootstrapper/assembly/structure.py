"""The rules of a spec that take more than one field to decide, and that options.proto cannot say.

Each yields a violation with the field path; a value is never repeated.
"""

from collections.abc import Iterator
from itertools import dropwhile
from typing import Any
from urllib.parse import urlsplit

from slipway.bootstrapper.assembly import (
    content_rules,
    divided_disks,
    kubernetes_rules,
    membership,
    partitions,
    registries,
    repetitions,
)
from slipway.bootstrapper.assembly.accounts import account_violations
from slipway.contract.errors import Violation
from slipway.contract.grammars import MOST_PATH_PARTS, absolute_path
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb


def violations(spec: specpb.MachineBootstrapSpec) -> Iterator[Violation]:
    """Give everything in a spec that is well-formed field by field and yet means nothing."""
    yield from content_rules.violations(spec)
    yield from content_rules.nul_violations(spec)
    yield from _agent(spec)
    yield from _reporting(spec)
    parts: list[tuple[str, Any]] = [("", spec), ("init.", spec.init), ("join.", spec.join)]
    for prefix, part in parts:
        yield from _operating_system(part.os, f"{prefix}os")
        if not spec.imported.HasField("kind"):
            yield from repetitions.violations(part.os, f"{prefix}os")
            yield from divided_disks.violations(part.os, f"{prefix}os", spec.extensions)
            yield from kubernetes_rules.argument_violations(part.kubernetes, f"{prefix}kubernetes")
        yield from account_violations(spec, part.os, f"{prefix}os")
        yield from kubernetes_rules.kubernetes_violations(part.kubernetes, f"{prefix}kubernetes")
        yield from kubernetes_rules.engine_option_violations(part.engine_options, f"{prefix}engine_options")
        yield from _commands(part.commands, f"{prefix}commands")


def _agent(spec: specpb.MachineBootstrapSpec) -> Iterator[Violation]:
    agent = spec.agent
    is_download, is_image = (agent.source == one for one in (specpb.AGENT_SOURCE_DOWNLOAD, specpb.AGENT_SOURCE_IMAGE))
    if is_download and not agent.version:
        yield Violation("agent.version", "is required where source is Download", remedy="set it")
    if is_download and agent.HasField("required") and not agent.required:
        yield Violation("agent.required", "must be true where source is Download: the machine waits for the download")
    for name in ("version", "urls"):
        if getattr(agent, name) and not is_download:
            yield Violation(f"agent.{name}", "is only for source Download", remedy="leave it out")
    if agent.HasField("required") and not (is_download or is_image):
        yield Violation("agent.required", "is only for source Download or Image", remedy="leave it out")
    for index, url in enumerate(agent.urls):
        if not url.startswith(("https://", "http://")) or "?" in url or "#" in url:
            yield Violation(f"agent.urls[{index}]", "must be a base URL of https or http, without query")
    if agent.HasField("ca") and not any(url.startswith("https://") for url in agent.urls):
        yield Violation("agent.ca", "means nothing without a URL of https in agent.urls", remedy="leave it out")
    if (is_download or is_image) and spec.execution.literal_commands:
        yield Violation(
            "agent",
            "cannot be used with execution.literal_commands, which leaves the runner out",
            remedy="keep one of them",
        )


def _reporting(spec: specpb.MachineBootstrapSpec) -> Iterator[Violation]:
    reporting = spec.reporting
    sinks = [sink.put for sink in reporting.sinks if sink.HasField("put")]
    for index, sink in enumerate(reporting.sinks):
        if sink.WhichOneof("sink") is None:
            yield Violation(
                f"reporting.sinks[{index}]",
                "must have exactly one of console, put and workload_cluster",
                remedy="set one of them, and no other",
            )
    if len(sinks) > 1:
        yield Violation("reporting.sinks", "must have at most one put", remedy="keep one of them")
    clusters = [sink for sink in reporting.sinks if sink.HasField("workload_cluster")]
    if len(clusters) > 1:
        yield Violation("reporting.sinks", "must have at most one workload_cluster", remedy="keep one of them")
    if reporting.HasField("logs") and not any(sink.HasField("logs_url") for sink in sinks):
        yield Violation(
            "reporting.logs", "is only for a put with logs_url, which takes the log bundle", remedy="leave it out"
        )


def _operating_system(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    for index, file in enumerate(os.files):
        where = f"{path}.files[{index}]"
        if file.HasField("content") == file.HasField("remote"):
            yield Violation(
                where, "must have exactly one of content and remote", remedy="set one of them, and no other"
            )
        if file.HasField("remote"):
            yield from _remote(file.remote, f"{where}.remote")
    for index, link in enumerate(os.links):
        where = f"{path}.links[{index}].target"
        if link.hard and not absolute_path(link.target):
            yield Violation(where, "must be an absolute path, since the link is a hard one")
        elif "\x00" in link.target:
            yield Violation(where, "cannot hold a NUL character")
        else:
            yield from _link_target(link.target, where)
    for index, disk in enumerate(os.disks):
        yield from _partitions(disk, f"{path}.disks[{index}]")
    yield from partitions.violations(os, path)
    yield from _units(os, path)
    yield from _mounts(os, path)
    yield from registries.violations(os, path)
    yield from repository_violations(os, path)
    yield from membership.violations(os, path)


def _link_target(target: str, where: str) -> Iterator[Violation]:
    """Find targets that name other files than they seem to, once a folder on the way is a link."""
    parts = target.replace("\\", "/").split("/")
    names = dropwhile(lambda part: part in {"", ".", ".."}, parts)
    if len([part for part in parts if part]) > MOST_PATH_PARTS:
        yield Violation(where, f"must have at most {MOST_PATH_PARTS} parts")
    elif ".." in names:
        yield Violation(where, 'must have ".." in front of the first name only')
    elif target.startswith(("-", "\\\\")):
        yield Violation(where, "must not begin with a dash or two backslashes")


def _mounts(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    for index, mount in enumerate(os.mounts):
        if not (mount.path.startswith("/") or mount.path in {"", "none"}):
            yield Violation(f"{path}.mounts[{index}].path", 'must be an absolute path, or "none" for swap')
        if mount.path.count("/") > MOST_PATH_PARTS:
            yield Violation(f"{path}.mounts[{index}].path", f"must have at most {MOST_PATH_PARTS} parts")


def _units(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    for index, unit in enumerate(os.systemd_units):
        where = f"{path}.systemd_units[{index}]"
        if unit.masked and (unit.enabled or unit.contents or unit.drop_ins):
            yield Violation(
                where, "a masked unit cannot have contents, drop-ins or be enabled", remedy="keep one of them"
            )
        if unit.name.startswith("-") and (unit.HasField("enabled") or unit.HasField("masked")):
            yield Violation(where, "is a unit that systemctl can neither enable nor mask: leave out enabled and masked")
        if not (unit.HasField("contents") or unit.HasField("enabled") or unit.HasField("masked") or unit.drop_ins):
            yield Violation(where, "says nothing: set contents, enabled, masked or dropIns")


def _remote(remote: ospb.RemoteContent, path: str) -> Iterator[Violation]:
    hashed = remote.sha256 or remote.sha512
    for index, url in enumerate(remote.urls):
        if not url.startswith("https://") and not (hashed and url.startswith("http://")):
            yield Violation(f"{path}.urls[{index}]", "must be https, or http together with a hash")
    if remote.HasField("ca") and not any(url.startswith("https://") for url in remote.urls):
        yield Violation(f"{path}.ca", "means nothing without a URL of https")


def _partitions(disk: ospb.Disk, path: str) -> Iterator[Violation]:
    open_ended = 0
    for index, partition in enumerate(disk.partitions):
        if partition.HasField("percentage") and partition.HasField("size_mib"):
            yield Violation(
                f"{path}.partitions[{index}]", "cannot have both percentage and sizeMib", remedy="keep one of them"
            )
        if partition.HasField("size_mib") and not partition.size_mib:
            where = f"{path}.partitions[{index}].size_mib"
            yield Violation(where, "must be at least 1; unset it for the rest of the disk")
        open_ended += not (partition.HasField("percentage") or partition.HasField("size_mib"))
    if open_ended > 1:
        yield Violation(f"{path}.partitions", "more than one partition takes the rest of the disk")
    if sum(partition.percentage for partition in disk.partitions) > 100:  # noqa: PLR2004  # percent
        yield Violation(f"{path}.partitions", "the percentages add up to more than 100")


def _commands(commands: planpb.Commands, path: str) -> Iterator[Violation]:
    for phase in ("boot", "pre", "post"):
        for index, command in enumerate(getattr(commands, phase)):
            yield from command_violations(command, f"{path}.{phase}[{index}]")


def command_violations(command: planpb.Command, path: str) -> Iterator[Violation]:
    """Give everything in a command that is well-formed field by field and yet means nothing."""
    if bool(command.argv) == command.HasField("script"):
        yield Violation(path, "must have exactly one of argv and script", remedy="set one of them, and no other")
    if command.argv and not command.argv[0]:
        yield Violation(f"{path}.argv[0]", "must not be empty", remedy="set it")
    elif command.argv and command.argv[0].startswith("-"):
        yield Violation(f"{path}.argv[0]", "must be the name of a program")
    if command.HasField("interpreter") and command.argv:
        yield Violation(f"{path}.interpreter", "is only for a script", remedy="leave it out")
    if command.HasField("timeout") and command.timeout.seconds <= 0:
        yield Violation(f"{path}.timeout", "must be at least one second")


def repository_violations(os: ospb.OperatingSystem, path: str) -> Iterator[Violation]:
    """Give the addresses that no package manager can be given, by field path; the address is never repeated."""
    for index, repository in enumerate(os.packages.repositories):
        where = f"{path}.packages.repositories[{index}].url"
        try:
            address = urlsplit(repository.url)
        except ValueError:
            continue  # The field's own grammar refuses it.
        if "@" in address.netloc:
            yield Violation(
                where,
                "holds credentials, which every account of the machine could read",
                remedy="put them into a file of the package manager's by os.files, with mode 0600",
            )
        elif repository.url and (address.scheme not in {"http", "https"} or not address.hostname):
            yield Violation(where, "must be an address of http or https")
