"""docs/reference/bootstrap-engines.md: what each bootstrap engine declares about itself."""

from collections.abc import Iterable, Iterator

from slipway.bootstrapper.engines.bootstrap_tokens import BootstrapTokens
from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.engines.table import built_in_engines
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tools.docgen.markdown import code, listed, page, table

INTRODUCTION = """\
A *bootstrap engine* turns the Kubernetes part of a machine into files and steps. `kubernetes.engine` chooses it; unset,
it is that of the cluster's control plane, else {first}. In a management cluster, where the engine of the control plane
may not be known, a machine that joins has to name it. A worker of another engine than its control plane is refused.
Which features each of them takes is in the columns "else on Linux" and "else on Windows" of [features](features.md);
what only one of them knows stands in [engineOptions](spec.md).

Other packages [add engines](../tutorials/write-an-engine.md)."""

_TOKENS = """\
By what a machine joins. A token that the *controller* makes is a bootstrap token of Kubernetes: a Secret of the
workload cluster, in the namespace kube-system, one for each machine that joins. The controller creates it before it
stores the machine's user data, refreshes its expiry until the machine has joined, for a day at most, and lets it
expire: the cluster's token cleaner removes it. A token that the *cluster* makes is only read, when the machine is
rendered. The machine that creates a cluster makes the first tokens itself, for 24 hours. The column *values* has what
the Secret holds beside the token's id, its secret, its description and its expiry."""


def engine_page() -> str:
    """Give the page."""
    engines = list(built_in_engines())
    return page(
        "Bootstrap engines",
        "the engines in bootstrapper/slipway/bootstrapper/engines",
        INTRODUCTION.format(first=engines[0].name),
        "## In general\n\n"
        + table(
            ["Engine", "Kubernetes", "Machines", "Joins another minor version", "Features"],
            list(map(_general, engines)),
        ),
        "## Secrets of the cluster\n\nEach is made once per cluster.\n\n"
        + table(
            ["Engine", "Secret", "Kind", "In full", "Its certificate only"],
            [row for engine in engines for row in _secrets(engine)],
        ),
        f"## Tokens\n\n{_TOKENS}\n\n"
        + table(
            ["Engine", "Machine", "Made by", "Secret in the user data", "Values"],
            [row for engine in engines for row in _tokens(engine)],
        ),
    )


def _general(engine: Engine) -> list[str]:
    oldest, newest = (f"{major}.{minor}" for major, minor in (engine.oldest, engine.newest))
    families = listed(_family(engine, entry) for entry in engine.os_families)
    versions = f"{oldest} to {newest}; newer ones with a warning"
    joins = "no" if engine.own_minor_only else "yes"
    return [code(engine.name), versions, families, joins, str(len(engine.features))]


def _family(engine: Engine, family: clusterpb.OsFamily.ValueType) -> str:
    name = clusterpb.OsFamily.Name(family).removeprefix("OS_FAMILY_").capitalize()
    if family != clusterpb.OS_FAMILY_LINUX:
        return name
    only = f" ({listed(map(code, sorted(engine.distributions)))})" if engine.distributions else ""
    reasons = "; ".join(f"not {code(entry)}: {why}" for entry, why in sorted(engine.unserved.items()))
    return f"{name}{only}" + (f" ({reasons})" if reasons else "")


def _secrets(engine: Engine) -> Iterator[list[str]]:
    for declared in engine.secrets(kubernetespb.Kubernetes()):
        kind = secretpb.SecretKind.Name(declared.kind).removeprefix("SECRET_KIND_").replace("_", " ").lower()
        yield [code(engine.name), code(declared.name), kind, _roles(declared.full_roles), _roles(declared.public_roles)]


def _roles(names: Iterable[str]) -> str:
    return listed(name.removeprefix("ROLE_").replace("_", " ").lower() for name in names)


def _tokens(engine: Engine) -> Iterator[list[str]]:
    tokens = engine.join_tokens
    for role, machine in ((clusterpb.ROLE_WORKER, "worker"), (clusterpb.ROLE_CONTROL_PLANE, "control plane")):
        values = tokens.values(role).items() if isinstance(tokens, BootstrapTokens) else ()
        shown = listed(code(f"{key}: {value}") for key, value in values)
        yield [code(engine.name), machine, tokens.made_by.value, code(tokens.secret(role)), shown]
