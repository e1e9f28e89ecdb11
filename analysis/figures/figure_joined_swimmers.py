#!/usr/bin/python3
"""Joined bodies that swim and fly: a robot fish, a tail in a wake, a fly, a chain that sinks, a scallop."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_least, at_most, between, near
from immersed import GRAVITY, WATER, Body, draw_outline, integral
from joined_drag import SwungPlate, Wave, faces, thin_plate, together
from joints import Body as Rigid
from joints import Joint, Joints, rotation, weight
from runs import Run, Surface
from style import BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, VERMILION, panels

TITLE = "Joined bodies that swim and fly"
CAPTION = ("A robot fish with servos at its two hinges, from above, in still water and against a stream; a plate on "
           "a sprung hinge in a wake whose wave travels downstream; a fly on a vertical rail, with driven wings, and "
           "with motors and springs; a chain of 30 links whose one end is heavy; a scallop with a drag that is "
           "proportional to the velocity. The amplitude of the plate is relative to that of the velocity across, "
           "divided by the stream. Lines: the program. Dots: Kirchhoff's equations with multipliers and the same "
           "drag laws, and for the plate the equation of its angle, by the method of Dormand and Prince of order 8.")
FISH_STEPS = (1 / 100, 1 / 200, 1 / 400)
FISH_TIME, BEAT = 1.0, 0.5  # s: end of the dots, period of the tail
STREAM = -0.04
TAIL_STEPS = (1 / 100, 1 / 200)
RATES = (0.3, 0.6, 0.9, 1.2, 1.6, 2.0, 2.5)
FLY_STEPS = (1 / 2500, 1 / 5000)
FLY_TIME, FLY_RATE = 0.08, 25
CHAIN_STEPS = (1 / 400, 1 / 800)
DENSITIES = (1000, 100, 10)


def fish(name, step):
  return Run(f"joints/{name}", (f"integrator.step={step}", f"record.every={round(0.02 / step)}"))


def fine_fish(step):
  return Run("joints/robot-fish", (f"integrator.step={step}", "time.end=2", "record.every=1"))


def tail(rate, step=1 / 200):
  return Run("joints/passive-tail", (f"fluid.parameters.rate={rate}", f"integrator.step={step}",
                                     f"record.every={round(0.02 / step)}"))


def fly(name, step):
  return Run(f"joints/{name}", (f"integrator.step={step}", f"record.every={round(0.002 / step)}"))


def chain(step):
  return Run("joints/chain", (f"integrator.step={step}", f"record.every={round(0.01 / step)}",
                              "record.observables=[energy, wrenches, joints]"))


def scallop(density):
  return Run("joints/scallop", (f"bodies.0.density={density}", f"bodies.1.density={density}"))


FISH, TAIL = fish("robot-fish", FISH_STEPS[1]), tail(1.2)
FISH_SHOTS = Surface("joints/robot-fish", ("--every", "100000"), table=FISH)
TAIL_SHOTS = Surface("joints/passive-tail", ("--every", "100000"), table=TAIL)
FLIES = ("fly-driven", "fly-sprung")


def runs(full):
  return [fish(name, h) for name in ("robot-fish", "robot-fish-stream") for h in FISH_STEPS] + [
      fine_fish(h) for h in FISH_STEPS[1:]] + [tail(rate) for rate in RATES] + [tail(1.2, TAIL_STEPS[0])] + [
      fly(name, h) for name in FLIES for h in FLY_STEPS] + [chain(h) for h in CHAIN_STEPS] + [
      scallop(d) for d in DENSITIES] + [FISH_SHOTS, TAIL_SHOTS]


def mesh(record, shots, body):
  """Vertices in the frame of the body, and faces."""
  face, g = shots["face"][shots["body"] == body], record["pose"][0, body]
  first = np.min(face)
  x = shots["plot_position"][0, first:np.max(face) + 1] - g[:3]
  return x @ rotation(g[3:]), face - first


# --- the independent motions ---

def servo(k, amplitude, lag):
  def motor(t, q, w):
    target = amplitude * (1 - np.exp(-3 * t)) * np.sin(2 * np.pi * t / BEAT - lag)
    return np.clip(4 * (target - q[k]) - 0.05 * w[k], -2, 2)
  return motor


def solve_fish(record, shots, stream):
  """Angles and places of the fish at the rows up to FISH_TIME: the motion in still water that starts at -stream, moved
  with the stream."""
  bodies = [Rigid(K, faces(*mesh(record, shots, i), WATER)) for i, K in enumerate(record["inertia"][0])]
  p = Joints(bodies, [Joint("hinge", (0, 1), (-0.075, 0, 0), (0.095, 0, 0), motor=servo(0, 0.35, 0)),
                      Joint("hinge", (1, 2), (-0.095, 0, 0), (0.065, 0, 0), motor=servo(1, 0.6, 2 * np.pi / 3))])
  t = record["time"][record["time"] < FISH_TIME + 1e-9]
  twist = np.zeros((3, 6))
  twist[:, 3] = -stream
  states = p.solve(p.start(record["pose"][0], twist, [0, 0]), t, 1e-7)
  return p.coordinates(states), p.places(states) + np.multiply.outer(t, [stream, 0, 0])[:, None]


def solve_fly(record, driven):
  """Angles and heights of the fly at the rows up to FLY_TIME."""
  w = 2 * np.pi * FLY_RATE
  def force(i, mass):
    return weight((0, 0, np.linalg.norm(record["wrench_buoyancy"][0, i, 3:]) - mass * GRAVITY))
  bodies = [Rigid(record["inertia"][0, 0], force(0, 2e-3))] + [
      Rigid(record["inertia"][0, i], together(force(i, 1e-4), thin_plate((0.0004, 0.03, 0.012), 1.225)))
      for i in (1, 2)]
  joints = [Joint("slide", (-1, 0))]
  for i, side in ((1, 1), (2, -1)):
    at = {"at": (0, 0.012 * side, 0.01), "into": (0, -0.03 * side, 0.006), "axis": (0, 0, 1), "axis_in": (0, 1, 0)}
    if driven:
      def drive(t, side=side):
        return None, None, w * w * np.array([-1.2 * side * np.sin(w * t), 0.8 * np.cos(w * t)])
      joints.append(Joint("universal", (0, i), drive=drive, **at))
    else:
      def motor(t, q, rate, side=side):
        return np.array([side * 8e-4 * np.cos(w * t), 0])
      joints.append(Joint("universal", (0, i), stiffness=np.array([4e-3, 3e-4]), rest=np.zeros(2),
                          damping=np.array([0, 2e-7]), motor=motor, **at))
  p, t = Joints(bodies, joints), record["time"][record["time"] < FLY_TIME + 1e-9]
  return p.coordinates(p.solve(p.start(record["pose"][0], record["twist"][0], record["angle"][0]), t, 1e-9))


def swung(record, shots, rate):
  """The plate's equation. Its inertia about the hinge is that of a turn about -y at 0.06 m from its middle."""
  turn = np.array([0, -1, 0, 0, 0, 0.06])
  own = float(record["body_mass"][1]) * (0.12**2 / 12 + 0.06**2)
  return SwungPlate(*mesh(record, shots, 1), 0.06, Wave(0.3, 0.12, 0.24, rate), own,
                    turn @ record["inertia"][0, 1] @ turn - own, WATER, 0.003, 0.08, 1e-3)


def response(t, q, rate):
  """Amplitude of the angle / (amplitude of the velocity across / stream), and its lag behind that velocity at the
  plate's middle, from the last three periods."""
  late = t > t[-1] - 3 / rate + 1e-9
  wave = np.exp(2j * np.pi * rate * t[late])
  z = 2 * np.mean(q[late] * wave.conj())
  drive = -2j / 2 * np.exp(-2j * np.pi * rate * 0.06 / 0.24)  # sin(k x - w t) = Re(i e^{i w t} e^{-i k x})
  lag = np.angle(-drive / z)
  return abs(z) / (0.12 / 0.3), lag


# --- the fish ---

def speed(record):
  """Forward speed of the fish relative to the world, averaged over one beat."""
  t, x = record["time"], record["pose"][:, 1, 0]
  beat = round(BEAT / (t[1] - t[0]))
  return (t[beat:] + t[:-beat]) / 2, (x[beat:] - x[:-beat]) / (t[beat:] - t[:-beat])


def draw_fish(wide, speeds, angles, records, dots):
  record = records[FISH]
  t = record["time"]
  for k, time in enumerate((0, 2, 4, 6)):
    row, down = int(np.argmin(np.abs(t - time))), -0.09 * k
    for i, colour in enumerate((BLUE, SKY, ORANGE)):
      x, _ = mesh(record, records[FISH_SHOTS], i)
      g = record["pose"][row, i]
      draw_outline(wide, [x], g + [0, down, 0, 0, 0, 0, 0], rotation(g[3:]), axes=(0, 1), facecolor=colour, alpha=0.85)
    wide.plot(record["pose"][:row + 1, 1, 0], record["pose"][:row + 1, 1, 1] + down, color=GREY, linewidth=0.6)
    wide.text(-0.35, down, f"{time} s", va="center", fontsize=8)
  wide.set(xlabel="$x$ (m)", yticks=(), ylim=(-0.33, 0.06), xlim=(-0.37, 0.7),
           title="robot fish in still water, from above (one below the other)")
  wide.set_aspect("equal")
  for name, colour, label in (("robot-fish", BLUE, "still water"),
                              ("robot-fish-stream", ORANGE, f"stream of {STREAM:g} m/s")):
    r = records[fish(name, FISH_STEPS[1])]
    speeds.plot(*speed(r), color=colour, label=label)
    x = dots[name][1][:, 1, 0]
    beat = round(BEAT / 0.02)
    speeds.plot(r["time"][:len(x) - beat][::3] + BEAT / 2, ((x[beat:] - x[:-beat]) / BEAT)[::3], ".", color=colour,
                markersize=4)
  speeds.set(xlabel="time (s)", ylabel="speed (m/s)", title="robot fish: mean speed of a beat")
  speeds.legend(loc="lower right")
  early = t < 2
  for i, (label, colour) in enumerate((("neck", BLUE), ("tail", ORANGE))):
    angles.plot(t[early], record["angle"][early, i], color=colour, label=label)
    angles.plot(t[:len(dots["robot-fish"][0]):2], dots["robot-fish"][0][::2, i], ".", color=colour, markersize=4)
  angles.set(xlabel="time (s)", ylabel="angle (rad)", title="robot fish in still water: hinges", ylim=(-0.75, 1.05))
  angles.legend(ncols=2, loc="upper left")


def fish_work(record):
  """Largest |energy - work of motors - work of drag| / work of motors at the end."""
  drag = sum(Body(record, name).work(["drag"]) for name in ("head", "body", "tail"))
  motors = record["motor_work"].sum(axis=1)
  gap = record["energy"] - record["energy"][0] - motors - drag
  return float(np.max(np.abs(gap)) / motors[-1])


def check_fish(records, dots):
  out = []
  for name, label in (("robot-fish", "fish"), ("robot-fish-stream", "fish in the stream")):
    angles, places = dots[name]
    gaps = []
    for h in FISH_STEPS:
      r, n = records[fish(name, h)], len(angles)
      gaps.append((float(np.max(np.abs(r["angle"][:n] - angles))),
                   float(np.max(np.abs(r["pose"][:n, :, :3] - places)))))
    out += [at_most(f"{label}, 1 s, step 1/400: difference of the angles (rad)", gaps[2][0], 1e-4),
            at_most(f"{label}, 1 s, step 1/400: difference of the places (m)", gaps[2][1], 1e-5),
            near(f"{label}: log2 of the ratio of the angles' errors for 1/200 and 1/400",
                 float(np.log2(gaps[1][0] / gaps[2][0])), 2, 0.05)]
  still, stream = (speed(records[fish(name, FISH_STEPS[1])])[1][-1] for name in dots)
  work = [fish_work(records[fine_fish(h)]) for h in FISH_STEPS[1:]]
  momentum = records[FISH]["total_momentum"]
  return out + [
      at_least("fish: speed of the last beat in still water (m/s)", float(still), 0.05),
      near("fish: speed of the last beat relative to the stream / speed in still water",
           float((stream - STREAM) / still), 1, 0.05),
      at_most("fish, step 1/400: energy - work of motors and of drag / work of motors", work[1], 5e-4),
      near("fish: log2 of its ratio for the steps 1/200 and 1/400", float(np.log2(work[0] / work[1])), 2, 0.1),
      at_most("fish: momentum across its plane / momentum along its way",
              float(np.max(np.abs(momentum[:, 5])) / np.max(np.abs(momentum[:, 3]))), 1e-12),
      at_most("fish: largest gap of a joint (m, rad)",
              float(np.max(records[FISH]["joint_residual"])), 1e-15)]


# --- the tail ---

def draw_tail(time_axes, axes, records, exact, measured):
  r = records[TAIL]
  t = r["time"]
  late = t <= 3
  time_axes.plot(t[late], r["angle"][late, 0], color=BLUE, label="angle of the plate (rad)")
  time_axes.plot(t[late][::5], exact[1.2][late][::5], ".", color=BLUE, markersize=4)
  time_axes.plot(t[late], Wave(0.3, 0.12, 0.24, 1.2).velocity(0.06, t[late])[1], "--", color=GREY, linewidth=1,
                 label="velocity across, at 0.06 m (m/s)")
  time_axes.set(xlabel="time (s)", title="plate in a wake of 1.2 waves per second", ylim=(-0.16, 0.24))
  time_axes.legend(loc="upper right")
  lag = axes.twinx()
  for k, (own, colour, label) in enumerate(((axes, BLUE, "relative amplitude"),
                                            (lag, VERMILION, "lag behind the wave (rad)"))):
    values = [response(t, q, rate)[k] for rate, q in exact.items()]
    own.plot(list(exact), np.unwrap([m[k] for m in measured]), color=colour)
    own.plot(list(exact), np.unwrap(values), "o", color=colour, markersize=4)
    own.set_ylabel(label, color=colour)
  lag.grid(False)
  lag.spines["right"].set_visible(True)
  axes.set(xlabel="waves per second", title="plate: amplitude and phase")


def check_tail(records, exact, measured):
  gaps = [float(np.max(np.abs(records[tail(1.2, h)]["angle"][:, 0] - exact[1.2]))) for h in TAIL_STEPS]
  values = [response(records[TAIL]["time"], q, rate) for rate, q in exact.items()]
  differences = np.abs(np.array(measured) - values)
  return [at_most("plate in the wake, step 1/200: difference of its angle (rad)", gaps[1], 2e-5),
          near("plate: log2 of the ratio of the errors for 1/100 and 1/200",
               float(np.log2(gaps[0] / gaps[1])), 2, 0.05),
          at_most("plate: difference of the amplitudes, over all rates / largest amplitude",
                  float(np.max(differences[:, 0]) / max(v[0] for v in values)), 1e-3),
          at_most("plate: difference of the lags, over all rates (rad)", float(np.max(differences[:, 1])), 1e-3)]


# --- the fly ---

def lift(record):
  """Vertical force of the air without buoyancy over time (N)."""
  return sum(Body(record, name).force(term)[:, 2] for name in ("right", "left")
             for term in ("kutta", "magnus", "drag"))


def draw_fly(angles, heights, records, dots):
  r = records[fly("fly-sprung", FLY_STEPS[1])]
  t = r["time"]
  for i, (label, colour) in ((1, ("sweep", BLUE)), (2, ("turn about the span", ORANGE))):
    early = t <= 0.2
    angles.plot(t[early], r["angle"][early, i], color=colour, label=label)
    angles.plot(t[:len(dots["fly-sprung"])], dots["fly-sprung"][:, i], ".", color=colour, markersize=3.5)
  angles.set(xlabel="time (s)", ylabel="angle (rad)", title="fly with motors and springs: right wing", ylim=(-1.6, 2.2))
  angles.legend(ncols=2, loc="upper right")
  for name, colour, label in (("fly-driven", GREEN, "driven"), ("fly-sprung", PURPLE, "motors and springs")):
    r = records[fly(name, FLY_STEPS[1])]
    heights.plot(r["time"], 1e3 * r["pose"][:, 0, 2], color=colour, label=label)
    heights.plot(r["time"][:len(dots[name]):2], 1e3 * dots[name][::2, 0], ".", color=colour, markersize=3.5)
  heights.set(xlabel="time (s)", ylabel="height (mm)", title="fly on its rail")
  heights.legend(loc="upper left")


def impulse_error(record):
  """Largest difference of the vertical momentum of all from the impulse of air and weight / impulse of the weight."""
  p = record["total_momentum"][:, 5]
  force = sum(Body(record, name).force(term)[:, 2] for name in ("body", "right", "left")
              for term in ("kutta", "magnus", "drag", "gravity", "buoyancy"))
  gap = p - p[0] - integral(record["time"], force)
  return float(np.max(np.abs(gap)) / (2.2e-3 * GRAVITY * record["time"][-1]))


def check_fly(records, dots):
  out = []
  for name, label, high, wide in (("fly-driven", "driven fly", 1e-5, 1e-7), ("fly-sprung", "sprung fly", 1e-5, 5e-3)):
    n, gaps = len(dots[name]), []
    for h in FLY_STEPS:
      gaps.append(np.max(np.abs(records[fly(name, h)]["angle"][:n] - dots[name]), axis=0))
    record = records[fly(name, FLY_STEPS[1])]
    beats = record["time"] > record["time"][-1] - 4 / FLY_RATE + 1e-9
    out += [at_most(f"{label}, two beats, step 1/5000: difference of its height (m)", float(gaps[1][0]), high),
            at_most(f"{label}: difference of the angles of its wings (rad)", float(np.max(gaps[1][1:])), wide),
            near(f"{label}: log2 of the ratio of the heights' errors for 1/2500 and 1/5000",
                 float(np.log2(gaps[0][0] / gaps[1][0])), 2, 0.05),
            at_least(f"{label}: height at the end of the run (m)", float(record["pose"][-1, 0, 2]), 0.005),
            between(f"{label}: mean lift of the last four beats / weight", float(np.mean(lift(record)[beats]))
                    / (2.2e-3 * GRAVITY), 0.95, 1.2),
            at_most(f"{label}: momentum - impulse of air and weight / impulse of the weight", impulse_error(record),
                    5e-3)]
  r = records[fly("fly-sprung", FLY_STEPS[1])]
  apart = np.abs(r["angle"][:, [1, 2]] - r["angle"][:, [3, 4]] * [-1, 1])
  return out + [at_most("sprung fly: asymmetry of its wings (rad)", float(np.max(apart)), 1e-9)]


# --- chain and scallop ---

def chain_balance(record):
  names = record.labels("body")
  terms = [w for w in Body(record, names[0]).wrenches if w not in ("gravity", "buoyancy")]
  work = sum(Body(record, name).work(terms) for name in names) + record["damping_work"].sum(axis=1)
  change = record["energy"] - record["energy"][0]
  return float(np.max(np.abs(change - work)) / np.ptp(change))


def draw_chain(axes, record):
  t, x = record["time"], record["pose"][:, :, :3]
  for time, colour in ((0, GREY), (1, SKY), (2, BLUE), (3, GREEN), (4, ORANGE)):
    row = int(np.argmin(np.abs(t - time)))
    axes.plot(x[row, :, 0], x[row, :, 2], "-", color=colour, linewidth=1, label=f"{time} s")
    axes.plot(x[row, -1, 0], x[row, -1, 2], "o", color=colour, markersize=5)
  axes.set(xlabel="$x$ (m)", ylabel="$z$ (m)", title="a chain of 30 links sinks, one end is heavy")
  axes.legend(loc="lower left", ncols=2)


def middle(record):
  return record["pose"][:, :, 0].mean(axis=1)


def drift(record):
  """Displacement along x in the last cycle, of 1 s."""
  t, x = record["time"], middle(record)
  return float(x[-1] - x[np.argmin(np.abs(t - (t[-1] - 1)))])


def draw_scallop(axes, records):
  for density, colour in zip(DENSITIES, (VERMILION, ORANGE, BLUE)):
    r = records[scallop(density)]
    axes.plot(r["time"], 1e3 * (middle(r) - middle(r)[0]), color=colour, label=f"{density}")
  axes.set(xlabel="time (s)", ylabel="$x$ (mm)", title="scallop: mean place of its shells")
  axes.set_ylim(top=9)
  axes.legend(ncols=3, loc="upper right", title="density (kg/m³)", title_fontsize=8)


def check_last(records):
  works = [chain_balance(records[chain(h)]) for h in CHAIN_STEPS]
  moves = [drift(records[scallop(d)]) for d in DENSITIES]
  light = records[scallop(DENSITIES[-1])]
  sway = np.ptp(middle(light)[light["time"] >= 2])
  return [
      at_most("chain: largest gap of a joint (m)",
              float(np.max(records[chain(CHAIN_STEPS[0])]["joint_residual"])), 1e-15),
      at_most("chain, step 1/800: change of the energy - work of water and dampers / change of the energy", works[1],
              2e-4),
      at_least("chain: ratio of it for 1/400 and 1/800", works[0] / works[1], 2),
      at_most("scallop of 10 kg/m³: drift of a cycle / sway", abs(moves[2]) / float(sway), 3e-3),
      near("scallop: drift for 100 kg/m³ / drift for 10 kg/m³", moves[1] / moves[2], 10, 0.5)]


def draw(records, full):
  canvas, axes = panels(5, 2, 3.9, 2.6, height_ratios=(1.1, 1, 1, 1, 1))
  grid = axes[0, 0].get_gridspec()
  for ax in axes[0]:
    ax.remove()
  wide = canvas.add_subplot(grid[0, :])
  shots = records[FISH_SHOTS]
  fishes = {name: solve_fish(records[fish(name, FISH_STEPS[1])], shots, stream)
            for name, stream in (("robot-fish", 0), ("robot-fish-stream", STREAM))}
  draw_fish(wide, *axes[1], records, fishes)
  plate = {rate: swung(records[TAIL], records[TAIL_SHOTS], rate).solve(records[TAIL]["time"], 1e-8) for rate in RATES}
  measured = [response(records[tail(rate)]["time"], records[tail(rate)]["angle"][:, 0], rate) for rate in RATES]
  draw_tail(*axes[2], records, plate, measured)
  flies = {name: solve_fly(records[fly(name, FLY_STEPS[1])], name == "fly-driven") for name in FLIES}
  draw_fly(*axes[3], records, flies)
  draw_chain(axes[4, 0], records[chain(CHAIN_STEPS[0])])
  draw_scallop(axes[4, 1], records)
  checks = check_fish(records, fishes) + check_tail(records, plate, measured) + check_fly(records, flies) + \
      check_last(records)
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
