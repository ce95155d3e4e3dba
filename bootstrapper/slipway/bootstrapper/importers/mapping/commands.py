"""The commands around kubeadm. Today those of all phases are lines of one script that one shell runs; that is kept.

In the kubeadm provider's layout one shell runs them still. Where the runner starts each command in a shell of its
own, on other formats, commands that leave something behind in the shell are put together into one script with those
after them. So are, everywhere, commands that begin what a later one ends, such as a loop. All others stay apart, so
that a failure names its line.

Some pre-commands edit what today's provider put on the machine, in one place for cloud-config and in another for
ignition. A command that knows the places of one format only does nothing sensible anywhere else: it binds the config to
that format.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace

import re2

from slipway.bootstrapper.importers.mapping.context import IGNITION, Context
from slipway.bootstrapper.importers.mapping.place import Place
from slipway.bootstrapper.importers.shell_construct import is_whole
from slipway.v1alpha1 import content_pb2 as contentpb
from slipway.v1alpha1 import plan_pb2 as planpb

# A job in the background, which a later command may wait for; then whatever changes the shell, at each place where a
# command begins, behind assignments and redirections.
_LEAVES_SOMETHING = re2.compile(
    r"\$\{[\pL\pN_]+:?=|[^&<>|]&(?:[ \t\n)}#]|$)"
    r"|(?:^|[;&|\n{)]|\b(?:then|do|else|time|if|elif|while|until)[ \t]|![ \t])[ \t]*"
    r"(?:(?:[A-Za-z_]\w*\+?=[^\s;&|\"'$(`]*|[0-9]*[<>]+&?[ \t]*[^\s;&|]+)[ \t]+)*"
    r"(?:(?:(?:command|builtin)[ \t]+)?[\"'\\]?(?:export|cd|set|source|eval|exec|alias|unalias|umask|shopt|declare"
    r"|typeset|readonly|unset|ulimit|pushd|popd|trap|read|hash|shift|wait|getopts|printf[ \t]+-v|mapfile|readarray|let"
    r"|local|enable|disown|exit|for|select|coproc)\b|\.[ \t]|[\pL\pN_.-]+[ \t]*\([ \t]*\)|function[ \t]|\(\("
    r"|[A-Za-z_]\w*(?:\[[^\]\n]{0,64}\])?\+?="
    r"(?:[^\s;&|\"'$(`]*(?:[ \t]+\w+=[^\s;&|\"'$(`]*)*[ \t]*(?:$|[;&|\n}])|[\"'$(`]))"
)

_LAYOUT_PATHS = {
    "cloud-config": ("/run/kubeadm/kubeadm.yaml", "/run/kubeadm/kubeadm-join-config.yaml", "/run/kubeadm"),
    "ignition": ("/etc/kubeadm.yml", "/etc/kubeadm.sh", "kubeadm.service"),
}


def set_commands(
    context: Context, place: Place, lists: dict[str, list[str]], commands: planpb.Commands, *, skipped: Collection[int]
) -> None:
    """Carry over bootCommands, preKubeadmCommands and postKubeadmCommands.

    Args:
        context: the config.
        place: its place.
        lists: the commands by the name of their field.
        commands: where they go.
        skipped: indices of pre-commands that are not needed any more.
    """
    for name, phase in (("bootCommands", "boot"), ("preKubeadmCommands", "pre"), ("postKubeadmCommands", "post")):
        kept = [
            (index, text)
            for index, text in enumerate(lists[name])
            if text.strip() and not (phase == "pre" and index in skipped)
        ]
        for index, text in kept:
            if binds(text, context.format):
                context.findings.bind(place.at(name, index))
        # On every boot only cloud-init itself knows the machine by then.
        reader = replace(context, facts=False, whole=True) if phase == "boot" else context
        getattr(commands, phase).extend(_commands(reader, place.at(name), kept, first_boot=phase == "pre"))
    if not context.windows:
        _check_spans(context, place, lists, commands)


def _check_spans(context: Context, place: Place, lists: dict[str, list[str]], commands: planpb.Commands) -> None:
    """Keep what begins before kubeadm and ends after it: no part of it can be a file of its own."""
    facts = [
        any(segment.HasField("fact") for entry in phase for segment in entry.script.segments)
        for phase in (commands.pre, commands.post)
    ]
    texts = [text for text in lists["preKubeadmCommands"] if text.strip()]
    if not any(facts) or all(map(is_whole, texts)) or is_whole("\n".join(texts)):
        return
    if context.whole:
        context.findings.needs_jinja = True
        return
    message = (
        "what begins here must end in the same list, since commands of this config hold values that only the machine"
        " knows; write what belongs together as one item"
    )
    first = next(index for index, text in enumerate(lists["preKubeadmCommands"]) if text.strip() and not is_whole(text))
    context.findings.refuse(place.at("preKubeadmCommands", first), message)


def _commands(
    context: Context, place: Place, texts: Sequence[tuple[int, str]], *, first_boot: bool
) -> list[planpb.Command]:
    """Give one command for each text, and one for all from the first that leaves something behind."""
    start = len(texts)
    if not context.windows:
        start = next((number for number, (_, text) in enumerate(texts) if _lasts(text)), len(texts))
    alone, together = texts[:start], texts[start:]
    result = [_command(context, place.at(index), context.content(place.at(index), text)) for index, text in alone]
    if together:
        result.append(_together(context, place, together))
    # The kubeadm provider's unit runs all of its script again on the next boot, until kubeadm has succeeded.
    if context.format == IGNITION and first_boot:
        for command in result:
            command.retry_on_boot = True
    return result


def _lasts(text: str) -> bool:
    return bool(_LEAVES_SOMETHING.search(text)) or not is_whole(text)


def _together(context: Context, place: Place, texts: Sequence[tuple[int, str]]) -> planpb.Command:
    segments: list[contentpb.Segment] = []
    if context.format == IGNITION:
        segments.append(contentpb.Segment(text="set -e\n"))
    for index, text in texts:
        content = context.content(place.at(index), text)
        segments.extend(content.segments or [contentpb.Segment(text=content.text)])
        segments.append(contentpb.Segment(text="\n"))
    if all(segment.WhichOneof("value") == "text" for segment in segments):
        script = contentpb.Content(text="".join(segment.text for segment in segments))
    else:
        script = contentpb.Content(segments=segments)
    first = place.at(texts[0][0])
    if len(texts) > 1:
        message = "this command leaves something behind in the shell: it and those after it run as one script"
        context.findings.inform(first, "COMMANDS_TOGETHER", message)
    return _command(context, first, script)


def _command(context: Context, place: Place, script: contentpb.Content) -> planpb.Command:
    interpreter = planpb.INTERPRETER_CMD if context.windows else planpb.INTERPRETER_SH
    return planpb.Command(script=script, interpreter=interpreter, origin=place.origin())


def _known_formats(command: str) -> frozenset[str]:
    """Give the formats whose files a command names."""
    return frozenset(name for name, paths in _LAYOUT_PATHS.items() if _names_one_of(command, paths))


def binds(command: str, format_name: str) -> bool:
    """Return whether a command knows the files of its own format and of no other."""
    return _known_formats(command) == {format_name}


def _names_one_of(command: str, paths: Iterable[str]) -> bool:
    return any(re.search(rf"(?<![\w/.-]){re.escape(path)}(?![\w-])", command) for path in paths)
