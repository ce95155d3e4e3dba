"""The checked-in table of machine facts: fact x infrastructure x family -> source, retries, grammar.

A combination that is not here is refused before any machine exists; nothing is guessed. Every grammar leaves
out white space, quotes, backslashes and everything that is not printable ASCII: that is what makes a fact
safe to splice into a file raw, as a JSON string or in base64 without any escaping on the machine.

Sources are functions of the programs in runners/programs: `facts_NAME.sh` on Linux, `facts_NAME.ps1` on
Windows. References: the metadata services' own documentation (EC2 IMDSv2; Azure IMDS 2021-02-01; Compute
Engine v1; OpenStack's EC2-compatible and native metadata; CloudStack's virtual router; VMware's GuestInfo
keys) and, for provider ids, the form that each cloud provider gives Node.spec.providerID.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from slipway.bootstrapper.lowering.first_boot import facts_of_reader
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb

HOST = "[A-Za-z0-9]([A-Za-z0-9.-]{0,251}[A-Za-z0-9])?"
LABEL = "[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
IPV4 = r"([0-9]{1,3}\.){3}[0-9]{1,3}"
IPV6 = "[0-9a-fA-F]{0,4}(:[0-9a-fA-F]{0,4}){2,7}"
WORD = "[A-Za-z0-9][A-Za-z0-9._-]{0,127}"
UUID = "[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"
NUMBER = "[0-9]{1,20}"

_H, _L = contentpb.FACT_KIND_HOSTNAME, contentpb.FACT_KIND_LOCAL_HOSTNAME
_ID, _PID = contentpb.FACT_KIND_INSTANCE_ID, contentpb.FACT_KIND_PROVIDER_ID
_V4, _V6, _PUB = contentpb.FACT_KIND_PRIVATE_IPV4, contentpb.FACT_KIND_IPV6, contentpb.FACT_KIND_PUBLIC_IPV4
_REG, _AZ, _TYPE = (
    contentpb.FACT_KIND_REGION,
    contentpb.FACT_KIND_AVAILABILITY_ZONE,
    contentpb.FACT_KIND_INSTANCE_TYPE,
)


@dataclass(frozen=True, slots=True)
class Source:
    """How a machine finds a fact.

    Attributes:
        programs: names of the programs that define the functions, in the order in which they are sent.
        call: function and arguments; it prints the value.
        grammar: the permitted values, an extended regular expression for the whole value.
        attempts: how often it is tried.
        pause: seconds between two attempts.
    """

    programs: tuple[str, ...]
    call: tuple[str, ...]
    grammar: str
    attempts: int = 30
    pause: int = 2


_AZURE_ID = (
    "azure:///subscriptions/[0-9a-fA-F-]{36}/resourceGroups/[A-Za-z0-9_().-]{1,90}/providers/Microsoft[.]Compute/"
    "(virtualMachineScaleSets/[A-Za-z0-9_.-]{1,80}/)?virtualMachines/[A-Za-z0-9_.-]{1,80}"
)
_NIC = "network/interface/0"
_GCP_NIC = "instance/network-interfaces/0"

# Infrastructure, programs, and for each fact the call and the grammar. One line, one row.
_LINUX: dict[str, tuple[tuple[str, ...], dict[contentpb.FactKind.ValueType, tuple[str, str]]]] = {
    "aws": (
        ("http", "aws"),
        {
            _H: ("aws hostname", HOST),
            _L: ("aws local-hostname", HOST),
            _ID: ("aws instance-id", "i-[0-9a-f]{8,17}"),
            _PID: ("aws_provider_id", "aws:///[a-z0-9-]+/i-[0-9a-f]{8,17}"),
            _V4: ("aws local-ipv4", IPV4),
            _V6: ("aws ipv6", IPV6),
            _PUB: ("aws public-ipv4", IPV4),
            _REG: ("aws placement/region", WORD),
            _AZ: ("aws placement/availability-zone", WORD),
            _TYPE: ("aws instance-type", WORD),
        },
    ),
    "azure": (
        ("http", "azure"),
        {
            _H: ("azure compute/osProfile/computerName", HOST),
            _L: ("azure compute/osProfile/computerName", HOST),
            _ID: ("azure compute/vmId", UUID),
            _PID: ("azure_provider_id", _AZURE_ID),
            _V4: (f"azure {_NIC}/ipv4/ipAddress/0/privateIpAddress", IPV4),
            _V6: (f"azure {_NIC}/ipv6/ipAddress/0/privateIpAddress", IPV6),
            _PUB: (f"azure {_NIC}/ipv4/ipAddress/0/publicIpAddress", IPV4),
            _REG: ("azure compute/location", WORD),
            _AZ: ("azure compute/zone", WORD),
            _TYPE: ("azure compute/vmSize", WORD),
        },
    ),
    "gcp": (
        ("http", "gcp"),
        {
            _H: ("gcp instance/hostname", HOST),
            _L: ("gcp instance/hostname", HOST),
            _ID: ("gcp instance/id", NUMBER),
            _PID: ("gcp_provider_id", f"gce://[a-z0-9:.-]+/{WORD}/{WORD}"),
            _V4: (f"gcp {_GCP_NIC}/ip", IPV4),
            _V6: (f"gcp {_GCP_NIC}/ipv6s", IPV6),
            _PUB: (f"gcp {_GCP_NIC}/access-configs/0/external-ip", IPV4),
            _REG: ("gcp_region", WORD),
            _AZ: ("gcp_last instance/zone", WORD),
            _TYPE: ("gcp_last instance/machine-type", WORD),
        },
    ),
    "openstack": (
        ("http", "openstack"),
        {
            _H: ("openstack hostname", HOST),
            _L: ("openstack local-hostname", HOST),
            _ID: ("openstack_id", UUID),
            _PID: ("openstack_provider_id", f"openstack:///{UUID}"),
            _V4: ("openstack local-ipv4", IPV4),
            _PUB: ("openstack public-ipv4", IPV4),
            _AZ: ("openstack placement/availability-zone", WORD),
            _TYPE: ("openstack instance-type", WORD),
        },
    ),
    "cloudstack": (
        ("http", "cloudstack"),
        {
            _H: ("cloudstack local-hostname", HOST),
            _L: ("cloudstack local-hostname", HOST),
            _ID: ("cloudstack instance-id", UUID),
            _PID: ("cloudstack_provider_id", f"cloudstack:///{UUID}"),
            _V4: ("cloudstack local-ipv4", IPV4),
            _PUB: ("cloudstack public-ipv4", IPV4),
            _AZ: ("cloudstack availability-zone", WORD),
            _TYPE: ("cloudstack service-offering", WORD),
        },
    ),
    "vsphere": (
        ("vsphere", "host"),
        {
            _H: ("vsphere local-hostname", HOST),
            _L: ("vsphere local-hostname", HOST),
            _ID: ("vsphere instance-id", WORD),
            _PID: ("vsphere_provider_id", f"vsphere://{UUID}"),
            _V4: ("address 4 192.0.2.1", IPV4),
            _V6: ("address 6 2001:db8::1", IPV6),
        },
    ),
    "kubevirt": (
        ("host",),
        {
            _H: ("host", HOST),
            _L: ("host", HOST),
            _V4: ("address 4 192.0.2.1", IPV4),
            _V6: ("address 6 2001:db8::1", IPV6),
        },
    ),
    "docker": (
        ("host",),
        {
            _H: ("host", HOST),
            _L: ("host", HOST),
            _ID: ("host", HOST),
            _PID: ("docker_provider_id", f"docker:////{HOST}"),
            _V4: ("address 4 192.0.2.1", IPV4),
            _V6: ("address 6 2001:db8::1", IPV6),
        },
    ),
    "metal": (
        ("host",),
        {
            _H: ("host", HOST),
            _L: ("host", HOST),
            _V4: ("address 4 192.0.2.1", IPV4),
            _V6: ("address 6 2001:db8::1", IPV6),
        },
    ),
}

_GRAMMARS: Mapping[contentpb.FactKind.ValueType, str] = {
    _H: HOST,
    _L: HOST,
    contentpb.FACT_KIND_SHORT_HOSTNAME: LABEL,
    _ID: WORD,
    _V4: IPV4,
    _V6: IPV6,
    _PUB: IPV4,
    _REG: WORD,
    _AZ: WORD,
    _TYPE: WORD,
}
"""Grammars of the facts that what reads the user data knows of its machine, on whichever infrastructure."""

# Facts whose functions have the same names on Windows; the others are not served there.
_WINDOWS_SAME = ("aws", "azure", "gcp")
_WINDOWS_HOST = ("vsphere", "kubevirt", "openstack", "cloudstack", "metal")


def row(
    kind: contentpb.FactKind.ValueType, *, infrastructure: str, os_family: clusterpb.OsFamily.ValueType
) -> Source | None:
    """Give the source of a fact, or None where the table has no row and the fact must be refused."""
    if kind == contentpb.FACT_KIND_SHORT_HOSTNAME:
        whole = row(contentpb.FACT_KIND_LOCAL_HOSTNAME, infrastructure=infrastructure, os_family=os_family)
        return whole and replace(whole, call=("short", *whole.call), grammar=LABEL)
    if os_family == clusterpb.OS_FAMILY_LINUX:
        programs, facts = _LINUX.get(infrastructure, ((), {}))
    elif os_family == clusterpb.OS_FAMILY_WINDOWS and infrastructure in _WINDOWS_SAME:
        programs, facts = (infrastructure,), _LINUX[infrastructure][1]
    elif os_family == clusterpb.OS_FAMILY_WINDOWS and infrastructure in _WINDOWS_HOST:
        programs, facts = ("host",), {_H: ("host", HOST), _L: ("host", HOST)}
    else:
        return None
    if kind not in facts:
        return None
    call, grammar = facts[kind]
    return Source(programs=programs, call=tuple(call.split(" ")), grammar=grammar)


def read_row(
    kind: contentpb.FactKind.ValueType, target: clusterpb.Target, *, media_type: str, imported: bool = False
) -> Source | None:
    """Return the source of a fact on a machine whose user data are of a media type.

    What reads them may know the fact. Its templates stood where an imported config has facts, so for such a config it
    is asked first, and its answer counts whatever the infrastructure says; for a spec of ours only where the
    infrastructure does not answer, so that a fact means the same whatever reads the user data.
    """
    own = row(kind, infrastructure=target.infrastructure, os_family=target.os_family)
    reader = facts_of_reader(media_type)
    names = reader.names.get(_name(kind)) if reader else None
    if reader is None or names is None or target.os_family != clusterpb.OS_FAMILY_LINUX:
        return own
    call = ("as_template" if imported else "known", names)
    if own is None:
        return Source(programs=(reader.program,), call=call, grammar=_GRAMMARS[kind])
    grammar = _GRAMMARS[kind] if imported else own.grammar
    return replace(own, programs=(reader.program, *own.programs), call=(*call, *own.call), grammar=grammar)


def _name(kind: contentpb.FactKind.ValueType) -> str:
    return contentpb.FactKind.Name(kind).removeprefix("FACT_KIND_").lower()


def infrastructures() -> tuple[str, ...]:
    """Give the names of the infrastructures that have rows, sorted."""
    return tuple(sorted(_LINUX))
