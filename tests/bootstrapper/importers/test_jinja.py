"""Imported text is read with cloud-init's eye: facts, literals, and Jinja that stays Jinja."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.bootstrapper.importers.jinja import NotJinja, Piece, has_jinja, pieces
from slipway.v1alpha1 import content_pb2 as contentpb

LOCAL, SHORT = contentpb.FACT_KIND_LOCAL_HOSTNAME, contentpb.FACT_KIND_SHORT_HOSTNAME
FACTS = [
    ("{{ ds.meta_data.local_hostname }}", LOCAL),
    ('{{ ds.meta_data["local_hostname"] }}', LOCAL),
    ("{{ ds.meta_data['local-hostname'] }}", LOCAL),
    ("{{ local_hostname }}", SHORT),
    ("{{v1.local_hostname}}", SHORT),
    ("{{ ds.meta_data.local_hostname.split('.')[0] }}", SHORT),
    ("{{ ds.meta_data.hostname }}", contentpb.FACT_KIND_HOSTNAME),
    ("{{ instance_id }}", contentpb.FACT_KIND_INSTANCE_ID),
    ("{{ v1.instance_id }}", contentpb.FACT_KIND_INSTANCE_ID),
    ('{{ ds.meta_data["instance-id"] }}', contentpb.FACT_KIND_INSTANCE_ID),
    ("{{ v1.region }}", contentpb.FACT_KIND_REGION),
    ('{{ ds.meta_data.placement["availability-zone"] }}', contentpb.FACT_KIND_AVAILABILITY_ZONE),
    ("{{ availability_zone }}", contentpb.FACT_KIND_AVAILABILITY_ZONE),
    ("{{ ds.meta_data.local_ipv4 }}", contentpb.FACT_KIND_PRIVATE_IPV4),
    ("{{ ds.meta_data.public_ipv4 }}", contentpb.FACT_KIND_PUBLIC_IPV4),
]


@pytest.mark.parametrize(("text", "fact"), FACTS)
def test_plain_names_of_the_machine_are_facts(text: str, fact: contentpb.FactKind.ValueType) -> None:
    """An expression that only names something known of every machine is a fact."""
    assert pieces(text) == [Piece(fact=fact)]


STAYS = [
    ("{{ ds.meta_data.hostname.split('.')[0] }}", "a call"),
    ("{{ ds.meta_data.local_hostname.split('-')[0] }}", "another call"),
    ("{{ local_hostname | upper }}", "a filter"),
    ("{{ ds.meta_data.label }}", "a name that is not on the list"),
    ("{{ hostname }}", "no name of cloud-init's own"),
    ("{{ local_hostname ~ 'x' }}", "an operator"),
    ("{% if region %}{{ region }}{% endif %}", "a statement keeps the whole text"),
    ("{% raw %}{{ a }}{% endraw %}{% set x = 1 %}", "raw blocks beside a statement stay in the text"),
    ("{{ {'a': 1}['a'] }}", "braces within an expression keep the whole text"),
]


@pytest.mark.parametrize(("text", "reason"), STAYS)
def test_other_jinja_stays_jinja(text: str, reason: str) -> None:
    """What is not exactly a fact is never guessed at."""
    assert pieces(f"a {text}")[-1].template in (text, f"a {text}"), reason
    assert all(piece.fact is None for piece in pieces(f"a {text}")), reason


def test_a_mixture_is_cut_at_its_joints() -> None:
    """Literal parts, facts and Jinja stand side by side, in order."""
    got = pieces('aws:///{{ ds.meta_data.placement["availability-zone"] }}/{{ x | upper }} {# gone #}end')
    assert got == [
        Piece(text="aws:///"),
        Piece(fact=contentpb.FACT_KIND_AVAILABILITY_ZONE),
        Piece(text="/"),
        Piece(template="{{ x | upper }}"),
        Piece(text=" end"),
    ]


LITERALS = [
    ("no marks: $x {a} %b", "", "no marks: $x {a} %b", "untouched"),
    ("{% raw %}{{ .Values.x }}{% endraw %}", "", "{{ .Values.x }}", "a raw block is its text"),
    ("a {%- raw -%} b {%- endraw %} c", "", "ab c", "its trim marks cut inside and before"),
    ("{% raw %}x{% endraw %}\ny", "", "x\ny", "in quotes no newline is cut"),
    ("{% raw %}x{% endraw %}\ny", "  ", "x  y", "behind a block it is, and the indentation of the cloud-config joins"),
    ("{% raw %}x{% endraw %}\n", "  ", "x  \n", "the last line has an end all the same"),
    ("{% raw %}x{% endraw +%}\ny", "  ", "x\ny", "unless a plus says otherwise"),
    ("{{ '{{' }} .x {{ \"}}\" }}", "", "{{ .x }}", "constants are their text"),
    ("a{# c #}\nb", " ", "a b", "comments vanish with their newline"),
    ("a {#- c -#} b", "", "ab", "trim marks of comments"),
]


@pytest.mark.parametrize(("text", "indent", "literal", "reason"), LITERALS)
def test_what_only_escapes_becomes_literal(text: str, indent: str, literal: str, reason: str) -> None:
    """Raw blocks, constants and comments become the text that cloud-init would have made of them."""
    assert pieces(text, indent=indent) == [Piece(text=literal)], reason


def test_trim_marks_of_facts_cut_the_text_around() -> None:
    """White space is cut where Jinja cuts it; in quotes a newline is none."""
    fact = Piece(fact=contentpb.FACT_KIND_REGION)
    assert pieces("a \n{{- region -}} \n b", indent=" ") == [Piece(text="a"), fact, Piece(text="b")]
    assert pieces("a \n {{- region -}} \n b") == [Piece(text="a \n"), fact, Piece(text="\n b")]


SETTLED = [
    ("{% if a %}\nb\n{% endif %}\nc\n", "{% if a %}  b\n{% endif %}  c\n", "blocks join lines"),
    ("a\n{% if b %}c{% endif %}\n", "a\n{% if b %}c{% endif %}  \n", "the last line has an end all the same"),
    ("{% if a -%}\nb{% endif +%}\n", "{% if a -%}\nb{% endif +%}\n", "marks say it themselves"),
    ("{% if a %}{# b #}\n{{ c }}\n{% endif %}", "{% if a %}{# b #}  {{ c }}\n{% endif %}", "comments, not values"),
]


@pytest.mark.parametrize(("text", "settled", "reason"), SETTLED)
def test_a_template_means_the_same_at_every_indentation(text: str, settled: str, reason: str) -> None:
    """The newlines that Jinja cuts are gone, with the indentation of today's cloud-config in their place."""
    assert pieces(text, indent="  ") == [Piece(template=settled)], reason
    assert pieces(text) == [Piece(template=text)], "in quotes none is cut"


@pytest.mark.parametrize("text", ["${#array[@]}", "{{ x", "{% if", "a {% raw %} b", "{{ 'x }}", "{% endraw %}"])
def test_marks_without_their_end_are_no_jinja(text: str) -> None:
    """A bash array is not taken for a comment."""
    assert has_jinja(text)
    with pytest.raises(NotJinja):
        pieces(text)


@pytest.mark.parametrize(
    ("infrastructure", "fact"), [("openstack", contentpb.FACT_KIND_INSTANCE_ID), ("aws", None), ("", None)]
)
def test_the_uuid_is_an_instance_id_where_it_is_one(
    infrastructure: str, fact: contentpb.FactKind.ValueType | None
) -> None:
    """`uuid` means the instance only where the data source says so."""
    (piece,) = pieces("{{ ds.meta_data.uuid }}", infrastructure=infrastructure)
    assert piece.fact == fact


@given(st.text())
def test_raw_blocks_carry_every_text(text: str) -> None:
    """Whatever stands in a raw block, but for its end, arrives as it is."""
    got = pieces("{% raw %}" + text + "{% endraw %}")
    assert got == ([Piece(text=text)] if text else [])


@given(st.text(alphabet="{}%# '\"-ab.\n|", max_size=30))
def test_nothing_is_lost(text: str) -> None:
    """Any text is split or refused; a text without marks stays itself."""
    got: list[Piece] | None
    try:
        got = pieces(text)
    except NotJinja:
        got = None
    if not has_jinja(text):
        assert got == ([Piece(text=text)] if text else [])
