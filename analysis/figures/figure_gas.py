#!/usr/bin/python3
"""A gas of 10 000 spheres on S3 with equal initial speeds reaches Maxwell's distribution."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_most, near
from runs import Run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, panels

TITLE = "A gas of 10 000 hard spheres on S³ reaches the Maxwell distribution of speeds"
CAPTION = ("All spheres start with speed 1 in random directions (T = 1/3). Left: histogram of the speeds after about "
           "one contact per sphere, three contacts, and at the end; the line is Maxwell's density. The peaks of "
           "spheres that still have their initial speed are cut off. Middle: moments of the speed divided by those of "
           "Maxwell's distribution, over the number of contacts per sphere. Right: masses between 1 and 4, all with "
           "the same initial speed; mean kinetic energy of ten classes of mass at the start and at the end, divided by "
           "the mean of all.")
EQUAL, MIXED = Run("collisions/gas-s3"), Run("collisions/gas-s3", ("bodies.0.mass_max=4",))
BINS = 40


def runs(full):
  return [EQUAL, MIXED]


def distribution(x):
  """Maxwell's distribution: fraction of speeds below x sqrt(T/m)."""
  from mpmath import erf
  return np.array([float(erf(s / 2 ** 0.5)) for s in x]) - np.sqrt(2 / np.pi) * x * np.exp(-x * x / 2)


def chi_squared(x, bins=BINS):
  """chi^2 per degree of freedom, for speeds in units of sqrt(T/m) in cells of equal probability."""
  fine = np.linspace(0, 8, 4001)
  edges = np.interp(np.linspace(0, 1, bins + 1)[1:-1], distribution(fine), fine)
  count = np.bincount(np.searchsorted(edges, x), minlength=bins)
  wanted = len(x) / bins
  return float(np.sum((count - wanted) ** 2) / wanted / (bins - 1))


def speeds(record):
  """Speeds [T, N] and masses, from p = m v in the embedding."""
  mass = record["particle_mass"]
  return np.sqrt(np.sum(record["momentum"] ** 2, axis=-1)) / mass, mass


def contacts_until(record, t):
  """Mean number of contacts per sphere until the times t."""
  return 2 * np.searchsorted(record["event_time"], t, side="right") / len(record["particle_mass"])


def draw(records, full):
  canvas, ((left, middle, right),) = panels(1, 3, 2.55, 3.1)
  record = records[EQUAL]
  v, mass = speeds(record)
  t, met = record["time"], contacts_until(record, record["time"])
  scale = np.sqrt(np.mean(v[-1] ** 2) / 3)  # sqrt(T/m)
  x = np.linspace(0, 4, 200)
  for k, colour in ((1, GREY), (3, ORANGE), (len(t) - 1, BLUE)):
    left.hist(v[k] / scale, bins=np.linspace(0, 4, 41), density=True, histtype="step", color=colour,
              label=f"{met[k]:.1f} contacts per sphere")
  left.plot(x, np.sqrt(2 / np.pi) * x * x * np.exp(-x * x / 2), color=BLACK, label="Maxwell's density")
  left.set(xlabel="speed / $(T/m)^{1/2}$", ylabel="probability density", ylim=(0, 0.9), xlim=(0, 4))
  left.legend(loc="upper center", bbox_to_anchor=(0.5, -0.27))

  moments = ((1, np.sqrt(8 / np.pi), BLUE), (4, 15, ORANGE), (6, 105, GREEN))
  checks = []
  for power, wanted, colour in moments:
    ratio = np.mean((v / scale) ** power, axis=1) / wanted
    middle.plot(met, ratio, ".-", color=colour, label=rf"$\langle v^{power}\rangle$")
    # relative standard deviation of the mean of v^power over all spheres
    full_moment = {1: 3, 4: 945, 6: 135135}[power]  # <x^(2 power)>
    sigma = np.sqrt((full_moment / wanted ** 2 - 1) / v.shape[1])
    checks.append(near(f"⟨v^{power}⟩ / Maxwell's value at the end", float(ratio[-1]), 1, 4 * sigma))
  middle.axhline(1, color=BLACK, linewidth=0.7)
  middle.set(xlabel="contacts per sphere", ylabel="moment / Maxwell's value", xlim=(0, None))
  middle.legend(loc="upper center", bbox_to_anchor=(0.5, -0.27), ncols=3)

  start, end = chi_squared(v[0] / scale), chi_squared(v[-1] / scale)
  bound = 1 + 4 * np.sqrt(2 / (BINS - 1))
  checks.append(at_most(f"χ² of the speeds at the end, {BINS} cells, per degree of freedom", end, bound))

  mixed = records[MIXED]
  v, mass = speeds(mixed)
  energy = 0.5 * mass * v ** 2
  classes = np.minimum(((mass - 1) / 3 * 10).astype(int), 9)
  for k, colour, label in ((0, GREY, "start"), (-1, BLUE, "end")):
    share = [np.mean(energy[k][classes == c]) / np.mean(energy[k]) for c in range(10)]
    right.plot(1.15 + 0.3 * np.arange(10), share, "o-", color=colour, label=label)
  spread = np.sqrt(2 / 3 / (len(mass) / 10))
  worst = float(np.max(np.abs(np.array(share) - 1)))
  checks.append(at_most("masses from 1 to 4: mean energy of a class / that of all - 1", worst, 4 * spread))
  x = np.sqrt(mass * v[-1] ** 2 / (2 / 3 * np.mean(energy[-1])))
  checks.append(at_most("masses from 1 to 4: χ² per degree of freedom", chi_squared(x), bound))
  right.axhline(1, color=BLACK, linewidth=0.7)
  right.set(xlabel="mass", ylabel="mean energy / mean of all", xlim=(1, 4))
  right.legend(loc="upper center", bbox_to_anchor=(0.5, -0.27), ncols=2)
  rows = []
  for name, r in (("equal masses", record), ("masses 1 to 4", mixed)):
    hits = len(r["event_time"])
    momenta = r["killing_momentum"]
    turn = float(np.max(np.abs(momenta - momenta[0])) / np.sum(np.sqrt(np.sum(r["momentum"][0] ** 2, axis=-1))))
    checks += [at_most(f"{name}: relative drift of the energy over {hits} contacts", r.drift("energy"), 1e-11),
               at_most(f"{name}: drift of the Killing momenta / sum of |p|", turn, 1e-14),
               at_most(f"{name}: largest |gap| at a contact", float(np.max(np.abs(r["event_gap"]))), 1e-13)]
    rows.append([name, hits, f"{contacts_until(r, r['time'][-1]):.2f}"])
  rows[0].append(f"{start:.3g} → {end:.3g}")
  rows[1].append(f"{chi_squared(x):.3g}")
  table = figure.Table("Runs", ["gas", "contacts", "of each sphere", "χ² per degree of freedom"], rows)
  return figure.Drawing(canvas, checks, [table])


if __name__ == "__main__":
  figure.main(globals())
