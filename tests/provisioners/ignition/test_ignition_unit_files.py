"""systemd's own grammar: names, values and command lines, checked against systemd itself."""

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slipway.provisioners.ignition.unit_files import (
    command_line,
    escaped_path,
    has_install_section,
    is_unit_file,
    unit_file,
)
from tools.oracles import fakes, roots, sandbox, systemd_boot
from tools.oracles.sandbox import Command, File


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/", "-"),
        ("/var/lib/etcd", "var-lib-etcd"),
        ("/var/lib/my-data", "var-lib-my\\x2ddata"),
        ("//var//lib/", "var-lib"),
        ("/.hidden/.b", "\\x2ehidden-.b"),
        ("/a b", "a\\x20b"),
        ("/a\\x20b", "a\\x5cx20b"),
        ("/gr\u00fcn", "gr\\xc3\\xbcn"),
        ("/a:b_c.d@e", "a:b_c.d\\x40e"),
    ],
)
def test_escaped_path(path: str, name: str) -> None:
    """The name of a mount's unit is fixed by systemd; another one is ignored."""
    assert escaped_path(path) == name


def _any_paths() -> list[str]:
    """Sixty paths of any characters, the same in every run; none has a part that systemd resolves or refuses."""
    paths: list[str] = []
    part = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0/"), max_size=8)

    @settings(max_examples=60, deadline=None, database=None, derandomize=True)
    @given(st.lists(part.filter(lambda one: one not in {".", ".."}), max_size=4))
    def draw(parts: list[str]) -> None:
        paths.append("/" + "/".join(parts))

    draw()
    return paths


def _any_words() -> list[str]:
    """A hundred words of any characters that an argument can have, the same in every run."""
    words: list[str] = []

    @settings(max_examples=100, deadline=None, database=None, derandomize=True)
    @given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
    def draw(word: str) -> None:
        words.append(word)

    draw()
    return words


@pytest.mark.engine
@pytest.mark.timeout(300)
def test_escaped_path_is_systemds(engine: Callable[..., None]) -> None:
    """Any path is escaped as systemd-escape does it, which refuses none of them; it reads them on a machine."""
    engine("root-trixie")
    paths = [*_any_paths(), "/", "/.hidden/.b", "/a b", "/gr\u00fcn", "/a\n b"]
    commands = [Command(("systemd-escape", "--path", "--", path)) for path in paths]
    with sandbox.opened(roots.ROOTS["trixie"].require()) as box:
        outcomes = box.session(commands)
    assert [(path, outcome.status) for path, outcome in zip(paths, outcomes, strict=True) if outcome.status] == []
    said = {path: outcome.output.removesuffix(b"\n") for path, outcome in zip(paths, outcomes, strict=True)}
    assert said == {path: escaped_path(path).encode() for path in paths}


@pytest.mark.parametrize(
    ("argv", "line", "reason"),
    [
        (["sh", "/etc/run"], "sh /etc/run", "plain words"),
        (["/bin/x", ""], '/bin/x ""', "an empty argument stays one"),
        (["/bin/x", "a b"], '/bin/x "a b"', "a blank"),
        (["/bin/x", 'q"\\'], '/bin/x "q\\"\\\\"', "quotes and backslashes"),
        (["/bin/x", "$HOME"], '/bin/x "$$HOME"', "no variable of systemd's"),
        (["/bin/x", "a\nb"], '/bin/x "a\\nb"', "a line break would be another key"),
        (["/bin/x", "a\r\x0112"], '/bin/x "a\\x0d\\x0112"', "control characters, and digits behind them"),
        (["/bin/x", "\u2028g\u00fcn"], '/bin/x "\\xe2\\x80\\xa8g\u00fcn"', "what is no letter, by its bytes"),
        (["/bin/x", ";"], '/bin/x ";"', "a separator of commands"),
    ],
)
def test_command_line(argv: list[str], line: str, reason: str) -> None:
    """Arguments reach the program as they are."""
    assert command_line(argv) == line, reason


@pytest.mark.engine
@pytest.mark.timeout(300)
def test_command_line_is_read_by_systemd(engine: Callable[..., None]) -> None:
    """Any words, all of one character and digits behind it among them, are the arguments of what systemd starts."""
    engine("root-trixie")
    words = [_any_words(), [f"{chr(code)}12" for code in range(1, 0x100)], ["", ";", "%h $HOME ${x}", "\\x41 'q\" "]]
    starts = [("ExecStart", command_line(["/usr/local/bin/record", *some])) for some in words]
    unit = unit_file({"Service": [("Type", "oneshot"), *starts], "Install": [("WantedBy", "multi-user.target")]})
    files = {"/etc/systemd/system/words.service": File(unit.encode()), **fakes.command("record")}
    with sandbox.opened(roots.ROOTS["trixie"].require()) as box:
        box.session([Command(("systemctl", "enable", "words.service"))], files=files)
        systemd_boot.boot(box)
        assert [list(call.argv[1:]) for call in fakes.read_calls(box.upper)] == words


def test_unit_file_escapes_specifiers() -> None:
    """A percent sign is one, wherever it stands."""
    assert unit_file({"Mount": [("What", "a%b"), ("Where", "/x")]}) == "[Mount]\nWhat=a%%b\nWhere=/x\n"


@pytest.mark.parametrize("value", ["a\nb", "a\\", " a", "a\t"])
def test_values_stay_on_their_line(value: str) -> None:
    """What would break out of its line, or lose blanks, is never written."""
    with pytest.raises(ValueError, match="What"):
        unit_file({"Mount": [("What", value)]})


@pytest.mark.parametrize(
    ("contents", "parses", "installs"),
    [
        ("", True, False),
        ("# only a comment\n", True, False),
        ("[Unit]\nA=b\\\n c\n[Install]\nWantedBy=x\n", True, True),
        ("[Unit]\nA=b=c\n  [Install]  \n", True, True),
        ("A=b\n", False, False),
        ("[Unit\nA=b\n", False, False),
        ("[Unit]\nword\n", False, False),
        ("[Unit]\n#[Install]\n", True, False),
    ],
)
def test_units_of_others(contents: str, *, parses: bool, installs: bool) -> None:
    """Ignition fails the boot over a unit that it cannot parse; one without [Install] is not enabled."""
    assert is_unit_file(contents) is parses
    assert has_install_section(contents) is installs
