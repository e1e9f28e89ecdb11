"""A run in this process, step by step.

    sim = curvebody.open("fish.yaml")
    while sim.time < 5:
        sim.control["turn"] = -0.5*sim.observe("attitude")[...]
        sim.step(4)

The steps and numbers are those of `curvebody run`, bit for bit, as long as nothing is set from outside.
"""
import ctypes
import math
import operator
import os
import weakref
from typing import Any, Callable, Dict, Mapping, Optional, Sequence

import numpy as np

from . import _library
from ._library import EVENT, WARNING, Error, Sink, byref, c_char_p, c_double, c_size_t, c_void_p, check, library
from ._memory import Controls, Owner, reshaped, view, write
from ._progress import Progress
from ._scenario import Scenario, content, explained, is_text, settings

_KINDS = ("reflect", "stop", "mark", "retry", "warn")  # cb_event_action
_TURN = 0.05  # seconds after which a call returns to Python, so that Ctrl-C and progress bars work
_MOST = 2**62


class Simulation:
    """A run of a scenario that is stepped from Python. Made by `curvebody.open`.

    state     the restart state: a dictionary of arrays of numpy on the memory of the run, without copies. They change with
              each step. To change them, use `set`.
    control   the controls of the scenario, which may be set between steps
    events    a list of the events so far, as dictionaries: contacts, watched functions, repeated steps. Their keys are the names
              of the datasets of events without event_, such as time and kind, and those of the state at the event, such as pose
    warnings  a list of the warnings so far
    """

    def __init__(self, scenario: Scenario, set: Optional[Mapping[str, Any]] = None, *, output: Optional[str] = None,
                 observables: Optional[Sequence[str]] = None, overwrite: Optional[bool] = False, **more):
        self._scenario, self._record, self._open = c_void_p(), None, False
        self._changed = False  # whether the state or the integrator's history was changed after the last checkpoint
        lib = library()
        if observables is not None:
            more = {**more, "record.observables": list(observables)}
        given = settings(set, more)
        sets = _library.texts(given)
        if is_text(scenario):
            status = lib.cb_scenario_open_text(b"scenario", content(scenario).encode(), sets, len(given), byref(self._scenario))
        else:
            status = lib.cb_scenario_open(os.fspath(scenario).encode(), sets, len(given), byref(self._scenario))
        try:
            check(status)
        except Error as error:
            raise explained(error, more) from None
        self._owner = Owner(self._scenario)
        self._run = lib.cb_scenario_run(self._scenario)
        if not self._run:
            raise Error("the scenario has no run: expected the keys `integrator` and `time`", status="input")
        self._open = True
        self.events: list = []
        self.warnings: list = []
        self._told: list = []
        self._failure: Optional[BaseException] = None
        check(lib.cb_scenario_warn(self._scenario))
        self._layout = lib.cb_scenario_layout(self._scenario).contents
        self._dims = {self._layout.dimensions[i].name.decode(): self._layout.dimensions[i] for i in range(self._layout.n_dimensions)}
        self._fields = {}
        for i in range(self._layout.n_fields):
            field = self._layout.fields[i]
            self._fields[field.name.decode()] = (i, field.type, tuple(field.dims[k].decode() for k in range(field.rank)),
                                                 (field.units or b"1").decode(), (field.doc or b"").decode())
        self._event_fields = []
        for field in self._layout.event_fields[:self._layout.n_event_fields]:
            shape = tuple(self._dims[field.dims[k].decode()].count for k in range(field.rank))
            self._event_fields.append((field.name.decode()[len("event_"):], shape))
        me = weakref.ref(self)  # without it the simulation would refer to itself, and would live until Python looks for cycles
        self._keep = (WARNING(lambda *words: me()._take_warning(*words)), EVENT(lambda *words: me()._take_event(*words)))
        self._sink = Sink(event=self._keep[1])
        if output is not None:
            self._create_record(output, overwrite)
        check(lib.cb_run_on_warning(self._run, self._keep[0], None))
        self._arguments = (self._run, ctypes.pointer(self._sink))
        self._advance = lib.cb_run_advance
        self._steps = lib.cb_run_steps
        self._now = lib.cb_run_time
        self._step = lib.cb_run_step(self._run)
        self.state: Dict[str, np.ndarray] = self._state_views()
        self.control = self._find_controls()
        check(self._advance(*self._arguments, 0, 0.0, None))
        self._pass_warnings()

    # --- what the library calls ---

    def _take_warning(self, _, at, text):
        try:
            line = text.decode()
            self.warnings.append(line if math.isnan(at) else f"at time {at:.6g}, {line}")
            self._told.append(self.warnings[-1])
            return library().cb_record_warning(self._record, at, text) if self._record else 0
        except BaseException as failure:  # it must not pass through the library
            self._failure = failure
            return -8

    def _take_event(self, _, row):
        try:
            row = row.contents
            event = {"time": row.time, "kind": _KINDS[row.kind], "particle": row.particle, "other": row.other, "wall": row.wall,
                     "gap": row.gap, "speed_before": row.speed_before, "speed_after": row.speed_after, "impulse": row.impulse}
            at = 0
            for name, shape in self._event_fields:
                count = math.prod(shape)
                event[name] = np.array(row.state[at:at + count] if row.state else [math.nan] * count).reshape(shape)
                at += count
            self.events.append(event)
            return self._file_event(self._file_self, ctypes.byref(row)) if self._record else 0
        except BaseException as failure:
            self._failure = failure
            return -8

    def _create_record(self, path, overwrite):
        lib = library()
        options = lib.cb_scenario_record(self._scenario)
        options.overwrite, options.discard = overwrite is None or overwrite, bool(overwrite)
        self._record = c_void_p()
        self._create(path, options, self._record, overwrite is None)
        own = lib.cb_record_sink(self._record)
        self._file_event, self._file_self, self._file_close = own.event, own.self, own.close
        self._sink = Sink(self=own.self, row=own.row, event=self._keep[1], checkpoint=own.checkpoint, close=own.close)

    def _create(self, path, options, record, careful=False):
        """Creates a record; `careful`: not in place of one that is unfinished or longer. Errors say how to replace a file."""
        lib, name = library(), os.fspath(path).encode()
        try:
            if careful:
                check(lib.cb_scenario_check_replaced(self._scenario, name))
            check(lib.cb_record_create(name, ctypes.byref(self._layout), byref(options), byref(record)))
        except Error as error:
            text = str(error).replace("`run --force`", "`overwrite=True`").replace("`curvebody resume`", "`curvebody.resume`")
            if text.endswith(": exists already"):
                text += ": expected another name, or `overwrite=True` to replace it"
            raise Error(text, status=error.status) from None

    def _find_controls(self):
        names, values = ctypes.POINTER(c_char_p)(), ctypes.POINTER(c_double)()
        n = library().cb_scenario_controls(self._scenario, byref(names), byref(values))
        return Controls([names[i].decode() for i in range(n)], values, self._owner)

    def _shape(self, name):
        """The shape of a field, without time; None if there is no such field."""
        return tuple(self._dims[d].count for d in self._fields[name][2]) if name in self._fields else None

    def _state_views(self):
        count, out = c_size_t(), {}
        blobs = library().cb_run_state(self._run, byref(count))
        for blob in blobs[:count.value]:
            shape = self._shape(blob.name.decode())
            fits = shape and int(np.prod(shape)) == blob.count
            out[blob.name.decode()] = view(blob.data, blob.type, shape if fits else (blob.count,), self._owner)
        return out

    def _pass_warnings(self):
        told, self._told = self._told, []
        _library.warn(told)

    def _alive(self):
        if not self._open:
            raise Error("the simulation is closed", status="argument")

    # --- steps ---

    @property
    def time(self) -> float:
        """The present time, in the unit of the scenario."""
        return self._now(self._run) if self._open else self._last["time"]

    @property
    def steps(self) -> int:
        """The number of steps so far."""
        return self._steps(self._run) if self._open else self._last["steps"]

    @property
    def step_size(self) -> float:
        return self._step

    @property
    def end(self) -> float:
        """The end time; it may be changed."""
        return library().cb_run_end(self._run) if self._open else self._last["end"]

    @end.setter
    def end(self, time):
        self._alive()
        ended = self.ended  # a run that goes on after its end has made another row than a run with the new end
        check(library().cb_run_set_end(self._run, float(time)))
        self._changed = self._changed or ended

    @property
    def ended(self) -> bool:
        """Whether the run has reached its end, or an event has stopped it."""
        return library().cb_run_ended(self._run) if self._open else self._last["ended"]

    @property
    def stopped_by(self) -> Optional[str]:
        """The name of the event that has stopped the run, or None."""
        if not self._open:
            return self._last["stopped_by"]
        name = library().cb_run_stopped(self._run)
        return name.decode() if name else None

    def _finish(self, status):
        if self._failure:
            failure, self._failure = self._failure, None
            raise failure
        if self._told:
            self._pass_warnings()
        if status:
            check(status)

    def step(self, n: int = 1) -> "Simulation":
        """Makes n steps, or fewer if the run ends before. Raises curvebody.Error if a step fails; the state is then that before
        the step."""
        if not self._open:
            self._alive()
        if n == 1 and not (self._record and self._is_changed):
            status = self._advance(*self._arguments, 1, 0.0, None)
            if status or self._told or self._failure:
                self._finish(status)
            return self
        if operator.index(n) < 0:
            raise ValueError(f"expected a number of steps of at least 0, found {n}")
        return self._go(n, None, None)

    def _go(self, n, callback, bar):
        target = min(self.steps + int(n), _MOST)
        every = 1 if callback else _MOST
        while True:
            left = target - self.steps
            if left <= 0 or self.ended:
                return self
            if self._record and self._is_changed and self.steps > 0:
                self._record_changes()
            most = 1 if self._record and self._is_changed else every
            self._finish(self._advance(*self._arguments, min(left, most), _TURN, None))
            if bar:
                bar.to(self.time)
            if callback and callback(self):
                return self

    def _steps_to(self, until):
        """The number of steps to the time `until`, or to the end if it is None; a later time becomes the new end."""
        if until is None:
            return _MOST
        if not until >= self.time - 1e-9 * self._step:
            raise ValueError(f"expected a time from {self.time:.17g} on, found {until:.17g}")
        if until > self.end:
            self.end = until
        return _MOST if until >= self.end else math.ceil((until - self.time) / self._step - 1e-9)

    def run(self, until: Optional[float] = None, *, callback: Optional[Callable[["Simulation"], Any]] = None,
            progress: bool = False) -> "Simulation":
        """Makes steps up to the time `until`, or to the end of the scenario; a time beyond this end becomes the new end. The last
        step may pass `until` by less than one step.

        callback   called with the simulation after each step; if it returns a true value, the run stops there
        progress   shows a bar: that of tqdm if it is installed

        Ctrl-C stops after the step in hand and raises KeyboardInterrupt. The record is closed, and `curvebody.resume`
        continues it, with the numbers of a run that was not stopped."""
        self._alive()
        n = self._steps_to(until)
        bar = Progress(self.time, self.end if until is None else until) if progress else None
        try:
            return self._go(n, callback, bar)
        except KeyboardInterrupt:
            self.close()
            raise
        finally:
            if bar:
                bar.close()

    # --- the state and its measures ---

    @property
    def fields(self) -> Dict[str, dict]:
        """What `observe` can return: names with dimensions, unit and description. The key record.observables of the scenario, or the
        argument `observables` of `curvebody.open`, chooses them."""
        return {name: {"dims": dims, "units": units, "doc": doc} for name, (_, _, dims, units, doc) in self._fields.items()}

    def observe(self, *names: str):
        """Measures the present state. Returns the array of one name, or a dictionary for several names or none (all fields)."""
        self._alive()
        unknown = [name for name in names if name not in self._fields]
        if unknown:
            raise Error(f"`{unknown[0]}` is not measured: expected one of {', '.join(self._fields)}; the argument `observables` of "
                        f"curvebody.open adds groups of fields (`curvebody list observables`)", status="argument")
        row = ctypes.POINTER(c_void_p)()
        check(library().cb_run_evaluate(self._run, byref(row)))
        out = {}
        for name in names or self._fields:
            i, kind = self._fields[name][:2]
            out[name] = view(row[i], kind, self._shape(name), self._owner).copy()[()]
        return out[names[0]] if len(names) == 1 else out

    def labels(self, dimension: str) -> Optional[list]:
        """The labels of a dimension, such as the names of particles or bodies; None if it has none."""
        self._alive()
        d = self._dims[dimension]
        return [d.labels[i].decode() for i in range(d.count)] if d.labels else None

    def checkpoint(self) -> Dict[str, np.ndarray]:
        """A copy of the restart state, for `restore`. It deletes the integrator's history, as each checkpoint of a record does."""
        self._alive()
        self._forget()
        return {name: array.copy() for name, array in self.state.items()}

    def restore(self, state: Mapping[str, np.ndarray]) -> "Simulation":
        """Sets the state to that of a checkpoint of this or of another simulation of the same scenario."""
        self._alive()
        if self._record:
            raise Error("the times in a record increase: use `restore` in a simulation without `output`, such as copy()", status="argument")
        if state.keys() != self.state.keys():
            raise Error(f"expected a result of checkpoint(), with {', '.join(self.state)}; found {', '.join(state) or 'nothing'}",
                        status="argument")
        values = {name: reshaped(name, state[name], own) for name, own in self.state.items()}
        for name, own in self.state.items():
            write(own, values[name])
        check(library().cb_run_restore(self._run))
        return self

    @property
    def state_fields(self) -> list:
        """The fields of a row that determine the state, which `set` can change; empty if there are none."""
        self._alive()
        names, out = library().cb_run_state_fields(self._run), []
        while names and names[len(out)]:
            out.append(names[len(out)].decode())
        return out

    def set(self, **arrays) -> "Simulation":
        """Sets fields of the state: sim.set(momentum=..), with the shapes that `observe` returns. The fields that are not given stay.
        Positions and momenta are relative to the moving origins, as in a record; `world_position` are positions in the
        world's embedding (see `to_world`). The numbers are not checked against constraints or joints."""
        self._alive()
        fields = self.state_fields
        if "world_position" in arrays and "origin" in fields:
            arrays = self._local(**arrays)
        unknown = [name for name in arrays if name not in fields]
        if unknown and not fields:
            raise Error(f"`{unknown[0]}` cannot be set: the fields of this run do not determine its state, as with joints. To start from "
                        f"another state, open the scenario with other values of its keys, such as joints.0.angle; to return to an "
                        f"earlier state, use checkpoint() and restore()", status="argument")
        if unknown:
            raise Error(f"`{unknown[0]}` cannot be set: expected {', '.join(fields)}", status="argument")
        row = {name: np.ascontiguousarray(self.observe(name), float) for name in fields}
        for name, value in arrays.items():
            row[name] = reshaped(name, value, row[name])
            if not np.isfinite(row[name]).all():
                raise ValueError(f"{name}: expected finite numbers")
        pointers = (ctypes.POINTER(c_double) * len(fields))(*[row[name].ctypes.data_as(ctypes.POINTER(c_double)) for name in fields])
        self._forget()
        self._changed = True
        check(library().cb_run_restore_row(self._run, byref(_library.RowState(self.time, self.steps, pointers))))
        return self

    def _local(self, world_position, **arrays):
        """The arrays for `set` with positions relative to the origins, for positions in the world."""
        from .spaces import Space

        if "position" in arrays:
            raise ValueError("expected one of `position` and `world_position`, found both")
        origin = np.asarray(arrays.get("origin", self.observe("origin")), float)[self._components()]
        return {**arrays, "position": Space.of(self).local(reshaped("world_position", world_position, self.observe("position")), origin)}

    def _components(self):
        """The component of each particle, whose origin its position is relative to."""
        constants = self._layout.constants[:self._layout.n_constants]
        values = next(c.integers for c in constants if c.name == b"particle_component")
        return np.array(values[:self._dims["particle"].count])

    def copy(self) -> "Simulation":
        """Another simulation with the same scenario and state, which has no record. Both continue with the same numbers; the history of
        the integrator is deleted in both."""
        other = Simulation(self.resolved)
        other.end = self.end
        other.restore(self.checkpoint())
        other.events, other.warnings = list(self.events), list(self.warnings)
        return other

    @property
    def resolved(self) -> str:
        """The scenario with all settings and defaults, as YAML."""
        self._alive()
        return library().cb_scenario_resolved(self._scenario).decode()

    def save(self, path, overwrite: bool = False) -> None:
        """Writes a record of the present state: one row and a checkpoint, from which `curvebody resume` continues."""
        self._alive()
        lib = library()
        options, record = lib.cb_scenario_record(self._scenario), c_void_p()
        options.overwrite = overwrite
        self._create(path, options, record)
        try:
            sink, row = lib.cb_record_sink(record), ctypes.POINTER(c_void_p)()
            check(lib.cb_run_evaluate(self._run, byref(row)))
            if self.steps:
                check(sink.row(sink.self, row))
            check(sink.checkpoint(sink.self, *self._forget()))
            if not self.steps:  # a run that is resumed from step 0 writes this row again
                check(sink.row(sink.self, row))
            check(sink.close(sink.self, self.ended))
        finally:
            lib.cb_record_free(record)

    def _forget(self):
        """Deletes the history of the integrator. Returns the restart state, and the number of its pieces."""
        count = c_size_t()
        self._changed = self._changed or not self.ended
        return library().cb_run_checkpoint(self._run, byref(count)), count.value

    # The steps of a record can be repeated, bit for bit, from any of its checkpoints if nothing was changed from outside
    # after it. Therefore another checkpoint follows a change. It is written before the next step, and not at step 0, where
    # a resumed run writes the row of the start.

    @property
    def _is_changed(self):
        return self._changed or self.control.changed

    def _record_changes(self):
        """Writes a checkpoint with the changes from outside to the record."""
        if self.control.changed:  # the run itself takes new controls in the next step
            write(self.state["control"], [*self.control.values()])
        state = self._forget()
        self._changed = self.control.changed = False
        check(self._sink.checkpoint(self._sink.self, *state))

    # --- the end ---

    def close(self) -> None:
        """Closes the record, if there is one. `state` has copies of the last state then; `time`, `steps`, `end`, `ended`,
        `stopped_by`, `events` and `warnings` keep their last values.

        A run that has not ended continues from the last checkpoint of its record, with the numbers of a run that was not
        stopped."""
        if not getattr(self, "_open", False):
            return
        lib, failure, status = library(), None, 0
        self._last = {name: getattr(self, name) for name in ("time", "steps", "end", "ended", "stopped_by")}
        if self._record and self._is_changed:
            try:
                self._record_changes()
            except Error as error:  # the record is closed all the same
                failure = error
        self._open = False
        self.state = {name: array.copy() for name, array in self.state.items()}
        lib.cb_run_on_warning(self._run, WARNING(), None)
        if self._record:
            status = self._file_close(self._file_self, self._last["ended"])
            lib.cb_record_free(self._record)
        self._owner = None
        if failure:
            raise failure
        check(status)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        try:
            self.close()
        except Exception:  # the interpreter may be ending
            pass

    def __repr__(self):
        if not getattr(self, "_open", False):
            return "<curvebody.Simulation: closed>"
        title = library().cb_scenario_title(self._scenario)
        return f"<curvebody.Simulation {title.decode() if title else ''!r}: time {self.time:.6g} of {self.end:.6g}>"


def open(scenario: Scenario, set: Optional[Mapping[str, Any]] = None, **more) -> Simulation:
    """Opens a scenario (a path, a text or a dictionary) as a simulation in this process.

    set, integrator__step=0.1   settings of keys of the scenario
    output        the record, an HDF5 file; without it nothing is written
    observables   the groups of fields that `observe` returns and the record contains
    overwrite     whether an existing file may be replaced, with the rows that a killed run left next to it; None: it may be
                  replaced as by `curvebody run`, unless it is a record that is unfinished or longer
    """
    return Simulation(scenario, set, **more)
