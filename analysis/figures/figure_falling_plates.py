#!/usr/bin/python3
"""Falling plates: maps of their regimes by the planar equations and as bodies in a fluid, and examples of the regimes."""
import numpy as np
from matplotlib.colors import ListedColormap
from matplotlib.patches import Patch
from matplotlib.ticker import FixedLocator, FormatStrFormatter, NullFormatter

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check
from runs import Run, Sweep
from style import BLUE, GREEN, GREY, ORANGE, SKY, VERMILION, plt

TITLE = "Falling plates: steady, fluttering, tumbling, chaotic"
CAPTION = ("Above: regimes by the rule of `curvebody classify`, over the moment of inertia I* and the aspect ratio or "
           "the linear drag of rotation, for the planar equations of Andersen, Pesavento & Wang, the corrected "
           "ellipsoid and MuJoCo's ellipsoid; both ellipsoids are constrained to the plane. White: undecided, or not "
           "heavier than the fluid. Middle: falls by the planar equations, the plate every 0.8, and discs of the "
           "corrected ellipsoid that fall freely, in units of their widths, in the colours of the regimes. Below: the "
           "plate with I* 1.35 and aspect ratio 0.1 under six models of the fluid.")
NAMES = ("undecided", "steady", "flutter", "tumble", "chaotic")
COLOURS = ("white", GREY, BLUE, ORANGE, VERMILION)
LOW, HIGH = 0.1, 10
BETAS, SPINS = (0.02, 0.5), (0.1, 1)
FALLS = {"steady": (4, 0.6), "flutter": (1, 0.2), "tumble": (1.35, 0.2), "chaotic": (2.2, 0.2)}
GEOMS = ("ellipsoid", "mujoco_ellipsoid", "thin_plate")
OWN = {"thin_plate": ("speed=0.707107",)}  # ((density/fluid - 1) g b)^(1/2) with half the thickness
DISCS = Run("immersed/falling-discs")
DISC_WIDTHS = (0.45, 0.45, 1.25, 2.55)
DISC_REGIMES = ("steady", "flutter", "tumble", "chaotic")
EXACT = ("bodies.0.added_mass=exact",)
MODELS = {"local": ("local",), "local, exact added mass": ("local", EXACT), "MuJoCo's box": ("mujoco_inertia_box",),
          "MuJoCo's ellipsoid": ("mujoco_ellipsoid",), "corrected ellipsoid": ("ellipsoid",),
          "thin plate": ("thin_plate",)}


def rows_of(full):
  return 24 if full else 6


INERTIAS = np.geomspace(LOW, HIGH, 24)


def ending(inertia):
  """End of a run: heavy plates leave unstable motions slowly, so they fall longer."""
  return f"time.end={350 + 50 * inertia:.0f}"


def planar_map(name, full):
  """A sweep over INERTIAS and over rows_of(full) values of the other number."""
  return Sweep(f"falling-plate-{name}", (f"sweep.over.0.count={rows_of(full)}",), of="systems/falling-plate")


def planar(inertia, beta=0.2, spin=0.2, rows=1000):
  return Run("systems/falling-plate", (
      f"system.parameters.I={inertia:.6g}", f"system.parameters.beta={beta:.6g}", f"system.parameters.mu1={spin:.6g}",
      ending(inertia), f"record.every={rows}", "record.observables=[falling_regime]"))


def body(inertia, beta, model, rows=1000, more=()):
  c = beta / 2
  return Run("immersed/falling-plate", (
      f"bodies.0.shape.c={1.12486 * c:.6g}", f"bodies.0.density={inertia / beta:.6g}",
      f"bodies.0.model.name={model}", *(f"bodies.0.model.{key}" for key in OWN.get(model, ())),
      *((f"bodies.0.model.geoms.0.size.2={c:.6g}",) if model in GEOMS else ()),
      f"fluid.gravity.2={-1 / (inertia - beta):.6g}", f"fluid.parameters.m={np.pi / 6 * inertia:.6g}",
      ending(inertia), f"record.every={rows}", *more))


OTHER = ("integrator.name=hamilton_pontryagin", "integrator.step=0.02", "bodies.0.place.rotation.angle=-0.5")


def row(more=()):
  """The row of the map of the corrected ellipsoid at the aspect ratio 0.06: a run for each of INERTIAS."""
  return [body(i, 0.06, "ellipsoid", more=more) for i in INERTIAS]


# A body that is not heavier than the fluid does not fall.
def maps(full):
  """Title, label and values of the second axis, and the sweep of all points, or the run of each point (None: no fall)."""
  betas, spins = (np.geomspace(*ends, rows_of(full)) for ends in (BETAS, SPINS))
  return [("planar equations", "aspect ratio", betas, planar_map("aspect", full)),
          ("planar equations, aspect ratio 0.2", "$\\mu_1$", spins, planar_map("spin", full)),
          *((name, "aspect ratio", betas, lambda i, b, m=model: body(i, b, m) if i > 1.05 * b else None)
            for name, model in (("corrected ellipsoid", "ellipsoid"), ("MuJoCo's ellipsoid", "mujoco_ellipsoid")))]


def compared():
  return [body(1.35, 0.1, model[0], 2, *model[1:]) for model in MODELS.values()]


def runs(full):
  of_maps = [r for _, _, ys, of in maps(full)
             for r in ([of] if isinstance(of, Sweep) else [of(i, y) for y in ys for i in INERTIAS])]
  return ([r for r in of_maps if r] + [fall(name) for name in FALLS] + compared() + [DISCS]
          + row() + row(OTHER))


def fall(name):
  inertia, spin = FALLS[name]
  return planar(inertia, spin=spin, rows=2)


def regime(records, run):
  return int(records[run]["falling_regime"][-1, 0]) if run else 0


def ordered(row):
  """Regimes along a row, without undecided ones and without repetition."""
  known = [k for k in row if k]
  return [NAMES[k] for j, k in enumerate(known) if j == 0 or known[j - 1] != k]


def has_in_order(row, names):
  found = iter(ordered(row))
  return all(name in found for name in names)


def strangers(records):
  one, other = ([regime(records, r) for r in row(more)] for more in ((), OTHER))
  return sum(a not in other[max(k - 1, 0):k + 2] for k, a in enumerate(one) if a)


def draw_map(axes, title, label, ys, grid):
  edges = [np.geomspace(v[0] * (v[0] / v[1])**0.5, v[-1] * (v[1] / v[0])**0.5, len(v) + 1)
           for v in (np.geomspace(LOW, HIGH, grid.shape[1]), ys)]
  axes.pcolormesh(*edges, grid, cmap=ListedColormap(COLOURS), vmin=-0.5, vmax=4.5)
  axes.set(xscale="log", yscale="log", xlabel="moment of inertia $I^*$", ylabel=label, title=title)
  for axis, values in ((axes.xaxis, (0.1, 1, 10)), (axes.yaxis, (0.02, 0.05, 0.1, 0.2, 0.5, 1))):
    axis.set_major_locator(FixedLocator(values))
    axis.set_major_formatter(FormatStrFormatter("%g"))
    axis.set_minor_formatter(NullFormatter())
  axes.grid(False)


def draw_fall(axes, x, y, normal, colour, shift, half=1.0, every=10, label=None):
  axes.plot(x + shift, y, color=colour, linewidth=0.6, label=label)
  for k in range(0, len(x), every):
    across = half * np.array([normal[k, 1], -normal[k, 0]])
    axes.plot(*zip((x[k] + shift, y[k]) - across, (x[k] + shift, y[k]) + across), color=colour, linewidth=1)


def normals(pose):
  """Direction of a body's z axis in the world's x and z."""
  w, x, y, z = pose[:, 3:].T
  return np.stack([2 * (x * z + w * y), 1 - 2 * (x * x + y * y)], axis=1)


def draw_falls(axes, records):
  checks = []
  for k, name in enumerate(FALLS):
    record = records[fall(name)]
    late = (record["time"] >= 150) & (record["time"] < 180)
    x, y, theta = record["position"][late, 0].T
    draw_fall(axes, x - x[0], y - y[0], np.stack([-np.sin(theta), np.cos(theta)], axis=1), COLOURS[1 + k], 18 * k)
    found = NAMES[regime(records, fall(name))]
    checks.append(Check(f"planar, I* {FALLS[name][0]}, mu_1 {FALLS[name][1]}", found, name, found == name))
  axes.set(xlabel="$x$ / half width, shifted", ylabel="$y$ / half width", title="plates by the planar equations")
  axes.set_aspect("equal")
  return checks


def draw_models(axes, records):
  rows = []
  for k, (model, run) in enumerate(zip(MODELS, compared())):
    record = records[run]
    late = (record["time"] >= 60) & (record["time"] < 90)
    pose = record["pose"][late, 0]
    draw_fall(axes, pose[:, 0] - pose[0, 0], pose[:, 2] - pose[0, 2], normals(pose),
              (GREY, SKY, GREEN, BLUE, ORANGE, VERMILION)[k], 12 * k, half=0.5, every=8, label=model)
    rows.append([model, NAMES[regime(records, run)]])
  axes.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
  axes.set(xlabel="$x$ / width, shifted", ylabel="$z$ / width", title="one plate, six models")
  axes.set_aspect("equal")
  return figure.Table("One plate, I* 1.35, aspect ratio 0.1", ["model", "regime"], rows)


def draw_discs(axes, records):
  record = records[DISCS]
  late = (record["time"] >= 440) & (record["time"] < 480)
  for k, width in enumerate(DISC_WIDTHS):
    x = record["pose"][late, k, :3] / width
    axes.plot(*(x - x[0] + (10 * k, 0, 0)).T, color=COLOURS[1 + k], linewidth=1)
  axes.set(xlabel="$x$", ylabel="$y$", zlabel="$z$", title="discs that fall freely", xticks=(0, 20, 40), yticks=(0, 20),
           zticks=(-40, -20, 0))
  axes.set_box_aspect(np.ptp([axes.get_xlim(), axes.get_ylim(), axes.get_zlim()], axis=1), zoom=0.95)
  found = [NAMES[int(k)] for k in record["falling_regime"][-1]]
  return [Check(f"disc {name}", regime_, wanted, regime_ == wanted)
          for name, regime_, wanted in zip(record.labels("body"), found, DISC_REGIMES)]


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 9.6))
  above, legend, middle, below = canvas.subfigures(4, 1, height_ratios=(1.6, 0.12, 1.1, 1))
  charts = above.subplots(2, 2, sharex=True).flat
  regimes, free = middle.add_gridspec(1, 2, width_ratios=(1.25, 1))
  grids = []
  for k, (title, label, ys, of) in enumerate(maps(full)):
    grids.append(records[of]["regime"].astype(int) if isinstance(of, Sweep) else
                 np.array([[regime(records, of(i, y)) for i in INERTIAS] for y in ys]))
    ax = charts[k]
    draw_map(ax, title, label, ys, grids[-1])
    if k < 2:
      ax.set_xlabel(None)
  legend.legend(handles=[Patch(facecolor=colour, edgecolor=GREY, label=name) for name, colour in zip(NAMES, COLOURS)],
                loc="center", ncols=5)
  thin = [row for row, beta in zip(grids[0], maps(full)[0][2]) if beta <= 0.2]
  order = ("flutter", "tumble", "chaotic", "flutter")
  corrected = [row for row, beta in zip(grids[2], maps(full)[2][2]) if beta <= 0.2]
  checks = [Check("planar equations, aspect ratio up to 0.2: rows with flutter, tumble, chaotic, flutter in this order",
                  str(sum(has_in_order(row, order) for row in thin)), str(len(thin)),
                  all(has_in_order(row, order) for row in thin)),
            Check("planar equations with mu_1: regimes", ", ".join(sorted({NAMES[k] for k in grids[1].flat if k})),
                  "all four", {1, 2, 3, 4} <= set(grids[1].flat)),
            Check("corrected ellipsoid, aspect ratio up to 0.2: rows with the order of the planar equations",
                  str(sum(has_in_order(row, order) for row in corrected)), str(len(corrected)),
                  all(has_in_order(row, order) for row in corrected)),
            Check("corrected ellipsoid, by another integrator, half the step and from another angle: points of a row whose "
                  "regime is none of their neighbours' regimes", str(strangers(records)), "0", strangers(records) == 0),
            Check("MuJoCo's ellipsoid: points of the map where it tumbles", str(int(np.sum(grids[3] == 3))), "0",
                  not np.any(grids[3] == 3))]

  checks += draw_falls(middle.add_subplot(regimes), records)
  table = draw_models(below.subplots(), records)
  discs = middle.add_subplot(free, projection="3d")
  return figure.Drawing(canvas, checks + draw_discs(discs, records), [table])


if __name__ == "__main__":
  figure.main(globals())
