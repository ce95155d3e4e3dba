"""The custom resource definitions, judged by a real API server: the cost of their rules, and what they let in."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.controller.site import OURS, Site
from tools.cluster.failures import Refused

pytestmark = [pytest.mark.engine, pytest.mark.timeout(400)]

ROOT = Path(__file__).resolve().parents[2]
CONFIG = {"apiVersion": OURS, "kind": "SlipwayConfig", "metadata": {"name": "a"}}


def _examples() -> list[dict[str, Any]]:
    paths = [*sorted((ROOT / "examples").glob("*.yaml")), ROOT / "tests/integration/full_machine.yaml"]
    documents = [document for path in paths for document in yaml.safe_load_all(path.read_text(encoding="utf-8"))]
    return [
        document
        for document in documents
        if document and document.get("kind") in {"SlipwayConfig", "SlipwayConfigTemplate"}
    ]


async def test_every_example_is_taken_as_it_is(site: Site) -> None:
    """Nothing of an example is refused, and nothing of it is pruned."""
    examples = _examples()
    assert len(examples) >= 4
    for index, document in enumerate(examples):
        metadata = {"name": f"example-{index}", "namespace": site.namespace}
        await site.apply({**document, "metadata": metadata})
        stored = await site.get(OURS, document["kind"], metadata["name"])
        assert stored["spec"] == document["spec"]


@pytest.mark.parametrize(
    ("spec", "said", "reason"),
    [
        ({"os": {"files": [{"path": "/a"}]}}, "exactly one of content and remote", "a file without content"),
        (
            {"os": {"files": [{"path": "/a", "content": {"text": "a", "data": "YQ=="}}]}},
            "can have only one of",
            "two sources",
        ),
        ({"os": {"sysctls": [{"name": "a.b", "value": "1"}] * 2}}, "Duplicate value", "a doubled key"),
        ({"os": {"timeZone": {}}}, "Required value", "a missing field"),
        ({"os": {"files": [{"path": "/a", "mode": "0999", "content": {"text": ""}}]}}, "should match", "no octal mode"),
        ({"kubernetes": {"etcd": {}}}, "exactly one of local and external", "an etcd that is neither"),
        (
            {"kubernetes": {"discovery": {"token": {}, "file": {"path": "/x"}}}},
            "cannot have both token and file",
            "two discoveries",
        ),
        ({"commands": {"pre": [{}]}}, "exactly one of argv and script", "a command that runs nothing"),
        ({"init": {"kubernetes": {"etcd": {}}}}, "exactly one of local and external", "the same by role"),
        ({"provisioner": {"name": "A"}}, "should match", "an upper-case name"),
        ({"target": {"osFamily": "Beos"}}, "Unsupported value", "an unknown value"),
        ({"optionalFeatures": ["os.files"] * 129}, "Too many", "a list beyond its bound"),
    ],
)
async def test_what_can_be_told_at_once_is_refused(site: Site, spec: dict[str, Any], said: str, reason: str) -> None:
    """A person hears of it when they apply the document, with the path."""
    document = {**CONFIG, "metadata": {"name": "a", "namespace": site.namespace}, "spec": spec}
    with pytest.raises(Refused) as refused:
        await asyncio.to_thread(site.environment.client.create, document)
    assert said in str(refused.value), reason


async def test_an_unknown_field_is_an_error_to_whoever_asks_for_it(site: Site) -> None:
    """Server-side apply and strict clients (kubectl) refuse it by name; it is never stored in silence."""
    document = {**CONFIG, "metadata": {"name": "a", "namespace": site.namespace}, "spec": {"os": {"nope": 1}}}
    with pytest.raises(Refused) as refused:
        await asyncio.to_thread(site.environment.client.apply, document)
    assert ".spec.os.nope: field not declared in schema" in str(refused.value)


async def test_a_template_may_be_tried_without_a_trace(site: Site) -> None:
    """Cluster API's topology controller applies templates as a dry run; nothing of ours stands in the way."""
    template = {
        "apiVersion": OURS,
        "kind": "SlipwayConfigTemplate",
        "metadata": {"name": "t", "namespace": site.namespace},
        "spec": {"template": {"spec": {"provisioner": {"name": "cloud-init"}}}},
    }
    await site.apply(template)
    changed = {**template, "spec": {"template": {"spec": {"provisioner": {"name": "ignition"}}}}}
    answer = await asyncio.to_thread(lambda: site.environment.client.apply(changed, dry_run=True))
    assert answer["spec"]["template"]["spec"]["provisioner"]["name"] == "ignition"
    assert (await site.get(OURS, "SlipwayConfigTemplate", "t"))["spec"] == template["spec"]
    await site.apply(changed)
