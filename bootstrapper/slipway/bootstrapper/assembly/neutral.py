"""Makes the neutral bundle: the spec resolved for one machine, with the intent, or a caller's own plan, in it.

Contents and texts get the form that the contract promises, so that each has one spelling only: a content is segments,
whose literals are bytes; a text is a value whenever all of it is known now.

The node agent becomes ordinary items: a file that is downloaded, and a command that hands over to it. No provisioner
and no pass knows machineadm. The runner sees by the command's origin that it may have to hand over.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import Final

from google.protobuf.message import Message

from slipway.bootstrapper.artifacts.agent import DOWNLOADED, ResolvedAgent
from slipway.bootstrapper.assembly.direct_hosts import complete_no_proxy
from slipway.bootstrapper.assembly.partitions import resolve_partitions
from slipway.bootstrapper.assembly.report_items import add_reporting, joins_by_token
from slipway.bootstrapper.assembly.secrets import lift_inline
from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.compliance.arguments import added_arguments
from slipway.bootstrapper.compliance.machine_items import add_compliance
from slipway.bootstrapper.credentials.cluster_secrets import cluster_credentials
from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.runners.step_data import HANDOVER, STEP_DATA
from slipway.contract.content import literal, normal_segments
from slipway.contract.field_plans import ORIGIN, holders_of, plan
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

ID_LENGTH = 16

_AGENT_MODE: Final = 0o755


def neutral_bundle(  # noqa: PLR0913  # the parts of a bundle
    subject: CheckedSubject,
    *,
    target: clusterpb.Target,
    secrets: Sequence[secretpb.Secret],
    declared: Sequence[secretpb.SecretDeclaration] = (),
    version: str,
    agent: ResolvedAgent | None = None,
    reporting: specpb.Reporting | None = None,
    takes_commands: bool = True,
    engine: Engine | None = None,
    literal_events: bool = False,
) -> tuple[bundlepb.BootstrapBundle, list[secretpb.Secret]]:
    """Give the neutral bundle, without secret bytes, and the secrets that the spec had written in place.

    Args:
        subject: the machine.
        target: the machine's target, completely resolved.
        secrets: the cluster's secrets that this machine may have.
        declared: what the provisioner declared besides the cluster's own.
        version: version of the bootstrapper, for provenance.
        agent: the node agent, where the spec asks for one.
        reporting: where the machine reports to; None for what its spec says.
        takes_commands: the machine is set up by steps, so that controls of its profiles may add some.
        engine: what makes those of the bootstrap, where there are any.
        literal_events: literal commands are to have events.
    """
    spec = subject.spec
    bundle = bundlepb.BootstrapBundle()
    bundle.machine.CopyFrom(subject.machine)
    bundle.machine.target.CopyFrom(target)
    bundle.os.CopyFrom(spec.os)
    resolve_partitions(bundle.os)
    if spec.HasField("commands"):
        bundle.commands.CopyFrom(spec.commands)
    if agent is not None:
        add_agent(bundle, agent)
    places = spec.reporting if reporting is None else reporting
    has_evidence = subject.compliance is not None
    joins_by = subject.cluster if joins_by_token(subject.machine, secrets) else None
    add_reporting(bundle, places, has_evidence=has_evidence, literal_events=literal_events, joins_by=joins_by)
    if subject.compliance is not None and takes_commands:
        add_compliance(bundle, subject.compliance, subject.machine.role)
    if spec.HasField("engine_options"):
        bundle.engine_options.CopyFrom(spec.engine_options)
    if engine is not None and subject.compliance is not None and _is_told_arguments(subject):
        applied = subject.compliance
        engine.add_arguments(bundle.engine_options, added_arguments(spec, {**applied.places, **applied.shared}))
    bundle.extensions.extend(spec.extensions)
    if spec.HasField("execution"):
        bundle.execution.CopyFrom(spec.execution)
    if subject.plan is None:
        bundle.machine.kubernetes_version = subject.kubernetes_version
        bundle.cluster.CopyFrom(subject.cluster)
        intent = bundle.intent
        intent.role = subject.machine.role
        intent.kubernetes_version = subject.kubernetes_version
        intent.cluster.CopyFrom(subject.cluster)
        intent.kubernetes.CopyFrom(spec.kubernetes)
        intent.credentials.CopyFrom(cluster_credentials(secrets, declared=declared))
        complete_no_proxy(bundle.os, subject.cluster, spec.kubernetes, infrastructure=target.infrastructure)
    else:
        bundle.plan.CopyFrom(subject.plan)
    inline = lift_inline(bundle)
    normalise(bundle)
    bundle.provenance.bootstrapper_version = version
    bundle.provenance.spec_digest = _digest(bundle)
    bundle.id = _bundle_id(bundle, secrets)
    return bundle, inline


def _is_told_arguments(subject: CheckedSubject) -> bool:
    """Whether a machine joins a control plane whose arguments Cluster API writes, without what profiles add."""
    return subject.spec.execution.literal_commands and subject.machine.role == clusterpb.ROLE_CONTROL_PLANE


def _digest(bundle: bundlepb.BootstrapBundle) -> str:
    """SHA-256 of the spec's part of the bundle, as bundle.proto promises it. Secrets are in it by name only."""
    bare = bundlepb.BootstrapBundle()
    bare.CopyFrom(bundle)
    for name in ("id", "provenance", "machine", "cluster", "secrets"):
        bare.ClearField(name)
    _clear_origins(bare)
    return hashlib.sha256(bare.SerializeToString(deterministic=True)).hexdigest()


def _clear_origins(message: Message) -> None:
    holders = holders_of(message.DESCRIPTOR, ORIGIN)
    for field, value in message.ListFields():
        if field.number not in holders:
            continue
        if field.name == "origin":
            message.ClearField("origin")
            continue
        for entry in value if field.is_repeated else (value,):
            _clear_origins(entry)


def _bundle_id(bundle: bundlepb.BootstrapBundle, secrets: Iterable[secretpb.Secret]) -> str:
    """An id under which the machine keeps its state, made as bundle.proto promises it."""
    digest = hashlib.sha256(bundle.provenance.spec_digest.encode())
    digest.update(bundle.machine.SerializeToString(deterministic=True))
    digest.update(bundle.cluster.SerializeToString(deterministic=True))
    for secret in sorted(secrets, key=lambda entry: (entry.name, entry.key)):
        digest.update(hashlib.sha256(secret.SerializeToString(deterministic=True)).digest())
    return digest.hexdigest()[:ID_LENGTH]


def normalise(message: Message) -> None:
    """Rewrite every Content, MachineText and Argument in `message`, in place."""
    plans = plan(message.DESCRIPTOR)
    for descriptor, value in message.ListFields():
        field = plans[descriptor.number]
        if field.message is None:
            continue
        for entry in value if field.repeated else [value]:
            if isinstance(entry, contentpb.Content):
                segments = normal_segments(entry)
                entry.Clear()
                entry.SetInParent()
                entry.segments.extend(segments)
            elif isinstance(entry, contentpb.MachineText | kubernetespb.Argument):
                _join(entry)
            else:
                normalise(entry)


def _join(text: contentpb.MachineText | kubernetespb.Argument) -> None:
    """Make one value of segments that are all literal: a reader of `value` alone must not lose them."""
    if text.segments and all(segment.WhichOneof("value") == "text" for segment in text.segments):
        text.value = "".join(segment.text for segment in text.segments)
        text.ClearField("segments")


def add_agent(bundle: bundlepb.BootstrapBundle, agent: ResolvedAgent) -> None:
    """Put the agent's items into a neutral bundle; its command comes before those of the user."""
    origin = diagnosticpb.Origin()
    origin.CopyFrom(agent.origin)
    origin.made_by.append(HANDOVER)
    if agent.urls:
        file = bundle.os.files.add(path=DOWNLOADED, mode=_AGENT_MODE, owner="root", group="root", origin=origin)
        file.remote.urls.extend(agent.urls)
        file.remote.sha256 = agent.sha256
        if agent.authorities.ByteSize() and any(url.startswith("https:") for url in agent.urls):
            file.remote.ca.CopyFrom(agent.authorities)
    call = ["agent", str(STEP_DATA), "required" if agent.required else "optional", *agent.paths]
    command = planpb.Command(script=literal(script([call], programs=["agent"])), origin=origin)
    bundle.commands.pre.insert(0, command)
