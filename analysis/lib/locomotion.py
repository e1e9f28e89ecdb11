"""Panels that are usual in the literature on swimmers: connection, curvature, metric, bodies, gaits and their paths.

    arrows      -A for one axis of the group: the body moves forwards along this axis if the shape changes along the arrows
    height      curvature B for one axis, zero in black: a gait that runs counterclockwise moves the body by
                -int int B dr dr to first order (corrected body velocity integral)
    ellipses    curves of equal v'Mv: a shape change along the long axis is cheap
Source: Hatton & Choset, Int. J. Robotics Research 30 (2011) 988, doi:10.1177/0278364910394392.
"""
import numpy as np
from matplotlib.colors import LinearSegmentedColormap

from runs import Run
from style import BLACK, BLUE, GREY, ORANGE, VERMILION, plt

HEIGHT = LinearSegmentedColormap.from_list("height", [BLUE, "#9ecae8", "#ffffff", "#f5b58a", VERMILION])
LABEL = {"alpha1": r"$\alpha_1$", "alpha2": r"$\alpha_2$", "l": "$l$", "v": "$v_1$", "a": "$a$", "x": "x", "y": "y",
         "theta": r"$\theta$"}


def window(low, high):
  return ",".join(f"{a:g}:{b:g}" for a, b in zip(low, high))


def field_run(scenario, low, high, grid=101, settings=(), coordinates=None):
  """Connection, curvature and metric over a window of the plane of both shape variables."""
  return Run(f"locomotion/{scenario}", tuple(settings),
             gait=("curvature", "--grid", f"{grid}x{grid}", "--window", window(low, high)) +
             (("--coordinates", coordinates) if coordinates else ()))


def path_run(scenario, times, settings=()):
  return Run(f"locomotion/{scenario}", tuple(settings), gait=("path", "--times", str(times)))


def cycle_run(scenario, settings=()):
  return Run(f"locomotion/{scenario}", tuple(settings), gait=("holonomy",))


def point_run(scenario, at, settings=()):
  return Run(f"locomotion/{scenario}", tuple(settings), gait=("connection", "--at", ",".join(f"{x:.17g}" for x in at)))


def ellipse(radius, middle=(0, 0), aspect=1, turned=0.0):
  """Settings of a Fourier gait: an ellipse, counterclockwise from the end of its first axis."""
  c, s = np.cos(turned), np.sin(turned)
  row = lambda u, v: f"[[{u + 0.0:.12g},{v + 0.0:.12g}]]"  # noqa: E731  (+ 0.0 makes -0 to 0)
  return (f"gait.fourier.mean=[{middle[0]:.12g},{middle[1]:.12g}]",
          "gait.fourier.cosine=" + row(radius * c, radius * s),
          "gait.fourier.sine=" + row(-aspect * radius * s, aspect * radius * c))


class Field:
  """The file that `curvebody gait SCENARIO curvature` writes."""

  def __init__(self, record, shape):
    self.shape = shape
    self.first, self.second = record[shape[0]], record[shape[1]]
    self.A, self.B, self.M, self.gait = (record[k] for k in ("connection", "curvature", "metric", "gait"))

  def thinned(self, count):
    """Indices of `count` evenly spaced nodes per side, away from the edges."""
    def pick(n):
      step = max((n - 1) // count, 1)
      return (n - 1 - step * (count - 1)) // 2 + step * np.arange(count)
    return np.ix_(pick(len(self.first)), pick(len(self.second)))

  def frame(self, ax, title, equal=True):
    ax.set(xlim=self.first[[0, -1]], ylim=self.second[[0, -1]], title=title, xlabel=LABEL.get(self.shape[0]),
           ylabel=LABEL.get(self.shape[1]))
    ax.grid(False)
    if equal:
      ax.set_aspect("equal")

  def draw_gait(self, ax, **options):
    loop = np.vstack([self.gait, self.gait[:1]])
    line, = ax.plot(*loop.T, **({"color": BLACK, "linewidth": 1.6} | options))
    at = len(loop) // 8
    ax.annotate("", xy=loop[at + 4], xytext=loop[at],
                arrowprops={"arrowstyle": "-|>", "color": line.get_color(), "mutation_scale": 14})

  def arrows(self, ax, axis, title, count=12, equal=True):
    node = self.thinned(count)
    x, y = np.meshgrid(self.first, self.second, indexing="ij")
    v = -self.A[..., axis, :]
    # Lengths are relative to the window, so that both variables have the same weight in any units.
    spans = np.array([np.ptp(self.first), np.ptp(self.second)])
    arrow = v * spans if not equal else v
    size = np.nanmax(np.hypot(arrow[node][..., 0], arrow[node][..., 1]))
    ax.quiver(x[node], y[node], arrow[node][..., 0], arrow[node][..., 1], color=BLUE, pivot="mid", width=0.006,
              scale_units="width", scale=(size if size > 1e-12 else 1) * count * 1.05)
    self.draw_gait(ax, linewidth=1, color=GREY)
    self.frame(ax, title, equal)

  def height(self, ax, axis, title, equal=True, gait=True, bar="right"):
    B = self.B[..., axis].T
    most = np.nanmax(np.abs(B))
    most = most if most > 1e-12 else 1
    mesh = ax.pcolormesh(self.first, self.second, B, cmap=HEIGHT, vmin=-most, vmax=most, shading="gouraud",
                         rasterized=True)
    ax.contour(self.first, self.second, B, levels=np.linspace(-most, most, 13), colors=GREY, linewidths=0.3)
    if np.nanmin(B) < -1e-12 and np.nanmax(B) > 1e-12:
      ax.contour(self.first, self.second, B, levels=[0], colors=BLACK, linewidths=1.8)
    bar = plt.colorbar(mesh, ax=ax, location=bar, shrink=0.85, pad=0.02, aspect=24)
    bar.ax.tick_params(labelsize=7)
    bar.formatter.set_powerlimits((-2, 2))
    bar.update_ticks()
    bar.ax.yaxis.get_offset_text().set_fontsize(7)
    if gait:
      self.draw_gait(ax)
    self.frame(ax, title, equal)

  def ellipses(self, ax, title, count=8, equal=True):
    node = self.thinned(count)
    x, y = np.meshgrid(self.first, self.second, indexing="ij")
    t = np.linspace(0, 2 * np.pi, 60)
    spans = np.array([np.ptp(self.first), np.ptp(self.second)])
    rings = []
    for place, M in zip(np.stack([x[node], y[node]], axis=-1).reshape(-1, 2), self.M[node].reshape(-1, 2, 2)):
      value, vector = np.linalg.eigh(M)
      if np.all(value > 0):
        rings.append((place, vector @ (np.stack([np.cos(t), np.sin(t)]) / np.sqrt(value)[:, None])))
    widest = max(np.max(np.abs(ring) / spans[:, None]) for _, ring in rings)
    for place, ring in rings:
      ax.plot(*(place[:, None] + ring * (0.46 / count / widest)), color=BLUE, linewidth=0.9)
    self.draw_gait(ax, linewidth=1, color=GREY)
    self.frame(ax, title, equal)


def draw_bodies(ax, field, body, count, title, size=0.8, equal=True, color=BLACK):
  """Draws the body at a grid of shapes. `body` maps a shape to the body's polylines, [points, 2] each, in the body
  frame."""
  spans = np.array([np.ptp(field.first), np.ptp(field.second)])
  pick = [np.linspace(f[0], f[-1], 2 * count + 1)[1::2] for f in (field.first, field.second)]
  everything = [(np.array([u, v]), body([u, v])) for u in pick[0] for v in pick[1]]
  widest = max(np.max(np.ptp(np.vstack(lines), axis=0)) for _, lines in everything)
  scale = spans / count * size / widest if not equal else np.min(spans) / count * size / widest
  for place, lines in everything:
    points = np.vstack(lines)
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    for line in lines:
      ax.plot(*(place + (line - middle) * scale).T, color=color, linewidth=1.2, solid_capstyle="round")
  field.draw_gait(ax, linewidth=1, color=ORANGE)
  field.frame(ax, title, equal)


def chain(r, length=1.0, links=3):
  """Ends and hinges of a chain of straight links in the frame of the middle link; r: joint angles, signs as in the
  models."""
  base, l = (links - 1) // 2, length / links
  heading = np.zeros(links)
  for k in range(base + 1, links):
    heading[k] = heading[k - 1] + r[k - 1]
  for k in range(base - 1, -1, -1):
    heading[k] = heading[k + 1] - r[k]
  steps = l * np.stack([np.cos(heading), np.sin(heading)], axis=1)
  points = np.vstack([[0, 0], np.cumsum(steps, axis=0)])
  return points - (points[base] + points[base + 1]) / 2


def moved(points, g):
  """Points of the plane moved by g = (x, y, theta)."""
  c, s = np.cos(g[2]), np.sin(g[2])
  return points @ np.array([[c, s], [-s, c]]) + g[:2]


def draw_path(ax, record, snapshots, body=None, shades=(0.25, 1.0)):
  """Draws the path of the group element, and the body at evenly spaced rows: by `body`, a function of the shape, or
  from the record's /plot_position."""
  g, r = record["group"], record["shape"]
  ax.plot(g[:, 0], g[:, 1], color=BLUE, linewidth=1)
  for k, row in enumerate(np.linspace(0, len(g) - 1, snapshots).round().astype(int)):
    part = k / max(snapshots - 1, 1)
    x = moved(body(r[row]), g[row]) if body else record["plot_position"][row][:, :2]
    ax.plot(*x.T, "-", color=BLACK, alpha=shades[0] + (shades[1] - shades[0]) * part, linewidth=1 + part,
            solid_capstyle="round")
    ax.plot(*g[row, :2], "o", color=VERMILION, markersize=3.5)
  ax.set_aspect("equal", adjustable="datalim")


def shift(numbers):
  """Distance of the translation in an element of SE(2) or R, or in a vector of its algebra."""
  return float(np.hypot(numbers[0], numbers[1])) if len(numbers) > 1 else float(abs(numbers[0]))
