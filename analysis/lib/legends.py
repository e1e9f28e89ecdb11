"""Moves legends off the curves: a legend that covers something is moved to a free place. If no place is free, the
axes get free space at the top. If that is not enough, or the legend is wider than the axes, it goes below them."""
import numpy as np
from matplotlib.collections import PathCollection
from matplotlib.transforms import Bbox, ScaledTranslation

PLACES = ("upper right", "upper left", "lower right", "lower left", "upper center", "lower center", "center right",
          "center left", "center")
GAP = 0.04  # inches between the labels of the axes and a legend below them
STEP, MOST = 0.06, 9  # fraction of the axis that is added per step, and the maximum number of steps


def settle(canvas, rounds=4):
  """Places all legends; call it after everything is drawn. It does not change three-dimensional axes. A legend below
  the axes makes the panels smaller, so the other legends are checked again."""
  for _ in range(rounds):
    canvas.draw_without_rendering()
    bad = [ax for ax in canvas.axes
           if ax.get_legend() and not hasattr(ax, "get_zlim") and (covered(ax) or (wide(ax) and not under(ax)))]
    if not bad:
      return
    for ax in bad:
      find(ax)


def under(ax):
  return ax.get_legend().get_window_extent().y1 < ax.get_window_extent().y0


def wide(ax):
  return ax.get_legend().get_window_extent().width > ax.get_window_extent().width


def find(ax):
  if not wide(ax):
    for place in PLACES:
      put(ax.get_legend(), place)
      if not covered(ax):
        return
    limits = ax.get_ylim()
    for _ in range(MOST if ax.get_aspect() == "auto" and not mapped(ax) else 0):
      raise_top(ax)
      for place in PLACES[:2] + ("upper center",):
        put(ax.get_legend(), place)
        if not covered(ax):
          return
    ax.set_ylim(limits)
  below(ax)


def mapped(ax):
  """True if the axes show an image or a map in colours."""
  return bool(ax.images) or any(c.get_array() is not None and not isinstance(c, PathCollection) for c in ax.collections)


def put(legend, place):
  legend.set_bbox_to_anchor(None)
  legend._set_loc(legend.codes[place])  # the public `set_loc` exists since matplotlib 3.8


def below(ax):
  """Puts the legend below the labels of the axes, at a distance in inches, which remains if the panel shrinks."""
  put(ax.get_legend(), "upper center")
  space = (ax.get_window_extent().y0 - ax.get_tightbbox().y0) / ax.figure.dpi
  lower = ScaledTranslation(0, -space - GAP, ax.figure.dpi_scale_trans)
  ax.get_legend().set_bbox_to_anchor((0.5, 0), ax.transAxes + lower)


def raise_top(ax):
  scale = ax.yaxis.get_transform()
  low, high = scale.transform(ax.get_ylim())
  ax.set_ylim(top=float(scale.inverted().transform(high + STEP * (high - low))))


def covered(ax):
  """True if the legend covers a curve, a mark, a bar or a text."""
  box = ax.get_legend().get_window_extent()
  box = Bbox.from_extents(box.x0 + 2, box.y0 + 2, box.x1 - 2, box.y1 - 2)
  return any(line_in(line, box) for line in ax.lines if line.get_visible()) or \
      any(patch.get_transform().transform_path(patch.get_path()).intersects_bbox(box, bool(patch.get_fill()))
          for patch in ax.patches if patch.get_visible()) or \
      any(collection_in(c, box) for c in ax.collections) or \
      any(text.get_window_extent().overlaps(box) for text in ax.texts if text.get_text())


def line_in(line, box):
  points = line.get_transform().transform(line.get_path().vertices)
  points = np.ma.filled(np.ma.masked_invalid(points), np.nan)
  if line.get_linestyle() in ("None", "", " ") or len(points) < 2:
    return inside(points, box)
  return any(crosses(points, box))


def inside(points, box):
  x, y = points.T
  return bool(np.any((x > box.x0) & (x < box.x1) & (y > box.y0) & (y < box.y1)))


def crosses(points, box):
  """For each segment of the line: true if it intersects the box (Liang and Barsky)."""
  start, step = points[:-1], np.diff(points, axis=0)
  with np.errstate(divide="ignore", invalid="ignore"):
    a, b = (box.min - start) / step, (box.max - start) / step
  within = (start >= box.min) & (start <= box.max)
  enter = np.where(step == 0, np.where(within, -np.inf, np.inf), np.minimum(a, b))
  leave = np.where(step == 0, np.where(within, np.inf, -np.inf), np.maximum(a, b))
  return np.maximum(enter.max(axis=1), 0) <= np.minimum(leave.min(axis=1), 1)


def collection_in(collection, box):
  """True if scattered marks, lines or areas are in the box. Maps in colours do not count."""
  if isinstance(collection, PathCollection) and len(collection.get_offsets()) and len(collection.get_paths()) == 1:
    return inside(np.asarray(collection.get_offset_transform().transform(collection.get_offsets())), box)
  if collection.get_array() is not None or len(collection.get_paths()) > 2000:
    return False
  return any(collection.get_transform().transform_path(path).intersects_bbox(box, False)
             for path in collection.get_paths())
