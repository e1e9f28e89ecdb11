#!/usr/bin/python3
"""Two bodies that attract each other in S3 and H3 (not a figure of the thesis)."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import orbits
from checks import at_most
from pictures import to_embedding
from runs import Run
from style import BLUE, GREY, ORANGE, SPACE_NAME, picture_axes, plt

TITLE = "Two bodies that attract each other in H³ and S³"
CAPTION = ("V = -m₁m₂ coth d or -m₁m₂ cot d, masses 1 and 2.7. Unlike in flat space there is no centre of mass that "
           "moves freely, and the relative motion does not separate. Right: distance from a solution in extended "
           "precision, and drift of the energy.")
SPACES = ("h3", "s3")
MASSES = (1, 2.7)


def run(space):
  return Run(f"basics/kepler-{space}")


def runs(full):
  return [run(space) for space in SPACES]


def start(space):
  """Embedding positions and velocities from the polar ones of the scenarios, in extended precision."""
  q = np.array([[0.4, np.pi / 2, 0], [0.2, np.pi / 2, np.pi]], dtype=np.longdouble)
  u = np.array([[0.1, 0.2, 3.9], [0, -0.3, 2.9]], dtype=np.longdouble)
  (a, b, g), (da, db, dg) = q.T, u.T
  s, c = orbits.sine(space, a), orbits.cosine(space, a)
  turn = -1 if space == "s3" else 1
  ray = np.stack([np.sin(b) * np.cos(g), np.sin(b) * np.sin(g), np.cos(b)], axis=-1)
  dray = np.stack([np.cos(b) * np.cos(g) * db - np.sin(b) * np.sin(g) * dg,
                   np.cos(b) * np.sin(g) * db + np.sin(b) * np.cos(g) * dg, -np.sin(b) * db], axis=-1)
  x = np.concatenate([s[:, None] * ray, c[:, None]], axis=1)
  v = np.concatenate([(c * da)[:, None] * ray + s[:, None] * dray, (turn * s * da)[:, None]], axis=1)
  return x, v


def draw(records, full):
  canvas = plt.figure(figsize=(10, 7))
  checks = []
  for row, space in enumerate(SPACES):
    record = records[run(space)]
    t, points = record.times(), to_embedding(record["plot_position"], orbits.SIGN[space])
    error = np.max(np.abs(points - orbits.two_bodies(space, 1, MASSES, *start(space), t)), axis=(1, 2)).astype(float)
    energy = record["energy"]
    drift = np.abs(energy / energy[0] - 1)
    name = space.upper()
    checks += [at_most(f"{name}: position error on [0, {t[-1]:g}]", float(np.max(error)), 1e-7),
               at_most(f"{name}: relative drift of the energy", float(np.max(drift)), 1e-9),
               at_most(f"{name}: drift of the six Killing momenta", record.drift("killing_momentum"), 1e-13)]
    axes = picture_axes(canvas, 2, 2, 2 * row + 1)
    x = record["plot_position"]
    for k, color in enumerate((ORANGE, BLUE)):
      axes.plot(*x[:, k].T, color=color, linewidth=0.8)
      axes.plot(*x[-1:, k].T, "o", color=color, markersize=4 + 2 * MASSES[k], label=f"mass {MASSES[k]:g}")
    axes.set_box_aspect(np.ptp(x.reshape(-1, 3), axis=0) + 0.02, zoom=1.3)
    axes.set_title(f"{SPACE_NAME[space]}, " + ("Poincaré ball" if space == "h3" else "stereographic picture"))
    axes.legend(loc="upper left")
    ax = canvas.add_subplot(2, 2, 2 * row + 2)
    ax.semilogy(t, np.where(drift > 0, drift, np.nan), ".", color=GREY, markersize=1.5, label="relative energy error")
    ax.semilogy(t, np.maximum(error, 1e-18), color=BLUE, label="position error")
    ax.set(xlabel="time $t$", ylabel="error", xlim=(0, float(t[-1])), ylim=(1e-17, 1e-10),
           title=f"{SPACE_NAME[space]}, $h = 0.01$")
    ax.legend(loc="upper right", markerscale=4)
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
