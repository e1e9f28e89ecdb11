#!/usr/bin/python3
"""Contacts of bodies and a particle in a tank of water, and an eel that tows a net of springs."""
import numpy as np
from scipy.interpolate import make_interp_spline

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import tank
from checks import Check, at_least, at_most, near
from coupled import Coupled, Pair, Particle, Path, pose_matrix
from immersed import Body, draw_outline, draw_surface, integral
from runs import Run, Surface
from style import BLUE, GREEN, GREY, ORANGE, SKY, VERMILION, panels

TITLE = "A tank with walls, and a net in tow"
CAPTION = ("Above: an ellipsoid whose vertices touch the walls, and, above a shelf, two balls and a bead that "
           "touch the walls and each other, seen from the side, with the step 1/200 and order 4. Lines: paths of "
           "the centres. Dots: independent motions from contact to contact (Kirchhoff's equations for the "
           "ellipsoid, straight lines for the spheres). Kinetic energies: triangles mark the contacts of the "
           "ellipsoid (on its line) and of the spheres with each other (at 0). Below: an eel tows a net of "
           "springs; the length of the bridle, and the speeds of the eel with and without the net. Dots: the net "
           "behind the given path of the eel, by the method of Dormand and Prince of order 8.")
WATER = 998
STEPS = (1 / 100, 1 / 200, 1 / 400)
TOW_STEPS = (1 / 100, 1 / 200)
X, Y, Z = np.eye(3)
SIDES = [(X, 0), (-X, -1.3), (Y, -0.25), (-Y, -0.25)]
BELOW, ABOVE = SIDES + [(Z, 0), (-Z, -0.5)], SIDES + [(Z, 0.5), (-Z, -1)]  # walls of the ellipsoid, of the spheres
RADII = (0.06, 0.08, 0.04)  # of the small ball, the large ball and the bead
BALL_COLOURS = (VERMILION, BLUE, GREEN)


def in_tank(step, order):
  return Run("coupled/tank", (f"integrator.step={step}", f"integrator.order={order}",
                              f"record.every={round(0.02 / step)}"))


def towed(step):
  return Run("coupled/tow", (f"integrator.step={step}", "record.every=1"))


FINE = in_tank(STEPS[1], 4)
TANK_SHOTS = Surface("coupled/tank", ("--every", "50"), table=FINE)
TOW_SHOTS = Surface("coupled/tow", ("--every", "400"), table=towed(TOW_STEPS[1]))
ALONE = Run("immersed/eel")


def runs(full):
  return [in_tank(h, order) for h in STEPS for order in (2, 4)] + [towed(h) for h in TOW_STEPS] + [
      TANK_SHOTS, TOW_SHOTS, ALONE]


class Tank:
  """The motions in the tank that do not use the program, at the rows of a record."""

  def __init__(self, record, shots):
    pose, twist, K, t = (record[name] for name in ("pose", "twist", "inertia", "time"))
    g = pose_matrix(pose[0, 0])
    corners = shots["face"][shots["body"] == 0]
    self.face, self.vertex = corners, (shots["plot_position"][0, :np.max(corners) + 1] - g[:3, 3]) @ g[:3, :3]
    mass = [*K[0, 1:, 5, 5], 0.6 + WATER * 4 / 3 * np.pi * RADII[2] ** 3 / 2]
    v = [pose_matrix(p)[:3, :3] @ y[3:] for p, y in zip(pose[0, 1:], twist[0, 1:])]
    v.append(record["momentum"][0, 0] / mass[2])
    self.spheres, contacts = tank.spheres(mass, RADII, spheres_of(record)[0], v, ABOVE, t)
    self.body, touches = tank.body(K[0, 0], pose[0, 0], twist[0, 0], self.vertex, BELOW, t)
    self.between = [time for time, _, other in contacts if other >= 0]
    self.times = np.sort([time for time, *_ in contacts + touches])
    self.touches = touches

  def gap(self, record):
    """Smallest gap of the vertices and the spheres to the walls, over all rows."""
    g = matrices(record)
    y = np.einsum("tij,vj->tvi", g[:, :3, :3], self.vertex) + g[:, None, :3, 3]
    least = min(np.min(y @ n) - height for n, height in BELOW)
    return float(min(least, *(np.min(spheres_of(record) @ n - RADII) - height for n, height in ABOVE)))


def matrices(record):
  return np.array([pose_matrix(pose) for pose in record["pose"][:, 0]])


def spheres_of(record):
  """Centres of the balls and the bead [time, 3, 3]."""
  return np.concatenate([record["pose"][:, 1:, :3], record["position"]], axis=1)


def energy_of_spheres(record):
  return record["body_kinetic_energy"][:, 1:].sum(axis=1) + record["particle_kinetic_energy"]


def contact(record, name):
  """A quantity of all contacts, without the other events."""
  return record["event_" + name][record["event_kind"] == 0]


def momentum_error(record):
  """Largest change of a component of the total linear momentum between rows without a contact with walls across it."""
  t, p = record["time"], record["total_momentum"][:, 3:]
  walls = record.labels("wall_name")
  time, wall = contact(record, "time"), contact(record, "wall")
  worst = 0
  across = (("left", "right"), ("front", "back"), ("bottom", "top", "shelf from below", "shelf from above"))
  for k, names in enumerate(across):
    hits = [s for s, w in zip(time, wall) if w >= 0 and walls[w] in names]
    free = np.histogram(hits, t)[0] == 0
    worst = max(worst, np.max(np.abs(np.diff(p[:, k]))[free]))
  return float(worst)


def check_tank(records, exact):
  errors = {order: [float(np.max(np.abs(matrices(records[in_tank(h, order)]) - exact.body))) for h in STEPS]
            for order in (2, 4)}
  record = records[FINE]
  balls = np.max(np.abs(spheres_of(record) - exact.spheres), axis=(1, 2))
  early = record["time"] < exact.between[3]
  time, e, own = contact(record, "time"), energy_of_spheres(record), record["body_energy"][:, 0]
  before, after = contact(record, "speed_before"), contact(record, "speed_after")
  coarse = records[in_tank(STEPS[0], 4)]["body_energy"][:, 0]
  return [
      at_most("tank: largest difference of the ellipsoid's matrix, order 4, step 1/200", errors[4][1], 2e-5),
      *(near(f"tank, order {order}: log2 of its ratio for 1/200 and 1/400",
             float(np.log2(errors[order][1] / errors[order][2])), order, 0.15) for order in (2, 4)),
      Check("tank: number of contacts", str(len(time)), str(len(exact.times)), len(time) == len(exact.times)),
      at_most("tank: largest difference of their times, order 4, step 1/200 (s)",
              float(np.max(np.abs(time - exact.times))) if len(time) == len(exact.times) else np.inf, 2e-7),
      at_most("balls and bead: difference before their fourth contact with each other (m)", float(np.max(balls[early])),
              1e-11),
      at_most("balls and bead: difference over all contacts (m)", float(np.max(balls)), 1e-8),
      at_most("balls and bead: change of their kinetic energy / its value", float(np.ptp(e) / e[0]), 1e-14),
      at_most("elastic contacts: |speed after + speed before| (m/s)", float(np.max(np.abs(after + before))), 1e-13),
      near("ellipsoid, order 4: log2 of the ratio of its energy errors for 1/100 and 1/200",
           float(np.log2(np.ptp(coarse) / np.ptp(own))), 4, 0.15),
      at_most("tank: gap at the contacts (m)", float(np.max(np.abs(contact(record, "gap")))), 1e-12),
      at_least("tank: smallest gap to a wall at all rows (m)", exact.gap(record), -1e-12),
      at_most("tank: change of the total momentum without a contact with a wall normal to it (kg m/s)",
              momentum_error(record), 1e-13)]


def draw_tank(axes, energies, record, exact, shots):
  t, g, centres = record["time"], matrices(record), spheres_of(record)
  axes.plot([0, 1.3, 1.3, 0, 0], [0, 0, 1, 1, 0], color=GREY)
  axes.plot([0, 1.3], [0.5, 0.5], color=GREY)
  rows = [int(np.argmin(np.abs(t - s))) for s in shots["time"]]
  for row in (rows[0], rows[-1]):
    draw_outline(axes, [exact.vertex], g[row, :3, 3], g[row, :3, :3], facecolor=ORANGE,
                 alpha=0.25 if row == rows[0] else 0.8)
  axes.plot(*g[:, [0, 2], 3].T, color=ORANGE, linewidth=1)
  axes.plot(*exact.body[::10, [0, 2], 3].T, ".", color=ORANGE, markersize=4)
  angle = np.linspace(0, 2 * np.pi, 65)
  for i, (radius, colour) in enumerate(zip(RADII, BALL_COLOURS)):
    axes.plot(*centres[:, i, [0, 2]].T, color=colour, linewidth=1)
    axes.plot(*exact.spheres[::10, i, [0, 2]].T, ".", color=colour, markersize=4)
    for row, alpha in ((0, 0.25), (-1, 0.8)):
      x = centres[row, i]
      axes.fill(x[0] + radius * np.cos(angle), x[2] + radius * np.sin(angle), color=colour, alpha=alpha, linewidth=0)
  axes.set(xlabel="$x$ (m)", ylabel="$z$ (m)", title="tank, 0 s (pale) to 5 s")
  axes.set_aspect("equal")
  parts = [*record["body_kinetic_energy"].T, record["particle_kinetic_energy"]]
  for energy, colour, name in zip(parts, (ORANGE, *BALL_COLOURS), ("ellipsoid", "small ball", "large ball", "bead")):
    energies.plot(t, energy, color=colour, label=name)
  time = np.array([s for s, *_ in exact.touches])
  energies.plot(time, np.interp(time, t, parts[0]), "v", color=ORANGE, markersize=4)
  energies.plot(exact.between, 0 * np.array(exact.between), "^", color=GREY, markersize=4, clip_on=False)
  energies.set(xlabel="time (s)", ylabel="kinetic energy (J)", title="tank: energies")
  energies.set_ylim(bottom=0, top=1.45 * max(np.max(e) for e in parts))
  energies.legend(ncols=2, loc="upper center")


class Net:
  """The net behind the given path of the eel, and the impulse of the fluid, from a record of all steps."""
  mass, radius, viscosity, coefficient = 5e-3, 5e-3, 1e-3, 0.5
  springs = ((0, 1), (0, 2), (1, 2), (1, 3), (2, 4), (3, 4), (1, 4), (2, 3))

  def __init__(self, record):
    eel, self.x, self.t = Body(record, "eel"), record["position"], record["time"]
    path = make_interp_spline(self.t, eel["pose"][:, :3], 7)
    rate = path.derivative()
    total = self.mass + WATER * 4 / 3 * np.pi * self.radius**3 / 2
    drag = (6 * np.pi * self.viscosity * self.radius, self.coefficient * WATER * np.pi * self.radius**2 / 2)
    links = [Pair((Path(lambda t: (path(t), rate(t))), Particle(0)), lambda d: 5 * (d - 0.05), 0.02)]
    for i, j in self.springs:
      rest = np.linalg.norm(self.x[0, i] - self.x[0, j])
      links.append(Pair((Particle(i), Particle(j)), lambda d, rest=rest: 2 * (d - rest), 0.01))
    self.every = round(0.02 / (self.t[1] - self.t[0]))
    problem = Coupled([], links, [total] * len(self.x[0]), drag)
    self.exact = problem.solve([], [], self.t[::self.every], self.x[0], 0 * self.x[0])[1]
    self.error = float(np.max(np.abs(self.x[::self.every] - self.exact)))
    v = record["momentum"] / total
    resistance = -((drag[0] + drag[1] * np.linalg.norm(v, axis=2, keepdims=True)) * v).sum(axis=1)
    p = record["total_momentum"][:, 3:]
    self.unbalance = float(np.max(np.abs(p - p[0] - integral(self.t, eel.force("drag") + resistance))))
    self.momentum = float(np.max(np.abs(p)))


def speed(record):
  """Forward speed of the eel, averaged over one beat of its tail (1.5 per second)."""
  t, x = record["time"], record["pose"][:, 0, 0]
  beat = round(1 / 1.5 / (t[1] - t[0]))
  return (t[beat:] + t[:-beat]) / 2, (x[beat:] - x[:-beat]) / (t[beat:] - t[:-beat])


def draw_tow(axes, bridle, speeds, records, net, shots):
  record = records[towed(TOW_STEPS[1])]
  face = shots["face"][shots["body"] == 0]
  for surface, s in zip(shots["plot_position"][1:3], shots["time"][1:3]):
    draw_surface(axes, surface, face, SKY, seen=(0, 1))
    row = int(np.argmin(np.abs(net.t - s)))
    x = net.x[row]
    for i, j in Net.springs:
      axes.plot(*x[[i, j], :2].T, color=GREY, linewidth=0.7)
    axes.plot(*np.stack([record["pose"][row, 0, :2], x[0, :2]]).T, color=VERMILION, linewidth=1)
    axes.plot(*net.exact[row // net.every, :, :2].T, ".", color=BLUE, markersize=3)
  axes.set(xlabel="$x$ (m)", ylabel="$y$ (m)", yticks=(-0.1, 0, 0.1), ylim=(-0.11, 0.11),
           title="eel and net from above, after 2 s and after 4 s")
  axes.set_aspect("equal")
  joined = np.linalg.norm(record["pose"][:, 0, :3] - net.x[:, 0], axis=1)
  bridle.plot(net.t, 1e3 * joined, color=VERMILION)
  exact = np.linalg.norm(record["pose"][::net.every, 0, :3] - net.exact[:, 0], axis=1)
  bridle.plot(net.t[::net.every][::10], 1e3 * exact[::10], ".", color=VERMILION, markersize=4)
  bridle.set(xlabel="time (s)", ylabel="length (mm)", title="bridle between eel and net")
  for name, colour, r in (("without net", GREY, records[ALONE]), ("with net", SKY, record)):
    speeds.plot(*speed(r), color=colour, label=name)
  speeds.set(xlabel="time (s)", ylabel="speed (m/s)", title="forward speed of the eel")
  speeds.legend(loc="lower right")


def draw(records, full):
  canvas, axes = panels(3, 2, 3.8, 2.6, height_ratios=(1.25, 0.5, 0.9))
  grid = axes[1, 0].get_gridspec()
  for ax in axes[1]:
    ax.remove()
  wide = canvas.add_subplot(grid[1, :])
  exact = Tank(records[FINE], records[TANK_SHOTS])
  draw_tank(*axes[0], records[FINE], exact, records[TANK_SHOTS])
  nets = [Net(records[towed(h)]) for h in TOW_STEPS]
  draw_tow(wide, *axes[2], records, nets[1], records[TOW_SHOTS])
  slow, fast = (speed(r)[1][-1] for r in (records[towed(TOW_STEPS[1])], records[ALONE]))
  checks = check_tank(records, exact) + [
      at_most("net: largest difference behind the eel's path, step 1/200 (m)", nets[1].error, 5e-6),
      near("net: log2 of its ratio for the steps 1/100 and 1/200", float(np.log2(nets[0].error / nets[1].error)), 2,
           0.1),
      at_most("eel and net: momentum minus the impulse of all drag / largest momentum, step 1/200",
              nets[1].unbalance / nets[1].momentum, 2e-4),
      near("eel and net: log2 of its ratio for the steps 1/100 and 1/200",
           float(np.log2(nets[0].unbalance / nets[1].unbalance)), 2, 0.1),
      at_most("the net slows the eel: speed with the net / speed without it", float(slow / fast), 0.98)]
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
