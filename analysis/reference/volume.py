"""Volume inside a closed surface of geodesic triangles in E3, S3 and H3, by projection from the centre.

Points go to y = x/w (gnomonic, Klein), where geodesic triangles are flat; cones over them from the centre have
    V = sum over triangles of  integral (n.y) G(|y|) dA,   G(r) = (1/r^3) integral_0^r q^2/(1 + K q^2)^2 dq
    H3: G = (r/(1 - r^2) - atanh r)/(2 r^3)      S3: G = (atan r - r/(1 + r^2))/(2 r^3)      E3: G = 1/3
with Gauss's rule on each triangle.  Source: volume elements of the projective models, Ratcliffe, Foundations of
Hyperbolic Manifolds (2nd ed. 2006), section 6.1.  Valid for surfaces that enclose the centre, in S3 within a quarter
turn of it.
"""
import numpy as np

NODES, WEIGHTS = np.polynomial.legendre.leggauss(10)


def cone(r, curved):
  if curved == 0:
    return np.full_like(r, 1 / 3)
  return ((r / (1 - r * r) - np.arctanh(r)) if curved < 0 else (np.arctan(r) - r / (1 + r * r))) / (2 * r ** 3)


def inside(points, triangles, curved):
  """points: [n, 4] of the embedding, or [n, 3] in E3; triangles counterclockwise as seen from outside."""
  y = points[:, :3] / points[:, 3:] if curved else points
  a, b, c = (y[triangles[:, k]] for k in range(3))
  normal = np.cross(b - a, c - a)
  u, wu = (1 + NODES) / 2, WEIGHTS / 2
  total = 0.0
  for s, ws in zip(u, wu):  # a + s (b - a) + s t (c - b), element s ds dt |normal|
    for t, wt in zip(u, wu):
      at = a + s * (b - a) + s * t * (c - b)
      total += ws * wt * s * np.sum(np.sum(normal * at, axis=1) * cone(np.linalg.norm(at, axis=1), curved))
  return float(total)


def bring_back(points, shift, curved):
  """Points moved by `shift` against the Killing field along x through the centre."""
  if curved == 0:
    return points - [shift, 0, 0]
  c, s = (np.cos(shift), np.sin(shift)) if curved > 0 else (np.cosh(shift), np.sinh(shift))
  moved = points.copy()
  moved[:, 0], moved[:, 3] = c * points[:, 0] - s * points[:, 3], c * points[:, 3] - curved * -s * points[:, 0]
  return moved
