#!/usr/bin/python3
"""The flow around a ball and a torus that move through a perfect fluid: velocity, pressure, streamlines."""
import numpy as np
from matplotlib.colors import TwoSlopeNorm
from matplotlib.patches import Circle

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from immersed import WATER, Body
from runs import Flow, Inertia, Run
from style import BLACK, BLUE, GREY, ORANGE, equal_scale, picture_axes, plt

TITLE = "The flow around moving bodies"
CAPTION = ("Upper: a ball of radius 1 m that moves through water at 1 m/s. Left: speed of the fluid in the plane of "
           "its motion, and streamlines relative to the ball; right: pressure on its faces (dots) and (1 - (9/4) "
           "sin²θ) ρU²/2. Lower: a torus that moves with a tilt. Left: pressure and velocity in the plane of symmetry "
           "(the length of an arrow is proportional to the square root of the speed); right: pressure on the surface "
           "in the same colours, and streamlines relative to the torus, some of which pass through its hole. One "
           "command writes each of them, for example for ParaView: `curvebody export RUN.h5 --flow --at 0.1 --grid "
           "81x1x81 --streamlines 24`.")
BALL, TORUS = Run("immersed/flow-ball"), Run("immersed/flow-torus")
AT, OPTIONS = 0.1, ("--at", "0.1", "--grid", "81x1x81", "--streamlines", "24")
FLOWS = {name: Flow(run.scenario, OPTIONS, threads=1, table=run) for name, run in (("ball", BALL), ("torus", TORUS))}
SOLID = Inertia("torus:radius=1,tube=0.4,resolution=32", ("--density", "998", "--added-mass", "none"))


def runs(full):
  return [BALL, TORUS, SOLID, *FLOWS.values()]


class Scene:
  """The flow of a run, and its body at the same time."""

  def __init__(self, records, run, flow):
    self.flow, self.body = records[flow], Body(records[run], run.scenario.split("-")[1])
    row = int(np.argmin(np.abs(self.body.time - AT)))
    self.place, self.turn, self.twist = self.body["pose"][row, :3], self.body.rotation()[row], self.body["twist"][row]
    self.energy = self.body["body_kinetic_energy"][row]
    z, _, x = self.flow.grid()
    self.x, self.z = np.meshgrid(x, z)
    self.u, self.p = self.flow["u"][:, 0], self.flow["p"][:, 0]
    self.points, self.face = self.flow["x"], self.flow["face"]
    corner = self.points[self.face]
    self.centre = corner.mean(axis=1)
    normal = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]) / 2
    self.area = np.linalg.norm(normal, axis=1)
    self.normal = normal / self.area[:, None]

  def shades(self):
    """Colours of pressures: white far away. A few pressures are larger, at the edges of the faces."""
    most = np.nanpercentile(np.abs(self.p), 99.5)
    return TwoSlopeNorm(0, -most, most)

  def kinetic(self):
    """Kinetic energy of the fluid: -(rho/2) int phi <v, n> dA."""
    v = self.turn @ self.twist[3:] + np.cross(self.turn @ self.twist[:3], self.centre - self.place)
    return -WATER / 2 * float(np.sum(self.flow["phi"] * np.sum(v * self.normal, axis=1) * self.area))


def draw(records, full):
  ball, torus = Scene(records, BALL, FLOWS["ball"]), Scene(records, TORUS, FLOWS["torus"])
  canvas = plt.figure(figsize=(7.6, 6.8))
  speed, surface, plane = (canvas.add_subplot(2, 2, k) for k in (1, 2, 3))
  space = picture_axes(canvas, 2, 2, 4)
  checks = draw_ball(canvas, speed, surface, ball)
  draw_plane(canvas, plane, torus)
  draw_space(space, torus)
  inertia = np.array(records.answer(SOLID)["inertia"])
  fluid = torus.energy - torus.twist @ inertia @ torus.twist / 2
  checks.append(at_most("torus: energy of the flow from φ on the faces, relative difference from that by K",
                        abs(torus.kinetic() / fluid - 1), 1e-4))
  return figure.Drawing(canvas, checks)


def draw_ball(canvas, ax, surface, ball):
  shade = ax.pcolormesh(ball.x, ball.z, np.linalg.norm(ball.u, axis=-1), cmap="viridis", vmin=0, vmax=1,
                        shading="nearest")
  canvas.colorbar(shade, ax=ax, label="speed (m/s)")
  lines = ball.flow["line"]
  relative = lines - ball.place
  across = np.linalg.norm(relative[..., 1:], axis=-1)
  for line, r in zip(lines, across):
    ax.plot(line[:, 0], ball.place[2] + np.sign(line[0, 2] - ball.place[2] + 1e-9) * r, color="white", linewidth=0.7)
  ax.add_patch(Circle(ball.place[[0, 2]], 1, color=GREY))
  ax.set(title="ball: speed and streamlines", xlabel="$x$ (m)", ylabel="$z$ (m)", xlim=(ball.x.min(), ball.x.max()),
         ylim=(ball.z.min(), ball.z.max()))
  ax.set_aspect("equal")
  ax.grid(False)
  # Velocity of the dipole, and its stream function for the streamlines.
  away = np.stack([ball.x, 0 * ball.x, ball.z], axis=-1) - ball.place
  r = np.linalg.norm(away, axis=-1)
  e = np.array([1.0, 0, 0])
  dipole = (3 * away * (away @ e)[..., None] / r[..., None] ** 2 - e) / (2 * r[..., None] ** 3)
  out = (r > 1.1) & np.isfinite(ball.p)
  angle = np.arccos(np.clip((ball.centre - ball.place) @ e / np.linalg.norm(ball.centre - ball.place, axis=1), -1, 1))
  p = ball.flow["face_p"]
  wanted = lambda t: WATER / 2 * (1 - 9 / 4 * np.sin(t) ** 2)  # noqa: E731
  t = np.linspace(0, np.pi, 100)
  surface.plot(np.degrees(angle), p, ".", color=ORANGE, markersize=4, label="faces")
  surface.plot(np.degrees(t), wanted(t), color=BLUE, linewidth=1, label="exact")
  surface.set(title="ball: pressure on its surface", xlabel="angle from the direction of motion (°)",
              ylabel="pressure relative to far away (Pa)", xlim=(0, 180), xticks=range(0, 181, 45))
  surface.legend(loc="upper center")
  stream = across ** 2 / 2 * (1 - np.linalg.norm(relative, axis=-1) ** -3)
  spread = np.ptp(stream, axis=1) / np.abs(stream[:, 0])
  return [at_most("ball: (velocity in the plane, farther than 0.1 m from it - dipole's) / (1 m/s)",
                  float(np.max(np.linalg.norm((ball.u - dipole)[out], axis=-1))), 0.02),
          at_most("ball: pressure on the faces minus (1 - (9/4) sin²θ) ρU²/2, divided by ρU²/2",
                  float(np.max(np.abs(p - wanted(angle))) / (WATER / 2)), 0.06),
          at_most("ball: relative change of the stream function along each streamline, median",
                  float(np.median(spread)), 0.02),
          at_most("ball: energy of the flow from φ on the faces, relative difference from πρ/3 (1 m/s)² (inscribed faces)",
                  abs(ball.kinetic() / (np.pi * WATER / 3) - 1), 0.02)]


def draw_plane(canvas, ax, torus):
  shade = ax.pcolormesh(torus.x, torus.z, torus.p, cmap="RdBu_r", norm=torus.shades(), shading="nearest")
  canvas.colorbar(shade, ax=ax, label="pressure relative to far away (Pa)", extend="both")
  some = (slice(2, None, 4),) * 2
  u = torus.u[some][..., [0, 2]]
  speed = np.linalg.norm(u, axis=-1, keepdims=True)
  ax.quiver(torus.x[some], torus.z[some], *np.moveaxis(u / np.sqrt(speed), -1, 0), color=BLACK, width=0.004, scale=16,
            headwidth=4, pivot="mid")
  for side in (1, -1):
    ax.add_patch(Circle((torus.place + side * torus.turn[:, 0])[[0, 2]], 0.4, color=GREY))
  ax.set(title="torus: pressure and velocity", xlabel="$x$ (m)", ylabel="$z$ (m)", xlim=(-2.5, 2.5), ylim=(-2.5, 2.5))
  ax.set_aspect("equal")
  ax.grid(False)


def draw_space(ax, torus):
  sides = ax.plot_trisurf(*torus.points.T, triangles=torus.face, linewidth=0.1, edgecolor=GREY, shade=False)
  sides.set_array(None)
  sides.set_facecolor(plt.cm.RdBu_r(torus.shades()(torus.flow["face_p"])))
  eye = np.array([np.cos(np.radians(20)) * np.cos(np.radians(-60)), np.cos(np.radians(20)) * np.sin(np.radians(-60)),
                  np.sin(np.radians(20))])
  for line in torus.flow["line"]:
    # In front of the body or behind it, as seen by the viewer.
    near = (line - torus.place) @ eye > 0
    far = ~near
    far[1:] |= ~near[:-1]  # the two parts meet
    far[:-1] |= ~near[1:]
    for part, order in ((near, 3), (far, 0)):
      ax.plot(*np.where(part[:, None], line, np.nan).T, color=BLUE, linewidth=0.8, zorder=order)
  sides.set_zorder(1)
  ax.view_init(20, -60)
  equal_scale(ax, torus.place, 1.9)
  ax.set_title("torus: pressure and streamlines")


if __name__ == "__main__":
  figure.main(globals())
