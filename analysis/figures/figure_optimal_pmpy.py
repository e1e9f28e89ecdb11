#!/usr/bin/python3
"""Pushmepullyou from a fixed shape at minimum cost, by three independent methods, with its other extremals."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import Check, near
from locomotion import Field, field_run
from optimal import optimal_run
from style import BLACK, BLUE, GREY, ORANGE, VERMILION, plt

TITLE = "Pushmepullyou at minimum cost by three methods, and its extremals"
CAPTION = ("Closed gaits that begin and end with two equal spheres at the distance 5 and move the swimmer by X = .1. "
           "Left: the three cheapest extremals on B, by shooting with Wong's equations from the results of the "
           "program's random starts; only the first is a minimum. Middle: distance and volume over time. Right: E "
           "along the gradient flow of a polygon at constant X. From an ellipse, which is symmetric in time, it stops "
           "at a saddle; from a slightly deformed ellipse it reaches the optimum.")
BASE, WANTED = np.array([5, 4 * np.pi / 3]), 0.1
FIELD = field_run("pmpy", (3.6, 0.3), (6.4, 8 * np.pi / 3 - 0.3))
FOUND = optimal_run("pmpy")
EXTREMALS = (66.275422594, 72.045526289, 73.203059159)
COLOURS = (BLUE, ORANGE, VERMILION)
V0, SIDES, FLOW_STEPS, FLOW_STEP = 8 * np.pi / 3, (60, 120), 500, 0.5


def runs(full):
  return [FIELD, FOUND]


def connection(r):
  """A [2, ..] and the diagonal of M [2, ..] at the shapes r [2, ..]."""
  l, v = r
  a, b = ((3 * w / (4 * np.pi)) ** (1 / 3) for w in (v, V0 - v))
  return np.array([(a - b) / (a + b) / 2, 1 / (4 * np.pi * l ** 2)]), \
      6 * np.pi * np.array([a * b / (a + b) + 0 * l, 2 / (9 * np.pi) * (1 / v + 1 / (V0 - v)) + 0 * l])


def slopes(r, step=1e-30):
  """dA, dM [k, i, ..]: derivative of component i along k, by a complex step."""
  beside = [connection(np.array([r[0] + (k == 0) * 1j * step, r[1] + (k == 1) * 1j * step])) for k in (0, 1)]
  return tuple(np.array([b[which].imag for b in beside]) / step for which in (0, 1))


def wong(r, p, charge, steps=400):
  """Rows of (r, p, X) from p = M r' + charge A, p' = r' dM r'/2 + charge dA r', for any number of starts."""
  def rate(y):
    A, M = connection(y[:2])
    dA, dM = slopes(y[:2])
    v = (y[2:4] - charge * A) / M
    return np.array([*v, *(np.sum(dM * v ** 2, axis=1) / 2 + charge * np.sum(dA * v, axis=1)), -np.sum(A * v, axis=0)])

  y = np.array([*np.broadcast_arrays(r[0], r[1], *p, 0.0)[:5]], dtype=float)
  rows, h = [y], 1 / steps
  for _ in range(steps):
    k1 = rate(y)
    k2 = rate(y + h / 2 * k1)
    k3 = rate(y + h / 2 * k2)
    y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3))
    rows.append(y)
  return np.array(rows)


def shoot(E, charge):
  """A gait near the cost E and the multiplier `charge`: a scan of all start directions, then Newton's method."""
  A, M = connection(BASE)
  angle = np.linspace(0, 2 * np.pi, 1440, endpoint=False)

  def go(u, steps=400):
    """Rows of (r, p, X) for columns of angle, E and charge."""
    p = np.sqrt(M)[:, None] * np.sqrt(u[1]) * np.array([np.cos(u[0]), np.sin(u[0])]) + u[2] * A[:, None]
    return wong(BASE, p, u[2], steps)

  missed = go(np.array([angle, E + 0 * angle, charge + 0 * angle]), 200)[-1]
  nearest = np.argmin(np.hypot(missed[0] - BASE[0], 0.3 * (missed[1] - BASE[1])) + np.abs(missed[4] - WANTED))
  u = np.array([angle[nearest], E, charge])
  for _ in range(8):
    h = 1e-6 * np.array([1, E, charge])
    columns = u[:, None] + np.column_stack([np.zeros(3), np.diag(h), -np.diag(h)])
    y = go(columns)[-1]
    f = np.array([y[0] - BASE[0], y[1] - BASE[1], y[4] - WANTED])
    u = u - np.linalg.solve((f[:, 1:4] - f[:, 4:]) / (2 * h), f[:, 0])
  return u, go(u[:, None])[..., 0]


def polygon(r):
  """E and X of a polygon [2, n + 1] with n equal time steps, by the midpoints of its sides, and their gradients."""
  d, middle = np.diff(r), (r[:, 1:] + r[:, :-1]) / 2
  (A, M), (dA, dM), n = connection(middle), slopes(middle), r.shape[1] - 1
  E, X = n * np.sum(M * d ** 2), -np.sum(A * d)

  def at_corners(by_side, by_middle):
    return np.pad(by_middle / 2 - by_side, ((0, 0), (0, 1))) + np.pad(by_middle / 2 + by_side, ((0, 0), (1, 0)))
  return E, X, at_corners(2 * n * M * d, n * np.sum(dM * d ** 2, axis=1)), at_corners(-A, -np.sum(dA * d, axis=1))


def flow(sides, bent):
  """E at each step of the gradient flow in the Sobolev metric of r', with constant X."""
  t = np.linspace(0, 1, sides + 1)
  volume = 1.6 * np.sin(2 * np.pi * t) - bent * np.sin(np.pi * t)
  r = BASE[:, None] + np.array([0.6 * (np.cos(2 * np.pi * t) - 1), volume])
  laplace = sides * (2 * np.eye(sides - 1) - np.eye(sides - 1, k=1) - np.eye(sides - 1, k=-1))
  inverse = np.linalg.inv(laplace) / 2
  scale = connection(BASE)[1][:, None]
  weigh = lambda g: np.pad(g[:, 1:-1] @ inverse / scale, ((0, 0), (1, 1)))  # noqa: E731
  costs = []
  for _ in range(FLOW_STEPS):
    E, X, dE, dX = polygon(r)
    costs.append(E)
    down, along = weigh(dE), weigh(dX)
    size = np.sum(dX * along)
    back = np.clip((WANTED - X) / size, -2e3, 2e3)
    r = r - FLOW_STEP * (down - np.sum(dX * down) / size * along) + back * along
  return np.array(costs)


def draw(records, full):
  canvas, axes = plt.subplots(1, 3, figsize=(15, 4.8))
  record = records[FOUND]
  Field(records[FIELD], ("l", "v")).height(axes[0], 0, "extremals, their $E$, on $B$", equal=False, gait=False)
  checks = []
  for E, colour in zip(EXTREMALS, COLOURS):
    k = int(np.argmin(np.abs(record["cost"] - E)))
    cost, index = float(record["cost"][k]), int(record["index"][k])
    u, path = shoot(cost, float(record["lambda"][k, 0]))
    word = "minimum" if index == 0 else f"saddle, index {index}"
    axes[0].plot(path[:, 0], path[:, 1], color=colour, label=f"{cost:.2f}, {word}")
    axes[1].plot(np.linspace(0, 1, len(path)), path[:, 0], color=colour)
    axes[1].plot(np.linspace(0, 1, len(path)), path[:, 1], "--", color=colour)
    checks += [near(f"extremal {E:.3f}: E of the program", cost, E, 1e-9 * E, 11),
               near(f"extremal {E:.3f}: E by Wong's equations, shot", float(u[1]), cost, 1e-8 * cost, 11),
               near(f"extremal {E:.3f}: λ by them", float(u[2]), float(record["lambda"][k, 0]), 1e-5, 10)]
    checks.append(Check(f"extremal {E:.3f}: negative directions", str(index), "0 for the first, otherwise 1",
                        index == (0 if E == EXTREMALS[0] else 1)))
  axes[0].plot(*BASE, "o", color=BLACK)
  axes[0].legend(loc="upper right", fontsize=7.5)
  axes[1].plot([], [], color=GREY, label="$l$")
  axes[1].plot([], [], "--", color=GREY, label="$v_1$")
  axes[1].set(xlabel="time", title="distance and volume over time")
  axes[1].legend()
  return figure.Drawing(canvas, checks + draw_flow(axes[2]))


def draw_flow(ax):
  checks = []
  for E, bent, colour, name in ((EXTREMALS[0], 0.1, BLUE, "a slightly deformed ellipse"),
                                (EXTREMALS[1], 0, ORANGE, "an ellipse")):
    costs = [flow(sides, bent) for sides in SIDES]
    for line, sides, cost in zip(("--", "-"), SIDES, costs):
      ax.plot(cost, line, color=colour, label=f"from {name}, {sides} sides")
    whole = float((4 * costs[1][-1] - costs[0][-1]) / 3)
    checks.append(near(f"gradient flow from {name}, extrapolated in the number of sides: E / E of the extremal", whole / E, 1,
                       1e-6, 9))
  for E in EXTREMALS:
    ax.axhline(E, color=GREY, linewidth=0.8, linestyle=":")
  ax.set(xlabel="step of the flow", ylabel="$E$", title="gradient flow (dotted: extremals)", ylim=(65, 80))
  ax.legend()
  return checks


if __name__ == "__main__":
  figure.main(globals())
