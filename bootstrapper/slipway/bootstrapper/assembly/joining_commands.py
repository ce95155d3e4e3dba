"""Commands that join a domain with a user's password: each reader of the user data could join machines, and more.

They are recognised by program and option, wherever a line of a command, a script or a file has them. What a program
hides behind variables or another encoding is not seen, so this is a warning and no guard. Sources: realm(8), adcli(8),
net(8) and samba-tool(8) of Samba, Microsoft's pages of Add-Computer and netdom.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import plan_pb2 as planpb
from slipway.v1alpha1 import spec_pb2 as specpb

CODE = "DOMAIN_JOIN_BY_PASSWORD"
MESSAGE = (
    "joins a domain with a user's password, which each reader of the user data gets; use os.directory, which joins "
    "with the machine's own credential"
)
_SEPARATORS = str.maketrans(dict.fromkeys(";|&(){}", "\n"))
_QUOTES = "\"'`,[]"


@dataclass(frozen=True, slots=True)
class _Program:
    """A program that joins; options are the beginnings of those that take a user, in lower case for Windows."""

    words: tuple[str, ...]
    options: tuple[str, ...]
    windows: bool = False


_PROGRAMS = (
    _Program(("realm", "join"), ("-U", "--user")),
    _Program(("adcli", "join"), ("-U", "--login-user")),
    _Program(("net", "ads", "join"), ("-U", "--user")),
    _Program(("samba-tool", "domain", "join"), ("-U", "--username")),
    _Program(("add-computer",), ("-cred", "-domaincred"), windows=True),
    _Program(("netdom", "join"), ("/ud:", "/userd:", "-ud:", "-userd:"), windows=True),
)


def joining_paths(spec: specpb.MachineBootstrapSpec) -> Iterator[str]:
    """Return the field paths of commands and files of a spec that join a domain with a user's password."""
    for name in ("boot", "pre", "post"):
        for index, command in enumerate(getattr(spec.commands, name)):
            path = f"commands.{name}[{index}]"
            if _joins_by_arguments(command):
                yield f"{path}.argv"
            if joins_with_password(_text(command.script)):
                yield f"{path}.script"
    for index, file in enumerate(spec.os.files):
        if joins_with_password(_text(file.content)):
            yield f"os.files[{index}].content"


def joins_with_password(text: str) -> bool:
    """Return whether a line of a text is such a command; comments of shells are not."""
    if not any(word in text.casefold() for word in ("join", "add-computer")):
        return False
    joined = text.replace("\\\n", " ").replace("`\n", " ")
    return any(_is_join(_words(line)) for line in joined.translate(_SEPARATORS).splitlines())


def _joins_by_arguments(command: planpb.Command) -> bool:
    """Look at the arguments as a command, and at each as the text of a script (sh -c)."""
    arguments = list(command.argv)
    return _is_join(arguments) or any(joins_with_password(argument) for argument in arguments)


def _words(line: str) -> list[str]:
    words = [word.strip(_QUOTES) for word in line.split()]
    return next((words[:index] for index, word in enumerate(words) if word.startswith("#")), words)


def _is_join(words: Sequence[str]) -> bool:
    return any(_is_join_by(program, words) for program in _PROGRAMS)


def _is_join_by(program: _Program, words: Sequence[str]) -> bool:
    names = [word.replace("\\", "/").rpartition("/")[2].casefold().removesuffix(".exe") for word in words]
    if program.words[0] not in names:
        return False
    at = names.index(program.words[0])
    rest = names[at + 1 :]
    options = [word.casefold() if program.windows else word for word in words[at + 1 :]]
    return _in_order(program.words[1:], rest) and any(option.startswith(program.options) for option in options)


def _in_order(wanted: Sequence[str], words: Sequence[str]) -> bool:
    """Return whether the words are there in this order; options may stand between them."""
    remaining = iter(words)
    return all(word in remaining for word in wanted)


def _text(content: contentpb.Content) -> str:
    """Return what of a content is known; a space stands for each other part."""
    parts = content.segments if content.WhichOneof("source") is None else [content]
    return "".join(_known(part) for part in parts)


def _known(part: contentpb.Content | contentpb.Segment) -> str:
    return part.text if part.HasField("text") else part.data.decode(errors="replace") or " "
