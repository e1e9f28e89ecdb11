#!/usr/bin/python3
"""An ellipsoid in water holds its heading, and another one follows it: controls that use the state of both bodies."""
import numpy as np
from scipy.integrate import solve_ivp

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, near
from immersed import Body
from runs import Run
from sinking import rotation
from style import BLUE, GREY, ORANGE, panels

TITLE = "Heading and formation, held by controls"
CAPTION = ("Two ellipsoids of the density of water, without drag of the fluid. A motor drives the first one along its "
           "axis, against its linear drag, and a rudder turns it to the heading 30°; without the rudder it would turn "
           "across its way. The second one is drawn to the place 2 m behind the first one and turns to its heading. "
           "Left: paths of the centres; dots are Kirchhoff's equations of both bodies with the same laws, by "
           "Dormand and Prince's method of order 8 with the tolerance 1e-12. Right: headings.")
STEPS = (1 / 50, 1 / 100, 1 / 200)
RUNS = [Run("immersed/formation", (f"integrator.step={h}", f"record.every={round(0.02 / h)}")) for h in STEPS]
HEADING, BEHIND = np.pi / 6, 2


def runs(full):
  return RUNS


def rates(K, s):
  """Derivative of (q, x, mu) of both bodies: x' = R v, q' = q (0, w)/2, mu' = ad*_Y mu + F, mu = K Y."""
  q, x, mu = s.reshape(2, 13)[:, :4], s.reshape(2, 13)[:, 4:7], s.reshape(2, 13)[:, 7:]
  Y = [np.linalg.solve(K[i], mu[i]) for i in range(2)]
  R = [rotation(q[i]) for i in range(2)]
  v, spin, ahead = ([f(i) for i in range(2)] for f in (
      lambda i: R[i] @ Y[i][3:], lambda i: R[i] @ Y[i][:3], lambda i: R[i][:, 0]))
  angle = np.arctan2(ahead[0][1], ahead[0][0]) - HEADING
  pull = 30 * (x[0] - BEHIND * ahead[0] - x[1]) + 40 * (v[0] - v[1])
  cross = ahead[0][0] * ahead[1][1] - ahead[0][1] * ahead[1][0]
  u = Y[0][3:]
  F = [np.array([0, 0, -40 * np.sin(angle) - 12 * spin[0][2], 20 - 15 * u[0], -60 * u[1], 0]),
       np.concatenate([[0, 0, -20 * cross - 12 * (spin[1][2] - spin[0][2])], R[1].T @ [pull[0], pull[1], 0]])]
  out = []
  for i in range(2):
    w, l, p = Y[i][:3], mu[i][:3], mu[i][3:]
    turn = np.concatenate([[-q[i][1:] @ w], q[i][0] * w + np.cross(q[i][1:], w)]) / 2
    out += [turn, v[i], np.cross(l, w) + np.cross(p, Y[i][3:]) + F[i][:3], np.cross(p, w) + F[i][3:]]
  return np.concatenate(out)


def reference(bodies):
  """Positions [time, body, 3] and headings [time, body] at the rows of the record."""
  K = [body["inertia"][0] for body in bodies]
  start = np.concatenate([np.concatenate([b["pose"][0, 3:], b["pose"][0, :3], np.zeros(6)]) for b in bodies])
  t = bodies[0].time
  s = solve_ivp(lambda _, y: rates(K, y), (0, t[-1]), start, "DOP853", t, rtol=1e-12, atol=1e-12).y.T
  s = s.reshape(len(t), 2, 13)
  return s[..., 4:7], 2 * np.arctan2(s[..., 3], s[..., 0])


def draw(records, full):
  canvas, ((left, right),) = panels(1, 2)
  errors = []
  for run in RUNS:
    bodies = [Body(records[run], name) for name in ("lead", "wing")]
    if run is RUNS[0]:
      x, heading = reference(bodies)
    errors.append(max(np.max(np.abs(b["pose"][:, :3] - x[:, i])) for i, b in enumerate(bodies)))
  for i, (body, colour) in enumerate(zip(bodies, (BLUE, ORANGE))):
    pose = body["pose"]
    left.plot(pose[:, 0], pose[:, 1], color=colour, label=("first", "second")[i])
    left.plot(x[::20, i, 0], x[::20, i, 1], ".", color=colour, markersize=4)
    right.plot(body.time, np.degrees(2 * np.arctan2(pose[:, 6], pose[:, 3])), color=colour)
    right.plot(body.time[::20], np.degrees(heading[::20, i]), ".", color=colour, markersize=4)
  right.axhline(np.degrees(HEADING), color=GREY, linewidth=0.6)
  left.set(xlabel="$x$ (m)", ylabel="$y$ (m)")
  left.set_aspect("equal", adjustable="datalim")
  left.legend()
  right.set(xlabel="time (s)", ylabel="heading (degrees)")
  last = bodies[0]["pose"][-1]
  gap = bodies[0]["pose"][-1, :2] - bodies[1]["pose"][-1, :2]
  return figure.Drawing(canvas, [
      at_most("positions: largest difference from Kirchhoff's equations, step 1/200 (m)", errors[2], 1e-5),
      near("its ratio for the steps 1/50 and 1/100, order 2", errors[0] / errors[1], 4, 0.2),
      near("its ratio for the steps 1/100 and 1/200", errors[1] / errors[2], 4, 0.2),
      near("heading at the end / 30°", float(2 * np.arctan2(last[6], last[3]) / HEADING), 1, 1e-3),
      near("distance at the end (m)", float(np.hypot(*gap)), BEHIND, 1e-2)])


if __name__ == "__main__":
  figure.main(globals())
