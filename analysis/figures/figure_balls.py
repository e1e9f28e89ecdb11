#!/usr/bin/python3
"""Balls from cork to steel rise and sink in water: approach to the terminal velocity, and the integrator's order."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, near
from immersed import GRAVITY, WATER, Body, fall
from runs import Run
from style import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION, panels

TITLE = "Balls in water: approach to the terminal velocity"
CAPTION = ("Balls of radius 5 cm, from rest. Left: upward velocity; dots are ±v∞ tanh(t g'/v∞), v∞² = 2|m - ρV|g/(ρ Cd "
           "A), Cd = 4/3, g' = |m - ρV|g/(m + ρV/2). Right: largest error of the velocity, divided by v∞, over the "
           "step. There the closed solution uses the volume and area of the mesh.")
DENSITY = {"cork": 240.0, "ice": 917.0, "silicone": 1297.4, "glass": 2500.0, "steel": 7850.0}
COLOURS = dict(zip(DENSITY, (ORANGE, GREEN, BLUE, PURPLE, VERMILION)))
STEPS = (0.01, 0.005, 0.0025, 0.00125, 0.0003125)
RADIUS = 0.05


def run(step):
  return Run("immersed/balls", (f"integrator.step={step:g}", f"record.every={round(0.01 / step)}"))


def runs(full):
  return [run(step) for step in STEPS]


def draw(records, full):
  canvas, ((speeds, errors),) = panels(1, 2, 5.6, 4)
  volume, area = 4 / 3 * np.pi * RADIUS ** 3, np.pi * RADIUS ** 2
  checks = []
  for name, density in DENSITY.items():
    colour, found = COLOURS[name], []
    for step in STEPS:
      body = Body(records[run(step)], name)
      t, v = body.time, body["plot_velocity"][:, 2]
      force = (body.force("gravity") + body.force("buoyancy"))[0, 2]
      drag = abs(body.force("drag")[-1, 2]) / v[-1] ** 2
      exact = np.sign(force) * fall(t, body["inertia"][0, 5, 5], abs(force), drag)[1]
      found.append(float(np.max(np.abs(v - exact)) / abs(exact[-1])))
    heavy = (density - WATER) * volume * GRAVITY
    ideal = -np.sign(heavy) * fall(t, (density + WATER / 2) * volume, abs(heavy), WATER * 2 / 3 * area)[1]
    speeds.plot(t, v, color=colour, label=f"{name}, {density:g} kg/m³")
    speeds.plot(t[::10], ideal[::10], "o", color=colour, markersize=3)
    errors.loglog(STEPS, found, "o-", color=colour, linewidth=1)
    order = float(np.polyfit(np.log(STEPS), np.log(found), 1)[0])
    checks += [at_most(f"{name}: velocity minus that of a sphere, Cd = 4/3, at all times, / final velocity (an inscribed mesh)",
                       float(np.max(np.abs(v - ideal)) / np.max(np.abs(ideal))), 5e-3),
               at_most(f"{name}: (velocity - closed solution) / v∞, h = {STEPS[-1]:g} s", found[-1], 1e-6),
               near(f"{name}: order in h", order, 2, 0.1)]
  errors.loglog(STEPS, 0.3 * np.array(STEPS) ** 2 / STEPS[0], color=GREY, linewidth=0.8)
  errors.annotate("$h^2$", (STEPS[1], 0.3 * STEPS[1] ** 2 / STEPS[0]), xytext=(-12, 4), textcoords="offset points",
                  color=GREY)
  speeds.set(xlabel="time (s)", ylabel="velocity upwards (m/s)", xlim=(0, 2), ylim=(-2.8, 2))
  speeds.legend(loc="upper right", fontsize=7.5, ncols=2)
  errors.set(xlabel="step $h$ (s)", ylabel="error of the velocity / $v_\\infty$")
  return figure.Drawing(canvas, checks)


if __name__ == "__main__":
  figure.main(globals())
