"""Generic rigid bodies by three unrelated integrators: their runs, and the distances between the results.

    lobatto    symplectic, in the embedding          radau_iia   constraints `ggl`, embedding; both: 4 stages (chain: 5)
    ida        SUNDIALS IDA on the index-reduced equations; it chooses its own steps
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
# Allowed differences from Lobatto's result, for positions and for multipliers (relative to the largest). IDA's
# tolerance applies to one step; over many steps the error is some thousand times larger. The ends of the pulled chain
# whip, which magnifies every error.
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
  x, y = (to_embedding(r["plot_position"], K) if K else r["plot_position"] for r in (one, other))
  return np.max(chord_distance(x, y, K), axis=-1)


def multipliers_apart(one, other):
  """Largest difference of a multiplier, relative to the largest multiplier."""
  a, b = one["multiplier"], other["multiplier"]
  return float(np.max(np.abs(a - b)) / np.max(np.abs(a)))


def length_error(record):
  d = record["separation"]
  return float(np.max(np.abs(d - d[0])))
