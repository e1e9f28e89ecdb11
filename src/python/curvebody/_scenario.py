"""Scenarios as they are given: a path, a text in YAML, or a dictionary; and settings of their keys."""
import json
import os
import re
import tempfile
from typing import Any, Mapping, Optional, Union

from ._library import Error

Scenario = Union[str, os.PathLike, Mapping[str, Any]]


def _plain(value):
    """A number or a list for a value that json does not know: arrays and numbers of numpy, and paths."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(f"expected numbers, texts, lists, dictionaries and arrays of numpy in a scenario, found {type(value).__name__}")


def to_text(value) -> str:
    """The value as YAML on one line."""
    return value if isinstance(value, str) else json.dumps(value, default=_plain)


def settings(given: Optional[Mapping[str, Any]], more: Mapping[str, Any]) -> list:
    """The texts KEY=VALUE for {"integrator.step": 0.1} and for integrator__step=0.1."""
    return [f"{key}={to_text(value)}" for key, value in {**(given or {}), **{k.replace("__", "."): v for k, v in more.items()}}.items()]


def explained(error: Error, more: Mapping[str, Any]) -> Error:
    """The error of a scenario, with a note if an argument with one underscore stands for a key with a dot."""
    for name in more:
        section, _, key = name.partition("_")
        if section and f"unknown key '{name}'" in str(error) and re.search(rf"(?i:expected) one of.*\b{section}\b", str(error)):
            return Error(f"{error}\nnote: two underscores stand for a dot: the key `{section}.{key}` is the argument `{section}__{key}`",
                         error.code, error.status)
    return error


def is_text(scenario) -> bool:
    """Whether the scenario is given by its content and not by its path."""
    return isinstance(scenario, Mapping) or (isinstance(scenario, str) and "\n" in scenario)


def content(scenario) -> str:
    return scenario if isinstance(scenario, str) else to_text(dict(scenario)) + "\n"


class File:
    """The path of a scenario for the program; a text or a dictionary is written to a temporary file."""

    def __init__(self, scenario: Scenario):
        self.file = None
        if is_text(scenario):
            self.file = tempfile.NamedTemporaryFile("w", suffix=".yaml")
            self.file.write(content(scenario))
            self.file.flush()
            scenario = self.file.name
        self.path = os.fspath(scenario)

    def __enter__(self):
        return self.path

    def __exit__(self, *_):
        if self.file:
            self.file.close()
