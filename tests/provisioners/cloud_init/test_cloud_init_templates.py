"""write_files with machine facts: cloud-init's own templates, and texts that look like them."""

import re

import pytest
import yaml
from hypothesis import assume, given
from hypothesis import strategies as st
from jinja2 import Environment

from slipway.contract.errors import UnsupportedFeature
from slipway.provisioners.cloud_init.features import JINJA, PARTITION_SEARCH
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.sdk import testing
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.provisioners.cloud_init.documents import RAW


def _templated(*parts: bytes | str) -> ospb.File:
    """Make a file whose text parts are templates."""
    file = testing.file("/etc/a", b"")
    for part in parts:
        if isinstance(part, bytes):
            file.content.segments.add(data=part)
        else:
            file.content.segments.add(extension={"id": JINJA, "text": part})
    return file


def rendered_by_jinja(user_data: bytes) -> str:
    """Do what Jinja does with a document in which all literal delimiters are `{{ '..' }}` expressions."""
    return re.sub(r"\{\{ '(\{\{|\{%|\{#|\{)' \}\}", r"\1", user_data.decode())


def test_templates_bring_the_header_and_protect_the_rest() -> None:
    """A template stays as written; every other delimiter of Jinja's comes out of Jinja as it was."""
    files = [_templated(b"name: ", "{{ ds.meta_data.local_hostname }}", b"\n" + RAW.encode() + b"\n")]
    files.append(testing.file("/etc/b", RAW.encode()))
    user_data = testing.render(CloudInit(), testing.bundle(ospb.OperatingSystem(files=files)))
    assert user_data.startswith(b"## template: jinja\n#cloud-config\n")
    assert user_data.count(b"{{ ds.meta_data.local_hostname }}") == 1
    after = yaml.safe_load(rendered_by_jinja(user_data))["write_files"]
    assert after[0]["content"] == "name: {{ ds.meta_data.local_hostname }}\n" + RAW + "\n"
    assert after[1]["content"] == RAW


def test_without_templates_there_is_no_header() -> None:
    """Only a document that needs Jinja is rendered by it: a syntax error would drop the whole document."""
    system = ospb.OperatingSystem(files=[testing.file("/etc/b", RAW.encode())])
    assert b"template: jinja" not in testing.render(CloudInit(), testing.bundle(system))


CONTAINED = [
    ("{% if a %}\nb: c\n{% endif %}\n", "{% if a %}{{ '' }}\nb: c\n{% endif %}{{ '' }}\n", "a block's line break"),
    ("a {# b #}\nc\n", "a {# b #}{{ '' }}\nc\n", "a comment's"),
    ("{% raw %}\n{% x %}\n{% endraw %}\n", "{% raw %}\n{% x %}\n{% endraw %}{{ '' }}\n", "a raw block's, not in it"),
    ("{% set a = '%}\n' %}\n", "{% set a = '%}\n' %}{{ '' }}\n", "not what stands in quotes"),
    ("{% set a = 1 -%}\nb\n", "{% set a = 1 -%}\nb\n", "what is cut inside on purpose"),
    ("{% set a = 1 +%}\nb\n", "{% set a = 1 +%}\nb\n", "what is kept on purpose"),
    ("{{- a -}}", "{{ '' }}{{- a -}}{{ '' }}", "nothing around it is cut"),
    ("{{ a }}\n{{ b }}", "{{ a }}\n{{ b }}", "a value cuts nothing"),
]


@pytest.mark.parametrize(("template", "written", "reason"), CONTAINED)
def test_a_template_cuts_nothing_of_the_document(template: str, written: str, reason: str) -> None:
    """Jinja cuts line breaks and blanks: were they the document's, cloud-init would drop the whole document."""
    file = _templated(template, b"end\n")
    user_data = testing.render(CloudInit(), testing.bundle(ospb.OperatingSystem(files=[file])))
    assert yaml.safe_load(user_data)["write_files"][0]["content"] == f"{written}end\n", reason


def test_blanks_at_the_start_of_a_template_do_not_move_the_block() -> None:
    """YAML finds a block's indent by its first line; the template's own blanks must not be taken for it."""
    user_data = testing.render(CloudInit(), testing.bundle(ospb.OperatingSystem(files=[_templated("  {{ x }}\n")])))
    assert yaml.safe_load(user_data)["write_files"][0]["content"] == "  {{ x }}\n"


def test_a_brace_before_a_template_does_not_join_it() -> None:
    """`{` and `{{ x }}` next to each other would be another delimiter."""
    user_data = testing.render(CloudInit(), testing.bundle(ospb.OperatingSystem(files=[_templated(b"{", "{{ x }}")])))
    assert b"{{ '{' }}{{ x }}" in user_data


def test_a_document_that_ends_in_a_block_keeps_its_line_break() -> None:
    """Jinja drops the last line break of a document; it must not be one of a file's."""
    of = testing.bundle(ospb.OperatingSystem(files=[_templated("{{ x }}", b"\n")]), argv=[])
    assert testing.render(CloudInit(), of).endswith(b"{{ x }}\n#\n")


@pytest.mark.parametrize("literal", [b"\x00", b"a\r\n", b"\xff", b"  \n"])
def test_templates_beside_what_needs_quoting_are_refused(literal: bytes) -> None:
    """What a template gives is not known, so it must stand where nothing has to be quoted."""
    with pytest.raises(UnsupportedFeature) as caught:
        testing.render(CloudInit(), testing.bundle(ospb.OperatingSystem(files=[_templated(literal, "{{ x }}")])))
    assert caught.value.violations[0].path == "os.files[0]"


@given(st.lists(st.text(st.sampled_from("a \t\n{}%#'\"\U0001f600\\:-|")), max_size=4), st.data())
def test_a_block_holds_tabs_and_blanks_beside_templates(texts: list[str], data: st.DataObject) -> None:
    """What the emitter would only quote stands in the block beside a template, as today's provider writes it."""
    parts: list[str | bytes] = []
    for text in texts:
        parts += [text.encode(), *(["{{ x }}"] if data.draw(st.booleans()) else [])]
    parts.append("{{ x }}")
    wanted = "".join(part.decode() if isinstance(part, bytes) else "V" for part in parts)
    assume(not re.match(r"\n* +\n", wanted))
    user_data = testing.render(CloudInit(), testing.bundle(ospb.OperatingSystem(files=[_templated(*parts)]))).decode()
    document = yaml.safe_load(Environment(trim_blocks=True).from_string(user_data).render(x="V"))  # YAML
    assert next(entry["content"] for entry in document["write_files"] if entry["path"] == "/etc/a") == wanted


def test_another_extension_is_no_language_of_a_text() -> None:
    """An id that the format declares for documents is never taken for Jinja: files and command lines refuse it."""
    part = {"id": PARTITION_SEARCH, "text": "[]"}
    of = testing.bundle(ospb.OperatingSystem(files=[_templated("{{ x }}")]), argv=[])
    of.os.files[0].content.segments.add(extension=part)
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    of.plan.entrypoint.commands.add().segments.add(extension=part)
    with pytest.raises(UnsupportedFeature) as caught:
        testing.render(CloudInit(), of)
    assert [violation.path for violation in caught.value.violations] == [
        "os.files[0].content.segments[1].extension.id",
        "plan.entrypoint.commands[0].segments[0].extension.id",
    ]


def test_jinja_is_no_document() -> None:
    """As an extension of the whole bundle it would have no effect."""
    of = testing.bundle(ospb.OperatingSystem())
    of.extensions.add(id=JINJA, media_type="text/plain", content=contentpb.Content(text="{{ x }}"))
    with pytest.raises(UnsupportedFeature) as caught:
        testing.render(CloudInit(), of)
    assert [violation.path for violation in caught.value.violations] == ["extensions[0]"]


@given(st.lists(st.text("{}%#'x \n", max_size=8), min_size=1, max_size=4))
def test_any_literal_survives_jinja(literals: list[str]) -> None:
    """Whatever braces stand around a template, they come out of Jinja as they were."""
    literals = [re.sub(" +(?=\n|$)", "", literal) for literal in literals]
    parts: list[bytes | str] = [b"start\n"]
    for literal in literals:
        parts += [literal.encode(), "{{ x }}"]
    user_data = testing.render(CloudInit(), testing.bundle(ospb.OperatingSystem(files=[_templated(*parts)])))
    expected = "start\n" + "".join(literal + "{{ x }}" for literal in literals)
    assert yaml.safe_load(rendered_by_jinja(user_data))["write_files"][0]["content"] == expected


def test_a_placeholder_in_the_users_text_is_no_placeholder() -> None:
    """The word that stands in for a template while YAML is made is chosen so that no text has it."""
    file = _templated(b"x0slipway0x x1slipway ", "{{ x }}")
    user_data = testing.render(CloudInit(), testing.bundle(ospb.OperatingSystem(files=[file])))
    assert b"x0slipway0x x1slipway {{ x }}" in user_data
