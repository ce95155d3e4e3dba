"""One process of a provisioner, as the registry remembers it."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

READY = registrypb.INSTANCE_STATE_READY
NOT_READY = registrypb.INSTANCE_STATE_NOT_READY
DRAINING = registrypb.INSTANCE_STATE_DRAINING
EXPIRED = registrypb.INSTANCE_STATE_EXPIRED
State: TypeAlias = registrypb.InstanceState.ValueType


@dataclass(frozen=True, slots=True)
class Instance:
    """A registered or static instance. It is never changed, only replaced.

    Attributes:
        name: name of the provisioner.
        instance_id: id of the process; unique together with the name.
        endpoint: where it is called.
        info: what it said when it was last dialled; only its name when it never answered.
        state: its state; ``state_reason`` says why it is not READY.
        identity: SPIFFE id that its endpoint proved; empty without TLS.
        register_time: when it was registered, for people.
        renew_time: when its lease was last renewed, for people.
        lease_id: id of its lease; empty for a static one.
        expires: monotonic time at which the lease ends; None for a static one.
    """

    name: str
    instance_id: str
    endpoint: str
    info: provisionerpb.GetProvisionerInfoResponse = field(repr=False)
    state: State
    state_reason: str
    identity: str
    register_time: datetime
    renew_time: datetime
    lease_id: str = field(default="", repr=False)
    expires: float | None = None

    @property
    def is_static(self) -> bool:
        """It comes from the file of static endpoints."""
        return self.expires is None

    def to_message(self) -> registrypb.ProvisionerInstance:
        """Give its form on the wire. The lease id stays here: who has it can end the lease."""
        message = registrypb.ProvisionerInstance(
            instance_id=self.instance_id,
            endpoint=self.endpoint,
            state=self.state,
            state_reason=self.state_reason,
            info=self.info,
            identity=self.identity,
            static=self.is_static,
        )
        message.register_time.FromDatetime(self.register_time)
        message.renew_time.FromDatetime(self.renew_time)
        return message
