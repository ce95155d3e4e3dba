"""A bootstrapper that is served and watched, and canaries for the values that it is given."""

import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from prometheus_client import CollectorRegistry

from slipway.bootstrapper.bootstrapper import Bootstrapper
from slipway.bootstrapper.credentials.placeholder_store import PlaceholderStore
from slipway.bootstrapper.service import BootstrapServicer
from slipway.contract.errors import SlipwayError
from slipway.embedded.bootstrapper import compiler
from slipway.embedded.provisioners import embedded_provisioners
from slipway.rpc.channel import ChannelPool
from slipway.rpc.prometheus import PrometheusRecorder
from slipway.rpc.server import RpcServer, Service
from slipway.rpc.settings import ServerSettings
from slipway.v1alpha1 import bootstrap_service_pb2 as bootstrappb
from slipway.v1alpha1.bootstrap_service_pb2_grpc import BootstrapServiceStub, add_BootstrapServiceServicer_to_server
from tests.integration.canaries import Place, name_of

NAMES = {
    "subject.spec.provisioner.name": "a name that the operator's list is asked for",
    "subject.spec.provisioner.version": "a version that is not there",
    "secret_ref.name": "names the Secret that is missing: nobody could create it who is not told which",
    "arguments.name": "a flag that the version does not have: its place in the list alone does not say which",
    "secret_ref.key": "names the key that is missing in it",
}
"""Ends of field paths whose values may be told, as far as they fit their grammar, and why.

They are names, which the design lets errors hold (field names, feature ids, keys that are no secret): a reference says
where a secret is and nothing of it, and stands in the cluster's objects where whoever may read the error reads it, too.
Their grammar keeps out what is no name, so that no value that was put there by mistake is told.
"""


def fitting(number: int) -> str:
    """Give a canary that most grammars take."""
    return f"cnry{number:03d}{secrets.token_hex(4)}"


def unfitting(number: int) -> str:
    """Give a canary that most grammars refuse."""
    return f"Cnry {number:03d}\n%{secrets.token_hex(4)}é$"


def may_be_told(place: Place) -> bool:
    """Tell whether the value of a place is only a name."""
    return name_of(place).endswith(tuple(NAMES))


def embedded(store: Any = None, provisioners: Any = None) -> Bootstrapper:
    """Give a bootstrapper with everything in this process."""
    return Bootstrapper(
        provisioners or embedded_provisioners(), compiler(), version="0.0.0", store=store or PlaceholderStore()
    )


@asynccontextmanager
async def served(bootstrapper: Bootstrapper, metrics: CollectorRegistry) -> AsyncIterator[BootstrapServiceStub]:
    """Serve a bootstrapper over a real socket, measured and logged."""
    settings = ServerSettings(listen_address="127.0.0.1:0", insecure=True)
    service = Service.of(
        bootstrappb.DESCRIPTOR.services_by_name["BootstrapService"],
        add_BootstrapServiceServicer_to_server,
        BootstrapServicer(bootstrapper),
    )
    server = RpcServer(settings, [service], recorders=[PrometheusRecorder(metrics)])
    channels = ChannelPool(tls=None, trust_domain="slipway")
    await server.start()
    try:
        yield BootstrapServiceStub(channels.get(f"127.0.0.1:{server.port}"))
    finally:
        await channels.close()
        await server.stop(grace=0)


def shown(error: SlipwayError) -> bytes:
    """Give everything that an error says, in words and on the wire."""
    words = f"{error} {error.violations} {error.metadata} {error!r}"
    return words.encode() + error.to_status().SerializeToString()
