#!/usr/bin/python3
"""Two spheres in a perfect fluid: their added mass over the distance, by the program and by multipoles."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import surfaces
from checks import at_least, at_most
from immersed import SILICONE, WATER, Body
from runs import Run
from sinking import Sinking
from style import BLACK, BLUE, GREEN, GREY, ORANGE, VERMILION, panels
from two_spheres import pair

TITLE = "Two spheres in a perfect fluid"
CAPTION = ("Unit spheres that move apart in a fluid of density 1; the flow of both is solved at each time. Upper left: "
           "a sphere's share of the added mass for motions of both (dots), and by multipoles (lines); grey: a single "
           "sphere, 2π/3. Together and across: K of the pair as a rigid body; opposed across: from its rotation around "
           "its middle; opposed along: from the energy of the separation. Upper right: relative difference for 2560 "
           "faces (solid) and 640 faces (dashed), and after extrapolation in the square of a face's size (dots). Lower "
           "left: the force that separates the spheres while both move at the speed u, u² dK/dd, with K for one "
           "sphere: side by side they attract each other, in a row they repel each other (dots: differences of the "
           "extrapolated K). Lower right: two balls of silicone, r = 5 cm and 2.5 r apart, connected rigidly and "
           "released in water at 45°, without drag. Because each is in the flow of the other, the pair oscillates "
           "around the horizontal; dots: classical Runge–Kutta method with the added mass from multipoles. Without "
           "this interaction the pair would keep its angle (grey).")
RUN, LINKED = Run("immersed/two-spheres"), Run("immersed/linked-spheres")
GAP = 0.05
RADIUS, APART = 0.05, 2.5  # radius of the linked spheres, m; distance of the centres divided by the radius
COLOURS = {"along, together": BLUE, "across, together": ORANGE, "across, opposed": VERMILION, "along, opposed": GREEN}


def runs(full):
  return [RUN, LINKED]


def shares(record, name):
  """(distances, {motion: share of one sphere})."""
  body = Body(record, name)
  half = GAP / 2 * np.exp(body.time)
  d = 2 + 2 * half
  K, energy = body["inertia"], body["body_kinetic_energy"]
  return d, {"along, together": K[:, 3, 3] / 2, "across, together": K[:, 4, 4] / 2,
             "across, opposed": K[:, 2, 2] / (d * d / 2), "along, opposed": energy / half ** 2}


def slope_error(d, fine, coarse, exact):
  found, true = (np.diff(K) / np.diff(d) for K in ((4 * fine - coarse) / 3, exact))
  return float(np.max(np.abs(found - true)) / np.max(np.abs(true)))


def linked(shares):
  """K of the linked pair along x in a fluid of density 1, from the shares of unit spheres."""
  across = shares["across, opposed"] * APART ** 2 / 2 * RADIUS ** 5
  along, together = (2 * shares[f"{way}, together"] * RADIUS ** 3 for way in ("along", "across"))
  return np.diag([0, across, across, along, together, together])


def draw_swing(ax, body):
  x, triangles = surfaces.two_spheres()
  mesh = (x - np.sign(x[:, :1]) * [1.5 - APART / 2, 0, 0]) * RADIUS, triangles
  step = body.time[1] - body.time[0]
  slant = lambda pose: np.degrees(2 * np.arctan2(pose[:, 5], pose[:, 3]))  # noqa: E731
  alone = dict.fromkeys(COLOURS, 2 * np.pi / 3)
  both, apart = (slant(Sinking(*mesh, SILICONE, WATER, linked(shares), drag=False).run(
      body["pose"][0], step, len(body.time) - 1)[0]) for shares in (pair(APART), alone))
  ax.plot(body.time, slant(body["pose"]), color=BLACK)
  ax.plot(body.time[::10], both[::10], "o", color=BLACK, markersize=3)
  ax.plot(body.time, apart, color=GREY, linewidth=1)
  ax.set(xlabel="time (s)", ylabel="angle of the line of centres (°)", xlim=(0, 1))
  return [at_most("linked spheres: largest difference of their angle from the other program's (°)",
                  float(np.max(np.abs(slant(body["pose"]) - both))), 1.5),
          at_least("linked spheres: rotation (°)", float(np.ptp(both)), 45),
          at_most("spheres without interaction: rotation (°)", float(np.ptp(apart)), 1e-6)]


def draw(records, full):
  canvas, ((left, middle), (right, swing)) = panels(2, 2, 5.6, 3.7)
  record, checks, rows = records[RUN], [], []
  d, fine = shares(record, "fine")
  _, coarse = shares(record, "coarse")
  line = 2 + GAP * np.exp(np.linspace(0, np.log((d[-1] - 2) / GAP), 60))
  smooth = [pair(x) for x in line]
  at = [pair(x) for x in d]
  for motion, colour in COLOURS.items():
    exact = np.array([p[motion] for p in at])
    left.plot(line, [p[motion] for p in smooth], color=colour)
    left.plot(d, fine[motion], "o", color=colour, markersize=4, label=motion)
    both = (4 * fine[motion] - coarse[motion]) / 3
    error = {name: np.abs(found / exact - 1) for name, found in (("fine", fine[motion]), ("coarse", coarse[motion]),
                                                                 ("both", both))}
    middle.loglog(d - 2, error["fine"], color=colour)
    middle.loglog(d - 2, error["coarse"], "--", color=colour)
    middle.loglog(d - 2, error["both"], "o", color=colour, markersize=4)
    checks += [at_most(f"{motion}: 2560 faces, relative difference from multipoles, at all distances", float(max(error["fine"])),
                       5e-3),
               at_most(f"{motion}: extrapolated from 640 and 2560 faces, at d ≥ 2.3",
                       float(max(error["both"][d > 2.3])), 1e-3)]
    rows += [[motion, f"{d[k]:.4f}", f"{exact[k]:.10f}", f"{fine[motion][k]:.6f}", f"{both[k]:.6f}"]
             for k in (0, 8, 16)]
    if "together" in motion:
      right.plot(line, np.gradient([p[motion] for p in smooth], line), color=colour, label=motion)
      right.plot((d[1:] + d[:-1]) / 2, np.diff(both) / np.diff(d), "o", color=colour, markersize=4)
  checks += [at_most(f"{motion}: (differences of the extrapolated K - those of multipoles) / largest",
                     slope_error(d, fine[motion], coarse[motion], [p[motion] for p in at]), 0.01)
             for motion in ("along, together", "across, together")]
  for wanted, motion in ((1.7310312089664, "along, together"), (2.3090610478758, "across, together"),
                         (1.9050591820032, "across, opposed")):
    checks.append(at_most(f"multipoles at d = 2.5, {motion}: minus the known value",
                          abs(pair(2.5)[motion] - wanted), 1e-12))
  left.axhline(2 * np.pi / 3, color=GREY, linewidth=1)
  left.set(xlabel="distance of the centres", ylabel="added mass of a sphere", xlim=(2, 4.8))
  left.legend()
  middle.set(xlabel="gap", ylabel="error, relative", ylim=(1e-6, 0.1))
  right.axhline(0, color=GREY, linewidth=1)
  right.set(xlabel="distance of the centres", ylabel="$dK/dd$ of a sphere", xlim=(2, 4.8))
  right.legend()
  checks += draw_swing(swing, Body(records[LINKED], "pair"))
  header = ["motion", "d", "multipoles", "2560 faces", "extrapolated"]
  return figure.Drawing(canvas, checks, [figure.Table("Added mass of a sphere, radius and density 1", header, rows)])


if __name__ == "__main__":
  figure.main(globals())
