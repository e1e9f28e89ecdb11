"""Separations over time of the elastic bodies in three spaces (figures 2.13 and 2.17), default integrator."""
import numpy as np

import elastic
from checks import at_most, near
from elastic_runs import BONDS, plain
from figure import Drawing
from runs import Run
from style import GREY, SPACE_COLOR, SPACE_LINE, SPACE_NAME, panels

SPACES = ("h3", "e3", "s3")
# Separations at t = 10 from the exact reduced equations, with 15 digits; they also check analysis/reference.
AT_TEN = {("rod", "h3", 0): 1.95096876526476, ("rod", "s3", 0): 0.74238420171389,
          ("triangle", "h3", 0): 0.95474454775424, ("triangle", "h3", 2): 1.35865009019808,
          ("triangle", "s3", 0): 1.16747905395039, ("triangle", "s3", 2): 0.84646548594845}
ALLOWED = {"rod": 1e-14, "triangle": 1e-13}
# In H3 the body is ten units away at the end, where a Killing momentum is a difference of numbers as large as exp(10).
KILLING = {"h3": 1e-11, "s3": 1e-13, "e3": 1e-13}


def runs(body):
  return [Run(f"thesis/elastic-{body}-{space}") for space in SPACES]


def draw(records, body):
  shown = [bond for bond in BONDS[body] if bond[0] != 1]  # s13 = s12
  figure, axes = panels(1, len(shown), width=6.2 if len(shown) == 1 else 4.6, sharey=True)
  checks = []
  for ax, (bond, name) in zip(axes[0], shown):
    for space, run in zip(SPACES, runs(body)):
      record = records[run]
      ax.plot(record["time"], record["separation"][:, bond], SPACE_LINE[space], color=SPACE_COLOR[space],
              label=SPACE_NAME[space])
      whole = np.arange(0, 11)
      ax.plot(whole, elastic.separation(body, bond, space, whole).astype(float), "o", color=SPACE_COLOR[space],
              markersize=3.5, label=None)
    ax.plot([], [], "o", color=GREY, markersize=3.5, label="exact")
    ax.set(xlabel="time $t$", xlim=(0, 10), title=name if body == "triangle" else "elastic rod")
    ax.legend(loc="upper right")
  axes[0, 0].set_ylabel("separation (rest length 1)")
  axes[0, 0].set_ylim(0.3, 2.75)
  for space, run in zip(SPACES, runs(body)):
    checks += measure(records[run], body, space)
  return Drawing(figure, checks)


def measure(record, body, space):
  where = f"{space.upper()} {body}"
  times = record.times()
  found = []
  for bond, name in BONDS[body]:
    exact = elastic.separation(body, bond, space, times)
    word = plain(name)
    found.append(at_most(f"{where}: relative error of {word} on [0, 10]",
                         float(np.max(np.abs(record["separation"][:, bond] - exact) / exact)), ALLOWED[body]))
    if (body, space, bond) in AT_TEN:
      found.append(near(f"{where}: {word} at t = 10", float(record["separation"][-1, bond]), AT_TEN[body, space, bond],
                        2e-14 * 5, digits=15))
  found.append(at_most(f"{where}: relative drift of the energy", record.drift("energy"), 1e-12))
  found.append(at_most(f"{where}: drift of the Killing momenta", record.drift("killing_momentum"), KILLING[space]))
  return found
