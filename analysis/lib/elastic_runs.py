"""The runs and errors that the figures of the elastic rod and triangle share.

Three families of integrators, each with the orders 2, 4 and 6:
    velocity   Gauss collocation in (q, q') in the static polar chart: the thesis's form (gs1, gs2, gs3)
    gauss      Gauss collocation in moving charts with balanced momentum
    lobatto    Lobatto IIIA-IIIB in the embedding; the default integrator is that with 4 stages
"""
from dataclasses import dataclass

import numpy as np

import elastic
from runs import Run

SPACES = ("h3", "s3")
BONDS = {"rod": ((0, "separation"),), "triangle": ((0, "$s_{12}$"), (1, "$s_{13}$"), (2, "$s_{23}$"))}
END = 10
QUICK_STEPS = (0.1, 0.08, 0.0625, 0.05, 0.04, 0.02, 0.01, 0.005, 0.002, 0.001)
FULL_STEPS = QUICK_STEPS + (5e-4, 2e-4, 1e-4, 1e-5)
ROWS = 2000


@dataclass(frozen=True)
class Method:
  family: str
  stages: int

  @property
  def order(self):
    return 2 * self.stages - (2 if self.family == "lobatto" else 0)

  @property
  def label(self):
    return {"velocity": f"Gauss {self.stages}, (q, q') in the polar chart", "gauss": f"Gauss {self.stages}, balanced",
            "lobatto": f"Lobatto IIIA–IIIB {self.stages}"}[self.family]

  @property
  def settings(self):
    if self.family == "lobatto":
      return (f"integrator.stages={self.stages}",)
    gauss = ("integrator.name=gauss", f"integrator.stages={self.stages}")
    return ("space.chart=polar",) + gauss + ("integrator.form=velocity",) if self.family == "velocity" else gauss


METHODS = tuple(Method("velocity", s) for s in (1, 2, 3)) + tuple(Method("gauss", s) for s in (1, 2, 3)) + \
    tuple(Method("lobatto", s) for s in (2, 3, 4))
DEFAULT, BALANCED = Method("lobatto", 4), Method("gauss", 3)


def plain(name):
  """The name of a bond without TeX."""
  return name.strip("$").replace("_{", "").replace("}", "")


def steps(full):
  return FULL_STEPS if full else QUICK_STEPS


def run(body, space, method, step, end=END):
  """The run of a body, which records around ROWS rows."""
  every = max(1, round(end / step / ROWS))
  settings = method.settings + (f"integrator.step={step:g}", "record.state=false")
  settings += (f"time.end={end:g}",) if end != END else ()
  return Run(f"thesis/elastic-{body}-{space}", settings + ((f"record.every={every}",) if every > 1 else ()))


def error(record, body, space, bond):
  """(times, relative error of the separation of that bond compared with the exact reduced equation)."""
  times = record.times()
  exact = elastic.separation(body, bond, space, times)
  return times, np.abs(record["separation"][:, bond] - exact) / exact


def largest_error(records, body, space, bond, method, step):
  """Largest relative error on [0, 10]; nan if the run has no result."""
  one = run(body, space, method, step)
  return float(np.max(error(records[one], body, space, bond)[1])) if records.has(one) else float("nan")
