#!/usr/bin/python3
"""Sweeps: orders of integrators, gaits of many sizes and ratios of drags, a pendulum's first turn over the top."""
import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.ticker import FormatStrFormatter

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import elastic
import figure
from checks import Check, at_most, between, fitted_order, near
from runs import Sweep
from style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SKY, SPACE_NAME, VERMILION, plt

TITLE = "Sweeps: convergence, gaits, chaos"
CAPTION = ("Left: error of the separation of the elastic rod at t = 10 over the step, from one sweep over two spaces, "
           "seven integrators and ten steps (S³ dashed, H³ solid). Middle: efficiency X²/length² of Purcell's swimmer "
           "for circles of shapes, over their radius and the ratio of drags. Right: time at which a double pendulum "
           "with equal arms and masses, released at rest, first turns over, up to 60 (l/g)^(1/2); white: it does not. "
           "Inside the broken line its energy is too small.")
METHODS = Sweep("methods", of="thesis/elastic-rod-h3")
GAITS = Sweep("purcell", of="locomotion/purcell")
COLOURS = (SKY, BLUE, PURPLE, ORANGE, VERMILION, GREEN, GREY)
ORDERS = (2, 4, 6, 2, 4, 6, 4)
LINES = ("--", "-")
SIDE, FULL_SIDE = 100, 600


def pendulum(full):
  side = FULL_SIDE if full else SIDE
  return Sweep("double-pendulum", tuple(f"sweep.over.{k}.count={side}" for k in (0, 1)), of="systems/double-pendulum")


def runs(full):
  return [METHODS, GAITS, pendulum(full)]


def name_of(method):
  return method.strip("{}").replace("name: ", "").replace("stages: ", "").replace(",", "")


def draw_methods(axes, record):
  exact = [float(elastic.separation("rod", 0, space, np.array([10.0]))[0]) for space in ("s3", "h3")]
  step, end, methods = record["step"], record["end"], record.labels("method")
  checks = []
  for m, (method, order) in enumerate(zip(methods, ORDERS)):
    for k, space in enumerate(record.labels("space")):
      error = abs(end[k, m] - exact[k])
      axes.loglog(step, np.maximum(error, 1e-17), LINES[k], color=COLOURS[m], linewidth=1,
                  label=name_of(method) if k else None)
      found, _ = fitted_order(step, error, 1e-12)
      checks.append(between(f"order of {name_of(method)} in {space}", found, order - 0.3, order + 0.6))
  for space, line in zip(record.labels("space"), LINES):
    axes.plot([], [], line, color=BLACK, linewidth=1, label=SPACE_NAME[space])
  axes.legend(loc="upper center", bbox_to_anchor=(0.45, -0.24), ncols=3, fontsize=7, columnspacing=0.8,
              handlelength=1.4)
  axes.set(xlabel="step $h$", ylabel="error of separation, $t = 10$", ylim=(1e-16, 1), title="one sweep of 140 runs")
  return checks


def draw_gaits(axes, record):
  ratio, size, efficiency, way = (record[n] for n in ("ratio", "gait.fourier.cosine.0.0", "efficiency", "way"))
  mesh = axes.pcolormesh(size, ratio, 100 * efficiency, shading="gouraud")
  axes.figure.colorbar(mesh, ax=axes, location="bottom", label="efficiency (%)")
  axes.contour(size, ratio, 100 * efficiency, levels=[0.5, 1, 1.5, 2, 2.5, 3, 3.5], colors=[BLACK], linewidths=0.5)
  axes.set(xlabel="radius of the circle (rad)", ylabel="ratio of drags", title="Purcell's swimmer")
  power = np.log(efficiency[1:, 1] / efficiency[1:, 0]) / np.log(size[1] / size[0])
  # the shift is of second order in the radius, the length of first order
  return [at_most("with equal drags along and across: largest shift per cycle", np.max(abs(way[0])), 1e-13),
          between("small circles: exponent of the radius in the efficiency", power, 1.97, 2.01)]


def draw_pendulum(axes, record):
  a, b, energy = record["a"], record["b"], record["energy"]
  first = np.fmin(record["upper"], record["lower"])
  mesh = axes.pcolormesh(a, b, first.T, cmap="viridis", norm=LogNorm(vmax=60))
  bar = axes.figure.colorbar(mesh, ax=axes, location="bottom", label="time / $(l/g)^{1/2}$",
                             ticks=(0.5, 1, 2, 5, 10, 20, 50))
  bar.formatter = FormatStrFormatter("%g")
  bar.minorticks_off()
  axes.contour(a, b, energy.T, levels=[-1], colors=[BLACK], linewidths=0.8)
  axes.set(xlabel="upper angle (rad)", ylabel="lower angle (rad)", title="first turn over",
           xticks=range(-3, 4))
  early = np.nan_to_num(first, nan=99) < 8  # later, round-off may break the symmetry
  mirrored = first[::-1, ::-1]
  return [Check("starts without the energy that turn over", str(int(np.sum(np.isfinite(first[energy < -1])))), "0",
                not np.any(np.isfinite(first[energy < -1]))),
          near("minimum energy at the start", np.min(energy[np.isfinite(energy)]),
               np.min(-2 * np.cos(a)[:, None] - np.cos(b)), 1e-12),
          at_most("turns before t = 8: difference from the mirrored start", np.max(abs(first - mirrored)[early]), 1e-6),
          between("fraction of the starts with enough energy that turn over", np.mean(np.isfinite(first[energy > -1])), 0.4, 1),
          at_most("median gain of energy, rk4 with a step of 0.05", np.median(abs(record["gained"])), 2e-3)]


def draw(records, full):
  canvas, axes = plt.subplots(1, 3, figsize=(7.6, 3.6))
  checks = draw_methods(axes[0], records[METHODS]) + draw_gaits(axes[1], records[GAITS]) + \
      draw_pendulum(axes[2], records[pendulum(full)])
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
