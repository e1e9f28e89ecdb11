#!/usr/bin/python3
"""Figure 2.12: initial positions and velocities, in the Poincare ball and in the stereographic projection."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from pictures import bond_in_picture, draw_circle
from runs import Run
from style import BLUE, SKY, SPACE_NAME, VERMILION, panels

TITLE = "Figure 2.12: positions and velocities of the bodies at the start"
CAPTION = ("Plane z = 0 of the Poincaré ball (H³) and of the stereographic projection (S³). Red arrows: velocities at "
           "t = 0; grey lines: flow of the Killing field that gives these velocities; pale blue: paths of the "
           "particles until t = 2. The circle is the boundary at infinity of H³, and in S³ the great sphere at "
           "distance π/2 from the centre.")
BODIES, K = ("rod", "triangle"), {"h3": -1, "s3": 1}


def run(body, space):
  return Run(f"thesis/elastic-{body}-{space}")


def runs(full):
  return [run(body, space) for body in BODIES for space in K]


def field(space, x, y):
  """The Killing fields boost_x in the Poincare ball and rotation_z in the stereographic projection (plane z = 0)."""
  return ((1 - x * x + y * y) / 2, -x * y) if space == "h3" else (-y, x)


def draw(records, full):
  canvas, axes = panels(2, 2, width=4.2, height=4.0)
  checks = []
  for row, body in enumerate(BODIES):
    for column, space in enumerate(K):
      ax, record = axes[row, column], records[run(body, space)]
      x, v, t = record["plot_position"], record["plot_velocity"], record["time"]
      size = 1.0 if space == "h3" else 1.9
      grid = np.linspace(-size, size, 61)
      gx, gy = np.meshgrid(grid, grid)
      u, w = field(space, gx, gy)
      hidden = gx ** 2 + gy ** 2 > 0.99 if space == "h3" else gx ** 2 + gy ** 2 < 0.03
      u, w = np.where(hidden, np.nan, u), np.where(hidden, np.nan, w)
      ax.grid(False)
      ax.streamplot(gx, gy, u, w, color="#cccccc", linewidth=0.6, density=0.7, arrowsize=0.7)
      draw_circle(ax)
      ax.plot(x[t <= 2, :, 0], x[t <= 2, :, 1], color=SKY, linewidth=1.2)
      for i, j in zip(record["bond_i"], record["bond_j"]):
        ax.plot(*bond_in_picture(x[0, i], x[0, j], K[space]).T[:2], color=BLUE, linewidth=2)
      ax.quiver(x[0, :, 0], x[0, :, 1], v[0, :, 0], v[0, :, 1], color=VERMILION, angles="xy", scale_units="xy",
                scale=1.6, width=0.008, zorder=4)
      ax.plot(*x[0].T[:2], "o", color=VERMILION, markersize=6, zorder=5)
      limits = (-size - 0.08, size + 0.08)
      ax.set(aspect="equal", xlim=limits, ylim=limits, xlabel="$x$", ylabel="$y$",
             title=f"{body} in {SPACE_NAME[space]}")
      expected = np.stack(field(space, x[0, :, 0], x[0, :, 1]), axis=-1)
      checks.append(at_most(f"{space.upper()} {body}: initial velocity minus the Killing field",
                            float(np.max(np.abs(v[0, :, :2] - expected))), 1e-14))
      checks.append(at_most(f"{space.upper()} {body}: particles stay in the plane z = 0",
                            float(np.max(np.abs(x[..., 2]))), 1e-12))
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
