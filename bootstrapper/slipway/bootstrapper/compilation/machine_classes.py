"""What the machines of a class have in common, so that it is done once for all of them.

The machines of a MachineDeployment, and the control planes that join, have spec, cluster and target in common, and
differ in their identity: name and uid of the machine, id and secrets of the bundle. What is kept was made without an
identity; that of a machine is put into its fields of a copy. Keys are digests of what is kept, so no secret is in a
key or in a value. What a spec declares as a secret and has in place is in no bundle without identity; such a spec is
checked each time.
"""

import hashlib
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

from google.protobuf.message import Message

from slipway.bootstrapper.assembly.membership import joins_domain
from slipway.bootstrapper.assembly.secrets import has_inline
from slipway.bootstrapper.assembly.subject import CheckedSubject, check, check_class
from slipway.bootstrapper.assembly.subject_rules import machine_violations
from slipway.bootstrapper.compilation.recently_used import RecentlyUsed
from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.problems.problem import Problem
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

MAX_BYTES = 16 * 1024 * 1024
"""Most bytes of bundles, and of specs, that are kept."""
BYTES_PER_BYTE = 32
"""Memory of what is kept for each byte of its messages on the wire, with paths and Python's own objects.

Measured as resident memory: 28 for a small worker (68 kB a class), 33 for one with 600 commands (2.1 MB).
"""


@dataclass(frozen=True, slots=True)
class CompiledClass:
    """What the compiled bundles of a class have in common. All of it is read only.

    Attributes:
        draft: the state before the execution is lowered.
        omitted: what was left out because the spec allows it.
        diagnostics: remarks.
        features: a bundle that says which features the finished one uses, and nothing else.
    """

    draft: Draft
    omitted: tuple[Problem, ...]
    diagnostics: tuple[diagnosticpb.Diagnostic, ...]
    features: bundlepb.BootstrapBundle

    def counted_bytes(self) -> int:
        """Return about how much memory this takes."""
        draft = self.draft
        return _counted_bytes(
            draft.bundle,
            self.features,
            *draft.lowered,
            *self.diagnostics,
            *(staged.entry for staged in draft.staged),
            *(prepared.command for prepared in draft.prepared),
            *(item.message for item in draft.gone),
        )


class CheckedSubjects:
    """The checked specs of the classes that were asked about last."""

    def __init__(self, max_bytes: int = MAX_BYTES) -> None:
        """Keep so many bytes of them at most."""
        self._kept = RecentlyUsed[CheckedSubject](max_bytes)

    def check(self, subject: bootstrappb.Subject) -> CheckedSubject:
        """Give a machine whose spec is sound; the spec is checked once for all machines of a class.

        Raises:
            SpecInvalid: as check().
        """
        if machine_violations(subject.machine) or joins_domain(subject.spec):
            # The computer account of a member of a domain is named after its machine.
            return check(subject)
        bare = bootstrappb.Subject()
        bare.CopyFrom(subject)
        bare.machine.ClearField("name")
        bare.machine.ClearField("uid")
        key = _digest([bare])
        known = self._kept.get(key)
        if known is None:
            known = check_class(bare)
            if not has_inline(known.spec):
                self._kept.put(key, known, _counted_bytes(bare, known.spec))
        return replace(known, cluster=subject.cluster, machine=subject.machine)


def without_identity(neutral: bundlepb.BootstrapBundle) -> bundlepb.BootstrapBundle:
    """Return a copy of a neutral bundle without the identity of its machine."""
    bare = bundlepb.BootstrapBundle()
    bare.CopyFrom(neutral)
    bare.ClearField("id")
    bare.ClearField("secrets")
    bare.machine.ClearField("name")
    bare.machine.ClearField("uid")
    return bare


def identify(bundle: bundlepb.BootstrapBundle, neutral: bundlepb.BootstrapBundle) -> None:
    """Put what without_identity() takes out of a machine's neutral bundle into another one."""
    bundle.id = neutral.id
    bundle.machine.name = neutral.machine.name
    if neutral.machine.HasField("uid"):
        bundle.machine.uid = neutral.machine.uid
    if neutral.HasField("secrets"):
        bundle.secrets.CopyFrom(neutral.secrets)


def class_key(
    bare: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo, optional_features: Collection[str]
) -> bytes:
    """Return the digest of a bundle without identity, all that a format declares, and the optional features."""
    return _digest([bare, info], optional_features)


def _digest(parts: Collection[Message], words: Collection[str] = ()) -> bytes:
    digest = hashlib.sha256()
    for data in _parts(parts, words):
        digest.update(len(data).to_bytes(8, "big"))
        digest.update(data)
    return digest.digest()


def _parts(parts: Collection[Message], words: Collection[str]) -> Iterator[bytes]:
    for part in parts:
        yield part.SerializeToString(deterministic=True)
    for word in sorted(words):
        yield word.encode()


def _counted_bytes(*messages: Message) -> int:
    return sum(message.ByteSize() for message in messages) * BYTES_PER_BYTE
