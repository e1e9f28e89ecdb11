"""Rigid bodies and particles with springs, pair potentials and rods between their points, computed independently of the
program: Kirchhoff's equations in Euclidean space, S3 or H3 of curvature c = 0, 1 or -1, by the method DOP853 with the
tolerance 1e-12.

    body:      g' = g Y^,  Y^ = [[hat(omega), v], [-c v^T, 0]],  l' = l × omega + p × v,  p' = p × omega + c l × v,
               (l, p) = K Y;  a force f at the point y = g a gives J^T f, with the columns g E_i a of J
    particle:  m x'' = f - (c1 + c2 |x'|) x'
    pair:      f = U'(d) n, n the unit vector towards the other point;  a damper adds b d' to U'
    rod:       d.d'' + |d'|^2 = 0 for the difference d of its ends gives its tension
Source: G. Kirchhoff, Vorlesungen ueber mathematische Physik (1876), lecture 19. Any consistent units.
"""
from dataclasses import dataclass, field

import numpy as np
from scipy.integrate import solve_ivp

from sinking import hat, rotation

BODY, PARTICLE = 22, 6  # numbers per body (the matrix g, the momentum) and per particle


@dataclass
class Body:
  """A point of a body; `at` holds its coordinates in the frame of the body."""
  body: int
  at: tuple = (0, 0, 0)


@dataclass
class Particle:
  particle: int


@dataclass
class Path:
  """A point that moves in a prescribed way: a function of the time that returns its position and its velocity."""
  path: object


@dataclass
class Pair:
  """U'(d) for the distance d, and the factor of a damper."""
  ends: tuple
  slope: object
  damping: float = 0.0


@dataclass
class Rod:
  ends: tuple


@dataclass
class Coupled:
  inertia: list  # K of each body
  links: list
  mass: list = field(default_factory=list)  # of each particle, with its added mass
  drag: tuple = (0.0, 0.0)  # c1 and c2 of each particle
  curvature: float = 0.0

  def matrix(self, Y):
    out = np.zeros((4, 4))
    out[:3, :3], out[:3, 3], out[3, :3] = hat(Y[:3]), Y[3:], -self.curvature * Y[3:]
    return out

  def split(self, s):
    """Matrices and momenta of the bodies, positions and velocities of the particles."""
    b, p = len(self.inertia), len(self.mass)
    body, free = s[:BODY * b].reshape(b, BODY), s[BODY * b:].reshape(p, PARTICLE)
    return body[:, :16].reshape(b, 4, 4), body[:, 16:], free[:, :3], free[:, 3:]

  def point(self, where, t, s, Y):
    """Position and velocity in the embedding, the acceleration at Y' = 0, and the matrix J [4, all velocities]."""
    g, _, x, v = self.split(s)
    J = np.zeros((4, 6 * len(g) + 3 * len(x)))
    if isinstance(where, Path):
      y, u = where.path(t)
      return np.append(y, 1), np.append(u, 0), np.zeros(4), J
    if isinstance(where, Particle):
      i = where.particle
      J[:3, 6 * len(g) + 3 * i:6 * len(g) + 3 * i + 3] = np.eye(3)
      return np.append(x[i], 1), np.append(v[i], 0), np.zeros(4), J
    i, at = where.body, np.append(where.at, 1)
    for k, E in enumerate(np.eye(6)):
      J[:, 6 * i + k] = g[i] @ self.matrix(E) @ at
    rate = self.matrix(Y[i])
    return g[i] @ at, g[i] @ rate @ at, g[i] @ rate @ rate @ at, J

  def towards(self, a, b):
    """The distance of two points, and the covector of the unit vector at a towards b."""
    c = self.curvature
    if c == 0:
      d = np.linalg.norm(b - a)
      return d, (b - a) / d
    form = np.array([1, 1, 1, c])
    d = 2 * (np.arcsin if c > 0 else np.arcsinh)(np.sqrt((b - a) @ (form * (b - a))) / 2)
    cos, sin = circle(d, c)
    return d, form * (b - cos * a) / sin

  def rates(self, t, s):
    g, mu, _, v = self.split(s)
    c, n = self.curvature, len(g)
    Y = np.array([np.linalg.solve(K, m) for K, m in zip(self.inertia, mu)]).reshape(n, 6)
    size = 6 * n + 3 * len(v)
    M, force = np.zeros((size, size)), np.zeros(size)
    for i, (K, (w, u), (l, p)) in enumerate(zip(self.inertia, Y.reshape(n, 2, 3), mu.reshape(n, 2, 3))):
      M[6 * i:6 * i + 6, 6 * i:6 * i + 6] = K
      force[6 * i:6 * i + 6] = [*(np.cross(l, w) + np.cross(p, u)), *(np.cross(p, w) + c * np.cross(l, u))]
    for i, u in enumerate(v):
      at = slice(6 * n + 3 * i, 6 * n + 3 * i + 3)
      M[at, at] = self.mass[i] * np.eye(3)
      force[at] = -(self.drag[0] + self.drag[1] * np.linalg.norm(u)) * u
    rows, right = [], []
    for link in self.links:
      (ya, ua, wa, Ja), (yb, ub, wb, Jb) = (self.point(end, t, s, Y) for end in link.ends)
      if isinstance(link, Rod):
        d = yb - ya
        rows.append(d @ (Jb - Ja))
        right.append(-(ub - ua) @ (ub - ua) - d @ (wb - wa))
        continue
      d, n_a = self.towards(ya, yb)
      _, n_b = self.towards(yb, ya)
      pull = link.slope(d) - link.damping * (n_a @ ua + n_b @ ub)
      force += pull * (Ja.T @ n_a + Jb.T @ n_b)
    a = np.linalg.solve(M, force)
    if rows:
      A = np.array(rows)
      S = np.linalg.solve(M, A.T)
      a = a + S @ np.linalg.solve(A @ S, np.array(right) - A @ a)
    out = []
    for i in range(n):
      out += [(g[i] @ self.matrix(Y[i])).ravel(), self.inertia[i] @ a[6 * i:6 * i + 6]]
    for i, u in enumerate(v):
      out += [u, a[6 * n + 3 * i:6 * n + 3 * i + 3]]
    return np.concatenate(out)

  def solve(self, pose, twist, t, x=(), v=()):
    """Matrices [time, body, 4, 4] and positions of the particles [time, particle, 3] at the times t."""
    start = [[*pose_matrix(P, self.curvature).ravel(), *(K @ Y)] for K, P, Y in zip(self.inertia, pose, twist)]
    start = np.concatenate([np.ravel(start)] + [[*a, *b] for a, b in zip(x, v)])
    states = solve_ivp(self.rates, (t[0], t[-1]), start, "DOP853", t, rtol=1e-12, atol=1e-12).y.T
    parts = [self.split(s) for s in states]
    return np.array([p[0] for p in parts]), np.array([p[2] for p in parts])


def circle(r, c):
  return (np.cos(r), np.sin(r)) if c > 0 else (np.cosh(r), np.sinh(r))


def pose_matrix(pose, c=0):
  """The isometry of a pose (normal coordinates x, quaternion): the rotation, and then the motion along x."""
  g, r = np.eye(4), np.linalg.norm(pose[:3])
  g[:3, :3] = rotation(np.asarray(pose[3:]))
  if c == 0 or r == 0:
    g[:3, 3] = pose[:3]
    return g
  n, (cos, sin) = pose[:3] / r, circle(r, c)
  along = np.eye(4)
  along[:3, :3] += (cos - 1) * np.outer(n, n)
  along[:3, 3], along[3, :3], along[3, 3] = sin * n, -c * sin * n, cos
  return along @ g
