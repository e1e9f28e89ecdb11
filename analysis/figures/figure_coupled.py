#!/usr/bin/python3
"""Bodies and particles that act on each other or that a fluid moves: springs, rods, attraction, drag, a vortex."""
import numpy as np
from scipy.integrate import solve_ivp

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, near
from coupled import Body, Coupled, Pair, Rod, pose_matrix
from runs import Run
from style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, panels

TITLE = "Bodies and particles together"
CAPTION = ("Two ellipsoids in water on a spring and on a rod; a ball in water on a rod from a fixed point; "
           "spheres that settle in Stokes drag; tracers in a vortex; a light ball that rises until it surfaces; "
           "two bodies that attract each other in hyperbolic space and on the sphere. Lines: the program, with "
           "the step 1/100 and order 2. Dots: independent solutions, which are Kirchhoff's equations with a "
           "multiplier for the rod, by the method of Dormand and Prince of order 8 with the tolerance 1e-12, or "
           "closed forms. Last panel: the largest difference from them; filled: order 2, open: order 4.")
WATER, GRAVITY = 998, 9.81
ROWS = 1 / 50  # s, between the rows that are compared
STEPS = (1 / 50, 1 / 100, 1 / 200)
GRAINS = ((2e-3, 5e-3), (2e-2, 1e-2), (1e-3, 1e-2))  # masses and radii of the spheres that settle
SWIRL, CORE = 1, 0.2


def run(name, step, order):
  return Run(f"coupled/{name}", (f"integrator.step={step}", f"integrator.order={order}",
                                 f"record.every={round(ROWS / step)}"))


SURFACING = Run("coupled/surfacing")
LONG = Run("coupled/rod", ("time.end=1000", "record.every=100"))


def runs(full):
  return [run(name, h, order) for name in CASES for order in (2, 4) for h in STEPS] + [SURFACING, LONG]


def matrices(record, curvature=0):
  return np.array([[pose_matrix(pose, curvature) for pose in row] for row in record["pose"]])


def bodies(links, curvature=0):
  """The matrices of both bodies in a record, and by Kirchhoff's equations."""
  def solve(record):
    problem = Coupled(list(record["inertia"][0]), links, curvature=curvature)
    return problem.solve(record["pose"][0], record["twist"][0], record["time"])[0]
  return lambda record: matrices(record, curvature), solve


def swing(record):
  """Centre of the ball: (m + m_f/2) theta'' = -(m - m_f) g sin(theta) on a rod of length 1."""
  weight = record["body_mass"][0] * (1 - WATER / 3000) * GRAVITY / record["inertia"][0, 0, 5, 5]
  t = record["time"]
  theta = solve_ivp(lambda _, y: [y[1], -weight * np.sin(y[0])], (0, t[-1]), [np.arctan2(0.6, 0.8), 0], "DOP853", t,
                    rtol=1e-12, atol=1e-12).y[0]
  return np.stack([np.sin(theta), 0 * theta, -np.cos(theta)], axis=1)


def settle(record):
  """Heights: M v' = -(m - m_f) g - 6 pi mu a v with M = m + m_f/2, from rest."""
  t, heights = record["time"], []
  for mass, a in GRAINS:
    displaced, drag = 1000 * 4 / 3 * np.pi * a**3, 6 * np.pi * a
    end, tau = -(mass - displaced) * GRAVITY / drag, (mass + displaced / 2) / drag
    heights.append(end * (t + tau * np.expm1(-t / tau)))
  return np.stack(heights, axis=1)


def circle(record):
  radius = record["position"][0, :, 0]
  angle = np.outer(record["time"], SWIRL / (2 * np.pi * radius**2) * -np.expm1(-radius**2 / CORE**2))
  return np.stack([radius * np.cos(angle), radius * np.sin(angle), 0 * angle], axis=2)


def attraction(curvature):
  sin = np.sin if curvature > 0 else np.sinh
  return bodies([Pair((Body(0), Body(1)), lambda d: 0.4 * 3 * 2 / sin(d) ** 2)], curvature)


# Of each scenario: the compared quantity in a record, and its independent solution.
CASES = {
    "spring": bodies([Pair((Body(0, (0.2, 0, 0)), Body(1, (0, 0.2, 0))), lambda d: 60 * (d - 0.7))]),
    "rod": bodies([Rod((Body(0, (0.2, 0, 0)), Body(1, (0, 0.1, 0.1))))]),
    "pendulum": (lambda record: record["pose"][:, 0, :3], swing),
    "settling": (lambda record: record["position"][..., 2], settle),
    "tracers": (lambda record: record["position"], circle),
    "attraction-h3": attraction(-1),
    "attraction-s3": attraction(1)}
COLOURS = dict(zip(CASES, (BLUE, ORANGE, GREEN, VERMILION, SKY, PURPLE, GREY)))
NAMES = {"attraction-h3": "attraction, $H^3$", "attraction-s3": "attraction, $S^3$"}


def separation(g, curvature):
  """Distance of the two bodies from the last columns of their matrices."""
  chord = np.sum(np.diff(g[..., 3], axis=1)[:, 0] ** 2 * [1, 1, 1, curvature], axis=1) ** 0.5
  return 2 * (np.arcsin if curvature > 0 else np.arcsinh)(chord / 2)


def draw_motions(axes, records, exact):
  record = {name: records[run(name, STEPS[1], 2)] for name in CASES}
  time = {name: r["time"] for name, r in record.items()}
  spring, rod, pendulum, settling, tracers, surfacing, curved = axes
  ends = [np.array((*at, 1)) for at in ((0.2, 0, 0), (0, 0.2, 0))]
  spring.plot(time["spring"], record["spring"]["separation"][:, 0], color=BLUE)
  gap = exact["spring"][:, 0] @ ends[0] - exact["spring"][:, 1] @ ends[1]
  spring.plot(time["spring"][::5], np.linalg.norm(gap, axis=1)[::5], ".", color=BLUE, markersize=4)
  spring.set(title="ellipsoids on a spring", xlabel="time (s)", ylabel="length of the spring (m)")
  for i, (name, colour) in enumerate((("lighter", ORANGE), ("heavier", BLUE))):
    rod.plot(*record["rod"]["pose"][:, i, :2].T, color=colour, label=name)
    rod.plot(*exact["rod"][::10, i, :2, 3].T, ".", color=colour, markersize=4)
  rod.set(title="ellipsoids on a rod: centres", xlabel="$x$ (m)", ylabel="$y$ (m)")
  rod.legend()
  x = record["pendulum"]["pose"][:, 0]
  pendulum.plot(time["pendulum"], np.degrees(np.arctan2(x[:, 0], -x[:, 2])), color=GREEN)
  x = exact["pendulum"]
  pendulum.plot(time["pendulum"][::10], np.degrees(np.arctan2(x[:, 0], -x[:, 2]))[::10], ".", color=GREEN, markersize=4)
  pendulum.set(title="ball on a rod from a fixed point", xlabel="time (s)", ylabel="angle (degrees)")
  for i, (mass, a) in enumerate(GRAINS):
    colour = (VERMILION, BLUE, GREEN)[i]
    settling.plot(time["settling"], record["settling"]["position"][:, i, 2], color=colour,
                  label=f"{mass * 1e3:g} g, radius {a * 1e3:g} mm")
    settling.plot(time["settling"], exact["settling"][:, i], ".", color=colour, markersize=4)
  settling.set(title="spheres in Stokes drag", xlabel="time (s)", ylabel="height (m)")
  settling.legend(loc="lower left")
  for i in range(exact["tracers"].shape[1]):
    tracers.plot(*record["tracers"]["position"][:, i, :2].T, color=SKY)
    tracers.plot(*exact["tracers"][::5, i, :2].T, ".", color=BLUE, markersize=4)
  tracers.set(title="tracers in a vortex, 1 s", xlabel="$x$ (m)", ylabel="$y$ (m)")
  tracers.set_aspect("equal", adjustable="datalim")
  draw_surfacing(surfacing, records[SURFACING])
  for name, c, colour in (("attraction-h3", -1, PURPLE), ("attraction-s3", 1, GREY)):
    label = "$H^3$" if c < 0 else "$S^3$"
    curved.plot(time[name], separation(matrices(record[name], c), c), color=colour, label=label)
    curved.plot(time[name][::10], separation(exact[name], c)[::10], ".", color=colour, markersize=4)
  curved.set(title="bodies that attract each other", xlabel="time", ylabel="distance")
  curved.legend()


def rise(record):
  """Acceleration of the light ball: (m + m_f/2) z'' = (m_f - m) g."""
  return record["body_mass"][0] * (WATER / 500 - 1) * GRAVITY / record["inertia"][0, 0, 5, 5]


def draw_surfacing(axes, record):
  t = record["time"]
  axes.plot(t, record["pose"][:, 0, 2] + 0.1, color=BLUE)
  axes.plot(t[::5], rise(record) * t[::5] ** 2 / 2 - 1.9, ".", color=BLUE, markersize=4)
  axes.plot(record["event_time"], [0], "o", color=VERMILION, label="the run stops")
  axes.axhline(0, color=GREY, linewidth=0.6)
  axes.set(title="light ball: its highest point", xlabel="time (s)", ylabel="height (m)")
  axes.legend(loc="upper left", bbox_to_anchor=(0, 0.9))


def draw_errors(axes, errors):
  for name, rows in errors.items():
    for order, row in rows.items():
      axes.loglog(STEPS, row, "o-", color=COLOURS[name], markersize=4, linewidth=1,
                  markerfacecolor="none" if order == 4 else None, label=NAMES.get(name, name) if order == 2 else None)
  axes.set(title="largest difference from the dots", xlabel="step (s)", ylabel="difference")
  axes.set_xticks(STEPS, [f"1/{1 / h:.0f}" for h in STEPS])
  axes.minorticks_off()


def conservation(records):
  """Checks of momenta, of the rods, of the radii of tracers, and of the time at which the ball surfaces."""
  def change(name):
    p = records[run(name, STEPS[1], 2)]["total_momentum"]
    return float(np.max(np.abs(p - p[0])))
  long = records[LONG]
  p, energy = long["total_momentum"], np.abs(long["energy"] - long["energy"][0])
  half = len(energy) // 2
  surface, dust = records[SURFACING], records[run("tracers", STEPS[1], 2)]["position"]
  radius = np.hypot(dust[..., 0], dust[..., 1])
  return [
      at_most("spring: change of the total momentum (kg m/s, kg m²/s)", change("spring"), 1e-13),
      at_most("attraction in H³: change of the total momentum", change("attraction-h3"), 1e-12),
      at_most("attraction in S³: change of the total momentum", change("attraction-s3"), 1e-12),
      at_most("rod, 1e5 steps: change of the total momentum (kg m/s, kg m²/s)", float(np.max(np.abs(p - p[0]))),
              1e-13),
      at_most("rod, 1e5 steps: residual of the rod (m)", float(np.max(np.abs(long["constraint_residual"]))), 1e-14),
      at_most("rod, 1e5 steps: energy error of the second half / first half",
              float(np.max(energy[half:]) / np.max(energy[:half])), 1.5),
      at_most("pendulum: residual of the rod (m)",
              float(np.max(np.abs(records[run("pendulum", STEPS[1], 2)]["constraint_residual"]))), 1e-14),
      at_most("tracers: change of their radii (m)", float(np.max(np.abs(radius - radius[0]))), 1e-14),
      near("surfacing: time of the stop / closed form", float(surface["time"][-1] / np.sqrt(2 * 1.9 / rise(surface))),
           1, 1e-12),
      at_most("surfacing: height of the highest point at the stop (m)", float(abs(surface["pose"][-1, 0, 2] + 0.1)),
              1e-12)]


# The largest difference that is allowed at the step 1/200, for the orders 2 and 4.
BOUNDS = {"spring": (2e-3, 2e-8), "rod": (3e-3, 1e-7), "pendulum": (1e-4, 5e-10), "settling": (1e-5, 2e-8),
          "tracers": (1e-5, 2e-11), "attraction-h3": (5e-4, 2e-8), "attraction-s3": (2e-3, 5e-7)}


def draw(records, full):
  canvas, grid = panels(4, 2, 3.8, 2.5)
  exact, errors, checks, rows = {}, {}, [], []
  for name, (observe, solve) in CASES.items():
    exact[name] = solve(records[run(name, STEPS[0], 2)])
    errors[name] = {order: [float(np.max(np.abs(observe(records[run(name, h, order)]) - exact[name]))) for h in STEPS]
                    for order in (2, 4)}
    for order, bound in zip((2, 4), BOUNDS[name]):
      error = errors[name][order]
      checks += [at_most(f"{name}, order {order}: largest difference, step 1/200", error[-1], bound),
                 near(f"{name}, order {order}: log2 of its ratio for 1/100 and 1/200",
                      float(np.log2(error[-2] / error[-1])), order, 0.1, digits=4)]
    rows.append([name, *(f"{e:.2e}" for order in (2, 4) for e in errors[name][order])])
  draw_motions(grid.ravel()[:-1], records, exact)
  draw_errors(grid[-1, -1], errors)
  handles = grid[-1, -1].get_legend_handles_labels()
  canvas.legend(*handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=4, title="last panel")
  header = ["scenario", *(f"order {order}, 1/{1 / h:.0f}" for order in (2, 4) for h in STEPS)]
  return figure.Drawing(canvas, checks + conservation(records),
                        [figure.Table("Largest difference from the independent solution", header, rows)])


if __name__ == "__main__":
  figure.main(globals())
