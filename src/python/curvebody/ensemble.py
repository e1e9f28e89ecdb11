"""Many simulations of one scenario, stepped together by the library: in the lanes of vector instructions and in several threads."""
import ctypes
import itertools
import operator
import time
from typing import Any, Mapping, Optional, Sequence

import numpy as np

from . import _library
from ._library import Error, check, library
from ._scenario import Scenario
from .simulation import _MOST, Simulation

_CHUNK = 0.1  # seconds between two returns to Python, so that Ctrl-C works


class _Controls:
    """The controls of all members: batch.control["tail"] is an array [member], and may be set to an array or a number."""

    def __init__(self, members):
        self._members = members

    def __getitem__(self, name):
        return np.array([m.control[name] for m in self._members])

    def __setitem__(self, name, value):
        for m, v in zip(self._members, np.broadcast_to(np.asarray(value, float), (len(self._members),))):
            m.control[name] = v

    def __iter__(self):
        return iter(self._members[0].control)

    def __len__(self):
        return len(self._members[0].control)


class Batch:
    """Simulations of one scenario with different values of some keys. Made by `curvebody.batch`.

    members   the simulations, curvebody.Simulation; their lists `events` have no events of steps of the batch
    over      the values of the keys: a dictionary of lists, one value per member
    errors    texts of failures, None for a member without one. A member that has failed is not stepped any more
    control   the controls of all members, as arrays [member]
    """

    def __init__(self, scenario: Scenario, over: Mapping[str, Sequence[Any]], members: Optional[int], product: bool, threads: int,
                 set: Optional[Mapping[str, Any]], observables, more):
        if {"output", "overwrite"} & more.keys():
            raise TypeError("a batch writes no records: use `sweep`, or `open` with `output` for single members")
        over = {key: list(values) for key, values in (over or {}).items()}
        if product and over:
            rows = list(itertools.product(*over.values()))
            over = {key: [row[i] for row in rows] for i, key in enumerate(over)}
        lengths = {len(values) for values in over.values()} | ({int(members)} if members is not None else {1} if not over else {*()})
        if len(lengths) != 1 or min(lengths) < 1:
            raise ValueError(f"expected equally many values for each key, at least one, found {sorted(lengths)}; product=True takes all combinations")
        self.over, self._threads = over, int(threads)
        n = lengths.pop()
        self.members = [self._member(scenario, {key: values[i] for key, values in over.items()}, i, set, observables, more) for i in range(n)]
        self.errors: list = [None] * n
        self.control = _Controls(self.members)
        self._status = (ctypes.c_int * n)()
        self._text = (ctypes.c_char * 600 * n)()
        self._speed = 0.0  # steps per second

    @staticmethod
    def _member(scenario, own, i, set, observables, more):
        """Opens member i; `own` are its values of the keys of `over`. An error names the member and the key."""
        try:
            return Simulation(scenario, {**(set or {}), **own}, observables=observables, **more)
        except Error as error:
            text = str(error)
            for key in own:
                text = text.replace(f"--set {key}=", f"member {i}, {key}=")
            if text == str(error):
                values = ", ".join(f"{key} = {value}" for key, value in own.items())
                text += f"\nnote: this is an error of member {i}" + (f", with {values}" if values else "")
            raise Error(text, status=error.status) from None

    def __len__(self):
        return len(self.members)

    def __getitem__(self, i) -> Simulation:
        return self.members[i]

    def _advance(self, going, steps):
        runs = (ctypes.c_void_p * len(going))(*[self.members[i]._run for i in going])
        check(library().cb_runs_advance(runs, len(going), steps, self._threads, self._status, self._text))
        for at, i in enumerate(going):
            self.members[i]._finish(0)
            if self._status[at]:
                self.errors[i] = self._text[at].value.decode()

    def step(self, n: int = 1) -> "Batch":
        """Makes n steps of each member; a member that ends or fails before stops there."""
        left = operator.index(n)
        if left < 0:
            raise ValueError(f"expected a number of steps of at least 0, found {n}")
        return self._go([left] * len(self))

    def _go(self, left):
        """Makes left[i] steps of member i."""
        left = np.minimum(left, _MOST)
        while True:
            going = np.flatnonzero((left > 0) & ~self.ended)
            if not going.size:
                return self
            now = min(int(left[going].min()), max(1, int(self._speed * _CHUNK)))
            begin = time.perf_counter()
            self._advance(going, now)
            self._speed = now / max(time.perf_counter() - begin, 1e-9)
            left[going] -= now

    def run(self, until: Optional[float] = None) -> "Batch":
        """Makes steps up to the time `until`, or to the end of the scenario; a later time becomes the new end."""
        return self._go([m._steps_to(until) for m in self.members])

    @property
    def time(self) -> np.ndarray:
        return np.array([m.time for m in self.members])

    @property
    def ended(self) -> np.ndarray:
        """Whether each member has reached its end, was stopped by an event, or has failed."""
        return np.array([m.ended or text is not None for m, text in zip(self.members, self.errors)])

    @property
    def state(self) -> dict:
        """The restart states: copies, as arrays [member, ...]."""
        return {name: np.stack([m.state[name] for m in self.members]) for name in self.members[0].state}

    def set(self, **arrays) -> "Batch":
        """Sets fields of the state of each member: arrays [member, ...], with the shapes of `observe`."""
        for name, value in arrays.items():
            if np.shape(value)[:1] != (len(self),):
                raise ValueError(f"{name}: expected an array [member, ...] of {len(self)} members, found the shape {np.shape(value)}")
        for i, m in enumerate(self.members):
            m.set(**{name: np.asarray(value)[i] for name, value in arrays.items()})
        return self

    def observe(self, *names: str):
        """Measures the present states: an array [member, ...] of one name, or a dictionary of several."""
        rows = [m.observe(*names) for m in self.members]
        if len(names) == 1:
            return np.stack(rows)
        return {name: np.stack([row[name] for row in rows]) for name in rows[0]}

    def close(self) -> None:
        for m in self.members:
            m.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __repr__(self):
        return f"<curvebody.Batch of {len(self)}: time {self.time.min():.6g} to {self.time.max():.6g}>"


def batch(scenario: Scenario, over: Optional[Mapping[str, Sequence[Any]]] = None, *, members: Optional[int] = None, product: bool = False,
          threads: int = 0, set: Optional[Mapping[str, Any]] = None, observables: Optional[Sequence[str]] = None, **more) -> Batch:
    """Opens many simulations of one scenario that are stepped together.

    over      keys and their values: over={"bodies.0.mass": [1, 2, 3]} makes three members. Several keys need equally many values;
              with product=True every combination is a member
    members   the number of equal members, if `over` is not given
    threads   the number of threads; 0: that of the process
    set, integrator__step=0.1   settings of keys for all members
    """
    return Batch(scenario, over, members, product, threads, set, observables, more)
