#!/usr/bin/python3
"""A two-link planar cat without a fluid rotates in agreement with the conservation of angular momentum."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, fitted_order
from runs import Run
from style import BLACK, BLUE, GREY, ORANGE, panels

TITLE = "A two-link planar cat: a body that bends rotates without angular momentum"
CAPTION = ("Two boxes joined at the origin start at rest, without a fluid. The angle of the front box relative to the "
           "hind box is α = 2 sin²t. θ₁′ = -(I₂ + m a₂² + m a₁ a₂ cos α)/(I₁ + I₂ + m (a₁² + a₂² + 2 a₁ a₂ cos α)) α′, "
           "m = m₁m₂/(m₁ + m₂). Left: the angle of the hind link over α, and the integral of this equation. Right: the "
           "largest error of the angle on [0, 4] over the step, for Hamilton–Pontryagin and Runge–Kutta–Munthe-Kaas.")
BEND, DENSITY = 2.0, 1000.0
# Ends along x, and half width, of scenarios/immersed/two-links.obj; the joint is at 0.
HIND, FRONT = (-1.0, -0.02, 0.15), (0.02, 0.62, 0.1)
METHODS = {"hamilton_pontryagin": (BLUE, 2), "rkmk4": (ORANGE, 4)}
STEPS = (0.08, 0.04, 0.02, 0.01, 0.005)


def run(method, step):
  return Run("immersed/cat", (f"integrator.name={method}", f"integrator.step={step:g}",
                              f"record.every={round(0.16 / step)}"))


def runs(full):
  return [run(method, step) for method in METHODS for step in STEPS]


def link(box):
  """(mass, moment of inertia about the centre, distance of the centre from the joint)"""
  length, width = box[1] - box[0], 2 * box[2]
  mass = DENSITY * length * width * width
  return mass, mass * (length ** 2 + width ** 2) / 12, abs(box[0] + box[1]) / 2


def turned(alpha):
  """Angle of the hind link by Gauss's rule with 60 points; exact to round-off for such a smooth integrand."""
  m1, I1, a1 = link(HIND)
  m2, I2, a2 = link(FRONT)
  m = m1 * m2 / (m1 + m2)
  node, weight = np.polynomial.legendre.leggauss(60)
  beta = np.multiply.outer(alpha, (node + 1) / 2)
  slope = -(I2 + m * a2 ** 2 + m * a1 * a2 * np.cos(beta)) / \
      (I1 + I2 + m * (a1 ** 2 + a2 ** 2 + 2 * a1 * a2 * np.cos(beta)))
  return alpha * np.sum(slope * weight / 2, axis=-1)


def draw(records, full):
  canvas, ((left, right),) = panels(1, 2, 5, 3.8)
  checks, rows = [], []
  for method, (colour, order) in METHODS.items():
    errors = []
    for step in STEPS:
      record = records[run(method, step)]
      t, pose = record["time"], record["pose"][:, 0]
      alpha = BEND * np.sin(t) ** 2
      angle = 2 * np.arctan2(pose[:, 6], pose[:, 3])
      errors.append(float(np.max(np.abs(angle - turned(alpha)))))
      moved = float(np.max(np.abs(record["centre"][:, 0] - record["centre"][0, 0])))
    fit, points = fitted_order(STEPS, errors, 1e-12, top=0.5)
    right.loglog(STEPS, errors, "o-", color=colour, label=method)
    checks += [Check(f"{method}: order by fit", f"{fit:.2f} ({points} points)", f"{order} ± 0.2",
                     abs(fit - order) <= 0.2),
               at_most(f"{method}: angle at step {STEPS[-1]}, largest error", errors[-1], {2: 1e-5, 4: 1e-10}[order]),
               at_most(f"{method}: the centre of mass moves, m", moved, {2: 1e-5, 4: 1e-10}[order])]
    rows.append([method] + [f"{e:.2e}" for e in errors])
    left.plot(alpha, np.degrees(angle), "o", color=colour, label=method, markersize=6 if order == 2 else 3)
  smooth = np.linspace(0, BEND, 200)
  left.plot(smooth, np.degrees(turned(smooth)), color=BLACK, label="conservation law", linewidth=0.8)
  left.axhline(0, color=GREY, linewidth=0.7)
  left.set(xlabel=r"$\alpha$ (rad)", ylabel=r"$\theta_1$ (degrees)")
  left.legend()
  right.set(xlabel="step (s)", ylabel="largest error of the angle (rad)")
  right.legend()
  table = figure.Table("Largest error of the angle", ["method"] + [f"h = {h:g}" for h in STEPS], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
