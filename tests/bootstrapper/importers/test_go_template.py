"""contentFormat Template: what is understood is rendered as Go renders it, the rest is refused."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.importers.go_template import render
from slipway.bootstrapper.importers.go_template_dialect import GoTemplateError

VERSION = "v1.34.2"
RENDERED = [
    ("v={{ .controlPlane.version }}", "v=v1.34.2", "the value"),
    ("{{.controlPlane.version}}", "v1.34.2", "without spaces"),
    ("a {{- .controlPlane.version -}} \n b", "av1.34.2b", "trim markers"),
    ("{{/* comment */}}x{{- /* another */ -}} \ny", "xy", "comments"),
    ("{{ if .controlPlane }}yes{{ else }}no{{ end }}", "yes", "if"),
    ("{{if not .controlPlane}}a{{else if true}}b{{else}}c{{end}}", "b", "else if"),
    ("{{ if .controlPlane }}{{ if false }}a{{ end }}b{{ end }}c", "bc", "nested"),
    ("{{ slice .controlPlane.version 1 }} {{ slice .controlPlane.version 1 5 }}", "1.34.2 1.34", "slice"),
    ('{{ .controlPlane.version | printf "%s-%s" "k" }}', "k-v1.34.2", "a pipeline"),
    ('{{ if eq (slice .controlPlane.version 0 5) "v1.34" "v1.35" }}y{{ end }}', "y", "eq with several"),
    ('{{ if and (ge .controlPlane.version "v1.30.0") (lt .controlPlane.version "v1.40.0") }}y{{ end }}', "y", "order"),
    ('{{ "{{ .x }}" }}{{ `a\\b` }}{{ "\\t\\"" }}', '{{ .x }}a\\b\t"', "constants"),
    (
        "{{ len .controlPlane.version }} {{ print .controlPlane.version }} {{ true }} {{ 3 }}",
        "7 v1.34.2 true 3",
        "more",
    ),
    ("{{ or .controlPlane.version `none` }}", "v1.34.2", "or"),
    ("no template } at {all }}", "no template } at {all }}", "text"),
]


@pytest.mark.parametrize(("template", "wanted", "reason"), RENDERED)
def test_templates_render_as_in_go(template: str, wanted: str, reason: str) -> None:
    """Each construct gives what text/template gives."""
    assert render(template, VERSION) == wanted, reason


REFUSED = [
    (
        "{{ range .controlPlane.version }}{{ end }}",
        "range is not understood here: write out what it makes (line 1",
        "range",
    ),
    (
        "{{/* b\nc */}}\nd{{ if true }}\n{{ x }}{{ end }}",
        "a function or statement that is not understood here (line 4",
        "its line",
    ),
    ("{{ with .controlPlane }}{{ end }}", "with is not understood here: write out what it makes (line 1", "with"),
    ('{{ define "x" }}{{ end }}', "define is not understood here: write out", "define"),
    ("{{ $v := .controlPlane.version }}", "an expression that is not", "variables"),
    ("{{ .Values.x }}", "only .controlPlane.version", "another field"),
    ("{{ .controlPlane }}", "only .controlPlane.version", "a map"),
    ("{{ upper .controlPlane.version }}", "a function or statement", "an unknown function"),
    ("{{ slice .controlPlane.version 99 }}", "a function with arguments", "out of range"),
    ("{{ eq .controlPlane.version 1 }}", "a function with arguments", "types that differ"),
    ('{{ printf "%q" "x" }}', "a function with arguments", "a verb"),
    ("{{ if .controlPlane }}", "an if without its end", "no end"),
    ("{{ end }}", "an else or end", "no if"),
    ("{{ if true }}{{ else }}{{ else }}{{ end }}", "an if without its end", "two elses"),
    ("{{ .controlPlane.version", "a {{ without its }}", "no closing"),
    ("{{ (slice .controlPlane.version 1 }}", "a ( without its )", "no closing parenthesis"),
    ('{{ "\\q" }}', "an escape", "an escape"),
    ("{{ }}", "an expression that is not", "empty"),
    ("{{ if true }}" * 60 + "{{ end }}" * 60, "nested deeper", "endless nesting"),
    ("{{ " + "(" * 60 + "true" + ")" * 60 + " }}", "nested deeper", "endless parentheses"),
    (('{{ print "' + "x" * 600_000 + '" }}') * 2, "larger than", "too large"),
]


@pytest.mark.parametrize(("template", "message", "reason"), REFUSED)
def test_what_is_not_understood_is_refused(template: str, message: str, reason: str) -> None:
    """A refusal says why and repeats nothing of the template."""
    with pytest.raises(GoTemplateError, match="^" + re.escape(message)):
        render(template, VERSION)
    assert reason


def test_an_unknown_version_can_only_be_guarded() -> None:
    """Go would print <no value>; here that is an error, unless a condition asks first."""
    assert render("{{ if .controlPlane }}{{ .controlPlane.version }}{{ end }}ok", "") == "ok"
    assert render("{{ if .controlPlane.version }}{{ slice .controlPlane.version 1 }}{{ end }}ok", "") == "ok"
    with pytest.raises(GoTemplateError, match="version is not known"):
        render("{{ .controlPlane.version }}", "")


@given(st.text(st.characters(codec="utf-8", exclude_characters="{")))
def test_text_without_actions_is_itself(text: str) -> None:
    """A template without actions renders to itself."""
    assert render(text, VERSION) == text


@given(st.text(alphabet='{} .-|()"`aif end', max_size=40))
def test_any_template_renders_or_is_refused(text: str) -> None:
    """No template leads to anything but text or a GoTemplateError."""
    result = None
    try:
        result = render(text, VERSION)
    except GoTemplateError as error:
        result = str(error)
    assert isinstance(result, str)
