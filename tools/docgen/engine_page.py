"""docs/reference/bootstrap-engines.md: what each bootstrap engine declares about itself."""

from collections.abc import Iterable, Iterator

from slipway.bootstrapper.engines.engine import Engine
from slipway.bootstrapper.engines.table import built_in_engines
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import kubernetes_pb2 as kubernetespb
from slipway.v1alpha1 import secret_pb2 as secretpb
from tools.docgen.markdown import code, listed, page, table

INTRODUCTION = """\
A *bootstrap engine* turns the Kubernetes part of a machine into files and steps. `kubernetes.engine` chooses it; unset,
it is that of the cluster's control plane, else kubeadm. In a management cluster, where the engine of the control plane
may not be known, a machine that joins has to name it. A worker of another engine than its control plane is refused.
Which features each of them takes is in the columns "else on Linux" and "else on Windows" of [features](features.md);
what only one of them knows stands in [engineOptions](spec.md).

Other packages [add engines](../tutorials/write-an-engine.md)."""

_TOKENS = """\
What the Secret of a token holds in the cluster, beside its id, its secret and its expiry. The controller makes one for
each joining machine, and keeps it for as long as the machine may need it; the machine that creates a cluster makes the
first one itself, for 24 hours."""


def engine_page() -> str:
    """Give the page."""
    engines = list(built_in_engines())
    return page(
        "Bootstrap engines",
        "the engines in bootstrapper/slipway/bootstrapper/engines",
        INTRODUCTION,
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
        + table(["Engine", "Machine", "Values"], [row for engine in engines for row in _tokens(engine)]),
    )


def _general(engine: Engine) -> list[str]:
    oldest, newest = (f"{major}.{minor}" for major, minor in (engine.oldest, engine.newest))
    families = listed(
        clusterpb.OsFamily.Name(entry).removeprefix("OS_FAMILY_").capitalize() for entry in engine.os_families
    )
    versions = f"{oldest} to {newest}; newer ones with a warning"
    joins = "no" if engine.own_minor_only else "yes"
    return [code(engine.name), versions, families, joins, str(len(engine.features))]


def _secrets(engine: Engine) -> Iterator[list[str]]:
    for declared in engine.secrets(kubernetespb.Kubernetes()):
        kind = secretpb.SecretKind.Name(declared.kind).removeprefix("SECRET_KIND_").replace("_", " ").lower()
        yield [code(engine.name), code(declared.name), kind, _roles(declared.full_roles), _roles(declared.public_roles)]


def _roles(names: Iterable[str]) -> str:
    return listed(name.removeprefix("ROLE_").replace("_", " ").lower() for name in names)


def _tokens(engine: Engine) -> Iterator[list[str]]:
    for machine, values in (("worker", engine.join_tokens.worker), ("control plane", engine.join_tokens.control_plane)):
        yield [code(engine.name), machine, listed(code(f"{key}: {value}") for key, value in values.items())]
