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
        "What the text of a field may look like, by the name that the contract's option `rules.format` gives. An error "
        "says which grammar a text breaks, and never repeats the text."
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
How much user data an infrastructure takes. What is larger is compressed as a whole where infrastructure and first-boot
system allow it, and refused with a breakdown of its bytes otherwise; `slipway size` shows the same figures for a file.
An infrastructure that is not here is taken to carry what a Kubernetes Secret holds, 1 MiB.

*More*: a higher limit that holds under a condition. User data that needs it is rendered with a warning.

*gzip*: whether Slipway may compress the user data. The answer is no where the infrastructure provider compresses them
itself, reads them as text, or sends them in a way in which cloud-init does not expand them.

*userDataUnchanged*: `target.userDataUnchanged: true` states that the provider passes user data on as they are
(AWSMachine: `cloudInit.insecureSkipSecretsManager`, or `ignition.storageType: UnencryptedUserData`; CloudStackMachine:
`uncompressedUserData`). An import reads these fields; in a management cluster the annotation
`bootstrap.slipway.dev/user-data-unchanged` states it.

*Verbatim*: the user data reaches the machine as it was given. A format that cannot live with less (Talos, Windows) is
refused where the answer is no."""
    heads = ["Infrastructure", "Most bytes", "more", "counted", "gzip", "verbatim", "Source"]
    return page(
        "Infrastructures",
        "bootstrapper/slipway/bootstrapper/delivery/infrastructures.yaml",
        introduction,
        table(heads, rows),
    )


def fact_page() -> str:
    """Give docs/reference/machine-facts.md."""
    introduction = """\
What only the machine knows when it boots. A fact can stand in a node name, in a kubelet argument, in the host name and
in the content of a file (`segments: [{fact: {kind: LocalHostname}}]`). The runner finds it before anything is
configured: it asks the source below, up to thirty times, and a value that does not match its grammar ends the
bootstrap. A fact without a row for the machine's infrastructure is refused before there is a machine."""
    kinds = [kind for kind in contentpb.FactKind.values() if kind]
    meanings = table(
        ["Fact", "Meaning"],
        [
            [code(FACT_NAMES[kind]), prose(comment(f"slipway.v1alpha1.{contentpb.FactKind.Name(kind)}"))]
            for kind in kinds
        ],
    )
    parts = [introduction, meanings]
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
