"""Variables of templates are filled in as clusterctl does, and what is missing is named."""

import re
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.importers.placeholders import SSH_KEY, placeholder
from slipway.bootstrapper.importers.substitution import expand, expand_all
from slipway.contract.source_position import Position, SourceError

pytestmark = pytest.mark.long

VARIABLES = {
    "A": "abcDEF",
    "B": "xyz",
    "E": "",
    "F": "bash.string.txt",
    "P": "/path/to/file",
    "U": "äbc",
    "S": "foo/bar/baz",
    "IPS": "10.0.0.1,10.0.0.2",
}

EXPANSIONS = [
    ("plain text, $A, $(pwd), $", "plain text, $A, $(pwd), $", "only braces are substitutions"),
    ("${A}", "abcDEF", "a value"),
    ("${ A } ${A } ${ A}", "abcDEF abcDEF abcDEF", "the old form with spaces"),
    ("$${A} $$A $$", "${A} $A $", "a doubled dollar is one dollar"),
    ("$$${A}", "$abcDEF", "three dollars: one and a value"),
    ("$${X=${A}}", "${X=abcDEF}", "behind an escaped brace everything goes on as text"),
    ("${E}", "", "a variable set to nothing is set"),
    ("${X:=d} ${X:-d} ${X=d} ${X:+d} ${X:?d}", "d d d d d", "all of them are defaults"),
    ("${A:=d} ${A:-d} ${A=d} ${A:+d} ${A:?d}", " ".join(["abcDEF"] * 5), "a value wins over all of them"),
    ("${E:=d} ${E=d}", "d d", "a default also replaces an empty value"),
    ("${E:=}", "", "an empty default of a variable that is set"),
    ("${X:=$$y}", "$$y", "no escapes in defaults"),
    ('${X:=""}', '""', "quotes are text"),
    ("${X:=a: b\n}", "a: b\n", "a default may have lines"),
    ("${X:=p-${A}-s}", "p-abcDEF-s", "a default is a mixture"),
    ("${X:=${Y:=${B^^}}}", "XYZ", "defaults nest"),
    (
        "${X:=d}}",
        "d}",
        "the default ends at the first brace",
    ),
    ("${#A} ${#U} ${#E}", "6 4 0", "lengths count bytes"),
    ("${A^} ${A^^} ${A,} ${A,,} ${B^}", "AbcDEF ABCDEF abcDEF abcdef Xyz", "case"),
    ("${A:2} ${A:0:3} ${A:1:2}", "cDEF abc bc", "substrings"),
    ("${A: -2} ${A:9} ${A:2:99}", "abcDEF  cDEF", "an offset that is no number gives the value"),
    ("${A:x} ${A:1:x}", "abcDEF abcDEF", "so does a length"),
    ("${U:0:2}", "ä", "substrings count bytes"),
    ("${F#*.} ${F##*.}", "string.txt txt", "prefixes"),
    ("${F%.*} ${F%%.*}", "bash.string bash", "suffixes"),
    ("${P#*/} ${P##*/} ${P%/*}", "path/to/file file /path/to", "a star also matches a slash"),
    ("${F##*s*st}", "ring.txt", "stars take no more than they must"),
    ("${A#[a-b]} ${A#[^b]} ${A#?b} ${A#[z} ${A%[F]}", "bcDEF bcDEF cDEF abcDEF abcDEF", "classes"),
    ("${S/\\//-} ${S//\\//-} ${S/o/} ${S//o/}", "foo-bar/baz foo-bar-baz fo/bar/baz f/bar/baz", "replace"),
    ("${A/#abc/X} ${A/#DEF/X} ${A/%DEF/X} ${A/%abc/X}", "XDEF abcDEF abcX abcDEF", "anchored replacements"),
    ("${A/#abc/} ${A/%DEF/}", "abcDEF abcDEF", "anchored removals do nothing, as upstream"),
    ("${A/${A:0:1}/${B}}", "xyzbcDEF", "arguments may be substitutions"),
    ("${IPS//,/$${Q}}", "10.0.0.1${Q10.0.0.2}", "an escape in a replacement; it ends at the first brace"),
]


@pytest.mark.parametrize("case", EXPANSIONS, ids=lambda case: case[0])
def test_every_form_is_filled_in(case: tuple[str, str, str]) -> None:
    """Each form gives what drone/envsubst gives for it."""
    text, wanted, reason = case
    got = expand(text, file="f", variables=VARIABLES).text
    assert got == wanted, reason


MALFORMED = [
    ("a\n${A", (2, 1), "a ${ without its }", "never closed"),
    ("${}", (1, 1), "a variable's name is missing", "no name"),
    ("${!A}", (1, 1), "a variable's name is missing", "indirection is not clusterctl's"),
    ("${A-d}", (1, 1), "a ${ without its }", "a bare dash is not clusterctl's"),
    ("${A[@]}", (1, 1), "a ${ without its }", "a bash array must be escaped"),
    ("${A#}", (1, 5), "something is missing", "no pattern"),
    ("${A:}", (1, 5), "something is missing", "no offset"),
    ("${A/x}", (1, 7), "a / is missing", "no replacement"),
    ("${A:1:-1}", (1, 1), "a substring cannot have a negative length", "clusterctl crashes on it"),
    ("${X:=" * 30 + "}" * 30, (1, 101), "substitutions nested deeper", "endless nesting"),
]


@pytest.mark.parametrize(("text", "place", "message", "reason"), MALFORMED)
def test_malformed_substitutions_are_refused(text: str, place: tuple[int, int], message: str, reason: str) -> None:
    """What clusterctl cannot read is an error with its place."""
    with pytest.raises(SourceError) as caught:
        expand(text, file="f", variables={"A": "secretvalue"})
    (problem,) = caught.value.problems
    assert (problem.file, problem.position) == ("f", Position(*place)), reason
    assert problem.message.startswith(message), reason
    assert "secretvalue" not in str(caught.value)


def test_all_undefined_variables_are_named_in_one_error() -> None:
    """One error names every variable of every file, with file and line of each use."""
    texts = {
        "a.yaml": "x: ${ONE}\ny: ${TWO:=d}\nz: ${ONE}\nw: ${FOUR/a/b} ${FIVE:-}\n",
        "b.yaml": "x: ${THREE:=${ONE}}\ny: ${SET:=${SIX}}\n",
    }
    with pytest.raises(SourceError) as caught:
        expand_all(texts, variables={"SET": "1"})
    assert str(caught.value).split("\n") == [
        "a.yaml:1:4: the variable ONE is not set, also used in line 3",
        "a.yaml:4:4: the variable FOUR is not set",
        "a.yaml:4:16: the variable FIVE is not set",
        "b.yaml:1:13: the variable ONE is not set",
    ]


def test_a_default_at_the_first_use_serves_for_clusterctl() -> None:
    """As with clusterctl a later use without a default is empty then, but a note says so."""
    got = expand("${X:=d} [${X}]", file="f", variables={})
    assert got.text == "d []"
    assert [(note.position, "X" in note.message) for note in got.notes] == [(Position(1, 10), True)]


def test_missing_variables_get_placeholders() -> None:
    """With set_missing each missing variable gets one plausible value, and one note."""
    got = expand_all({"f": "${CLUSTER_NAME} ${A:=${POD_CIDR}} ${CLUSTER_NAME}"}, variables={}, set_missing=True)
    assert got["f"].text == "placeholder-cluster-name 192.168.0.0/16 placeholder-cluster-name"
    assert [note.position for note in got["f"].notes] == [Position(1, 1), Position(1, 22)]


def test_a_placeholder_for_one_file_serves_the_others() -> None:
    """Files that belong together see the same value."""
    got = expand_all({"a": "${X}", "b": "${X}"}, variables={}, set_missing=True)
    assert got["a"].text == got["b"].text
    assert len(got["a"].notes) + len(got["b"].notes) == 1


def test_places_lead_back_to_the_file() -> None:
    """A place behind values of several lines is told as the place in the file."""
    text = "a: ${LONG}\nb: $${x} ${A} here\n"
    got = expand(text, file="f", variables={"LONG": "1\n2\n3", "A": "v"})
    assert got.text == "a: 1\n2\n3\nb: ${x} v here\n"
    assert got.original(Position(3, 1)) == Position(1, 4)
    assert got.original(Position(4, 1)) == Position(2, 1)
    assert got.original(Position(4, 9)) == Position(2, 10)
    assert got.original(Position(4, 11)) == Position(2, 15)


@pytest.mark.parametrize(
    "text", ["${A//a/" + "x" * 5_000_000 + "}", "${A}" * 5], ids=["one replacement", "many values"]
)
def test_the_result_is_bounded(text: str) -> None:
    """A small template cannot grow without bound."""
    with pytest.raises(SourceError, match="larger than"):
        expand(text, file="f", variables={"A": "a" * 2_000_000})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("$$" * 100_001, "f:1:200001: more than 100000 of"),
        ("${A}" * 100_001, "f:1:400001: more than 100000 of"),
        ("a" * (8 * 1024 * 1024 + 1), "f: larger than 8388608 characters: split the file"),
    ],
    ids=["escapes", "calls", "characters"],
)
def test_the_text_is_bounded(text: str, message: str) -> None:
    """Each part is kept with its place, so there are not any number of them."""
    with pytest.raises(SourceError, match=re.escape(message)):
        expand(text, file="f", variables={"A": "a"})


@pytest.mark.parametrize(
    "text",
    ["k" * 1_000_000, "\n" * 1_000_000, "$" + "a$" * 500_000, "${A:=" + "d" * 1_000_000 + "}"],
    ids=["one line", "lines", "dollars", "a default"],
)
def test_memory_is_a_small_multiple_of_the_text(text: str) -> None:
    """Text that holds no variable costs about what it is, whatever stands in it."""
    tracemalloc.start()
    try:
        expand(text, file="f", variables={})
        assert tracemalloc.get_traced_memory()[1] < 25_000_000
    finally:
        tracemalloc.stop()


NAMES = [
    ("KUBERNETES_VERSION", r"v1\.\d+\.\d+"),
    ("KUBERNETES_VERSION_UPGRADE_FROM", r"v1\.\d+\.\d+"),
    ("CONTROL_PLANE_MACHINE_COUNT", "3"),
    ("WORKER_MACHINE_COUNT", "1"),
    ("DOCKER_SERVICE_CIDRS", r"10\.96\.0\.0/12"),
    ("DOCKER_POD_IPV6_CIDRS", r"2001:db8:1::/64"),
    ("DOCKER_SERVICE_IPV6_CIDRS", r"2001:db8:2::/112"),
    ("CLOUDSTACK_DISK_OFFERING_DEVICE", "/dev/vdb"),
    ("CLOUDSTACK_DISK_OFFERING_FILESYSTEM", "ext4"),
    ("CLOUDSTACK_DISK_OFFERING_MOUNT_PATH", "/mnt/placeholder"),
    ("DOCKER_POD_CIDRS", r"192\.168\.0\.0/16"),
    ("CONTROL_PLANE_ENDPOINT_IP", r"192\.0\.2\.\d+"),
    ("CONTROL_PLANE_ENDPOINT_PORT", "6443"),
    ("VSPHERE_SSH_AUTHORIZED_KEY", re.escape(SSH_KEY)),
    ("AWS_SSH_KEY_NAME", "placeholder-aws-ssh-key-name"),
    ("AZURE_CLIENT_SECRET_B64", "cGxhY2Vob2xkZXI="),
    ("DOCKER_SERVICE_DOMAIN", "cluster.local"),
    ("NAMESPACE", "default"),
    ("SOMETHING_ELSE", "placeholder-something-else"),
]


@pytest.mark.parametrize(("name", "pattern"), NAMES)
def test_placeholders_fit_their_names(name: str, pattern: str) -> None:
    """A name tells what kind of value fits."""
    assert re.fullmatch(pattern, placeholder(name))


def test_placeholders_of_names_differ() -> None:
    """Two variables never get the same name, however long they are or whatever their case is; each is a DNS label."""
    names = ["A_B", "a_b", "A__B", "_A_B", "N" * 60 + "X", "N" * 60 + "Y"]
    labels = {placeholder(name) for name in names}
    assert len(labels) == len(names)
    assert all(re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,40}[a-z0-9])?", label) for label in labels)


@given(st.text(alphabet="${}:=-#%/^,A \\\n", max_size=40))
def test_any_template_is_filled_in_or_refused(text: str) -> None:
    """No text leads to anything but a result or an error with a place."""
    problems = ()
    try:
        expand(text, file="f", variables={"A": "a/b"}, set_missing=True)
    except SourceError as error:
        problems = error.problems
    assert all(problem.position for problem in problems)


@given(st.text())
def test_escaping_keeps_every_text(text: str) -> None:
    """Doubling the dollars of a text gives it back unchanged, and every place with it."""
    got = expand(text.replace("$", "$$"), file="f", variables={})
    assert got.text == text
