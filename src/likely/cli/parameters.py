"""Groups of options: said once as a dataclass, taken by every command that names it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, fields, is_dataclass
from inspect import Parameter, Signature, signature
from textwrap import dedent
from typing import Any, get_type_hints

from likely.cli.outputs import refuse_losses


def expanded(command: Callable[..., None]) -> Callable[..., None]:
    """The command with every parameter that is a dataclass of options replaced by the fields of that.

    Typer reads the signature; so it sees all options, and the command gets them as one value each group.
    """
    hints = get_type_hints(command, include_extras=True)
    groups: dict[str, type[Any]] = {}
    parameters: list[Parameter] = []
    for name, parameter in signature(command).parameters.items():
        kind = hints[name]
        if isinstance(kind, type) and is_dataclass(kind):
            groups[name] = kind
            parameters += _fields(kind)
        else:
            parameters.append(Parameter(name, Parameter.KEYWORD_ONLY, default=parameter.default, annotation=kind))

    annotations = {parameter.name: parameter.annotation for parameter in parameters}

    def run(**given: Any) -> None:
        refuse_losses(annotations, given)
        values = {name: kind(**{f.name: given.pop(f.name) for f in fields(kind)}) for name, kind in groups.items()}
        command(**given, **values)

    run.__name__, run.__doc__ = command.__name__, command.__doc__
    run.__annotations__ = annotations
    run.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    return flowing(run)


def flowing(command: Callable[..., None]) -> Callable[..., None]:
    """The command with a help text whose paragraphs fit any width; examples (after a `\\b`) keep their lines."""
    paragraphs = (command.__doc__ or "").split("\n\n")
    texts = [dedent(text).strip("\n") if "\b" in text else " ".join(text.split()) for text in paragraphs]
    command.__doc__ = "\n\n".join(texts)
    return command


def _fields(kind: type[Any]) -> list[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        Parameter(
            entry.name,
            Parameter.KEYWORD_ONLY,
            default=Parameter.empty if entry.default is MISSING else entry.default,
            annotation=hints[entry.name],
        )
        for entry in fields(kind)
    ]
