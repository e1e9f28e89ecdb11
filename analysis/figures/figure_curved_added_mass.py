#!/usr/bin/python3
"""Added mass in a fluid that fills S3 or H3: balls from a point to the whole sphere, convergence, the local model."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_least, at_most, between
from runs import Inertia
from style import BLACK, GREY, SPACE_COLOR, SPACE_NAME, panels

TITLE = "Added mass in curved space"
CAPTION = ("Left: added mass of a geodesic ball divided by the mass of the displaced fluid, which is ½ in E³. Dots: "
           "exact model on the given faces; lines: closed forms (N/(S³ + NC)) S³ 2π/3, N = π − a + SC, in S³ and "
           "(2π/3) sinh³a/cosh a in H³. In S³ the ratio falls to ⅓ at the hemisphere; for larger balls the fluid is "
           "the smaller part. Crosses: the local model, which in S³ has a sink at the antipode. Middle: error over the "
           "number of faces; grey: square of a face's size. Right: local model divided by exact model, for balls; "
           "table: for the ellipsoid with half axes .6, .5, .4 in the gnomonic chart.")
SPACES = {"s3": 1, "h3": -1}
RADII = {"s3": (0.25, 0.5, 0.75, 1.0, 1.25, np.pi / 2, 1.9, 2.2, 2.5, 2.8), "h3": (0.25, 0.5, 0.75, 1.0, 1.5, 2.0)}
SMALL = 1.25  # for the local model in S3
CONVERGING = {"s3": (0.5, 1, 2.5), "h3": (0.5, 1, 2)}
MARK = dict(zip((0.5, 1, 2, 2.5), "o^sD"))
STONE = "ellipsoid:a=0.6,b=0.5,c=0.4"


def resolutions(full):
  return (8, 16, 32) + ((64,) if full else ())


def run(space, shape, model="exact", chart=()):
  error = ("--error", "none") if model == "exact" else ()
  return Inertia(shape, ("--space", space, *chart, "--fluid", "1", "--added-mass", model, *error))


def ball(space, a, resolution=24, model="exact"):
  return run(space, f"ball:radius={a:.10g},resolution={resolution}", model)


def stone(space, model):
  return run(space, STONE + ",resolution=24", model, ("--chart", "gnomonic"))


def has_local(space, a):
  return a <= (SMALL if space == "s3" else 1.5)


def runs(full):
  return [ball(space, a) for space in SPACES for a in RADII[space]] + \
      [ball(space, a, model="local") for space in SPACES for a in RADII[space] if has_local(space, a)] + \
      [ball(space, a, n) for space in SPACES for a in CONVERGING[space] for n in resolutions(full)] + \
      [stone(space, model) for space in SPACES for model in ("exact", "local")]


def of_ball(K, a):
  """Exact added mass of a geodesic ball, and its volume."""
  S, C = (np.sin(a), np.cos(a)) if K > 0 else (np.sinh(a), np.cosh(a))
  N = np.pi - a + S * C
  volume = np.pi * (2 * a - np.sin(2 * a)) if K > 0 else np.pi * (np.sinh(2 * a) - 2 * a)
  return (2 * np.pi / 3 * N * S ** 3 / (S ** 3 + N * C) if K > 0 else 2 * np.pi / 3 * S ** 3 / C), volume


def linear(answer):
  return float(np.mean(np.diag(answer["added_mass"])[3:]))


def draw(records, full):
  canvas, ((mass, error, local),) = panels(1, 3, 4.9, 4.2)
  checks = []
  for space, K in SPACES.items():
    colour, name = SPACE_COLOR[space], SPACE_NAME[space]
    a = np.linspace(0.01, 3.13 if K > 0 else 2.1, 300)
    true, volume = of_ball(K, a)
    mass.plot(a, true / volume, color=colour, label=name)
    dots = np.array([linear(records.answer(ball(space, r))) / of_ball(K, r)[1] for r in RADII[space]])
    mass.plot(RADII[space], dots, "o", color=colour, markersize=4)
    near = [r for r in RADII[space] if has_local(space, r)]
    crude = np.array([linear(records.answer(ball(space, r, model="local"))) for r in near])
    mass.plot(near, crude / np.array([of_ball(K, r)[1] for r in near]), "x", color=colour)
    local.plot(near, crude / np.array([linear(records.answer(ball(space, r))) for r in near]), "x-", color=colour,
               label=f"{name}, balls")
    checks += converge(error, records, full, space, K)
  found, table = compare(records)
  mass.axhline(0.5, color=GREY, linewidth=0.8)
  mass.axvline(np.pi / 2, color=GREY, linewidth=0.8, linestyle=":")
  mass.set(xlabel="geodesic radius $a$ (radii of curvature)", ylabel="added mass / displaced mass", ylim=(0, 1))
  mass.legend()
  n = np.array([80, 5000])
  error.loglog(n, 2 / n, color=GREY, linewidth=1)
  error.set(xlabel="faces", ylabel="error of $K_v$")
  error.legend(fontsize=7.5)
  local.axhline(1, color=BLACK, linewidth=0.8)
  local.set(xlabel="geodesic radius $a$", ylabel="local by exact")
  local.legend()
  return figure.Drawing(canvas, checks + found, [table])


def converge(ax, records, full, space, K):
  checks = []
  for a in CONVERGING[space]:
    answers = [records.answer(ball(space, a, n)) for n in resolutions(full)]
    faces = np.array([answer["added_mass_of"]["faces"] for answer in answers])
    found, true = np.array([linear(answer) for answer in answers]), of_ball(K, a)[0]
    e = np.abs(found / true - 1)
    ax.loglog(faces, e, MARK[a] + "-", color=SPACE_COLOR[space], label=f"{SPACE_NAME[space]}, $a = {a:g}$",
              markersize=4)
    what = f"{space.upper()} ball a = {a:g}"
    checks.append(between(f"{what}: order in the size of a face", 2 * np.log(e[-2] / e[-1]) /
                          np.log(faces[-1] / faces[-2]), 1.9, 2.2))
    checks.append(at_most(f"{what}: error extrapolated from the last two",
                          float(abs((4 * found[-1] - found[-2]) / 3 / true - 1)), 2e-4 if a < 2 else 3e-3))
  return checks


def compare(records):
  checks, rows = [], []
  for space in SPACES:
    exact, crude = (np.diag(records.answer(stone(space, model))["added_mass"]) for model in ("exact", "local"))
    rows.append([space.upper()] + [f"{ratio:.3f}" for ratio in crude / exact])
    checks.append(between(f"{space.upper()} ellipsoid: local / exact K_v", list(crude[3:] / exact[3:]), 0.9, 1.1))
  ball_h3, ball_s3 = (linear(records.answer(ball(space, 1.0, model="local"))) /
                      linear(records.answer(ball(space, 1.0))) for space in ("h3", "s3"))
  checks.append(at_most("H3 ball a = 1: local / exact - 1 (error of the faces)", abs(ball_h3 - 1), 0.05))
  checks.append(at_least("S3 ball a = 1: local / exact (1.416 because of the sink at the antipode)", ball_s3, 1.35))
  axes = [f"K_{kind}{k}" for kind in "ωv" for k in (1, 2, 3)]
  return checks, figure.Table("Ellipsoid: local by exact", ["space", *axes], rows)


if __name__ == "__main__":
  figure.main(globals())
