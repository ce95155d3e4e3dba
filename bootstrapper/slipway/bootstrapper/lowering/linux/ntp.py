"""Time synchronisation, by whichever of the distribution's programs the image has."""

import json
from collections.abc import Iterator, Sequence

from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.first_boot import time_client_programs
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.bootstrapper.os_profiles.profile import NtpClient, NtpProgram
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

ID = "linux.ntp"

_CHRONY = ("driftfile /var/lib/chrony/drift", "makestep 1.0 3", "rtcsync", "logdir /var/log/chrony")


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Configure and start the first client of the profile that is installed, or stop every one of them."""
    (item,) = items
    ntp: ospb.Ntp = item.message
    clients = dict(_clients(item, draft))
    if any(host.startswith("*") for host in (*ntp.servers, *ntp.pools)):
        raise CannotLower(item, "a time server is a pattern", remedy="write names or addresses")
    imported = draft.bundle.execution.literal_commands
    if ntp.HasField("enabled") and not ntp.enabled:
        calls = [[*only, "off", client.executable, client.service] for client, only in clients.items()]
    else:
        calls = [[*only, *_call(client, ntp)] for client, only in clients.items()]
        calls.append(["own", _as_imported(ntp)] if imported else ["found"])
    if imported:
        # Of an imported config: today no failure of it keeps a machine from becoming a node.
        calls = [["try", *call] for call in calls]
    text = script(calls, programs=["ntp", *time_client_programs()])
    draft.step(Rank.NTP, "ntp", source=item.message, by=ID, script=text)


def _clients(item: Item, draft: Draft) -> Iterator[tuple[NtpClient, list[str]]]:
    """Give the clients that the machine may have, each with the words that keep it to its distributions.

    A distribution that is not stated, or that has no profile and is an imported config's, is what the machine
    itself says in its os-release.
    """
    if draft.target.distribution and not draft.is_imported_without_profile:
        yield from ((client, []) for client in needed(draft.profile.ntp, item))
        return
    for client, distributions in draft.ntp_clients.items():
        yield client, ["on", " ".join(distributions)]


def _call(client: NtpClient, ntp: ospb.Ntp) -> list[str]:
    text = ""
    if ntp.servers or ntp.pools:
        text = _chrony(ntp) if client.program == NtpProgram.CHRONY else _timesyncd(ntp)
    return ["client", client.executable, client.service, client.configuration, text]


def _chrony(ntp: ospb.Ntp) -> str:
    """Give a whole configuration: the distribution's own has servers of its own. Source: chrony.conf(5)."""
    lines = [f"pool {_bare(host)} iburst" for host in ntp.pools]
    lines += [f"server {_bare(host)} iburst" for host in ntp.servers]
    return "".join(f"{line}\n" for line in [*lines, *_CHRONY])


def _timesyncd(ntp: ospb.Ntp) -> str:
    """Give a drop-in. It knows no pools; a pool's name serves as a server's. Source: timesyncd.conf(5)."""
    return f"[Time]\nNTP=\nNTP={' '.join(_bare(host) for host in (*ntp.servers, *ntp.pools))}\n"


def _as_imported(ntp: ospb.Ntp) -> str:
    """Give the time servers as an imported config has them: a first-boot system may install a client by that text."""
    hosts = {"servers": ntp.servers, "pools": ntp.pools}
    return json.dumps(
        {"ntp": {"enabled": True} | {key: list(map(_bare, names)) for key, names in hosts.items() if names}}
    )


def _bare(host: str) -> str:
    """Give an address without the brackets that IPv6 may have in a spec."""
    return host.strip("[]")
