#!/usr/bin/python3
"""Joined bodies without drag: skew hinges, balls with springs, a motor, a loop, limits, dry friction."""
import functools

import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, near
from coupled import pose_matrix
from joints import Body, Joint, Joints, ellipsoid, rotation, turn, weight
from runs import Run
from style import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, panels

TITLE = "Joined bodies: hinges, balls, a motor, a loop and limits"
CAPTION = ("A double pendulum of ellipsoids on skew hinges in vacuum; five ellipsoids on balls with springs in a "
           "fluid; an acrobot in water with dampers and a motor; a four-bar linkage in water; a pendulum with a dry "
           "hinge and with limits. Lines: the program with the step 1/100 and order 2 (limits: 1/400 and order 4). "
           "Dots: Kirchhoff's equations of each body with multipliers for the joints, by the method of Dormand and "
           "Prince of order 8 with the tolerance 1e-12 (limits: 1e-11). Errors are the largest differences from the "
           "dots over one second; filled: order 2, open: order 4.")
ROWS = 1 / 50  # s, between the rows that are compared
STEPS = (1 / 100, 1 / 200, 1 / 400)
FINE = {"o1": 1 / 4000, "o2": 1 / 1600, "o4": 1 / 1000, "o5": 1 / 1000}
NAMES = {"o1": "double pendulum", "o2": "balls", "o4": "acrobot", "o5": "four-bar"}
COLOURS = {"o1": BLUE, "o2": ORANGE, "o4": GREEN, "o5": VERMILION}
G = 9.81
DOWN = (0, -1, 0)
LIMIT_STEPS = (1 / 200, 1 / 400, 1 / 800)
BEFORE = 0.87  # s: the dry hinge stops for the first time at 0.878 s


def run(name, step, order):
  return Run(f"joints/{name}", (f"integrator.step={step}", f"integrator.order={order}",
                                f"record.every={round(ROWS / step)}"))


LONG = Run("joints/o2", ("time.end=400", "record.every=100"))


def runs(full):
  return [run(name, h, order) for name in NAMES for order in (2, 4) for h in STEPS] + [
      run(name, h, 4) for name, h in FINE.items()] + [
      run("limits", h, order) for order in (2, 4) for h in LIMIT_STEPS] + [LONG]


# --- the independent motions ---

def pendulum():
  bodies = [ellipsoid((0.3, 0.12, 0.08), 1000, gravity=G), ellipsoid((0.25, 0.1, 0.06), 1200, gravity=G)]
  p = Joints(bodies, [Joint("hinge", (-1, 0), (0, 0, 1), (-0.3, 0, 0), (0.2, 0.9, 0.3)),
                      Joint("hinge", (0, 1), (0.32, 0.02, 0), (-0.26, 0, 0.01), (0.5, 0.2, 0.8), (0.4, 0.3, 0.8))])
  return p, p.hang([0.4, -0.7], [1.5, -2])


def balls():
  a = ((0.30, 0.20, 0.12), (0.25, 0.14, 0.18), (0.28, 0.21, 0.15), (0.22, 0.15, 0.11), (0.26, 0.17, 0.13))
  bodies = [ellipsoid(s, density, 1) for s, density in zip(a, (1.1, 1.3, 0.9, 1.2, 1.05))]
  joints, q, spin = [], [], []
  for i in range(1, 5):
    joints.append(Joint("ball", (i - 1, i), (a[i - 1][0] + 0.02, 0.01 * (i % 3), 0),
                        (-a[i][0] - 0.02, 0, 0.01 * ((i + 1) % 2)), stiffness=0.1))
    n = np.array([np.cos(i), np.sin(i), 0.3 * i])
    q.append((0.35 + 0.1 * i) * n / np.linalg.norm(n))
    spin.append(np.array([0.4 * np.cos(2 * i), -0.3 + 0.1 * i, 0.5 * np.sin(i)]) / 2)
  p = Joints(bodies, joints)
  base = (turn(0.4 * np.array([1, 2, 3]) / 14**0.5), np.array([0.1, -0.2, 0.3]),
          np.array([0.15, -0.25, 0.35, 0.1, 0.05, -0.15]))
  return p, p.hang(q, spin, {0: base})


def acrobot():
  bodies = [ellipsoid((0.25, 0.05, 0.05), 1500, 1000, G), ellipsoid((0.2, 0.04, 0.06), 2000, 1000, G)]
  p = Joints(bodies, [Joint("hinge", (-1, 0), (0, 0, 0), (-0.25, 0, 0), DOWN, damping=0.05),
                      Joint("hinge", (0, 1), (0.25, 0, 0), (-0.2, 0, 0), DOWN, damping=0.02,
                            motor=lambda t, *_: 1.5 * np.sin(3 * t))])
  return p, p.hang([-1.2, 0.3], [0, 0])


def four_bar():
  ends = [((-1, 0), (0, 0, 0), (-0.2, 0, 0)), ((0, 1), (0.2, 0, 0), (-0.45, 0, 0)),
          ((1, 2), (0.45, 0, 0), (-0.35, 0, 0)), ((-1, 2), (1, 0, 0), (0.35, 0, 0))]
  p = Joints([ellipsoid((x / 2, 0.04, 0.03), 1400, 1000, G) for x in (0.4, 0.9, 0.7)],
             [Joint("hinge", *end, DOWN) for end in ends])
  angles = [0.9, -0.459371301925, -2.101086990839]
  s = p.hang([*angles, sum(angles)], [2, 0, 0, 0])
  _, rows, _, g, *_ = p.system(0, s)  # the rates that keep the loop closed
  Y = np.linalg.lstsq(np.vstack([rows, g[0]]), np.append(np.zeros(len(rows)), 2), rcond=1e-9)[0]
  s[:39].reshape(3, 13)[:, 7:] = Y.reshape(3, 6)
  return p, s


def dry():
  bodies = [Body(np.diag([*moments, m, m, m]), weight((0, 0, -G * m)))
            for m, moments in ((1.5, (0.001, 0.013, 0.013)), (0.8, (0.0004, 0.004, 0.004)))]
  p = Joints(bodies, [Joint("hinge", (-1, 0), (0, 0, 0), (-0.2, 0, 0), (0, 1, 0), friction=0.25),
                      Joint("hinge", (0, 1), (0.2, 0, 0), (-0.15, 0, 0), (0, 1, 0), limits=(-0.7, 0.7),
                            restitution=0.8)])
  return p, p.hang([-0.8, 0.4], [3, 9])


MOTIONS = {"o1": pendulum, "o2": balls, "o4": acrobot, "o5": four_bar}
# Digits at 1 s that equations in two other formulations share: angles and rates, or a quaternion and a place.
KNOWN = {"o1": (2.714070772791, -1.062380472855, -1.937475395638, -0.842384207849),
         "o2": (0.4395251365, -0.3043251756, -0.5299678976, 0.6582840340, 0.5256423635, -0.0522399806, 0.2094091500),
         "o4": (-1.883429113080, 0.001794825759, 0.1429236094911, -3.239764947414),
         "o5": (2.666403104151, -2.327008707854, -1.100148089463, 3.035394496, -2.609005372, 0.989283666)}
DIGITS = {"o1": 1e-11, "o2": 1e-10, "o4": 1e-11, "o5": 1e-9}
BOUNDS = {"o1": 1e-10, "o2": 2e-9, "o4": 1e-10, "o5": 1e-10}


@functools.cache
def exact(name):
  """The model, the states and the compared quantities [time, ..]: angles and rates, or the matrices of bodies."""
  p, s = MOTIONS[name]()
  t = np.arange(round(1 / ROWS) + 1) * ROWS
  states = p.solve(s, t)
  if name != "o2":
    return p, states, np.hstack([p.coordinates(states), p.coordinate_rates(t, states)])
  body = states[:, :13 * p.n].reshape(len(t), p.n, 13)
  return p, states, np.array([[[*rotation(b[:4]).ravel(), *b[4:7]] for b in row] for row in body])


def compared(record, name):
  if name != "o2":
    return np.hstack([record["angle"], record["rate"]])
  return np.array([[[*pose_matrix(g)[:3, :3].ravel(), *g[:3]] for g in row] for row in record["pose"]])


def error(record, name):
  return float(np.max(np.abs(compared(record, name) - exact(name)[2])))


def balance(record):
  """Energy, with the potential of buoyancy, minus its start; the works of motors, dampers and limits."""
  lift = {2: (1000 * G * 4 / 3 * np.pi * 0.25 * 0.05**2, 1000 * G * 4 / 3 * np.pi * 0.2 * 0.04 * 0.06),
          3: [1000 * G * 4 / 3 * np.pi * x / 2 * 0.04 * 0.03 for x in (0.4, 0.9, 0.7)]}[record["pose"].shape[1]]
  energy = record["energy"] - record["pose"][:, :, 2] @ lift
  return energy - energy[0], [record[f"{w}_work"].sum(axis=1) for w in ("motor", "damping", "limit")]


# --- drawing ---

def draw_angles(axes, record, name, labels, title):
  t, q = record["time"], record["angle"]
  dots = exact(name)[2]
  for i, (label, colour) in enumerate(zip(labels, (BLUE, ORANGE, GREEN))):
    axes.plot(t, q[:, i], color=colour, label=label)
    axes.plot(t[::3], dots[::3, i], ".", color=colour, markersize=4)
  axes.set(title=title, xlabel="time (s)", ylabel="angle (rad)")
  axes.legend()


def draw_balls(axes, record):
  p, states, _ = exact("o2")
  t, places = record["time"], p.places(states)
  for i, colour in enumerate((BLUE, ORANGE, GREEN, VERMILION, PURPLE)):
    axes.plot(*record["pose"][:, i, :2].T, color=colour)
    axes.plot(*places[::5, i, :2].T, ".", color=colour, markersize=4)
  for row, style in ((0, ":"), (len(t) - 1, "-")):
    axes.plot(*record["pose"][row, :, :2].T, style, color=GREY, linewidth=0.8, zorder=0)
  axes.set(title="five ellipsoids on balls: centres", xlabel="$x$ (m)", ylabel="$y$ (m)")
  axes.set_aspect("equal", adjustable="datalim")


def draw_limits(axes, record, states, p, events):
  t, q = record["time"], record["angle"]
  for i, (label, colour) in enumerate((("dry hinge", BLUE), ("hinge with limits", ORANGE))):
    axes.plot(t, q[:, i], color=colour, label=label)
    axes.plot(t[::3], p.coordinates(states)[::3, i], ".", color=colour, markersize=4)
  for side in p.joints[1].limits:
    axes.axhline(side, color=GREY, linewidth=0.8, linestyle="--")
  stops = [time for time, _, what in events if what == "stops"]
  axes.plot(stops, np.interp(stops, t, p.coordinates(states)[:, 0]), "s", color=BLUE, markersize=4,
            markerfacecolor="none", label="dry hinge stops")
  axes.set(title="a dry hinge, and a hinge between limits", xlabel="time (s)", ylabel="angle (rad)")
  axes.set_ylim(top=6.6)
  axes.legend(ncols=2, loc="upper right")


def draw_energies(axes, record, title, change=None):
  energy, works = balance(record) if change is None else change
  t = record["time"]
  axes.plot(t, energy, color=BLUE, label="change of the energy")
  for work, name, colour in zip(works, ("motors", "dampers" if change is None else "friction", "limits"),
                                (ORANGE, GREEN, VERMILION)):
    if np.any(work):
      axes.plot(t, work, color=colour, label=f"work of {name}")
  axes.plot(t[::4], sum(works)[::4], ".", color=GREY, markersize=4, label="sum of the works")
  axes.set(title=title, xlabel="time (s)", ylabel="energy (J)")
  axes.legend()


def draw_errors(axes, errors):
  for (name, order), row in errors.items():
    axes.loglog(STEPS, row, "o-", color=COLOURS[name], markersize=4, linewidth=1,
                markerfacecolor="none" if order == 4 else None, label=NAMES[name] if order == 2 else None)
  axes.set(title="largest difference from the dots", xlabel="step (s)", ylabel="difference (rad, rad/s; m)")
  axes.set_xticks(STEPS, [f"1/{1 / h:.0f}" for h in STEPS])
  axes.minorticks_off()
  axes.set_ylim(bottom=1e-14)
  axes.legend(ncols=2, loc="lower right")


# --- checks ---

def check_references():
  out = []
  for name, digits in KNOWN.items():
    p, states, quantity = exact(name)
    last = states[-1, :7] if name == "o2" else np.concatenate([quantity[-1, :len(digits) // 2],
                                                              quantity[-1, p.size:][:len(digits) // 2]])
    out.append(at_most(f"dots, {NAMES[name]}: difference at 1 s from digits of two other formulations",
                       float(np.max(np.abs(last - digits))), DIGITS[name]))
  return out


def check_motions(records, errors):
  out = [near(f"{NAMES[name]}, order {order}: log2 of the ratio of the errors for 1/200 and 1/400",
              float(np.log2(row[1] / row[2])), order, 0.05 if order == 2 else 0.1)
         for (name, order), row in errors.items()]
  for name, h in FINE.items():
    record = records[run(name, h, 4)]
    last = np.abs(compared(record, name)[-1] - exact(name)[2][-1])
    out += [at_most(f"{NAMES[name]}, order 4, step 1/{1 / h:.0f}: difference at 1 s", float(np.max(last)),
                    BOUNDS[name]),
            at_most(f"{NAMES[name]}: largest gap of a joint (m, rad)", float(np.max(record["joint_residual"])), 1e-15)]
  return out


def check_conservation(records):
  out = []
  for name in ("o4", "o5"):
    gaps = []
    for h in STEPS[1:]:
      energy, works = balance(records[run(name, h, 2)])
      gaps.append(float(np.max(np.abs(energy - sum(works)))))
    out.append(near(f"{NAMES[name]}: log2 of the ratio of energy - work for 1/200 and 1/400",
                    float(np.log2(gaps[0] / gaps[1])), 2, 0.1))
    record = records[run(name, FINE[name], 4)]
    energy, works = balance(record)
    out.append(at_most(f"{NAMES[name]}, order 4, step 1/1000: energy - work / range of the kinetic energy",
                       float(np.max(np.abs(energy - sum(works))) / np.ptp(record["kinetic_energy"])), 1e-10))
  long = records[LONG]
  p, energy = long["total_momentum"], np.abs(long["energy"] - long["energy"][0])
  half = len(energy) // 2
  return out + [
      at_most("balls, 4e4 steps: change of the total momentum (kg m/s, kg m²/s)", float(np.max(np.abs(p - p[0]))),
              1e-13),
      at_most("balls, 4e4 steps: largest gap of a joint (m)", float(np.max(long["joint_residual"])), 1e-14),
      at_most("balls, 4e4 steps: energy error of the second half / first half",
              float(np.max(energy[half:]) / np.max(energy[:half])), 1.5)]


def check_limits(records, states, p, events):
  t = np.arange(len(states)) * ROWS
  early, out, late = t <= BEFORE, [], []
  for order in (2, 4):
    gaps = [np.max(np.abs(records[run("limits", h, order)]["angle"] - p.coordinates(states)), axis=1)
            for h in LIMIT_STEPS]
    out.append(near(f"limits, order {order}: log2 of the ratio of the errors for 1/200 and 1/400, before the dry hinge "
                    "stops", float(np.log2(np.max(gaps[0][early]) / np.max(gaps[1][early]))), order, 0.1 * order / 2))
    late += [float(np.max(g) / h) for g, h in zip(gaps, LIMIT_STEPS)]
  record = records[run("limits", LIMIT_STEPS[-1], 4)]
  mine = record["event_time"][record["event_kind"] == 0]
  hits = np.array([time for time, _, what in events if what == "limit"])
  first = hits < BEFORE
  energy = record["energy"] - record["energy"][0]
  works = sum(record[f"{w}_work"].sum(axis=1) for w in ("motor", "damping", "limit"))
  same = len(mine) == len(hits)
  return out + [
      Check("limits: number of blows", str(len(mine)), str(len(hits)), same),
      at_most("limits, order 4, step 1/800: error of the times of blows before the dry hinge stops (s)",
              float(np.max(np.abs(mine[:np.sum(first)] - hits[first]))), 1e-7),
      at_most("dry hinge: difference of all angles / step, over all steps (rad/s)", max(late), 30),
      at_most("limits and dry friction: change of the energy - work / change of the energy",
              float(np.max(np.abs(energy - works)) / np.ptp(energy)), 1e-6)]


def draw(records, full):
  canvas, axes = panels(4, 2, 3.9, 2.7)
  errors = {(name, order): [error(records[run(name, h, order)], name) for h in STEPS]
            for name in NAMES for order in (2, 4)}
  middle = {name: records[run(name, STEPS[0], 2)] for name in NAMES}
  draw_angles(axes[0, 0], middle["o1"], "o1", ("upper hinge", "lower hinge"), "double pendulum on skew hinges")
  draw_balls(axes[0, 1], middle["o2"])
  draw_angles(axes[1, 0], middle["o4"], "o4", ("hands", "waist"), "acrobot in water")
  draw_angles(axes[1, 1], middle["o5"], "o5", ("crank", "elbow", "wrist"), "four-bar linkage in water")
  p, s = dry()
  limited = records[run("limits", LIMIT_STEPS[1], 4)]
  states, events = p.solve_events(s, limited["time"], 1e-11)
  draw_limits(axes[2, 0], limited, states, p, events)
  energy = limited["energy"] - limited["energy"][0]
  draw_energies(axes[2, 1], limited, "pendulum with limits and friction: energy",
                (energy, [limited[f"{w}_work"].sum(axis=1) for w in ("motor", "damping", "limit")]))
  draw_energies(axes[3, 0], middle["o4"], "acrobot: energy, with that of buoyancy")
  draw_errors(axes[3, 1], errors)
  checks = check_references() + check_motions(records, errors) + check_conservation(records) + \
      check_limits(records, states, p, events)
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
