"""Configuration of programs that know a domain: sssd, sudo, Samba. Sources: sssd.conf(5), sssd-ad(5), sudoers(5)."""

from collections.abc import Iterable, Iterator

from slipway.v1alpha1 import os_pb2 as ospb

_HOME, _SHELL = "/home/%u@%d", "/bin/bash"


def sssd_configuration(membership: ospb.DirectoryMembership) -> bytes:
    """Give sssd.conf for a membership: names of accounts have the domain behind them, as in alice@corp.example.com."""
    domain, login = membership.domain, membership.login
    lines = [
        "[sssd]",
        "services = nss, pam",
        f"domains = {domain}",
        f"[domain/{domain}]",
        "id_provider = ad",
        f"ad_domain = {domain}",
        f"krb5_realm = {domain.upper()}",
        f"ad_hostname = {host_name(membership)}",
        f"ldap_sasl_authid = {membership.computer_name}$@{domain.upper()}",
        "use_fully_qualified_names = True",
        f"ldap_id_mapping = {not login.HasField('id_mapping') or login.id_mapping}",
        f"override_homedir = {login.home}" if login.HasField("home") else f"fallback_homedir = {_HOME}",
        f"override_shell = {login.shell}" if login.HasField("shell") else f"default_shell = {_SHELL}",
        "ad_gpo_access_control = disabled",
        "dyndns_update = False",
        *_access(login),
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def samba_configuration(membership: ospb.DirectoryMembership) -> bytes:
    """Give smb.conf, without the domain's short name, which only the blob has. Source: smb.conf(5)."""
    lines = [
        "[global]",
        "workgroup = UNKNOWN",
        f"realm = {membership.domain.upper()}",
        "security = ads",
        "kerberos method = secrets and keytab",
        f"netbios name = {membership.computer_name}",
    ]
    return "".join(f"{line}\n" for line in lines).encode()


def host_name(membership: ospb.DirectoryMembership) -> str:
    """Give the machine's name in the domain, as its account has it."""
    return f"{membership.computer_name.lower()}.{membership.domain}"


def _access(login: ospb.DirectoryLogin) -> Iterator[str]:
    if login.HasField("access_filter"):
        yield "access_provider = ad"
        yield f"ad_access_filter = {login.access_filter}"
        return
    yield f"access_provider = {'simple' if login.users or login.groups else 'deny'}"
    for name, accounts in (("users", login.users), ("groups", login.groups)):
        if accounts:
            yield f"simple_allow_{name} = {', '.join(accounts)}"


def sudo_rules(membership: ospb.DirectoryMembership) -> bytes:
    """Give the rules for sudo; b"" where there are none."""
    login, domain = membership.login, membership.domain
    names: Iterable[str] = [*login.sudo_users, *(f"%{group}" for group in login.sudo_groups)]
    return "".join(f"{name.replace(' ', chr(92) + ' ')}@{domain} ALL=(ALL:ALL) ALL\n" for name in names).encode()
