#!/usr/bin/python3
"""A cube, a torus and twisted bars sink with the exact added mass; the bars spin in opposite directions."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import kirchhoff
import surfaces
from checks import at_least, at_most, near
from immersed import SILICONE, WATER, Body, draw_outline
from runs import Inertia, Run
from sinking import Sinking
from style import BLACK, BLUE, GREEN, VERMILION, plt

TITLE = "A cube, a torus and a twisted bar sink with the exact added mass"
CAPTION = ("Bodies of silicone in water, released at rest, every 0.25 s. The cube has the same K_v and drag in all "
           "directions, so it keeps its initial tilt and falls straight. The torus oscillates until its plane is "
           "horizontal. The bar (twisted by 180°) couples translation and rotation: it starts to rotate around the "
           "vertical, and its mirror image rotates in the opposite direction. Right: spin around the vertical. Dashed: "
           "without drag, where ω = -v K_ωv/K_ω; dots: with drag, by the classical Runge–Kutta method with the bar's "
           "tensor from `reference/kirchhoff.py`.")
RUN = Run("immersed/cube-torus-bar")
FREE = Run("immersed/cube-torus-bar", ("bodies.2.drag=false", "bodies.3.drag=false", "time.end=1"))
COLOURS = {"cube": BLACK, "torus": GREEN, "bar": BLUE, "mirror-image": VERMILION}
EXACT = ("--added-mass", "exact", "--fluid", "1", "--error")
TENSORS = {"cube": Inertia("box", EXACT + ("5e-3",)), "torus": Inertia("torus", EXACT + ("5e-3",)),
           "bar": Inertia("twisted_bar", EXACT + ("2e-2",)), "bar as it is": Inertia("twisted_bar", EXACT + ("none",)),
           "mirror image": Inertia("twisted_bar:twist=-pi", EXACT + ("none",))}
# Density 1: cube of side 1; torus of radii 1 and .5; bar 1 × .2 × 2, twisted by half a turn.
CUBE, TORUS, COUPLING = (0.6383, 0.039), (1.972, 5.249), (0.21, 0.16, 0.075)
SIZE = (0.06, 0.012, 0.12)
MESH = surfaces.twisted_bar(1, 0.2, 2, levels=24, side=7)


def runs(full):
  return [RUN, FREE, *TENSORS.values()]


def pieces():
  """Convex pieces of each body, for drawing."""
  box = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]) * 0.025
  angle = np.linspace(0, 2 * np.pi, 25)
  tube = np.linspace(0, 2 * np.pi, 16)
  disc = [np.array([((0.05 + 0.02 * np.cos(v)) * np.cos(w), (0.05 + 0.02 * np.cos(v)) * np.sin(w), 0.02 * np.sin(v))
                    for v in tube for w in ends]) for ends in zip(angle, angle[1:])]
  def bar(hand):
    turn = np.linspace(-np.pi / 2, np.pi / 2, 13)
    corners = [(a * SIZE[0] / 2, b * SIZE[1] / 2) for a in (-1, 1) for b in (-1, 1)]
    return [np.array([(x * np.cos(hand * w) - y * np.sin(hand * w), x * np.sin(hand * w) + y * np.cos(hand * w),
                       SIZE[2] * w / np.pi) for x, y in corners for w in ends]) for ends in zip(turn, turn[1:])]
  return {"cube": [box], "torus": disc, "bar": bar(1), "mirror-image": bar(-1)}


def draw(records, full):
  canvas = plt.figure(figsize=(12, 6.2))
  grid = canvas.add_gridspec(2, 2, width_ratios=(1.15, 1))
  paths, spins, speeds = (canvas.add_subplot(place) for place in (grid[:, 0], grid[0, 1], grid[1, 1]))
  bodies = {name: Body(records[RUN], name) for name in COLOURS}
  free = {name: Body(records[FREE], name) for name in ("bar", "mirror-image")}
  shapes = pieces()
  for name, body in bodies.items():
    turn, place = body.rotation(), body["pose"]
    paths.plot(place[:, 0], place[:, 2], color=COLOURS[name], linewidth=0.8)
    for k in range(0, len(body.time), 25):
      draw_outline(paths, shapes[name], place[k], turn[k], color=COLOURS[name], linewidth=0,
                   alpha=0.3 if name == "cube" else 0.12)
    paths.text(place[0, 0], 0.1, name.replace("-", "\n"), ha="center", va="bottom", fontsize=9)
    speeds.plot(body.time, -body.world(body["twist"][:, 3:])[:, 2], color=COLOURS[name], label=name.replace("-", " "),
                linestyle="--" if name == "mirror-image" else "-")
  paths.set(xlabel="$x$ (m)", ylabel="$z$ (m)", ylim=(-1, 0.22), xlim=(-0.15, 0.9))
  paths.set_aspect("equal")
  speeds.set(xlabel="time (s)", ylabel="fall speed (m/s)")
  speeds.legend(ncols=2)
  own = kirchhoff.solid(*MESH)
  checks = tensors(records, own) + motion(bodies) + spin(spins, bodies, free, own)
  return figure.Drawing(canvas, checks)


def tensors(records, own):
  K = {name: np.array(records.answer(run)["added_mass"]) for name, run in TENSORS.items()}
  told = {name: records.answer(TENSORS[name])["added_mass_of"]["error"] for name in ("cube", "torus")}
  cube, torus = np.diag(K["cube"]), np.diag(K["torus"])
  bar, *hands = (np.diag(K[name][:3, 3:]) for name in ("bar", "bar as it is", "mirror image"))
  checks = [near("cube of side 1: K_v", float(cube[3]), CUBE[0], told["cube"] * CUBE[0]),
            near("cube of side 1: K_ω", float(cube[0]), CUBE[1], 5e-4),
            near("torus 1, 0.5: K_v along x", float(torus[3]), TORUS[0], told["torus"] * TORUS[1]),
            near("torus 1, 0.5: K_v along z", float(torus[5]), TORUS[1], told["torus"] * TORUS[1])]
  for i, wanted in enumerate(COUPLING):
    checks.append(near(f"twisted bar: magnitude of K_ωv {'xyz'[i]}{'xyz'[i]}", float(abs(bar[i])), wanted, 0.05 * wanted, 3))
  return checks + [at_most("twisted bar: (K_ωv - that of `reference` on another mesh) / largest entry",
                           float(np.max(np.abs(bar - np.diag(own[:3, 3:]))) / np.max(np.abs(bar))), 0.05),
                   at_most("twisted bar and mirror image: sum of their K_ωv / largest entry",
                           float(np.max(np.abs(sum(hands))) / np.max(np.abs(hands[0]))), 1e-6)]


def motion(bodies):
  cube, torus = bodies["cube"], bodies["torus"]
  turn = float(np.max(np.abs(cube["pose"][:, 3:] - cube["pose"][0, 3:])))
  flat = float(abs(torus.rotation()[-1, 2, 2]))
  return [at_most("cube: change of its orientation (quaternion) while it sinks", turn, 1e-2),
          at_most("cube: sideways displacement / depth",
                  float(np.linalg.norm(cube["pose"][-1, :2] - cube["pose"][0, :2]) / -cube["pose"][-1, 2]), 1e-6),
          near("torus at the end: cosine between its axis and the fall", flat, 1, 5e-3),
          at_most("all bodies: (energy - work of lift and drag) / exchanged energy",
                  max(body.unbalance() for body in bodies.values()), 1e-3)]


def spin(ax, bodies, free, own):
  checks = []
  for name, body in bodies.items():
    if name in free:
      ax.plot(body.time, body.world(body["twist"][:, :3])[:, 2], color=COLOURS[name], label=name.replace("-", " "))
      ax.plot(free[name].time, free[name].world(free[name]["twist"][:, :3])[:, 2], "--", color=COLOURS[name],
              linewidth=1)
  bar = bodies["bar"]
  scale = SIZE[0] ** np.array([2.5, 2.5, 2.5, 1.5, 1.5, 1.5])  # scales K from a bar whose longest side is 1
  other = Sinking(MESH[0] * SIZE[0], MESH[1], SILICONE, WATER, own * np.outer(scale, scale))
  twist = other.run(bar["pose"][0], bar.time[1] - bar.time[0], len(bar.time) - 1)[1]
  ax.plot(bar.time[::10], twist[::10, 1], "o", color=COLOURS["bar"], markersize=3)
  late = bar.time > 1
  checks.append(near("bar: final spin / that of the other program on another mesh",
                     float(bar["twist"][late, 1].mean() / twist[late, 1].mean()), 1, 0.08))
  ax.set(xlabel="time (s)", ylabel="spin about the vertical (1/s)", ylim=(-5, 5))
  ax.legend(loc="center right")
  right, left = (free[name] for name in ("bar", "mirror-image"))
  K, Y = right["inertia"][0], right["twist"]
  early = (right.time > 0) & (right.time < 0.5)
  ratio = Y[early, 1] / Y[early, 4] * K[1, 1] / K[1, 4]
  a, b = bodies["bar"]["twist"][:, 1], bodies["mirror-image"]["twist"][:, 1]
  return checks + [near("without drag: (ω/v) / (-K_ωv/K_ω), first half second", float(ratio.mean()), -1, 1e-4),
                   at_most("spins of the bar and its mirror image: sum / largest",
                           float(np.max(np.abs(a + b)) / np.max(np.abs(a))), 1e-3),
                   at_least("bar: final spin (1/s)", float(abs(a[-1])), 0.5)]


if __name__ == "__main__":
  figure.main(globals())
