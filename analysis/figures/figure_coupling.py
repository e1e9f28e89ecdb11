#!/usr/bin/python3
"""Bodies that feel each other through a perfect fluid: two spheres against their multipole series, and a school."""
import functools

import numpy as np
from matplotlib.patches import Ellipse

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, near
from runs import Run
from style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, panels
from two_moving_spheres import Spheres, added_mass, dipole_mass, sphere_masses

TITLE = "Bodies that feel each other through a perfect fluid"
CAPTION = ("A small dense sphere follows a larger one; two equal spheres side by side and one behind the other; an "
           "ellipsoid that passes another one; an ellipsoid between a rigid wall and a sphere; schools of eels side "
           "by side (change of the way in 4 s). "
           "Lines: the program; outlines: four times. Dots: the reduced equations of two spheres with 60 multipoles "
           "(for `dipole`: with the leading term), by the method of Dormand and Prince of order 8 with the tolerance "
           "1e-11. The errors of the step are differences from order 4 with the step 1/80.")
FACES = {16: 320, 24: 720}  # of a ball, for its resolution
RADII, DENSITIES = (1, 0.7), (1, 2)
PLACES, VELOCITIES = ((0, 0, 0), (-4, 0.5, 0)), ((0.2, 0, 0), (1, 0, 0))
# The motion at 2.6 s, computed separately with 60 multipoles.
KNOWN = ((0.55080714970, -0.01146554745), (-1.40254861930, 0.50079700644))
KNOWN_SPEEDS = ((0.23821058705, -0.01742892841), (0.99593362585, 0.00122246589))
PAIRS = {"side-by-side": ("side by side", BLUE, 1), "in-line": ("in line", VERMILION, 0)}
STEPS = (1 / 5, 1 / 10, 1 / 20)
APART = (0.2, 0.25, 0.35, 0.5)  # m, between eels
EELS = (2, 4, 6, 10, 20)  # in a row, 0.25 m apart


def approach(resolution, step, coupling="exact", order=2):
  return Run("coupling/approach", tuple(f"bodies.{i}.shape.resolution={resolution}" for i in (0, 1)) + (
      f"integrator.step={step}", f"integrator.order={order}", f"fluid.coupling={coupling}",
      f"record.every={round(1 / 5 / step)}"))


def pair(name, coupling):
  step = 0.2 if coupling == "exact" else 0.1
  return Run(f"coupling/{name}", (f"fluid.coupling={coupling}", f"integrator.step={step}"))


FINE = approach(24, 1 / 80, "dipole", 4)
ORDERS = {(order, h): approach(24, h, "dipole", order) for order in (2, 4) for h in STEPS}
EXACT = {n: approach(n, 1 / 5) for n in FACES}
DRAFTING, WALL = Run("coupling/drafting"), Run("coupling/wall")
ALONE = Run("coupling/drafting", ("fluid.coupling=none",))
OPEN = Run("coupling/wall", ("fluid.coupling=none",))
SCHOOL = {apart: Run("coupling/school", (f"fluid.parameters.apart={apart}",)) for apart in APART}
ROWS = {n: Run("coupling/school", (f"bodies.0.repeat.count={n}", "record.every=16")) for n in EELS}
SINGLE = Run("coupling/school", ("fluid.coupling=none",))


def runs(full):
  return [*EXACT.values(), FINE, *ORDERS.values(), DRAFTING, ALONE, WALL, OPEN, *SCHOOL.values(),
          *ROWS.values(), SINGLE,
          *(pair(name, c) for name in PAIRS for c in ("exact", "dipole"))]


@functools.cache
def spheres(of, a=RADII, density=DENSITIES, x=PLACES, v=VELOCITIES, end=2.6, rows=14):
  """Times, places and velocities of the centres."""
  t = np.linspace(0, end, rows)
  return t, *Spheres(a, sphere_masses(a, density), of).solve(np.array(x), np.array(v), t)


def pair_of(name, of, a=1):
  at = ((0, -1.5, 0), (0, 1.5, 0)) if name == "side-by-side" else ((-1.5, 0, 0), (1.5, 0, 0))
  return spheres(of, (a, a), (1, 1), at, ((1, 0, 0), (1, 0, 0)), 4, 21)


def distance(places):
  return np.linalg.norm(places[:, 1, :3] - places[:, 0, :3], axis=-1)


def last(record):
  return record["pose"][-1, :, :2]


# --- drawing ---

def draw_approach(axes, record):
  t, _, v = spheres(added_mass)
  for i, (name, colour) in enumerate((("large", BLUE), ("small", ORANGE))):
    axes.plot(record["time"], 1e3 * (record["twist"][:, i, 3] - VELOCITIES[i][0]), color=colour, label=name)
    axes.plot(t, 1e3 * (v[:, i, 0] - VELOCITIES[i][0]), ".", color=colour, markersize=4)
  axes.set(title="a small dense sphere follows a large one", xlabel="time (s)", ylabel="change of the speed (mm/s)")
  axes.legend(loc="upper left")


def draw_bodies(axes, record, sizes, across, sign, colours):
  """The outlines of ellipsoids at four times. across: the second coordinate of the plane, 1 or 2."""
  g = record["pose"]
  for i, (a, b) in enumerate(sizes):
    for row in np.linspace(0, len(g) - 1, 4).astype(int):
      angle = sign * 2 * np.arctan2(g[row, i, 6 if across == 1 else 5], g[row, i, 3])
      axes.add_patch(Ellipse(g[row, i, [0, across]], 2 * a, 2 * b, angle=np.degrees(angle), fill=False,
                             color=colours[i], linewidth=0.8))
  axes.set_aspect("equal", adjustable="datalim")


def draw_pairs(axes, records):
  for name, (label, colour, _) in PAIRS.items():
    for coupling, of, style in (("exact", added_mass, "-"), ("dipole", dipole_mass, "--")):
      record = records[pair(name, coupling)]
      axes.plot(record["time"], distance(record["pose"]), style, color=colour, label=f"{label}, {coupling}")
      t, x, _ = pair_of(name, of)
      axes.plot(t, distance(x), ".", color=colour, markersize=4)
  axes.set(title="two equal spheres with the same velocity", xlabel="time (s)", ylabel="distance (m)")
  axes.legend(loc="upper left")


def draw_drafting(axes, records):
  for i, (name, colour) in enumerate((("slow", BLUE), ("fast", ORANGE))):
    for run, style in ((DRAFTING, "-"), (ALONE, ":")):
      axes.plot(*records[run]["pose"][:, i, :2].T, style, color=colour, label=name if run is DRAFTING else None)
  axes.plot([], [], ":", color=GREY, label="without coupling")
  draw_bodies(axes, records[DRAFTING], [(0.5, 0.2)] * 2, 1, 1, (BLUE, ORANGE))
  axes.set(title="an ellipsoid overtakes another one", xlabel="$x$ (m)", ylabel="$y$ (m)")
  axes.set_ylim(-0.9, 2.1)
  axes.legend(loc="upper left", ncols=3)


def draw_wall(axes, record):
  for i, (name, colour) in enumerate((("ellipsoid", GREEN), ("sphere", PURPLE))):
    axes.plot(*record["pose"][:, i][:, [0, 2]].T, color=colour, label=name)
    axes.plot(*record["pose"][-1, i, [0, 2]], "o", color=colour, markersize=4)
  axes.axhline(0, color=GREY, linewidth=2)
  draw_bodies(axes, record, [(0.6, 0.4), (0.4, 0.4)], 2, -1, (GREEN, PURPLE))
  axes.set(title="a rigid wall, an ellipsoid and a sphere", xlabel="$x$ (m)", ylabel="height (m)")
  axes.legend()


def draw_school(axes, records):
  for n, label, colour in ((0, "at the ends of the row", ORANGE), (2, "in the middle", BLUE)):
    axes.plot(APART, [1e3 * (way(records[run])[n] / way(records[SINGLE])[0] - 1) for run in SCHOOL.values()], "o-",
              color=colour, label=label)
  axes.axhline(0, color=GREY, linewidth=0.8)
  axes.set(title="six eels side by side, against a single eel", xlabel="distance of neighbours (m)",
           ylabel="change of the way (‰)")
  axes.legend(loc="lower right")


def draw_heights(axes, records):
  t, x, free = (records[WALL]["time"], *(records[run]["pose"][:, :, 2] for run in (WALL, OPEN)))
  for i, (name, colour) in enumerate((("ellipsoid", GREEN), ("sphere", PURPLE))):
    axes.plot(t, 1e3 * (x - free)[:, i], color=colour, label=name)
  axes.axhline(0, color=GREY, linewidth=0.8)
  axes.set(title="the same: heights less those without coupling", xlabel="time (s)", ylabel="difference (mm)")
  axes.legend(loc="upper left")


def draw_rows(axes, records):
  change = {n: 1e3 * (way(records[run]) / way(records[SINGLE])[0] - 1) for n, run in ROWS.items()}
  for of, label, colour in ((lambda c: c[0], "at the ends of the row", ORANGE), (np.mean, "mean", GREEN),
                            (lambda c: c[len(c) // 2], "in the middle", BLUE)):
    axes.plot(EELS, [of(c) for c in change.values()], "o-", color=colour, label=label)
  axes.axhline(0, color=GREY, linewidth=0.8)
  axes.set(title="rows of eels, 0.25 m apart, the same", xlabel="number of eels", ylabel="change of the way (‰)",
           xticks=EELS)
  axes.legend(loc="upper right")


def draw_errors(axes, errors):
  for order, colour in ((2, SKY), (4, VERMILION)):
    axes.loglog(STEPS, errors[order], "o-", color=colour, label=f"order {order}")
  axes.set(title="error of the step", xlabel="step (s)", ylabel="largest difference (m)")
  axes.set_xticks(STEPS, [f"1/{1 / h:.0f}" for h in STEPS])
  axes.minorticks_off()
  axes.legend()


# --- checks ---

def way(record):
  return record["pose"][-1, :, 0] - record["pose"][0, :, 0]


def check_reference():
  a, d = RADII, 2.2
  K = [added_mass(a, d, m)[0] for m in (0, 1)]
  known = np.array([2.12084479556, -0.20426390914, 0.73156768850, 2.10163032772, 0.10152185761, 0.72233068108])
  found = np.concatenate([k[[0, 0, 1], [0, 1, 1]] for k in K])
  _, x, v = spheres(added_mass)
  return [at_most("dots: difference of the added mass at the distance 2.2 from known digits",
                  float(np.max(np.abs(found - known))), 2e-11),
          at_most("dots: difference of the places at 2.6 s from known digits",
                  float(np.max(np.abs(x[-1, :, :2] - KNOWN))), 1e-9),
          at_most("dots: difference of the velocities at 2.6 s from known digits",
                  float(np.max(np.abs(v[-1, :, :2] - KNOWN_SPEEDS))), 1e-9)]


def check_approach(records):
  off = {n: last(records[run]) - KNOWN for n, run in EXACT.items()}
  coarse, fine = FACES
  more = (FACES[fine] * off[fine] - FACES[coarse] * off[coarse]) / (FACES[fine] - FACES[coarse])
  _, x, _ = spheres(dipole_mass)
  return [at_most(f"exact, {FACES[coarse]} faces: difference of the places at 2.6 s (m)",
                  float(np.max(np.abs(off[coarse]))), 5e-3),
          at_most(f"exact, {FACES[fine]} faces: the same", float(np.max(np.abs(off[fine]))), 5e-3),
          at_most("exact, extrapolated in 1/faces: the same", float(np.max(np.abs(more))), 1e-3),
          at_most("dipole: difference of the places at 2.6 s from equations with the leading term (m)",
                  float(np.max(np.abs(last(records[FINE]) - x[-1, :, :2]))), 1e-3),
          at_most("leading term: difference of the places at 2.6 s from 60 multipoles (m)",
                  float(np.max(np.abs(x[-1, :, :2] - KNOWN))), 2e-3)]


def check_dipole():
  """The relative difference of the coupling K_12 decreases as the sixth power of the distance."""
  out = []
  for m, name in ((0, "along"), (1, "across")):
    off = [abs(dipole_mass(RADII, d, m)[0][0, 1] / added_mass(RADII, d, m)[0][0, 1] - 1) for d in (6, 12)]
    out.append(near(f"leading term, motions {name} the line: log2 of the ratio of its relative errors at 6 and 12",
                    float(np.log2(off[0] / off[1])), 6, 0.2))
  return out


def check_forces(records):
  """Two equal spheres of radius a with the velocity u. Leading term of the force (Lamb, articles 137 and 138):
  attraction 3 pi rho a^6 u^2/d^4 side by side, repulsion of twice that in line. Each sphere has the inertia 2 pi of
  itself and the fluid, so that the distance changes by F t^2/(2 pi)."""
  out = []
  for name, (label, _, m) in PAIRS.items():
    sign = -1 if m else 1
    for coupling, of, bound, source in (("exact", added_mass, 0.04, "60 multipoles"),
                                        ("dipole", dipole_mass, 0.002, "leading term, sphere of the same volume")):
      record = records[pair(name, coupling)]
      change = distance(record["pose"]) - 3
      volume = float(record["body_mass"][0])  # the density is 1; faces enclose less than the sphere
      t, x, _ = pair_of(name, of, 1 if of is added_mass else (3 * volume / (4 * np.pi)) ** (1 / 3))
      expected = np.interp(record["time"], t, distance(x)) - 3
      out += [Check(f"{label}, {coupling}: sign of the change of the distance", f"{np.sign(change[-1]):+.0f}",
                    f"{sign:+d}", bool(np.all(sign * change[1:] > 0))),
              near(f"{label}, {coupling}: change of the distance in 4 s / {source}",
                   float(change[-1] / expected[-1]), 1, bound)]
    t, x, _ = spheres(added_mass, (1, 1), (1, 1), ((0, 0, 0), (0, 12, 0) if m else (12, 0, 0)), ((1, 0, 0), (1, 0, 0)),
                      0.5, 3)
    force = (distance(x)[-1] - 12) / t[-1] ** 2 * 2 * np.pi
    out.append(near(f"{label}, 12 m apart: force by 60 multipoles / Lamb, articles 137, 138 (leading term)",
                    float(force / (sign * (3 if m else 6) * np.pi / 12**4)), 1, 0.02))
  return out


def check_conservation(records):
  out = []
  for name, run in (("exact, approach", EXACT[24]), ("dipole, approach", FINE), ("drafting", DRAFTING)):
    record = records[run]
    p, e = record["spatial_momentum"].sum(axis=1), record["energy"]
    out += [at_most(f"{name}: change of the momentum of all / momentum",
                    float(np.max(np.abs(p - p[0])) / np.max(np.abs(p[0]))), 1e-13),
            at_most(f"{name}: change of the energy / energy", float(np.ptp(e) / e[0]),
                    5e-3 if run is DRAFTING else 1e-4)]
  p = records[WALL]["spatial_momentum"].sum(axis=1)
  out.append(at_most("wall: change of the momentum along the wall / momentum",
                     float(np.max(np.abs(p - p[0])[:, [3, 4]]) / np.max(np.abs(p[0]))), 1e-13))
  return out


def check_school(records):
  change = [way(records[run]) / way(records[SINGLE]) - 1 for run in SCHOOL.values()]
  middle = np.array([c[2] for c in change])
  return [Check("school: way of an eel with neighbours / without, smallest", f"{1 + min(map(np.min, change)):.5f}",
                "< 1", bool(max(map(np.max, change)) < 0)),
          Check("school: the change decreases with the distance", " ".join(f"{1e3 * c:.2g}" for c in middle) + " ‰",
                "in this order", bool(np.all(np.diff(np.abs(middle)) < 0))),
          near("school: order of the change in 1/distance, eels in the middle, .25 and .5 m",
               float(np.log2(middle[1] / middle[3])), 3, 0.5, digits=3)]


def check_rows(records):
  """The flow of a dipole decreases as 1/distance^3: eel 11 of 20 has neighbours at the distances k = 1 to 10 on one
  side and 1 to 9 on the other one, an eel of a pair has one neighbour."""
  change = {n: way(records[run]) / way(records[SINGLE])[0] - 1 for n, run in ROWS.items()}
  inner = [abs(c[len(c) // 2]) for c in change.values()]
  sides = sum(1 / k**3 for k in range(1, 11)) + sum(1 / k**3 for k in range(1, 10))
  return [Check("rows: the change of an eel in the middle grows with the number of eels",
                " ".join(f"{1e3 * c:.3g}" for c in inner) + " ‰", "in this order", bool(np.all(np.diff(inner) > 0))),
          near("rows: change in the middle of 20 eels / of 2 eels / (sum of 1/k³ over neighbours)",
               float(inner[-1] / inner[0] / sides), 1, 0.1)]


def check_wall(records):
  height = {run: records[run]["pose"][:, :, 2] for run in (WALL, OPEN)}
  free = records[OPEN]["spatial_momentum"]
  return [Check("wall: way of the ellipsoid towards the wall, with coupling and wall / without",
                f"{(height[WALL][0] - height[WALL][-1])[0] / (height[OPEN][0] - height[OPEN][-1])[0]:.4f}", "< 1",
                bool(height[WALL][-1, 0] > height[OPEN][-1, 0])),
          at_most("without coupling: change of the momentum of each body / momentum",
                  float(np.max(np.abs(free - free[0])) / np.max(np.abs(free[0]))), 1e-13)]


def draw(records, full):
  canvas, axes = panels(4, 2, 3.9, 2.7)
  fine = records[FINE]["pose"][..., :3]
  errors = {order: [float(np.max(np.abs(records[ORDERS[order, h]]["pose"][..., :3] - fine))) for h in STEPS]
            for order in (2, 4)}
  draw_approach(axes[0, 0], records[EXACT[24]])
  draw_pairs(axes[0, 1], records)
  draw_drafting(axes[1, 0], records)
  draw_wall(axes[1, 1], records[WALL])
  draw_heights(axes[2, 0], records)
  draw_errors(axes[2, 1], errors)
  draw_school(axes[3, 0], records)
  draw_rows(axes[3, 1], records)
  orders = [near(f"dipole, order {order}: log2 of the ratio of the errors for 1/10 and 1/20",
                 float(np.log2(row[1] / row[2])), order, 0.1 * order / 2) for order, row in errors.items()]
  return figure.Drawing(canvas, check_reference() + check_approach(records) + check_dipole() + orders +
                        check_forces(records) + check_conservation(records) + check_wall(records) +
                        check_school(records) + check_rows(records))


if __name__ == "__main__":
  figure.main(globals())
