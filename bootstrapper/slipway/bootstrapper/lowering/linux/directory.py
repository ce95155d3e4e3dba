"""Membership in a domain of Active Directory: by adcli, or by Samba's program where there is no network; login by sssd.

The account is the machine's own and exists already. A one-time password is gone from the disk once the machine has
joined; what the first-boot system keeps of the user data is of no use any more.
"""

from collections.abc import Iterator, Sequence

from slipway.bootstrapper.lowering.draft import PRIVATE, CannotLower, Draft
from slipway.bootstrapper.lowering.emission import put_file
from slipway.bootstrapper.lowering.linux.packages import install_calls
from slipway.bootstrapper.lowering.linux.shell import script
from slipway.bootstrapper.lowering.linux.sssd import host_name, samba_configuration, sssd_configuration, sudo_rules
from slipway.bootstrapper.lowering.order import Rank
from slipway.bootstrapper.lowering.profile_part import needed
from slipway.bootstrapper.lowering.runners.linux_file import ROOT as STATE
from slipway.bootstrapper.os_profiles.profile import DirectoryClient
from slipway.contract.items import Item
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb

ID = "linux.directory"
KEYTAB = "/etc/krb5.keytab"
_PASSWORD = f"{STATE}/directory/password"
_SSSD_BEFORE, _SSSD = f"{STATE}/directory/sssd.conf", "/etc/sssd/sssd.conf"
_SUDO = "90-slipway-directory"
_SUDO_MODE = 0o440
_BLOB, _SAMBA = f"{STATE}/directory/blob", "/etc/samba/smb.conf"
_UNIT = "slipway-directory.service"
_KEYS_UNIT = b"""\
[Unit]
Description=Keys of this machine's account, as soon as its domain is reached
Wants=network-online.target
After=network-online.target
ConditionPathExists=!/etc/krb5.keytab
StartLimitIntervalSec=0

[Service]
ExecStart=/bin/sh -c "net ads keytab create -P && if [ -e /etc/sssd/sssd.conf ]; then systemctl restart sssd; fi"
Restart=on-failure
RestartSec=30

[Install]
WantedBy=multi-user.target
"""
_TIMES = "30"  # 10 seconds apart: a domain controller may boot meanwhile


def lower(items: Sequence[Item], draft: Draft) -> None:
    """Install what is not there, then join, check the membership, and turn login on."""
    (item,) = items
    membership: ospb.DirectoryMembership = item.message
    client = needed(draft.profile.directory, item)
    programs = [*_programs(membership), *(["sssd"] if membership.HasField("login") else [])]
    install = _install(item, draft, client, " ".join(programs))
    if install:
        text = script(install, programs=["directory"])
        draft.step(Rank.PACKAGES, "directory-packages", source=membership, by=ID, script=text)
    put_file(draft, item, client.kerberos, _kerberos(membership), by=ID)
    calls = [["programs", *programs], *_join(item, draft), *_login(item, draft, client)]
    if _is_offline(membership):
        calls.append(["systemctl", "start", "--no-block", _UNIT])
    text = script(calls, programs=["directory"])
    draft.step(Rank.DIRECTORY, "directory", source=membership, by=ID, script=text)


def _is_offline(membership: ospb.DirectoryMembership) -> bool:
    return membership.method == ospb.DIRECTORY_JOIN_METHOD_OFFLINE_BLOB


def _programs(membership: ospb.DirectoryMembership) -> list[str]:
    return ["net"] if _is_offline(membership) else ["adcli", "ldapsearch"]


def _install(item: Item, draft: Draft, client: DirectoryClient, programs: str) -> list[list[str]]:
    """Give the calls that install what is not there; none where the image has it."""
    packages = list(client.blob_packages if _is_offline(item.message) else client.packages)
    if draft.profile.image_based or not packages:
        return []
    packages += client.login_packages if item.message.HasField("login") else ()
    manager = needed(draft.profile.packages, item)
    return [["lacking", programs, *call] for call in install_calls(manager, packages)]


def _join(item: Item, draft: Draft) -> Iterator[list[str]]:
    """Write what the machine joins with, and give the calls that join it and check the membership."""
    membership: ospb.DirectoryMembership = item.message
    domain = membership.domain
    secret = contentpb.Content(segments=[contentpb.Segment(secret_ref=membership.secret_ref)])
    if _is_offline(membership):
        put_file(draft, item, _BLOB, secret, by=ID, mode=PRIVATE)
        put_file(draft, item, _SAMBA, samba_configuration(membership), by=ID)
        units = needed(draft.profile.systemd_directory, item)
        put_file(draft, item, f"{units}/{_UNIT}", _KEYS_UNIT, by=ID)
        yield ["offline", _BLOB, _SAMBA]
        yield ["systemctl", "daemon-reload"]
        yield ["systemctl", "enable", _UNIT]
        return
    yield ["again", _TIMES, "reachable", domain]
    if membership.method == ospb.DIRECTORY_JOIN_METHOD_KEYTAB:
        put_file(draft, item, KEYTAB, secret, by=ID, mode=PRIVATE)
    else:
        put_file(draft, item, _PASSWORD, secret, by=ID, mode=PRIVATE)
        names = [membership.computer_name, host_name(membership), KEYTAB, _PASSWORD]
        yield ["again", "3", "join", domain, *names]
    yield ["again", "6", "joined", domain, KEYTAB]


def _login(item: Item, draft: Draft, client: DirectoryClient) -> Iterator[list[str]]:
    membership: ospb.DirectoryMembership = item.message
    if not membership.HasField("login"):
        return
    if draft.has_path(_SSSD):
        raise CannotLower(
            item, "the spec has a configuration of sssd of its own", remedy="take it out", fields=["login"]
        )
    # It comes to its place behind the join: without keys sssd would fail at each start before.
    put_file(draft, item, _SSSD_BEFORE, sssd_configuration(membership), by=ID, mode=PRIVATE)
    rules = sudo_rules(membership)
    if rules:
        path = f"{needed(needed(draft.profile.accounts, item).sudo_directory, item)}/{_SUDO}"
        put_file(draft, item, path, rules, by=ID, mode=_SUDO_MODE)
        yield ["rules", path]
    yield from (list(call) for call in client.login)
    yield ["login", _SSSD_BEFORE, _SSSD, "" if _is_offline(membership) else "restart"]


def _kerberos(membership: ospb.DirectoryMembership) -> bytes:
    """Give krb5.conf: controllers by DNS, and no names by reverse look-ups. Source: krb5.conf(5)."""
    domain, realm = membership.domain, membership.domain.upper()
    lines = [
        "[libdefaults]",
        f"default_realm = {realm}",
        "dns_lookup_kdc = true",
        "dns_lookup_realm = false",
        "rdns = false",
        "[domain_realm]",
        f".{domain} = {realm}",
        f"{domain} = {realm}",
    ]
    return "".join(f"{line}\n" for line in lines).encode()
