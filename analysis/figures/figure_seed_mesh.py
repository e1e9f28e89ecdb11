#!/usr/bin/python3
"""The maple seed's steady fall and spin over the resolution of its mesh."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from autorotation import fall
from checks import Check, at_most
from runs import Run
from style import BLUE, ORANGE, panels
from swimmers import drift, last_third, spin

TITLE = "The maple seed's autorotation on coarse and fine meshes"
CAPTION = ("The resolution is the number of faces around the wing's disc; nut and vein have corresponding meshes. Fall "
           "speed and spin are means over the last third of 4 s and over five tilts; bars show the minimum and the "
           "maximum. (Paper: section 7.4, where a coarse mesh kept the seed from autorotation.)")


def resolutions(full):
  return (8, 12, 16, 24, 32, 48, 64) + ((96, 128) if full else ())


def run(resolution):
  return Run("immersed/maple-seed", (f"bodies.0.shape.resolution={resolution}", "bodies.0.repeat.count=5"))


def runs(full):
  return [run(resolution) for resolution in resolutions(full)]


def draw(records, full):
  canvas, ((left, right),) = panels(1, 2, 5, 3.6)
  sizes, rows, falls, spins, turning = resolutions(full), [], [], [], 0
  for resolution in sizes:
    record = records[run(resolution)]
    down, turn = fall(record), spin(record)[..., 2]
    down_mean, turn_mean = np.mean(last_third(down), axis=0), np.mean(last_third(turn), axis=0)
    settled = [i for i in range(down.shape[1]) if max(drift(down[:, i]), drift(turn[:, i])) < 0.01]
    turning += len(settled)
    alike = [i for i in settled if np.sign(turn_mean[i]) == np.sign(turn_mean[settled[0]])] if settled else []
    falls.append(down_mean[alike])
    spins.append(np.abs(turn_mean[alike]))
    rows.append([resolution, f"{len(settled)} of {down.shape[1]}", f"{np.mean(falls[-1]):.4f}",
                 f"{np.mean(spins[-1]):.3f}"])
  for axes, values, label, colour in ((left, falls, "fall speed (m/s)", BLUE), (right, spins, "spin (rad/s)", ORANGE)):
    mean = np.array([np.mean(v) for v in values])
    bars = [mean - [np.min(v) for v in values], np.array([np.max(v) for v in values]) - mean]
    axes.errorbar(sizes, mean, bars, color=colour, marker="o", capsize=3)
    axes.set(xlabel="resolution (faces per turn)", ylabel=label, ylim=(0, 1.25 * np.max(mean)), xscale="log")
    axes.set_xticks(sizes, [str(s) for s in sizes])
    axes.minorticks_off()
  finest = float(np.mean(falls[-1])), float(np.mean(spins[-1]))
  total = 5 * len(sizes)
  checks = [Check("seeds that reach a steady fall and spin", f"{turning} of {total}", "all", turning == total)]
  for name, k, bound in (("resolution 8 and the finest", 0, 0.15), ("the two finest", -2, 0.02)):
    checks += [at_most(f"{name}: relative difference of the fall speed", abs(np.mean(falls[k]) / finest[0] - 1), bound),
               at_most(f"{name}: relative difference of the spin", abs(np.mean(spins[k]) / finest[1] - 1), bound)]
  table = figure.Table("Steady fall and spin", ["resolution", "settled", "fall m/s", "spin rad/s"], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
