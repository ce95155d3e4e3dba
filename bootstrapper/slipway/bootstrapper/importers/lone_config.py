"""One foreign config, without the manifests around it, as BootstrapService gets it."""

from dataclasses import replace

from slipway.bootstrapper.importers.cluster_api.kinds import ControlPlaneSpec, ControlPlaneTemplateSpec
from slipway.bootstrapper.importers.cluster_api.machine_set import CONFIG_PATHS
from slipway.bootstrapper.importers.cluster_api.objects import ManifestObject, manifest_objects
from slipway.bootstrapper.importers.foreign_config import ForeignConfig, ImportResult, Surroundings
from slipway.bootstrapper.importers.kubeadm_import import import_config
from slipway.contract.errors import ImportInvalid, Violation
from slipway.contract.source_position import SourceError, SourceProblem
from slipway.contract.yaml_limits import Limits
from slipway.contract.yaml_source import load_documents

LIMITS = Limits(max_characters=1_572_864, max_nodes=50_000, max_documents=100)
"""How much one config may hold. Nothing larger than 1.5 MiB fits into a cluster's store, whose limit for one value that
is (etcd, `--max-request-bytes`); a config with all that ours can hold has some 20,000 values."""

_KINDS = ", ".join(sorted(CONFIG_PATHS))


def import_kubeadm_config(
    document: bytes | str, surroundings: Surroundings | None = None, *, file: str = "document"
) -> ImportResult:
    """Carry over one KubeadmConfig, KubeadmConfigTemplate, KubeadmControlPlane or KubeadmControlPlaneTemplate.

    Args:
        document: the document, YAML or JSON; variables are not filled in.
        surroundings: what is known besides; a KubeadmControlPlane's own version counts where it says none.
        file: name of the document, for messages.

    Raises:
        SourceError: the document is not one of these, is over the LIMITS, breaks its schema, or cannot be carried over.
    """
    each = _object(document, file)
    path = CONFIG_PATHS[each.kind]
    config = ForeignConfig(
        kind=each.kind,
        name=each.name,
        api_version=each.header.api_version,
        tree=each.part(*map(str, path)),
        source=each.source,
        path=path,
    )
    known = surroundings or Surroundings()
    return import_config(config, replace(known, control_plane_version=known.control_plane_version or _version(each)))


def import_invalid(error: SourceError) -> ImportInvalid:
    """Give the contract's error for what is wrong in a foreign document."""
    return ImportInvalid(
        f"the document cannot be carried over:\n{error}",
        violations=[Violation(problem.path, problem.message) for problem in error.problems],
    )


def _object(document: bytes | str, file: str) -> ManifestObject:
    try:
        text = document if isinstance(document, str) else document.decode()
    except UnicodeDecodeError:
        raise SourceError([SourceProblem(file, None, "", "not text in UTF-8")]) from None
    objects = manifest_objects(load_documents(text, file=file, limits=LIMITS)).all
    if len(objects) != 1:
        raise SourceError([SourceProblem(file, None, "", f"must hold exactly one document, of kind {_KINDS}")])
    if objects[0].kind not in CONFIG_PATHS:
        raise SourceError([objects[0].problem(("kind",), f"must be one of {_KINDS}")])
    return objects[0]


def _version(each: ManifestObject) -> str:
    if each.kind == "KubeadmControlPlane":
        return each.read(ControlPlaneSpec, "spec").version
    if each.kind == "KubeadmControlPlaneTemplate":
        return each.read(ControlPlaneTemplateSpec, "spec").template.spec.version
    return ""
