#!/usr/bin/python3
"""Figure 2.5: an interval as reference body, placed in E2, S2 and H2 as a string of fixed length."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most
from pictures import draw_circle, label_end, to_picture
from record import chord_distance
from runs import Run
from style import BLUE, GREY, SPACE_COLOR, SPACE_LINE, SPACE_NAME, VERMILION, plt

TITLE = "Figure 2.5: a string of fixed length in E², S² and H²"
CAPTION = ("The reference body is the interval [0, L]. It may be placed in a space in any way that keeps its length. "
           "This is one constraint for 25 particles; its multiplier is the tension, which is the same along the "
           "string. Springs keep neighbours apart. Dots mark the end s = 0, with the time next to them; S² and H² are "
           "projected conformally. Below: tension (dots: Radau IIA), and change of the length, computed as a sum of "
           "distances between the drawn points.")
CURVED = {"e2": 0, "s2": 1, "h2": -1}
SHOTS = 4


def run(space, radau=False):
  return Run(f"constraints/string-{space}", ("integrator.name=radau_iia", "integrator.stages=4") if radau else ())


def runs(full):
  return [run(space, radau) for space in CURVED for radau in (False, True)]


def length(record, space):
  x = record["plot_position"][..., :3 if CURVED[space] else 2]
  return np.sum(chord_distance(x[:, 1:], x[:, :-1], CURVED[space]), axis=1)


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 8.6))
  above, below = canvas.subfigures(2, 1, height_ratios=(2, 1))
  shots = above.subplots(2, 2).flat
  reference(shots[0])
  tension, change = below.subplots(1, 2)
  checks = []
  for ax, space in zip(shots[1:], CURVED):
    record, other = records[run(space)], records[run(space, True)]
    picture(ax, record, space)
    t, total = record["time"], length(record, space)
    look = {"color": SPACE_COLOR[space], "linestyle": SPACE_LINE[space]}
    tension.plot(t, record["multiplier"][:, 0], label=SPACE_NAME[space], **look)
    tension.plot(other["time"][::10], other["multiplier"][::10, 0], "o", color=SPACE_COLOR[space], markersize=3)
    error = np.abs(total / total[0] - 1)
    change.semilogy(t, np.maximum(error, 1e-17), **look)
    name = space.upper()
    checks += [
        at_most(f"{name}: relative change of the length", float(np.max(error)), 1e-13),
        at_most(f"{name}: difference of the tension, Radau IIA 4 and Lobatto 4",
                float(np.max(np.abs(record["multiplier"] - other["multiplier"]))), 1e-5),
        at_most(f"{name}: difference of positions, Radau IIA 4 and Lobatto 4",
                float(np.max(np.abs(record["plot_position"] - other["plot_position"]))), 1e-7),
        at_most(f"{name}: relative drift of the energy", record.drift("energy"), 1e-7),
        at_most(f"{name}: drift of the Killing momenta", record.drift("killing_momentum"), 1e-12)]
  tension.set(xlabel="time $t$", ylabel="tension", xlim=(0, 3), ylim=(-0.4, 0.5))
  tension.legend(loc="upper right", ncols=3)
  change.set(xlabel="time $t$", ylabel="relative change of length", xlim=(0, 3), ylim=(1e-17, 1e-12))
  return figure.Drawing(canvas, checks)


def reference(ax):
  ax.plot([0, 1], [0, 0], color=GREY, linewidth=2.5)
  ax.plot(np.linspace(0, 1, 25), np.zeros(25), "|", color=GREY, markersize=7)
  ax.plot(0, 0, "o", color=VERMILION)
  for s, word in ((0, "0"), (1, "$L$")):
    ax.annotate(word, (s, 0), textcoords="offset points", xytext=(0, -18), ha="center")
  ax.annotate("reference body $B = [0, L]$", (0.5, 0), textcoords="offset points", xytext=(0, 18), ha="center")
  ax.annotate("$q_t: B \\to X$", (0.5, 0), textcoords="offset points", xytext=(0, -44), ha="center")
  ax.set(xlim=(-0.1, 1.1), ylim=(-1, 1))
  ax.set_axis_off()


def picture(ax, record, space):
  x, t = to_picture(record["plot_position"]) if CURVED[space] else record["plot_position"], record["time"]
  for shot in range(SHOTS):
    k = round(shot * (len(t) - 1) / (SHOTS - 1))
    ax.plot(*x[k, :, :2].T, color=BLUE, alpha=0.3 + 0.7 * shot / (SHOTS - 1))
    ax.plot(*x[k, 0, :2], "o", color=VERMILION, markersize=4)
    label_end(ax, x[k, :, :2], f"$t$ = {t[k]:g}", 15)
  ax.set(aspect="equal", xlabel="$x$", ylabel="$y$", title=f"{SPACE_NAME[space]}")
  ax.margins(0.28, 0.14)
  if space == "h2":
    limits = ax.get_xlim(), ax.get_ylim()
    draw_circle(ax)
    ax.set(xlim=limits[0], ylim=limits[1])


if __name__ == "__main__":
  figure.main(globals())
