"""Reads results with h5py, without the Python module of this project."""
import json
from xml.etree import ElementTree

import h5py
import numpy as np


class Records:
  """A folder of results; records[run] opens the result of a run."""

  def __init__(self, folder):
    self.folder = folder

  def __getitem__(self, run):
    return Record(self.folder / f"{run.name}.h5")

  def has(self, run):
    return (self.folder / f"{run.name}.h5").exists()

  def answer(self, run):
    """The answer of a run that prints JSON."""
    return json.loads((self.folder / f"{run.name}.json").read_text())["answer"]

  def processor_seconds(self, run):
    return json.loads((self.folder / f"{run.name}.json").read_text())["processor_seconds"]


class Record:
  """Arrays of one file by their names: record["separation"] is the complete dataset /separation."""

  def __init__(self, path):
    self.path = path

  def __getitem__(self, name):
    with h5py.File(self.path, "r") as file:
      return file[name][...]

  def labels(self, name):
    """The labels of a dimension scale such as "killing"."""
    return [w.decode() if isinstance(w, bytes) else str(w) for w in self[name]]

  def grid(self):
    """For a file of `export --flow`: coordinates of its grid along z, y, x, from the .xdmf file next to it, in its
    order."""
    tree = ElementTree.parse(self.path.with_suffix(".xdmf"))
    origin, step = ([float(w) for w in item.text.split()]
                    for item in tree.find(".//Geometry[@GeometryType='ORIGIN_DXDYDZ']"))
    return [o + d * np.arange(n) for o, d, n in zip(origin, step, self["p"].shape)]

  def times(self):
    """Time of each row in extended precision: step * h if all steps are equal, so that the rounding of /time is no
    error."""
    time, step = self["time"].astype(np.longdouble), self["step"].astype(np.longdouble)
    h = np.max(self["step_size"]).astype(np.longdouble)
    exact = time[0] + (step - step[0]) * h
    return np.where(np.abs(exact - time) <= 4 * np.spacing(np.abs(self["time"])), exact, time)

  def drift(self, name):
    """Largest change of a conserved quantity, relative to its largest absolute value."""
    values = self[name].astype(np.longdouble)
    return float(np.max(np.abs(values - values[0])) / max(np.max(np.abs(values)), np.longdouble(1e-300)))


def embedding_form(size, curved):
  """Diagonal of the embedding's quadratic form; `curved` is +1 (S), -1 (H) or 0 (E)."""
  return np.array([1.0] * (size - 1) + [curved]) if curved else np.ones(size)


def chord_distance(x, y, curved):
  """Geodesic distance in S, H or E of curvature 1, -1 or 0, from the chord; coordinates are along the last axis."""
  chord = np.sqrt(np.maximum(0, np.sum(embedding_form(x.shape[-1], curved) * (x - y) ** 2, axis=-1)))
  return {1: 2 * np.arcsin(chord / 2), -1: 2 * np.arcsinh(chord / 2), 0: chord}[curved]
