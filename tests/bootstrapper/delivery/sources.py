"""Places to fetch a payload from, as tests have them."""

from datetime import timedelta
from functools import cache

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.certificates.authority import Authority, Subject
from tools.oracles.network import Answer, Site

TICKET = "ticket-3fQ8mZpV0yX5bHn2K7tRc9LwS1dGjE6aUoI4uTqYkNs"
PATH = f"/payload/{'5f' * 32}"
ADDRESS, PORT = "127.0.0.1", 8443
URL = f"https://{ADDRESS}:{PORT}{PATH}"


@cache
def authority() -> Authority:
    """Give the authority of the server."""
    return Authority(trust_domain="stubs", now=utc_now(), validity=timedelta(days=2))


@cache
def foreign_authority() -> Authority:
    """Give another one."""
    return Authority(trust_domain="foreign", now=utc_now(), validity=timedelta(days=2))


def site(payload: bytes) -> Site:
    """Give a server that has a payload for who shows the ticket."""
    issued = authority().issue(Subject(role="server", name="gateway", hosts=(ADDRESS,)))
    answers = {PATH: Answer(payload, needs=f"authorization: bearer {TICKET.lower()}")}
    return Site(ADDRESS, PORT, answers, certificate=issued.certificate + issued.key)
