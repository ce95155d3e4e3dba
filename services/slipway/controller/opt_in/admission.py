"""The answer of the webhook: whose a new KubeadmConfig is. Pure: an AdmissionReview in, an AdmissionReview out.

The API server asks for creations of objects with the label of who opts in, and for nothing else; policies refuse what
was created without the answer (deploy/kubernetes/opt-in/policies.yaml).
"""

import base64
import json
from collections.abc import Collection
from typing import Any

from slipway.controller import ownership
from slipway.controller.opt_in.questions import presets_token
from slipway.kubernetes_api.resources import KUBEADM_CONFIGS, KUBEADM_GROUP, Json

_VERSION = "admission.k8s.io/v1"
_YES = "true"
_FORBIDDEN = 403


class NotAReviewError(ValueError):
    """What was sent is no AdmissionReview; the text repeats nothing of it."""


def reviewed(review: Any, namespaces: Collection[str] = ()) -> Json:
    """Answer a review, where the controller follows these namespaces, or all.

    Raises:
        NotAReviewError: it is not an AdmissionReview.
    """
    request = review.get("request") if isinstance(review, dict) else None
    uid = request.get("uid") if isinstance(request, dict) else None
    if not isinstance(request, dict) or not isinstance(uid, str) or review.get("apiVersion") != _VERSION:
        raise NotAReviewError("no AdmissionReview of version v1")
    if not _is_shaped(request):
        raise NotAReviewError("an object of another shape than Kubernetes gives one")
    return {"apiVersion": _VERSION, "kind": "AdmissionReview", "response": {"uid": uid, **_answer(request, namespaces)}}


def _is_shaped(request: Json) -> bool:
    """Whether what is read below is a mapping wherever it is there: only an API server is sure to give that."""
    item = request.get("object")
    metadata = item.get("metadata", {}) if isinstance(item, dict) else {}
    if not isinstance(metadata, dict):
        return False
    parts = (request.get("kind"), metadata.get("labels"), metadata.get("annotations"))
    return all(part is None or isinstance(part, dict) for part in parts)


def _answer(request: Json, namespaces: Collection[str]) -> Json:
    item, kind = request.get("object"), request.get("kind") or {}
    ours = kind.get("group") == KUBEADM_GROUP and kind.get("kind") == KUBEADM_CONFIGS.kind
    if request.get("operation") != "CREATE" or not ours or not isinstance(item, dict) or "metadata" not in item:
        return {"allowed": True}
    labels = item["metadata"].get("labels") or {}
    if ownership.MANAGED not in labels or ownership.released(item):
        return {"allowed": True}
    if namespaces and request.get("namespace") not in namespaces:
        return _denied(f"Slipway does not follow this namespace: leave the label {ownership.MANAGED} out")
    if labels[ownership.MANAGED] != _YES:
        return _denied(f'the label {ownership.MANAGED} must be "true", or not there')
    if presets_token(item.get("spec") or {}):
        field = "spec.joinConfiguration.discovery.bootstrapToken"
        return _denied(f"{field} must not be set: Slipway makes the token of a config that is opted in")
    patch = base64.b64encode(json.dumps(_patch(item["metadata"])).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": patch}


def _patch(metadata: Json) -> list[Json]:
    annotations = metadata.get("annotations") or {}
    wanted = {ownership.PAUSED: ownership.SLIPWAY}
    if annotations.get(ownership.PAUSED, ownership.SLIPWAY) != ownership.SLIPWAY:
        # A pause from before the object was ours is a pause for us.
        wanted[ownership.OWN_PAUSED] = annotations[ownership.PAUSED]
    operations: list[Json] = [] if annotations else [{"op": "add", "path": "/metadata/annotations", "value": {}}]
    operations += [_added("annotations", name, value) for name, value in wanted.items()]
    return [*operations, _added("labels", ownership.OWNER, ownership.SLIPWAY)]


def _added(where: str, name: str, value: str) -> Json:
    escaped = name.replace("~", "~0").replace("/", "~1")
    return {"op": "add", "path": f"/metadata/{where}/{escaped}", "value": value}


def _denied(message: str) -> Json:
    return {"allowed": False, "status": {"code": _FORBIDDEN, "reason": "Forbidden", "message": message}}
