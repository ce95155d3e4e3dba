"""Line breaks behind Jinja's blocks stay, whatever the blocks hold, and the search for them reads a text once."""

import sys

import pytest

from slipway.provisioners.cloud_init.jinja import contained

KEPT = "{{ '' }}"
LENGTH = 30_000


@pytest.mark.parametrize(
    ("template", "expected", "reason"),
    [
        ("{{ a }}", "{{ a }}", "an expression cuts nothing"),
        ("{% if a %}", "{% if a %}" + KEPT, "a block cuts the line break behind it"),
        ("{% if a %} b", "{% if a %} b", "behind this one there is none"),
        ("{# a #}\nb", "{# a #}" + KEPT + "\nb", "so does a comment"),
        ("{% if a +%}\nb", "{% if a +%}\nb", "a plus keeps it"),
        ("{%- if a %}", KEPT + "{%- if a %}" + KEPT, "a minus cuts what is before"),
        ("{{ a -}}", "{{ a -}}" + KEPT, "and what is behind"),
        ("{% if '%}' %}\nb", "{% if '%}' %}" + KEPT + "\nb", "an end within a string is none"),
        ("{{ '{#' }}\n#}\n", "{{ '{#' }}\n#}\n", "nor is a start"),
        ("{% raw %}{# a #}\n{% endraw %}\nb", "{% raw %}{# a #}\n{% endraw %}" + KEPT + "\nb", "raw text is text"),
        ("{# a", "{# a", "what is never closed is as it is"),
        ("{% 'a", "{% 'a", "nor a string"),
    ],
)
def test_line_breaks_are_kept(template: str, expected: str, reason: str) -> None:
    """Only where Jinja would cut a line break stands an expression that gives nothing."""
    assert contained(template) == expected, reason


PUMPS = (
    "{#",
    "{# #}",
    "{# #}\n",
    "{%",
    "{% raw ",
    "{% raw %}",
    "{% x %}\n",
    "{% '",
    '{% "',
    "{%'' ",
    "{{",
    "{{ '",
    "}",
    "{",
)


@pytest.mark.parametrize("pump", PUMPS)
def test_a_text_is_read_once(pump: str) -> None:
    """Twice the text is twice the work, counted in calls of the pattern matcher and of str.find."""

    def calls(length: int) -> int:
        count = 0

        def watch(_frame: object, event: str, called: object) -> None:
            nonlocal count
            if event == "c_call" and getattr(called, "__name__", "") in {"search", "match", "find"}:
                count += 1

        sys.setprofile(watch)
        try:
            contained((pump * length)[:length])
        finally:
            sys.setprofile(None)
        return count

    assert calls(LENGTH) <= 2 * calls(LENGTH // 2) + 10
