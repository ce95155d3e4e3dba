"""Settings of the machine as a whole: name, time zone, time servers, trusted authorities.

The name is in /etc/hostname for every boot and set at once. The time zone is /etc/localtime, as timedatectl would set
it, without the bus that it needs. Time is synchronised by whichever of the distribution's programs the image has, and
authorities are trusted by the distribution's own folder and program.
"""

import json
from collections.abc import Iterator, Sequence

from slipway.bootstrapper.lowering.certificate_files import split_certificates
from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each, put_file, stage_text
from slipway.bootstrapper.lowering.first_boot import time_client_programs
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.bootstrapper.lowering.texts import has_extension, text_line
from slipway.bootstrapper.os_profiles.profile import CertificateTrust, NtpClient, NtpProgram
from slipway.contract.items import Item
from slipway.v1alpha1 import os_pb2 as ospb

HOSTNAME = "linux.hostname"
_HOSTNAME_PATH = "/etc/hostname"

TIME_ZONE = "linux.time-zone"

NTP = "linux.ntp"

_CHRONY = ("driftfile /var/lib/chrony/drift", "makestep 1.0 3", "rtcsync", "logdir /var/log/chrony")

CERTIFICATES = "linux.trusted-certificates"


def lower_hostname(items: Sequence[Item], draft: Draft) -> None:
    """Write the name, which may be a machine fact, and set it."""
    (item,) = items
    name = item.message.name
    if has_extension(name.segments):
        raise CannotLower(
            item,
            "the name holds template text that only the program it was written for can render",
            remedy="use a machine fact in its place",
        )
    content = text_line(name)
    if any(segment.WhichOneof("value") == "fact" for segment in content.segments):
        stage_text(draft, item, _HOSTNAME_PATH, content, by=HOSTNAME, rank=Rank.HOSTNAME)
    else:
        put_file(draft, item, _HOSTNAME_PATH, content, by=HOSTNAME)
    text = script([["named"]], programs=["hostname"])
    draft.step(Rank.HOSTNAME, "hostname", source=item.message, by=HOSTNAME, script=text)


def lower_time_zone(items: Sequence[Item], draft: Draft) -> None:
    """Set the time zone. The step fails where the image does not have it in its database."""
    (item,) = items
    zones = needed(draft.profile.time_zones, item)
    call = ["zone", item.message.name, needed(zones.database, item), zones.name_file]
    text = script([call], programs=["time_zone"])
    draft.step(Rank.TIME_ZONE, "time-zone", source=item.message, by=TIME_ZONE, script=text)


def lower_ntp(items: Sequence[Item], draft: Draft) -> None:
    """Configure and start the first client of the profile that is installed, or stop every one of them."""
    (item,) = items
    ntp: ospb.Ntp = item.message
    clients = dict(_ntp_clients(item, draft))
    if any(host.startswith("*") for host in (*ntp.servers, *ntp.pools)):
        raise CannotLower(item, "a time server is a pattern", remedy="write names or addresses")
    imported = draft.bundle.execution.literal_commands
    if ntp.HasField("enabled") and not ntp.enabled:
        calls = [[*only, "off", client.executable, client.service] for client, only in clients.items()]
    else:
        calls = [[*only, *_ntp_call(client, ntp)] for client, only in clients.items()]
        calls.append(["own", _ntp_as_imported(ntp)] if imported else ["found"])
    if imported:
        # Of an imported config: today no failure of it keeps a machine from becoming a node.
        calls = [["try", *call] for call in calls]
    text = script(calls, programs=["ntp", *time_client_programs()])
    draft.step(Rank.NTP, "ntp", source=item.message, by=NTP, script=text)


def _ntp_clients(item: Item, draft: Draft) -> Iterator[tuple[NtpClient, list[str]]]:
    """Give the clients that the machine may have, each with the words that keep it to its distributions.

    A distribution that is not stated, or that has no profile and is an imported config's, is what the machine
    itself says in its os-release.
    """
    if draft.target.distribution and not draft.is_imported_without_profile:
        yield from ((client, []) for client in needed(draft.profile.ntp, item))
        return
    for client, distributions in draft.ntp_clients.items():
        yield client, ["on", " ".join(distributions)]


def _ntp_call(client: NtpClient, ntp: ospb.Ntp) -> list[str]:
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


def _ntp_as_imported(ntp: ospb.Ntp) -> str:
    """Give the time servers as an imported config has them: a first-boot system may install a client by that text."""
    hosts = {"servers": ntp.servers, "pools": ntp.pools}
    return json.dumps(
        {"ntp": {"enabled": True} | {key: list(map(_bare, names)) for key, names in hosts.items() if names}}
    )


def _bare(host: str) -> str:
    """Give an address without the brackets that IPv6 may have in a spec."""
    return host.strip("[]")


def lower_certificates(items: Sequence[Item], draft: Draft) -> None:
    """Write each certificate into a file of its own and have the system take them up.

    The container runtime reads the system's authorities when it starts: one that runs is started anew.
    """
    trust, *_ = each(draft, items, lambda item: _write_certificates(item, draft))
    calls = [list(trust.update)]
    if draft.profile.containerd is not None:
        calls.append(["settle", "systemctl", "try-restart", draft.profile.containerd.service])
    text = script(calls, programs=["settle"])
    draft.step(Rank.TRUSTED_CERTIFICATES, "trusted-certificates", source=items[0].message, by=CERTIFICATES, script=text)


def _write_certificates(item: Item, draft: Draft) -> CertificateTrust:
    trust = needed(draft.profile.certificates, item)
    for suffix, content in split_certificates(item):
        put_file(draft, item, f"{trust.directory}/{item.message.name}{suffix}{trust.suffix}", content, by=CERTIFICATES)
    return trust
