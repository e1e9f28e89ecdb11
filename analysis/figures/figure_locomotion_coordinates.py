#!/usr/bin/python3
"""Minimum-perturbation coordinates: the frame in which the integral of the curvature is closest to a gait's displacement."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most
from figure_purcell import MINIMUM, RADII, cycle
from locomotion import Field, field_run, shift
from style import BLUE, VERMILION, plt

TITLE = "Purcell's swimmer in minimum-perturbation coordinates"
CAPTION = ("Components of −A and the curvature along x: left in the frame of the middle link, right in the frame g "
           "h(r), which minimises the connection over the window (−2.5, 2.5)². The curvature rotates with the frame; "
           "lengths of gaits do not change. Each panel has its own scale of arrows. Last row: root mean square of the "
           "components of A over the window, and the error of the corrected body velocity integral for circles, "
           "divided by the exact shift.")
PLAIN = field_run("purcell", (-2.5, -2.5), (2.5, 2.5))
LEAST = field_run("purcell", (-2.49, -2.49), (2.49, 2.49), settings=MINIMUM)
NAMES = ("x", "y", r"\theta")


def runs(full):
  return [PLAIN, LEAST] + [cycle(a, settings) for a in RADII for settings in ((), MINIMUM)]


def draw(records, full):
  canvas = plt.figure(figsize=(7.6, 14))
  fields = [Field(records[run], ("alpha1", "alpha2")) for run in (PLAIN, LEAST)]
  axes = canvas.subplots(5, 2).T
  for row, field, prime in zip(axes, fields, ("", "'")):
    for axis, name in enumerate(NAMES):
      field.arrows(row[axis], axis, f"$-A{prime}_{name}$")
    field.height(row[3], 0, f"$B{prime}_x$")
  size = np.array([[np.sqrt(np.mean(f.A[:, :, axis] ** 2)) for axis in range(3)] for f in fields])
  place = np.arange(3)
  axes[0, 4].bar(place - 0.2, size[0], 0.4, color=VERMILION, label="middle link")
  axes[0, 4].bar(place + 0.2, size[1], 0.4, color=BLUE, label="minimum perturbation")
  axes[0, 4].set_xticks(place, [f"$A_{name}$" for name in NAMES])
  axes[0, 4].set(title="root mean square over the window")
  axes[0, 4].legend()
  errors = []
  for settings, colour, label in (((), VERMILION, "middle link"), (MINIMUM, BLUE, "minimum perturbation")):
    answers = [records.answer(cycle(a, settings)) for a in RADII]
    errors.append(np.array([np.linalg.norm(np.array(answer["cbvi"]) - answer["log"]) / shift(answer["log"])
                            for answer in answers]))
    axes[1, 4].semilogy(RADII, errors[-1], "o-", color=colour, label=label, markersize=4)
  axes[1, 4].set(xlabel="radius of the circle", title="error of the integral / shift")
  axes[1, 4].legend()
  plain, least = ([records.answer(cycle(a, s)) for a in RADII] for s in ((), MINIMUM))
  apart = max(abs(a["length"] - b["length"]) for a, b in zip(plain, least))
  shifts = max(abs(shift(a["g"]) - shift(b["g"])) for a, b in zip(plain, least))
  angles = max(abs(a["g"][2] - b["g"][2]) for a, b in zip(plain, least))
  node = np.searchsorted(RADII, 0.99)
  return figure.Drawing(canvas, [
      at_most("lengths of gaits in both frames, difference", float(apart), 1e-11),
      at_most("shifts of circles (which do not rotate) in both frames, difference", float(shifts), 1e-11),
      at_most("rotation in both frames, difference, rad", float(angles), 1e-11),
      Check("root mean square of A over the window: all components are smaller in the new frame",
            ", ".join(f"{b / a:.3f}" for a, b in zip(*size)), "below 1", bool(np.all(size[1] < size[0]))),
      Check("circles of radius 1 to 2.2: the integral's error in the new frame / in the old frame",
            f"at most {np.max(errors[1][node:] / errors[0][node:]):.3f}", "below 0.5",
            bool(np.all(errors[1][node:] < 0.5 * errors[0][node:])))])


if __name__ == "__main__":
  figure.main(globals())
