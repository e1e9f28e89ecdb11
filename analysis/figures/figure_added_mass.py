#!/usr/bin/python3
"""Added mass of spheres, cylinders, plates, a coin, a propeller and a stone, compared with exact values."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import kirchhoff
import surfaces
from checks import at_most, between, near
from immersed import Body
from mesh import icosphere
from runs import Run
from style import BLACK, BLUE, GREY, ORANGE, panels

TITLE = "Added mass by the local model"
CAPTION = ("Left: a sphere, error over the number of vertices. Middle: closed cylinders that move across their axis. "
           "The line is πR²L R(L + R)/(L + πR); because of the caps it is smaller than πR²L of the long cylinder. "
           "Crosses: solutions of Laplace's equation outside the same body. Right: rectangular plates; the local "
           "model's 2a²b²/π(a + b), and exact values from vortex rings. The tables compare with closed forms (spheres, "
           "ellipsoids, disc) and boundary elements (other bodies). Ratios of entries smaller than 2 % of the body's "
           "largest entry are omitted.")
WET, DRY = Run("immersed/added-mass"), Run("immersed/added-mass", ("fluid.medium=none",))
SPHERES, CYLINDERS = (16, 32, 64, 128), (2, 4, 8, 16)
PLATES = (1, 1.5, 2, 3, 4, 6, 8, 12, 16)
# C in the added mass C pi a b^2/4 of plates with the sides a and b <= a (Det Norske Veritas, RP-H103 (2011), table A-2).
TABULATED = {1: 0.579, 1.5: 0.690, 2: 0.757, 3: 0.830, 4: 0.871, 8: 0.934}
# Local value divided by exact value along the axes: (K_v, K_omega); None: the exact value is 0, or there is no check.
RATIOS = {"sphere": ((0.998,) * 3, (None,) * 3), "3:1:1": ((1.01, 0.96, 0.96), (None, 1.39, 1.39)),
          "1:1:0.1": ((1.65, 1.65, 0.77), (None,) * 3), "disc": ((None, None, 0.75), (1.40, 1.40, None))}


def runs(full):
  return [WET, DRY]


def draw(records, full):
  wet, dry = records[WET], records[DRY]
  added = {name: Body(wet, name)["inertia"][0] - Body(dry, name)["inertia"][0] for name in wet.labels("body")}
  canvas, ((spheres, cylinders, plates),) = panels(1, 3, 4.8, 4)
  checks = draw_spheres(spheres, added) + draw_cylinders(cylinders, added) + draw_plates(plates, added)
  found, tables = compare(added)
  return figure.Drawing(canvas, checks + found, tables)


def draw_spheres(ax, added):
  exact = 2 * np.pi / 3
  vertices = np.array([n * n / 4 + 2 for n in SPHERES])
  error = np.array([1 - np.trace(added[f"sphere-{n}"][3:, 3:]) / 3 / exact for n in SPHERES])
  ax.loglog(vertices, error, "o-", color=BLUE)
  ax.loglog(vertices, error[0] * vertices[0] / vertices, color=GREY, linewidth=0.8)
  ax.set(xlabel="vertices", ylabel="relative error of the added mass", title="sphere")
  slope = np.polyfit(np.log(vertices), np.log(np.abs(error)), 1)[0]
  coupling = np.max(np.abs(added["sphere-64"][:3, 3:]))
  return [near("sphere: order of the error in the number of vertices", -slope, 1, 0.05),
          at_most(f"sphere, {vertices[-1]:.0f} vertices: added mass / (2πρr³/3) - 1", abs(error[-1]), 2e-3),
          at_most("sphere: coupling of translation and rotation", float(coupling), 1e-12)]


def draw_cylinders(ax, added):
  length = np.geomspace(1, 40, 100)
  local = lambda L: (L + 1) / (L + np.pi)  # noqa: E731  (R = 1; divided by pi R^2 L)
  ax.semilogx(length, local(length), color=BLUE, label="local model, closed form")
  ax.axhline(1, color=GREY, linewidth=0.8)
  model = np.array([added[f"cylinder-{L}"][3, 3] / (np.pi * L) for L in CYLINDERS])
  ax.plot(CYLINDERS, model, "o", color=BLUE, label="recorded")
  meshes = {2: (7, 10, 28), 4: (6, 16, 24), 8: (5, 28, 20)}
  exact = np.array([kirchhoff.solid(*surfaces.cylinder(1, L, *mesh))[3, 3] / (np.pi * L) for L, mesh in meshes.items()])
  ax.plot(list(meshes), exact, "x", color=BLACK, label="boundary elements")
  ax.set(xlabel="length/radius", ylabel="added mass across / $\\rho\\pi R^2L$", title="cylinder", ylim=(0, 1.1))
  ax.legend(loc="lower right")
  # delta = A/T of the tube without caps, where the area A and the turning T (sum of edge length times angle) are those of a
  # cylinder minus those of a shorter one. The caps' entry of the tensor is 2 pi delta, and the trace is A delta.
  area, turning = [], []
  for L in CYLINDERS[-2:]:
    K = added[f"cylinder-{L}"][3:, 3:]
    delta = K[2, 2] / (2 * np.pi)
    area.append(np.trace(K) / delta)
    turning.append(area[-1] / delta)
  ratio = model[:len(meshes)] / exact
  return [at_most("cylinders: added mass / (πρR²L R(L+R)/(L+πR)/R) - 1",
                  float(np.max(np.abs(model / local(np.array(CYLINDERS)) - 1))), 5e-3),
          near("table 1, tube without caps (a cylinder minus a shorter one): δ/R",
               (area[1] - area[0]) / (turning[1] - turning[0]), 1, 5e-3),
          between("cylinders, L/R 2 to 8: local / exact", ratio, 0.5, 2)]


def draw_plates(ax, added):
  aspect = np.geomspace(1, 30, 100)
  ax.semilogx(aspect, 2 * aspect / (np.pi * (1 + aspect)), color=BLUE, label="local model, $2a^2b^2/\\pi(a+b)$")
  size = np.array(PLATES, float)
  model = np.array([added[f"plate-{a:g}"][5, 5] for a in PLATES])
  exact = np.array([kirchhoff.plate(a, 1) for a in PLATES])
  ax.plot(size, model / size, "o", color=BLUE, label="recorded")
  ax.plot(size, exact / size, "x-", color=BLACK, linewidth=0.8, label="exact, vortex rings")
  ax.plot(list(TABULATED), [c * np.pi / 4 for c in TABULATED.values()], "s", color=ORANGE, markersize=8,
          markerfacecolor="none", label="tabulated (DNV)")
  ax.axhline(np.pi / 4, color=GREY, linewidth=0.8, label="endless, $\\pi/4$")
  ax.set(xlabel="$a/b$", ylabel="added mass / $\\rho ab^2$", title="plate", ylim=(0, 0.9))
  ax.legend(loc="lower right")
  table = max(abs(exact[PLATES.index(a)] / (np.pi / 4 * a) - c) for a, c in TABULATED.items())
  ratio = model / exact
  return [at_most("plates: added mass / (2ρa²b²/π(a+b)) - 1",
                  float(np.max(np.abs(model / (2 * size ** 2 / (np.pi * (size + 1))) - 1))), 1e-12),
          at_most("plates: vortex rings minus the tabulated coefficients", float(table), 2e-3),
          between("plates, a/b 1 to 16: local / exact", ratio, 0.5, 2)]


def compare(added):
  """Checks of table 1 and of the accuracy of the local model."""
  disc = (np.array([0, 0, 8 / 3]), np.array([16 / 45, 16 / 45, 0]))
  exact = {title: (name, kirchhoff.ellipsoid(a)) for title, name, a in (
      ("sphere", "sphere-64", (1, 1, 1)), ("3:1:1", "prolate", (3, 1, 1)), ("1:1:0.1", "oblate", (1, 1, 0.1)),
      ("3:2:1", "three-axial", (3, 2, 1)))} | {"disc": ("disc", disc)}
  for name, mesh in (("cylinder-2", surfaces.cylinder(1, 2, 7, 10, 28)),
                     ("coin", surfaces.cylinder(0.05, 0.005, 13, 4, 36)), ("propeller", surfaces.propeller()),
                     ("stone", surfaces.stone())):
    K = kirchhoff.solid(*mesh)
    exact[name] = (name, (np.diag(K)[3:], np.diag(K)[:3]))
  rows, checks = [], []
  for title, (name, (linear, angular)) in exact.items():
    K = np.diag(added[name])
    ratios = []
    for group, (values, wanted) in enumerate(((K[3:], linear), (K[:3], angular))):
      # Entries that are small compared with the largest one are not compared: they come only from the mesh's roughness.
      ratio = [v / w if w > 2e-2 * np.max(wanted) else None for v, w in zip(values, wanted)]
      ratios.append(ratio)
      if title in RATIOS:
        for axis, expected in enumerate(RATIOS[title][group]):
          if expected:
            checks.append(near(f"{title}: {('K_v', 'K_ω')[group]} {'xyz'[axis]}, local by exact",
                               values[axis] / wanted[axis], expected, 0.02, 3))
    rows.append([title] + [f"{v:.4g} ({w:.4g})" for v, w in zip(K[3:], linear)] +
                [f"{r:.3f}" if r else "" for ratio in ratios for r in ratio])
    if title in ("coin", "propeller", "stone"):
      checks.append(between(f"table 1, {title}: K_v, local / exact", [r for r in ratios[0] if r], 0.5, 2))
  x, triangles = icosphere(3)
  elements = np.diag(kirchhoff.solid(x * [3, 2, 1], triangles))
  closed = np.concatenate(kirchhoff.ellipsoid((3, 2, 1))[::-1])
  checks.append(at_most("boundary elements of 1280 faces, 3:2:1 (an inscribed mesh): relative difference from the closed form",
                        float(np.max(np.abs(elements / closed - 1))), 2e-2))
  sphere = np.trace(added["sphere-128"][3:, 3:]) / (4 * np.pi)
  plate = added["plate-2"][5, 5] / 4
  checks += [near("table 1, sphere: δ/r", sphere, 0.5, 1e-3),
             near("table 1, plate 2 × 1: δ", plate, 2 / (3 * np.pi), 1e-12)]
  header = ["body"] + [f"K_v {a}, local (exact)" for a in "xyz"] + [f"ratio K_v {a}" for a in "xyz"] + \
      [f"ratio K_ω {a}" for a in "xyz"]
  return checks, [figure.Table("Added mass (fluid of density 1) by the local model and exact", header, rows)]


if __name__ == "__main__":
  figure.main(globals())
