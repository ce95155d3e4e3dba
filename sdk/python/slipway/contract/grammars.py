"""The grammars that options.proto names: what the text of a field may look like.

A value that passes here is safe to hand to every encoder further on, and means what the user thinks it means. The
grammars say *what is wrong* without ever repeating the value.
"""

import ipaddress
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from slipway.contract.public_keys import is_openpgp_public_key, is_pem_certificate

Check = Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class Grammar:
    """A grammar: how it is described to people, and how it is checked.

    `expression` is the regular expression that a whole text must match, where that is all there is to it, else "".
    """

    name: str
    description: str
    check: Check
    expression: str = ""


_LABEL = r"[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?"
_NAME = r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"
_VERSION = r"v?[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?"
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_NETWORK = re.compile(r"[0-9a-fA-F.:]+/[0-9]{1,3}")
_PORT = re.compile(r"[1-9][0-9]{0,4}")
_DEVICE_PART = r"(?!\.{1,2}(/|$))[A-Za-z0-9._:+-]+"
_WINDOWS = re.compile(r'[A-Za-z]:[\\/][^<>:"|?*\x00-\x1f]*')
_WINDOWS_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])(\..*)?")
_WINDOWS_SHORT = re.compile(r"[^.]{1,6}~[0-9]{1,6}(\..{0,3})?")
"""A name that Windows makes for a longer one: which it is, only the machine knows."""
MOST_PATH_PARTS = 64
"""Folders above a path have to be looked at one by one: so deep paths cost more than their length, in every program."""
_LONGEST = 8192
"""Characters of a word. A matcher remembers each part of a name, which costs a hundred times the text."""
_UNIT_TYPES = "service|socket|device|mount|automount|swap|target|path|timer|slice|scope"


def _regular(name: str, description: str, expression: str) -> Grammar:
    # Without the flag \d takes the digits of all scripts, and (?i) takes signs that only look like letters.
    compiled = re.compile(expression, re.ASCII)

    def accepts(text: str) -> bool:
        return len(text) <= _LONGEST and compiled.fullmatch(text) is not None

    return Grammar(name, description, accepts, expression)


def absolute_path(text: str) -> bool:
    """Return whether the text is an absolute path of Linux or Windows without "." and ".." parts or control signs.

    It has at most MOST_PATH_PARTS parts.
    """
    if _CONTROL.search(text) or text.count("/") + text.count("\\") > MOST_PATH_PARTS:
        return False
    if _WINDOWS.fullmatch(text):
        parts = re.split(r"[\\/]", text[3:])
        return not any(
            part in {"", ".", ".."}
            or part != part.rstrip(" .")
            or _WINDOWS_DEVICES.fullmatch(part)
            or _WINDOWS_SHORT.fullmatch(part)
            for part in parts
        )
    if not text.startswith("/") or text == "/":
        return False
    return all(part not in {"", ".", ".."} for part in text[1:].split("/"))


def is_windows_path(text: str) -> bool:
    """Return whether an absolute path is one of Windows."""
    return not text.startswith("/")


def _cidr(text: str) -> bool:
    if not _NETWORK.fullmatch(text):
        return False
    try:
        ipaddress.ip_network(text)
    except ValueError:
        return False
    return True


def _address(text: str) -> bool:
    """Return whether the text is an IP address; one with a zone (which may hold anything) means nothing elsewhere."""
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _host(text: str) -> bool:
    if text.startswith("[") and text.endswith("]"):
        return ":" in text and _address(text[1:-1])
    return _address(text) or _name(text)


def _name(text: str) -> bool:
    return len(text) <= 253 and re.fullmatch(rf"(\*\.)?({_NAME})", text) is not None and ".." not in text  # noqa: PLR2004  # the longest name in DNS


def _host_port(text: str) -> bool:
    host, separator, port = text.rpartition(":")
    # An IPv6 address without brackets cannot be distinguished from one with a port.
    known = bool(separator) and (":" not in host or host.startswith("[")) and _host(host)
    return known and _PORT.fullmatch(port) is not None and int(port) < 65536  # noqa: PLR2004  # the number of ports


def _one_line(text: str) -> bool:
    return not _CONTROL.search(text) and not any(char in "\u0085\u2028\u2029" for char in text)


def _one_word(text: str) -> bool:
    # Programs take what begins with a dash for an option, wherever it stands.
    return bool(text) and _one_line(text) and not text.startswith("-") and not any(char.isspace() for char in text)


_GRAMMARS = [
    Grammar(
        "absolute-path",
        f'an absolute path of at most {MOST_PATH_PARTS} parts, none of them empty, "." or "..", such as /etc/hosts or '
        "C:\\k\\config",
        absolute_path,
    ),
    _regular(
        "account-name",
        "the name of a user or group",
        r"[A-Za-z_][A-Za-z0-9_.@ -]{0,254}\$?|[0-9]{1,10}",
    ),
    _regular("argument-name", "an argument's name without leading dashes", r"[A-Za-z0-9][A-Za-z0-9._-]*"),
    _regular("ca-hash", '"sha256:" and 64 hexadecimal digits', r"sha256:[0-9a-fA-F]{64}"),
    Grammar("cidr", "a network in CIDR notation without host bits, such as 10.0.0.0/16", _cidr),
    _regular(
        "component",
        '"api-server", "controller-manager" or "scheduler"',
        "api-server|controller-manager|scheduler",
    ),
    _regular("computer-name", "the name of a computer account", r"[A-Z0-9]([A-Z0-9-]{0,13}[A-Z0-9])?"),
    _regular(
        "control-id",
        "PROFILE/LEVEL or PROFILE/CONTROL, such as cis-kubernetes-1.10/1.2.16",
        r"[a-z0-9][a-z0-9.-]*/[A-Za-z0-9][A-Za-z0-9.-]*",
    ),
    _regular(
        "device",
        "a device below /dev",
        rf"/dev/{_DEVICE_PART}(/{_DEVICE_PART})*|[a-z][a-z0-9]*(\.[0-9]+)?",
    ),
    _regular(
        "directory-account",
        "the name of a user or group of a domain, without the domain's",
        r"[A-Za-z0-9_](?:[A-Za-z0-9_.$ -]*[A-Za-z0-9_.$-])?",
    ),
    _regular("dns-label", "lower-case letters, digits and dashes, at most 63", _LABEL),
    _regular(
        "dns-subdomain",
        "DNS labels separated by dots, at most 253 characters",
        rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*",
    ),
    _regular("extension-id", "DOMAIN/NAME", rf"{_LABEL}(\.{_LABEL})+/[a-z0-9][a-z0-9._-]*"),
    _regular("feature-id", "a feature id such as os.files.append", r"[a-z][a-z0-9_./-]*"),
    _regular("file-mode", 'octal permission bits such as "0644"', r"0?[0-7]{3,4}|0o[0-7]{3,4}"),
    _regular("file-name", "a file name without folder", r"[A-Za-z0-9][A-Za-z0-9._+-]*"),
    _regular("format-id", "a format: NAME or NAME/VERSION", r"[a-z0-9][a-z0-9.-]*(/[A-Za-z0-9.-]+)?"),
    Grammar("gecos", "one line without a colon", lambda text: _one_line(text) and ":" not in text),
    _regular(
        "home-template",
        "an absolute path without white space, in which %u and %d may stand",
        r"(/(?!\.{1,2}(/|$))([A-Za-z0-9._@-]|%[ud])+){1,16}",
    ),
    Grammar("host", "a host name or an address", _host),
    Grammar("host-port", "HOST:PORT", _host_port),
    _regular("hostname", "a host name", rf"(?=.{{1,253}}$)(?i:{_LABEL}(\.{_LABEL})*)"),
    _regular("identifier", "letters, digits, dots, dashes and underscores", r"[A-Za-z0-9][A-Za-z0-9._+-]*"),
    _regular(
        "image",
        "an image reference",
        r"[A-Za-z0-9][A-Za-z0-9._-]*(:[0-9]+)?(/[A-Za-z0-9._-]+)*(:[A-Za-z0-9_][A-Za-z0-9._-]*)?"
        r"(@sha256:[0-9a-f]{64})?",
    ),
    _regular("image-pull-policy", '"Always", "IfNotPresent" or "Never"', "Always|IfNotPresent|Never"),
    _regular("image-tag", "an image tag", r"[A-Za-z0-9_][A-Za-z0-9._-]{0,127}"),
    _regular("kernel-module", "the name of a kernel module", r"[A-Za-z0-9_][A-Za-z0-9_-]*"),
    _regular(
        "kubeadm-field",
        "a field of kubeadm's configuration that may depend on the machine: an entry of apiServer.certSANs, "
        "etcd.local.serverCertSANs or etcd.local.peerCertSANs, nodeRegistration.criSocket, the value of an entry of "
        "nodeRegistration.taints, or discovery.bootstrapToken.apiServerEndpoint",
        r"(apiServer\.certSANs|etcd\.local\.(server|peer)CertSANs)\[[0-9]{1,3}\]|nodeRegistration\.criSocket|"
        r"nodeRegistration\.taints\[[0-9]{1,3}\]\.value|discovery\.bootstrapToken\.apiServerEndpoint",
    ),
    _regular("kubernetes-version", "a version such as v1.34.2", _VERSION),
    _regular(
        "label-name",
        "a label name such as example.com/zone",
        rf"({_LABEL}(\.{_LABEL})*/)?(?=.{{1,63}}$){_NAME}",
    ),
    _regular("label-value", "at most 63 letters, digits, dots, dashes and underscores", rf"({_NAME})?"),
    _regular(
        "media-type",
        "a media type such as application/yaml",
        r"[a-z0-9.+-]+/[a-z0-9.+-]+(; ?[a-z0-9-]+=[A-Za-z0-9._-]+)?",
    ),
    _regular(
        "node-name",
        "a node name: DNS labels separated by dots",
        rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*",
    ),
    _regular(
        "ldap-filter",
        "an LDAP filter in parentheses, without white space at its ends",
        # The characters themselves: Python's escapes of them are none to the API server, which has the CRD's pattern.
        "\\([!-~\u00a1-\u1fff\u2030-\ud7ff](?:[ -~\u00a1-\u1fff\u2030-\ud7ff]*[!-~\u00a1-\u1fff\u2030-\ud7ff])?\\)",
    ),
    Grammar(
        "login-shell",
        "an absolute path of Linux without a colon",
        lambda text: absolute_path(text) and not is_windows_path(text) and ":" not in text,
    ),
    Grammar("one-line", "one line without control characters", _one_line),
    Grammar("one-word", "one word without white space, control characters and a dash in front", _one_word),
    # To apt, "curl-" is an order to remove curl, and "curl." a regular expression.
    _regular("package-name", "the name of a package", r"[A-Za-z0-9@]([A-Za-z0-9+._:/@-]*[A-Za-z0-9+_])?"),
    _regular("package-version", "the version of a package", r"[A-Za-z0-9][A-Za-z0-9+._:~-]*"),
    _regular(
        "partition-type",
        '"linux", "swap", "raid", "lvm", "fat32", "ntfs", "extended" or a GPT type GUID',
        r"linux|swap|raid|lvm|fat32|ntfs|extended|(?i:[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12})",
    ),
    Grammar("openpgp-public-key", "one OpenPGP public key block in ASCII armor", is_openpgp_public_key),
    Grammar("pem-certificate", "one or more X.509 certificates in PEM", is_pem_certificate),
    _regular("reason", "a word of letters and digits such as CommandFailed", r"[A-Z][A-Za-z0-9]*"),
    _regular(
        "registry-host",
        'a registry\'s host, with port if need be, or "_default"',
        rf"_default|(?i:{_LABEL}(\.{_LABEL})*)(:[0-9]+)?",
    ),
    _regular("repository-part", "a suite or component of a repository", r"[A-Za-z0-9][A-Za-z0-9._~/-]*"),
    _regular("secret-key", "a key of a Secret", r"[A-Za-z0-9._-]+"),
    _regular(
        "secret-name",
        "the name of a Secret",
        rf"(?=.{{1,253}}$){_LABEL}(\.{_LABEL})*(/[a-z0-9][a-z0-9._-]*)?",
    ),
    _regular("sha256", "64 hexadecimal digits", r"[0-9a-fA-F]{64}"),
    _regular("sha512", "128 hexadecimal digits", r"[0-9a-fA-F]{128}"),
    _regular("step-id", "lower-case letters, digits and dashes", _LABEL),
    _regular("sysctl", "a kernel parameter such as net.ipv4.ip_forward", r"[a-z0-9_]+([./][A-Za-z0-9_*-]+)+"),
    _regular("systemd-drop-in", 'a file name that ends in ".conf"', r"[A-Za-z0-9@][A-Za-z0-9_.@:\\-]*\.conf"),
    _regular(
        "systemd-service",
        'the name of a unit that ends in ".service"',
        r"(?!-)[A-Za-z0-9_.@:\\-]+\.service",
    ),
    _regular(
        "systemd-unit",
        "a unit name with suffix, such as containerd.service",
        rf"(?!-(?!\.))[A-Za-z0-9_.@:\\-]+\.({_UNIT_TYPES})",
    ),
    _regular(
        "time-zone",
        "a name of the tz database, such as Europe/Berlin",
        r"[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+){0,2}",
    ),
    _regular("url", "an absolute URL", r"[a-z][a-z0-9+.-]*://[!#-;=?-\[\]_a-z~]+"),
]


@cache
def grammars() -> dict[str, Grammar]:
    """Give all grammars by name."""
    return {grammar.name: grammar for grammar in _GRAMMARS}
