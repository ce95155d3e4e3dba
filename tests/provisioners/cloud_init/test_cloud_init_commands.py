"""The entry point, and commands that cloud-init runs itself."""

import shlex

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from slipway.contract.errors import UnsupportedFeature
from slipway.provisioners.cloud_init.render import CloudInit
from slipway.sdk import testing
from slipway.v1alpha1 import bundle_pb2 as bundlepb
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import os_pb2 as ospb
from slipway.v1alpha1 import plan_pb2 as planpb
from tests.provisioners.cloud_init.documents import document, refusals


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20), min_size=1, max_size=5))
def test_arguments_of_the_entry_point_reach_it(argv: list[str]) -> None:
    """Whatever the arguments hold, the shell of the script splits them as they were."""
    script = document(testing.bundle(argv=argv))["write_files"][0]["content"]
    assert shlex.split(script.removeprefix("#!/bin/sh\nexec ")) == argv


def test_command_lines_are_run_as_they_are() -> None:
    """Consumers look for the literal line; a failing one does not stop the next."""
    lines = ["echo a", "join it --config /x  && echo success > /run/y", "echo 'a: b' # c", 'say "hi"']
    of = testing.bundle()
    of.plan.entrypoint.Clear()
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    for line in lines:
        of.plan.entrypoint.commands.add(segments=[contentpb.TextSegment(text=line)])
    rendered = testing.render(CloudInit(), of)
    assert yaml.safe_load(rendered)["runcmd"] == lines
    assert "write_files" not in yaml.safe_load(rendered)


def test_plain_command_lines_are_plain_scalars() -> None:
    """Some consumers search the user data itself for the line, so nothing may be quoted that need not be."""
    of = testing.bundle(ospb.OperatingSystem(files=[testing.file("/a", b"x")]))
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    line = "bootstrap join --config /run/b.yaml  && echo success > /run/cluster-api/bootstrap-success.complete"
    of.plan.entrypoint.commands.add(segments=[contentpb.TextSegment(text=line)])
    of.plan.entrypoint.commands.add(segments=[contentpb.TextSegment(text="echo 'done: yes'")])
    assert f"runcmd:\n- {line}\n- 'echo ''done: yes'''\n".encode() in testing.render(CloudInit(), of)


def test_command_lines_with_templates_are_blocks() -> None:
    """What a template gives must not meet any quoting."""
    of = testing.bundle()
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    template = contentpb.ExtensionText(id="cloud-init.slipway.dev/jinja", text="{{ v1.region }}")
    segments = [contentpb.TextSegment(text="echo "), contentpb.TextSegment(extension=template)]
    of.plan.entrypoint.commands.add(segments=segments)
    assert b"- |-\n  echo {{ v1.region }}\n" in testing.render(CloudInit(), of)


def test_boot_commands() -> None:
    """Programs are lists, and each script gets a shell of its own: none can end the others."""
    of = testing.bundle()
    of.commands.boot.add(argv=["modprobe", "x y"])
    of.commands.boot.add(script=contentpb.Content(segments=[{"data": b"echo a > /b"}]))
    of.commands.boot.add(
        script=contentpb.Content(segments=[{"data": b"set -e\nexit 3\n"}]), interpreter=planpb.INTERPRETER_SH
    )
    assert document(of)["bootcmd"] == [
        ["modprobe", "x y"],
        ["sh", "-c", "echo a > /b"],
        ["sh", "-c", "set -e\nexit 3\n"],
    ]


LINES = ["echo a > /x\r\necho b >> /x\r\n", "echo \x07bell", "printf '\x1b[31mred'", "a\x85b\u2028c\ufeffd"]


def _with_lines(lines: list[str]) -> bundlepb.BootstrapBundle:
    of = testing.bundle()
    of.plan.entrypoint.Clear()
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    for line in lines:
        of.plan.entrypoint.commands.add(segments=[contentpb.TextSegment(text=line)])
        of.commands.boot.add(script=contentpb.Content(segments=[{"data": line.encode()}]))
    return of


def test_control_characters_beside_a_template_are_escaped() -> None:
    """The template stands in the quotes as it is written, as from today's provider; in it nothing can be escaped."""
    of = testing.bundle()
    of.plan.entrypoint.Clear()
    of.plan.entrypoint.execution = planpb.EXECUTION_COMMANDS
    template = contentpb.ExtensionText(id="cloud-init.slipway.dev/jinja", text="{{ ds['a'] }}")
    parts = [contentpb.TextSegment(text='echo "\x1b[31m" '), contentpb.TextSegment(extension=template)]
    of.plan.entrypoint.commands.add(segments=[*parts, contentpb.TextSegment(text="\r\n")])
    read = yaml.safe_load(testing.render(CloudInit(), of).replace(b"{{ ds['a'] }}", b"here"))
    assert read["runcmd"] == ['echo "\x1b[31m" here\r\n']
    template.text = "{% if a %}\x07{% endif %}"
    of.plan.entrypoint.commands[0].segments[1].extension.CopyFrom(template)
    assert refusals(of) == ["plan.entrypoint.commands[0]"]


def test_control_characters_are_escaped() -> None:
    """Line breaks of another system and colours reach the shell as they are, and no reader on the way sees them."""
    rendered = testing.render(CloudInit(), _with_lines(LINES))
    seen = yaml.safe_load(rendered)
    assert seen["runcmd"] == LINES
    assert seen["bootcmd"] == LINES
    assert all(char == "\n" or char.isprintable() for char in rendered.decode())


def test_a_line_with_a_nul_is_refused() -> None:
    """No program can be given one."""
    with pytest.raises(UnsupportedFeature) as caught:
        testing.render(CloudInit(), _with_lines(["echo \0"]))
    assert [each.path for each in caught.value.violations] == ["commands.boot[0]", "plan.entrypoint.commands[0]"]


def test_boot_scripts_of_bytes_are_refused() -> None:
    """A script that is no text cannot stand in the document."""
    of = testing.bundle()
    of.commands.boot.add(script=contentpb.Content(segments=[{"data": b"\xff"}]))
    with pytest.raises(UnsupportedFeature) as caught:
        document(of)
    assert caught.value.violations[0].path == "commands.boot[0]"
