#!/usr/bin/python3
"""Figure 2.7: the configuration space of two spheres, its boundary, and reflection there; head-on contacts."""
import numpy as np
from matplotlib.lines import Line2D

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from pictures import to_embedding
from runs import Run
from style import BLACK, BLUE, ORANGE, PURPLE, legend_below, panels

TITLE = "Figure 2.7: reflection at the boundary of configuration space, and head-on contacts"
CAPTION = ("Two spheres on one geodesic of H³ (left) and on a great circle of S³ (right), masses 1 and 1 (blue) and 1 "
           "and 2.7 (orange). The configuration space is the plane or torus of their positions without the grey strip "
           "in which they would overlap. The middle panel has the coordinates √m x, so the kinetic metric is Euclidean "
           "on the page: there velocities are reflected at the boundary (dashed), which is inclined for unequal "
           "masses. V: before the contact; R(V): after it.")
SPACES = ("e3", "h3", "s3", "h2xe")
MASSES = (1, 2.7)
COLOURS = {1: BLUE, 2.7: ORANGE}
WIDTHS = {1: 3.5, 2.7: 1.5}  # the dashed line keeps both curves visible where they coincide


def run(space, mass):
  return Run(f"collisions/head-on-{space}", (f"bodies.1.mass={mass}",))


def runs(full):
  return [run(space, mass) for space in SPACES for mass in MASSES]


def places(space, record):
  """Positions of the two spheres on their geodesic, [T, 2]: arc length from the middle (S3: the angle)."""
  x = record["plot_position"]
  if space == "e3":
    return x[..., 0]
  if space == "h3":
    return 2 * np.arctanh(x[..., 0])
  if space == "s3":
    points = to_embedding(x, 1)
    return np.unwrap(np.arctan2(points[..., 1], points[..., 0]), axis=0)
  a = 2 * np.arctanh(x[..., 0])  # H2 x E: along (cos 0.7, sin 0.7)
  return np.sign(a) * np.hypot(a, x[..., 2])


def course(space, mass, t):
  """Exact positions: masses 1 and `mass` start at ±start with the speed 1/2; at contact the relative speed changes its sign."""
  start, apart = (1.5, 1.0) if space == "s3" else (2.0, 1.0)
  sign = np.array([-1, 1]) if space == "s3" else np.array([1, -1])
  centre = np.sum(sign * np.array([-0.5, -0.5]) * np.array([1, mass])) / (1 + mass)  # speed of the centre of mass
  if space == "s3":
    moments, speed, gap = [2, 2 * np.pi], 1, 2 * start
  else:
    moments, speed, gap = [3], 1, 2 * start
  middle = centre * t + start * (sign[0] + mass * sign[1]) / (1 + mass)
  relative = np.interp(t, [0] + moments + [10], [gap] + ([1, 2 * np.pi - 1] if space == "s3" else [1]) +
                       [2 * np.pi - 1 - (10 - moments[-1]) * speed if space == "s3" else 8])
  return np.stack([middle + sign[0] * relative * mass / (1 + mass), middle + sign[1] * relative / (1 + mass)], axis=-1)


def separation(space, record):
  x = places(space, record)
  d = np.abs(x[:, 1] - x[:, 0])
  return np.minimum(d, 2 * np.pi - d) if space == "s3" else d


def draw(records, full):
  canvas, ((left, middle, right),) = panels(1, 3, 2.53, 3)
  checks, rows = [], []
  for space in SPACES:
    for mass in MASSES:
      record = records[run(space, mass)]
      t, name = record["time"], f"{space.upper()}, masses 1 and {mass:g}"
      wanted = [2, 2 * np.pi] if space == "s3" else [3]
      found, end = record["event_time"], separation(space, record)[-1]
      last = 4 * np.pi - 11 if space == "s3" else 8
      error = float(np.max(np.abs(found - wanted))) if len(found) == len(wanted) else np.inf
      off = places(space, record) - course(space, mass, t)
      if space == "s3":
        off = (off + np.pi) % (2 * np.pi) - np.pi
      checks += [at_most(f"{name}: moments of contact", error, 1e-12),
                 at_most(f"{name}: separation at t = 10", float(abs(end - last)), 1e-12),
                 at_most(f"{name}: error of the positions at all times", float(np.max(np.abs(off))), 1e-12),
                 at_most(f"{name}: relative drift of the energy", record.drift("energy"), 1e-13)]
      rows.append([name, ", ".join(f"{s:.16g}" for s in found), f"{end:.15g}",
                   ", ".join(f"{j:.15g}" for j in record["event_impulse"])])
  for mass in MASSES:
    x = places("h3", records[run("h3", mass)])
    left.plot(*x.T, color=COLOURS[mass], linewidth=WIDTHS[mass], label=f"masses 1, {mass:g}")
    scaled = x * np.sqrt([1, mass])
    middle.plot(*scaled.T, color=COLOURS[mass], linewidth=WIDTHS[mass])
    boundary = np.array([[4, 3], [-4, -5]]) * np.sqrt([1, mass])
    middle.plot(*boundary.T, color=COLOURS[mass], linewidth=0.8, linestyle="--")
    hit = np.argmin(np.abs(np.array(records[run("h3", mass)]["time"]) - 3))
    step = 2 * (scaled[hit] - scaled[hit - 20]) / np.linalg.norm(scaled[hit] - scaled[hit - 20])
    away = 2 * (scaled[hit + 20] - scaled[hit]) / np.linalg.norm(scaled[hit + 20] - scaled[hit])
    for vector, colour in ((step, BLACK), (away, PURPLE)):
      middle.annotate("", scaled[hit] + vector, scaled[hit], arrowprops={"arrowstyle": "-|>", "color": colour, "lw": 1.6,
                                                                     "shrinkA": 0, "shrinkB": 0}, zorder=5)
    along = boundary[1] - boundary[0]
    along = along / np.linalg.norm(along)
    mirrored = 2 * np.dot(along, step) * along - step
    checks.append(at_most(f"H3, masses 1 and {mass:g}: reflected in the kinetic metric",
                          float(np.max(np.abs(mirrored - away))), 1e-12))
    angle = places("s3", records[run("s3", mass)])
    for part in pieces((angle + np.pi) % (2 * np.pi) - np.pi):
      right.plot(*part.T, color=COLOURS[mass], linewidth=WIDTHS[mass])
  left.fill_between([-6, 6], [-7, 5], [-5, 7], color="#cccccc", linewidth=0)
  left.set(xlim=(-6, 6), ylim=(-6, 6), xticks=range(-6, 7, 3), yticks=range(-6, 7, 3),
           xlabel="$x_1$", ylabel="$x_2$", title="$H^3$, a geodesic")
  velocities = [Line2D([], [], color=colour, marker=">", markevery=[1], label=label) for colour, label in
                ((BLACK, "$V$"), (PURPLE, "$R(V)$"))]
  legend_below(canvas, left.get_legend_handles_labels()[0] + velocities, columns=4)
  middle.set(xlim=(-5, 5), ylim=(-5, 5), xlabel="$\\sqrt{m_1}\\,x_1$", ylabel="$\\sqrt{m_2}\\,x_2$",
             title="$H^3$, in the kinetic metric")
  x = np.array([-np.pi, np.pi])
  for shift in (-2 * np.pi, 0, 2 * np.pi):
    right.fill_between(x, x - 1 + shift, x + 1 + shift, color="#cccccc", linewidth=0)
  right.set(xlim=(-np.pi, np.pi), ylim=(-np.pi, np.pi), xlabel="$x_1$", ylabel="$x_2$",
            title="$S^3$, a great circle")
  for ax in (left, middle, right):
    ax.set_aspect("equal")
  table = figure.Table("Head-on contacts", ["case", "times of contact", "separation(10)", "impulse"], rows)
  return figure.Drawing(canvas, checks, [table])


def pieces(path):
  """A path on the torus, interrupted where it crosses an edge."""
  cuts = np.nonzero(np.max(np.abs(np.diff(path, axis=0)), axis=1) > np.pi)[0] + 1
  return np.split(path, cuts)


if __name__ == "__main__":
  figure.main(globals())
