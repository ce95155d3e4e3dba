"""The webhook's answers: who becomes the owner, and what is refused at creation."""

import base64
import json
from typing import Any

import pytest

from slipway.controller import ownership
from slipway.controller.opt_in.admission import NotAReviewError, reviewed
from slipway.kubernetes_api.resources import Json

KIND = {"group": "bootstrap.cluster.x-k8s.io", "version": "v1beta2", "kind": "KubeadmConfig"}
MANAGED = {ownership.MANAGED: "true"}


def _review(
    *, labels: Json | None = None, annotations: Json | None = None, spec: Json | None = None, **request: Any
) -> Json:
    metadata: Json = {"name": "w", "namespace": "default"}
    if labels is not None:
        metadata["labels"] = labels
    if annotations is not None:
        metadata["annotations"] = annotations
    item = {"apiVersion": "bootstrap.cluster.x-k8s.io/v1beta2", "kind": "KubeadmConfig", "metadata": metadata}
    if spec is not None:
        item["spec"] = spec
    return {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {"uid": "u-1", "operation": "CREATE", "kind": KIND, "object": item, **request},
    }


def _applied(review: Json) -> Json:
    """Apply the patch of the answer, as far as the webhook uses JSON patches."""
    response = reviewed(review)["response"]
    assert response["allowed"] is True
    metadata: Json = json.loads(json.dumps(review["request"]["object"]["metadata"]))
    for one in json.loads(base64.b64decode(response["patch"])) if "patch" in response else ():
        assert one["op"] == "add"
        parts = [part.replace("~1", "/").replace("~0", "~") for part in one["path"].split("/")[2:]]
        if len(parts) == 1:
            metadata[parts[0]] = one["value"]
        else:
            metadata[parts[0]][parts[1]] = one["value"]
    return metadata


@pytest.mark.parametrize("annotations", [None, {}, {"a": "b"}], ids=["none", "empty", "some"])
def test_an_opted_in_creation_is_ours_and_paused(annotations: Json | None) -> None:
    """Owner and pause are added beside what is there; the answer has the review's uid."""
    review = _review(labels={**MANAGED, "x": "y"}, annotations=annotations)
    assert reviewed(review)["response"]["uid"] == "u-1"
    metadata = _applied(review)
    assert metadata["labels"] == {**MANAGED, "x": "y", ownership.OWNER: ownership.SLIPWAY}
    assert metadata["annotations"] == {**(annotations or {}), ownership.PAUSED: ownership.SLIPWAY}


def test_a_pause_of_a_person_becomes_one_for_us() -> None:
    """Who paused the object in a template wants nobody to go on with it: we do not either."""
    metadata = _applied(_review(labels=MANAGED, annotations={ownership.PAUSED: "later"}))
    assert metadata["annotations"] == {ownership.PAUSED: ownership.SLIPWAY, ownership.OWN_PAUSED: "later"}


def test_a_moved_object_is_held_again_until_its_status_is_back() -> None:
    """A move restores labels and no status: what was rendered before is ours again, and paused until we told of it."""
    metadata = _applied(_review(labels={**MANAGED, ownership.OWNER: ownership.SLIPWAY}))
    assert metadata["annotations"] == {ownership.PAUSED: ownership.SLIPWAY}


@pytest.mark.parametrize(
    ("review", "reason"),
    [
        (_review(labels={}), "without the label"),
        (_review(), "without any label"),
        (_review(labels=MANAGED, annotations={ownership.RELEASED: "x"}), "handed back before it was moved here"),
        (_review(labels=MANAGED, operation="UPDATE"), "no creation: whose it is was decided before"),
        (_review(labels=MANAGED, kind={**KIND, "kind": "KubeadmConfigTemplate"}), "another kind"),
    ],
)
def test_others_are_let_through_untouched(review: Json, reason: str) -> None:
    """What does not opt in is created as it came."""
    assert reviewed(review)["response"] == {"uid": "u-1", "allowed": True}, reason


@pytest.mark.parametrize(
    ("review", "said"),
    [
        (_review(labels={ownership.MANAGED: "yes"}), ownership.MANAGED),
        (
            _review(labels=MANAGED, spec={"joinConfiguration": {"discovery": {"bootstrapToken": {"token": "canary"}}}}),
            "spec.joinConfiguration.discovery.bootstrapToken",
        ),
        (
            _review(labels=MANAGED, spec={"joinConfiguration": {"discovery": {"bootstrapToken": {}}}}),
            "spec.joinConfiguration.discovery.bootstrapToken",
        ),
    ],
)
def test_what_can_not_be_ours_is_refused(review: Json, said: str) -> None:
    """A label that is meant otherwise, and a token that the kubeadm provider would look after; no value is repeated."""
    response = reviewed(review)["response"]
    assert response["allowed"] is False
    assert said in response["status"]["message"]
    assert "canary" not in json.dumps(response)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"joinConfiguration": {}},
        {"joinConfiguration": {"discovery": {"file": {"a": 1}}}},
        {"joinConfiguration": {"discovery": {"bootstrapToken": None}}},
    ],
)
def test_other_discovery_is_no_preset_token(spec: Json) -> None:
    """Only the token is refused; discovery by file is the user's own way."""
    assert reviewed(_review(labels=MANAGED, spec=spec))["response"]["allowed"] is True


@pytest.mark.parametrize(
    "sent", [None, [], {}, {"apiVersion": "admission.k8s.io/v1"}, {**_review(), "apiVersion": "v2"}]
)
def test_what_is_no_review_is_refused(sent: Any) -> None:
    """Nothing but a review of version v1 is answered."""
    with pytest.raises(NotAReviewError):
        reviewed(sent)


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "KubeadmConfig"},
        {"object": {"metadata": None}},
        {"object": {"metadata": {"labels": [ownership.MANAGED]}}},
        {"object": {"metadata": {"labels": MANAGED, "annotations": ["a"]}}},
    ],
)
def test_an_object_of_another_shape_is_no_review(change: Json) -> None:
    """Whoever reaches the webhook gets an answer in words, and never a defect of ours."""
    with pytest.raises(NotAReviewError):
        reviewed(_review(labels=MANAGED, **change))
