"""Templates of ClusterClass patches, as Go's text/template with sprig renders them.

Every expected text is what the real thing printed for the same template and data.
"""

import pytest

from slipway.bootstrapper.importers.cluster_api.class_variables import numbers_as_in_go
from slipway.bootstrapper.importers.go_template import render_as
from slipway.bootstrapper.importers.go_template_dialect import UNKNOWN, Dialect, GoTemplateError
from slipway.bootstrapper.importers.sprig import SPRIG

DATA = {
    "n": 4,
    "big": 1000000,
    "f": 2.5,
    "s": "a-b-c",
    "t": 'Äb\n"c" d',
    "l": ["x", "y"],
    "lo": [{"a": 1, "b": [True, None, "q"]}],
    "o": {"k": "v", "n": 3, "x": None},
    "e": "",
    "yes": True,
    "v": "v1.31.2",
    "vp": "v1.31.0-alpha.1",
    "script": "A=1\nKUBERNETES_VERSION=v1.2\nB=2\n",
    "made": {"name": UNKNOWN},
}
RENDERED = [
    (
        "{{.n}} {{.big}} {{.f}} {{.l}} {{.lo}} {{.o}}",
        "4 1e+06 2.5 [x y] [map[a:1 b:[true <nil> q]]] map[k:v n:3 x:<nil>]",
    ),
    ('{{.s | replace "-" "_"}}', "a_b_c"),
    ('{{ default "d" .e }} {{default "d" .s}} {{.missing | default "x"}}', "d a-b-c x"),
    ('{{printf "%q" .t}}', r'"Äb\n\"c\" d"'),
    ("{{ (index .lo 0).a }}{{index .o `k`}}", "1v"),
    ("{{(index .lo 0).b | toJson}}", '[true,null,"q"]'),
    ('{{ if and .yes (eq .s "a-b-c") }}1{{else}}2{{end}}', "1"),
    ("{{quote .s .n .e}}|{{squote .s}}", '"a-b-c" "4" ""|\'a-b-c\''),
    ("{{trunc 3 .s}} {{trunc -3 .s}} {{trunc 99 .s}}", "a-b b-c a-b-c"),
    ('{{join "," .l}} {{join "," .s}}', "x,y a-b-c"),
    ('{{toJson "<a&>"}}', r'"\u003ca\u0026\u003e"'),
    ("{{b64enc .s | b64dec}}", "a-b-c"),
    (
        '{{regexReplaceAll "(KUBERNETES_VERSION=.*)" .script (printf "KUBERNETES_VERSION=%s" .v)}}',
        "A=1\nKUBERNETES_VERSION=v1.31.2\nB=2\n",
    ),
    ('{{regexReplaceAll "(A)=([0-9])" .script "$2=$1"}}', "1=A\nKUBERNETES_VERSION=v1.2\nB=2\n"),
    ('{{semverCompare "< v1.25-0" .v}} {{semverCompare ">=1.31, <1.33" .v}}', "false true"),
    ('{{semverCompare ">= 1.31.0-0" .vp}} {{semverCompare ">= 1.30.0" .vp}}', "true false"),
    ('{{$v := semver .v}}{{printf "v%d.%d" $v.Major $v.Minor}}', "v1.31"),
    ('{{$a := "x"}}{{if .yes}}{{$a := "y"}}{{$a}}{{end}}{{$a}}', "yx"),
    ('{{eq .missing "a"}} {{ne .missing "a"}} {{if .q.w.e}}a{{end}}{{$.s}}', "false true a-b-c"),
]
REFUSED = [
    # Go refuses these, too.
    "{{eq .n 4}}",
    "{{.s.x}}",
    "{{index .l 5}}",
    "{{if .yes}}{{$q := 1}}{{end}}{{$q}}",
    # Go prints <no value> here, or takes a name of another group: a slip.
    "{{.missing}}",
    '{{regexReplaceAll "(A)" .script "$1x"}}',
    # Go and Python differ here, or it is not known here at all.
    '{{regexReplaceAll "B*" "aBc" "-"}}',
    '{{regexReplaceAll "(?i)a" .s "-"}}',
    '{{semverCompare "~1.2" .v}}',
    "{{range .l}}{{.}}{{end}}",
    "{{with .s}}{{.}}{{end}}",
    "{{now}}",
    "{{semver .v}}",
    # Nobody knows it here.
    "{{.made.name}}",
    "{{toJson .made}}",
]


def rendered(template: str) -> str:
    """Render over the data."""
    return render_as(template, Dialect(numbers_as_in_go(DATA), SPRIG))


@pytest.mark.parametrize(("template", "text"), RENDERED)
def test_a_template_gives_what_go_gives(template: str, text: str) -> None:
    """Fields, numbers, functions and variables."""
    assert rendered(template) == text


@pytest.mark.parametrize("template", REFUSED)
def test_what_is_not_surely_the_same_is_refused(template: str) -> None:
    """Nothing is guessed, and no message repeats a value."""
    with pytest.raises(GoTemplateError) as caught:
        rendered(template)
    assert "a-b-c" not in str(caught.value)
