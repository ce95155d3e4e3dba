"""Membership in a domain of Active Directory: Windows' own program takes the blob over, and a reboot makes it count.

Source: the documentation of djoin. The computer has the account's name afterwards.
"""

from collections.abc import Iterator, Sequence

from slipway.bootstrapper.lowering.draft import PRIVATE, CannotLower, Draft
from slipway.bootstrapper.lowering.emission import put_file
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.runners.windows_file import ROOT
from slipway.bootstrapper.lowering.windows.powershell import script
from slipway.contract.items import Item
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb

ID = "windows.directory"
_BLOB = f"{ROOT}\\directory.blob"


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Join by the blob, reboot, and check the membership."""
    (item,) = items
    membership: ospb.DirectoryMembership = item.message
    refusals = list(_refusals(item, draft))
    if refusals:
        refusals[0].others = refusals[1:]
        raise refusals[0]
    secret = contentpb.Content(segments=[contentpb.Segment(secret_ref=membership.secret_ref)])
    put_file(draft, item, _BLOB, secret, by=ID, mode=PRIVATE)
    domain, computer = membership.domain, membership.computer_name
    join = script([["Join-Directory", domain, _BLOB]], programs=["directory"])
    draft.step(Rank.DIRECTORY, "directory", source=membership, by=ID, script=join, reboot=True)
    check = script([["Confirm-Directory", domain, computer, _BLOB]], programs=["directory"])
    draft.step(Rank.DIRECTORY, "directory", source=membership, by=ID, script=check)


def _refusals(item: Item, draft: Draft) -> Iterator[CannotLower]:
    membership: ospb.DirectoryMembership = item.message
    if membership.method != ospb.DIRECTORY_JOIN_METHOD_OFFLINE_BLOB:
        why = "Windows joins by the blob of an offline join only"
        yield CannotLower(item, why, remedy="set method to OfflineBlob", fields=["method"])
    if membership.HasField("login"):
        why = "login on Windows is decided by the domain's own policies"
        yield CannotLower(item, why, remedy="leave it out for machines that run Windows", fields=["login"])
    lowered = (item.message for item in draft.gone if item.feature == "os.hostname")
    names = {hostname.name.value.casefold() for hostname in (draft.bundle.os.hostname, *lowered)}
    if names - {"", membership.computer_name.casefold()}:
        why = "the computer gets the name of its account, and os.hostname is another"
        yield CannotLower(item, why, remedy="leave hostname out for machines that run Windows")
