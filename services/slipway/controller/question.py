"""What the bootstrapper is asked for a config: its spec with the machine and the cluster, and the secrets of people."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Protocol

from slipway.bootstrapper.assembly.membership import complete_membership, joins_domain
from slipway.bootstrapper.engines.table import EngineTable
from slipway.contract.errors import SpecInvalid, Violation
from slipway.controller.cluster_object import ClusterObject
from slipway.controller.control_planes import ControlPlanes
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt
from slipway.controller.membership_account import is_of_predecessor
from slipway.controller.reasons import Reason
from slipway.controller.references import Place, places, resolve
from slipway.controller.secret_reader import SecretReader
from slipway.controller.subject import read_spec, subject_of
from slipway.controller.work_budget import Share
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import secret_pb2 as secretpb
from slipway.v1alpha1 import spec_pb2 as specpb

Depends = Callable[[Facts, frozenset[Place]], None]
"""Receives the Secrets and ConfigMaps to which a config refers."""


@dataclass(frozen=True, slots=True)
class Question:
    """The question, and what completes its spec.

    Attributes:
        subject: spec, cluster and machine.
        complete: puts into the spec what it takes from ConfigMaps, and returns the secrets that it refers to. It is
            called last: what it reads is held in memory for all configs that are worked on.
        asks_for_address: the machine is to report to the controller's addresses beside what its spec says.
    """

    subject: bootstrappb.Subject = field(repr=False)
    complete: Callable[[specpb.MachineBootstrapSpec], Awaitable[secretpb.SecretMaterial]] = field(repr=False)
    asks_for_address: bool = False


class Questions(Protocol):
    """Makes questions of the configs of a kind."""

    async def ask(
        self, facts: Facts, cluster: ClusterObject, *, role: clusterpb.Role.ValueType, share: Share
    ) -> Question:
        """Give the question for a config whose owner and cluster are there; `share` takes what it refers to.

        Raises:
            BudgetExceeded: that does not fit now.
            Halt: something is missing, or refused.
            SourceError: the config's document is wrong.
            SlipwayError: the contract refuses it.
            ApiFailure: a call of the management cluster failed.
        """
        ...


@dataclass(frozen=True, slots=True)
class NativeQuestions:
    """Makes questions of SlipwayConfigs."""

    reader: SecretReader
    control_planes: ControlPlanes
    engines: EngineTable
    depends: Depends

    async def ask(
        self, facts: Facts, cluster: ClusterObject, *, role: clusterpb.Role.ValueType, share: Share
    ) -> Question:
        """See Questions."""
        # An object has up to 1.5 MB, and the controller watches and answers meanwhile.
        spec = await asyncio.to_thread(read_spec, facts.config)
        _complete_membership(facts, spec)
        self.depends(facts, places(spec) | _account_places(facts))
        if is_of_predecessor(facts):
            problem = f"the Secret {facts.account_name} belongs to an earlier Machine of that name"
            raise Halt(Reason.WAITING_FOR_DIRECTORY_ACCOUNT, problem)
        version = await self.control_planes.version(cluster)
        subject = subject_of(facts, spec, role=role, control_plane_version=version, engines=self.engines)
        return Question(subject, partial(resolve, reader=self.reader, cluster=cluster, role=role, share=share))


def _account_places(facts: Facts) -> frozenset[Place]:
    """Return where it is reported why a machine has no computer account."""
    return frozenset({("ConfigMap", facts.account_name)} if facts.joins_domain else ())


def _complete_membership(facts: Facts, spec: specpb.MachineBootstrapSpec) -> None:
    """Name the computer account of a Machine and its secret.

    Raises:
        SpecInvalid: the machines of a pool share their user data, and one account cannot be that of several machines.
    """
    if facts.owner is None:
        return
    if facts.owner.is_pool and joins_domain(spec):
        problem = "cannot be used with a MachinePool: an account is one machine's"
        raise SpecInvalid(
            "a pool cannot join a domain",
            violations=[Violation("spec.os.directory", problem, remedy="use a MachineDeployment, or leave it out")],
        )
    complete_membership(spec, facts.owner.name)
