"""Today's kubeadm provider lets cloud-init render every cloud-config as Jinja; imported text is read so.

An expression that only names something of the machine (`{{ ds.meta_data.local_hostname }}`) becomes a machine
fact, which every provisioner can have. Raw blocks and constants become the text that they stand for. Whatever
else is Jinja stays Jinja, and only cloud-init can render it: filters and calls are never guessed at, but for the
one call that is a fact of its own (the host name up to its first dot).

Sources: cloud-init's instance-data page and its Jinja settings (trim_blocks), Jinja's lexer.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import groupby

from slipway.bootstrapper.importers.jinja_expression import is_expression, is_statement
from slipway.v1alpha1 import content_pb2 as contentpb

CLOUD_CONFIG_INDENT = " " * 6
"""What stands before each line of a file's content in the cloud-config of today's provider."""

_MARKS = re.compile(r"\{\{|\{%|\{#")
_STRING = r"\"(?:\\.|[^\"\\])*+\"|'(?:\\.|[^'\\])*+'"
_RAW = re.compile(
    r"\{%[-+]?\s*raw\s*(?P<after_start>-?)%\}(?P<body>.*?)\{%(?P<before_end>[-+]?)\s*endraw\s*[-+]?%\}",
    re.DOTALL,
)
_TOKENS = {
    "{{": re.compile(rf"\{{\{{[-+]?(?P<body>(?:{_STRING}|(?![-+]?\}}\}})[^\"'])*+)[-+]?\}}\}}", re.DOTALL),
    "{%": re.compile(rf"\{{%[-+]?(?P<body>(?:{_STRING}|(?![-+]?%\}})[^\"'])*+)[-+]?%\}}", re.DOTALL),
    "{#": re.compile(r"\{#(?P<body>.*?)#\}", re.DOTALL),
}
_LANGUAGE = {"{{": is_expression, "{%": is_statement}
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*|\[(?:\"[A-Za-z0-9_-]+\"|'[A-Za-z0-9_-]+')\])*+")
_SHORTENED = re.compile(r"ds\.meta_data\.local_hostname\.split\((?:\"\.\"|'\.')\)\[0\]")
_CONSTANT = re.compile(r"\"([^\"\\]*)\"|'([^'\\]*)'")

_META = {
    "local_hostname": contentpb.FACT_KIND_LOCAL_HOSTNAME,
    "hostname": contentpb.FACT_KIND_HOSTNAME,
    "instance_id": contentpb.FACT_KIND_INSTANCE_ID,
    "local_ipv4": contentpb.FACT_KIND_PRIVATE_IPV4,
    "public_ipv4": contentpb.FACT_KIND_PUBLIC_IPV4,
    "ipv6": contentpb.FACT_KIND_IPV6,
    "instance_type": contentpb.FACT_KIND_INSTANCE_TYPE,
    "availability_zone": contentpb.FACT_KIND_AVAILABILITY_ZONE,
    "placement.availability_zone": contentpb.FACT_KIND_AVAILABILITY_ZONE,
    "placement.region": contentpb.FACT_KIND_REGION,
}
# cloud-init's own standard names: its local_hostname ends before the first dot, unlike the data source's.
_STANDARD = {
    "local_hostname": contentpb.FACT_KIND_SHORT_HOSTNAME,
    "instance_id": contentpb.FACT_KIND_INSTANCE_ID,
    "region": contentpb.FACT_KIND_REGION,
    "availability_zone": contentpb.FACT_KIND_AVAILABILITY_ZONE,
}
_FACTS = {
    **{f"ds.meta_data.{name}": fact for name, fact in _META.items()},
    **{f"v1.{name}": fact for name, fact in _STANDARD.items()},
    **_STANDARD,
}
# The data sources of these infrastructures take the instance id from "uuid".
_UUID_IS_INSTANCE_ID = frozenset({"openstack", "metal"})


class NotJinja(ValueError):  # noqa: N818 - it is a finding, not a fault
    """The text has Jinja's marks but is no template; today cloud-init gives up on the whole user data."""


@dataclass(frozen=True)
class Piece:
    """A part of a text: literal text, a machine fact, or Jinja. Exactly one is set."""

    text: str = ""
    fact: contentpb.FactKind.ValueType | None = None
    template: str | None = None


@dataclass(frozen=True)
class _Token:
    kind: str
    source: str
    body: str = ""

    @property
    def trims_before(self) -> bool:
        return self.kind != "text" and self.source[2:3] == "-"

    @property
    def trims_after(self) -> bool:
        return self.kind != "text" and self.source[-3:-2] == "-"

    @property
    def eats_newline(self) -> bool:
        return self.kind in {"{#", "{%", "raw"} and self.source[-3:-2] not in {"-", "+"}


def has_jinja(text: str) -> bool:
    """Return whether cloud-init would find anything of Jinja in the text."""
    return _MARKS.search(text) is not None


def any_fact(_kind: contentpb.FactKind.ValueType) -> bool:
    """Take every name that means a fact for that fact."""
    return True


def pieces(
    text: str,
    *,
    infrastructure: str = "",
    indent: str = "",
    takes: Callable[[contentpb.FactKind.ValueType], bool] = any_fact,
) -> list[Piece]:
    """Split a text into literal parts, machine facts and Jinja.

    Args:
        text: the text, as it stands in the foreign config.
        infrastructure: where the machine runs, if known.
        indent: what stands before each line of the text in the cloud-config; Jinja cuts the newline behind a
            block and thereby joins the next line's indentation. Empty: the text stands there in quotes, with its
            newlines escaped, and Jinja cuts none.
        takes: whether a fact can be found on the machine; what means another one stays Jinja.

    Raises:
        NotJinja: a mark of Jinja without its end, or another language between the marks.
    """
    if not has_jinja(text):
        return [Piece(text=text)] if text else []
    tokens = list(_tokens(text))
    result = [_piece(token, infrastructure, takes) for token in tokens]
    unsplittable = any(
        token.kind == "{%" or (piece.template is not None and re.search(r"[{}]", token.body))
        for token, piece in zip(tokens, result, strict=True)
    )
    if unsplittable:
        return [Piece(template=_settled(tokens, indent))]
    return _joined(_trimmed(tokens, result, indent))


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while position < len(text):
        mark = _MARKS.search(text, position)
        if mark is None:
            yield _Token("text", text[position:], text[position:])
            return
        if mark.start() > position:
            yield _Token("text", text[position : mark.start()], text[position : mark.start()])
        raw = _RAW.match(text, mark.start())
        token = raw or _TOKENS[mark[0]].match(text, mark.start())
        if token is None or (raw is None and re.match(r"\{%[-+]?\s*(end)?raw\b", token[0])):
            raise NotJinja("a mark of Jinja without its end")
        if raw is None and mark[0] in _LANGUAGE and not _LANGUAGE[mark[0]](token["body"]):
            raise NotJinja("another language between the marks")
        yield (_Token("raw", token[0], _raw_body(raw)) if raw else _Token(mark[0], token[0], token["body"].strip()))
        position = token.end()


def _raw_body(raw: re.Match[str]) -> str:
    body = raw["body"]
    body = body.lstrip() if raw["after_start"] == "-" else body
    return body.rstrip() if raw["before_end"] == "-" else body


def _piece(token: _Token, infrastructure: str, takes: Callable[[contentpb.FactKind.ValueType], bool]) -> Piece:
    if token.kind in {"text", "raw"}:
        return Piece(text=token.body)
    if token.kind == "{#":
        return Piece()
    if token.kind == "{{":
        constant = _CONSTANT.fullmatch(token.body)
        if constant:
            return Piece(text=constant[1] or constant[2] or "")
        fact = _fact(token.body, infrastructure)
        if fact is not None and takes(fact):
            return Piece(fact=fact)
    return Piece(template=token.source)


def _fact(expression: str, infrastructure: str) -> contentpb.FactKind.ValueType | None:
    if _SHORTENED.fullmatch(expression):
        return contentpb.FACT_KIND_SHORT_HOSTNAME
    if not _NAME.fullmatch(expression):
        return None
    name = re.sub(r"\[[\"']([^\"']+)[\"']\]", r".\1", expression).replace("-", "_")
    if name == "ds.meta_data.uuid" and infrastructure in _UUID_IS_INSTANCE_ID:
        return contentpb.FACT_KIND_INSTANCE_ID
    return _FACTS.get(name)


def _trimmed(tokens: list[_Token], pieces: list[Piece], indent: str) -> Iterator[Piece]:
    """Cut the white space that Jinja cuts around its blocks."""
    for index, (token, piece) in enumerate(zip(tokens, pieces, strict=True)):
        if token.kind != "text":
            yield piece
            continue
        text = piece.text
        before, after = tokens[index - 1] if index else None, tokens[index + 1 : index + 2]
        blanks = None if indent else " "
        if before and before.trims_after:
            text = text.lstrip(blanks)
        elif before:
            text = _joined_line(before, text, indent, last=not after)
        if after and after[0].trims_before:
            text = text.rstrip(blanks)
        yield Piece(text=text)


def _settled(tokens: list[_Token], indent: str) -> str:
    """Give a template without the newlines that Jinja cuts, which are others where it is indented otherwise."""
    lines = [
        _joined_line(before, token.source, indent, last=token is tokens[-1]) if token.kind == "text" else token.source
        for before, token in zip([None, *tokens], tokens, strict=False)
    ]
    return "".join(lines)


def _joined_line(before: _Token | None, text: str, indent: str, *, last: bool) -> str:
    """Give the text behind a token as today's cloud-config has it when Jinja has cut the newline between them.

    There a newline stands behind the whole content, too, so that the last line has an end all the same.
    """
    if before is None or not before.eats_newline or not indent or not text.startswith("\n"):
        return text
    return indent + text[1:] + ("\n" if last and text == "\n" else "")


def _joined(parts: Iterator[Piece]) -> list[Piece]:
    """Put literal parts together that stand side by side; the empty ones vanish."""
    result: list[Piece] = []
    for literal, group in groupby(parts, lambda part: part.fact is None and part.template is None):
        pieces = list(group)
        text = "".join(piece.text for piece in pieces) if literal else ""
        result += [Piece(text=text)] if text else [] if literal else pieces
    return result
