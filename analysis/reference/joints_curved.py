"""Rigid bodies with joints in a space of curvature K, computed independently of the program: equations
of each body in its own axes on 4x4 matrices, with Lagrange multipliers for the joints, by the method DOP853.

    point (x, w):  w^2 + K |x|^2 = 1;  twist Y = (omega, v):  matrix [[hat(omega), v], [-K v^T, 0]]
    body:    g' = g Y,  I Y' = ad*_Y (I Y) + sum of G^T lambda,  ad*_Y (l, p) = (l × omega + p × v, p × omega + K l × v)
    joint:   m = (g_a A)^-1 g_b B;  zeta = Ad_{B^-1} Y_b - Ad_{m^-1} Ad_{A^-1} Y_a, the twist of m in the axes of B
             the rows of a ball are the three linear parts of zeta, a hinge about z adds its angular parts x and y
             zeta' = 0 in these rows, with (Ad_{m^-1} a)' = Ad_{m^-1} a' - [zeta, Ad_{m^-1} a]
    hinge:   q' = zeta_z, and a spring -k (q - rest)
Nothing is projected: at tolerances near round-off the joints stay closed.
Sources: G. Kirchhoff, Vorlesungen ueber mathematische Physik (1876), lecture 19; E. J. Haug, Computer Aided Kinematics
and Dynamics of Mechanical Systems (1989), chapter 11. Any consistent units.
"""
import functools
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

from joints import cross
from sinking import hat, rotation

BODY = 22  # numbers per body: the matrix, the twist


def matrix(K, Y):
  out = np.zeros((4, 4))
  out[:3, :3] = hat(Y[:3])
  out[:3, 3] = Y[3:]
  out[3, :3] = -K * np.asarray(Y[3:])
  return out


def bracket(K, a, b):
  w, v, u, z = a[:3], a[3:], b[:3], b[3:]
  return np.concatenate([cross(w, u) + K * cross(v, z), cross(w, z) + cross(v, u)])


def transvection(K, x):
  """The matrix that moves the base point to the point with the normal coordinates x."""
  x = np.asarray(x, float)
  r, k = np.linalg.norm(x), np.sqrt(abs(K))
  if r == 0:
    return np.eye(4)
  s, c = (np.sin(k * r) / k, np.cos(k * r)) if K > 0 else (np.sinh(k * r) / k, np.cosh(k * r))
  p, out = s * x / r, np.eye(4)
  out[:3, :3] -= K * np.outer(p, p) / (1 + c)
  out[:3, 3], out[3, :3], out[3, 3] = p, -K * p, c
  return out


def frame(K, x, turn=np.eye(3)):
  """The pose that rotates by `turn` and then moves to x."""
  rotated = np.eye(4)
  rotated[:3, :3] = turn
  return transvection(K, x) @ rotated


def inverse(K, g):
  form = np.array([K, K, K, 1.0])
  return g.T * form / form[:, None]


@functools.cache
def basis(K):
  return np.array([matrix(K, e) for e in np.eye(6)])


def adjoint(K, g):
  c = g @ basis(K) @ inverse(K, g)
  return np.stack([c[:, 2, 1], c[:, 0, 2], c[:, 1, 0], c[:, 0, 3], c[:, 1, 3], c[:, 2, 3]])


@dataclass
class Joint:
  kind: str  # hinge, about z, or ball
  of: tuple  # numbers of two bodies
  frames: tuple  # matrices A and B
  stiffness: float = 0  # of a hinge
  rest: float = 0

  @property
  def rows(self):
    return [3, 4, 5] if self.kind == "ball" else [0, 1, 3, 4, 5]


class Joints:
  def __init__(self, K, inertias, joints):
    self.K, self.inertias, self.joints, self.n = K, inertias, joints, len(inertias)

  def start(self, poses, twists, angles=()):
    bodies = [np.concatenate([np.ravel(g), Y]) for g, Y in zip(poses, twists)]
    return np.concatenate([*bodies, angles])

  def place(self, joint, m, a, twist, relative):
    """The second body of a joint: its pose, and its twist if m has the twist `relative` in the axes of B."""
    A, B = joint.frames
    return (a @ A @ m @ inverse(self.K, B),
            adjoint(self.K, B) @ (relative + adjoint(self.K, inverse(self.K, A @ m)) @ twist))

  def rates(self, _, s):
    K, n = self.K, self.n
    g = [s[BODY * i:BODY * i + 16].reshape(4, 4) for i in range(n)]
    Y = [s[BODY * i + 16:BODY * i + 22] for i in range(n)]
    rows, right, force, angles = [], [], np.zeros(6 * n), []
    for i in range(n):
      l, p = np.split(self.inertias[i] @ Y[i], 2)
      w, v = np.split(Y[i], 2)
      force[6 * i:6 * i + 6] = [*(cross(l, w) + cross(p, v)), *(cross(p, w) + K * cross(l, v))]
    for joint in self.joints:
      (a, b), (A, B) = joint.of, joint.frames
      m = inverse(K, g[a] @ A) @ g[b] @ B
      of_b, of_a = adjoint(K, inverse(K, B)), adjoint(K, inverse(K, A @ m))
      zeta = of_b @ Y[b] - of_a @ Y[a]
      G = np.zeros((6, 6 * n))
      G[:, 6 * b:6 * b + 6], G[:, 6 * a:6 * a + 6] = of_b, -of_a
      rows.append(G[joint.rows])
      right.append(-bracket(K, zeta, of_a @ Y[a])[joint.rows])
      if joint.kind == "hinge":
        q = s[BODY * n + len(angles)]
        force += G[2] * -joint.stiffness * (q - joint.rest)
        angles.append(zeta[2])
    M, G = np.zeros((6 * n, 6 * n)), np.vstack(rows)
    for i in range(n):
      M[6 * i:6 * i + 6, 6 * i:6 * i + 6] = self.inertias[i]
    whole = np.block([[M, -G.T], [G, np.zeros((len(G), len(G)))]])
    acceleration = np.linalg.solve(whole, np.concatenate([force, *right]))
    bodies = [np.concatenate([np.ravel(g[i] @ matrix(K, Y[i])), acceleration[6 * i:6 * i + 6]]) for i in range(n)]
    return np.concatenate([*bodies, angles])

  def solve(self, start, t, tolerance=1e-12):
    return solve_ivp(self.rates, (t[0], t[-1]), start, "DOP853", t, rtol=tolerance, atol=tolerance).y.T

  def points(self, states):
    """The places of all bodies, points of the embedding: [time, body, 4]."""
    return np.stack([states[:, BODY * i:BODY * i + 16].reshape(-1, 4, 4)[:, :, 3] for i in range(self.n)], axis=1)


def of_embedding(K, p):
  """The transvection to the point p of the embedding."""
  p = np.asarray(p, float)
  r = np.linalg.norm(p)
  k = np.sqrt(abs(K))
  return transvection(K, p / r * ((np.arcsin if K > 0 else np.arcsinh)(k * r) / k))


def known_pair(K, fluid):
  """Two bodies with a ball joint whose places at t = 2 are known: the model and its start."""
  J = np.array([[0.02, 0.03, 0.05], [0.03, 0.01, 0.025]])
  added = np.array([[0.005, 0.02, 0.01, 0.3, 0.5, 0.7], [0.01, 0.004, 0.015, 0.4, 0.2, 0.6]])
  inertias = [np.diag(np.concatenate([j, mass - K * j]) + fluid * a) for j, mass, a in zip(J, (1.2, 0.9), added)]
  turned = np.eye(4)
  turned[:3, :3] = axis_angle((1, 1, 0), 0.4)
  joint = Joint("ball", (0, 1), (of_embedding(K, (0.3, 0.05, 0)), turned @ of_embedding(K, (-0.25, 0, 0.1))))
  m = np.eye(4)
  m[:3, :3] = axis_angle((0.3, -0.5, 0.8), 0.9)
  model = Joints(K, inertias, [joint])
  twist = np.array([0.5, -0.3, 0.7, 0.2, 0.4, -0.1])
  pose, other = model.place(joint, m, np.eye(4), twist, np.array([-0.6, 0.9, 0.3, 0, 0, 0]))
  return model, model.start([np.eye(4), pose], [twist, other])


def axis_angle(axis, angle):
  n = np.asarray(axis, float) / np.linalg.norm(axis)
  return rotation(np.concatenate([[np.cos(angle / 2)], np.sin(angle / 2) * n]))


KNOWN = {1: ((0.4300825217, 0.8003357487, -0.1590156738, 0.3862715747),
             (0.1302744900, 0.9752547853, 0.0001505898, 0.1786242939)),
         -1: ((0.8308640197, 1.3060922676, -0.2120086882, 1.8550363108),
              (0.8477833127, 2.2510207404, -0.1865209248, 2.6116318604))}

if __name__ == "__main__":
  for K, places in KNOWN.items():
    model, start = known_pair(K, K > 0)
    last = model.points(model.solve(start, [0, 2]))[-1]
    print(f"K = {K}: difference from the known places {np.max(np.abs(last - places)):.2e}")
