"""Keep the certificates of an installation in Secrets of the cluster that it runs in; run again and again, it renews.

    python3 -m slipway.certificates.job --namespace NAMESPACE --subject ROLE/NAME=HOST,HOST ...

The Secrets must be there, empty at first: whoever may create Secrets could make one that holds another account's token.
So the role of this program reads and updates these few by name, and nothing else but the webhooks that it is told of.
"""

import asyncio
import base64
import binascii
import sys
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import click
import structlog

from slipway.certificates.authority import Subject, read_subject
from slipway.certificates.issuance import Issuance, Lifetimes, expiry
from slipway.kubernetes_api.api import Api
from slipway.kubernetes_api.connection import Connection
from slipway.kubernetes_api.failures import ApiFailure
from slipway.kubernetes_api.objects import Objects
from slipway.kubernetes_api.resources import SECRETS, WEBHOOKS, Json
from slipway.rpc.logs import configure_logging

AUTHORITY = "slipway-authority"
_log = structlog.get_logger("slipway.certificates")


def secret_of(subject: Subject) -> str:
    """Give the name of the Secret of a subject."""
    return f"slipway-{subject.name}-tls"


@click.command("slipway-certificates")
@click.option("--namespace", required=True, help="Where the Secrets are.")
@click.option(
    "--subject", "subjects", multiple=True, required=True, metavar="ROLE/NAME[=HOST,...]",
    help="Who gets a certificate, in the Secret slipway-NAME-tls. May be given several times.",
)  # fmt: skip
@click.option(
    "--webhook", "webhooks", multiple=True, metavar="NAME",
    help="A MutatingWebhookConfiguration whose caller is to trust these certificates. May be given several times.",
)  # fmt: skip
@click.option("--trust-domain", default="slipway", show_default=True, help="Trust domain of the SPIFFE ids.")
@click.option(
    "--kubeconfig",
    type=click.Path(path_type=Path, dir_okay=False, exists=True),
    help="The cluster. Default: the one that this process runs in.",
)
def main(
    namespace: str, subjects: tuple[str, ...], webhooks: tuple[str, ...], trust_domain: str, kubeconfig: Path | None
) -> None:
    """Issue what is missing or about to end, and leave everything else as it is; end with 1 when an object failed."""
    configure_logging(extra_keys=("secret", "until", "webhook", "failure"))
    wanted = [read_subject(subject) for subject in subjects]
    sys.exit(
        asyncio.run(
            _run(kubeconfig, namespace=namespace, subjects=wanted, webhooks=webhooks, trust_domain=trust_domain)
        )
    )


async def _run(
    kubeconfig: Path | None, *, namespace: str, subjects: Sequence[Subject], webhooks: Sequence[str], trust_domain: str
) -> int:
    connection = await Connection.of_process(kubeconfig)
    try:
        api = Api(connection)
        trusted = await keep(
            api, namespace=namespace, subjects=subjects, trust_domain=trust_domain, now=datetime.now(UTC)
        )
        for name in webhooks:
            await trust(api, name, trusted)
    except ApiFailure as error:
        _log.error("certificates not stored", failure=str(error))
        return 1
    finally:
        await connection.close()
    return 0


async def keep(  # noqa: PLR0913  # keyword-only parts of the job
    api: Objects,
    *,
    namespace: str,
    subjects: Sequence[Subject],
    trust_domain: str,
    now: datetime,
    lifetimes: Lifetimes | None = None,
) -> bytes:
    """Bring the Secrets of an installation up to date; give the authorities that are trusted, PEM.

    The authority's own Secret comes first: what it signs it must outlive.

    Raises:
        ApiFailure: a Secret is not there, or somebody else has changed one meanwhile; what was written is good.
    """
    secret = await api.get(SECRETS, namespace, AUTHORITY)
    issuance = Issuance(_data(secret), trust_domain=trust_domain, now=now, lifetimes=lifetimes or Lifetimes())
    await _write(api, secret, issuance.authority)
    for subject in subjects:
        secret = await api.get(SECRETS, namespace, secret_of(subject))
        await _write(api, secret, issuance.certificate(_data(secret), subject))
    return issuance.trusted


async def trust(api: Objects, name: str, trusted: bytes) -> None:
    """Let the API server trust the certificates of a webhook's server.

    Raises:
        ApiFailure: the configuration is not there, or somebody else has changed it meanwhile.
    """
    configuration = await api.get(WEBHOOKS, "", name)
    bundle = base64.b64encode(trusted).decode()
    hooks: list[Json] = configuration.get("webhooks") or []
    trusting = [{**hook, "clientConfig": {**hook["clientConfig"], "caBundle": bundle}} for hook in hooks]
    if trusting == hooks:
        return
    await api.replace(WEBHOOKS, "", {**configuration, "webhooks": trusting})
    _log.info("written", webhook=name)


async def _write(api: Objects, secret: Json, data: Mapping[str, bytes]) -> None:
    name = secret["metadata"]["name"]
    if _data(secret) == data:
        _log.info("unchanged", secret=name, until=expiry(data).isoformat())
        return
    encoded = {key: base64.b64encode(value).decode() for key, value in data.items()}
    # The resourceVersion is in it: of two runs at once, one ends here.
    await api.replace(SECRETS, secret["metadata"]["namespace"], {**secret, "data": encoded})
    _log.info("written", secret=name, until=expiry(data).isoformat())


def _data(secret: Json) -> dict[str, bytes]:
    try:
        return {key: base64.b64decode(value) for key, value in (secret.get("data") or {}).items()}
    except (binascii.Error, TypeError, AttributeError):
        return {}


if __name__ == "__main__":
    main()
