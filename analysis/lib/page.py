"""The page of a figure, and the check that all its texts can be read.

The page is the box around everything that is drawn, with a margin. Every visible text and legend has to lie on it. No
two tick labels of one axis may overlap, no title or axis label may overlap a text of another panel, and no legend a
title, an axis label or a tick label. Matplotlib reserves no space for the length of an axis label or title, so that a
long one may be cut off or reach into another panel.
"""
from matplotlib.axes import Axes
from matplotlib.axis import Axis
from matplotlib.legend import Legend
from matplotlib.text import Annotation, Text
from mpl_toolkits.mplot3d.art3d import Text3D
from mpl_toolkits.mplot3d.proj3d import proj_transform

MARGIN = 0.1  # inches around everything that is drawn
SLACK = 1  # pixels by which two boxes may overlap, since a box is a little larger than its letters


class TextError(Exception):
  """A text of a figure cannot be read."""


def page_of(canvas):
  """The page in inches, for `savefig(bbox_inches=...)`. The figure must have been drawn."""
  return canvas.get_tightbbox(canvas.canvas.get_renderer()).padded(MARGIN)


def check(canvas, page):
  """Raises TextError with all texts that cannot be read on the page. The figure must have been drawn."""
  found = outside(canvas, page) + overlaps(canvas)
  if found:
    raise TextError("; ".join(found))


def outside(canvas, page):
  box = page.transformed(canvas.dpi_scale_trans).padded(SLACK)
  shown = ((artist, extent(artist)) for artist in visible(canvas))
  return [f"{name(artist)} is outside the page" for artist, part in shown
          if not (box.contains(*part.min) and box.contains(*part.max))]


def overlaps(canvas):
  panels = [axes for axes in canvas.axes if axes.get_visible()]
  ticks = {axes: [tick_labels(axis) for axis in axes._axis_map.values()] if axes.axison else [] for axes in panels}
  titles = {axes: headings(axes) for axes in panels}
  found = [(a, b) for axes in panels for labels in ticks[axes] for i, a in enumerate(labels) for b in labels[i + 1:]]
  found += [(a, b) for i, axes in enumerate(panels) for k, other in enumerate(panels) if i != k
            for a in titles[axes] for b in sum(ticks[other], []) + (titles[other] if k > i else [])]
  found += [(legend, b) for legend in visible(canvas) if isinstance(legend, Legend)
            for axes in panels for b in sum(ticks[axes], titles[axes])]
  return [f"{name(a)} and {name(b)} overlap" for a, b in found if overlap(a, b)]


def overlap(a, b):
  """True if the boxes overlap; a box of a text that is turned by other angles than 90 degrees is too large to tell."""
  if any(isinstance(text, Text) and text.get_rotation() % 90 for text in (a, b)):
    return False
  return extent(a).padded(-SLACK / 2).overlaps(extent(b).padded(-SLACK / 2))


def extent(artist):
  """The box of a text or legend in pixels. Matplotlib projects a place in space only while it draws."""
  if not isinstance(artist, Text3D):
    return artist.get_window_extent()
  x, y, z = artist.get_position_3d()
  artist.set_position(proj_transform(x, y, z, artist.axes.get_proj())[:2])
  box = artist.get_window_extent()
  artist.set_position((x, y))
  return box


def headings(axes):
  """Titles and axis labels."""
  texts = [a for a in axes.get_children() if isinstance(a, Text) and a not in axes.texts]
  if axes.axison:
    texts += [axis.label for axis in axes._axis_map.values() if axis.get_visible()]
  return [text for text in texts if text.get_visible() and text.get_text().strip()]


def tick_labels(axis):
  """The tick labels that are drawn: those within the limits of the axis."""
  if not axis.get_visible():
    return []
  low, high = sorted(axis.get_transform().transform(axis.get_view_interval()))
  room = 1e-6 * (high - low)
  ticks = [tick for tick in axis.get_major_ticks() + axis.get_minor_ticks()
           if tick.get_visible() and low - room <= axis.get_transform().transform(tick.get_loc()) <= high + room]
  return [label for tick in ticks for label in (tick.label1, tick.label2) if label.get_visible() and label.get_text()]


def visible(artist):
  """All texts and legends below an artist that are drawn."""
  if not artist.get_visible():
    return
  if isinstance(artist, Axis):
    yield from tick_labels(artist)
    children = [artist.label, artist.offsetText]
  else:
    children = [child for child in artist.get_children()
                if not (isinstance(child, Axis) and isinstance(artist, Axes) and not artist.axison)]
  if isinstance(artist, Legend) or isinstance(artist, Text) and artist.get_text().strip() and not hidden(artist):
    yield artist
  for child in children:
    yield from visible(child)


def hidden(text):
  """True if the text lies outside the panel that it is clipped to, or points to a place outside of it."""
  if isinstance(text, Annotation):
    box = text.get_tightbbox(text.figure.canvas.get_renderer())
    return box is None or box.width <= 0
  clipped = text.get_clip_on() and (text.get_clip_box() is not None or text.get_clip_path() is not None)
  return text.axes is not None and clipped and not extent(text).overlaps(text.axes.bbox)


def name(artist):
  return "a legend" if isinstance(artist, Legend) else f"“{artist.get_text()}”".replace("\n", " ")
