"""docs/reference/features.md: every feature, where it is used, and who takes it."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby

from slipway.bootstrapper.engines.table import built_in_engines
from slipway.bootstrapper.lowering.table import all_passes
from slipway.contract.yaml_names import person_path
from slipway.embedded.provisioners import own_provisioners
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb
from tools.docgen.feature_ids import FeaturePlace, places
from tools.docgen.markdown import anchor, code, listed, page, prose, table

_FACT = "fact.kind = "
_MOST_NAMED = 3
_SECTIONS = (
    ("os.", "Operating system", ("os.commands",)),
    ("os.commands", "Commands", ()),
    ("kubernetes.", "Kubernetes", ()),
    ("plan.", "Plan", ()),
    ("engine_options.", "Engine options", ()),
)
INTRODUCTION = """\
A *feature* is the name of one thing that a bundle can ask for. Two ids are the same feature only when they are equal: a
common beginning means nothing, and a format that takes `os.files` may not take `os.files.append`. See
[must-understand](../explanation/must-understand.md) for how they are used.

**yes**: the format takes it natively. A bound (such as "below /var/") stands where it takes it only so. Empty: the
bootstrapper lowers it, by the pass or the engine in the last two columns; **refused** there means that no
lowering exists. A pass can still refuse a single item for which the machine's [OS profile](os-profiles.md) has no row.
`slipway explain` gives the verdict for your own spec."""


def feature_page() -> str:
    """Give the page."""
    columns = list(_columns())
    contents = (
        "\n".join(f"- [{title}](#{anchor(title)})" for _, title, _ in _SECTIONS) + "\n- [Extensions](#extensions)"
    )
    sections = [_section(title, list(_places(prefix, without)), columns) for prefix, title, without in _SECTIONS]
    return page(
        "Features",
        "proto/slipway/v1alpha1, the provisioners and the passes",
        INTRODUCTION,
        contents,
        *sections,
        _extensions(columns),
    )


Column = tuple[str, Mapping[str, provisionerpb.FeatureSupport]]


def _columns() -> Iterator[Column]:
    """Give a column for all formats of a provisioner that take the same, with its head."""
    for provisioner in own_provisioners():
        kinds: dict[bytes, list[provisionerpb.FormatInfo]] = {}
        for info in provisioner.formats():
            kinds.setdefault(_signature(info.features), []).append(info)
        for infos in kinds.values():
            yield _head([info.format for info in infos]), {support.id: support for support in infos[0].features}


def _head(formats: Sequence[str]) -> str:
    return listed(formats) if len(formats) <= _MOST_NAMED else f"{formats[-1]} to {formats[0]}"


def _signature(supports: Sequence[provisionerpb.FeatureSupport]) -> bytes:
    return b"".join(sorted(support.SerializeToString(deterministic=True) for support in supports))


def _places(prefix: str, without: Sequence[str]) -> Iterator[FeaturePlace]:
    seen = set()
    for one in places():
        if one.id.startswith(prefix) and not one.id.startswith(tuple(without)) and one.id not in seen:
            seen.add(one.id)
            yield one


def _section(title: str, found: Sequence[FeaturePlace], columns: Sequence[Column]) -> str:
    heads = ["Feature", "Where", "Meaning", *(head for head, _ in columns), "else on Linux", "else on Windows"]
    rows: list[list[str]] = []
    for _, group in groupby(found, key=_group):
        members = list(group)
        verdicts = [_verdicts(one, columns) for one in members]
        if len(members) > 1 and all(one == verdicts[0] for one in verdicts):
            kinds = listed(code(one.id.rpartition(".")[2]) for one in members)
            where, _, _ = members[0].path.partition(" = ")
            rows.append(
                [code(f"{members[0].id.rpartition('.')[0]}.KIND"), _where(where), f"KIND: {kinds}", *verdicts[0]]
            )
        else:
            rows += [
                [code(one.id), _where(one.path), prose(one.meaning), *verdict]
                for one, verdict in zip(members, verdicts, strict=True)
            ]
    return f"## {title}\n\n" + table(heads, rows)


def _group(one: FeaturePlace) -> str:
    """Kinds of machine facts belong together; everything else stands alone."""
    return one.path.partition(_FACT)[0] if _FACT in one.path else one.id


def _where(path: str) -> str:
    field, separator, value = path.removeprefix("intent.").partition(" = ")
    return code(person_path(field) + (f" = {value}" if separator else ""))


def _verdicts(one: FeaturePlace, columns: Sequence[Column]) -> list[str]:
    natively = [_support(supports.get(one.id)) for _, supports in columns]
    return [*natively, _else(one, clusterpb.OS_FAMILY_LINUX), _else(one, clusterpb.OS_FAMILY_WINDOWS)]


def _support(support: provisionerpb.FeatureSupport | None) -> str:
    if support is None:
        return ""
    bounds = []
    if support.path_prefixes:
        bounds.append(f"below {listed(map(code, support.path_prefixes))}")
    if support.excluded_path_prefixes:
        bounds.append(f"not below {listed(map(code, support.excluded_path_prefixes))}")
    if support.allowed_values:
        bounds.append(f"only {listed(map(code, support.allowed_values))}")
    if support.HasField("max_items"):
        bounds.append(f"at most {support.max_items}")
    if support.HasField("max_bytes"):
        bounds.append(f"at most {support.max_bytes} bytes")
    return "; ".join(bounds) or "yes"


def _else(one: FeaturePlace, family: clusterpb.OsFamily.ValueType) -> str:
    if one.id.startswith(("kubernetes.", "engine_options.")):
        taking = [
            engine.name
            for engine in built_in_engines()
            if family in engine.os_families and one.id in {support.id for support in engine.features}
        ]
        return listed(taking) if taking else "refused"
    if one.id.startswith("plan."):
        return "the runner" if one.id.startswith("plan.steps") else ""
    table_ = all_passes()
    found = table_.find(one.item or one.id, family)
    if found is not None:
        return code(found.id)
    if one.id.startswith(("os.commands.pre", "os.commands.post")):
        return "a step"
    if one.id in {"os.commands", "os.default_user"}:
        return ""
    remedy = table_.remedy(one.id, family)
    return f"refused: {prose(remedy)}" if remedy else "refused"


def _extensions(columns: Sequence[Column]) -> str:
    rows = [[code(id_), head] for head, supports in columns for id_ in sorted(supports) if id_.startswith("ext.")]
    return (
        "## Extensions\n\n"
        "The feature of an extension is `ext.` and the extension's own id. Only the provisioner that owns the id "
        "supports it, and no lowering exists.\n\n" + table(["Feature", "Formats"], rows)
    )
