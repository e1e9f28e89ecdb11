"""The runs and exact answers that the figures of the rigid rod and triangle share.

Radau IIA with the constraint g = 0 and its derivatives at the step's end: rs2 (2 stages, g = g' = 0), rs3 (3 stages,
g = g' = g'' = 0), in three ways:
    published   the thesis's form: static polar chart, multipliers unscaled, the tolerance applies to every unknown
    scaled      the same chart and equations, multipliers scaled by the step, solved to round-off
    embedding   the default: embedding with a moving origin
and Lobatto IIIA-IIIB with 4 stages in the embedding.

Exact, all parameters 1: the bodies follow the Killing flow, x_i(t) = flow(t) x_i(0). With
q'' = (acceleration on a geodesic) - (l/m) grad d, where d is a rod's length and l its multiplier:
    l = (1/2) sinh 1 (H3), -(1/2) sin 1 (S3), 0 (E3) in the rod and side 23,   0 in sides 12 and 13.
Source: sections 2.7.1 and 2.7.2 of the thesis (eqs 2.70, 2.72, 2.78, 2.80).
"""
import numpy as np

from runs import Run

SPACES = ("h3", "s3")
STEPS = (0.1, 0.01, 0.001)
# In H3 the numbers of the polar chart grow like exp(2a), with a the distance from the origin. The round-off is then larger
# than the difference between `published` and `scaled`.
FAMILIES = {"h3": ("published", "embedding"), "s3": ("published", "scaled", "embedding")}
NAMES = {"rod": ("\\lambda",), "triangle": ("\\lambda_{12}", "\\lambda_{13}", "\\lambda_{23}")}
CONSTRAINTS = {2: "velocity", 3: "acceleration"}
PULL = {"h3": np.sinh(1) / 2, "s3": -np.sin(1) / 2, "e3": 0.0}
END, ROWS = 10, 2000
SHORT = {("rod", "h3"): 2, ("rod", "s3"): 4, ("triangle", "h3"): 0.5, ("triangle", "s3"): 0.5}


def exact(body, space):
  """The exact multipliers in the order of the rods."""
  return np.array([PULL[space]] if body == "rod" else [0, 0, PULL[space]])


def run(body, space, family, stages, step, end=END):
  """A run of Radau IIA; it records around ROWS rows."""
  settings = ("integrator.name=radau_iia", f"integrator.stages={stages}",
              f"integrator.constraints={CONSTRAINTS[stages]}")
  if family != "embedding":
    settings += ("space.chart=polar",)
  if family == "published":
    settings += ("integrator.form=velocity",)
  return Run(f"thesis/rigid-{body}-{space}", settings + common(step, end))


def lobatto(body, space, step=0.01, end=END):
  return Run(f"thesis/rigid-{body}-{space}", common(step, end))


def common(step, end):
  every = max(1, round(end / step / ROWS))
  return (f"integrator.step={step:g}", f"time.end={end:g}", "record.state=false") + \
      ((f"record.every={every}",) if every > 1 else ())


def end_of(body, space, family, step, full):
  """End of the run. The thesis's form solves up to 102 systems per step at the smallest step, so those runs are
  short."""
  slow = family == "published" and step < 0.01
  return SHORT[body, space] if slow and not full else END


def multiplier_error(record, body, space, which="method_multiplier"):
  """(times, absolute error of each multiplier), without the start, where the integrator has no multipliers yet."""
  return record["time"][1:], np.abs(record[which][1:] - exact(body, space))


def flow(space, x, t):
  """Points x[particle] (embedding), moved by the Killing flow of the test bodies for a time t."""
  y = np.array(x, dtype=np.longdouble)
  t = np.longdouble(t)
  if space == "e3":
    y[:, 0] += t
  elif space == "h3":
    y[:, 0], y[:, 3] = np.cosh(t) * x[:, 0] + np.sinh(t) * x[:, 3], np.sinh(t) * x[:, 0] + np.cosh(t) * x[:, 3]
  else:
    y[:, 0], y[:, 1] = np.cos(t) * x[:, 0] - np.sin(t) * x[:, 1], np.sin(t) * x[:, 0] + np.cos(t) * x[:, 1]
  return y


def start(body, space):
  """Positions at t = 0 in the embedding, equal to those of the scenarios."""
  half = np.longdouble("0.5")
  if space == "h3":
    ahead = np.arccosh(np.cosh(2 * half) / np.cosh(half))
    x = [[0, np.sinh(half), 0, np.cosh(half)], [0, -np.sinh(half), 0, np.cosh(half)]]
    first = [np.sinh(ahead), 0, 0, np.cosh(ahead)]
  elif space == "s3":
    ahead = np.arccos(np.cos(2 * half) / np.cos(half))
    x = [[np.cos(half), 0, 0, np.sin(half)], [np.cos(half), 0, 0, -np.sin(half)]]
    first = [np.cos(ahead), np.sin(ahead), 0, 0]
  else:
    x, first = [[0, half, 0], [0, -half, 0]], [np.sqrt(3 * half * half), 0, 0]
  return np.array(([first] if body == "triangle" else []) + x, dtype=np.longdouble)


def off_the_flow(record, body, space):
  """Largest distance of a particle's embedding coordinates from the Killing flow at the end, relative to their size."""
  expected = flow(space, start(body, space), record["time"][-1])
  return float(np.max(np.abs(record["coordinates"][-1] - expected)) / max(1, np.max(np.abs(expected))))
