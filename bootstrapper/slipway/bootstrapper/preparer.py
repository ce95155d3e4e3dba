"""Makes a machine's bundle and lowers it for a format: what every question about a machine begins with."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial

from slipway.bootstrapper.artifacts.agent import Artifacts
from slipway.bootstrapper.assembly.membership_secret import check_membership_secret
from slipway.bootstrapper.assembly.neutral import neutral_bundle
from slipway.bootstrapper.assembly.report_addresses import Addresses, AddressesOf, address_secrets, operators_reporting
from slipway.bootstrapper.assembly.report_items import check_addresses, check_reporting
from slipway.bootstrapper.assembly.secret_uses import check_secrets, secrets_field
from slipway.bootstrapper.assembly.secrets import collect
from slipway.bootstrapper.assembly.subject import CheckedSubject, as_seen_by
from slipway.bootstrapper.beside import beside
from slipway.bootstrapper.compilation.compiled import Compiled
from slipway.bootstrapper.compilation.compiler import Compiler
from slipway.bootstrapper.compilation.machine_classes import CheckedSubjects
from slipway.bootstrapper.compliance.machine_items import check_compliance
from slipway.bootstrapper.compliance.selection import check_waivers
from slipway.bootstrapper.credentials.request_store import RequestStore, ensured
from slipway.bootstrapper.credentials.roles import secrets_for_role
from slipway.bootstrapper.credentials.store import AnyStore, ClusterKey, key_settings
from slipway.bootstrapper.delivery.fetching import Fetching
from slipway.bootstrapper.delivery.largest import breakdown, described, largest_parts
from slipway.bootstrapper.engines.table import SPEC_FIELD
from slipway.bootstrapper.needs import user_secrets
from slipway.bootstrapper.policy import Policy
from slipway.bootstrapper.prepared import Prepared
from slipway.bootstrapper.problems.conversion import place_error
from slipway.bootstrapper.provisioning.imported_layout import bound_to_other_format
from slipway.bootstrapper.provisioning.provisioners import Provisioners
from slipway.bootstrapper.provisioning.rendering import RENDER_TIMEOUT, render
from slipway.bootstrapper.provisioning.selection import Candidate, all_candidates, choose, reaches
from slipway.bootstrapper.provisioning.wish import Wish
from slipway.bootstrapper.setting import Setting, setting_for
from slipway.bootstrapper.target import stated
from slipway.contract.errors import BundleTooLarge, SlipwayError, UnsupportedFeature, UserDataTooLarge, Violation
from slipway.contract.secret_references import MAX_REFERENCED_BYTES
from slipway.contract.wire_entries import MAX_ENTRIES, check_entries
from slipway.rpc.spans import span
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

_SMALLER = "move content into remote files with a hash, or into the image"
_UNKNOWN = Addresses("", "")
"""What stands for addresses as long as there is no bundle to sign them for."""

MAX_BUNDLE = 2 * 1024 * 1024
"""Most bytes of a serialised bundle (design 5.7)."""


def utc_now() -> datetime:
    """Give the time: the only clock of the bootstrapper, used to find expired secrets."""
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Preparer:
    """All that a bootstrapper depends on.

    `store` None means that a request must carry the cluster's secrets, `addresses` None that the operator gives the
    machine no addresses to report to, `fetching` None that no machine may fetch its user data. `needs_addresses`: the
    machine reports to these addresses whatever its spec says, or is refused.
    """

    provisioners: Provisioners
    compiler: Compiler
    version: str
    store: AnyStore | None = None
    policy: Policy = field(default_factory=Policy)
    artifacts: Artifacts = field(default_factory=Artifacts)
    clock: Callable[[], datetime] = utc_now
    render_timeout: float = RENDER_TIMEOUT
    addresses: AddressesOf | None = None
    needs_addresses: bool = False
    fetching: Fetching | None = None
    subjects: CheckedSubjects = field(default_factory=CheckedSubjects, repr=False)

    def chosen(self, subject: CheckedSubject) -> Candidate:
        """Give the format that a machine is rendered in.

        Raises:
            SlipwayError: as choose().
        """
        wish = Wish.of(subject.spec, stated(subject.spec.target, subject.machine.target), plan=subject.plan is not None)
        return self.choose(wish)

    def choose(self, wish: Wish) -> Candidate:
        """Return the format for a wish, of those that the operator allows.

        Raises:
            SlipwayError: as choose() of the selection.
        """
        instances, policy = self.provisioners.instances(), self.policy
        return choose(instances, wish, allowed=policy.allowed_provisioners, versions=policy.versions)

    def options(self, subject: CheckedSubject) -> list[Candidate]:
        """Give every ready format that a machine could have, as far as its target and its import allow."""
        said = stated(subject.spec.target, subject.machine.target)
        return [
            one
            for one in self.candidates()
            if reaches(one.format, said) and not bound_to_other_format(subject.spec, one)
        ]

    def candidates(self) -> list[Candidate]:
        """Give every ready format."""
        instances, policy = self.provisioners.instances(), self.policy
        return all_candidates(instances, allowed=policy.allowed_provisioners, versions=policy.versions)

    def setting(self, subject: CheckedSubject, candidate: Candidate | None) -> Setting:
        """Give what the neutral bundle of a machine owes to a candidate; None for no candidate in particular.

        Raises:
            SlipwayError: as setting_for().
        """
        return setting_for(
            subject,
            candidate,
            engines=self.compiler.engines,
            policy=self.policy,
            has_addresses=self.addresses is not None,
        )

    async def neutral(
        self,
        subject: CheckedSubject,
        candidate: Candidate | None,
        credentials: secretpb.SecretMaterial,
        *,
        store: AnyStore | None = None,
    ) -> tuple[bundlepb.BootstrapBundle, list[secretpb.Secret], list[diagnosticpb.Diagnostic]]:
        """Give the neutral bundle, the secrets that are available to it, and remarks."""
        return await self.neutral_in(subject, self.setting(subject, candidate), credentials, store=store)

    async def neutral_in(
        self,
        subject: CheckedSubject,
        setting: Setting,
        credentials: secretpb.SecretMaterial,
        *,
        store: AnyStore | None = None,
    ) -> tuple[bundlepb.BootstrapBundle, list[secretpb.Secret], list[diagnosticpb.Diagnostic]]:
        """Give the same for all candidates of a setting."""
        subject = as_seen_by(subject, setting.target, kubelet_configuration=setting.kubelet_configuration)
        insists = self.addresses is not None and self.needs_addresses
        if insists:
            subject = _with_operators_sink(subject)
        declarations = [*setting.needed, *setting.declared]
        key = ClusterKey(subject.cluster.name, subject.cluster.namespace)
        settings = key_settings(subject.spec)
        kept_by = store or (self.store if subject.plan is None else None)
        kept = await ensured(RequestStore(credentials), kept_by, key, declarations, settings)
        diagnostics = [
            *subject.diagnostics,
            *setting.diagnostics,
            *(
                diagnosticpb.Diagnostic(severity=diagnosticpb.SEVERITY_WARNING, code="CREDENTIALS", message=warning)
                for warning in kept.warnings
            ),
        ]
        secrets = secrets_for_role(kept.secrets, declarations, subject.machine.role)
        theirs = user_secrets(subject, credentials.secrets)
        clusters_own = [*secrets, *(secret for secret in theirs if "/" in secret.name)]

        agent = self.artifacts.resolve(subject.spec.agent, setting.target)
        check_reporting(subject.spec.reporting, setting.target)
        check_compliance(subject.spec.compliance, setting.target)
        check_waivers(subject.spec.compliance, self.clock())

        addresses = self.addresses if setting.reports or insists else None
        engine = None
        if setting.takes_plan and subject.plan is None:
            engine = self.compiler.engines.choose(subject.spec.kubernetes, subject.cluster, field=SPEC_FIELD)

        def assemble() -> tuple[bundlepb.BootstrapBundle, list[secretpb.Secret]]:
            self.policy.check_spec(subject)
            to_come = [] if addresses is None else address_secrets(_UNKNOWN)
            check_secrets(subject, credentials.secrets, [*secrets, *theirs, *to_come])
            bundle, inline = neutral_bundle(
                subject,
                target=setting.target,
                secrets=clusters_own,
                declared=declarations,
                version=self.version,
                agent=agent,
                reporting=None if addresses is None or insists else operators_reporting(),
                takes_commands=setting.takes_plan,
                engine=engine,
                literal_events=setting.literal_events,
            )
            self.policy.check_features(bundle)
            available = [*secrets, *theirs, *inline]
            if addresses is not None:
                available += address_secrets(addresses(bundle.id))
            collect(bundle, available)
            check_membership_secret(bundle)
            check_addresses(subject.spec.reporting, bundle.secrets.secrets)
            return bundle, available

        with span("assemble bundle"):
            bundle, available = await beside(subject.spec.ByteSize(), assemble)
        return bundle, available, diagnostics

    async def compile(
        self, neutral: bundlepb.BootstrapBundle, candidate: Candidate, *, optional_features: frozenset[str]
    ) -> Compiled:
        """Lower a neutral bundle."""
        work = partial(self.compiler.compile, neutral, candidate.format, optional_features=optional_features)
        with span("compile", {"format": candidate.format.format, "bundle_id": neutral.id}):
            return await beside(neutral.ByteSize(), work)

    async def lower_again(self, prepared: Prepared, rejected: dict[str, Violation]) -> None:
        """Lower what the provisioner has refused; `rejected` is what it said, by bundle field path."""
        work = partial(
            self.compiler.lower_again,
            prepared.compiled,
            prepared.candidate.format,
            rejected=rejected,
            optional_features=frozenset(prepared.subject.spec.optional_features),
        )
        with span("compile", {"format": prepared.candidate.format.format, "bundle_id": prepared.neutral.id}):
            prepared.compiled = await beside(prepared.compiled.bundle.ByteSize(), work)

    def seal(self, prepared: Prepared) -> None:
        """Put the secrets in that are referred to, and no others; refuse oversize."""
        bundle = prepared.compiled.bundle
        referenced = collect(bundle, prepared.available)
        size = bundle.ByteSize()
        _check_size(prepared, size, MAX_BUNDLE, "what the machine is to become has {} bytes", spliced=False)
        if size > MAX_ENTRIES:
            check_entries(bundle.SerializeToString(), bundle.DESCRIPTOR, name="the bundle")
        text = "the secrets of the machine have {} bytes at all the places that refer to them"
        _check_size(prepared, referenced, MAX_REFERENCED_BYTES, text, spliced=True)

    async def ask(
        self, prepared: Prepared, *, accept_attachments: bool, validate_only: bool, most: float = math.inf
    ) -> tuple[provisionerpb.RenderResponse, registrypb.ProvisionerInstance]:
        """Have the bundle rendered, or only checked, within `most` seconds at most; give who answered, too.

        Raises:
            UnsupportedFeature: the provisioner's refusal, its fields named as they stand in the bundle.
            SlipwayError: another refusal, its fields named as they were written, or its failure.
        """
        try:
            return await render(
                self.provisioners,
                prepared.candidate,
                prepared.compiled.bundle,
                accept_attachments=accept_attachments,
                validate_only=validate_only,
                timeout=min(self.render_timeout, most),
            )
        except UnsupportedFeature:
            raise
        except UserDataTooLarge as error:
            where = secrets_field(prepared.subject)
            parts = largest_parts(prepared.neutral, prepared.request_secrets, field=where, spliced=True)
            raise UserDataTooLarge(
                error.message,
                violations=[Violation(place, described(parts), remedy=_SMALLER) for place, _ in parts[:1]],
                metadata=error.metadata | {"breakdown": breakdown(parts)},
            ) from None
        except SlipwayError as error:
            place_error(error, prepared.compiled.bundle)
            raise


def _with_operators_sink(subject: CheckedSubject) -> CheckedSubject:
    spec = specpb.MachineBootstrapSpec()
    spec.CopyFrom(subject.spec)
    spec.reporting.CopyFrom(operators_reporting(subject.spec.reporting))
    return replace(subject, spec=spec)


def _check_size(prepared: Prepared, size: int, limit: int, text: str, *, spliced: bool) -> None:
    """Refuse a bundle over a limit, at what makes it so large.

    Raises:
        BundleTooLarge: it is.
    """
    if size <= limit:
        return
    where = secrets_field(prepared.subject)
    parts = largest_parts(prepared.neutral, prepared.request_secrets, field=where, spliced=spliced)
    sentence = f"{text.format(size)}, and at most {limit} are allowed"
    places = [place for place, _ in parts[:1]]
    shown = f"; the largest parts: {described(parts)}" if parts else ""
    raise BundleTooLarge(
        sentence,
        violations=[Violation(place, f"{sentence}{shown}", remedy=_SMALLER) for place in places],
        metadata={"size": str(size), "limit": str(limit)},
    )
