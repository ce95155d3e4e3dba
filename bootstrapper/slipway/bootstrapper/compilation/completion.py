"""The last part of a compilation: the execution is lowered, and the whole is checked for what is not supported.

The machine keeps who configured it, in /etc/slipway/bundle.json (design 5.9).
"""

import json
from collections.abc import Collection, Iterator, Sequence

from slipway.bootstrapper.assembly import paths
from slipway.bootstrapper.compilation.compiled import Compiled
from slipway.bootstrapper.field_index import item_index
from slipway.bootstrapper.lowering.entry_unit import entry_unit_files
from slipway.bootstrapper.lowering.finish import RUNNER, finish
from slipway.bootstrapper.lowering.omission import not_taken
from slipway.bootstrapper.problems.conversion import problems_of_error
from slipway.bootstrapper.problems.problem import Problem
from slipway.contract.content import literal
from slipway.contract.errors import SlipwayError
from slipway.contract.feature_uses import uses
from slipway.contract.features import by_id, compute_features, unsupported
from slipway.rpc.spans import span
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import cluster_pb2 as clusterpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import provisioner_service_pb2 as provisionerpb

_PROVENANCE_ON_LINUX = "/etc/slipway/bundle.json"
_PROVENANCE_ON_WINDOWS = "C:\\ProgramData\\slipway\\bundle.json"


def complete(
    result: Compiled, info: provisionerpb.FormatInfo, *, features: bundlepb.BootstrapBundle | None = None
) -> Compiled:
    """Lower the execution of a machine whose items are lowered, and check the whole.

    `features` has the features that are used where another machine of the class has passed that check already: ids
    of bundles are all of one form, so that it would find the same.
    """
    draft = result.draft
    if draft is None:
        raise AssertionError("there is nothing to finish")
    supports: Sequence[provisionerpb.FeatureSupport] = info.features
    result.draft = draft.copy()
    result.bundle = draft.bundle
    result.lowered = draft.lowered
    if info.kubernetes_input == provisionerpb.KUBERNETES_INPUT_PLAN:
        draft.bundle.provenance.passes[:] = [*draft.passes, RUNNER]
        draft.bundle.os.files.append(_provenance_file(draft.bundle))
        try:
            with span("lower", {"pass": RUNNER}):
                finish(draft, supports, media_type=info.media_type)
        except SlipwayError as error:
            result.refusals += problems_of_error(error, draft.bundle)
            # The rest can still be judged: who corrects the steps shall not learn of it only then.
            for each in (draft, result.draft):
                each.bundle.plan.ClearField("steps")
                each.prepared.clear()
    if features is not None:
        result.bundle.MergeFrom(features)
        return result
    refused = {problem.path for problem in result.refusals}
    declared, used = by_id(supports), list(uses(draft.bundle))
    result.refusals += [
        not_taken(entry, declared)
        for entry in unsupported(draft.bundle, declared, used=used)
        if entry.use.path not in refused
    ]
    result.refusals += _collisions(draft.bundle, declared)
    compute_features(result.bundle, used=used)
    return result


def _collisions(bundle: bundlepb.BootstrapBundle, declared: Collection[str]) -> Iterator[Problem]:
    """Give two claims of one path, as they are after lowering: an engine's, a pass's and the entry point's count."""
    collisions = list(paths.collisions(bundle.os, others=entry_unit_files(bundle, declared)))
    index = item_index(bundle) if collisions else None
    for earlier, later in collisions:
        item = index.holder(later.where) if index is not None else None
        yield Problem(
            item.feature if item is not None else "os.files",
            later.where,
            f"{paths.describe(earlier.origin)} and {paths.describe(later.origin)} claim the same path",
            "Leave the path to one of them",
            earlier.origin if later.origin.made_by else later.origin,
        )


def _provenance_file(bundle: bundlepb.BootstrapBundle) -> ospb.File:
    """Give the file: the id of the bundle, and versions, passes and digest of its provenance. Nothing is secret."""
    made = bundle.provenance
    account = {
        "id": bundle.id,
        "bootstrapper": made.bootstrapper_version,
        "engine": made.engine,
        "provisioner": made.provisioner,
        "format": made.format,
        "passes": list(dict.fromkeys(made.passes)),
        "specDigest": made.spec_digest,
    }
    text = json.dumps(account, separators=(",", ":")) + "\n"
    windows = bundle.machine.target.os_family == clusterpb.OS_FAMILY_WINDOWS
    file = ospb.File(
        path=_PROVENANCE_ON_WINDOWS if windows else _PROVENANCE_ON_LINUX, owner="root", group="root", mode=0o644
    )
    file.content.CopyFrom(literal(text.encode()))
    file.origin.made_by.append("provenance")
    return file
