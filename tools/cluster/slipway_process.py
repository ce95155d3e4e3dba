"""Slipway's controller in one process, with the provisioners in it: for a look without registry and certificates.

::

    python -m tools.cluster.slipway_process --kubeconfig FILE --certificates DIR --listen HOST:PORT
"""

from __future__ import annotations

import argparse
import asyncio
import datetime as dt
from pathlib import Path

from slipway.cli.embedded import embedded_bootstrapper
from slipway.controller.assembly import assemble, connect_to
from slipway.controller.kubernetes.api import Api
from slipway.controller.kubernetes.connection import Connection
from slipway.controller.kubernetes.destinations import Destinations
from slipway.controller.opt_in.webhook import Webhook
from slipway.controller.reconciler import Terms


def main() -> None:
    """Run the controller, and the webhook at the address, until killed."""
    parser = argparse.ArgumentParser(prog="python -m tools.cluster.slipway_process")
    parser.add_argument("--kubeconfig", type=Path, required=True)
    parser.add_argument("--certificates", type=Path, required=True)
    parser.add_argument("--listen", required=True)
    parser.add_argument("--token-seconds", type=float, required=True)
    told = parser.parse_args()
    terms = Terms(token_ttl=dt.timedelta(seconds=told.token_seconds))
    host, _, port = told.listen.rpartition(":")
    asyncio.run(_run(told.kubeconfig, Webhook(host=host, port=int(port), certificates=told.certificates), terms))


async def _run(kubeconfig: Path, webhook: Webhook, terms: Terms) -> None:
    api = Api(await Connection.of_process(kubeconfig))
    dial = connect_to(Destinations(["127.0.0.0/8"]))  # where the API servers of this machine listen
    parts = assemble(api, embedded_bootstrapper(store=None), terms=terms, opt_in=True, dial=dial)
    await webhook.start()
    parts.controller.follow()
    await parts.controller.lead(None)


if __name__ == "__main__":
    main()
