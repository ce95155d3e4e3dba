"""Text that is taken for whole is whole to real shells; text of real templates is not taken for broken."""

import re
import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slipway.bootstrapper.importers.shell_construct import is_whole

WHOLE = [
    "echo a",
    "echo it\\'s # don't",
    "for s in $(ls); do $s; done",
    "if [ -f /x ]; then echo if; else echo fi; fi",
    "while ! nc -z a 1; do sleep 1; done; echo done",
    "case $x in a|b) echo a;; (c) echo c;; *) ;; esac",
    'f() { echo "a}"; }; f',
    "cat <<EOF > /x\nit's $x \"\nEOF\necho b",
    "cat <<-'E' > /x\n\tdo\n\tE\n",
    "echo ${x#a} $# $((1 + 2)) $(( (1) ))",
    'echo "$(echo "a b" | tr -d \'"\')"',
    "( cd /tmp && tar x )",
    "sed -i 's/#x/y/' /f && { echo a; echo b; }",
    "mkdir -p /a/{b,c}",
    'jq \'.a[] | select(.b == "c")\' /f > "${HOME}/x"',
    "until curl -s http://a; do sleep 1; done",
    "a=$(cat <<X\nb\nX\n)",
    "echo {{ ds.meta_data.hostname }}",
    "echo a {% if b %}\necho b\n{% endif %}",
]
PARTS = [
    "for x in 1; do", "while true", "do", "done", "if true", "if true; then", "then", "else", "fi", "case a in", "a)",
    "esac", "{", "}", "f() {", "f()", "(", ")", "echo 'a", 'echo "a', "cat <<EOF", "cat <<EOF\nEOF x", "echo a \\",
    "echo a |", "a &&", "b ||", "echo $(", "echo `", "echo ${x", "echo $((1", "elif true", "( echo",
    "echo <<'E F'\na", "cat <<A <<B\nA\n", "if", "!", "x='a\nb", "for x", "case", "function f {",
]  # fmt: skip
WORDS = [*WHOLE, *PARTS, " ", "\n", ";", "&", "#", "a", "\\", "'", '"', ")", "}", "in", "$x", "<<E\n", "E\n", "$'"]


ENDS_TOO_EARLY = re.compile(r"end of file|end-of-file|EOF|[Uu]nterminated|[Mm]issing", re.ASCII)


def complaints(text: str) -> list[str]:
    """Give what both shells say of the text when they parse it."""
    shells = [name for name in ("dash", "bash") if shutil.which(name)]
    return [subprocess.run([name, "-n", "-c", text], capture_output=True, text=True).stderr for name in shells]  # noqa: PLW1510


@pytest.mark.parametrize("number", range(len(WHOLE)))
def test_usual_text_is_whole(number: int) -> None:
    """What real templates say in one item is seen to be whole."""
    assert is_whole(WHOLE[number])
    assert "{%" in WHOLE[number] or not any(complaints(WHOLE[number]))


@pytest.mark.parametrize("number", range(len(PARTS)))
def test_a_part_is_not_whole(number: int) -> None:
    """An item that needs another one is not taken for whole."""
    assert not is_whole(PARTS[number])


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join))
def test_what_is_taken_for_whole_is_whole_to_a_shell(text: str) -> None:
    """Whatever is put together, text of which a shell misses the end is never taken for whole."""
    if is_whole(text):
        assert not any(ENDS_TOO_EARLY.search(complaint) for complaint in complaints(text)), text
