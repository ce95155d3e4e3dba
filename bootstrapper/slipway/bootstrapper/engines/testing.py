"""A test kit for authors of engines: what every engine must keep, tried on machines that the author describes.

Give `problems` an engine and some machines of `machine` that use all of its features between them; an empty list means
that it keeps the rules. What an engine does not declare is tried without machines of the author's: each field in turn.
"""

import itertools
from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import cache

from slipway.bootstrapper.assembly.secrets import lift_inline
from slipway.bootstrapper.compilation.compiler import Compiler
from slipway.bootstrapper.compilation.engine_plan import ENGINE_NAMESPACES as NAMESPACES
from slipway.bootstrapper.compilation.machine_classes import without_identity
from slipway.bootstrapper.compilation.made_plan import broken_rules
from slipway.bootstrapper.credentials.cluster_secrets import cluster_credentials
from slipway.bootstrapper.credentials.generation import KEYS
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.credentials.roles import secrets_for_role
from slipway.bootstrapper.credentials.store import ClusterKey, KeySettings
from slipway.bootstrapper.documents.feature_names import feature_names
from slipway.bootstrapper.engine_trials.processes import problems_apart
from slipway.bootstrapper.engines.declarations import broken_declarations
from slipway.bootstrapper.engines.engine import Engine, supports
from slipway.bootstrapper.engines.exposed_secrets import exposed_secrets
from slipway.bootstrapper.engines.extensions import PREFIX as EXTENSION
from slipway.bootstrapper.engines.field_samples import every_field
from slipway.bootstrapper.engines.join_tokens import JoinTokens, Maker, TokenRequest
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.table import EngineTable
from slipway.bootstrapper.lowering.omission import take_out
from slipway.bootstrapper.lowering.table import all_passes
from slipway.bootstrapper.os_profiles import ProfileTable
from slipway.contract.errors import SlipwayError
from slipway.contract.feature_uses import uses
from slipway.contract.features import unsupported
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

FORMAT = provisionerpb.FormatInfo(
    format="sample",
    kubernetes_input=provisionerpb.KUBERNETES_INPUT_PLAN,
    features=supports(frozenset({"os.files", "plan.entrypoint"})),
)
"""The smallest format that takes plans."""

_FACTS = ("kubernetes.role", "kubernetes.version", "kubernetes.cluster", "kubernetes.credentials", "kubernetes.engine")
"""Features of every machine: they are facts, and need have no effect of their own."""

_DRAWN = ("abcdef.0123456789abcdef", "ghijkl.0123456789abcdef")
_NOW, _TTL = datetime(2030, 1, 1, tzinfo=UTC), timedelta(minutes=15)
_AUTHORITIES = (secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY, secretpb.SECRET_KIND_CERTIFICATE_AUTHORITY_ED25519)
_ROLES = {
    "kubernetes.role.init": clusterpb.ROLE_INIT,
    "kubernetes.role.control_plane": clusterpb.ROLE_CONTROL_PLANE,
    "kubernetes.role.worker": clusterpb.ROLE_WORKER,
}


def machine(  # noqa: PLR0913  # keyword-only facts of a machine
    engine: Engine,
    role: clusterpb.Role.ValueType,
    *,
    kubernetes: kubernetespb.Kubernetes | None = None,
    options: specpb.EngineOptions | None = None,
    kubernetes_version: str = "v1.34.2",
    extensions: Iterable[specpb.Extension] = (),
) -> bundlepb.BootstrapBundle:
    """Give the neutral bundle of a machine, with references to the secrets that the engine declares for its role."""
    bundle = bundlepb.BootstrapBundle()
    bundle.id, bundle.machine.name, bundle.machine.uid, bundle.machine.role = "0" * 16, "sample", "1", role
    bundle.machine.target.os_family = next(iter(engine.os_families), clusterpb.OS_FAMILY_LINUX)
    intent = bundle.intent
    intent.role, intent.kubernetes_version = role, kubernetes_version
    intent.cluster.MergeFrom(
        clusterpb.Cluster(
            name="sample",
            endpoint=clusterpb.Endpoint(host="api.example.com", port=6443),
            kubernetes_version=kubernetes_version,
            pod_cidrs=["10.244.0.0/16"],
            service_cidrs=["10.96.0.0/12"],
            service_domain="cluster.local",
            control_plane=engine.name,
        )
    )
    intent.kubernetes.MergeFrom(kubernetes or kubernetespb.Kubernetes())
    intent.kubernetes.engine = engine.name
    if options is not None:
        bundle.engine_options.MergeFrom(options)
    bundle.extensions.extend(extensions)
    declared = engine.secrets(intent.kubernetes)
    made = PlaceholderStore().ensure(ClusterKey("sample"), declared, KeySettings()).secrets
    held = secrets_for_role(made, declared, role)
    intent.credentials.CopyFrom(cluster_credentials(held, declared=declared))
    lift_inline(bundle)
    return bundle


def problems_here(engine: Engine, machines: Iterable[bundlepb.BootstrapBundle]) -> list[str]:
    """Give every rule that an engine breaks, as far as that is seen in this process, in sentences."""
    samples = list(machines)
    results = [*broken_declarations(engine)]
    if results:
        return results
    results += [*_declarations(engine), *token_problems(engine), *alike_roles(engine)]
    for number, bundle in enumerate(samples):
        where = f"machine {number} ({clusterpb.Role.Name(bundle.intent.role)})"
        results += [f"{where}: {problem}" for problem in _plan(engine, bundle)]
    features = [*unused_features(engine, samples), *idle_features(engine, samples), *accepted_features(engine)]
    return results + features


def problems(engine: Engine, machines: Iterable[bundlepb.BootstrapBundle]) -> list[str]:
    """Give every rule that an engine breaks, in sentences. Its class is also tried in two new processes."""
    samples = list(machines)
    (apart,) = problems_apart([(engine, samples)], FORMAT)
    return [*problems_here(engine, samples), *apart]


def alike_roles(engine: Engine) -> Iterator[str]:
    """Give the pairs of roles whose machines differ in nothing but their secrets: they would start as the same."""
    shapes: dict[clusterpb.Role.ValueType, list[bytes]] = {}
    declared = {support.id for support in engine.features}
    for feature, role in _ROLES.items():
        result = _result(engine, machine(engine, role)) if feature in declared else ""
        if isinstance(result, EngineResult) and not result.refusals:
            shapes[role] = [*_public(result.files), *(step.SerializeToString() for step in result.steps)]
    for first, second in itertools.combinations(shapes, 2):
        if shapes[first] == shapes[second]:
            names = f"{clusterpb.Role.Name(first)} and {clusterpb.Role.Name(second)}"
            yield f"{names} get the same steps, and the same files but for secrets"


def _public(files: Iterable[ospb.File]) -> Iterator[bytes]:
    """Give files without their secrets; one that consists of nothing else is left out."""
    for file in files:
        bare = ospb.File()
        bare.CopyFrom(file)
        for segment in bare.content.segments:
            segment.ClearField("secret_ref")
        if not file.content.segments or any(segment.WhichOneof("value") for segment in bare.content.segments):
            yield bare.SerializeToString(deterministic=True)


def unused_features(engine: Engine, machines: Iterable[bundlepb.BootstrapBundle]) -> Iterator[str]:
    """Give the declared features that no machine uses, so that nothing shows what the engine makes of them."""
    used = {use.id for bundle in machines for use in uses(bundle)}
    for support in engine.features:
        if support.id not in used and not support.id.startswith(_FACTS):
            yield f"{support.id} is declared, and no machine uses it"


def idle_features(engine: Engine, machines: Iterable[bundlepb.BootstrapBundle]) -> Iterator[str]:
    """Give the declared features whose fields change nothing in any plan: they would be dropped in silence."""
    seen: dict[str, bool] = {}
    for bundle in machines:
        whole = _result(engine, bundle)
        for use in uses(bundle):
            if use.id.startswith(_FACTS) or not use.id.startswith((*NAMESPACES, EXTENSION)):
                continue
            bare = bundlepb.BootstrapBundle()
            bare.CopyFrom(bundle)
            changed = take_out(bare, use.path) and _result(engine, bare) != whole
            seen[use.id] = seen.get(use.id, False) or changed
    yield from (f"{feature} is declared, and changes no plan" for feature, changed in seen.items() if not changed)


def accepted_features(engine: Engine) -> Iterator[str]:
    """Give the features that the engine does not declare, and that are not refused where a machine of it uses them."""
    declaring = copy(engine)
    declaring.build_plan = lambda *_: EngineResult(engine=engine.name)  # type: ignore[method-assign]  # a stand-in for one method
    compiler = Compiler(engines=EngineTable([declaring]), profiles=ProfileTable.shipped(), passes=all_passes())
    declared, tried = {support.id for support in engine.features}, set[str]()
    bare = machine(engine, clusterpb.ROLE_INIT)
    for fields, features in _samples():
        used = features - declared - tried
        if not used:
            continue
        tried |= used
        bundle = bundlepb.BootstrapBundle()
        bundle.CopyFrom(bare)
        bundle.MergeFrom(fields)
        bundle.intent.kubernetes.engine = engine.name
        refused = {problem.feature for problem in compiler.compile(bundle, FORMAT).refusals}
        yield from (f"{feature} is not declared, and is not refused" for feature in sorted(used - refused))


@cache
def _samples() -> Sequence[tuple[bundlepb.BootstrapBundle, frozenset[str]]]:
    """Give bundles that use all features between them, each with the features that it uses.

    The first one has all fields; of fields that exclude each other, all but the last one are tried by themselves.
    """
    samples = list(every_field())
    together = bundlepb.BootstrapBundle()
    for sample in samples:
        together.MergeFrom(sample)
    return [
        (fields, frozenset(use.id for use in uses(fields) if use.id.startswith(NAMESPACES)))
        for fields in (together, *samples)
    ]


def token_problems(engine: Engine) -> Iterator[str]:
    """Give every rule that the mechanism of an engine's join tokens breaks, in sentences."""
    tokens, names = engine.join_tokens, {declared.name for declared in engine.secrets(kubernetespb.Kubernetes())}
    for role in (clusterpb.ROLE_CONTROL_PLANE, clusterpb.ROLE_WORKER):
        where = f"the token of {clusterpb.Role.Name(role)}"
        if tokens.secret(role) not in names:
            yield f"{where} is the secret {tokens.secret(role)}, which the engine does not declare"
        requests = [TokenRequest(role=role, drawn=drawn, description="sample") for drawn in _DRAWN]
        text = tokens.text(requests[0], None)
        if tokens.made_by is Maker.CLUSTER:
            if text:
                yield f"{where} is made by the cluster, and known before it is there"
            continue
        if tokens.place(requests[0]) == tokens.place(requests[1]):
            yield f"{where} is in the same Secret for two machines"
        if _DRAWN[0] not in text:
            yield f"{where} does not hold what was drawn for the machine"
        yield from (f"{where} {problem}" for problem in _upkeep(tokens, requests[0]))


def _upkeep(tokens: JoinTokens, request: TokenRequest) -> Iterator[str]:
    made = tokens.upkeep(request, None, now=_NOW, ttl=_TTL)
    if made.until < _NOW + _TTL or tokens.expiry(request, made.values) != made.until:
        yield "is not accepted for as long as was asked"
    if tokens.upkeep(request, made.values, now=_NOW, ttl=_TTL).values:
        yield "is written again although nothing has changed"
    later = tokens.upkeep(request, made.values, now=_NOW + _TTL / 2, ttl=_TTL)
    if tokens.expiry(request, {**made.values, **later.values}) != _NOW + _TTL * 1.5:
        yield "is not refreshed when half of its time is over"


def _declarations(engine: Engine) -> Iterator[str]:
    features = {support.id for support in engine.features}
    for feature in sorted(features - feature_names()):
        if feature.startswith(EXTENSION):
            continue
        yield f"{feature} is declared, and the contract has no such feature"
    for feature in sorted(features & set(engine.remedies)):
        yield f"{feature} is declared, and has a remedy for where it is not taken"
    for feature in sorted(set(engine.remedies) - feature_names()):
        if not feature.startswith(EXTENSION):
            yield f"{feature} has a remedy, and the contract has no such feature"
    for declared in engine.secrets(kubernetespb.Kubernetes()):
        if not declared.name:
            yield "a declared secret has no name"
        if declared.kind not in KEYS:
            yield f"the secret {declared.name} is of no kind that can be made"
        if declared.kind in _AUTHORITIES and "ROLE_WORKER" in declared.full_roles:
            yield f"the authority {declared.name} is declared for workers, which never get its key"


def _plan(engine: Engine, bundle: bundlepb.BootstrapBundle) -> Iterator[str]:
    for entry in unsupported(bundle, engine.features):
        if entry.use.id.startswith(NAMESPACES):
            yield f"it uses {entry.use.id}, which the engine does not declare"
    before = bundle.SerializeToString(deterministic=True)
    result = engine.build_plan(bundle, FORMAT)
    if bundle.SerializeToString(deterministic=True) != before:
        yield "the engine changes the bundle"
    if engine.build_plan(bundle, FORMAT) != result:
        yield "the engine gives another plan for the same bundle"
    if engine.plans_by_class and engine.build_plan(without_identity(bundle), FORMAT) != result:
        yield "the engine plans by class, and gives another plan for a machine of another name"
    if result.engine != engine.name:
        yield "the result names another engine"
    yield from (f"{refusal.path} is refused: {refusal.reason}" for refusal in result.refusals)
    yield from (f"{violation.path} {violation.description}" for violation in broken_rules(result))
    yield from exposed_secrets(bundle, result)


def _result(engine: Engine, bundle: bundlepb.BootstrapBundle) -> EngineResult | str:
    try:
        return engine.build_plan(bundle, FORMAT)
    except SlipwayError as error:
        return str(error)
