"""Generic rigid bodies by three methods that have nothing in common: runs, distances between them, checks.

    lobatto    symplectic, in the embedding          radau_iia   ggl, 4 stages, in the embedding
    ida        SUNDIALS IDA on the index-reduced equations, steps of its own choice
"""
import numpy as np

from pictures import to_embedding
from record import chord_distance
from runs import Run

SPACES = ("e3", "s3", "h3")
CURVED = {"e3": 0, "s3": 1, "h3": -1}
BODIES = ("triangle", "tetrahedron", "chain")
METHODS = ("lobatto", "radau_iia", "ida")
FREE = ("potentials=[]",)
STEP = {"triangle": 0.01, "tetrahedron": 0.01, "chain": 0.00125}
OUTPUT = {"triangle": 0.1, "tetrahedron": 0.1, "chain": 0.05}
STAGES = {"triangle": 4, "tetrahedron": 4, "chain": 5}
TOLERANCE, LOOSER = 1e-12, 1e-9
# What places and multipliers (to the largest) may differ by from Lobatto's. IDA's tolerance is of
# one step: over many the error is some thousand times that. The pulled chain's ends whip, which magnifies every error.
PLACES = {"radau_iia": {"body": 1e-12, "chain, free": 1e-12, "chain, pulled": 1e-8},
          "ida": {"body": 1e-8, "chain, free": 1e-10, "chain, pulled": 1e-8}}
MULTIPLIERS = {"radau_iia": {"body": 1e-12, "chain, free": 1e-8, "chain, pulled": 1e-6},
               "ida": {"body": 1e-8, "chain, free": 1e-7, "chain, pulled": 1e-5}}


def allowed(bounds, method, body, free):
  return bounds[method]["body" if body != "chain" else "chain, free" if free else "chain, pulled"]


def run(body, space, method, free, tolerance=TOLERANCE):
  settings = FREE if free else ()
  if method == "ida":
    settings += ("integrator.name=ida", f"integrator.rtol={tolerance:g}", f"integrator.atol={tolerance / 100:g}",
                 f"integrator.step={OUTPUT[body]:g}", "record.every=1")
  else:
    if method == "radau_iia":
      settings += ("integrator.name=radau_iia", "integrator.solver=fixed-point")
    settings += (f"integrator.stages={STAGES[body]}", f"integrator.step={STEP[body]:g}",
                 f"record.every={round(OUTPUT[body] / STEP[body])}")
  return Run(f"rigid/{body}-{space}", settings)


def apart(one, other, space):
  """Largest distance between the same particles of two runs, at each row."""
  K = CURVED[space]
  x, y = (to_embedding(r["x"], K) if K else r["x"] for r in (one, other))
  return np.max(chord_distance(x, y, K), axis=-1)


def multipliers_apart(one, other):
  """Largest difference of a multiplier, relative to the largest there is."""
  a, b = one["multiplier"], other["multiplier"]
  return float(np.max(np.abs(a - b)) / np.max(np.abs(a)))


def length_error(record):
  d = record["separation"]
  return float(np.max(np.abs(d - d[0])))
