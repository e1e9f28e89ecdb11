"""Exact added mass of a body in an ideal fluid (Kirchhoff's tensor), in the order (angular, linear), about the origin.

    K_ab = -rho int phi_a m_b dA,   m(x) = (x × n, n),   laplace phi_a = 0 outside, d phi_a/dn = m_a, phi -> 0
closed surface, by Green's identity with constant panels and collocation at centroids:
    (1/2 - D) phi_a = -S m_a,    D_ij = Omega_j(x_i)/4 pi (D_ii = 0),    S_ij = (1/4 pi) int_j dA/|x - x_i|
sheet, by vortex rings of strength mu:    H mu_a = m_a,    K_ab = rho sum A mu_a m_b
ellipsoid:     alpha_i = a b c int_0^inf d lambda/((a_i^2 + lambda) prod (a_j^2 + lambda)^(1/2)),
    K_v,i = V alpha_i/(2 - alpha_i),  K_w,1 = (V/5)(b^2-c^2)^2 (alpha_3-alpha_2)/(2(b^2-c^2)+(b^2+c^2)(alpha_2-alpha_3))
Sources: H. Lamb, Hydrodynamics (6th ed. 1932), sections 114, 115, 124; A. van Oosterom & J. Strackee, IEEE Trans.
Biomed. Eng. 30 (1983) 125, doi:10.1109/TBME.1983.325207 (solid angle). Density 1. On a smooth surface errors decrease
as the square of the size of the panels.
"""
import numpy as np
from mpmath import mp

ROWS = 200  # collocation points that are computed at the same time


def faces_of(x, face):
  """Corners [n, 3, 3], centroids, areas, normals."""
  p = x[face]
  normal = np.cross(p[:, 1] - p[:, 0], p[:, 2] - p[:, 0])
  twice = np.linalg.norm(normal, axis=1)
  return p, p.mean(axis=1), twice / 2, normal / twice[:, None]


def rates(c, n):
  """Rows m(x) = (x × n, n) at the centroids c with the normals n."""
  return np.hstack([np.cross(c, n), n])


def solid(x, face):
  """Tensor [6, 6] of a closed surface that is oriented outwards."""
  p, c, area, n = faces_of(np.asarray(x, float), np.asarray(face))
  size = len(c)
  D, S = np.empty((size, size)), np.empty((size, size))
  for first in range(0, size, ROWS):
    rows = slice(first, min(first + ROWS, size))
    corner = p[None] - c[rows, None, None]
    length = np.linalg.norm(corner, axis=-1)
    a, b, d = (corner[:, :, k] for k in range(3))
    la, lb, ld = (length[:, :, k] for k in range(3))
    triple = np.einsum("ijk,ijk->ij", a, np.cross(b, d))
    dot = lambda u, v: np.einsum("ijk,ijk->ij", u, v)  # noqa: E731
    omega = -2 * np.arctan2(triple, la * lb * ld + dot(a, b) * ld + dot(b, d) * la + dot(d, a) * lb)
    own = np.arange(rows.start, rows.stop)
    omega[own - first, own] = 0
    height = -dot(a, np.broadcast_to(n, a.shape))
    total = -height * omega
    for k in range(3):
      edge = p[:, (k + 1) % 3] - p[:, k]
      far = np.linalg.norm(edge, axis=1)
      out = np.cross(edge / far[:, None], n)
      r1, r2 = length[:, :, k], length[:, :, (k + 1) % 3]
      total += dot(corner[:, :, k], np.broadcast_to(out, a.shape)) * np.log((r1 + r2 + far) / (r1 + r2 - far))
    D[rows], S[rows] = omega / (4 * np.pi), total / (4 * np.pi)
  m = rates(c, n)
  phi = np.linalg.solve(np.eye(size) / 2 - D, -S @ m)
  K = -phi.T @ (area[:, None] * m)
  return (K + K.T) / 2


def plate(length, width, cells=16):
  """Added mass of the translation normal to a rectangular plate: vortex rings on a grid whose lines are closer towards
  the edges."""
  def at_angles(side, count, first):
    return -np.cos(np.pi * np.arange(first, count + 0.25) / count) * side / 2
  many = round(cells * max(1, (length / width) ** 0.5))
  x, y = at_angles(length, many, 0), at_angles(width, cells, 0)
  corner = np.array([[(x[i + u], y[j + v], 0) for u, v in ((0, 0), (1, 0), (1, 1), (0, 1))]
                     for i in range(len(x) - 1) for j in range(len(y) - 1)])
  # The strength varies as the square root of the distance from an edge: collocation points are at the middles of the
  # intervals of the angle.
  at = np.array([(u, v, 0) for u in at_angles(length, many, 0.5) for v in at_angles(width, cells, 0.5)])
  area = np.outer(np.diff(x), np.diff(y)).ravel()
  H = np.zeros((len(at), len(at)))
  for k in range(4):
    a, b = corner[None, :, k] - at[:, None], corner[None, :, (k + 1) % 4] - at[:, None]
    la, lb = np.linalg.norm(a, axis=-1), np.linalg.norm(b, axis=-1)
    H += (la + lb) / (la * lb * (la * lb + np.sum(a * b, axis=-1))) * (a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0])
  return abs(float(np.linalg.solve(H / (4 * np.pi), np.ones(len(at))) @ area))


def ellipsoid(a):
  """(K_v [3], K_omega [3]) of an ellipsoid with the half axes a."""
  a = [mp.mpf(s) for s in a]
  volume = 4 * mp.pi / 3 * a[0] * a[1] * a[2]
  square = [s * s for s in a]
  alpha = [2 * a[0] * a[1] * a[2] / 3 * mp.elliprd(square[i - 2], square[i - 1], square[i]) for i in range(3)]
  linear, angular = [], []
  for i in range(3):
    b, c, u, v = square[(i + 1) % 3], square[(i + 2) % 3], alpha[(i + 1) % 3], alpha[(i + 2) % 3]
    linear.append(float(volume * alpha[i] / (2 - alpha[i])))
    angular.append(float(volume / 5 * (b - c) ** 2 * (v - u) / (2 * (b - c) + (b + c) * (u - v))) if b != c else 0.0)
  return np.array(linear), np.array(angular)
