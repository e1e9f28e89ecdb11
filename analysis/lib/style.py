"""Common style of all figures: sizes, grids, and Okabe and Ito's colours, which suit all kinds of colour vision."""
import logging

import matplotlib
from matplotlib.collections import QuadMesh, TriMesh
from matplotlib.colors import LinearSegmentedColormap

matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402  (the backend is chosen first)
from mpl_toolkits.mplot3d.art3d import Poly3DCollection  # noqa: E402

BLACK, ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILION, PURPLE = (
    "#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2", "#D55E00", "#CC79A7")
GREY = "#777777"

SPACE_COLOR = {"h3": VERMILION, "s3": BLUE, "e3": BLACK, "h2": VERMILION, "s2": BLUE, "e2": BLACK}
SPACE_LINE = {"h3": "-", "s3": "--", "e3": ":", "h2": "-", "s2": "--", "e2": ":"}
SPACE_NAME = {"h3": "$H^3$", "s3": "$S^3$", "e3": "$E^3$", "h2": "$H^2$", "s2": "$S^2$", "e2": "$E^2$"}
ORDER_COLOR = {2: ORANGE, 4: GREEN, 6: BLUE}

DPI, PRINT_DPI = 160, 300  # of PNG files, and of the maps of colours in PDF files
MANY = 1000  # faces

logging.getLogger("fontTools").setLevel(logging.ERROR)  # it warns of the dates of fonts
plt.rcParams.update({
    "figure.dpi": DPI, "figure.constrained_layout.use": True, "pdf.fonttype": 42,
    "font.size": 9, "axes.titlesize": 9.5, "axes.labelsize": 9, "xtick.labelsize": 8, "ytick.labelsize": 8,
    "legend.fontsize": 8, "legend.frameon": True,
    "legend.framealpha": 0.9, "legend.edgecolor": "none", "lines.linewidth": 1.5, "lines.markersize": 5,
    "axes.grid": True, "grid.color": "#dddddd", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "axes.spines.top": False, "axes.spines.right": False, "mathtext.fontset": "cm"})


def panels(rows, columns, width=4.6, height=3.5, **options):
  """A figure and its axes as a two-dimensional array."""
  return plt.subplots(rows, columns, figsize=(width * columns, height * rows), squeeze=False, **options)


# Blue: shrinking; red: stretching; a grey that is visible on white: no change.
STRETCH = LinearSegmentedColormap.from_list("stretch", [BLUE, SKY, "#b0b0b0", ORANGE, VERMILION])


def rasterize(figure):
  """Makes images of maps of colours and of surfaces of many faces, of which PDF viewers would show the seams."""
  for artist in figure.findobj(lambda a: isinstance(a, (QuadMesh, TriMesh, Poly3DCollection))):
    artist.set_rasterized(isinstance(artist, (QuadMesh, TriMesh)) or len(artist.get_paths()) > MANY)


def picture_axes(figure, *position):
  """Axes for a three-dimensional drawing, without box and ticks. Later drawings cover earlier ones."""
  axes = figure.add_subplot(*position, projection="3d")
  axes.computed_zorder = False
  axes.set_axis_off()
  return axes


def legend_below(figure, handles, columns=3):
  """One legend for all panels, under the figure."""
  figure.legend(handles=handles, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=columns)


def equal_scale(axes, center, radius):
  """Sets the limits of three-dimensional axes to the cube of half-width `radius` around `center`."""
  for set_limits, c in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), center):
    set_limits(c - radius, c + radius)
  axes.set_box_aspect((1, 1, 1), zoom=1.25)
