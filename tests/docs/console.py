"""Reads the blocks of a Markdown page that a reader would type, and types them.

What counts in a page:

* a block ``console`` holds commands, each behind "$ " (with heredocs and lines that end in a backslash), and under each
  what it prints. Small numbers may differ from those of the page, and so may ports; one of four digits or more is a
  size, and may differ by 5 %, since keys are random. "…" stands for any text, a line "..." for any lines.
* a block ``console background`` holds one command that goes on: the page goes on when its last line was printed.
* ``<!-- file: NAME -->`` in front of any block: the block is the content of that file.
* ``<!-- not run: REASON -->`` in front of a block ``sh``: a command that the test must not run, and why.

The commands of a page, or of a section, run in one shell, as the reader's do.
"""

import re
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

_FENCE = re.compile(r"^(?P<fence>```+)(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=fence)\s*$", re.MULTILINE | re.DOTALL)
_NOTE = re.compile(r"<!-- (?P<key>file|not run): (?P<value>.+?) -->\s*$")
_MARK = "--- command"
_READY_SECONDS = 40.0
_TOKEN = re.compile(
    r"(?P<any>…)|(?P<size>(?<![:.\d])\d{4,}(?![.\d]))|(?P<number>\d[\d.]*)|(?P<light>─+)|(?P<heavy>━+)|(?P<gap>[ \t]+)"
    r"|(?P<text>[^…\d─━ \t]+)"
)
_LOOSE = {"any": ".*", "size": r"(\d+)", "number": r"\d[\d.]*", "light": "─+", "heavy": "━+", "gap": r"[ \t]*"}
_TOLERANCE = 0.05


@dataclass(frozen=True, slots=True)
class Command:
    """A command, and the lines that it should print."""

    text: str
    prints: tuple[str, ...]
    line: int
    background: bool = False


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block of a page."""

    info: str
    body: str
    line: int
    key: str = ""
    value: str = ""

    def commands(self) -> Iterator[Command]:
        """Give the commands of a console block."""
        lines = self.body.splitlines()
        index = 0
        while index < len(lines):
            start = index
            if not lines[index].startswith("$ "):
                raise AssertionError(f"line {self.line + index + 1}: a console block starts with a command")
            text = [lines[index].removeprefix("$ ")]
            index += 1
            end = re.search(r"<<-?\s*'?(\w+)'?", text[0])
            while text[-1].endswith("\\") or (end and text[-1] != end[1]):
                text.append(lines[index])
                index += 1
            prints = []
            while index < len(lines) and not lines[index].startswith("$ "):
                prints.append(lines[index])
                index += 1
            yield Command("\n".join(text), tuple(prints), self.line + start + 1, self.info.endswith("background"))


@dataclass(slots=True)
class Scene:
    """What one shell runs: files and commands in the order of the page."""

    name: str
    steps: list[Command | Block] = field(default_factory=list)

    @property
    def text(self) -> str:
        """All commands."""
        return "\n".join(step.text for step in self.steps if isinstance(step, Command))


def blocks(markdown: str) -> Iterator[Block]:
    """Give the fenced blocks of a page."""
    for found in _FENCE.finditer(markdown):
        note = _NOTE.search(markdown[: found.start()])
        yield Block(
            info=found["info"].strip(),
            body=found["body"],
            line=markdown.count("\n", 0, found.start()) + 1,
            key=note["key"] if note else "",
            value=note["value"] if note else "",
        )


def scenes(markdown: str, *, by_section: bool) -> list[Scene]:
    """Give the scenes of a page that have a command: one, or one for each section."""
    made = [Scene("page")]
    heads = {
        markdown.count("\n", 0, match.start()) + 1: match[1]
        for match in re.finditer(r"^## (.+)$", markdown, re.MULTILINE)
    }
    for block in blocks(markdown):
        title = next((name for line, name in sorted(heads.items(), reverse=True) if line < block.line), "page")
        if by_section and made[-1].name != title:
            made.append(Scene(title))
        if block.key == "file":
            made[-1].steps.append(block)
        elif block.info.startswith("console"):
            made[-1].steps += block.commands()
    return [one for one in made if one.text]


def play(scene: Scene, folder: Path, environment: Mapping[str, str], ports: Mapping[int, int]) -> list[str]:
    """Run a scene in `folder`; give what went differently, by line of the page. Empty: all as told.

    `ports` says which port stands for one that the page names.
    """
    checks_status = [isinstance(after, Command) and after.text == "echo $?" for after in [*scene.steps[1:], None]]
    wrong = []
    with subprocess.Popen(
        ["bash", "--norc", "--noprofile"],
        cwd=folder, env=dict(environment), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        text=True, bufsize=1,
    ) as shell:  # fmt: skip
        try:
            for step, checked in zip(scene.steps, checks_status, strict=True):
                problem = _step(shell, step, folder, ports, checked=checked)
                if problem:
                    wrong.append(f"line {step.line}: {problem}")
        finally:
            _end(shell)
    return wrong


def _step(
    shell: "subprocess.Popen[str]", step: Command | Block, folder: Path, ports: Mapping[int, int], *, checked: bool
) -> str:
    """Take one step; `checked` means that the page itself looks at the exit code next. "" when it went as told."""
    if isinstance(step, Block):
        (folder / step.value).parent.mkdir(parents=True, exist_ok=True)
        (folder / step.value).write_text(_moved(step.body, ports), encoding="utf-8")
        return ""
    wanted = [_moved(line, ports) for line in step.prints]
    text = _moved(step.text, ports)
    if step.background:
        problem = _start(shell, text, wanted, folder)
    else:
        status, printed = _run(shell, text)
        problem = "" if status == 0 or checked else f"ends with exit code {status}\n{printed}"
        problem = problem or _difference(wanted, printed.splitlines())
    return f"$ {step.text}\n{problem}" if problem else ""


def _end(shell: "subprocess.Popen[str]") -> None:
    """End the shell and what it has in the background."""
    assert shell.stdin is not None
    if shell.poll() is None:
        shell.stdin.write('jobs=$(jobs -p); [ -z "$jobs" ] || { kill $jobs; wait; }\nexit\n')
        shell.stdin.close()
    shell.wait(timeout=60)


def _run(shell: "subprocess.Popen[str]", text: str) -> tuple[int, str]:
    """Run a command with the exit code of the one before in $?, and nothing to read; give its own and its output."""
    assert shell.stdin is not None
    assert shell.stdout is not None
    if shell.poll() is None:
        shell.stdin.write(
            f'(exit ${{status:-0}})\n{{ {text}\n}} </dev/null\nstatus=$?; printf "\\n{_MARK} %s\\n" $status\n'
        )
        shell.stdin.flush()
    printed = []
    for line in shell.stdout:
        if line.startswith(_MARK):
            return int(line.removeprefix(_MARK)), "".join(printed).removesuffix("\n")
        printed.append(line)
    shell.wait(timeout=60)
    return -1, "".join(printed) + "(the shell ended)"


def _start(shell: "subprocess.Popen[str]", text: str, wanted: Sequence[str], folder: Path) -> str:
    number = len(list(folder.glob(".background-*")))
    log = folder / f".background-{number}.log"
    _run(shell, f"{text} >{log} 2>&1 </dev/null &")
    deadline = time.monotonic() + _READY_SECONDS
    while time.monotonic() < deadline:
        printed = log.read_text(encoding="utf-8") if log.exists() else ""
        if re.search(_pattern(wanted[-1]), printed, re.MULTILINE):
            return _difference([*wanted, "..."], printed.splitlines())
        time.sleep(0.05)
    return f"was not ready after {_READY_SECONDS:.0f} s\n{printed}"


def _difference(wanted: Sequence[str], printed: Sequence[str]) -> str:
    """Give "" when the lines are as told, else both."""
    expression = "".join("(?:.*\n)*?" if line.strip() == "..." else f"{_pattern(line)}\n" for line in wanted)
    sizes = [token["size"] for line in wanted for token in _tokens(line) if token["size"]]
    text = "".join(f"{line.rstrip()}\n" for line in printed)
    found = re.fullmatch(expression, text)
    if found and all(map(_is_near, sizes, found.groups())):
        return ""
    return "the page says:\n{}\nit printed:\n{}".format("\n".join(wanted), "\n".join(printed))


def _is_near(told: str, printed: str) -> bool:
    return abs(int(told) - int(printed)) <= _TOLERANCE * int(told)


def _tokens(line: str) -> Iterator[re.Match[str]]:
    """Give the parts of a line; one that is a number alone has no loose ones."""
    return _TOKEN.finditer(line.rstrip()) if not line.strip().isdecimal() else iter(())


def _pattern(line: str) -> str:
    """Give a line as an expression: numbers and the width of columns may differ, … is any text; sizes are groups."""
    if line.strip().isdecimal():
        return re.escape(line.strip())
    return "".join(_LOOSE.get(token.lastgroup or "", re.escape(token[0])) for token in _tokens(line))


def _moved(text: str, ports: Mapping[int, int]) -> str:
    for old, new in ports.items():
        text = re.sub(rf"\b{old}\b", str(new), text)
    return text
