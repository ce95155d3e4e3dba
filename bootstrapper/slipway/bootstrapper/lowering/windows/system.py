"""Settings of the machine as a whole: name, time zone, time servers, trusted authorities."""

import re
from collections.abc import Sequence

from slipway.bootstrapper.lowering.certificate_files import split_certificates
from slipway.bootstrapper.lowering.draft import CannotLower, Draft
from slipway.bootstrapper.lowering.emission import each, put_file
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.bootstrapper.lowering.windows.powershell import script
from slipway.contract.items import Item
from slipway.contract.times import windows_time_zone
from slipway.v1alpha1 import os_pb2 as ospb

HOSTNAME, TIME_ZONE, NTP = "windows.hostname", "windows.time-zone", "windows.ntp"
CERTIFICATES = "windows.trusted-certificates"

_STEP = "trusted-certificate"

_COMPUTER_NAME = re.compile(r"(?=[0-9-]{0,15}[A-Za-z])[A-Za-z0-9]([A-Za-z0-9-]{0,13}[A-Za-z0-9])?")


def lower_hostname(items: Sequence[Item], draft: Draft) -> None:
    """Rename the computer, which takes a reboot."""
    (item,) = items
    name = item.message.name
    if name.segments:
        raise CannotLower(
            item,
            "a name that only the machine knows cannot be given to a computer of Windows",
            remedy="write the name, or leave it to the infrastructure",
        )
    if not _COMPUTER_NAME.fullmatch(name.value):
        raise CannotLower(
            item, "the name is not one of a computer", remedy="use up to 15 letters, digits and dashes, without dots"
        )
    text = script([["Set-Name", name.value]], programs=["hostname"])
    draft.step(Rank.HOSTNAME, "hostname", source=item.message, by=HOSTNAME, script=text, reboot=True)


def lower_time_zone(items: Sequence[Item], draft: Draft) -> None:
    """Set the time zone under the name that Windows has for it."""
    (item,) = items
    zone = windows_time_zone(item.message.name)
    if zone is None:
        raise CannotLower(
            item,
            "Windows has no time zone that is known to be the same",
            remedy="name a city whose zone Windows has",
        )
    argv = ["tzutil.exe", "/s", zone]
    draft.step(Rank.TIME_ZONE, "time-zone", source=item.message, by=TIME_ZONE, argv=argv)


def lower_ntp(items: Sequence[Item], draft: Draft) -> None:
    """Configure and start the time service, or stop it. It knows no pools; a pool's name serves as a server's."""
    (item,) = items
    ntp: ospb.Ntp = item.message
    service = needed(draft.profile.ntp, item)[0].service
    hosts = [*ntp.servers, *ntp.pools]
    if any("," in host or host.startswith("*") for host in hosts):
        raise CannotLower(item, "a time server is a pattern", remedy="write names or addresses")
    call = ["Start-Ntp", service, " ".join(f"{host},0x8" for host in hosts)]
    if ntp.HasField("enabled") and not ntp.enabled:
        call = ["Stop-Ntp", service]
    draft.step(Rank.NTP, "ntp", source=item.message, by=NTP, script=script([call], programs=["ntp"]))


def lower_certificates(items: Sequence[Item], draft: Draft) -> None:
    """Write each certificate into a file of its own and add it to the machine's root store."""

    def lower_one(item: Item) -> None:
        trust = needed(draft.profile.certificates, item)
        for suffix, content in split_certificates(item):
            path = f"{trust.directory}\\{item.message.name}{suffix}{trust.suffix}"
            put_file(draft, item, path, content, by=CERTIFICATES)
            argv = [*trust.update, path]
            draft.step(Rank.TRUSTED_CERTIFICATES, _STEP, source=item.message, by=CERTIFICATES, argv=argv)

    each(draft, items, lower_one)
