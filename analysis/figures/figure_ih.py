#!/usr/bin/python3
"""The curvature detector of section 2.8: two masses on a spring in the inhomogeneous hyperbolic space IH."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import detector
import figure
from checks import at_most, near
from runs import Run
from style import BLUE, GREEN, GREY, PURPLE, VERMILION, panels

TITLE = "Curvature detector in IH (section 2.8)"
CAPTION = ("Two masses on a spring pass the middle of the space with metric (r² + 2)(dx² + dy² + dz²), symmetrically "
           "about the line that they follow; dots: reduced equation. The spring is stretched where the curvature is "
           "largest, and oscillates afterwards. Below: scalar curvature with the paths of the masses, and the "
           "sectional curvatures along the line over the radius.")
DETECTOR = Run("thesis/ih-curvature-detector")
AT_TEN, CROSSING, REST = 25.049417842991, 14.2466777653825, 25.0399733601983


def runs(full):
  return [DETECTOR]


def draw(records, full):
  record = records[DETECTOR]
  exact = detector.solution()
  t, d = record.times(), record["separation"][:, 0]
  x = record["plot_position"]
  canvas, axes = panels(2, 2, width=5.2)
  separation(axes[0, 0], t, d, exact)
  errors(axes[0, 1], record, np.abs(d - exact("d", t)))
  curvature_map(axes[1, 0], x)
  sections(axes[1, 1])
  worst = max(np.max(np.abs(x[:, 0, k] - exact(name, t))) for k, name in enumerate("AB"))
  checks = [
      near("d(0)", float(d[0]), REST, 1e-12, digits=15),
      near("d(10)", float(d[np.searchsorted(t, 10 - 1e-9)]), AT_TEN, 1e-10, digits=15),
      near("d(10), reference with 40 digits", float(exact("d", [10])[0]), AT_TEN, 1e-12, digits=15),
      near("time at which A = 0", crossing(t, x[:, 0, 0]), CROSSING, 1e-10, digits=15),
      near("time at which A = 0, reference with 40 digits", float(detector.crossing(exact, 14.2)), CROSSING, 1e-12,
           digits=15),
      at_most("largest error of d on [0, 50]", float(np.max(np.abs(d - exact("d", t)))), 1e-11),
      at_most("largest error of a mass's coordinates on [0, 50]", float(worst), 1e-10),
      at_most("asymmetry: largest |A1 - A2|, |B1 + B2|, |z|",
              float(max(np.max(np.abs(x[:, 0] - x[:, 1] * [1, -1, 1])), np.max(np.abs(x[..., 2])))), 1e-9),
      at_most("relative drift of the energy", record.drift("energy"), 1e-11)]
  return figure.Drawing(canvas, checks)


def crossing(t, a, points=8):
  """Time at which a = 0, by inverse interpolation with a polynomial through the neighbouring points."""
  k = int(np.argmax(a > 0))
  near_by = slice(k - points // 2, k + points // 2)
  u, v = t[near_by].astype(np.longdouble), a[near_by].astype(np.longdouble)
  total = np.longdouble(0)
  for i in range(points):
    others = np.arange(points) != i
    total += u[i] * np.prod(-v[others] / (v[i] - v[others]))
  return float(total)


def separation(ax, t, d, exact):
  ax.plot(t, d, color=BLUE, label="curvebody, Gauss 3, step 0.01")
  whole = np.arange(0, 51)
  ax.plot(whole, exact("d", whole), "o", color=GREY, markersize=3.5, label="reduced equation")
  ax.axvline(CROSSING, color=VERMILION, linestyle="--", label="A = 0")
  ax.set(xlabel="time $t$", ylabel="separation $d$", xlim=(0, 50), title="length of the spring")
  ax.legend(loc="upper right")


def errors(ax, record, error):
  energy = record["energy"]
  t = record["time"]
  ax.semilogy(t, np.maximum(error, 1e-17), color=BLUE, linewidth=0.8, label="error of $d$")
  ax.semilogy(t, np.maximum(np.abs(energy / energy[0] - 1), 1e-17), color=GREEN, linewidth=0.8,
              label="relative error of the energy")
  ax.set(xlabel="time $t$", xlim=(0, 50), ylim=(1e-17, 1e-10), title="errors")
  ax.legend(loc="upper left")


def curvature_map(ax, x):
  side = np.linspace(-10, 10, 400)
  a, b = np.meshgrid(side, side)
  r2 = a * a + b * b
  shown = ax.pcolormesh(a, b, np.log10(-detector.scalar_curvature(r2)), cmap="viridis", shading="auto", rasterized=True)
  ax.figure.colorbar(shown, ax=ax, label=r"$\log_{10}(-R)$")
  for i in range(2):
    ax.plot(x[:, i, 0], x[:, i, 1], color="white", linewidth=1)
  ax.set(xlim=(-10, 10), ylim=(-10, 10), aspect="equal", xlabel="$x$", ylabel="$y$",
         title="scalar curvature, paths of the masses")
  ax.grid(False)


def sections(ax):
  r = np.linspace(0, 10, 400)
  ax.semilogy(r, -detector.scalar_curvature(r * r), color=BLUE, label="$-R$, scalar")
  ax.semilogy(r, -detector.tangential_curvature(r * r), color=VERMILION, label="$-K$, planes perpendicular to the radius")
  ax.semilogy(r, -detector.radial_curvature(r * r), "--", color=PURPLE, label="$-K$, planes that contain the radius")
  ax.set(xlabel="$r$", xlim=(0, 10), title="curvature over the radius")
  ax.legend()


if __name__ == "__main__":
  figure.main(globals())
