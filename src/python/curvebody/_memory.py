"""Arrays of numpy on the memory of a run, and its controls."""
import collections.abc
import ctypes
import math

import numpy as np

from . import _library
from ._library import FIELD_TYPES, library


class Owner:
    """Frees a scenario when nothing refers to it any more: neither its simulation nor an array of its state."""

    def __init__(self, scenario):
        self._scenario = scenario

    def __del__(self):
        if _library:
            library().cb_scenario_free(self._scenario)


def view(address, kind, shape, owner):
    """A read-only array of numpy on memory of the library; the array keeps the owner of the memory alive."""
    count = int(np.prod(shape, dtype=int))
    if not count:
        return np.zeros(shape, FIELD_TYPES[kind])
    width = 4 if kind == 2 else 8
    memory = (ctypes.c_char * (count * width)).from_address(address)
    memory.owner = owner
    array = np.frombuffer(memory, FIELD_TYPES[kind]).reshape(shape)
    array.flags.writeable = False
    return array


def write(state, values):
    """Writes values to an array of the state, which is read-only for others."""
    state.flags.writeable = True
    state[...] = values
    state.flags.writeable = False


def reshaped(name, value, like):
    """The numbers `value` with the shape and the type of the array `like`, which must have equally many numbers."""
    value = np.asarray(value)
    if value.size != like.size:
        raise ValueError(f"{name}: expected {like.size} numbers, found {value.size}")
    return np.ascontiguousarray(value.reshape(like.shape), like.dtype)


class Controls(collections.abc.MutableMapping):
    """The controls of a scenario (its key `controls`): names and numbers that its expressions use."""

    def __init__(self, names, values, owner):
        self._at = {name: i for i, name in enumerate(names)}
        self._values, self._owner = values, owner
        self.changed = False  # whether a value was changed after the last checkpoint

    def __getitem__(self, name):
        return float(self._values[self._at[name]])

    def __setitem__(self, name, value):
        value = float(value)
        if not math.isfinite(value):
            raise ValueError(f"control `{name}`: expected a finite number, found {value}")
        if name not in self._at:
            raise KeyError(f"the scenario has no control `{name}`: its controls are {', '.join(self._at) or 'none'}")
        self.changed = self.changed or value != self[name]
        self._values[self._at[name]] = value

    def __delitem__(self, name):
        raise TypeError("controls cannot be deleted")

    def __iter__(self):
        return iter(self._at)

    def __len__(self):
        return len(self._at)

    def __repr__(self):
        return repr(dict(self))
