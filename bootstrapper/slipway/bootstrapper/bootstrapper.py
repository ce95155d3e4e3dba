"""The bootstrapper: from a machine's spec to its user data.

One class behind the gRPC service, the embedded command line and, in a management cluster, the controller: they all get
the same answer since they call the same code.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from slipway.bootstrapper.assembly.secret_uses import check_expiry, secrets_field
from slipway.bootstrapper.assembly.subject import CheckedSubject
from slipway.bootstrapper.assembly.subject_rules import check_credentials
from slipway.bootstrapper.beside import beside
from slipway.bootstrapper.credentials.store import AnyStore
from slipway.bootstrapper.delivery.fetching import (
    Payload,
    attachment,
    can_be_fetched,
    check_fetched,
    check_placed,
    fetched,
    is_fetched,
    ticket_of_request,
)
from slipway.bootstrapper.delivery.fitting import Fitted, fit
from slipway.bootstrapper.delivery.infrastructure import check_assumption, check_carried, infrastructure
from slipway.bootstrapper.delivery.largest import largest_parts
from slipway.bootstrapper.importers.document_words import in_words_of_document
from slipway.bootstrapper.judgement import judge, negotiate
from slipway.bootstrapper.prepared import Prepared
from slipway.bootstrapper.preparer import Preparer, utc_now
from slipway.bootstrapper.problems.conversion import unsupported_feature
from slipway.bootstrapper.problems.problem import Problem
from slipway.bootstrapper.problems.request_words import in_words_of, words_of_subject
from slipway.bootstrapper.provisioning.imported_layout import check_layout
from slipway.bootstrapper.provisioning.selection import Candidate
from slipway.bootstrapper.trials import Trials
from slipway.contract.errors import UnsupportedFeature
from slipway.rpc.spans import span
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import provisioning_service_pb2 as provisioningpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb
from slipway.v1alpha1 import secret_pb2 as secretpb

__all__ = ["Bootstrapper", "utc_now"]


@dataclass(frozen=True, slots=True)
class Carrier:
    """What a caller can carry.

    Attributes:
        attachments: it can place companion files.
        most_bytes: most bytes of user data; 0 for those of the machine's infrastructure.
        gzip: it can carry binary user data.
    """

    attachments: bool = False
    most_bytes: int = 0
    gzip: bool = False

    @classmethod
    def of(cls, request: bootstrappb.GetUserDataRequest | provisioningpb.ProvisionRequest) -> "Carrier":
        """Read what a request says of its caller."""
        return cls(request.accept_attachments, request.max_user_data_bytes, request.accept_gzip)


@dataclass(frozen=True, slots=True)
class Bootstrapper(Preparer):
    """Answers for machines. What it depends on is what bundles are made with."""

    async def user_data(self, request: bootstrappb.GetUserDataRequest) -> bootstrappb.GetUserDataResponse:
        """Give the machine's user data; where they are a stub, their payload is an attachment.

        Raises:
            SlipwayError: any reason of the error table that is not the registry's; fields are named as the user wrote.
        """
        return _with_payload(*await self.delivered(request))

    async def delivered(
        self, request: bootstrappb.GetUserDataRequest
    ) -> tuple[bootstrappb.GetUserDataResponse, Payload | None]:
        """Give the machine's user data, and their payload where they are a stub, which the caller has to store.

        Raises:
            SlipwayError: as user_data().
        """
        check_credentials(request.credentials)
        with in_words_of_document(request.subject.spec), in_words_of(words_of_subject(request.subject)):
            subject = await self._checked(request.subject)
            return await self._delivered(subject, request.credentials, Carrier.of(request))

    async def _checked(self, subject: bootstrappb.Subject) -> CheckedSubject:
        with span("check spec", {"machine": subject.machine.name}):
            return await beside(subject.ByteSize(), partial(self.subjects.check, subject))

    async def user_data_of(
        self, subject: CheckedSubject, credentials: secretpb.SecretMaterial, carrier: Carrier
    ) -> bootstrappb.GetUserDataResponse:
        """Give the user data of a machine that is checked already, as a caller can carry them.

        Raises:
            SlipwayError: as user_data().
        """
        answer, _ = await self._delivered(subject, credentials, carrier)
        return answer

    async def _delivered(
        self, subject: CheckedSubject, credentials: secretpb.SecretMaterial, carrier: Carrier
    ) -> tuple[bootstrappb.GetUserDataResponse, Payload | None]:
        prepared = await self.prepare_for(subject, self.chosen(subject), credentials)
        target = prepared.compiled.bundle.machine.target
        info = prepared.candidate.format
        check_carried(info, target)
        check_fetched(subject.spec, info, target, self.fetching)
        if is_fetched(subject.spec) and self.fetching is not None and self.fetching.ticket is None:
            check_placed(subject.spec, accept_attachments=carrier.attachments)
        response, instance = await self.render(prepared, accept_attachments=carrier.attachments)
        data, payload = self._stub(prepared, response.user_data)
        fitted = await self.fitted(prepared, data, limit=carrier.most_bytes, accept_gzip=carrier.gzip)
        if not carrier.most_bytes:
            counted = fitted.size.counted_bytes
            prepared.diagnostics += check_assumption(target, verbatim=info.verbatim, counted=counted)
        return self._answer(prepared, response, instance, fitted.data, fitted.encoding, fitted.size), payload

    def _stub(self, prepared: Prepared, data: bytes) -> tuple[bytes, Payload | None]:
        """Give user data as they are delivered, and the payload where they are a stub."""
        spec, fetching = prepared.subject.spec, self.fetching
        if fetching is None or not is_fetched(spec):
            return data, None
        ticket, bundle_id = fetching.ticket or ticket_of_request, prepared.compiled.bundle.id
        info, proxy = prepared.candidate.format, prepared.neutral.os.proxy
        return fetched(spec, info, data, fetching, ticket, bundle_id=bundle_id, proxy=proxy)

    async def fitted(self, prepared: Prepared, data: bytes, *, limit: int = 0, accept_gzip: bool) -> Fitted:
        """Give user data as the machine's infrastructure takes them; `limit` 0 for the infrastructure's own.

        Raises:
            UserDataTooLarge: it does not take them.
        """
        target, info = prepared.compiled.bundle.machine.target, prepared.candidate.format
        row = infrastructure(target, verbatim=info.verbatim)
        may_compress = accept_gzip and info.accepts_gzip
        parts = partial(
            largest_parts,
            prepared.neutral,
            prepared.request_secrets,
            field=secrets_field(prepared.subject),
            spliced=True,
        )
        work = partial(
            fit,
            data,
            prepared.compiled.bundle,
            row=row,
            limit=limit,
            may_compress=may_compress,
            parts=parts,
            may_fetch=not limit and can_be_fetched(prepared.subject.spec, info, target, self.fetching),
        )
        with span("fit user data"):
            return await beside(len(data), work)

    async def prepare(
        self,
        given: bootstrappb.Subject,
        credentials: secretpb.SecretMaterial,
        *,
        store: AnyStore | None = None,
    ) -> Prepared:
        """Check the spec, choose the provisioner and lower the bundle for it; refuse what is not supported."""
        with in_words_of_document(given.spec), in_words_of(words_of_subject(given)):
            subject = await self._checked(given)
            return await self.prepare_for(subject, self.chosen(subject), credentials, store=store)

    async def prepare_for(
        self,
        subject: CheckedSubject,
        candidate: Candidate,
        credentials: secretpb.SecretMaterial,
        *,
        store: AnyStore | None = None,
    ) -> Prepared:
        """Lower the bundle for a candidate.

        Raises:
            SlipwayError: FEATURE_DENIED, UNSUPPORTED_FEATURE, CREDENTIALS_MISSING, SECRET_* and the like.
        """
        check_layout(subject.spec, candidate, self.candidates())
        neutral, available, diagnostics = await self.neutral(subject, candidate, credentials, store=store)
        check_expiry(subject, neutral, credentials.secrets, now=self.clock())
        optional = frozenset(subject.spec.optional_features)
        neutral.provenance.provisioner = f"{candidate.name}/{candidate.version}"
        compiled = await self.compile(neutral, candidate, optional_features=optional)
        prepared = Prepared(subject, candidate, compiled, available, neutral, diagnostics, credentials.secrets)
        if compiled.refusals:
            raise await self._refused(prepared, (await judge(self, prepared)).refusals)
        self.seal(prepared)
        return prepared

    async def render(
        self, prepared: Prepared, *, accept_attachments: bool, validate_only: bool = False
    ) -> tuple[provisionerpb.RenderResponse, registrypb.ProvisionerInstance]:
        """Have the bundle rendered, or only checked.

        When the provisioner refuses items although it declares their features, those are lowered and it is asked once
        more; `prepared.compiled` is then what was sent the second time.

        Raises:
            SlipwayError: the provisioner's refusal, its fields named as the user wrote them, or its failure.
        """
        problems: list[Problem] = []
        answer, _ = await negotiate(
            self, prepared, problems, accept_attachments=accept_attachments, validate_only=validate_only
        )
        if answer is None:
            raise await self._refused(prepared, problems)
        return answer

    async def _refused(self, prepared: Prepared, refusals: Sequence[Problem]) -> UnsupportedFeature:
        """Give the error of a machine, with who else takes what is refused: they are asked only now."""
        advised = await Trials(self, prepared.subject).advise(prepared.candidate, refusals)
        return unsupported_feature(advised, prepared.candidate, imported=bool(prepared.subject.spec.imported.kind))

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
        answer.diagnostics.extend(prepared.all_diagnostics(response.diagnostics))
        return answer


def _with_payload(answer: bootstrappb.GetUserDataResponse, payload: Payload | None) -> bootstrappb.GetUserDataResponse:
    """Give the answer to who has to store the payload."""
    if payload is not None:
        answer.attachments.append(attachment(payload, answer.media_type))
    return answer
