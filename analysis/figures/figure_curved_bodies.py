#!/usr/bin/python3
"""Rigid bodies in a perfect fluid that fills S3 or H3: circles, Clifford translations, flight axis first."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_least, at_most, near
from immersed import Body
from runs import Run
from style import BLACK, BLUE, GREEN, GREY, ORANGE, PURPLE, SPACE_COLOR, SPACE_NAME, VERMILION, panels

TITLE = "Kirchhoff's problem in curved space: effects of curvature on a body in a fluid"
CAPTION = ("Left: a ball (a = ½, twice as dense as the fluid) that spins around an axis perpendicular to its velocity "
           "moves on a circle of geodesic curvature KJω/(Mv), where M includes the added mass. The directions in H³ "
           "and S³ are opposite, and in E³ the path is straight; dashed: without a fluid. Plot coordinates: the ball "
           "model and the stereographic projection. Middle: a Clifford translation of an ellipsoid in S³ (spin equal "
           "to velocity). Without a fluid nothing changes (dashed); in the fluid the same start leads to tumbling. "
           "Right: a body of half axes 1.2, .5, .5 thrown along its axis, with a tilt of 10⁻⁶. In S³ it oscillates "
           "around its axis if its density divided by the fluid's exceeds ρ* = (k₃ − k₁)/(K (J₃ − J₁)); otherwise, and "
           "always in H³, it turns broadside. Dotted: cos Ωt and cosh |Ω|t of the linear equations.")
SPACE = {"s3": "{name: s3, curvature: 1}", "e3": "e3", "h3": "{name: h3, curvature: -1}"}
K_OF = {"s3": 1, "e3": 0, "h3": -1}
CRITICAL = 4.7935069  # density ratio of the smooth body
DENSITIES = {0.5: VERMILION, 0.9: ORANGE, 1.1: GREEN, 2: BLUE}  # relative to the critical density


def ball(space, fluid=True):
  return Run("curved-fluid/ball", (f"space={SPACE[space]}",) + (() if fluid else ("fluid={medium: none}",)))


def clifford(fluid):
  return Run("curved-fluid/clifford", () if fluid else ("fluid={medium: none}",))


def dart(ratio, space="s3"):
  return Run("curved-fluid/axis-first", (f"space={SPACE[space]}", f"bodies.0.density={ratio * CRITICAL:.7g}") +
             (() if space == "s3" else ("bodies.0.shape.a=0.9",)))


def runs(full):
  return [ball(space, fluid) for space in SPACE for fluid in (True, False)] + \
      [clifford(fluid) for fluid in (True, False)] + [dart(ratio) for ratio in DENSITIES] + [dart(2, "h3")]


def draw(records, full):
  canvas, ((circles, free, flight),) = panels(1, 3, 2.55, 2.9)
  return figure.Drawing(canvas, draw_circles(circles, records) + draw_clifford(free, records) +
                        draw_flight(flight, records))


def draw_circles(ax, records):
  checks = []
  for space, K in K_OF.items():
    for fluid in (True, False):
      body = Body(records[ball(space, fluid)], "ball")
      x, I = body["plot_position"], body["inertia"][0]
      ax.plot(*x[:, :2].T, "-" if fluid else "--", color=SPACE_COLOR[space],
              label=SPACE_NAME[space] if fluid else None)
      if K == 0:
        continue
      # the angular momentum is l = J omega; the term K l x v rotates p = M v
      kappa = I[2, 2] * 8 / (I[3, 3] * 0.25)
      radius = np.arctan(1 / kappa) if K > 0 else np.arctanh(1 / kappa)
      far = np.max(np.linalg.norm(x, axis=1))  # the far end of the diameter: tan_K of half the diameter
      seen = np.arctan(far) if K > 0 else np.arctanh(far)
      where = f"{space.upper()}{'' if fluid else ', no fluid'}"
      checks.append(near(f"{where}: radius of the circle", float(seen), float(radius), 2e-5 * radius))
      if fluid:
        true = {1: 0.370592534909, -1: 0.414825397607}[K]
        checks.append(at_most(f"{where}: radius / radius of the smooth ball - 1 (error of the faces)",
                              float(abs(seen / true - 1)), 0.02))
  ax.plot(0, 0, "o", color=BLACK, markersize=4)
  ax.plot([], [], "--", color=GREY, label="no fluid")
  ax.set(xlabel="plot coordinate $x$", ylabel="plot coordinate $y$", xlim=(-0.4, 0.4), ylim=(-0.45, 0.45))
  ax.set_aspect("equal")
  ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2)
  return checks


def draw_clifford(ax, records):
  bodies = {fluid: Body(records[clifford(fluid)], "stone") for fluid in (True, False)}
  for k, colour in enumerate((BLUE, ORANGE, GREEN)):
    ax.plot(bodies[True].time, bodies[True]["twist"][:, k], color=colour, label=f"$\\omega_{k + 1}$")
    ax.plot(bodies[False].time, bodies[False]["twist"][:, k], "--", color=colour)
  ax.plot([], [], "--", color=GREY, label="no fluid")
  ax.set(xlabel="time $t$", ylabel="spin in the body's frame", xlim=(0, 20), ylim=(-1, 1))
  ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2)
  change = [float(np.max(np.abs(bodies[fluid]["twist"] - bodies[fluid]["twist"][0]))) for fluid in (False, True)]
  return [at_most("Clifford translation without a fluid: change of the twist", change[0], 1e-10),
          at_least("the same start in the fluid: change of the twist", change[1], 0.3)]


def rate(I, V, K):
  """Omega^2 of the linear equations, from the inertia I of body and fluid, the speed V and the curvature K."""
  return V ** 2 * (I[3, 3] - I[4, 4]) * (I[3, 3] - K * I[2, 2]) / (I[2, 2] * I[4, 4])


def draw_flight(ax, records):
  checks = []
  cases = [(dart(ratio), 1, f"{SPACE_NAME['s3']}, ${ratio:g}\\,\\rho^*$", f"S3, {ratio:g} of the critical density",
            colour) for ratio, colour in DENSITIES.items()]
  cases.append((dart(2, "h3"), -1, f"{SPACE_NAME['h3']}", "H3", PURPLE))
  for run, K, label, what, colour in cases:
    body = Body(records[run], "dart")
    square = rate(body["inertia"][0], 0.5, K)
    spin = body["twist"][:, 2] / body["twist"][0, 2]
    t = body.time
    law = np.cos(np.sqrt(square) * t) if square > 0 else np.cosh(np.sqrt(-square) * t)
    small = np.abs(law) < 1e3  # below a thousandth of the twist
    ax.plot(t[small], spin[small], color=colour, label=label)
    ax.plot(t[small], law[small], ":", color=BLACK, linewidth=1)
    checks.append(at_most(f"{what}: largest difference of the spin from the linear solution / largest spin",
                          float(np.max(np.abs(spin - law)[small]) / np.max(np.abs(law)[small])), 1e-5))
  ax.set(xlabel="time $t$", ylabel="transverse spin / initial value", xlim=(0, 20), ylim=(-1.3, 5))
  ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.24), ncols=2)
  return checks


if __name__ == "__main__":
  figure.main(globals())
