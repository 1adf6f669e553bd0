"""How result files are read: one set of options for every command that takes them."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skilldelta.cli import settings
from skilldelta.cli.output import note
from skilldelta.cli.settings import GivenPath, together

if TYPE_CHECKING:
    from skilldelta.bank.importers import Defaults

# A mapping of this name beside the results is found without being asked for.
MAPPING_NAMES = ("skilldelta-mapping.yaml", "skilldelta-mapping.yml")

reading_options = together(
    settings.format_option,
    click.option(
        "--map", "columns", multiple=True, metavar="FIELD=COLUMN", help="Which column holds a field; repeatable."
    ),
    click.option(
        "--arm",
        "arms",
        multiple=True,
        metavar="NAME=MEANING",
        help="What an arm of the files means: use, skip or leave-out; repeatable.",
    ),
    click.option(
        "--arm-from", metavar="FIELD", help="The field that says the arm, such as metadata.arm in Inspect logs."
    ),
    click.option("--score", metavar="NAME", help="Which of several scores counts as success."),
    click.option(
        "--scale",
        type=click.FloatRange(min=0, min_open=True),
        metavar="N",
        help="A full success in the files, such as 100.",
    ),
    click.option("--percent", is_flag=True, help="Scores are percentages: the same as --scale 100."),
    click.option("--sheet", metavar="NAME|N", help="The sheet of a workbook; the first by default."),
    click.option(
        "--pair-by",
        type=click.Choice(["task", "name"]),
        help="Keep tasks of one name and different content apart (task, the default), or join them (name).",
    ),
    click.option(
        "--newest", metavar="VERSION", help="Which version of the skill is the newest, where no time is recorded."
    ),
    click.option(
        "--mapping",
        "mapping_file",
        type=GivenPath(),
        metavar="FILE",
        help=f"What the names in the files mean; {MAPPING_NAMES[0]} beside the results is found by itself.",
    ),
)
_NAMES = (
    "columns",
    "arms",
    "arm_from",
    "score",
    "scale",
    "percent",
    "sheet",
    "pair_by",
    "newest",
    "mapping_file",
    "format_",
)


def typed_reading_options(context: click.Context) -> str:
    """The reading options of the command line as they were typed, for a command that is shown as the next one."""
    words: list[str] = []
    for parameter in context.command.params:
        name, value = parameter.name or "", context.params.get(parameter.name or "")
        is_typed = context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE
        if name not in _NAMES or not is_typed:
            continue
        for each in value if isinstance(value, tuple) else (value,):
            words += [parameter.opts[0]] if value is True else [parameter.opts[0], shlex.quote(str(each))]
    return "".join(f" {word}" for word in words)


def reading_of(options: dict[str, Any], sources: tuple[Path, ...] = (), **said: Any) -> tuple[Defaults, str]:
    """What the options say about the files, and the format; the options are taken out of `options`."""
    from skilldelta.bank.importers import Defaults, NameMapping, parse_arms, parse_mapping, read_mapping

    own: Mapping[str, Any] = {name: options.pop(name) for name in _NAMES if name in options}
    mapping_file = own.get("mapping_file") or _mapping_beside(sources)
    mapping = read_mapping(mapping_file) if mapping_file is not None else NameMapping()
    words = {name: own[name] for name in ("arm_from", "score", "scale", "sheet", "pair_by", "newest") if own.get(name)}
    if own.get("percent"):
        words["scale"] = 100.0
    given = {name: value for name, value in said.items() if value is not None}
    columns, arms = parse_mapping(own.get("columns", ())), parse_arms(own.get("arms", ()))
    defaults = mapping.under(Defaults(columns=columns, arms=arms, **words, **given))
    format_ = own.get("format_", "auto")
    return defaults, format_ if format_ != "auto" else mapping.format or "auto"


def _mapping_beside(sources: tuple[Path, ...]) -> Path | None:
    """The mapping that lies in a source, or beside it; one in use is always said."""
    for source in sources:
        for folder in (source, source.parent):
            for name in MAPPING_NAMES:
                path = folder / name
                if path.is_file():
                    note(f"names are read by {path}, which lies beside the results")
                    return path
    return None
