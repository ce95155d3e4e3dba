"""Every regular expression of the product takes time in proportion to the text, whatever the text is."""

import re
from functools import cache

import pytest

from slipway.bootstrapper.importers import placeholders
from slipway.contract import grammars
from tools.patterns.automaton import NotProvenError, build, is_plain_loop
from tools.patterns.memory import keeps_rounds
from tools.patterns.places import Place, files_with_patterns, places, unknown_imports
from tools.patterns.proof import reason_not_linear
from tools.patterns.work import attacks, openings, steps

pytestmark = pytest.mark.long

_IMPORTERS = "bootstrapper/slipway/bootstrapper/importers"
_STOPS = "the scanner stops for good at the first place that does not match"

# Patterns that are linear at one place of a text, and are matched from places inside it: file, beginning of the source
# of the pattern, and why the places do not add up.
_SCANNED = {
    ("sdk/python/slipway/contract/go_duration.py", "'([0-9]*)"): _STOPS + "; a text has at most 256 characters",
    (f"{_IMPORTERS}/container_linux_types.py", "'(?P<number>"): "a text has at most 64 characters",
    (f"{_IMPORTERS}/go_template.py", "'\\\\{\\\\{(?P<left>-(?="): _STOPS,
    (f"{_IMPORTERS}/go_template.py", "'\\\\{\\\\{(?P<left>-["): "without it, the scanner stops at the action's tokens",
    (f"{_IMPORTERS}/go_template_expression.py", "'(?P<space>"): _STOPS,
    (f"{_IMPORTERS}/jinja.py", "'\\\\{%[-+]?\\\\s*raw"): "a block that begins raw and does not end stops the scanner",
    (f"{_IMPORTERS}/jinja.py", 'f"""\\\\{{\\\\{{[-+]?'): _STOPS,
    (f"{_IMPORTERS}/jinja.py", 'f"""\\\\{{%[-+]?'): _STOPS,
    (f"{_IMPORTERS}/jinja.py", "'\\\\{#(?P<body>"): _STOPS,
    (f"{_IMPORTERS}/jinja_expression.py", "'\\\\s*(?:(?P<value>"): _STOPS,
    (f"{_IMPORTERS}/shell_pattern.py", "'(?P<any>"): _STOPS,
    (f"{_IMPORTERS}/sprig.py", "'\\\\s*(?:(?P<sign>"): _STOPS,
    ("provisioners/slipway/provisioners/cloud_init/jinja.py", "'\\\\{\\\\{"): _STOPS,
    ("provisioners/slipway/provisioners/cloud_init/jinja.py", "'\\\\{%(?:"): _STOPS,
    ("services/slipway/conformance/decoders/windows.py", '"\\\\(\\\\[System'): (
        "a quoted text fails only where the line has no second quote; the line is that of a report's own user"
    ),
}
# Patterns with what the proof does not know, and why they are linear all the same.
_REVIEWED = {
    (f"{_IMPORTERS}/metadata_variables.py", "'export\\\\s+(?P<name>\\\\w+)(?:"): (
        "the name ends at the first character that is not of a word, so there is one way to what refers to it"
    ),
    (f"{_IMPORTERS}/metadata_variables.py", "'sed\\\\s+"): (
        "the value alone has several ends; behind each stand at most 3 characters and blanks that no other end shares"
    ),
}
_WORD = "slipway0x"
# Patterns that are made at run time, each with all that it can become, or with an example where only a plain word
# of ours differs.
_BUILT = {
    ("sdk/python/slipway/contract/grammars.py", "expression"): [
        grammar.expression for grammar in grammars.grammars().values() if grammar.expression
    ],
    ("bootstrapper/slipway/bootstrapper/engines/documents/segmented_yaml.py", "f'\""): [
        rf'"{_WORD}(\d+)w"|{_WORD}(\d+)z'
    ],
    (f"{_IMPORTERS}/cluster_api/infrastructure.py", "f'{prefix}"): ["AWS[A-Z]"],
    (f"{_IMPORTERS}/mapping/commands.py", "f'(?<!"): [
        rf"(?<![\w/.-]){re.escape('/run/kubeadm/kubeadm.yaml')}(?![\w-])"
    ],
    (f"{_IMPORTERS}/shell_pattern.py", "_regular(term)"): [r"\*", ".", "[^a-z0-9]", "(?!)"],
    ("bootstrapper/slipway/bootstrapper/lowering/containerd_config.py", "f'\""): [f'"{_WORD}[0-9]+"'],
    ("provisioners/slipway/provisioners/cloud_init/document.py", "f'{marker}"): [rf"{_WORD}(\d+)x"],
}
# Made at run time and more than linear: the text's bound.
_BOUNDED = {(f"{_IMPORTERS}/placeholders.py", "pattern"): "a name has at most 256 characters"}
# Patterns that remember each round of a repeat, and why they do not see a long text.
_SUITE = "the suite looks at the answers of its user's own provisioner"
_SHORT = {
    ("bootstrapper/slipway/bootstrapper/engines/kubernetes_version.py", "'v?(0|"): "at most 256 characters",
    ("services/slipway/cli/scaffold.py", "f'(?![0-9])"): "a name from the command line",
    ("services/slipway/registry/advertisement.py", "f'{_LABEL}"): "an advertisement has at most 64 KiB",
    ("services/slipway/conformance/checks/errors.py", "'[a-z][a-z0-9_]*"): _SUITE,
    ("services/slipway/conformance/checks/information.py", "f'{_LABEL}"): _SUITE,
    ("services/slipway/conformance/checks/information.py", "f'{_NUMBER}"): _SUITE,
    ("services/slipway/conformance/checks/information.py", "'[a-z][a-z0-9]*"): _SUITE,
    ("services/slipway/conformance/checks/render.py", "'[A-Z]"): _SUITE,
    ("services/slipway/conformance/decoders/windows.py", '"\\\\(\\\\[System'): _SUITE,
}

of_each_file = pytest.mark.parametrize("path", files_with_patterns())
_places = cache(places)


def _known(path: str) -> list[Place]:
    return [place for place in _places() if place.path == path and place.pattern is not None]


def _entry(place: Place, *tables: object) -> tuple[str, str] | None:
    for table in tables:
        for path, source in table:  # type: ignore[attr-defined]
            if place.path == path and place.source.startswith(source):
                return (path, source)
    return None


def test_no_call_is_hidden() -> None:
    """No file has a name for what is in `re`, so that the list of patterns is all that there are."""
    assert unknown_imports() == []
    assert len(_places()) > 200
    assert {place.path for place in _places()} <= set(files_with_patterns())


@of_each_file
def test_pattern_is_linear(path: str) -> None:
    """No text takes more than its own length in steps, up to a factor."""
    for place in _known(path):
        if _entry(place, _REVIEWED):
            continue
        searched = place.searched and not _entry(place, _SCANNED)
        assert place.pattern is not None
        assert not reason_not_linear(place.pattern, place.flags, searched=searched, whole=place.whole), (
            f"{place.path}:{place.line}: use google-re2, a pattern without the ambiguity, or a scanner: {place.source}"
        )


@of_each_file
def test_pattern_keeps_nothing_for_each_round(path: str) -> None:
    """No long text makes the matcher use a hundred times its own size."""
    for place in _known(path):
        assert place.pattern is not None
        assert keeps_rounds(place.pattern, place.flags) == bool(_entry(place, _SHORT)), (
            f"{place.path}:{place.line}: make the repeat possessive, or use a class of characters: {place.source}"
        )


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("[a-z]*x", False), ("(?:ab)*", True), ("(?:ab)*?", True), ("(?:ab)*+", False), ("(?:ab){0,9}", False),
        ("(?:(?:ab)*c)*+", True), ("x|y(?:ab|c)+", True), ("(?>(?:ab)+)", True), ("(?=(?:ab)+)", True),
        ("(?:(?:ab)+){2}", True), ("(?:ab){0,2000}", True),
    ],
)  # fmt: skip
def test_repeats_that_are_remembered(pattern: str, expected: bool) -> None:
    """A group that is repeated without a small bound is remembered, wherever it stands, unless it is possessive."""
    assert keeps_rounds(pattern, 0) is expected


def test_pattern_of_run_time_is_linear() -> None:
    """What a pattern can become is listed here, and linear, or its text is short."""
    for place in _places():
        if place.pattern is not None or _entry(place, _BOUNDED):
            continue
        entry = _entry(place, _BUILT)
        assert entry, f"list what the pattern can become: {place.key}"
        for pattern in _BUILT[entry]:
            reason = reason_not_linear(pattern, re.ASCII, searched=entry[1] != "expression", whole=True)
            assert not reason, f"{place.key}: {pattern}"


def test_every_review_is_needed() -> None:
    """No entry outlives its pattern, nor excuses one that is proven."""
    for path, source in [*_SCANNED, *_REVIEWED, *_BUILT, *_BOUNDED, *_SHORT]:
        assert [place for place in _places() if _entry(place, {(path, source)})], (path, source)
    for place in _places():
        if place.pattern is not None and _entry(place, _SCANNED, _REVIEWED):
            assert reason_not_linear(place.pattern, place.flags, searched=place.searched, whole=place.whole), place.key
    assert placeholders.placeholder("_" * 257 + "PORT") != "6443"
    assert placeholders.placeholder("_" * 200 + "PORT") == "6443"


_BAD = [
    ("(a*)*b", False, "a repeat of what may be empty"),
    ("(a|a)*b", False, "two ways through one round"),
    ("(?:0|[0-9]+m)+", False, "00m is one round and two"),
    ("a*a*b", False, "two repeats of one character side by side"),
    (r"\s*,?\s*x", False, "the same with something between them that may be missing"),
    (r".*foo.*bar", False, "every foo may be the first"),
    (r"(a+)b?\1", False, "a reference backwards is not counted"),
    (r"\s+$", True, "blanks that do not end the text are tried from each of them"),
    (r"\{#.*?#\}", True, "each opening runs to the end of the text"),
    ("a(?=.*b)", True, "an assertion runs to the end of the text"),
    ("a?" * 500, False, "more positions than are compared"),
]
_GOOD = [
    ("[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?", False, "one repeat, however it ends"),
    ("[a-z.]*[a-z]", False, "what goes back once"),
    ("(a|ab)*c", False, "two equal beginnings, which the next character separates"),
    ("[a-z]+", True, "a repeat that is a match wherever it ends"),
    ("a(b*c)?", True, "a repeat behind something that it does not repeat"),
    ("^a+b", True, "tried at the beginning only"),
    (r"(?:\$\$|[^/])+", True, "a match at the end of each round"),
    (r"\[[^\[\]]*\]", True, "each opening runs to the next"),
]


@pytest.mark.parametrize(("pattern", "searched", "reason"), _BAD, ids=[pattern[:20] for pattern, _, _ in _BAD])
def test_what_is_not_linear_is_refused(pattern: str, searched: bool, reason: str) -> None:
    """The proof does not pass what is known to be slow."""
    assert reason_not_linear(pattern, 0, searched=searched, whole=not searched), reason


@pytest.mark.parametrize(("pattern", "searched", "reason"), _GOOD, ids=[pattern[:20] for pattern, _, _ in _GOOD])
def test_what_is_linear_passes(pattern: str, searched: bool, reason: str) -> None:
    """The proof does not ask for the change of a pattern that is fast."""
    assert not reason_not_linear(pattern, 0, searched=searched, whole=not searched), reason


def _growth(pattern: str, flags: int, *, searched: bool) -> float:
    """Attack a pattern, and give the most that twice the text costs more."""
    automaton = build(pattern, flags, 16)
    worst = 0.0
    for opening in openings(automaton):
        for text in attacks(automaton):
            once, twice = (steps(automaton, opening + text * number, searched=searched) for number in (50, 100))
            worst = max(worst, twice / once)
    return worst


@of_each_file
def test_attack_costs_what_its_length_is(path: str) -> None:
    """Repeats of all that a pattern distinguishes, twice as long, take at most twice the steps."""
    for place in _known(path):
        assert place.pattern is not None
        if _entry(place, _REVIEWED) or is_plain_loop(place.pattern, place.flags):
            continue
        searched = place.searched and not _entry(place, _SCANNED)
        assert _growth(place.pattern, place.flags, searched=searched) <= 2.2, f"{place.path}:{place.line}"


@pytest.mark.parametrize(
    ("pattern", "searched", "reason"), [row for row in _BAD if row[0] in {"(a|a)*b", "a*a*b", r"\{#.*?#\}", r"\s+$"}]
)
def test_attack_finds_what_is_slow(pattern: str, searched: bool, reason: str) -> None:
    """The attack sees the square and worse."""
    assert _growth(pattern, re.DOTALL, searched=searched) > 3, reason


def test_parts_that_are_not_understood_are_refused() -> None:
    """An automaton is not made of what it cannot have."""
    with pytest.raises(NotProvenError):
        build(r"(?P<a>x)(?(a)b|c)", 0, 4)
