"""From the neutral bundle to the one that a format takes: engine, lowering, and a last look.

Everything here is pure. The same function answers GetUserData, GetBundle and explain, so that what is explained is what
happens.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from slipway.bootstrapper.assembly import paths
from slipway.bootstrapper.compiled import Compiled, class_of, of_class
from slipway.bootstrapper.engines.extensions import take_extensions
from slipway.bootstrapper.engines.table import EngineTable, check_system
from slipway.bootstrapper.file_precedence import settle_files
from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.finish import RUNNER, finish
from slipway.bootstrapper.lowering.legalise import legalise
from slipway.bootstrapper.lowering.omission import not_taken, omit, take_out
from slipway.bootstrapper.lowering.passes import PassTable
from slipway.bootstrapper.lowering.provenance import provenance_file
from slipway.bootstrapper.machine_classes import MAX_BYTES, CompiledClass, class_key, identify, without_identity
from slipway.bootstrapper.os_profiles import OsProfile, ProfileTable
from slipway.bootstrapper.os_profiles.declared import find_profile
from slipway.bootstrapper.own_steps import surround
from slipway.bootstrapper.problems.conversion import diagnostic, locate, problems_of_error
from slipway.bootstrapper.problems.places import at_their_causes
from slipway.bootstrapper.problems.problem import Problem
from slipway.bootstrapper.problems.remedies import remedy_of
from slipway.bootstrapper.recently_used import RecentlyUsed
from slipway.contract.errors import SlipwayError, UnsupportedTarget, Violation
from slipway.contract.features import by_id, compute_features, unsupported
from slipway.contract.items import origin_of
from slipway.rpc.spans import span
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

ENGINE_NAMESPACES = ("kubernetes.", "engine_options.")


@dataclass(frozen=True, slots=True)
class Compiler:
    """Engines, profiles and passes: all that compilation depends on."""

    engines: EngineTable
    profiles: ProfileTable
    passes: PassTable
    takes_declared_profiles: bool = True
    """Whether machines may have an OS profile that the provisioner declares which renders them."""
    classes: RecentlyUsed[CompiledClass] = field(default_factory=lambda: RecentlyUsed(MAX_BYTES), repr=False)

    def compile(
        self,
        neutral: bundlepb.BootstrapBundle,
        info: provisionerpb.FormatInfo,
        *,
        optional_features: Collection[str] = (),
    ) -> Compiled:
        """Lower a neutral bundle for a format. Refusals are collected, never raised.

        What does not depend on the machine's identity is done once for all machines that have the rest in common.
        """
        if not self._by_class(neutral, info):
            bundle = bundlepb.BootstrapBundle()
            bundle.CopyFrom(neutral)
            result = self._legalised(bundle, info, optional_features)
            if result.draft is not None:
                result = self._finish(result, info)
        else:
            bare = without_identity(neutral)
            key = class_key(bare, info, optional_features)
            known = self.classes.get(key)
            result = of_class(known) if known else self._legalised(bare, info, optional_features)
            unfinished = None if known or result.refusals or result.draft is None else result.draft.copy()
            identify(result.bundle, neutral)
            if result.draft is not None:
                result = self._finish(result, info, features=known.features if known else None)
                if unfinished is not None and not result.refusals:
                    made = class_of(unfinished, result)
                    self.classes.put(key, made, made.counted_bytes())
        if result.draft is not None:
            result.refusals = list(at_their_causes(result.refusals, neutral))
        return result

    def _legalised(
        self, bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo, optional_features: Collection[str]
    ) -> Compiled:
        """Do everything but to lower the execution; there is no draft where that makes no sense any more."""
        result = Compiled(bundle)
        result.bundle.provenance.format = info.format
        takes_plan = info.kubernetes_input == provisionerpb.KUBERNETES_INPUT_PLAN
        if bundle.HasField("plan"):
            if not takes_plan:
                return self._without_plan(result, info)
            surround(bundle)
        elif takes_plan and not self._plan(result, info, optional_features):
            result.refusals += self._of_system(bundle, info, optional_features)
            return result
        takes_intent = info.kubernetes_input == provisionerpb.KUBERNETES_INPUT_INTENT
        target = bundle.machine.target
        profile = None if takes_intent else self._profile(target, info)
        draft = Draft(bundle=bundle, known_profile=profile, target=target, ntp_clients=self.profiles.ntp_clients())
        draft.lowered += result.lowered
        return self._legalise(draft, result, info, optional_features, rejected={})

    def _by_class(self, neutral: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo) -> bool:
        """Return whether the result is the same for all machines of a class, but for their identity."""
        if neutral.HasField("plan") or info.kubernetes_input != provisionerpb.KUBERNETES_INPUT_PLAN:
            return True
        try:
            return self.engines.choose(neutral.intent.kubernetes, neutral.intent.cluster).plans_by_class
        except SlipwayError:
            return False

    def lower_again(
        self,
        earlier: Compiled,
        info: provisionerpb.FormatInfo,
        *,
        rejected: Mapping[str, Violation],
        optional_features: Collection[str] = (),
    ) -> Compiled:
        """Lower the items that a provisioner refused after all.

        `rejected` are field paths of the lowered bundle, each with what the provisioner said of it.
        """
        if earlier.draft is None:
            raise AssertionError("there is nothing to go on from")
        draft = earlier.draft.copy()
        result = Compiled(draft.bundle, omitted=list(earlier.omitted), diagnostics=list(earlier.diagnostics))
        return self._finish(self._legalise(draft, result, info, optional_features, rejected=rejected), info)

    def _legalise(
        self,
        draft: Draft,
        result: Compiled,
        info: provisionerpb.FormatInfo,
        optional_features: Collection[str],
        *,
        rejected: Mapping[str, Violation],
    ) -> Compiled:
        supports: Sequence[provisionerpb.FeatureSupport] = info.features
        table = self.passes if draft.known_profile is not None else PassTable(())
        legalised = legalise(draft, supports, table=table, optional_features=optional_features, rejected=rejected)
        result.draft = draft
        result.refusals += legalised.refusals
        result.omitted += legalised.omitted
        return result

    def _finish(
        self, result: Compiled, info: provisionerpb.FormatInfo, *, features: bundlepb.BootstrapBundle | None = None
    ) -> Compiled:
        """Lower the execution, and have a last look.

        `features` has the features that are used where another machine of the class has passed that look already: ids
        of bundles are all of one form, so that it would find the same.
        """
        draft = result.draft
        if draft is None:
            raise AssertionError("there is nothing to finish")
        supports: Sequence[provisionerpb.FeatureSupport] = info.features
        result.draft = draft.copy()
        result.bundle = draft.bundle
        result.lowered = draft.lowered
        if info.kubernetes_input == provisionerpb.KUBERNETES_INPUT_PLAN:
            draft.bundle.provenance.passes[:] = [*draft.passes, RUNNER]
            draft.bundle.os.files.append(provenance_file(draft.bundle))
            try:
                with span("lower", {"pass": RUNNER}):
                    finish(draft, supports, media_type=info.media_type)
            except SlipwayError as error:
                result.refusals += problems_of_error(error, draft.bundle)
                # The rest can still be judged: who corrects the steps shall not learn of it only then.
                for refused in (draft, result.draft):
                    refused.bundle.plan.ClearField("steps")
                    refused.prepared.clear()
        if features is not None:
            result.bundle.MergeFrom(features)
            return result
        told = {one.path for one in result.refusals}
        declared = by_id(supports)
        result.refusals += [
            not_taken(one, declared) for one in unsupported(draft.bundle, declared) if one.use.path not in told
        ]
        result.refusals += _collisions(draft.bundle)
        compute_features(result.bundle)
        return result

    def _plan(self, result: Compiled, info: provisionerpb.FormatInfo, optional_features: Collection[str]) -> bool:
        """Have the engine make a plan of the intent; False when it refuses."""
        bundle = result.bundle
        try:
            engine = self.engines.choose(bundle.intent.kubernetes, bundle.intent.cluster)
            check_system(engine, bundle.machine.target)
        except SlipwayError as error:
            result.refusals += problems_of_error(error, bundle)
            return False
        supports = by_id(engine.features)
        wrong = [one for one in unsupported(bundle, engine.features) if one.use.id.startswith(ENGINE_NAMESPACES)]
        omitted, wrong = omit(bundle, wrong, optional_features, supports)
        result.omitted += omitted
        result.refusals += [
            Problem(
                one.use.id,
                one.use.path,
                f"the bootstrap engine {engine.name} does not take {one.use.id}: it {one.why}",
                engine.remedies.get(one.use.id) or remedy_of(one.use, supports),
                origin_of(one.use.item),
                other_formats=True,
            )
            for one in wrong
        ]
        try:
            with span("build plan", {"engine": engine.name}):
                made = engine.build_plan(bundle, info)
            while _without(bundle, made.refusals, optional_features, result):
                made = engine.build_plan(bundle, info)
        except SlipwayError as error:
            result.refusals += problems_of_error(error, bundle)
            return False
        told = {one.path for one in result.refusals}
        result.refusals += [one for one in locate(made.refusals, bundle) if one.path not in told]
        if result.refusals:
            return False
        diagnostics = [diagnostic(one) for one in locate(made.diagnostics, bundle)]
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
        return True

    def _without_plan(self, result: Compiled, info: provisionerpb.FormatInfo) -> Compiled:
        """Refuse the plan of a machine, and whatever else a format that takes intents does not take of it."""
        rest = bundlepb.BootstrapBundle()
        rest.CopyFrom(result.bundle)
        rest.ClearField("plan")
        draft = Draft(bundle=rest, known_profile=None, target=rest.machine.target)
        others = legalise(draft, info.features, table=PassTable(())).refusals
        result.refusals += [_takes_no_plan(info), *others]
        return result

    def _of_system(
        self, bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo, optional_features: Collection[str]
    ) -> list[Problem]:
        """Give what is refused of a machine besides its Kubernetes part, where that part gives no plan to go on with.

        Who corrects the one shall not learn of the other only then.
        """
        rest = bundlepb.BootstrapBundle()
        rest.CopyFrom(bundle)
        rest.ClearField("intent")
        rest.ClearField("engine_options")
        with suppress(SlipwayError):
            take_extensions(rest, self.engines.choose(bundle.intent.kubernetes, bundle.intent.cluster))
        # They become steps of the plan, which every format that takes a plan executes.
        rest.commands.ClearField("pre")
        rest.commands.ClearField("post")
        if not rest.commands.ListFields():
            rest.ClearField("commands")
        rest.plan.SetInParent()
        target = rest.machine.target
        draft = Draft(bundle=rest, known_profile=self._profile(target, info), target=target)
        return legalise(draft, info.features, table=self.passes, optional_features=optional_features).refusals

    def _profile(self, target: clusterpb.Target, info: provisionerpb.FormatInfo) -> OsProfile | UnsupportedTarget:
        """Give the machine's profile, or why there is none, for the passes that need one."""
        try:
            return find_profile(self.profiles, target, info if self.takes_declared_profiles else None)
        except UnsupportedTarget as error:
            return error


def _without(
    bundle: bundlepb.BootstrapBundle, refusals: Sequence[Problem], optional: Collection[str], result: Compiled
) -> bool:
    """Take out what an engine has refused and the spec says may be left out; tell whether there was any."""
    left_out = list(locate((one for one in refusals if one.feature in optional), bundle))
    gone = [one for one in reversed(left_out) if take_out(bundle, one.path)]
    result.omitted += reversed(gone)
    return bool(gone)


def _collisions(bundle: bundlepb.BootstrapBundle) -> list[Problem]:
    return [
        Problem(
            "os.files",
            later.where,
            f"{paths.describe(earlier.origin)} and {paths.describe(later.origin)} claim the same path",
            "Leave the path to one of them",
            earlier.origin if later.origin.made_by else later.origin,
        )
        for earlier, later in paths.collisions(bundle.os)
    ]


def _takes_no_plan(info: provisionerpb.FormatInfo) -> Problem:
    return Problem(
        "plan.steps",
        "plan",
        f"cannot be carried out by format {info.format}, whose operating system becomes a node by itself",
        "Choose a provisioner that takes plans",
        diagnosticpb.Origin(path="spec.plan"),
        other_formats=True,
    )
