"""Systems of analysis/scenarios/systems by their reduced equations, in numpy.longdouble.

Double pendulum: Landau and Lifshitz, Mechanics, section 5, problem 1, solved for the accelerations.
Heavy symmetric top, u = cos theta: u'^2 = k (u - u1)(u2 - u)(u3 - u), k = 2 m g l/A, phi' = (p_phi - p_psi u)/(A (1 - u^2));
Goldstein, Classical Mechanics (2nd ed. 1980), section 5-7.
Raft and spherical pendulum without momentum, nu = m^2/(M + m), mu = m M/(M + m): the raft is at -m l/(M + m) times the
pendulum's horizontal direction, and
    L = (1/2) l^2 (m - nu cos^2 theta) theta'^2 + (1/2) mu l^2 sin^2 theta phi'^2 + m g l cos theta
Leg without angular momentum, r = l + d: theta' = -f psi', f = m r^2/(I + m r^2), and
    L = (1/2) I f psi'^2 + (1/2) m d'^2 - V
Units: dimensionless.
"""
import numpy as np

from collocation import solve


def double_pendulum(times, m1=1, m2=0.7, l1=1, l2=0.8, g=9.81, start=(2, 1, 0, 0), step=0.01):
  """Angles and their rates [count, 4]."""
  m1, m2, l1, l2, g = (np.longdouble(str(number)) for number in (m1, m2, l1, l2, g))

  def rate(z):
    a, b, u, v = np.moveaxis(z, -1, 0)
    c, s, m = np.cos(a - b), np.sin(a - b), m1 + m2
    f = -m2 * l1 * l2 * s * v ** 2 - m * g * l1 * np.sin(a)
    h = m2 * l1 * l2 * s * u ** 2 - m2 * g * l2 * np.sin(b)
    aa, ab, bb = m * l1 ** 2, m2 * l1 * l2 * c, m2 * l2 ** 2
    det = aa * bb - ab ** 2
    return np.stack([u, v, (bb * f - ab * h) / det, (aa * h - ab * f) / det], axis=-1)
  return solve(rate, start, times, step)


class CuspedTop:
  """A top that is released with its axis at rest at the angle theta, and rotates about it with the rate `spin`."""

  def __init__(self, theta=0.8, spin=9.0, A=1.0, C=0.5, mgl=2.0):
    self.A, self.C, self.k, u = A, C, 2 * mgl / A, np.cos(theta)
    self.p_psi = C * spin
    self.p_phi = self.p_psi * u
    # the cubic is (u0 - u) (k (1 - u^2) - (p_psi/A)^2 (u0 - u)), u0 the highest point of the axis
    q = (self.p_psi / A) ** 2
    roots = np.sort(np.roots([-self.k, q, self.k - q * u]).real)
    self.low, self.high, self.out = roots[0], u, roots[1]

  def nutation(self, points=256):
    """Period, and the changes of phi and psi in it: integrals over s from 0 to pi with u = low + (high - low) sin^2 s.
    The integrand is periodic, so the trapezoidal rule converges geometrically."""
    s = np.pi * np.arange(points) / points
    u = self.low + (self.high - self.low) * np.sin(s) ** 2
    dt = 2 / np.sqrt(self.k * (self.out - u)) * np.pi / points
    phi = (self.p_phi - self.p_psi * u) / (self.A * (1 - u ** 2))
    return np.sum(dt), np.sum(dt * phi), np.sum(dt * (self.p_psi / self.C - u * phi))


def raft_pendulum(times, M=2, m=1, l=1, g=9.81, theta=1, momentum=0.6, step=0.02):
  """theta, theta', phi [count, 3], with phi = 0 at the start."""
  g, momentum = np.longdouble(str(g)), np.longdouble(str(momentum))
  nu, mu = np.longdouble(m * m) / (M + m), np.longdouble(m * M) / (M + m)

  def rate(z):
    th, w, _ = np.moveaxis(z, -1, 0)
    s, c = np.sin(th), np.cos(th)
    turn = momentum / (mu * l * l * s * s)
    push = mu * l * l * s * c * turn ** 2 - m * g * l * s - nu * l * l * c * s * w * w
    return np.stack([w, push / (l * l * (m - nu * c * c)), turn], axis=-1)
  return solve(rate, (theta, 0, 0), times, step)


def raft_turn(theta, J=0.4, M=2, m=1, l=1):
  """Rotation of the raft after one round of the pendulum at the constant angle theta."""
  inertia = m * M / (m + M) * l * l * np.sin(theta) ** 2
  return -2 * np.pi * inertia / (J + inertia)


def leg_turn(swing=np.pi / 2, stretch=0.5, I=1, m=1, l=1):
  """Rotation of the body after one loop of the leg."""
  f = lambda d: m * (l + d) ** 2 / (I + m * (l + d) ** 2)
  return swing * (f(stretch) - f(0))


def free_leg(times, I=1, m=1, l=1, turn=3, pull=20, start=(0, 0.9, 0, 0, 0), step=0.02):
  """theta, psi, d, psi', d' [count, 5]."""
  rest = np.longdouble("0.2")

  def rate(z):
    _, psi, d, w, v = np.moveaxis(z, -1, 0)
    r = l + d
    f = m * r * r / (I + m * r * r)
    df = 2 * m * r * I / (I + m * r * r) ** 2
    return np.stack([-f * w, w, v, (-turn * psi - I * df * v * w) / (I * f),
                     (I * df * w * w / 2 - pull * (d - rest)) / m], axis=-1)
  return solve(rate, [np.longdouble(str(number)) for number in start], times, step)
