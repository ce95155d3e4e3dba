"""Texts that Jinja does not take: cloud-init would drop the whole document, and the machine would never bootstrap."""

import pytest

from slipway.provisioners.cloud_init.features import ITEM, JINJA
from slipway.provisioners.cloud_init.template_syntax import is_template
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from tests.provisioners.cloud_init.documents import document, refusals


def bundle(*texts: str) -> bundlepb.BootstrapBundle:
    """Make a bundle with a file for each text."""
    contents = [
        contentpb.Content(
            segments=[
                contentpb.Segment(data=b"{{ a } "),
                contentpb.Segment(extension=contentpb.ExtensionText(id=JINJA, text=text)),
            ]
        )
        for text in texts
    ]
    return testing.bundle(
        ospb.OperatingSystem(
            files=[
                ospb.File(path=f"/opt/{number}", owner="root", group="root", mode=0o644, content=content)
                for number, content in enumerate(contents)
            ]
        )
    )


@pytest.mark.parametrize(
    "text",
    [
        "{% endraw %}{{ x",
        "{{ x",
        "{% if x %}",
        "{{ .PodCIDR }}",
        "{% nothing %}",
        "{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}",
    ],
)
def test_a_text_that_is_no_template_is_refused(text: str) -> None:
    """By its own field; the one beside it is fine."""
    assert refusals(bundle("{{ ds.meta_data.x }}", text)) == ["os.files[1].content"]


def test_an_item_that_is_no_template_is_refused() -> None:
    """Its text is JSON, in which nothing is looked for: every such item is named."""
    made = bundle("{{ ds.meta_data.x }}")
    item = made.extensions.add(id=ITEM, media_type="application/json")
    item.content.segments.add(data=b'{"key": "users", "item": {"name": "a", "gecos": "{{ x"}}')
    assert refusals(made) == ["os.files[0].content", "extensions[0]"]


@pytest.mark.parametrize(
    "text", ["{{ ds.meta_data.x }}", "{% do x.append(1) %}", "{% for a in b %}{{ a|join }}{% endfor %}"]
)
def test_a_template_is_taken(text: str) -> None:
    """With the extension that cloud-init's environment has."""
    assert document(bundle(text))


def test_constants_are_not_computed() -> None:
    """A text of a few bytes cannot cost the provisioner its memory."""
    assert is_template("{{ 'x' * 99999999999 }}")
