"""Names of arguments have one spelling, so that nothing misses one that it looks for by its name.

The programs of Kubernetes take underscores for dashes, and the last of two spellings counts. Of an imported config they
stay as they are. Source: k8s.io/component-base/cli/flag, WordSepNormalizeFunc.
"""

from collections.abc import Iterator

from google.protobuf.message import Message

from slipway.contract.errors import Violation
from slipway.contract.field_plans import plan
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb


def violations(message: Message, path: str) -> Iterator[Violation]:
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
                yield from violations(entry, where)
