#!/usr/bin/python3
"""Swimmers of 4, 6 and 10 links at minimum cost, with the body during a cycle."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, near
from locomotion import chain, moved
from optimal import optimal_run
from runs import Run
from style import BLACK, BLUE, GREEN, ORANGE, VERMILION, plt

TITLE = "Optimal gaits of 4, 6 and 10 links"
CAPTION = ("Chains of length 1 at zero Reynolds number; the drag across a link is twice that along it. Minimum of E = "
           "∫ r′Mr′ dt for gaits that move the body by X = .05 without rotation; the search starts from a wave of one "
           "wavelength. Above: the body during a cycle, from top to bottom, rotated so that it swims to the right; "
           "dots: middle of the links. Below: angles of the hinges over time, from the front (dark) to the rear; last: "
           "E over the distance, with the limit of small gaits 4πX/μ, where μ is the largest eigenvalue of M^(-½) B_x "
           "M^(-½) of the straight shape.")
LINKS, X = (4, 6, 10), 0.05
DISTANCES = (0.005, 0.01, 0.02, 0.03, 0.05, 0.08)
COST = {4: 0.124188165080, 10: 0.055857469620}
LIMIT = {4: 1.900632585545, 5: 1.509536131759}
COLOUR = {4: BLUE, 6: GREEN, 10: VERMILION}
SHOTS, APART = 7, 0.3


def wave(links, size):
  """Settings of a chain, and of a wave of one wavelength along it."""
  phase = 2 * np.pi * np.arange(links - 1) / (links - 1)
  row = lambda v: "[[" + ",".join(f"{size * x + 0.0:.4f}" for x in v) + "]]"  # noqa: E731
  return (f"bundle.links={links}", "gait.fourier.cosine=" + row(np.cos(phase)),
          "gait.fourier.sine=" + row(np.sin(phase)))


def move_run(links, distance):
  return optimal_run("links", "--move", f"{distance:g}", settings=wave(links, 2.2 * distance ** 0.5))


def straight_run(links):
  return Run("optimum/links", wave(links, 0.1), gait=("connection", "--at", ",".join(["0"] * (links - 1))))


EFFICIENT = optimal_run("links", "--objective", "efficiency")


def runs(full):
  return [move_run(n, x) for n in LINKS for x in (DISTANCES if n < 10 else (0.02, X))] + \
      [straight_run(n) for n in LINKS + (5,)] + [EFFICIENT]


def small_gaits(answer):
  """Minimum of E/X for small gaits around the straight shape."""
  M = np.array(answer["M"])
  B = np.zeros_like(M)
  names = answer["shape"]
  for (i, j), value in zip(answer["pairs"], answer["B"]):
    B[names.index(i), names.index(j)], B[names.index(j), names.index(i)] = value[0], -value[0]
  size, axes = np.linalg.eigh(M)
  root = axes / np.sqrt(size) @ axes.T
  return 4 * np.pi / float(np.max(np.linalg.eigvals(root @ B @ root).imag))


def draw(records, full):
  canvas = plt.figure(figsize=(16, 9))
  top, bottom = canvas.subfigures(2, 1, height_ratios=(1.35, 1))
  above, below = top.subplots(1, 3), bottom.subplots(1, 4)
  for n, body, angles in zip(LINKS, above, below):
    record = records[move_run(n, X)]
    draw_body(body, record, n)
    for k in range(n - 1):
      angles.plot(record["time"], record["shape"][:, k], color=plt.cm.viridis(0.9 * k / (n - 2)))
    angles.set(xlabel="time", ylabel="angles of the hinges" if n == LINKS[0] else None, title=f"{n} links")
  limit = {n: small_gaits(records.answer(straight_run(n))) for n in LINKS + (5,)}
  for n in LINKS:
    found = [(x, float(records[move_run(n, x)]["cost"][0]) / x) for x in (DISTANCES if n < 10 else (0.02, X))]
    below[3].plot(*zip((0, limit[n]), *found), "o-", color=COLOUR[n], label=f"{n} links")
  below[3].set(xlabel="distance $X$ / length", title="$E/X$", ylim=(0, None))
  below[3].legend()
  return figure.Drawing(canvas, measure(records, limit))


def draw_body(ax, record, links):
  g, r = record["group"], record["shape"]
  way = np.arctan2(g[-1, 1], g[-1, 0])
  first = None
  for shot, k in enumerate(np.linspace(0, len(g) - 1, SHOTS).round().astype(int)):
    x = moved(moved(chain(r[k], links=links), g[k]), (0, 0, -way))
    middle = (x[1:] + x[:-1]).mean(axis=0) / 2
    first = middle if first is None else first
    down = first + [0, APART * shot]
    ax.plot(*(x - down).T, "o-", color=BLACK, markersize=2, linewidth=1.8, solid_capstyle="round")
    ax.plot(*(middle - down), "o", color=ORANGE, markersize=5, zorder=4)
    ax.text(0.02, -APART * shot, f"{record['time'][k]:.2f}", fontsize=8, va="center",
            transform=ax.get_yaxis_transform())
  ax.axvline(0, color=BLUE, linewidth=0.7)
  ax.axvline(X, color=BLUE, linewidth=0.7)
  ax.set(title=f"{links} links, E = {record['cost'][0]:.6f}", xlabel="along the path / length", yticks=[])
  ax.set_aspect("equal", adjustable="datalim")


def measure(records, limit):
  checks = [near(f"{n} links, X = .05: E", float(records[move_run(n, X)]["cost"][0]), E, 1e-10 * E + 5e-13, 12)
            for n, E in COST.items()]
  checks += [near(f"{n} links: limit of E/X, compared with the eigenvalue", limit[n], value, 1e-11, 13)
             for n, value in LIMIT.items()]
  x = DISTANCES[:2]
  first, second = (float(records[move_run(4, d)]["cost"][0]) / d for d in x)
  start = first - (second - first) * x[0] / (x[1] - x[0])
  checks.append(near("4 links: E/X at 0, from X = .005 and .01", start, LIMIT[4], 2e-3, 6))
  best = records[EFFICIENT]
  checks.append(near("4 links, most efficient: η", float(best["efficiency"][0]), 0.030178181241, 1e-12, 11))
  index = max(int(records[move_run(n, X)]["index"][0]) for n in LINKS)
  checks.append(Check("all gaits are local minima: index", str(index), "0", index == 0))
  gap = max(float(np.max(np.abs(np.diff(records[move_run(n, X)]["momentum"][[0, -1]], axis=0)))) for n in LINKS)
  checks.append(Check("p at the end minus at the start", f"{gap:.1e}", "≤ 1e-9", gap <= 1e-9))
  return checks


if __name__ == "__main__":
  figure.main(globals())
