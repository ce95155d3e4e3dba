"""Which account a Machine needs now, from its objects alone; the controller's own rules for user data decide when."""

from dataclasses import dataclass

from slipway.bootstrapper.assembly.membership import KEYS, complete_membership
from slipway.bootstrapper.assembly.overrides import effective_spec
from slipway.contract.source_position import SourceError
from slipway.controller.decision import Render, decide
from slipway.controller.facts import Facts
from slipway.controller.halt import Halt
from slipway.controller.subject import read_spec
from slipway.v1alpha1 import os_pb2 as ospb

MADE = frozenset({ospb.DIRECTORY_JOIN_METHOD_ONE_TIME_PASSWORD, ospb.DIRECTORY_JOIN_METHOD_OFFLINE_BLOB})
"""Methods that this service serves; a keytab is made by its user."""


@dataclass(frozen=True, slots=True)
class Order:
    """The account of a Machine.

    Attributes:
        namespace: of the Machine.
        machine: its name.
        uid: its uid.
        cluster: the name of its Cluster.
        domain: the domain's DNS name, in lower case.
        blob: the machine joins by a blob, not by a one-time password.
        secret: name of the Secret.
        key: the key in it that the controller reads.
    """

    namespace: str
    machine: str
    uid: str
    cluster: str
    domain: str
    blob: bool
    secret: str
    key: str

    @property
    def owner(self) -> str:
        """The Machine as marks of computer objects name it."""
        return f"{self.namespace}/{self.machine}"


def needed_account(facts: Facts) -> Order | None:
    """Return the account that a Machine needs before its user data can be rendered.

    None where the user data exist already, something else comes first, the config is paused or invalid, its machines
    join no domain, or the method is served by a person.
    """
    owner = facts.owner
    if owner is None or owner.is_pool or facts.reported or owner.data_secret_name:
        return None
    try:
        decision = decide(facts)
        if not isinstance(decision, Render):
            return None
        spec = read_spec(facts.config)
    except (Halt, SourceError):
        return None
    complete_membership(spec, owner.name)
    os = effective_spec(spec, decision.role).os
    if not os.HasField("directory") or os.directory.method not in MADE or not os.directory.secret_ref.name:
        return None
    return Order(
        namespace=facts.namespace,
        machine=owner.name,
        uid=owner.uid,
        cluster=owner.cluster_name,
        domain=os.directory.domain.casefold(),
        blob=os.directory.method == ospb.DIRECTORY_JOIN_METHOD_OFFLINE_BLOB,
        secret=os.directory.secret_ref.name,
        key=KEYS[os.directory.method],
    )
