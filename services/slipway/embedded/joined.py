"""Embedded provisioners beside those of a registry, as one list."""

from collections.abc import Sequence

import structlog

from slipway.bootstrapper.provisioning.directory import ProvisionerDirectory
from slipway.bootstrapper.provisioning.provisioners import Provisioners
from slipway.bootstrapper.provisioning.remote import RemoteProvisioners
from slipway.embedded.provisioners import EmbeddedProvisioners, embedded_provisioners
from slipway.embedded.settings import EmbeddedSettings
from slipway.rpc.channel import ChannelPool
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from slipway.v1alpha1 import registry_service_pb2 as registrypb

_log = structlog.get_logger("slipway.embedded")


class JoinedProvisioners:
    """Embedded provisioners, and remote ones of other names.

    The names of embedded provisioners are reserved: an instance that a registry lists under such a name never gets a
    bundle, whatever its version is.
    """

    def __init__(self, embedded: EmbeddedProvisioners, remote: Provisioners) -> None:
        """Join both."""
        self._embedded = embedded
        self._remote = remote
        self._reported: set[str] = set()

    def instances(self) -> Sequence[registrypb.ProvisionerInstance]:
        """Return the embedded instances, then the remote ones whose names are not reserved."""
        remote = []
        for instance in self._remote.instances():
            name = instance.info.name
            if name not in self._embedded.names:
                remote.append(instance)
            elif name not in self._reported:
                self._reported.add(name)
                _log.warning("registered provisioner ignored: its name is embedded here", provisioner=name)
        return [*self._embedded.instances(), *remote]

    async def render(
        self,
        instance: registrypb.ProvisionerInstance,
        request: provisionerpb.RenderRequest,
        *,
        timeout: float,  # noqa: ASYNC109  # it is the deadline that travels with the call
    ) -> provisionerpb.RenderResponse:
        """Call Render where the instance is; `timeout` in seconds.

        Raises:
            SlipwayError: what the provisioner answered, ProvisionerTimeout, or a transport failure.
        """
        side: Provisioners = self._embedded if instance.info.name in self._embedded.names else self._remote
        return await side.render(instance, request, timeout=timeout)


def provisioners_of(
    settings: EmbeddedSettings, directory: ProvisionerDirectory | None, channels: ChannelPool
) -> Provisioners:
    """Return a server's embedded provisioners, those of its registry, or both as one list."""
    embedded = embedded_provisioners(settings.embedded_provisioners)
    if directory is None:
        return embedded
    remote = RemoteProvisioners(directory.instances, channels)
    return JoinedProvisioners(embedded, remote) if embedded.names else remote
