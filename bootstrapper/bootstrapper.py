"""The bootstrapper: from a machine's spec to its user data.

One class behind the gRPC service, the embedded command line and, in a management cluster, the controller: they all get
the same answer since they call the same code.
"""

import asyncio
import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar

from bootstrapper.assembly.neutral import neutral_bundle
from bootstrapper.assembly.secrets import collect
from bootstrapper.assembly.subject import CheckedSubject, check
from bootstrapper.compilation import Compiled, Compiler
from bootstrapper.credentials.placeholder_store import PlaceholderStore
from bootstrapper.credentials.request_store import RequestStore
from bootstrapper.credentials.roles import secrets_for_role
from bootstrapper.credentials.store import ClusterKey, CredentialStore
from bootstrapper.delivery.fitting import Fitted, fit
from bootstrapper.delivery.infrastructure import assumed, check_carried, infrastructure
from bootstrapper.key_settings import key_settings
from bootstrapper.lowering.draft import Elsewhere, Refusal
from bootstrapper.needs import needed, user_secrets
from bootstrapper.placeholders import user_placeholders
from bootstrapper.policy import Policy, check_declarations
from bootstrapper.provisioning.provisioners import Provisioners
from bootstrapper.provisioning.rendering import RENDER_TIMEOUT, render
from bootstrapper.provisioning.selection import Candidate, Wish, all_candidates, choose, reaches
from bootstrapper.refusals import as_written, bound, bundle_path, check_bound, omissions, refused, said
from bootstrapper.takers import Takers, stand_ins
from bootstrapper.target import resolve, stated
from bootstrapper.trial import TRIAL_TIMEOUT, Trial, in_order, of_whole, remainder
from services.contract.errors import (
    BundleTooLarge,
    ProvisionerFailed,
    SecretExpired,
    SlipwayError,
    UnsupportedFeature,
    Violation,
)
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import diagnostic_pb2 as diagnosticpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1 import secret_pb2 as secretpb

T = TypeVar("T")

TRUNCATED = "truncated"
"""Metadata key of a status that had to leave field violations out (errors.yaml)."""

MAX_RENDERS = 64
"""Most calls of Render for one bundle; each but the last lowers up to 20 fields, and a bundle has fewer items."""

LARGE = 8 * 1024
"""What has more bytes than this is worked on in a thread: its items may be many, and the work with them."""

MAX_BUNDLE = 2 * 1024 * 1024
"""Most bytes of a serialised bundle (design 5.7)."""


def utc_now() -> datetime:
    """Give the time: the only clock of the bootstrapper, used to tell expired secrets."""
    return datetime.now(UTC)


async def beside(size: int, work: Callable[[], T]) -> T:
    """Do work on something of so many bytes; much of it beside the event loop, which answers others meanwhile."""
    return await asyncio.to_thread(work) if size > LARGE else work()


@dataclass(slots=True)
class Prepared:
    """A machine whose provisioner is chosen and whose bundle is lowered for it."""

    subject: CheckedSubject
    candidate: Candidate
    compiled: Compiled
    available: Sequence[secretpb.Secret]
    neutral: bundlepb.BootstrapBundle
    diagnostics: list[diagnosticpb.Diagnostic] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Bootstrapper:
    """All that a bootstrapper depends on. `store` None means that a request must carry the cluster's secrets."""

    provisioners: Provisioners
    compiler: Compiler
    version: str
    store: CredentialStore | None = None
    policy: Policy = field(default_factory=Policy)
    clock: Callable[[], datetime] = utc_now
    render_timeout: float = RENDER_TIMEOUT

    async def user_data(self, request: bootstrappb.GetUserDataRequest) -> bootstrappb.GetUserDataResponse:
        """Give the machine's user data.

        Raises:
            SlipwayError: any reason of the error table that is not the registry's; fields are named as the user wrote.
        """
        prepared = await self.prepare(request.subject, request.credentials)
        target = prepared.compiled.bundle.machine.target
        secret_format = prepared.candidate.format.secret_format
        check_carried(prepared.candidate.format, target)
        response, instance = await self.render(prepared, accept_attachments=request.accept_attachments)
        fitted = await self.fitted(
            prepared, response.user_data, limit=request.max_user_data_bytes, accept_gzip=request.accept_gzip
        )
        if not request.max_user_data_bytes:
            counted = fitted.size.counted_bytes
            prepared.diagnostics += assumed(target.infrastructure, secret_format=secret_format, counted=counted)
        return self._answer(prepared, response, instance, fitted.data, fitted.encoding, fitted.size)

    @staticmethod
    async def fitted(prepared: Prepared, data: bytes, *, limit: int = 0, accept_gzip: bool) -> Fitted:
        """Give user data as the machine's infrastructure takes them; `limit` 0 for the infrastructure's own.

        Raises:
            UserDataTooLarge: it does not take them.
        """
        target, info = prepared.compiled.bundle.machine.target, prepared.candidate.format
        row = infrastructure(target.infrastructure, secret_format=info.secret_format)
        may_compress = accept_gzip and info.accepts_gzip
        work = partial(fit, data, prepared.compiled.bundle, row=row, limit=limit, may_compress=may_compress)
        return await beside(len(data), work)

    async def prepare(
        self,
        given: bootstrappb.Subject,
        credentials: secretpb.SecretMaterial,
        *,
        store: CredentialStore | None = None,
    ) -> Prepared:
        """Check the spec, choose the provisioner and lower the bundle for it; refuse what can not be honoured."""
        subject = await beside(given.ByteSize(), partial(check, given))
        return await self.prepare_for(subject, self.chosen(subject), credentials, store=store)

    def chosen(self, subject: CheckedSubject) -> Candidate:
        """Give the format that a machine is rendered in.

        Raises:
            SlipwayError: as choose().
        """
        wish = Wish.of(subject.spec, stated(subject.spec.target, subject.machine.target))
        return choose(self.provisioners.instances(), wish, allowed=self.policy.allowed_provisioners)

    async def prepare_for(
        self,
        subject: CheckedSubject,
        candidate: Candidate,
        credentials: secretpb.SecretMaterial,
        *,
        store: CredentialStore | None = None,
    ) -> Prepared:
        """Lower the bundle for a candidate.

        Raises:
            SlipwayError: FEATURE_DENIED, UNSUPPORTED_FEATURE, CREDENTIALS_MISSING, SECRET_* and the like.
        """
        check_bound(subject.spec, candidate, self.candidates())
        neutral, available, diagnostics = await self.neutral(subject, candidate, credentials, store=store)
        optional = frozenset(subject.spec.optional_features)
        neutral.provenance.provisioner = f"{candidate.name}/{candidate.version}"
        compiled = await self.compile(neutral, candidate, optional_features=optional)
        prepared = Prepared(subject, candidate, compiled, available, neutral, diagnostics)
        if compiled.refusals:
            raise refused(await self._advise(prepared, (await self.verdict(prepared)).refusals), candidate)
        self.seal(compiled.bundle, available)
        return prepared

    async def compile(
        self, neutral: bundlepb.BootstrapBundle, candidate: Candidate, *, optional_features: frozenset[str]
    ) -> Compiled:
        """Lower a neutral bundle."""
        work = partial(self.compiler.compile, neutral, candidate.format, optional_features=optional_features)
        return await beside(neutral.ByteSize(), work)

    @staticmethod
    def advised(
        refusals: Sequence[Refusal], subject: CheckedSubject, trials: Iterable[tuple[str, Trial]]
    ) -> list[Refusal]:
        """Give the refusals, with who else takes what the candidate does not; each where its field was written."""
        return list(as_written(Takers(trials).advise(in_order(refusals)), subject.layers))

    def options(self, subject: CheckedSubject) -> list[Candidate]:
        """Give every ready format that a machine could have, as far as its target and its import allow."""
        said = stated(subject.spec.target, subject.machine.target)
        return [one for one in self.candidates() if reaches(one.format, said) and not bound(subject.spec, one)]

    def candidates(self) -> list[Candidate]:
        """Give every ready format."""
        return all_candidates(self.provisioners.instances(), allowed=self.policy.allowed_provisioners)

    async def trials(self, subject: CheckedSubject, candidate: Candidate) -> list[tuple[str, Trial]]:
        """Try the formats that may stand for a candidate's, each by its name: none gets a secret for it.

        All of them together have a few seconds; those that have not answered by then are left out.
        """
        tasks = {
            name: asyncio.ensure_future(self._try(subject, other))
            for name, other in stand_ins(candidate, self.options(subject))
        }
        if not tasks:
            return []
        try:
            done, _ = await asyncio.wait(tasks.values(), timeout=TRIAL_TIMEOUT)
        finally:
            for task in tasks.values():
                task.cancel()
            await asyncio.gather(*tasks.values(), return_exceptions=True)
        return [(name, task.result()) for name, task in tasks.items() if task in done]

    async def _try(self, subject: CheckedSubject, candidate: Candidate) -> Trial:
        try:
            return await self.verdict(await self.on_trial(subject, candidate))
        except SlipwayError:
            return Trial()

    async def on_trial(self, subject: CheckedSubject, candidate: Candidate) -> Prepared:
        """Lower the bundle for a candidate with placeholders for all secrets; nothing is refused here."""
        neutral, available, diagnostics = await self.neutral(
            subject, candidate, user_placeholders(subject.spec), store=PlaceholderStore()
        )
        optional = frozenset(subject.spec.optional_features)
        compiled = await self.compile(neutral, candidate, optional_features=optional)
        return Prepared(subject, candidate, compiled, available, neutral, diagnostics)

    async def verdict(self, prepared: Prepared, *, validate_only: bool = True) -> Trial:
        """Give all that a provisioner refuses of a machine: what compilation found, and what Render itself says.

        `prepared.compiled` is then what was asked last. Unless it is to check only, the user data are given too.

        Raises:
            SlipwayError: a refusal of another reason, or a failure, where compilation has found nothing.
        """
        told = list(prepared.compiled.refusals)
        again, judged, data = True, False, b""
        for _ in range(MAX_RENDERS):
            bundle = None
            if told:
                cut = partial(remainder, prepared.compiled.bundle, prepared.candidate.format)
                bundle = await beside(prepared.compiled.bundle.ByteSize(), cut)
            if told and (bundle is None or prepared.compiled.draft is None):
                break
            try:
                self.seal(bundle or prepared.compiled.bundle, prepared.available)
                asked = Prepared(
                    prepared.subject,
                    prepared.candidate,
                    replace(prepared.compiled, bundle=bundle or prepared.compiled.bundle),
                    prepared.available,
                    prepared.neutral,
                )
                response, _ = await self._ask(
                    asked,
                    accept_attachments=True,
                    validate_only=validate_only or bool(told),
                    most=TRIAL_TIMEOUT if told else math.inf,
                )
                judged, data = True, response.user_data
                break
            except UnsupportedFeature as error:
                rejected = {bundle_path(one.path): one for one in error.violations}
                if not again or not rejected or prepared.compiled.draft is None:
                    told += said(error, asked.compiled.bundle)
                    judged = TRUNCATED not in error.metadata
                    break
                again = TRUNCATED in error.metadata
                await beside(prepared.compiled.bundle.ByteSize(), partial(self._lower_again, prepared, rejected))
                told += prepared.compiled.refusals
            except SlipwayError as error:
                if not told:
                    raise
                told += of_whole(error, prepared.compiled.bundle)
                break
        return Trial(in_order(told), judged=judged, user_data=data)

    async def neutral(
        self,
        subject: CheckedSubject,
        candidate: Candidate | None,
        credentials: secretpb.SecretMaterial,
        *,
        store: CredentialStore | None = None,
    ) -> tuple[bundlepb.BootstrapBundle, list[secretpb.Secret], list[diagnosticpb.Diagnostic]]:
        """Give the neutral bundle, the secrets that are available to it, and remarks."""
        said = stated(subject.spec.target, subject.machine.target)
        diagnostics: list[diagnosticpb.Diagnostic] = []
        target = said
        declared: list[secretpb.SecretDeclaration] = []
        if candidate is not None:
            check_declarations(candidate.name, candidate.format)
            target, diagnostics = resolve(said, candidate.format)
            declared = list(candidate.format.secrets)
        declarations = needed(subject, declared)
        source = RequestStore(credentials, otherwise=store or self.store)
        key = ClusterKey(subject.cluster.name, subject.cluster.namespace)
        kept = await asyncio.to_thread(source.ensure, key, declarations, key_settings(subject.spec))
        diagnostics += [
            diagnosticpb.Diagnostic(severity=diagnosticpb.SEVERITY_WARNING, code="CREDENTIALS", message=warning)
            for warning in kept.warnings
        ]
        secrets = secrets_for_role(kept.secrets, declarations, subject.machine.role)
        theirs = user_secrets(subject, credentials.secrets)
        clusters_own = [*secrets, *(one for one in theirs if "/" in one.name)]

        def assemble() -> tuple[bundlepb.BootstrapBundle, list[secretpb.Secret]]:
            bundle, inline = neutral_bundle(
                subject, target=target, secrets=clusters_own, declared=declared, version=self.version
            )
            self.policy.check_features(bundle)
            available = [*secrets, *theirs, *inline]
            collect(bundle, available)
            return bundle, available

        bundle, available = await beside(subject.spec.ByteSize(), assemble)
        return bundle, available, diagnostics

    def seal(self, bundle: bundlepb.BootstrapBundle, available: Sequence[secretpb.Secret]) -> None:
        """Put the secrets in that are referred to, and no others; refuse expired ones and oversize."""
        collect(bundle, available)
        now = self.clock()
        expired = [
            Violation(f"secrets[{index}]", "has expired")
            for index, one in enumerate(bundle.secrets.secrets)
            if one.HasField("expire_time") and one.expire_time.ToDatetime(tzinfo=UTC) <= now
        ]
        if expired:
            raise SecretExpired("a secret of the bundle has expired: obtain a fresh one", violations=expired)
        size = bundle.ByteSize()
        if size > MAX_BUNDLE:
            raise BundleTooLarge(
                f"the bundle has {size} bytes; at most {MAX_BUNDLE} are allowed",
                metadata={"size": str(size), "limit": str(MAX_BUNDLE)},
            )

    async def render(
        self, prepared: Prepared, *, accept_attachments: bool, validate_only: bool = False
    ) -> tuple[provisionerpb.RenderResponse, registrypb.ProvisionerInstance]:
        """Have the bundle rendered, or only checked.

        When the provisioner refuses items although it declares their features, those are lowered and it is asked once
        more; `prepared.compiled` is then what was sent the second time.

        Raises:
            SlipwayError: the provisioner's refusal, its fields named as the user wrote them, or its failure.
        """
        again = True
        for _ in range(MAX_RENDERS):
            try:
                return await self._ask(prepared, accept_attachments=accept_attachments, validate_only=validate_only)
            except UnsupportedFeature as error:
                rejected = {bundle_path(one.path): one for one in error.violations}
                if not rejected or prepared.compiled.draft is None:
                    raise
                if not again:
                    told = said(error, prepared.compiled.bundle)
                    raise refused(await self._advise(prepared, told), prepared.candidate) from None
                # A status holds only so many fields: what it left out is told by the next one.
                again = TRUNCATED in error.metadata
            await beside(prepared.compiled.bundle.ByteSize(), partial(self._lower_again, prepared, rejected))
            if prepared.compiled.refusals:
                told = await self._advise(prepared, prepared.compiled.refusals)
                raise refused(told, prepared.candidate) from None
            self.seal(prepared.compiled.bundle, prepared.available)
        raise ProvisionerFailed(
            "the provisioner refuses fields without end", metadata={"provisioner": prepared.candidate.name}
        )

    def _lower_again(self, prepared: Prepared, rejected: dict[str, Violation]) -> None:
        """Lower what the provisioner has refused; `rejected` is what it said, by bundle field path."""
        prepared.compiled = self.compiler.lower_again(
            prepared.compiled,
            prepared.candidate.format,
            rejected=rejected,
            optional_features=frozenset(prepared.subject.spec.optional_features),
        )

    async def _advise(self, prepared: Prepared, refusals: Sequence[Refusal]) -> list[Refusal]:
        wanted = any(one.elsewhere is not Elsewhere.NOWHERE for one in refusals)
        trials = await self.trials(prepared.subject, prepared.candidate) if wanted else []
        return await beside(prepared.neutral.ByteSize(), partial(self.advised, refusals, prepared.subject, trials))

    async def _ask(
        self, prepared: Prepared, *, accept_attachments: bool, validate_only: bool, most: float = math.inf
    ) -> tuple[provisionerpb.RenderResponse, registrypb.ProvisionerInstance]:
        return await render(
            self.provisioners,
            prepared.candidate,
            prepared.compiled.bundle,
            accept_attachments=accept_attachments,
            validate_only=validate_only,
            timeout=min(self.render_timeout, most),
        )

    def _answer(  # noqa: PLR0913, PLR0917  # the parts of an answer
        self,
        prepared: Prepared,
        response: provisionerpb.RenderResponse,
        instance: registrypb.ProvisionerInstance,
        data: bytes,
        encoding: str,
        size: bootstrappb.Size,
    ) -> bootstrappb.GetUserDataResponse:
        info = prepared.candidate.format
        answer = bootstrappb.GetUserDataResponse(
            user_data=data,
            encoding=encoding,
            format=info.format,
            secret_format=info.secret_format,
            media_type=response.media_type or info.media_type,
            file_extension=info.file_extension,
            sha256=hashlib.sha256(data).digest(),
            attachments=response.attachments,
            provisioner=bootstrappb.ChosenProvisioner(
                name=prepared.candidate.name, version=prepared.candidate.version, instance_id=instance.instance_id
            ),
            lowered=prepared.compiled.lowered,
            size=size,
            bundle_id=prepared.compiled.bundle.id,
        )
        if response.HasField("expire_time"):
            answer.expire_time.CopyFrom(response.expire_time)
        answer.diagnostics.extend(prepared.diagnostics)
        answer.diagnostics.extend(prepared.compiled.diagnostics)
        omitted = as_written(prepared.compiled.omitted, prepared.subject.layers)
        answer.diagnostics.extend(omissions(omitted, prepared.subject.spec))
        answer.diagnostics.extend(response.diagnostics)
        for one in answer.diagnostics:
            if one.HasField("origin"):
                *_, origin = prepared.subject.layers.origins(bundle_path(one.field_path), one.origin)
                one.origin.CopyFrom(origin)
        return answer
