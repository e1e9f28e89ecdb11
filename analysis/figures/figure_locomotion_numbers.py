#!/usr/bin/python3
"""Connections, curvatures, metrics and holonomies of the models, compared with extended precision and closed forms."""
import math

import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most
from locomotion import cycle_run, point_run
from locomotion_exact import numbers
from style import BLUE, GREY, ORANGE, VERMILION, plt

TITLE = "Locomotion: numbers of all models"
CAPTION = ("Results of `curvebody gait` compared with reference/locomotion_exact.py, an independent implementation of "
           "the models with 50 digits (it computes curvatures and link velocities by differences and holonomies by "
           "quadrature), and with closed forms. Each dot is the largest difference of a quantity's components, divided "
           "by its largest component if that is above 1. Exact agreement is drawn at the left edge.")
V0 = 8 * np.pi / 3
HALF_TURN = ("bundle.turn=0.083333333333333333",)
FLOOR = 1e-18


def at(scenario, r, key, pick=lambda a: a, settings=()):
  """The run at a shape, and the function that takes an entry from its answer."""
  return point_run(scenario, r, settings), lambda answer: np.ravel(pick(np.array(answer[key], float)))


def cycle(scenario, pick, settings=()):
  return cycle_run(scenario, settings), lambda answer: np.ravel(pick(answer))


def turned(answer):
  w, x, y, z = answer["g"]
  return 2 * math.atan2(math.hypot(x, y, z), abs(w))


first, whole = (lambda B: B[0]), (lambda a: a["g"])
length, place = (lambda a: a["length"]), (lambda a: a["g"][0])
# Name in the reference: source of the value, allowed difference, and values that were published elsewhere.
QUANTITIES = {
    "pmpy A(5, v0/2)": (at("pmpy", (5, V0 / 2), "A"), 1e-12, "0 .00318309886184"),
    "pmpy M(5, v0/2)": (at("pmpy", (5, V0 / 2), "M"), 1e-12, ""),
    "pmpy B(5, v0/2)": (at("pmpy", (5, V0 / 2), "B", first), 1e-12, "-.041061975317709"),
    "pmpy A(6, 2)": (at("pmpy", (6, 2), "A"), 1e-12, "-.095451232295564 .002210485320721"),
    "pmpy M(6, 2)": (at("pmpy", (6, 2), "M"), 1e-12, "8.772589013003131 0 0 .875732369912367"),
    "pmpy rectangle X": (cycle("pmpy", whole), 1e-11, "1.7463175578278"),
    "pmpy rectangle length": (cycle("pmpy", length), 1e-11, "35.006776367919"),
    "purcell A(0)": (at("purcell", (0, 0), "A"), 1e-12, ""),
    "purcell M(0)": (at("purcell", (0, 0), "M"), 1e-12, ""),
    "purcell B(0)": (at("purcell", (0, 0), "B", first), 1e-12, ""),
    "purcell B(.5, -.3)": (at("purcell", (0.5, -0.3), "B", first), 1e-12,
                           ".012542419498747 -.007345370757657 .005459124961156"),
    "purcell A_theta(0), half the rotational drag": (at("purcell", (0, 0), "A", lambda A: A[2], HALF_TURN), 1e-12, ""),
    "purcell B_x(0), half the rotational drag": (at("purcell", (0, 0), "B", lambda B: B[0, 0], HALF_TURN), 1e-12, ""),
    "purcell circle g": (cycle("purcell", whole), 1e-11, "-.04949902143485 .01340036636874 0"),
    "purcell circle length": (cycle("purcell", length), 1e-11, ".512235406963"),
    "purcell circle cBVI |x|": (cycle("purcell", lambda a: math.hypot(*a["cbvi"][:2])), 1e-11, ".0519181"),
    "purcell square g": (cycle("purcell-square", whole), 1e-11, "-.0601875211069 0 0"),
    "purcell square length": (cycle("purcell-square", length), 1e-11, ".70668049990"),
    "floating snake A(0)": (at("floating-snake", (0, 0), "A"), 1e-12, ""),
    "hopping leg": (cycle("hopping-leg", whole), 1e-11, ".3020762166913"),
    "rolling ball 1/2": (cycle("rolling-ball", turned), 1e-11, ".7416294238611"),
    "rolling ball 1": (cycle("rolling-ball", turned, ("gait.fourier.cosine=[[1,0]]", "gait.fourier.sine=[[0,1]]")),
                       1e-11, "2.6025805691371"),
    "hopf length, solid angle 1": (cycle("hopf", length), 1e-11, "3.4009367260152"),
    "hopf phase, solid angle 1": (cycle("hopf", place), 1e-11, ".5"),
    "heisenberg length^2/(4 pi z)": (cycle("heisenberg", lambda a: a["length"] ** 2 / (4 * np.pi * abs(a["g"][0]))),
                                     1e-11, "1"),
    "curved swimmer S2": (cycle("curved-swimmer-s2", whole), 1e-11, "-.10051356558"),
    "curved swimmer E2": (cycle("curved-swimmer-e2", whole), 1e-11, "0"),
    "curved swimmer H2": (cycle("curved-swimmer-h2", whole), 1e-11, ".06148161579"),
    "three spheres X by the formula": (cycle("three-spheres", lambda a: a["g"][0] / (7e-3 / 12 * np.pi * 1e-4)), 1e-8,
                                       "1.000795"),
    "raft with yaw, theta = 1": (cycle("raft-yaw", lambda a: a["g"][2]), 1e-11, ""),
    "raft without yaw": (cycle("raft-yaw", whole, ("bundle.yaw=false",)), 1e-11, ""),
    "sphere robot": (cycle("sphere-robot", whole), 1e-11, ""),
    "kinematic snake circle g": (cycle("kinematic-snake", whole), 1e-11, ""),
}
CLOSED = {"hopf phase, solid angle 1": [0.5], "heisenberg length^2/(4 pi z)": [1.0], "raft without yaw": [0.0, 0.0]}


def runs(full):
  return [quantity[0][0] for quantity in QUANTITIES.values()]


def as_printed(value, printed):
  """True if the value rounds to the printed one (within half a unit of its last digit, plus a margin)."""
  digits = len(printed.split(".")[1]) if "." in printed else 0
  return abs(value - float(printed)) <= (0.501 * 10.0 ** -digits + 4e-16 * abs(value) if digits else 1e-12)


def draw(records, full):
  exact = numbers() | CLOSED
  names, errors, rows, wrong = [], [], [], []
  checks = []
  for name, ((run, pick), allowed, printed) in QUANTITIES.items():
    found, wanted = pick(records.answer(run)), np.array([float(v) for v in exact[name]])
    error = float(np.max(np.abs(found - wanted)) / max(1.0, np.max(np.abs(wanted))))
    checks.append(at_most(name, error, allowed))
    wrong += [f"{name}: {v:.15g} for {p}" for v, p in zip(found, printed.split()) if not as_printed(v, p)]
    names.append(name)
    errors.append(error)
    rows.append([name, ", ".join(f"{v:.14g}" if abs(v) > 1e-13 else "0" for v in found), f"{error:.1e}", printed])
  checks.append(Check("all values that were published elsewhere, to the printed digits", "; ".join(wrong) or "all agree",
                      "all agree", not wrong))
  canvas = plt.figure(figsize=(9, 9.5))
  ax = canvas.subplots()
  y = np.arange(len(names))[::-1]
  limit = [QUANTITIES[name][1] for name in names]
  ax.semilogx(limit, y, "|", color=ORANGE, markersize=12, markeredgewidth=2, label="allowed")
  good = np.array(errors) <= np.array(limit)
  ax.semilogx(np.maximum(errors, FLOOR)[good], y[good], "o", color=BLUE, label="found")
  ax.semilogx(np.maximum(errors, FLOOR)[~good], y[~good], "o", color=VERMILION)
  ax.axvline(2.2e-16, color=GREY, linewidth=0.8)
  ax.set(yticks=y, xlabel="largest difference", xlim=(FLOOR / 3, 1e-6))
  ax.set_yticklabels(names, fontsize=8.5)
  ax.legend(loc="lower right")
  table = figure.Table("Numbers", ["quantity", "curvebody", "difference", "printed"], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
