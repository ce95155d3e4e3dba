"""Whatever a file holds: words with a place, exit code 1 or 2, never a traceback."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.services.cli.conftest import EXAMPLES, Slipway

NATIVE = EXAMPLES / "native.yaml"
HEAD = "apiVersion: bootstrap.slipway.dev/v1alpha1\nkind: {kind}\nmetadata: {{name: {name}}}\n"
CONFIG = HEAD.format(kind="SlipwayConfig", name="x")
COMMANDS = ("render", "explain", "validate", "size", "bundle")

CONTENT = [
    (b"", "f.yaml: there is no machine here: nothing is in it", "empty"),
    (b"a:\n\t- b\n", "f.yaml:2:1: not YAML: a tab: indent with spaces", "a tab"),
    (b"a:\n  - b\n\t- c\n", "f.yaml:3:1: not YAML: a tab: indent with spaces", "a tab further below"),
    (b"---\n---\n# nothing\n", "f.yaml: there is no machine here", "comments only"),
    (b"apiVersion: v1\nkind: Service\nmetadata: {name: a}\n", "Service/a: says nothing", "nothing of ours"),
    (b"\xff\xfe\x00", "f.yaml: not text in UTF-8 (line 1)", "not UTF-8"),
    (b"a: 1\nb: \xff\n", "not text in UTF-8 (line 2)", "not UTF-8 further below"),
    (b"a\0b", "f.yaml:1:2: not YAML", "a zero byte"),
    (bytes(random.Random(1).randbytes(4000)), "f.yaml", "noise"),
    (b"just text", "f.yaml:1:1: must be a mapping", "no mapping"),
    (b"[1, 2", "f.yaml:2:1: not YAML: did not find expected", "broken YAML"),
    (b"a: &a [1]\nb: *c", "f.yaml:2:4: b: an alias of an anchor that is not defined", "an alias of nothing"),
    (b"a: !!python/object:os.system x", "f.yaml:1:4: a: a tag that Kubernetes does not know", "a tag"),
    (b"a: 1\na: 2\n", "f.yaml:2:1: a", "a key twice"),
    (b"a: " + b"[" * 5000, "nested deeper than 100 levels", "deep"),
    (b"a: " + b"x" * 9_000_000, "larger than 8388608 characters", "huge"),
    (b"a: " + b"x" * 33_600_000, "f.yaml: larger than 32 MiB: split the file", "not read to its end"),
    (b"---\n" * 5001 + b"a: 1\n", "f.yaml:5001:1: more than 5000 documents: split them", "many documents"),
    (b"a: " + b"$$" * 100_001, "f.yaml:1:200004: more than 100000 of ${...} and $$ in one file", "many escapes"),
    (b"apiVersion: v1", "f.yaml:1:1: kind: required", "no kind"),
    (b"a: ${B} ${C}\nd: ${B}", "f.yaml:1:4: the variable B is not set, also used in line 2", "undefined variables"),
    (b"a: ${B", "a ${ without its }", "an unfinished variable"),
    (b"apiVersion: bootstrap.slipway.dev/v2\nkind: SlipwayConfig\n", "apiVersion: must be", "another version"),
    (HEAD.format(kind="SlipwayConfgi", name="x").encode(), "f.yaml:2:1: kind: must be one of", "a misspelt kind"),
    (HEAD.format(kind="SlipwayConfig", name="5").encode(), "metadata.name: must be text: put the value in quotes", "5"),
    (f"{CONFIG}spec: 3\n".encode(), "f.yaml:4:1: spec", "a spec that is a number"),
    (
        f"{CONFIG}spec: {{os: {{sysctl: []}}}}\n".encode(),
        "f.yaml:4:13: spec.os.sysctl: unknown field; did you mean sysctls?",
        "a misspelt key",
    ),
    (
        f"{CONFIG}spec: {{os: {{files: [{{path: /a, content: {{inline: x}}}}]}}}}\n".encode(),
        "spec.os.files[0].content.inline: unknown field; allowed: ",
        "a key that is like none",
    ),
    (f"{CONFIG}spec: {{os: {{files: 5}}}}\n".encode(), "f.yaml:4:13: spec.os.files", "a wrong type"),
    (f"{CONFIG}spec: {{os: {{files: [{{path: a/../b}}]}}}}\n".encode(), "spec.os.files[0].path", "a bad path"),
    (CONFIG.encode(), "its cluster is unknown", "no cluster"),
    (
        (CONFIG + "---\n" + CONFIG).encode(),
        "f.yaml:7:12: metadata.name: another document has the same kind and name",
        "twice",
    ),
    (
        (
            HEAD.format(kind="SlipwayCluster", name="c")
            + "spec: {machines: [{name: a, role: Worker, config: q}]}\n---\n"
            + HEAD.format(kind="SlipwayConfig", name="qq")
        ).encode(),
        "f.yaml:4:43: spec.machines[0].config: no such SlipwayConfig in the files",
        "a config that is not there",
    ),
]


@pytest.mark.parametrize(("content", "said", "reason"), CONTENT, ids=[row[-1] for row in CONTENT])
def test_a_file_that_is_not_sound_is_told_with_its_place(
    slipway: Slipway, write: Callable[..., Path], content: bytes, said: str, reason: str
) -> None:
    """Exit code 1, the place and the problem on standard error, nothing on standard output."""
    file = write(content)
    result = slipway("validate", "-f", file)
    assert (result.exit_code, result.stdout) == (1, ""), reason
    assert said in result.stderr, (reason, result.stderr)


def test_all_problems_of_all_files_are_told_at_once(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Nobody has to run a command five times to learn of five mistakes."""
    first = write(CONFIG + "spec: {os: {sysctl: [], file: []}}\n", "a.yaml")
    second = write(HEAD.format(kind="SlipwayConfig", name="z") + "spec: {so: {}}\n", "b.yaml")
    result = slipway("validate", "-f", first, "-f", second)
    assert result.stderr.count("unknown field") == 3
    variables = write("a: ${A}\nb: ${B}\n", "c.yaml")
    more = write("c: ${C}\n", "d.yaml")
    told = slipway("validate", "-f", variables, "-f", more).stderr
    assert all(f"the variable {name} is not set" in told for name in "ABC")
    assert told.count("--set-missing") == 1, "what to do is told once"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_tells_it_in_the_same_way(slipway: Slipway, write: Callable[..., Path], command: str) -> None:
    """A file is read by one reader, whatever the command."""
    result = slipway(command, "-f", write(f"{CONFIG}spec: {{os: {{sysctl: []}}}}\n"))
    assert result.exit_code == 1
    assert "did you mean sysctls?" in result.stderr


UNREADABLE = [
    ("missing.yaml", "No such file or directory"),
    (".", "is a directory: name its files, as in -f "),
    ("/proc/self/mem", "Input/output error"),
]


@pytest.mark.parametrize(("name", "said"), UNREADABLE)
def test_a_file_that_can_not_be_read_is_a_wrong_command_line(
    slipway: Slipway, tmp_path: Path, name: str, said: str
) -> None:
    """The name is told, and why."""
    for arguments in (
        ("validate", "-f", tmp_path / name),
        ("import", tmp_path / name),
        ("diff", NATIVE, tmp_path / name),
    ):
        result = slipway(*arguments)
        assert result.exit_code == 2
        assert said in result.stderr


def test_a_file_without_end_is_not_read_to_it(slipway: Slipway) -> None:
    """A device or a pipe can give more than there is memory."""
    result = slipway("validate", "-f", "/dev/zero")
    assert (result.exit_code, result.stdout) == (1, "")
    assert "/dev/zero: larger than 32 MiB: split the file" in result.stderr


def test_standard_input_is_a_file_too(slipway: Slipway) -> None:
    """`-f -` reads it, and messages call it by that name."""
    assert slipway("validate", "-f", "-", stdin=NATIVE.read_bytes()).exit_code == 0
    assert "<stdin>:1:1: must be a mapping" in slipway("validate", "-f", "-", stdin="text").stderr


SOURCES = [path.read_bytes() for path in sorted(EXAMPLES.glob("*.yaml"))]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_example_never_ends_in_a_traceback(
    slipway: Slipway, write: Callable[..., Path], data: st.DataObject
) -> None:
    """Any cut, doubled or overwritten stretch of an example: done, or words and 1; the fixture looks for tracebacks."""
    source = data.draw(st.sampled_from(SOURCES))
    start = data.draw(st.integers(0, len(source)))
    end = data.draw(st.integers(start, min(len(source), start + 200)))
    middle = data.draw(
        st.one_of(
            st.just(b""),
            st.just(source[start:end] * 2),
            st.binary(max_size=20),
            st.sampled_from([b": ", b"- ", b"{", b'"', b"null", b"${X}", b"\n  ", b"&a *a"]),
        )
    )
    file = write(source[:start] + middle + source[end:])
    result = slipway("validate", "-f", file, "--set-missing")
    assert result.exit_code in {0, 1}


def test_a_machine_that_is_not_selected_refuses_none_that_is(slipway: Slipway, write: Callable[..., Path]) -> None:
    """Its mistakes are a note where another machine is chosen, and errors where it is, or all are."""
    head = HEAD.replace("slipway.dev/v1alpha1", "cluster.x-k8s.io/v1beta2") + "spec: {spec}\n"
    good, bad = (
        head.format(kind="KubeadmConfig", name=name, spec=spec)
        for name, spec in (("good", "{}"), ("bad", "{nosuch: 1}"))
    )
    file = write(f"{good}---\n{bad}".encode())
    chosen = slipway("render", "-f", file, "--set-missing", "--machine", "good")
    assert (chosen.exit_code, "KubeadmConfig/bad: has mistakes" in chosen.stderr) == (0, True)
    for others in (("--machine", "bad"), ()):
        refused = slipway("render", "-f", file, "--set-missing", *others)
        assert (refused.exit_code, "spec.nosuch: unknown field" in refused.stderr) == (1, True)
