"""The plan that a bootstrap engine makes of a machine's intent, or what it refuses of the machine."""

import itertools
from collections.abc import Collection, Sequence

from slipway.bootstrapper.compilation.compiled import Compiled
from slipway.bootstrapper.compilation.file_precedence import settle_files, settle_units
from slipway.bootstrapper.compilation.made_plan import broken_rules
from slipway.bootstrapper.compilation.own_steps import surround
from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.engines.extensions import take_extensions
from slipway.bootstrapper.engines.result import EngineResult
from slipway.bootstrapper.engines.suitability import check_machine
from slipway.bootstrapper.engines.table import EngineTable, check_system
from slipway.bootstrapper.lowering.omission import omit, take_out
from slipway.bootstrapper.problems.conversion import diagnostic, locate, problems_of_error
from slipway.bootstrapper.problems.problem import Problem
from slipway.bootstrapper.problems.remedies import remedy_of
from slipway.contract.errors import SlipwayError
from slipway.contract.feature_uses import uses
from slipway.contract.features import by_id, unsupported
from slipway.contract.items import origin_of
from slipway.rpc.spans import span
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

ENGINE_NAMESPACES = ("kubernetes.", "engine_options.")
_MOST_RULES = 8
"""Broken rules of a plan that are reported at once."""


def make_plan(
    engines: EngineTable, result: Compiled, info: provisionerpb.FormatInfo, optional_features: Collection[str]
) -> bool:
    """Have the engine that a machine names make a plan of its intent; False when it refuses.

    The plan replaces the intent in the bundle of `result`; refusals, omissions and diagnostics are added there.
    """
    bundle = result.bundle
    try:
        engine = engines.choose(bundle.intent.kubernetes, bundle.intent.cluster)
        check_system(engine, bundle.machine.target)
    except SlipwayError as error:
        result.refusals += problems_of_error(error, bundle)
        return False
    supports = by_id(engine.features)
    used = (use for use in uses(bundle) if use.id.startswith(ENGINE_NAMESPACES))
    rejected = unsupported(bundle, supports, used=used)
    omitted, rejected = omit(bundle, rejected, optional_features, supports)
    result.omitted += omitted
    result.refusals += [
        Problem(
            entry.use.id,
            entry.use.path,
            f"the bootstrap engine {engine.name} does not take {entry.use.id}: it {entry.why}",
            engine.remedies.get(entry.use.id) or remedy_of(entry.use, supports),
            origin_of(entry.use.item),
            other_formats=True,
        )
        for entry in rejected
    ]
    try:
        check_machine(engine, bundle)
        with span("build plan", {"engine": engine.name}):
            made = engine.build_plan(bundle, info)
        while omit_refused(bundle, made.refusals, optional_features, result):
            made = engine.build_plan(bundle, info)
    except SlipwayError as error:
        result.refusals += problems_of_error(error, bundle)
        return False
    remarks = check_machine(engine, bundle)
    for problems in (made.refusals, remarks.refusals):
        refused = {problem.path for problem in result.refusals}
        result.refusals += [problem for problem in locate(problems, bundle) if problem.path not in refused]
    if not result.refusals:
        result.refusals += _broken_rules(engine, made)
    if result.refusals:
        return False
    known = {(problem.code, problem.path) for problem in made.diagnostics}
    others = [problem for problem in remarks.diagnostics if (problem.code, problem.path) not in known]
    diagnostics = [diagnostic(problem) for problem in locate((*made.diagnostics, *others), bundle)]
    bundle.ClearField("intent")
    bundle.ClearField("engine_options")
    result.lowered += take_extensions(bundle, engine)
    bundle.plan.SetInParent()
    bundle.os.files.extend(made.files)
    bundle.plan.steps.extend(made.steps)
    if made.unit_name:
        bundle.plan.entrypoint.unit_name = made.unit_name
    surround(bundle)
    bundle.provenance.engine = f"{engine.name}/{engine.version}"
    result.diagnostics += diagnostics
    if bundle.HasField("execution"):
        result.diagnostics += settle_files(bundle.os, made.last_written)
        result.diagnostics += settle_units(bundle, by_id(info.features))
    return True


def _broken_rules(engine: Engine, made: EngineResult) -> list[Problem]:
    """Refuse the machine of an engine whose plan breaks the contract: it is a defect of the engine, not of the spec."""
    return [
        Problem(
            "kubernetes.engine",
            "intent.kubernetes.engine",
            f"is {engine.name}, whose plan breaks the contract: {violation.path} {violation.description}; "
            "this is a defect of that engine",
            "choose another engine, or have its maintainers repair it",
        )
        for violation in itertools.islice(broken_rules(made), _MOST_RULES)
    ]


def omit_refused(
    bundle: bundlepb.BootstrapBundle, refusals: Sequence[Problem], optional: Collection[str], result: Compiled
) -> bool:
    """Take out what was refused of an intent and the spec says may be left out; return whether there was any."""
    optional_refusals = list(locate((problem for problem in refusals if problem.feature in optional), bundle))
    omitted = [problem for problem in reversed(optional_refusals) if take_out(bundle, problem.path)]
    result.omitted += reversed(omitted)
    return bool(omitted)
