"""What a generated machine can reach: the metadata service of a cloud, and servers with files.

Both first-boot systems of a machine are told the same. What a file is downloaded from may lead elsewhere before it
serves: to nothing, to other bytes, or, where nothing but HTTPS vouches for them, to a server without it.
"""

import hashlib
from collections.abc import Iterable
from datetime import timedelta
from functools import cache

from slipway.bootstrapper.bootstrapper import utc_now
from slipway.certificates.authority import Authority, Subject
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from tools.oracles.network import Answer, Site

INFRASTRUCTURE = "gcp"
"""It tells its machines every fact."""
FACTS = {
    contentpb.FACT_KIND_HOSTNAME: "gen-7.c.harbour.internal",
    contentpb.FACT_KIND_LOCAL_HOSTNAME: "gen-7.c.harbour.internal",
    contentpb.FACT_KIND_SHORT_HOSTNAME: "gen-7",
    contentpb.FACT_KIND_INSTANCE_ID: "4520031799277581759",
    contentpb.FACT_KIND_PROVIDER_ID: "gce://harbour/europe-west3-b/gen-7",
    contentpb.FACT_KIND_PRIVATE_IPV4: "10.1.2.3",
    contentpb.FACT_KIND_IPV6: "2600:1900:4000::7",
    contentpb.FACT_KIND_PUBLIC_IPV4: "203.0.113.7",
    contentpb.FACT_KIND_REGION: "europe-west3",
    contentpb.FACT_KIND_AVAILABILITY_ZONE: "europe-west3-b",
    contentpb.FACT_KIND_INSTANCE_TYPE: "n2-standard-4",
}
_METADATA = {
    "project/project-id": "harbour",
    "instance/name": "gen-7",
    "instance/hostname": "gen-7.c.harbour.internal",
    "instance/id": "4520031799277581759",
    "instance/zone": "projects/17/zones/europe-west3-b",
    "instance/machine-type": "projects/17/machineTypes/n2-standard-4",
    "instance/network-interfaces/0/ip": "10.1.2.3",
    "instance/network-interfaces/0/ipv6s": "2600:1900:4000::7",
    "instance/network-interfaces/0/access-configs/0/external-ip": "203.0.113.7",
}

CONTENT = bytes(range(256)) * 16
_HTTP, _HTTPS = "http://127.0.0.1:8080", "https://127.0.0.1:8443"
_FILE, _OTHER, _MOVED, _DOWNGRADE = "/a[1-3].bin", "/other", "/moved", "/downgrade"
_SHA256, _SHA512 = hashlib.sha256(CONTENT).hexdigest(), hashlib.sha512(CONTENT).hexdigest()
REMOTES = (
    ospb.RemoteContent(urls=[f"{_HTTP}{_FILE}"], sha256=_SHA256),
    ospb.RemoteContent(urls=[f"{_HTTP}{_MOVED}"], sha512=_SHA512),
    ospb.RemoteContent(urls=[f"{_HTTPS}{_MOVED}"]),
    ospb.RemoteContent(urls=[f"{_HTTPS}{_DOWNGRADE}", f"{_HTTPS}{_FILE}"]),
    ospb.RemoteContent(urls=[f"{_HTTPS}/absent", f"{_HTTP}{_OTHER}", f"{_HTTPS}{_FILE}"], sha512=_SHA512.upper()),
)


@cache
def _authority() -> Authority:
    return Authority(trust_domain="generated", now=utc_now(), validity=timedelta(days=2))


def certificate() -> bytes:
    """The authority that vouches for the servers, PEM."""
    return _authority().certificate


@cache
def sites() -> tuple[Site, ...]:
    """The servers."""
    issued = _authority().issue(Subject(role="server", name="files", hosts=("127.0.0.1",)))
    metadata = {
        f"/computeMetadata/v1/{key}": Answer(value.encode(), needs="metadata-flavor: google")
        for key, value in _METADATA.items()
    }
    files = {_FILE: Answer(CONTENT), _OTHER: Answer(b"other bytes\n"), _MOVED: _redirect(_FILE)}
    secured = {**files, _DOWNGRADE: _redirect(f"{_HTTP}{_FILE}?plain")}
    plain = {**files, f"{_FILE}?plain": Answer(CONTENT + b"from who knows whom\n")}
    return (
        Site("169.254.169.254", 80, metadata),
        Site("127.0.0.1", 8080, plain),
        Site("127.0.0.1", 8443, secured, certificate=issued.certificate + issued.key),
    )


def _redirect(target: str) -> Answer:
    return Answer(status=302, headers={"Location": target})


def fact(kind: contentpb.FactKind.ValueType, *, before: str = "") -> contentpb.MachineText:
    """A text that is a fact, or ends in one."""
    parts = [contentpb.TextSegment(text=before)] if before else []
    return contentpb.MachineText(segments=[*parts, contentpb.TextSegment(fact=contentpb.MachineFact(kind=kind))])


def is_secured(remotes: Iterable[ospb.RemoteContent]) -> bool:
    """Whether an authority has to vouch for one of the downloads."""
    return any(url.startswith("https:") for remote in remotes for url in remote.urls)


def file_of_facts(path: str) -> ospb.File:
    """A file with all facts, one a line."""
    made = ospb.File(path=path, owner="root", group="root", mode=0o640)
    for kind in FACTS:
        made.content.segments.add(fact=contentpb.MachineFact(kind=kind))
        made.content.segments.add(text="\n")
    return made


def facts_in_a_file() -> bytes:
    """What that file is to hold."""
    return "".join(f"{value}\n" for value in FACTS.values()).encode()
