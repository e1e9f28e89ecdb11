"""Geometry for drawing: Poincare ball and stereographic projection, geodesics between points, transport, spheres.

K = 1 (S) or -1 (H); plot coordinates q and embedding (x, w):   q = x/(1 + w),   (x, w) = (2 q, 1 - K q.q)/(1 + K q.q)
Source: Ratcliffe, Foundations of Hyperbolic Manifolds (2nd ed. 2006), sections 4.1 and 4.5.
"""
import numpy as np

from style import GREY


def to_embedding(q, K):
  scale = 1 + K * np.sum(q * q, axis=-1, keepdims=True)
  return np.concatenate([2 * q / scale, (2 - scale) / scale], axis=-1)


def to_picture(x):
  return x[..., :-1] / (1 + x[..., -1:])


def geodesic(p, q, K, count=40):
  """Points of the geodesic between two embedding points, [count, k]."""
  form = np.ones(len(p))
  form[-1] = K
  d = {1: lambda c: 2 * np.arcsin(c / 2), -1: lambda c: 2 * np.arcsinh(c / 2)}[K](np.sqrt(np.sum(form * (p - q) ** 2)))
  sine = np.sin if K > 0 else np.sinh
  t = np.linspace(0, 1, count)[:, None]
  return (sine((1 - t) * d) * p + sine(t * d) * q) / sine(d)


def shortest(frame, p, q, count=13, rounds=15):
  """Points [count, 3] of the path of minimum energy from p to q, by the Gauss-Newton method. `frame(x, dx)` returns the
  components of the coordinate differences dx in an orthonormal frame at x."""
  x = np.linspace(p, q, count)

  def components(inner):
    path = np.concatenate([x[:1], inner.reshape(-1, 3), x[-1:]])
    return np.stack(frame(((path[1:] + path[:-1]) / 2).T, np.diff(path, axis=0).T)).ravel()

  inner, small = x[1:-1].ravel(), 1e-6
  for _ in range(rounds):
    slope = np.stack([(components(inner + d) - components(inner - d)) / (2 * small) for d in small * np.eye(len(inner))])
    inner = inner - np.linalg.lstsq(slope.T, components(inner), rcond=None)[0]
  return np.concatenate([x[:1], inner.reshape(-1, 3), x[-1:]])


def bond_in_picture(p, q, K, count=40):
  """The geodesic between two points, all in plot coordinates."""
  return to_picture(geodesic(to_embedding(p, K), to_embedding(q, K), K, count))


def label_end(ax, points, words, away=9):
  """Writes `words` next to the first point of a curve, on the side opposite to the curve."""
  outward = points[0] - points[1 + len(points) // 6]
  outward = away * outward / np.linalg.norm(outward)
  ax.annotate(words, points[0], textcoords="offset points", xytext=outward, fontsize=8, ha="center", va="center",
              annotation_clip=False, bbox={"facecolor": "white", "alpha": 0.7, "linewidth": 0, "pad": 0.4})


def transport(x, y, u):
  """Parallel transport of the tangent vector u from x to y on the unit sphere along the shorter arc."""
  return u - np.dot(u, y) / (1 + np.dot(x, y)) * (x + y)


def draw_sphere(axes, radius=1.0):
  """Draws a pale sphere with parallels and meridians."""
  u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 49), np.linspace(0, np.pi, 25))
  x, y, z = radius * np.sin(v) * np.cos(u), radius * np.sin(v) * np.sin(u), radius * np.cos(v)
  axes.plot_surface(x, y, z, color="#e8eef4", alpha=0.35, linewidth=0, shade=False)
  axes.plot_wireframe(x, y, z, color=GREY, linewidth=0.25, rstride=3, cstride=4, alpha=0.6)


def draw_circle(ax, radius=1.0, **options):
  t = np.linspace(0, 2 * np.pi, 200)
  ax.plot(radius * np.cos(t), radius * np.sin(t), **({"color": GREY, "linewidth": 1.0} | options))
