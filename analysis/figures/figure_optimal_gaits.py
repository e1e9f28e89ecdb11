#!/usr/bin/python3
"""Optimal gaits of Purcell's swimmer on the curvature that they enclose, and the region where its links do not cross."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_least, at_most, near
from locomotion import Field, chain, ellipse, field_run
from optimal import FOLDED, STRAIGHT, Z, draw_apart, move_run, optimal_run
from style import BLACK, BLUE, GREEN, PURPLE, VERMILION, plt

TITLE = "Optimal gaits of Purcell's swimmer on the curvature"
CAPTION = ("Closed loops of shapes with minimum cost; black: zeros of the curvature. Above: gaits around the straight "
           "shape on B_x, for X = .01 to .1, which approach the zeros as they grow; gaits around a Z, on B along the "
           "direction of motion of the smallest of them. Below: gaits that rotate the swimmer by θ = .03 to .3, on "
           "B_θ; the body during the gaits of X = .05 and at the middle of θ = .1. Dashed: border of the region where "
           "links 1 and 3 cross (r₁ + 2 r₂ and 2 r₁ + r₂ both above 2π). The gaits that rotate the swimmer enter it; "
           "those that move it do not. Thick: X = .03 with both angles within .7, and θ = .1 with links that do not "
           "cross.")
DISTANCES = (0.01, 0.03, 0.05, 0.08, 0.1)
TURNS = (0.03, 0.1, 0.2, 0.3)
MOST = 3.1
FIELD = field_run("purcell", (-MOST, -MOST), (MOST, MOST), 125)
# By shooting: r1 = r2 at the point where the gait around the straight shape crosses the diagonal; and r1 = r2 at the
# middle of small gaits that rotate the swimmer.
ON_DIAGONAL = {0.01: 0.207486787210, 0.03: 0.442042215276, 0.05: 0.663382472070}
MIDDLE_OF_TURN = 1.97760319


def turn_run(angle, *words):
  middle = (MIDDLE_OF_TURN, MIDDLE_OF_TURN)
  return optimal_run("purcell", "--turn", f"{angle:g}", *words, settings=ellipse(0.6 * angle ** 0.5, middle, -1))


APART = turn_run(0.1, "--no-crossing")
BOUNDED = optimal_run("purcell", "--move", "0.03", "--bounds=-0.7:0.7", settings=ellipse(0.4))
SHOWN = {move_run(STRAIGHT, 0.05): BLUE, move_run(FOLDED, 0.05): VERMILION, turn_run(0.1): GREEN}


def runs(full):
  return [FIELD] + [move_run(b, X) for b in (STRAIGHT, FOLDED) for X in DISTANCES] + [turn_run(a) for a in TURNS] + \
      [APART, BOUNDED]


def draw(records, full):
  canvas, axes = plt.subplots(2, 2, figsize=(11.5, 10.2))
  axes = axes.ravel()
  field = Field(records[FIELD], ("alpha1", "alpha2"))
  near_z = np.abs(field.first - Z).argmin(), np.abs(field.second + Z).argmin()
  along = field.B[near_z][:2] / np.hypot(*field.B[near_z][:2])
  # A third axis besides x, y and theta: the direction of motion of a small gait around the Z.
  field.B = np.concatenate([field.B, (field.B[..., :2] @ along)[..., None]], axis=-1)
  for ax, axis, title in ((axes[0], 0, "$B_x$"), (axes[1], 3, "$B$ along its way"), (axes[2], 2, r"$B_\theta$")):
    field.height(ax, axis, title, gait=False)
  families = ((axes[0], [move_run(STRAIGHT, X) for X in DISTANCES], BLUE),
              (axes[1], [move_run(FOLDED, X) for X in DISTANCES], VERMILION),
              (axes[2], [turn_run(a) for a in TURNS], GREEN))
  for ax, members, colour in families:
    for run in members:
      loop = records[run]["shape"]
      ax.plot(*loop.T, color=BLACK, linewidth=1.3)
      axes[3].plot(*loop.T, color=colour, linewidth=0.6 if run not in SHOWN else 1.6)
    draw_apart(ax, MOST)
  for ax, run in ((axes[0], BOUNDED), (axes[2], APART)):
    ax.plot(*records[run]["shape"].T, color=PURPLE, linewidth=2.2)
  draw_bodies(axes[3], records)
  return figure.Drawing(canvas, measure(records))


def draw_bodies(ax, records):
  for run, colour in SHOWN.items():
    loop = records[run]["shape"][:-1]
    for r in loop[::len(loop) // 4] if colour != GREEN else [loop.mean(axis=0)]:
      x = 1.1 * chain(r)
      ax.plot(*(r + x - x.mean(axis=0)).T, color=colour, linewidth=2.6, solid_capstyle="round")
      ax.plot(*r, ".", color=BLACK, markersize=4)
  draw_apart(ax, MOST)
  ax.set(xlim=(-MOST, MOST), ylim=(-MOST, MOST), xlabel=r"$\alpha_1$", ylabel=r"$\alpha_2$", title="bodies")
  ax.set_aspect("equal")


def on_diagonal(record):
  """r1 at the crossing of r1 = r2 > 0, by the cubic through neighbouring rows and their slopes."""
  r, rate, t = record["shape"], record["rate"], record["time"]
  d = r[:, 0] - r[:, 1]
  for k in np.flatnonzero(d[:-1] * d[1:] <= 0):
    if r[k, 0] > 0:
      h = t[k + 1] - t[k]
      s = np.linspace(0, 1, 20001)[:, None]
      cubic = (r[k] * (1 + 2 * s) + h * rate[k] * s) * (1 - s) ** 2 + \
          (r[k + 1] * (3 - 2 * s) - h * rate[k + 1] * (1 - s)) * s ** 2
      return float(cubic[np.abs(cubic[:, 0] - cubic[:, 1]).argmin()].mean())
  return float("nan")


def room(loop):
  """Distance of the loop from the crossing of links 1 and 3: the minimum of 2 pi minus the smaller of |r1 + 2 r2| and
  |2 r1 + r2|, over shapes whose angles have the same sign."""
  one, other = (np.sign(loop.sum(axis=1)) * (loop @ weights) for weights in ((1, 2), (2, 1)))
  same = loop[:, 0] * loop[:, 1] > 0
  return float(np.min(2 * np.pi - np.minimum(one, other)[same], initial=np.inf))


def measure(records):
  # E is stationary, so the error of a gait is the square root of the error of its cost.
  checks = [near(f"around the straight shape, X = {X:g}: r₁ = r₂ at", on_diagonal(records[move_run(STRAIGHT, X)]), s,
                 2e-8, 11) for X, s in ON_DIAGONAL.items()]
  turning = [records[turn_run(a)] for a in TURNS]
  checks.append(near("turn by .1: E", float(turning[TURNS.index(0.1)]["cost"][0]), 0.034936705669, 1e-12, 12))
  (a, b), (e, f) = TURNS[:2], (float(r["cost"][0]) for r in turning[:2])
  checks.append(near("rotation: E/θ of small gaits, from the two smallest members",
                     e / a - (f / b - e / a) * a / (b - a), 0.341888564645, 1e-3, 6))
  checks.append(at_most("rotation by .1: links 1 and 3 cross; 2π minus the smaller sum", room(turning[1]["shape"]), 0))
  loop, corner = records[APART]["shape"], 2 * np.pi / 3
  checks.append(near("rotation by .1 without crossing: E", float(records[APART]["cost"][0]), 0.034983464790, 1e-12, 12))
  checks.append(at_most("the tips meet at (2π/3, 2π/3), a corner of the loop: distance of the loop from this point",
                        float(np.min(np.hypot(*(loop - corner).T))), 1e-9))
  checks.append(near("X = .03, angles within .7: E", float(records[BOUNDED]["cost"][0]), 0.134475538116, 1e-11, 12))
  checks.append(at_most("its largest angle", float(np.max(np.abs(records[BOUNDED]["shape"]))), 0.7 + 1e-9))
  swimming = [room(records[move_run(b, X)]["shape"]) for b in (STRAIGHT, FOLDED) for X in DISTANCES]
  checks.append(at_least("all gaits with a distance: links do not cross; 2π minus the smaller sum", min(swimming), 0.1))
  drift = max(float(np.max(np.abs(np.diff(records[run]["momentum"][[0, -1]], axis=0)))) for run in runs(False)[1:-2])
  checks.append(at_most("p = Mr′ + ⟨λ, A⟩ at the end minus at the start, all free gaits", drift, 1e-8))
  index = max(int(records[run]["index"][0]) for run in runs(False)[1:])
  checks.append(Check("every gait is a local minimum: index", str(index), "0", index == 0))
  return checks


if __name__ == "__main__":
  figure.main(globals())
