"""Certificate authorities that the whole system trusts, by the distribution's own folder and program."""

from collections.abc import Sequence

from slipway.bootstrapper.lowering.certificate_files import split_certificates
from slipway.bootstrapper.lowering.draft import Draft
from slipway.bootstrapper.lowering.emission import each, put_file
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.bootstrapper.os_profiles.profile import CertificateTrust
from slipway.contract.items import Item

ID = "linux.trusted-certificates"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Write each certificate into a file of its own and have the system take them up.

    The container runtime reads the system's authorities when it starts: one that runs is started anew.
    """
    trust, *_ = each(draft, items, lambda item: _write(item, draft))
    calls = [list(trust.update)]
    if draft.profile.containerd is not None:
        calls.append(["settle", "systemctl", "try-restart", draft.profile.containerd.service])
    text = script(calls, programs=["settle"])
    draft.step(Rank.TRUSTED_CERTIFICATES, "trusted-certificates", source=items[0].message, by=ID, script=text)


def _write(item: Item, draft: Draft) -> CertificateTrust:
    trust = needed(draft.profile.certificates, item)
    for suffix, content in split_certificates(item):
        put_file(draft, item, f"{trust.directory}/{item.message.name}{suffix}{trust.suffix}", content, by=ID)
    return trust
