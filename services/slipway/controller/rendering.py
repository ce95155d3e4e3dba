"""From a decision to render, to the user data: everything between the facts and the Secret."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime
from secrets import token_bytes

import structlog

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.delivery.fetching import Fetching, Payload, is_fetched
from slipway.bootstrapper.engines.join_tokens import TokenRequest
from slipway.contract.errors import SlipwayError, UserDataTooLarge
from slipway.contract.source_position import SourceError
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.cluster_store import SEED_SUFFIX, ClusterStore, owned_secret
from slipway.controller.data_secret import LIMIT_BYTES, Record
from slipway.controller.decision import Render
from slipway.controller.engines import Engines
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt, of_contract, of_source
from slipway.controller.join_token import JoinToken
from slipway.controller.owner import Owner
from slipway.controller.payloads import Payloads
from slipway.controller.question import Question, Questions
from slipway.controller.reasons import Reason
from slipway.controller.report_addresses import ReportAddresses
from slipway.controller.secret_reader import SecretReader
from slipway.controller.subject import uses_own_token
from slipway.controller.tokens import SEED_BYTES, derived_token
from slipway.controller.work_budget import REFERENCED_BYTES, Share, WorkBudget
from slipway.controller.workload import Workloads
from slipway.controller.wrapping import wraps
from slipway.kubernetes_api.objects import Objects
from slipway.rpc.spans import span
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb

SEED_KEY = "value"
_log = structlog.get_logger("slipway.controller")


@dataclass(frozen=True, slots=True)
class Rendered:
    """User data, and the token that the cluster has to accept before a machine gets them.

    `token` is None where the controller has none to make. `engine` is what the machine is bootstrapped by, "" where it
    is not known. `no_room`: the user data are without the addresses of reports, because they would be too large.
    `payload` is what the machine fetches where the user data are a stub.
    """

    answer: bootstrappb.GetUserDataResponse
    token: JoinToken | None
    engine: str
    no_room: bool
    payload: Payload | None = None


@dataclass(frozen=True, slots=True)
class Renderer:
    """Makes user data by the bootstrapper's own code.

    `reports` gives machines addresses to report to, `payloads` stores user data that machines fetch.
    """

    objects: Objects
    reader: SecretReader
    bootstrapper: Bootstrapper
    clock: Callable[[], datetime]
    questions: Questions
    engines: Engines
    workloads: Workloads
    reports: ReportAddresses | None = None
    payloads: Payloads | None = None
    referenced: WorkBudget = field(default_factory=lambda: WorkBudget(REFERENCED_BYTES))

    async def render(self, facts: Facts, decision: Render) -> Rendered:
        """Give the user data of a config whose owner and cluster are there.

        Raises:
            Halt: something is missing, or refused.
            ApiFailure: a call of the management cluster failed.
            BudgetExceeded: it is too large beside those that are in progress.
        """
        if facts.owner is None or facts.cluster is None:
            raise AssertionError("decided before")
        try:
            with self.referenced.share() as share:
                return await self._render(facts, facts.owner, facts.cluster, decision, share)
        except SourceError as error:
            raise of_source(error) from None
        except SlipwayError as error:
            raise of_contract(error) from None

    async def token(
        self, facts: Facts, cluster: ClusterObject, role: clusterpb.Role.ValueType, *, rotation: int, engine: str
    ) -> JoinToken:
        """Give the token of a config; what is drawn for it is the same whenever it is asked for.

        Raises:
            Halt: it is not known by which mechanism the machine joins.
        """
        return await self._token(facts, cluster, role, config_uid=facts.uid, rotation=rotation, engine=engine)

    async def token_of(
        self, facts: Facts, cluster: ClusterObject, role: clusterpb.Role.ValueType, record: Record
    ) -> JoinToken:
        """Give the token that the machine has got in its data Secret, whatever uid its config had then.

        A new render never uses that uid: who may write Secrets chooses their annotations, and would get the token of
        another config.

        Raises:
            Halt: as token().
        """
        uid = record.config_uid or facts.uid
        return await self._token(facts, cluster, role, config_uid=uid, rotation=record.rotation, engine=record.engine)

    async def _token(  # noqa: PLR0913  # keyword-only facts of a token
        self,
        facts: Facts,
        cluster: ClusterObject,
        role: clusterpb.Role.ValueType,
        *,
        config_uid: str,
        rotation: int,
        engine: str,
    ) -> JoinToken:
        drawn = derived_token(await self._seed(cluster), config_uid=config_uid, rotation=rotation)
        description = f"Slipway, for {facts.namespace}/{facts.name}"
        request = TokenRequest(role=role, drawn=drawn, description=description)
        return JoinToken(self.engines.join_tokens(facts, cluster, engine=engine), request)

    async def _render(
        self, facts: Facts, owner: Owner, cluster: ClusterObject, decision: Render, share: Share
    ) -> Rendered:
        with span("read objects"):
            question = await self.questions.ask(facts, cluster, role=decision.role, share=share)
        engine = self.engines.choose(facts, cluster, question.subject)
        token = await self.token(facts, cluster, decision.role, rotation=decision.rotation, engine=engine)
        needed = decision.role != clusterpb.ROLE_INIT and not uses_own_token(question.subject.spec, decision.role)
        store = ClusterStore(
            objects=self.objects,
            reader=self.reader,
            clock=self.clock,
            cluster=cluster,
            role=decision.role,
            token=await self._text(cluster, token) if needed else token.request.drawn,
            token_secret=token.secret,
        )
        bootstrapper = replace(self.bootstrapper, store=store)
        if is_fetched(question.subject.spec):
            fetching = await self._fetching(facts, owner, cluster, rotation=decision.rotation)
            bootstrapper = replace(bootstrapper, fetching=fetching)
        request = await _completed(question)
        (answer, payload), no_room = await self._answer(
            facts, owner, bootstrapper, request, needed=question.asks_for_address
        )
        self._check(facts, owner, answer)
        return Rendered(answer, token if needed and token.is_made_here else None, engine, no_room, payload)

    async def _fetching(self, facts: Facts, owner: Owner, cluster: ClusterObject, *, rotation: int) -> Fetching | None:
        """Give what the operator allows a machine that is to fetch its user data; None where that is nothing.

        Raises:
            Halt: machines of this kind cannot.
        """
        if owner.is_pool:
            why = "the machines of a MachinePool share their user data, and a payload is for one machine"
            raise Halt(Reason.DELIVERY_REFUSED, f"delivery.mode is Fetch, and {why}")
        why = wraps(owner.infrastructure_kind, facts.config["metadata"].get("annotations") or {})
        if why:
            raise Halt(Reason.DELIVERY_REFUSED, f"delivery.mode is Fetch, and {why}")
        if self.payloads is None:
            return None
        return self.payloads.fetching_of(await self._seed(cluster), config_uid=facts.uid, rotation=rotation)

    async def _text(self, cluster: ClusterObject, token: JoinToken) -> str:
        """Give the token of a machine that joins, as its user data have it.

        Raises:
            Halt: the cluster makes it, and has none yet, or cannot be asked.
        """
        if token.is_made_here:
            return token.tokens.text(token.request, None)
        text = await self.workloads.token_text(cluster.namespace, cluster.name, token)
        if not text:
            raise Halt(Reason.WAITING_FOR_JOIN_TOKEN, f"{token.where} holds no token that can be used", retry=True)
        return text

    async def _answer(
        self,
        facts: Facts,
        owner: Owner,
        bootstrapper: Bootstrapper,
        request: bootstrappb.GetUserDataRequest,
        *,
        needed: bool,
    ) -> tuple[tuple[bootstrappb.GetUserDataResponse, Payload | None], bool]:
        """Ask for the user data, their payload where they are a stub, and whether they lack addresses of reports.

        They lack them where these have no room.

        Raises:
            Halt: the machine is to have some, and there are none for it.
        """
        addresses = None if self.reports is None else self.reports.of(facts.namespace, owner)
        if addresses is None and needed:
            why = "has no --report-url-base"
            if self.reports is not None:
                why = f"makes no address for this {owner.kind}"
            path = request.subject.spec.reporting.origin.path
            raise Halt("SpecInvalid", f"{path}: put: the controller {why}; remove it")
        if addresses is not None:
            try:
                reporting = replace(bootstrapper, addresses=addresses, needs_addresses=needed)
                return await reporting.delivered(request), False
            except UserDataTooLarge:
                delivered = await bootstrapper.delivered(request)
                _log.warning("no room for addresses of reports", config=f"{facts.namespace}/{facts.name}")
                return delivered, True
        return await bootstrapper.delivered(request), False

    def _check(self, facts: Facts, owner: Owner, answer: bootstrappb.GetUserDataResponse) -> None:
        size = len(answer.user_data) + len(answer.secret_format)
        if size > LIMIT_BYTES:
            raise Halt(Reason.DATA_SECRET_TOO_LARGE, f"the user data have {size} bytes; a Secret holds {LIMIT_BYTES}")
        why = wraps(owner.infrastructure_kind, facts.config["metadata"].get("annotations") or {})
        if why and self._is_verbatim(answer):
            raise Halt(Reason.USER_DATA_WRAPPED, f"format {answer.format} must reach the machine unchanged, and {why}")

    def _is_verbatim(self, answer: bootstrappb.GetUserDataResponse) -> bool:
        return any(
            info.verbatim
            for instance in self.bootstrapper.provisioners.instances()
            for info in instance.info.formats
            if (instance.info.name, info.format) == (answer.provisioner.name, answer.format)
        )

    async def _seed(self, cluster: ClusterObject) -> bytes:
        """Give the seed of a cluster's tokens; it is made once, and goes with the Cluster."""
        name = f"{cluster.name}-{SEED_SUFFIX}"
        values = await self.reader.shared(cluster.namespace, name)
        if values is None:
            body = owned_secret(cluster, name, {SEED_KEY: token_bytes(SEED_BYTES)})
            values = await self.reader.made(self.objects, body)
        seed = values.get(SEED_KEY, b"")
        if len(seed) != SEED_BYTES:
            raise Halt(Reason.DATA_SECRET_TAKEN, f"the Secret {name} holds no seed of Slipway's: delete it", retry=True)
        return seed


async def _completed(question: Question) -> bootstrappb.GetUserDataRequest:
    """Return the request of a question, with what its spec refers to; the values are in it alone."""
    request = bootstrappb.GetUserDataRequest(subject=question.subject)
    with span("read references"):
        request.credentials.CopyFrom(await question.complete(request.subject.spec))
    return request
