"""The rules of what a spec says of Kubernetes: join, timeouts, tokens, volumes and arguments.

Names of arguments have one spelling, so that nothing misses one that it looks for by its name: the programs of
Kubernetes take underscores for dashes, and the last of two spellings counts. Of an imported config they stay as they
are. Source: k8s.io/component-base/cli/flag, WordSepNormalizeFunc.
"""

import re
from collections.abc import Iterable, Iterator

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.duration_pb2 import Duration
from google.protobuf.message import Message

from slipway.contract.errors import Violation
from slipway.contract.field_plans import plan
from slipway.contract.source_position import did_you_mean
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import secret_pb2 as secretpb

_SECOND = 10**9
"""In nanoseconds."""

_TOKEN = re.compile(r"[a-z0-9]{6}\.[a-z0-9]{16}")
"""As the API server's authenticator of such tokens checks it, and each engine that makes them."""

_VOLUME_TYPES = ("DirectoryOrCreate", "Directory", "FileOrCreate", "File", "Socket", "CharDevice", "BlockDevice")
"""Those of HostPathType in k8s.io/api/core/v1."""


def kubernetes_violations(kubernetes: kubernetespb.Kubernetes, path: str) -> Iterator[Violation]:
    """Give everything in a part on Kubernetes that is well-formed field by field and yet means nothing."""
    yield from _tokens([(f"{path}.discovery.token.token", kubernetes.discovery.token.token)])
    yield from _timeouts(kubernetes.timeouts, f"{path}.timeouts")
    yield from _volume_violations(kubernetes, path)
    if kubernetes.discovery.HasField("token") and kubernetes.discovery.HasField("file"):
        yield Violation(f"{path}.discovery", "cannot have both token and file", remedy="keep one of them")
    if kubernetes.HasField("etcd") and kubernetes.etcd.HasField("local") == kubernetes.etcd.HasField("external"):
        yield Violation(
            f"{path}.etcd", "must have exactly one of local and external", remedy="set one of them, and no other"
        )


def engine_option_violations(options: Message, path: str) -> Iterator[Violation]:
    """Hold the options of every engine to what the neutral fields are held to: timeouts and tokens, by their names."""
    for field, value in options.ListFields():
        if field.type != FieldDescriptor.TYPE_MESSAGE:
            continue
        where = f"{path}.{field.name}"
        if field.name == "timeouts":
            yield from _timeouts(value, where)
        elif isinstance(value, secretpb.SecretValue):
            yield from _tokens([(where, value)] if field.name.endswith("token") else [])
        elif field.is_repeated:
            for index, item in enumerate(value):
                yield from engine_option_violations(item, f"{where}[{index}]")
        else:
            yield from engine_option_violations(value, where)


def _timeouts(timeouts: Message, path: str) -> Iterator[Violation]:
    for field, value in timeouts.ListFields():
        if isinstance(value, Duration) and value.ToNanoseconds() < _SECOND:
            yield Violation(f"{path}.{field.name}", "must be at least one second; unset it for the usual time")


def _tokens(places: Iterable[tuple[str, secretpb.SecretValue]]) -> Iterator[Violation]:
    """Find tokens in place that are invalid; of a token in a Secret nothing is known here."""
    for place, token in places:
        if token.HasField("value") and not _TOKEN.fullmatch(token.value):
            yield Violation(place, "is no bootstrap token: six and sixteen of a-z and 0-9, a dot between")


def argument_violations(message: Message, path: str) -> Iterator[Violation]:
    """Give every argument within a message, at `path`, whose name has an underscore."""
    fields = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        field = fields[descriptor.number]
        for index, entry in enumerate(value if field.repeated else [value]):
            where = f"{path}.{field.name}[{index}]" if field.repeated else f"{path}.{field.name}"
            if isinstance(entry, kubernetespb.Argument):
                if "_" in entry.name:
                    yield Violation(f"{where}.name", "has an underscore", remedy="write dashes for underscores")
            elif isinstance(entry, Message):
                yield from argument_violations(entry, where)


def _volume_violations(kubernetes: kubernetespb.Kubernetes, path: str) -> Iterator[Violation]:
    """Give a violation for each volume of a control-plane component whose type Kubernetes does not have."""
    for component in ("api_server", "controller_manager", "scheduler"):
        for index, volume in enumerate(getattr(kubernetes.control_plane, component).volumes):
            if volume.path_type not in ("", *_VOLUME_TYPES):
                meant = did_you_mean(volume.path_type, _VOLUME_TYPES)
                hint = f"did you mean {meant}?" if meant else f"there are {', '.join(_VOLUME_TYPES)}"
                where = f"{path}.control_plane.{component}.volumes[{index}].path_type"
                yield Violation(where, f"is no type that Kubernetes has; {hint}")
