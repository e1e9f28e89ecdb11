#!/usr/bin/python3
"""Figure 2.4: the centre of mass of a ring jumps when the ring crosses a great circle."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import orbits
from checks import Check, at_most
from pictures import draw_sphere
from runs import Run
from style import BLUE, GREY, VERMILION, equal_scale, picture_axes, plt

TITLE = "Figure 2.4: the centre of mass of a ring on the sphere jumps"
CAPTION = ("An elastic ring moves from the northern to the southern hemisphere. Its Karcher mean (filled dot) is the "
           "closer pole; the open dot is the other point that has the same distance from all points of the ring. At "
           "the equator the mean jumps by π.")
RUN = Run("basics/ring-s2")
BROWN = "#8B5A2B"


def runs(full):
  return [RUN]


def draw(records, full):
  record = records[RUN]
  t, x, mean = record.times(), record["plot_position"], record["karcher_mean"]
  a = np.arccos(x[:, :, 2])
  count = x.shape[1]
  rest = 2 * np.arcsin(np.sin(np.longdouble(1)) * np.sin(np.longdouble(np.pi) / count))
  exact = orbits.ring(count, 1, rest, 1, 1, 1, t)
  jump = int(np.argmax(np.diff(np.sign(mean[:, 2])) != 0))  # the mean is the north pole in row `jump`, the south pole in the next
  crossing = np.interp(np.pi / 2, exact[jump:jump + 2].astype(float), t[jump:jump + 2].astype(float))
  poles = np.max(np.abs(np.abs(mean[np.isfinite(mean[:, 2]), 2]) - 1))

  canvas = plt.figure(figsize=(10.5, 6.2))
  grid = canvas.add_gridspec(2, 3, height_ratios=(1.6, 1))
  for column, (row, title) in enumerate(((0, "start"), (jump, "about to cross"), (len(t) - 1, "end"))):
    axes = picture_axes(canvas, grid[0, column])
    draw_sphere(axes)
    ring = x[row][list(range(count)) + [0]]
    axes.plot(*ring.T, "-o", color=BROWN, linewidth=2, markersize=2.5)
    axes.plot(*mean[row:row + 1].T, "o", color=VERMILION, markersize=8)
    axes.plot(*(-mean[row:row + 1].T), "o", color=VERMILION, markersize=8, markerfacecolor="white")
    axes.view_init(elev=12, azim=30)
    equal_scale(axes, (0, 0, 0), 0.8)
    axes.set_title(f"{title}, $t = {float(t[row]):.2f}$")
  lower = canvas.add_subplot(grid[1, :])
  lower.plot(t[:jump + 1], mean[:jump + 1, 2], color=VERMILION, label="height of the Karcher mean")
  lower.plot(t[jump + 1:], mean[jump + 1:, 2], color=VERMILION)
  lower.plot(t, x[:, 0, 2], "--", color=BROWN, label="height of the ring")
  lower.axvline(crossing, color=BLUE, linewidth=0.9, label=f"ring on the equator, $t = {crossing:.4f}$")
  lower.axhline(0, color=GREY, linewidth=0.6)
  lower.set(xlabel="time $t$", ylabel="height on the sphere", xlim=(0, float(t[-1])))
  lower.legend(loc="lower left")
  return figure.Drawing(canvas, [
      at_most("polar angle of the ring minus the solution of its reduced equation",
              float(np.max(np.abs(a - exact[:, None]))), 1e-12),
      at_most("Karcher mean at a pole: |height| - 1", float(poles), 1e-12),
      Check("the mean jumps between the rows around the crossing",
            f"rows at t = {float(t[jump]):.3f}, {float(t[jump + 1]):.3f}", f"{crossing:.4f} between them",
            bool(exact[jump] < np.pi / 2 < exact[jump + 1]))])


if __name__ == "__main__":
  figure.main(globals())
