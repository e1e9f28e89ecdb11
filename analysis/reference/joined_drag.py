"""Drag of the bodies of joints.py in a fluid at rest, and a plate that a wave swings, computed independently of the
program.

    faces    F = -(rho/2) sum A |u| <u, n> m,  u = v + omega × c,  m = (c × n, n)
    plates   of semi-axes a with the normal n and the area S: for the velocity v and the part w of omega in the plane,
             f = rho C_T S (n.v/|v|)(n × v) × v + rho C_R S (a w) × v - (rho/2) S (A - B (v_t^2 - v_n^2)/|v|^2) |v| v,
             torque -(pi/2) rho S mu_2 a^3 w |w|;  a_i is the half width across axis i
    a plate on a hinge at the origin about -y, in the flow u(x, t), at the angle q:  r the distance of a corner from the
             hinge, s = A (r q' - u.n) at the corners of a face, k = rho delta/(6 A),
             L = I q'^2/2 + (1/2) sum k s (s + sum s) = M q'^2/2 - b(q, t) q' + c(q, t):  M q'' = db/dt + dc/dq + Q
             Q: spring, damper, drag of both sides with the mean of u over the corners of a face, and the pressure of
             the flow on the displaced fluid, rho D u/D t
Sources: "Going with the Flow" (see README), algorithms 3 and 5, corrected; A. Andersen, U. Pesavento & Z. J. Wang, J.
Fluid Mech. 541 (2005) 65, doi:10.1017/S0022112005005847. SI units.
"""
import numpy as np
from scipy.integrate import solve_ivp

from joints import cross
from kirchhoff import faces_of, rates


def faces(x, face, density):
  """Drag of a closed surface as a wrench for joints.Body."""
  _, c, area, n = faces_of(x, face)
  m, weight = rates(c, n), density / 2 * area
  def wrench(_, __, ___, Y):
    u = Y[3:] + np.stack([Y[1] * c[:, 2] - Y[2] * c[:, 1], Y[2] * c[:, 0] - Y[0] * c[:, 2],
                          Y[0] * c[:, 1] - Y[1] * c[:, 0]], axis=1)
    return -(weight * np.sqrt(np.einsum("ij,ij->i", u, u)) * (m @ Y)) @ m
  return wrench


def thin_plate(a, density, translation=1.2, rotation=np.pi, drag=1.4, across=1.0, mu=0.2):
  """Lift and drag of a thin plate as a wrench for joints.Body."""
  k = int(np.argmin(a))
  i, j = (k + 1) % 3, (k + 2) % 3
  area, n, half = np.pi * a[i] * a[j], np.eye(3)[k], np.zeros(3)
  half[i], half[j] = a[j], a[i]
  def wrench(_, __, ___, Y):
    w, v = Y[:3] * (half > 0), Y[3:]
    speed, out = np.linalg.norm(v), np.zeros(6)
    out[:3] = -np.pi / 2 * density * area * mu * half**3 * w * np.linalg.norm(w)
    out[3:] = density * rotation * area * cross(half * w, v)
    if speed > 0:
      normal = v[k] / speed
      out[3:] += density * area * (translation * normal * cross(cross(n, v), v)
                                   - (drag - across * (1 - 2 * normal**2)) / 2 * speed * v)
    return out
  return wrench


def together(*wrenches):
  return lambda t, R, x, Y: sum(w(t, R, x, Y) for w in wrenches)


class Wave:
  """The flow (stream, 0, across sin(2 pi rate (x/speed - t))), its acceleration, and its derivatives."""

  def __init__(self, stream, across, speed, rate):
    self.stream, self.across, self.k, self.w = stream, across, 2 * np.pi * rate / speed, 2 * np.pi * rate

  def velocity(self, x, t):
    return self.stream, self.across * np.sin(self.k * x - self.w * t)

  def slopes(self, x, t):
    """d u_z/dx and d u_z/dt."""
    c = self.across * np.cos(self.k * x - self.w * t)
    return self.k * c, -self.w * c


class SwungPlate:
  """x, face: the plate in its own frame, flat in x and y, with the hinge at x = -reach; added: the inertia of the fluid
  about the hinge, from which delta follows; own: that of the plate."""

  def __init__(self, x, face, reach, wave, own, added, density, thickness, stiffness, damping):
    self.wave, self.density, self.thickness, self.spring, self.damper = wave, density, thickness, stiffness, damping
    self.r = (x[:, 0] + reach)[face]
    corner = x[face]
    self.area = np.linalg.norm(np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0]), axis=1) / 2
    self.M = own + added
    s = self.area[:, None] * self.r
    self.k = (added / np.sum(s * (s + s.sum(axis=1, keepdims=True)) / self.area[:, None])) / self.area

  def rate(self, t, y):
    q, w = y
    cos, sin, area = np.cos(q), np.sin(q), self.area[:, None]
    r, x = self.r, self.r * cos
    ux, uz = self.wave.velocity(x, t)
    slope, change = self.wave.slopes(x, t)
    e = area * (-sin * ux + cos * uz)                                # A u.n
    e_q = area * (-cos * ux - sin * uz - cos * slope * r * sin)      # with dx/dq = -r sin q
    e_t = area * cos * change
    s = area * r
    full = lambda z: z + z.sum(axis=1, keepdims=True)  # noqa: E731
    b_t = np.sum(self.k[:, None] * full(s) * e_t)
    c_q = np.sum(self.k[:, None] * full(e) * e_q)
    mean = uz.mean(axis=1)
    arm, middle = self.r.mean(axis=1), self.area
    along, normal = -(cos * ux + sin * mean), arm * w - (-sin * ux + cos * mean)  # velocity relative to the flow
    drag = -self.density * np.sum(middle * np.hypot(along, normal) * normal * arm)
    a = change + ux * slope  # D u_z/D t; that of u_x is 0
    weight = self.density * self.thickness * self.area[:, None] / 12
    pressure = np.sum(weight * (r + r.sum(axis=1, keepdims=True)) * cos * a)
    return [w, (b_t + c_q - self.spring * q - self.damper * w + drag + pressure) / self.M]

  def solve(self, t, tolerance=1e-10):
    return solve_ivp(self.rate, (t[0], t[-1]), [0, 0], "DOP853", t, rtol=tolerance, atol=tolerance).y[0]
