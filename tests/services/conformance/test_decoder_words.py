"""How the suite takes command lines apart, and writes text of JSON."""

import json

import pytest

from slipway.conformance.contents import json_string
from slipway.conformance.decoders.words import shell_words, systemd_words, windows_words


@pytest.mark.parametrize(
    ("line", "want", "reason"),
    [
        ("exec a 'b c' d", ["exec", "a", "b c", "d"], "single quotes"),
        ("a 'it'\"'\"'s'", ["a", "it's"], "quotes that meet"),
        ('a "b \\" c \\n"', ["a", 'b " c \\n'], "double quotes keep most backslashes"),
        ("a ''", ["a", ""], "an empty word is a word"),
        ("a \\$b", ["a", "$b"], "an escaped dollar"),
        ("a $b", None, "a variable is no word"),
        ('a "$b"', None, "nor in double quotes"),
        ("a 'b", None, "a quote that does not end"),
        ("a; b", None, "two commands"),
        ("a *.b", None, "a pattern"),
    ],
)
def test_shell_words(line: str, want: list[str] | None, reason: str) -> None:
    """A simple command is its words; what the shell would change is no list of words."""
    assert shell_words(line) == want, reason


@pytest.mark.parametrize(
    ("line", "want", "reason"),
    [
        ('/bin/a "b c"', ["/bin/a", "b c"], "quotes"),
        ('/bin/a "100%%" "$$HOME"', ["/bin/a", "100%", "$HOME"], "what is doubled"),
        ('/bin/a "\\"b\\\\"', ["/bin/a", '"b\\'], "escapes"),
        ("/bin/a b\\xc2\\xa0 \\x41", ["/bin/a", "b\u00a0", "A"], "bytes of one character"),
        ("/bin/a \\xc2", None, "bytes of no character"),
        ("/bin/a $HOME", None, "a variable"),
        ("/bin/a %h", None, "a specifier"),
        ('/bin/a "b', None, "a quote that does not end"),
    ],
)
def test_systemd_words(line: str, want: list[str] | None, reason: str) -> None:
    """ExecStart as systemd takes it apart."""
    assert systemd_words(line) == want, reason


@pytest.mark.parametrize(
    ("line", "want", "reason"),
    [
        ('-File "C:\\Program Files\\x.ps1"', ["-File", "C:\\Program Files\\x.ps1"], "blanks"),
        ('"a \\"b\\""', ['a "b"'], "quotes"),
        ('"a\\\\" b', ["a\\", "b"], "backslashes before a quote"),
        ("a\\b", ["a\\b"], "backslashes elsewhere"),
        ('""', [""], "an empty word"),
    ],
)
def test_windows_words(line: str, want: list[str], reason: str) -> None:
    """A command line as the C runtime takes it apart."""
    assert windows_words(line) == want, reason


def test_json_text() -> None:
    """The suite's own JSON string is JSON, and escapes what YAML forbids or folds."""
    text = 'a"\\\b\f\n\r\t\x00\x7f\x85\u2028\ufeff\uffffü😀'
    assert json.loads(json_string(text)) == text
    assert json_string("\x85\u2028ü") == '"\\u0085\\u2028ü"'
