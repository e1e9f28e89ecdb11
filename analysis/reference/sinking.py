"""A rigid body that sinks, computed independently of the program: Kirchhoff's equations by the classical
Runge–Kutta method, with the local model's added mass or any other tensor.

    x' = R v,  q' = q (0, omega)/2,  mu' = (l × omega + p × v, p × omega) + F,  mu = (l, p) = (I_body + I_fluid) Y
    F = -(rho/2) sum A |u| <u,n> m + (c_m × m - c_V × rho V, m - rho V) R^T g,   u = v + omega × c,  m = (c × n, n)
    local model:  I_fluid = rho delta sum A m m^T at the middles of edges,  delta = sum A/sum alpha l
Sources: G. Kirchhoff, Vorlesungen ueber mathematische Physik (1876), lecture 19; "Going with the Flow" (see README),
algorithms 2, 3, 5, corrected. SI units, uniform closed bodies.
"""
import numpy as np

from kirchhoff import faces_of, rates

GRAVITY = np.array([0, 0, -9.81])


def hat(a):
  return np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])


def rotation(q):
  w, v = q[0], q[1:]
  return (w * w - v @ v) * np.eye(3) + 2 * np.outer(v, v) + 2 * w * hat(v)


def local(x, face):
  """Added mass of a closed piece by the local model, density 1."""
  p, _, area, n = faces_of(x, face)
  owner = {(a, b): f for f, t in enumerate(face) for a, b in ((t[0], t[1]), (t[1], t[2]), (t[2], t[0]))}
  total = 0.0
  for (a, b), f in owner.items():
    if a < b:
      g, edge = owner[b, a], x[b] - x[a]
      length = np.linalg.norm(edge)
      total += length * np.arctan2(np.cross(n[f], n[g]) @ edge / length, n[f] @ n[g])
  delta = np.sum(area) / total
  K = np.zeros((6, 6))
  for k in range(3):
    m = rates((p[:, k] + p[:, (k + 1) % 3]) / 2, n)
    K += delta / 3 * m.T @ (area[:, None] * m)
  return K


class Sinking:
  """A body of density `own` in a fluid of density `fluid`; added: its added mass in a fluid of density 1; drag: whether
  the fluid exerts drag."""

  def __init__(self, x, face, own, fluid, added, drag=True):
    p, self.c, self.area, n = faces_of(x, face)
    self.m, self.fluid, self.drag = rates(self.c, n), fluid, drag
    # Tetrahedra from the origin: volume, centre, and the integral of x x^T.
    volume = np.einsum("ij,ij->i", p[:, 0], np.cross(p[:, 1], p[:, 2])) / 6
    corner = p.sum(axis=1)
    square = (np.einsum("i,ij,ik->jk", volume, corner, corner) + np.einsum("i,iqj,iqk->jk", volume, p, p)) / 20
    self.volume, moment = volume.sum(), volume @ corner / 4
    self.excess, self.moment = (own - fluid) * self.volume, (own - fluid) * moment
    body = np.block([[np.trace(square) * np.eye(3) - square, hat(moment)], [-hat(moment), self.volume * np.eye(3)]])
    self.K = own * body + fluid * added
    self.inverse = np.linalg.inv(self.K)

  def rate(self, state):
    q, mu = state[:4], state[7:]
    Y = self.inverse @ mu
    w, v, l, p = Y[:3], Y[3:], mu[:3], mu[3:]
    R = rotation(q)
    down = R.T @ GRAVITY
    F = np.zeros(6)
    if self.drag:
      speed = np.linalg.norm(v + np.cross(w, self.c), axis=1)
      F = -self.fluid / 2 * (self.area * speed * (self.m @ Y)) @ self.m
    F += np.concatenate([np.cross(self.moment, down), self.excess * down])
    spin = np.concatenate([[-q[1:] @ w], q[0] * w + np.cross(q[1:], w)]) / 2
    return np.concatenate([spin, R @ v, np.cross(l, w) + np.cross(p, v) + F[:3], np.cross(p, w) + F[3:]])

  def run(self, pose, step, count, twist=np.zeros(6)):
    """(poses [count + 1, 7], twists [count + 1, 6]) from a pose and a twist; pose (x, y, z, qw, qx, qy, qz)."""
    state = np.concatenate([pose[3:], pose[:3], self.K @ twist])
    rows = [state]
    for _ in range(count):
      k1 = self.rate(state)
      k2 = self.rate(state + step / 2 * k1)
      k3 = self.rate(state + step / 2 * k2)
      k4 = self.rate(state + step * k3)
      state = state + step / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
      state[:4] /= np.linalg.norm(state[:4])
      rows.append(state)
    rows = np.array(rows)
    return np.hstack([rows[:, 4:7], rows[:, :4]]), rows[:, 7:] @ self.inverse.T
