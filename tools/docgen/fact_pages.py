"""Reference pages made from tables of facts: grammars, infrastructures, machine facts."""

from slipway.bootstrapper.delivery.infrastructure import Counted, infrastructures
from slipway.bootstrapper.lowering import fact_table
from slipway.bootstrapper.lowering.runners.pieces import FACT_NAMES
from slipway.contract.field_plans import plan
from slipway.contract.grammars import grammars
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import content_pb2 as contentpb
from tools.docgen.descriptors import comment, contract_files, short
from tools.docgen.markdown import code, listed, page, prose, table

_COUNTED = {
    Counted.RAW: "as it is",
    Counted.BASE64: "in base64",
    Counted.GZIP_BASE64: "compressed by gzip, in base64",
}


def grammar_page() -> str:
    """Give docs/reference/grammars.md."""
    users: dict[str, list[str]] = {}
    for file in contract_files():
        for message in file.message_types_by_name.values():
            for field in message.fields:
                name = plan(message)[field.number].rules.format
                if name:
                    users.setdefault(name, []).append(short(field.full_name))
    sections = [
        f"## {name}\n\n{prose(grammar.description[:1].upper() + grammar.description[1:])}.\n\n"
        f"Fields: {listed(map(code, users[name]))}."
        for name, grammar in sorted(grammars().items())
        if name in users
    ]
    introduction = (
        "The syntax of text fields, by the value of the contract's option `rules.format`. An error names the grammar "
        "that a text does not match, and never repeats the text."
    )
    return page("Grammars", "sdk/python/slipway/contract/grammars.py", introduction, *sections)


def infrastructure_page() -> str:
    """Give docs/reference/infrastructures.md."""
    rows = []
    for name, row in infrastructures().items():
        variants = [(code(name), row)]
        if row.unchanged:
            variants.append((f"{code(name)}, {code('userDataUnchanged')}", row.when_unchanged()))
        for label, variant in variants:
            larger = variant.larger
            rows.append(
                [
                    label,
                    f"{variant.limit_bytes:,}",
                    f"{larger.limit_bytes:,} if {prose(larger.provided)}" if larger else "",
                    _COUNTED[variant.counted],
                    _yes(variant.gzip),
                    _yes(variant.verbatim),
                    prose(variant.source),
                ]
            )
    introduction = """\
How much user data an infrastructure takes. Larger user data is compressed as a whole if infrastructure and first-boot
system allow it, and otherwise refused with a breakdown of its bytes; `slipway size` shows the same figures for a file.
For an infrastructure without a row, the limit is that of a Kubernetes Secret, 1 MiB.

*More*: a higher limit that holds under a condition. User data that needs it is rendered with a warning.

*gzip*: whether Slipway may compress the user data. The answer is no where the infrastructure provider compresses them
itself, reads them as text, or sends them in a way in which cloud-init does not expand them.

*userDataUnchanged*: `target.userDataUnchanged: true` states that the provider passes user data on as they are
(AWSMachine: `cloudInit.insecureSkipSecretsManager`, or `ignition.storageType: UnencryptedUserData`; CloudStackMachine:
`uncompressedUserData`). An import reads these fields; in a management cluster the annotation
`bootstrap.slipway.dev/user-data-unchanged` states it.

*Verbatim*: the user data reaches the machine as it was given. A format that requires this (Talos, Windows) is refused
where the answer is no."""
    heads = ["Infrastructure", "Limit (bytes)", "more", "counted", "gzip", "verbatim", "Source"]
    return page(
        "Infrastructures",
        "bootstrapper/slipway/bootstrapper/delivery/infrastructures.yaml",
        introduction,
        table(heads, rows),
    )


def fact_page() -> str:
    """Give docs/reference/machine-facts.md."""
    introduction = """\
Machine facts are values that are known only on the machine. A fact can be in a node name, in a kubelet argument, in the
host name and in the content of a file (`segments: [{fact: {kind: LocalHostname}}]`). The runner reads each fact before
it configures anything, with up to 30 attempts. If no value matches the grammar, the bootstrap fails. If the table has
no source for the infrastructure, the spec is refused before a machine is created.

With cloud-init on Linux, cloud-init's own answer (`cloud-init query`) is a source, too: the last one, and for facts of
an imported config the first. It also serves facts that have no source in the table."""
    sources = """\
Each entry is a source with its arguments:

- `aws KEY`: a value of the instance metadata service, version 2 only.
- `azure KEY`: a value below `instance` of the Azure metadata service.
- `gcp KEY`: a value below `computeMetadata/v1`; `gcp_last KEY`: the last part of that path; `gcp_region`: the zone
  without its last part.
- `openstack KEY`: a value of the metadata service in the form of EC2; `openstack_id`: the `uuid` of `meta_data.json`.
- `cloudstack KEY`: a value of the virtual router, at the name `data-server` or else at the default gateway.
- `vsphere KEY`: a value of `guestinfo.metadata`; the provider id has the BIOS UUID.
- `host`: the host name of the kernel, unless it is `localhost`; on Windows the host name in lower case.
- `address FAMILY DESTINATION`: the source address of the route to the destination; 4 and 6 are the families of IP.
- `PROVIDER_provider_id`: the id in the form of the cloud provider, made from the values above.
- `short SOURCE`: the value of another source, up to the first dot.

No call of a metadata service uses a proxy."""
    kinds = [kind for kind in contentpb.FactKind.values() if kind]
    meanings = table(
        ["Fact", "Meaning"],
        [
            [code(FACT_NAMES[kind]), prose(comment(f"slipway.v1alpha1.{contentpb.FactKind.Name(kind)}"))]
            for kind in kinds
        ],
    )
    parts = [introduction, meanings, "## Sources\n\n" + sources]
    for family, title in ((clusterpb.OS_FAMILY_LINUX, "Linux"), (clusterpb.OS_FAMILY_WINDOWS, "Windows")):
        names = fact_table.infrastructures()
        rows = [[code(FACT_NAMES[kind]), *(_call(kind, name, family) for name in names)] for kind in kinds]
        parts.append(f"## {title}\n\n" + table(["Fact", *map(code, names)], rows))
    parts.append("## Grammars\n\n" + table(["Infrastructure", "Fact", "The whole value matches"], _fact_grammars()))
    return page("Machine facts", "bootstrapper/slipway/bootstrapper/lowering/fact_table.py", *parts)


def _call(kind: contentpb.FactKind.ValueType, infrastructure: str, family: clusterpb.OsFamily.ValueType) -> str:
    source = fact_table.row(kind, infrastructure=infrastructure, os_family=family)
    return "" if source is None else code(" ".join(source.call))


def _fact_grammars() -> list[list[str]]:
    rows: dict[tuple[str, str], list[str]] = {}
    for infrastructure in fact_table.infrastructures():
        for kind in contentpb.FactKind.values():
            source = fact_table.row(kind, infrastructure=infrastructure, os_family=clusterpb.OS_FAMILY_LINUX)
            if source is not None:
                rows.setdefault((FACT_NAMES[kind], source.grammar), []).append(infrastructure)
    return [[listed(map(code, names)), code(fact), code(grammar)] for (fact, grammar), names in sorted(rows.items())]


def _yes(value: bool) -> str:  # noqa: FBT001  # the only argument
    return "yes" if value else "no"
