#!/usr/bin/python3
"""Swimmers in S2, H2, S3 and H3 at minimum cost, from a given shape."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, at_most, near
from locomotion import Field, field_run
from optimal import optimal_run
from runs import Run
from style import BLACK, BLUE, GREEN, GREY, PURPLE, SPACE_NAME, VERMILION, plt

TITLE = "Optimal gaits of swimmers in curved spaces"
CAPTION = ("An apex and two tips (three in S³ and H³) of mass 1 without momentum: legs of length l at the half-angle a "
           "stretch and spread. Minimum of E = ∫ r′Mr′ dt for gaits that begin and end at l = .65, a = .8 and move the "
           "body by X along the geodesic. Above: gaits for X = .001 to .05 on the curvature of the bundle, in S² and "
           "in H². Below: E/X, with the limit of small gaits 4π √det M/|B| at X = 0; and the first conjugate time in "
           "units of the period. A gait is a minimum if it is above 1 (×: the cheapest saddle from random starts).")
SPACES = {"S2": (2, BLUE, "o-"), "S3": (3, GREEN, "s--"), "H2": (2, VERMILION, "o-"), "H3": (3, PURPLE, "s--")}
DISTANCES = (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.02, 0.03, 0.05)
DRAWN = (0.001, 0.003, 0.01, 0.02, 0.05)
BASE = (0.65, 0.8)
FIELDS = {space: field_run(f"curved-swimmer-{space.lower()}", (0.3, 0.3), (1.3, 1.5)) for space in ("S2", "H2")}
COST, CONJUGATE = 0.481427457629, 1.14425388
SADDLE, BEFORE = 0.801496291785, 0.87326069


def space_settings(space):
  return (f"bundle.space={space}", f"bundle.legs={SPACES[space][0]}")


def swim_run(space, X, starts=12):
  return optimal_run("curved-swimmer", f"--element={X:g}", "--starts", str(starts), settings=space_settings(space))


def base_run(space):
  return Run("optimum/curved-swimmer", space_settings(space), gait=("connection", "--at", "{:g},{:g}".format(*BASE)))


SEARCHED = swim_run("S2", 0.01, 40)


def runs(full):
  return list(FIELDS.values()) + [SEARCHED, swim_run("S2", -0.01)] + \
      [swim_run(space, X) for space in SPACES for X in DISTANCES] + [base_run(space) for space in SPACES]


def limit(answer):
  return 4 * np.pi * float(np.sqrt(np.linalg.det(answer["M"]))) / abs(answer["B"][0][0])


def first_conjugate(record, k):
  """First conjugate time. The record has the first one before the end, if it exists, and the next one after the end."""
  return float(record["conjugate"][k, 0 if record["conjugates"][k] else 1])


def draw(records, full):
  canvas, grid = plt.subplots(2, 2, figsize=(7.6, 7.4))
  axes = grid.flat
  for ax, (space, run) in zip(axes, FIELDS.items()):
    field = Field(records[run], ("l", "a"))
    field.height(ax, 0, f"{SPACE_NAME[space.lower()]}: gaits on $B$", equal=False, gait=False)
    for X in DRAWN:
      ax.plot(*records[swim_run(space, X)]["shape"].T, color=BLACK, linewidth=1.3)
    ax.plot(*BASE, "o", color=VERMILION)
  for space, (_, colour, line) in SPACES.items():
    found = [records[swim_run(space, X)] for X in DISTANCES]
    rate = [limit(records.answer(base_run(space)))] + [r["cost"][0] / X for r, X in zip(found, DISTANCES)]
    axes[2].plot((0,) + DISTANCES, rate, line, color=colour, label=space_name(space), markersize=4)
    axes[3].plot(DISTANCES, [first_conjugate(r, 0) for r in found], line, color=colour, markersize=4)
  record = records[SEARCHED]
  saddle = int(np.flatnonzero(record["index"] == 1)[0])
  axes[2].plot(0.01, record["cost"][saddle] / 0.01, "x", color=BLUE, markersize=8)
  axes[3].plot(0.01, first_conjugate(record, saddle), "x", color=BLUE, markersize=8)
  axes[3].axhline(1, color=GREY, linewidth=0.8)
  axes[2].set(xlabel="distance $X$ / radius of curvature", title="$E/X$")
  axes[3].set(xlabel="distance $X$ / radius of curvature", title="first conjugate time")
  axes[2].legend(loc="center right", bbox_to_anchor=(1, 0.63))
  return figure.Drawing(canvas, measure(records))


def space_name(space):
  return f"${space[0]}^{space[1]}$, {SPACES[space][0]} legs"


def measure(records):
  record = records[SEARCHED]
  saddle = int(np.argmin(np.abs(record["cost"] - SADDLE)))
  checks = [near("S², X = .01: E", float(record["cost"][0]), COST, 1e-11, 12),
            near("S², X = .01: first conjugate time", first_conjugate(record, 0), CONJUGATE, 1e-8, 9),
            near("S², X = .01, a dearer extremal: E", float(record["cost"][saddle]), SADDLE, 1e-11, 12),
            near("its first conjugate time", first_conjugate(record, saddle), BEFORE, 1e-8, 9),
            Check("its conjugate times before 1, and its index",
                  f"{record['conjugates'][saddle]}, {record['index'][saddle]}", "1, 1",
                  bool(record["conjugates"][saddle] == record["index"][saddle] == 1)),
            at_most("S²: difference of E for X = −.01 and X = .01",
                    abs(float(records[swim_run("S2", -0.01)]["cost"][0]) / COST - 1), 1e-10)]
  for space in SPACES:
    X = np.array(DISTANCES[:4])
    rate = np.array([records[swim_run(space, x)]["cost"][0] for x in X]) / X
    # From a fixed start shape E/X is a power series in the gait's size, the square root of X.
    start = float(np.linalg.solve(np.vander(np.sqrt(X), increasing=True), rate)[0])
    wanted = limit(records.answer(base_run(space)))
    checks.append(near(f"{space_name(space).replace('$', '')}: E/X at 0, from a cubic in √X", start / wanted, 1, 1e-3, 5))
  return checks


if __name__ == "__main__":
  figure.main(globals())
