"""Command lines taken apart as those take them who run them: a POSIX shell, systemd, the Microsoft C runtime.

Where a shell or systemd would put something else in a word's place, the line is no list of words, and None is given.
"""

import re
from collections.abc import Iterator

_SHELL_SPECIAL = set("|&;<>()$`*?[]{}~#!\n")
_BYTES = re.compile(r"(?:\\x[0-9A-Fa-f]{2})++")
_ESCAPES = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " "}


def shell_words(line: str) -> list[str] | None:
    """Give the words of a simple command of a POSIX shell."""
    words: list[str] = []
    word: str | None = None
    at = 0
    while at < len(line):
        char = line[at]
        at += 1
        if char in " \t":
            if word is not None:
                words.append(word)
            word = None
        elif char == "'":
            end = line.find("'", at)
            if end < 0:
                return None
            word, at = (word or "") + line[at:end], end + 1
        elif char == '"':
            found = _double_quoted(line, at)
            if found is None:
                return None
            word, at = (word or "") + found[0], found[1]
        elif char == "\\" and at < len(line):
            word, at = (word or "") + line[at], at + 1
        elif char in _SHELL_SPECIAL or char == "\\":
            return None
        else:
            word = (word or "") + char
    return words if word is None else [*words, word]


def shell_lines(text: str) -> Iterator[str]:
    """Give the command lines of a script, comments left out; a line break between quotes does not end one."""
    held = ""
    for line in text.removesuffix("\n").split("\n"):
        held = f"{held}\n{line}" if held else line
        if not held.startswith("#") and _quotes_open(held):
            continue
        if not held.startswith("#"):
            yield held
        held = ""
    if held:
        yield held


def _quotes_open(line: str) -> bool:
    quote, at = "", 0
    while at < len(line):
        char = line[at]
        if char == "\\" and quote != "'":
            at += 1
        elif quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        at += 1
    return bool(quote)


def starts(argv: list[str], wanted: list[str]) -> bool:
    """Whether a command starts what another one does: it is the same, or a shell that is told these words alone."""
    if argv == wanted:
        return True
    # A word with "=" in front sets a variable and starts nothing.
    return argv[:-1] == ["sh", "-c"] and "=" not in wanted[0] and shell_words(argv[-1]) == wanted


def _double_quoted(line: str, at: int) -> tuple[str, int] | None:
    text = ""
    while at < len(line):
        char = line[at]
        if char == '"':
            return text, at + 1
        if char in "$`":
            return None
        if char == "\\" and at + 1 < len(line) and line[at + 1] in '$`"\\':
            at += 1
            char = line[at]
        text += char
        at += 1
    return None


def systemd_words(line: str) -> list[str] | None:
    """Give the words of an ExecStart line; source: systemd.service(5), "COMMAND LINES", and systemd.unit(5)."""
    words: list[str] = []
    word: str | None = None
    quote = ""
    at = 0
    while at < len(line):
        char = line[at]
        at += 1
        if char == "\\" and at < len(line):
            escaped = _escape(line, at)
            if escaped is None:
                return None
            word, at = (word or "") + escaped[0], escaped[1]
        elif quote:
            word, quote = ((word or ""), "") if char == quote else ((word or "") + char, quote)
        elif char in "\"'" and word is None:
            word, quote = "", char
        elif char in " \t":
            if word is not None:
                words.append(word)
            word = None
        elif word is None and _alone(line, at - 1):
            return None  # It ends one command and begins another one.
        else:
            word = (word or "") + char
    if quote:
        return None
    found = [_expanded(one) for one in (words if word is None else [*words, word])]
    return None if None in found else [one for one in found if one is not None]


def _alone(line: str, at: int) -> bool:
    """Whether a semicolon stands at a place and is a word of its own."""
    return line[at : at + 1] == ";" and line[at + 1 : at + 2] in ("", " ", "\t")


def _escape(line: str, at: int) -> tuple[str, int] | None:
    char = line[at]
    if char in "\\\"'" or _alone(line, at):
        return char, at + 1
    if char in _ESCAPES:
        return _ESCAPES[char], at + 1
    return _bytes(line, at - 1)


def _bytes(line: str, at: int) -> tuple[str, int] | None:
    """Give the text of escapes that follow each other: each is one byte, and a character may have several."""
    escapes = _BYTES.match(line, at)
    if escapes is None:
        return None
    try:
        return bytes.fromhex(escapes[0].replace("\\x", "")).decode(), escapes.end()
    except UnicodeDecodeError:
        return None


def _expanded(word: str) -> str | None:
    """Give a word after specifiers and variables; None when one of them would be replaced."""
    text, at = "", 0
    while at < len(word):
        if word[at] in "%$":
            if word[at + 1 : at + 2] == word[at]:
                at += 1
            elif word[at] == "%" or word[at + 1 : at + 2].isalpha() or word[at + 1 : at + 2] in ("{", "_"):
                return None
        text += word[at]
        at += 1
    return text


def windows_words(line: str) -> list[str]:
    """Give the words of a line for the Microsoft C runtime; source: "Parsing C command-line arguments"."""
    words: list[str] = []
    word, started, quoted, at = "", False, False, 0
    while at < len(line):
        slashes = 0
        while line[at : at + 1] == "\\":
            slashes, at = slashes + 1, at + 1
        char = line[at : at + 1]
        if char == '"':
            word, started = word + "\\" * (slashes // 2), True
            if slashes % 2:
                word += '"'
            else:
                quoted = not quoted
        else:
            word, started = word + "\\" * slashes, started or slashes > 0
            if char in (" ", "\t") and not quoted:
                if started:
                    words.append(word)
                word, started = "", False
            elif char:
                word, started = word + char, True
        at += 1
    return [*words, word] if started else words
