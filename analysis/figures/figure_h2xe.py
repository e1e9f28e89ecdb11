#!/usr/bin/python3
"""Section 2.8.1: a rigid rod and a rigid triangle rotate out of the hyperbolic plane in H2 x E."""
import numpy as np
from matplotlib.lines import Line2D

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import frames_h2xe
from checks import at_most, near
from runs import Run
from style import BLACK, BLUE, GREEN, GREY, PURPLE, VERMILION, picture_axes, plt

TITLE = "Rigid rod and triangle that rotate out of the hyperbolic plane in H²×E (section 2.8.1)"
CAPTION = ("The bodies rotate around an axis that no isometry has. The rod rotates in a flat plane, as in Euclidean "
           "space. The triangle keeps its sides, so its height and angles change twice per turn: a solid could not "
           "move like this. Above: the bodies in the cylinder (Poincaré disk times E) over half a turn. Dots: exact "
           "solution of the reduced equation. Below: errors of positions of both bodies; changes of conserved "
           "quantities of the triangle. The height is the distance of particle 1 from the middle of the side 23; the "
           "angles at particles 2 and 3 are almost equal to that at particle 1.")
BODIES = ("rod", "triangle")
AWAY = ("bodies.0.place.move=[{killing: boost_x, by: 1}]",)
TOLERANCE = 1e-12
CORNERS = ((0, 1, 2), (1, 0, 2), (2, 0, 1))


def run(body, method="lobatto", away=False):
  settings = AWAY if away else ()
  if method == "ida":
    settings += ("integrator.name=ida", f"integrator.rtol={TOLERANCE:g}", f"integrator.atol={TOLERANCE / 100:g}")
  return Run(f"thesis/h2xe-rigid-{body}", settings)


def runs(full):
  return [run(body, method, away) for body in BODIES for method in ("lobatto", "ida") for away in (False, True)]


def exact(body, times, away):
  x = frames_h2xe.rod(times) if body == "rod" else frames_h2xe.triangle(times)
  return frames_h2xe.boosted(x, 1) if away else x


def log(x, y):
  """The tangent vector at x of the geodesic to y; arrays of points (x, y, w, z) along the last axis."""
  form = np.array([1.0, 1, -1])
  h, k = x[..., :3], y[..., :3]
  d = 2 * np.arcsinh(np.sqrt(np.maximum(0, np.sum(form * (h - k) ** 2, axis=-1, keepdims=True))) / 2)
  along = k - np.cosh(d) * h
  scale = np.where(d > 0, d / np.where(d > 0, np.sinh(d), 1), 1)
  return np.concatenate([scale * along, y[..., 3:] - x[..., 3:]], axis=-1)


def inner(u, v):
  return np.sum(np.array([1.0, 1, -1, 1]) * u * v, axis=-1)


def angle(x, corner, one, two):
  """Angle in degrees between the sides at a corner."""
  u, v = log(x[:, corner], x[:, one]), log(x[:, corner], x[:, two])
  return np.degrees(np.arccos(inner(u, v) / np.sqrt(inner(u, u) * inner(v, v))))


def height(x):
  """Distance of particle 1 from the middle of the side 23."""
  middle = x[:, 1] + x[:, 2]
  size = np.sqrt(-np.sum(np.array([1.0, 1, -1]) * middle[:, :3] ** 2, axis=-1))
  middle = np.concatenate([middle[:, :3] / size[:, None], middle[:, 3:] / 2], axis=-1)
  u = log(x[:, 0], middle)
  return np.sqrt(inner(u, u))


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 8.6))
  checks = []
  for k, body in enumerate(BODIES):
    cylinder(picture_axes(canvas, 3, 2, 1 + k), records[run(body)]["coordinates"], body)
  record = records[run("triangle")]
  t, x = record["time"], record["coordinates"]
  sample = np.arange(0, len(t), 25)
  reference = exact("triangle", record.times()[sample], False).astype(float)
  ax = canvas.add_subplot(3, 2, 3)
  ax.plot(t, height(x), color=BLUE)
  ax.plot(t[sample], height(reference), "o", color=GREY, markersize=3)
  ax.set(xlabel="time $t$", xlim=(0, 10), ylabel="height of the triangle")
  ax.legend(handles=[Line2D([], [], color=BLUE, label="Lobatto"),
                     Line2D([], [], marker="o", linestyle="", color=GREY, markersize=3, label="exact")],
            loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
  ax = canvas.add_subplot(3, 2, 4)
  for corner, color, line in zip(CORNERS, (BLUE, VERMILION, GREEN), ("-", "-", (0, (4, 4)))):
    ax.plot(t, angle(x, *corner), linestyle=line, color=color, label=f"at particle {corner[0] + 1}",
            linewidth=1.2)
    ax.plot(t[sample], angle(reference, *corner), "o", color=GREY, markersize=2.5)
  total = sum(angle(x, *corner) for corner in CORNERS)
  ax.axhline(60, color=BLACK, linestyle=":", linewidth=1)
  ax.set(title=f"sum of the angles: {np.min(total):.1f}° to {np.max(total):.1f}°", xlabel="time $t$",
         ylabel="angles of the triangle (°)", xlim=(0, 10), ylim=(52, 60.5))
  ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, columnspacing=1, handlelength=1.2)
  checks += [near("minimum height of the triangle, side 23 in the hyperbolic plane", float(np.min(height(x))),
                  float(np.arccosh(np.cosh(1) / np.cosh(0.5))), 1e-5, digits=6),
             near("maximum height, side 23 along E", float(np.max(height(x))), np.sqrt(3) / 2, 1e-12, digits=13)]
  places = canvas.add_subplot(3, 2, 5)
  kept = canvas.add_subplot(3, 2, 6)
  checks += compare(places, kept, records)
  return figure.Drawing(canvas, checks)


def compare(places, kept, records):
  found = []
  style = {"rod": "--", "triangle": "-"}
  for body in BODIES:
    for away in (False, True):
      where = f"{body}, " + ("centred at a = 1" if away else "centred at the origin")
      record, ida = records[run(body, away=away)], records[run(body, "ida", away)]
      for method, r, bound, color in (("Lobatto", record, 1e-13, BLUE), ("IDA", ida, 1e-8, VERMILION)):
        error = np.max(np.abs(r["coordinates"] - exact(body, r.times(), away)), axis=(1, 2)).astype(float)
        found.append(at_most(f"{where}: difference of positions, {method} and reduced equation", float(np.max(error)), bound))
        if not away:
          places.semilogy(r["time"], np.maximum(error, 1e-18), style[body], color=color, label=f"{body}, {method}")
      found.append(at_most(f"{where}: difference of positions, Lobatto and IDA",
                           float(np.max(np.abs(record["coordinates"] - ida["coordinates"]))), 1e-8))
      found.append(at_most(f"{where}: |d - 1|", float(np.max(np.abs(record["separation"] - 1))), 1e-13))
      found.append(at_most(f"{where}: relative drift of the energy", record.drift("energy"), 1e-13))
      momenta = record["killing_momentum"]
      found.append(at_most(f"{where}: drift of the four Killing momenta", float(np.max(np.abs(momenta - momenta[0]))),
                           1e-13))
      if body == "rod":
        found.append(at_most(f"{where}: force of the rod, error of 1/2",
                             float(np.max(np.abs(record["multiplier"] - 0.5))), 1e-11))
      elif not away:
        conserved(kept, record)
  places.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=2)
  places.set(ylabel="error of positions", xlabel="time $t$", xlim=(0, 10), ylim=(1e-18, 1e-8))
  return found


def so_far(change):
  """Running maximum of |change|: curves of single values, which are round-off, would fill the panel."""
  return np.maximum(np.maximum.accumulate(np.abs(change)), 1e-18)


def conserved(ax, record):
  t, energy, momenta = record["time"], record["energy"], record["killing_momentum"]
  ax.semilogy(t, so_far(energy / energy[0] - 1), color=BLACK, label="energy")
  for k, (name, color) in enumerate(zip(record.labels("killing"), (BLUE, VERMILION, GREEN, PURPLE))):
    ax.semilogy(t, so_far(momenta[:, k] - momenta[0, k]), color=color, label=name.replace("_", " "))
  ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, columnspacing=1, handlelength=1.2)
  ax.set(ylabel="largest change so far", xlabel="time $t$", xlim=(0, 10), ylim=(1e-18, 1e-14))


def cylinder(ax, x, body):
  """Positions of the body at times 0 to pi: disk coordinates of H2, and z."""
  turn = np.linspace(0, 2 * np.pi, 100)
  for z in (-0.6, 0.6):
    ax.plot(np.cos(turn), np.sin(turn), z, color=GREY, linewidth=0.8)
  for a in np.linspace(0, 2 * np.pi, 12, endpoint=False):
    ax.plot([np.cos(a)] * 2, [np.sin(a)] * 2, [-0.6, 0.6], color=GREY, linewidth=0.4)
  for k in range(0, 315, 39 if body == "rod" else 78):
    color = plt.cm.viridis(k / 340)
    for i, j in ((0, 1), (0, 2), (1, 2))[:1 if body == "rod" else 3]:
      ax.plot(*side(x[k, i], x[k, j]).T, color=color, linewidth=1.6)
    ax.plot(*disk(x[k]).T, "o", color=color, markersize=3)
  ax.set_box_aspect((1, 1, 0.62), zoom=1.5)
  ax.view_init(24, -60)
  ax.set_title(f"{body}, $t$ = 0 (dark) to π (bright)")


def disk(x):
  return np.concatenate([x[..., :2] / (1 + x[..., 2:3]), x[..., 3:]], axis=-1)


def side(p, q, count=20):
  """The geodesic between two points, in the cylinder."""
  s, u = np.linspace(0, 1, count)[:, None], log(p, q)
  d = np.sqrt(max(0.0, float(np.sum(np.array([1.0, 1, -1]) * u[:3] ** 2))))
  h = np.cosh(s * d) * p[:3] + (np.sinh(s * d) * u[:3] / d if d > 0 else 0)
  return disk(np.concatenate([h, p[3] + s * u[3]], axis=1))


if __name__ == "__main__":
  figure.main(globals())
