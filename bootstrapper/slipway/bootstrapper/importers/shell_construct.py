"""Whether shell text is a list of whole commands, so that it means the same in a file of its own.

Today the items of a command list are lines of one script: a loop, a quotation or a here-document may begin in one
item and end in another. This reads no more of the shell's grammar than it takes to see that. Where it is not sure it
says that the text is not whole, which costs nothing but a script for several items.
"""

import re

_LEXEME = re.compile(
    r"""\\.|'[^']*'|<<-?[ \t]*(?P<end>\\?[\w.+-]+|'[^'\n]+'|"[^"\n]+")|<<<|\$\(\(|\$\(|\$\{|&&|\|\||;;"""
    r"""|[ \t]+|[\n;&|(){}"`'\#]|[^\s\\'"\#;&|(){}`$<]+|.""",
    re.DOTALL,
)
_JINJA = re.compile(r"\{%[^%]{0,500}%\}|\{#[^#]{0,500}#\}|(?P<value>\{\{[^{}]{0,500}\}\})")
_QUOTED = re.compile(r"""[^"\\$`]+|\\.|\$\(\(|\$\(|\$\{|.""", re.DOTALL)
_BARE_HEAD = re.compile(r"\(\s*\)\s*$")
_CLOSED_BY = {"if": "fi", "do": "done", "case": "esac", "{": "}"}
_CLOSING = {closing: opening for opening, closing in _CLOSED_BY.items()}
# After these words and signs the next word is a command.
_BEFORE_COMMAND = frozenset({"then", "do", "else", "elif", "if", "while", "until", "!", "time", "{", "(", "$(", "`"})
_WAITS_FOR_DO = frozenset({"for", "while", "until", "select"})
_BEFORE_LINE = frozenset({"&&", "||", "|", "!"})


def is_whole(text: str) -> bool:
    """Say whether the text, in which cloud-init may have to fill in values, surely is a list of whole commands."""
    rendered = _JINJA.sub(lambda match: "x" if match["value"] else "", text)
    return _BARE_HEAD.search(rendered) is None and _Reader(rendered).whole()


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self.open: list[str] = []
        self.documents: list[tuple[str, bool]] = []
        self.command = True
        self.new_word = True
        self.last = ""

    def whole(self) -> bool:
        while self.position < len(self.text):
            quoted = bool(self.open) and self.open[-1] == '"'
            match = (_QUOTED if quoted else _LEXEME).match(self.text, self.position)
            if match is None:
                return False
            self.position = match.end()
            if not (self.take_quoted(match[0]) if quoted else self.take(match[0], match["end"])):
                return False
        return not self.open and not self.documents and self.last not in _BEFORE_LINE and not self.text.endswith("\\")

    def take_quoted(self, lexeme: str) -> bool:
        """Read one lexeme within double quotes; False where the text cannot be whole."""
        return self.word(lexeme) if lexeme in {'"', "$(", "$((", "${", "`"} else True

    def take(self, lexeme: str, end: str | None) -> bool:
        """Read one lexeme; False where the text cannot be whole."""
        if lexeme == "#" and self.new_word and not (self.open and self.open[-1] == "${"):
            line_end = self.text.find("\n", self.position)
            self.position = len(self.text) if line_end < 0 else line_end
            return True
        if end is not None:
            word = end.lstrip("\\").strip("'\"")
            self.documents.append((word, lexeme.startswith("<<-")))
        elif lexeme == "\n":
            return self.line()
        elif lexeme == "'":
            return False  # Its other one is missing.
        elif not lexeme.isspace():
            return self.word(lexeme)
        self.new_word = lexeme.isspace() or lexeme in {"\n", ";"}
        return True

    def line(self) -> bool:
        """End a line, and read the here-documents that follow it."""
        self.command = self.new_word = True
        for word, tabs in self.documents:
            while True:
                if self.position >= len(self.text):
                    return False
                line_end = self.text.find("\n", self.position)
                line = self.text[self.position : line_end if line_end >= 0 else None]
                self.position += len(line) + 1
                if (line.lstrip("\t") if tabs else line) == word:
                    break
        self.documents.clear()
        return True

    def word(self, lexeme: str) -> bool:
        top = self.open[-1] if self.open else ""
        command, self.command, self.new_word, self.last = self.command, False, False, lexeme
        if lexeme in {'"', "`"}:
            return self.toggle(lexeme)
        if lexeme in {"$(", "$((", "${", "("}:
            self.command = lexeme in {"$(", "("}
            self.open.append(lexeme)
            return True
        if lexeme == ")":
            return self.close_bracket()
        if lexeme == "}" and top == "${":
            self.open.pop()
            return True
        if lexeme in {";", ";;", "&", "|", "&&", "||"}:
            self.command = self.new_word = True
            return True
        return self.reserved(lexeme, command=command)

    def toggle(self, lexeme: str) -> bool:
        if self.open and self.open[-1] == lexeme:
            self.open.pop()
        else:
            self.open.append(lexeme)
            self.command = lexeme == "`"
        return True

    def close_bracket(self) -> bool:
        top = self.open[-1] if self.open else ""
        if top == "$((":
            self.open[-1] = "("  # The second bracket closes the rest.
            return True
        if top in {"(", "$("}:
            self.open.pop()
            # `name()` and a pattern of `case` are followed by a command.
            self.command = top == "("
            return True
        self.command = True
        return top == "case"

    def reserved(self, lexeme: str, *, command: bool) -> bool:
        if lexeme == "do" and self.open and self.open[-1] == "for":
            self.open[-1] = "do"
            self.command = True
            return True
        if not command or (lexeme == "{" and self.text[self.position : self.position + 1].strip()):
            return True
        if lexeme == "function":
            return False  # Not every shell knows it.
        if lexeme in _WAITS_FOR_DO:
            self.open.append("for")
        elif lexeme in _CLOSED_BY:
            self.open.append(lexeme)
        elif lexeme in _CLOSING:
            if not self.open or self.open.pop() != _CLOSING[lexeme]:
                return False
            self.command = False
        elif lexeme in {"then", "else", "elif"} and (not self.open or self.open[-1] != "if"):
            return False
        self.command = lexeme in _BEFORE_COMMAND or lexeme in _CLOSING
        return True
