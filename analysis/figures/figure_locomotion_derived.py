#!/usr/bin/python3
"""Derived bundles: from links, from drag on a mesh, from an immersed body, from a table."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, fitted_order
from locomotion import cycle_run, ellipse, field_run, path_run
from runs import Run
from style import BLACK, BLUE, GREY, ORANGE, panels

TITLE = "Locomotion: bundles from links, meshes, immersed bodies, tables and expressions"
CAPTION = ("Top left: an eel's midline after 0, 3, .. 12 waves at low Reynolds number, with drag on the faces of its "
           "skin (the coefficient across is twice that along). Top right: forward shift of a ribbon during a wave, "
           "from its mesh and from resistive forces integrated along its line. Bottom left: the two-link cat in water "
           "without drag: rotation and position of its frame by the bundle's path (lines) and by the full equations of "
           "motion from rest (dots). Bottom right: Purcell's circle of radius 1 from tables of the connection: error "
           "of the holonomy over the spacing of the table, for splines of degree 3 and 5, and the bound that curvebody "
           "reports from the table.")
EEL_CYCLES, SWAY, WAVE, EEL_SWAY = 12, 0.06, 0.4, 0.05
EEL = path_run("eel", EEL_CYCLES * 8 + 1, (f"gait.repeat={EEL_CYCLES}",))
EEL_CYCLE = cycle_run("eel")
RIBBON = path_run("ribbon", 65)
RESOLUTIONS = (32, 64, 128, 256)
CAT_FULL = Run("immersed/cat", ("fluid.medium=1000", "bodies.0.drag=false", "integrator.name=rkmk4",
                                "integrator.step=0.003926990816987242",
                                "time.end=3.141592653589793", "record.every=16"))
CAT = path_run("immersed-cat", 51, ("bundle.fluid={density: 1000}", "gait.period=pi"))
LINKS, CHAIN, WRITTEN = cycle_run("links-purcell"), cycle_run("purcell"), cycle_run("expressions")
SPACE, PLANE = cycle_run("links-snake"), cycle_run("floating-snake")
LINKS_FIELD = field_run("links-purcell", (-2.5, -2.5), (2.5, 2.5), 21)
CHAIN_FIELD = field_run("purcell", (-2.5, -2.5), (2.5, 2.5), 21)
REACH, GRIDS = 1.28, (9, 17, 33, 65, 129)


def ribbon(resolution):
  return cycle_run("ribbon", (f"bundle.shape.resolution={resolution}",))


def table(grid):
  return field_run("purcell", (-REACH, -REACH), (REACH, REACH), grid)


def from_table(grid, degree):
  settings = ellipse(1) + (f"bundle.degree={degree}",)
  return Run("locomotion/samples-purcell", settings, gait=("holonomy",), table=table(grid))


def runs(full):
  return [EEL, EEL_CYCLE, RIBBON, CAT_FULL, CAT, LINKS, CHAIN, WRITTEN, SPACE, PLANE, LINKS_FIELD, CHAIN_FIELD] + \
      [ribbon(n) for n in RESOLUTIONS] + [table(n) for n in GRIDS] + [from_table(n, d) for n in GRIDS for d in (3, 5)]


def draw(records, full):
  canvas, ((eel, line), (cat, samples)) = panels(2, 2, 6.4, 4)
  checks = draw_eel(eel, records) + draw_ribbon(line, records) + draw_cat(cat, records)
  found, tables = draw_samples(samples, records)
  links, chain = records.answer(LINKS), records.answer(CHAIN)
  apart = max(float(np.max(np.abs(records[LINKS_FIELD][k] - records[CHAIN_FIELD][k])))
              for k in ("connection", "curvature", "metric"))
  space, plane = np.array(records.answer(SPACE)["g"]), np.array(records.answer(PLANE)["g"])
  angle, place = matrix(space)
  rods = float(np.max(np.abs([angle - plane[2], *(place - plane[:2]), space[1], space[2], space[6]])))
  written = records.answer(WRITTEN)
  checks += [at_most("expressions: area of the ellipse minus π/2", abs(written["g"][0] - np.pi / 2), 1e-12),
             at_most("expressions: length minus 2π of an ellipse that is a circle in the metric",
                     abs(written["length"] - 2 * np.pi), 1e-12),
             at_most("links: A, B and M of a tree of three links minus those of the chain, over a window", apart, 1e-12),
             at_most("links with mass in space: holonomy of three rods minus that of the floating snake", rods, 1e-12),
             at_most("links: holonomy of the circle minus that of the chain",
                     float(np.max(np.abs(np.array(links["g"]) - chain["g"]))), 1e-12)]
  return figure.Drawing(canvas, checks + found, tables)


def matrix(g):
  """Rotation around z, and position in the plane, of elements of SE(3)."""
  return 2 * np.arctan2(g[..., 3], g[..., 0]), g[..., 4:6]


def draw_eel(ax, records):
  record = records[EEL]
  angle, place = matrix(record["group"])
  X = np.linspace(0, 0.5, 80)
  for k, row in enumerate(range(0, len(angle), 24)):
    y = EEL_SWAY * (1 - 1.6 * X) * np.sin(2 * np.pi * ((0.5 - X) / WAVE - row / 8))
    c, s = np.cos(angle[row]), np.sin(angle[row])
    x = np.stack([c * X - s * y, s * X + c * y]) + place[row][:, None] - [[0], [0.16 * k]]
    ax.plot(*x, color=BLUE, linewidth=2)
    ax.plot(*x[:, -1], "o", color=BLACK, markersize=4)
    ax.text(-0.02 + place[row, 0], -0.16 * k, f"{row // 8}", ha="right", va="center", fontsize=9)
  ax.axvline(0, color=GREY, linewidth=0.7)
  ax.axvline(0.5, color=GREY, linewidth=0.7)
  ax.set_aspect("equal", adjustable="datalim")
  ax.set(xlabel="$x$ (m)", yticks=[], title="an eel with drag on its skin; waves")
  once = records.answer(EEL_CYCLE)["g"]
  end = place[-1]
  share = once[4] / WAVE
  return [at_most(f"eel: the end of {EEL_CYCLES} waves minus {EEL_CYCLES} times one wave, m",
                  float(np.max(np.abs(end - EEL_CYCLES * np.array(once[4:6])))), 1e-9),
          Check("eel: shift per wave / wavelength: forwards, and less than the wavelength", f"{share:.4f}", "0 to 1",
                bool(0 < share < 1))]


def resistive(steps=400):
  """Positions (x, y) of the ribbon's frame at equal parts of a wave, from resistive forces along its line (drag 2 across, 1
  along), by Gauss's quadrature with 80 points and a Lie group integrator of order 4."""
  node, weight = np.polynomial.legendre.leggauss(80)
  X, w = node / 2, weight / 2

  def velocity(t):
    y, slope = SWAY * np.sin(2 * np.pi * (X + t)), 2 * np.pi * SWAY * np.cos(2 * np.pi * (X + t))
    ds = np.sqrt(1 + slope ** 2)
    along = np.stack([1 / ds, slope / ds])
    D = 2 * np.eye(2)[:, :, None] - along[:, None] * along[None]
    J = np.array([[np.ones_like(X), 0 * X, -y], [0 * X, np.ones_like(X), X]])
    P = np.einsum("iak,ijk,jbk,k->ab", J, D, J, w * ds)
    return -np.linalg.solve(P, np.einsum("iak,ijk,jk,k->a", J, D, np.stack([0 * X, slope]), w * ds))

  g, out, h, a = np.zeros(3), [np.zeros(3)], 1 / steps, np.sqrt(3) / 6
  for k in range(steps):
    u, v = velocity((k + 0.5 - a) * h), velocity((k + 0.5 + a) * h)
    bracket = np.array([u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], 0])
    x = h / 2 * (u + v) + np.sqrt(3) / 12 * h * h * bracket
    c, s, q = np.cos(g[2] + x[2] / 2), np.sin(g[2] + x[2] / 2), np.sinc(x[2] / 2 / np.pi)
    g = g + [q * (c * x[0] - s * x[1]), q * (s * x[0] + c * x[1]), x[2]]
    out.append(g)
  return np.array(out)


def draw_ribbon(ax, records):
  record = records[RIBBON]
  _, place = matrix(record["group"])
  exact = resistive()
  ax.plot(np.linspace(0, 1, len(exact)), exact[:, 0], color=BLACK, label="along the line, $x$")
  ax.plot(np.linspace(0, 1, len(exact)), exact[:, 1], color=GREY, label="along the line, $y$")
  t = record["time"] / record["time"][-1]
  ax.plot(t[::2], place[::2, 0], "o", color=BLUE, label="mesh, $x$", markersize=4)
  ax.plot(t[::2], place[::2, 1], "o", color=ORANGE, label="mesh, $y$", markersize=4)
  ax.set(xlabel="part of a wave", ylabel="shift of the frame / length", title="a ribbon with drag on its faces")
  ax.legend()
  errors = [float(np.hypot(*(np.array(records.answer(ribbon(n))["g"][4:6]) - exact[-1, :2]))) for n in RESOLUTIONS]
  order, used = fitted_order([1 / n for n in RESOLUTIONS], errors, 1e-12)
  return [at_most(f"ribbon of {RESOLUTIONS[-1]}: shift per wave, relative difference from resistive forces along the line",
                  errors[-1] / abs(exact[-1, 0]), 1e-3),
          Check("ribbon: order of this difference in the width of the mesh", f"{order:.3f} ({used} points)", "2 ± 0.1",
                bool(abs(order - 2) <= 0.1))]


def draw_cat(ax, records):
  full, reduced = records[CAT_FULL], records[CAT]
  pose, g = full["pose"][:, 0], reduced["group"]
  alpha = reduced["shape"][:, 0]
  angle, place = matrix(g)
  half = len(alpha) // 2 + 1
  ax.plot(alpha[:half], np.degrees(angle[:half]), color=BLACK, label="turning, degrees")
  ax.plot(alpha[:half], 100 * place[:half, 0], color=BLUE, label="$x$, cm")
  ax.plot(alpha[:half], -100 * place[:half, 1], color=ORANGE, label="$-y$, cm")
  turned = 2 * np.arctan2(pose[:half:2, 6], pose[:half:2, 3])
  ax.plot(alpha[:half:2], np.degrees(turned), "o", color=BLACK, markersize=4)
  ax.plot(alpha[:half:2], 100 * pose[:half:2, 0], "o", color=BLUE, markersize=4)
  ax.plot(alpha[:half:2], -100 * pose[:half:2, 1], "o", color=ORANGE, markersize=4)
  ax.set(xlabel=r"$\alpha$", title="two links in water: reduced and full")
  ax.legend()
  apart = [float(np.max(np.abs(a - b))) for a, b in ((pose[:, :3], g[:, 4:]), (pose[:, 3:], g[:, :4]))]
  return [at_most("cat in water: position of the full motion minus the reduced one, m", apart[0], 1e-10),
          at_most("cat in water: quaternion of the full motion minus the reduced one", apart[1], 1e-10)]


def draw_samples(ax, records):
  exact = np.array(records.answer(CHAIN)["g"])
  spacing = [2 * REACH / (n - 1) for n in GRIDS]
  checks, rows = [], []
  for degree, colour in ((3, ORANGE), (5, BLUE)):
    answers = [records.answer(from_table(n, degree)) for n in GRIDS]
    errors = [float(np.max(np.abs(np.array(answer["g"]) - exact))) for answer in answers]
    bounds = [np.array(answer["table_error"]) for answer in answers]
    within = all(np.all(np.abs(np.array(a["g"]) - exact) <= b + 1e-14) for a, b in zip(answers, bounds))
    ax.loglog(spacing, errors, "o-", color=colour, label=f"degree {degree}")
    ax.loglog(spacing, [np.max(b) for b in bounds], "x", color=colour, label=f"degree {degree}, bound", markersize=7)
    order, used = fitted_order(spacing, errors, 2e-14)
    checks += [Check(f"tables, degree {degree}: order of the holonomy's error", f"{order:.2f} ({used} points)",
                     f"at least {degree + 0.7:.1f}", bool(order >= degree + 0.7)),
               Check(f"tables, degree {degree}: the error is below the reported bound of the table",
                     ", ".join(f"{e:.1e} ({np.max(b):.1e})" for e, b in zip(errors, bounds)), "each component",
                     bool(within))]
    rows += [[f"{degree}", f"{n} × {n}", f"{e:.2e}"] for n, e in zip(GRIDS, errors)]
  ax.set(xlabel="spacing of the table", ylabel="error of the holonomy", title="Purcell's swimmer from tables")
  ax.legend()
  return checks, [figure.Table("Error of the holonomy of a circle of radius 1", ["degree", "table", "error"], rows)]


if __name__ == "__main__":
  figure.main(globals())
