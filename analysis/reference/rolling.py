"""Motions under constraints of velocity in closed form: Chaplygin's sleigh, a ball that rolls down a plane.

Sleigh of mass m, the knife edge a behind the centre of mass, I the moment of inertia about that; v the speed along the
knife edge, w the angular velocity:
    v' = a w^2,   (I + m a^2) w' = -m a v w,   theta' = w,   x' = v cos theta,   y' = v sin theta
With J = I/m + a^2, V^2 = v^2 + J w^2 constant, and s = atanh(v0/V) + (a V/J) t:
    v = V tanh s,   w = +-(V/sqrt J)/cosh s,   theta - theta0 = +-(sqrt J/a) (gd s - gd s0),   gd s = 2 atan tanh(s/2)
Ball of mass M, radius R, moment of inertia I, its centre of mass in the middle, plane tilted by e, gravity g along x and z:
    x'' = g sin e/(1 + I/(M R^2)),   y'' = 0
Source: Neimark and Fufaev, Dynamics of Nonholonomic Systems (1972), chapters II and III; Bloch, Nonholonomic Mechanics
and Control (2nd ed. 2015), section 1.7, doi:10.1007/978-1-4939-3017-3.  Units: dimensionless.
"""
import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(16)


class Sleigh:
  """The sleigh with its knife edge at the origin and heading along x at t = 0; ahead: distance of the centre of mass
  ahead of the knife edge; about_edge: moment of inertia about the knife edge; speed, turning: v and w > 0 at
  t = 0."""

  def __init__(self, mass, ahead, about_edge, speed, turning):
    self.ahead, self.J = ahead, about_edge / mass
    self.V = np.sqrt(speed ** 2 + self.J * turning ** 2)
    self.s0 = np.arctanh(speed / self.V)

  def phase(self, t):
    return self.s0 + self.ahead * self.V / self.J * t

  def speed(self, t):
    return self.V * np.tanh(self.phase(t))

  def turning(self, t):
    return self.V / np.sqrt(self.J) / np.cosh(self.phase(t))

  def heading(self, t):
    s = self.phase(t)
    return np.sqrt(self.J) / self.ahead * 2 * (np.arctan(np.tanh(s / 2)) - np.arctan(np.tanh(self.s0 / 2)))

  def knife_edge(self, times):
    """Positions of the knife edge at increasing times from 0, [count, 2], by Gauss's quadrature between them."""
    times = np.asarray(times)
    half = np.diff(times) / 2
    t = times[:-1, None] + half[:, None] * (1 + NODES)
    v, angle = self.speed(t), self.heading(t)
    steps = half[:, None] * np.stack([(v * np.cos(angle)) @ WEIGHTS, (v * np.sin(angle)) @ WEIGHTS], axis=1)
    return np.concatenate([np.zeros((1, 2)), np.cumsum(steps, axis=0)])


def ball_center(t, speed, gravity, tilt, ratio):
  """Positions [count, 2] of the centre; ratio = I/(M R^2)."""
  fall = gravity * np.sin(tilt) / (1 + ratio)
  return np.stack([speed[0] * t + fall * t * t / 2, speed[1] * t], axis=1)
