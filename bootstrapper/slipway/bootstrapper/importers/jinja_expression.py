"""Tells an expression of Jinja from what other languages put between the same braces.

Go templates, Helm and Prometheus write `{{ .PodCIDR }}`. To Jinja that is a syntax error, for which cloud-init drops
the whole user data. Only what no expression of Jinja can be is refused: a dot without a value before it, an operator
without a value beside it, two values side by side, signs that the language does not have, filters that it lacks.

Sources: Jinja's lexer and parser, its list of builtin filters.
"""

import re

_TOKEN = re.compile(
    r"\s*(?:(?P<value>\d[\d_]*(?:\.\d+)?(?:[eE][+-]?\d+)?|\"(?:\\.|[^\"\\])*+\"|'(?:\\.|[^'\\])*+')|(?P<name>[^\W\d]\w*)"
    r"|(?P<open>[(\[{])|(?P<close>[)\]}])|(?P<sign>//|\*\*|[=!<>]=|[-+*/%~<>=|.,:]))",
    re.DOTALL,
)
_BETWEEN = frozenset({"and", "or", "in", "is", "if", "else", "not"})
_MAY_START = frozenset({"-", "+", "*", "**", ":"})
_MAY_END = frozenset({",", ":"})
_FILTER = re.compile(
    "abs|attr|batch|capitalize|center|count|d|default|dictsort|e|escape|filesizeformat|first|float"
    "|forceescape|format|groupby|indent|int|items|join|last|length|list|lower|map|max|min|pprint|random"
    "|reject|rejectattr|replace|reverse|round|safe|select|selectattr|slice|sort|string|striptags|sum"
    "|title|tojson|trim|truncate|unique|upper|urlencode|urlize|wordcount|wordwrap|xmlattr"
)
_TAG = re.compile(
    "autoescape|block|call|do|elif|else|endautoescape|endblock|endcall|endfilter|endfor|endif|endmacro"
    "|endset|endwith|extends|filter|for|from|if|import|include|macro|set|with"
)


def is_statement(text: str) -> bool:
    """Return whether a text between `{%` and `%}` begins as a statement of Jinja, with the extension of cloud-init."""
    return _TAG.fullmatch(text.split(maxsplit=1)[0] if text.strip() else "") is not None


def is_expression(text: str) -> bool:
    """Return whether a text between `{{` and `}}` can be an expression of Jinja."""
    position, before, kind, tested = 0, "", "sign", False
    closing: list[str] = []
    text = text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            return False
        word, now = match[match.lastgroup or 0], match.lastgroup
        if word == "." and match[0] != word and not text[match.end() :][:1].isspace():
            # Jinja would take `json .Name` for one name, but nobody writes it so.
            return False
        position = match.end()
        if now == "name" and word in _BETWEEN and before != ".":
            now = "sign"
        # A test takes an argument without parentheses: `is divisibleby 3`.
        if not (tested and now in {"name", "value"}) and not _may_follow(kind, before, now or "", word):
            return False
        tested = now == "name" and before in {"is", "not"}
        if now == "open":
            closing.append({"(": ")", "[": "]", "{": "}"}[word])
        elif now == "close" and (not closing or closing.pop() != word):
            return False
        before, kind = word, now or ""
    return not closing and kind in {"value", "name", "close"}


def _may_follow(kind: str, before: str, now: str, word: str) -> bool:
    """Return whether a token may stand behind another one."""
    ended = kind in {"value", "name", "close"}
    if before == "|":
        return now == "name" and _FILTER.fullmatch(word) is not None
    if before == "is":
        return now == "name" or word == "not"
    if now in {"name", "value"}:
        # Strings side by side are one.
        return not ended or (kind == now == "value")
    if now == "open":
        return True
    if now == "close":
        return ended or kind == "open" or before in _MAY_END
    return ended or word in _MAY_START or word == "not" or (before, word) == ("not", "in")
