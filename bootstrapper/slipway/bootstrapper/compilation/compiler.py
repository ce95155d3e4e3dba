"""From the neutral bundle to the one that a format takes: engine, lowering, and a last check.

Everything here is pure. The same function answers GetUserData, GetBundle and explain, so that what is explained is what
happens.
"""

from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from slipway.bootstrapper.compilation.compiled import Compiled, class_of, of_class
from slipway.bootstrapper.compilation.completion import complete
from slipway.bootstrapper.compilation.engine_plan import make_plan
from slipway.bootstrapper.compilation.intent_flags import check_flags
from slipway.bootstrapper.compilation.machine_classes import (
    MAX_BYTES,
    CompiledClass,
    class_key,
    identify,
    without_identity,
)
from slipway.bootstrapper.compilation.own_steps import surround
from slipway.bootstrapper.compilation.recently_used import RecentlyUsed
from slipway.bootstrapper.engines.extensions import take_extensions
from slipway.bootstrapper.engines.table import EngineTable
from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.early_files import forget_names, name_facts
from slipway.bootstrapper.lowering.legalise import legalise
from slipway.bootstrapper.lowering.passes import PassTable
from slipway.bootstrapper.os_profiles import OsProfile, ProfileTable
from slipway.bootstrapper.os_profiles.declared import find_profile
from slipway.bootstrapper.problems.places import at_their_causes
from slipway.bootstrapper.problems.problem import Problem
from slipway.contract.errors import SlipwayError, UnsupportedTarget, Violation
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb


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
        if not self._is_by_class(neutral, info):
            bundle = bundlepb.BootstrapBundle()
            bundle.CopyFrom(neutral)
            result = self._lower_neutral(bundle, info, optional_features)
            if result.draft is not None:
                result = complete(result, info)
        else:
            bare = without_identity(neutral)
            key = class_key(bare, info, optional_features)
            known = self.classes.get(key)
            result = of_class(known) if known else self._lower_neutral(bare, info, optional_features)
            unfinished = None if known or result.refusals or result.draft is None else result.draft.copy()
            identify(result.bundle, neutral)
            if result.draft is not None:
                result = complete(result, info, features=known.features if known else None)
                if unfinished is not None and not result.refusals:
                    made = class_of(unfinished, result)
                    self.classes.put(key, made, made.counted_bytes())
        if result.draft is not None:
            result.refusals = list(at_their_causes(result.refusals, neutral))
        return result

    def _lower_neutral(
        self, bundle: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo, optional_features: Collection[str]
    ) -> Compiled:
        """Make the plan of a neutral bundle and lower its items; there is no draft where the plan is refused."""
        result = Compiled(bundle)
        result.bundle.provenance.format = info.format
        takes_plan = info.kubernetes_input == provisionerpb.KUBERNETES_INPUT_PLAN
        if bundle.HasField("plan"):
            if not takes_plan:
                return self._refuse_plan(result, info)
            surround(bundle)
        elif takes_plan and not make_plan(self.engines, result, info, optional_features):
            result.refusals += self._system_refusals(bundle, info, optional_features)
            return result
        takes_intent = info.kubernetes_input == provisionerpb.KUBERNETES_INPUT_INTENT
        if takes_intent and bundle.HasField("intent"):
            check_flags(result, info, optional_features)
        target = bundle.machine.target
        profile = None if takes_intent else self._profile(target, info)
        draft = Draft(bundle=bundle, known_profile=profile, target=target, ntp_clients=self.profiles.ntp_clients())
        draft.lowered += result.lowered
        return self._lower_draft(draft, result, info, optional_features, rejected={})

    def _is_by_class(self, neutral: bundlepb.BootstrapBundle, info: provisionerpb.FormatInfo) -> bool:
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
        return complete(self._lower_draft(draft, result, info, optional_features, rejected=rejected), info)

    def _lower_draft(
        self,
        draft: Draft,
        result: Compiled,
        info: provisionerpb.FormatInfo,
        optional_features: Collection[str],
        *,
        rejected: Mapping[str, Violation],
    ) -> Compiled:
        """Lower the items of a draft to what the format supports, all or those that a provisioner has `rejected`."""
        supports: Sequence[provisionerpb.FeatureSupport] = info.features
        table = self.passes if draft.known_profile is not None else PassTable(())
        forget_names(draft, rejected, info.media_type)
        before = None if rejected else name_facts(draft, supports, info.media_type)
        legalised = legalise(draft, supports, table=table, optional_features=optional_features, rejected=rejected)
        if before is not None and (legalised.refusals or legalised.omitted):
            # What has to be lowered has its facts from the runner.
            draft.restore(before)
            legalised = legalise(draft, supports, table=table, optional_features=optional_features)
        result.draft = draft
        result.refusals += legalised.refusals
        result.omitted += legalised.omitted
        return result

    def _refuse_plan(self, result: Compiled, info: provisionerpb.FormatInfo) -> Compiled:
        """Refuse the plan of a machine, and whatever else a format that takes intents does not take of it."""
        rest = bundlepb.BootstrapBundle()
        rest.CopyFrom(result.bundle)
        rest.ClearField("plan")
        draft = Draft(bundle=rest, known_profile=None, target=rest.machine.target)
        others = legalise(draft, info.features, table=PassTable(())).refusals
        result.refusals += [_takes_no_plan(info), *others]
        return result

    def _system_refusals(
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
        """Give the machine's profile, or why it has no profile, for the passes that need one."""
        try:
            return find_profile(self.profiles, target, info if self.takes_declared_profiles else None)
        except UnsupportedTarget as error:
            return error


def _takes_no_plan(info: provisionerpb.FormatInfo) -> Problem:
    return Problem(
        "plan.steps",
        "plan",
        f"cannot be carried out by format {info.format}, whose operating system becomes a node by itself",
        "Choose a provisioner that takes plans",
        diagnosticpb.Origin(path="spec.plan"),
        other_formats=True,
    )
