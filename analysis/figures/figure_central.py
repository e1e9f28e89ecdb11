#!/usr/bin/python3
"""Orbits around a fixed centre, V = -GM cot a in S3 and -GM coth a in H3 (not a figure of the thesis)."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import orbits
import thesis
from checks import at_most, near
from pictures import draw_circle
from runs import Run
from style import BLACK, GREY, SPACE_COLOR, SPACE_NAME, panels

TITLE = "Orbits around a fixed centre in H³ and S³"
CAPTION = ("V = -10 cot a or -10 coth a. Left: the recorded orbit (colour) and ct(a) = (GM/L²)(1 + e cos(g - g₀)) "
           "(dots) in plot coordinates. Right: errors of the distance a and of the orbit's angle g, compared with a "
           "solution in extended precision.")
STRENGTH = 10
RATE = {"h3": -1.2 / np.tanh(np.longdouble(1)), "s3": np.longdouble(-4)}  # g' at the start, a = 1, a' = 0
SPACES = ("h3", "s3")


def run(space):
  return Run(f"thesis/central-{space}")


def runs(full):
  return [run(space) for space in SPACES]


def shape(space):
  """GM/L^2, where L is the angular momentum, and the eccentricity e. The orbit starts at the far apsis,
  ct(a) = (GM/L^2)(1 - e), where ct is cot or coth."""
  s, c = orbits.sine(space, np.longdouble(1)), orbits.cosine(space, np.longdouble(1))
  parameter = STRENGTH / (s ** 2 * RATE[space]) ** 2
  return parameter, 1 - c / s / parameter


def draw(records, full):
  canvas, axes = panels(2, 2, width=4.8, height=3.7)
  checks = []
  for row, space in enumerate(SPACES):
    record = records[run(space)]
    t, a, g = record.times(), record["coordinates"][:, 0, 0], np.unwrap(record["coordinates"][:, 0, 2])
    turned = g - g[0]
    exact_a, exact_turned = orbits.central(space, STRENGTH, 1, 0, RATE[space], t)
    error_a, error_g = np.abs(a - exact_a).astype(float), np.abs(turned - exact_turned).astype(float)
    parameter, e = shape(space)
    ratio = orbits.cosine(space, a) / orbits.sine(space, a)
    off_orbit = np.max(np.abs(ratio / (parameter * (1 - e * np.cos(turned))) - 1))
    name = space.upper()
    checks += [at_most(f"{name}: error of the angle g on [0, 10]", float(np.max(error_g)),
                       thesis.CENTRAL_ANGLE if space == "h3" else 1e-8),
               at_most(f"{name}: relative distance from the exact orbit", float(off_orbit), 1e-8),
               at_most(f"{name}: relative drift of the energy", record.drift("energy"), 1e-8),
               at_most(f"{name}: drift of the angular momentum", angular_drift(record), 1e-13)]
    if space == "h3":
      checks += [near("H3: a(10)", float(a[-1]), 0.879032228793, 1e-8, digits=12),
                 near("H3: g(10)", float(np.pi / 2 + turned[-1]), -42.926329242717, 1e-8, digits=14)]
    orbit(axes[row, 0], space, record["plot_position"][:, 0], parameter, e)
    axes[row, 1].semilogy(t, np.maximum(error_a, 1e-18), "--", color=GREY, label="$a$")
    axes[row, 1].semilogy(t, np.maximum(error_g, 1e-18), color=SPACE_COLOR[space], label="$g$")
    if space == "h3":
      axes[row, 1].axhline(thesis.CENTRAL_ANGLE, color=BLACK, linewidth=0.8, linestyle=":",
                           label="published code, largest error of $g$")
    axes[row, 1].set(xlabel="time $t$", ylabel="error", xlim=(0, 10), ylim=(1e-17, 1e-7),
                     title=f"{SPACE_NAME[space]}, $h = 0.01$")
    axes[row, 1].legend(loc="lower right")
  return figure.Drawing(canvas, checks)


def angular_drift(record):
  k = record.labels("killing").index("rotation_z")
  values = record["killing_momentum"][:, k]
  return float(np.max(np.abs(values / values[0] - 1)))


def orbit(ax, space, x, parameter, e):
  ax.plot(x[:, 0], x[:, 1], color=SPACE_COLOR[space], label="recorded")
  g = np.linspace(0, 2 * np.pi, 41)
  inverse = 1 / (parameter * (1 - e * np.cos(g))).astype(float)
  a = np.arctanh(inverse) if space == "h3" else np.arctan(inverse)
  r = np.tanh(a / 2) if space == "h3" else np.tan(a / 2)
  start = np.arctan2(x[0, 1], x[0, 0])
  ax.plot(r * np.cos(start + g), r * np.sin(start + g), ".", color=BLACK, markersize=5, label="exact orbit")
  ax.plot(0, 0, "+", color=BLACK, markersize=9, label="centre")
  draw_circle(ax)
  name = "Poincaré ball" if space == "h3" else "stereographic picture"
  ax.set(aspect="equal", xlim=(-0.75, 1.2), ylim=(-0.75, 0.75), xlabel="$x$", ylabel="$y$",
         title=f"{SPACE_NAME[space]}, {name}")
  ax.legend(loc="upper right")


if __name__ == "__main__":
  figure.main(globals())
