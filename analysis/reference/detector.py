"""Exact motion of two masses on a spring in the inhomogeneous hyperbolic space IH, symmetric about the line of A.

Masses m at (A, B, 0) and (A, -B, 0), spring (k, D), metric (r^2 + 2)(dx^2 + dy^2 + dz^2), all parameters but D are 1:
    d = F(A + B) - F(A - B),  F(c) = asinh(c/sqrt 2) + (c/2) sqrt(c^2 + 2),  f = A^2 + B^2 + 2,  x = (A, B)
    x'' = (|x'|^2 x - 2 (x.x') x')/f - k(d - D)/(2 m f) (s+ - s-, s+ + s-),  s± = F'(A ± B) = sqrt((A ± B)^2 + 2)
    E = m f |x'|^2 + (k/2)(d - D)^2     (the check, not used to solve)
    d' = s+ (A' + B') - s- (A' - B')
Start: (A, B) = (-25, 1/2), A' = 1, B' such that d' = 0, D = d(0).  Solved by Taylor series in mpmath.
Source: section 2.8 and eqs 2.65-2.66 of the thesis whose code is published at
github.com/bday336/curved_space_dynamics_solver; there arcsin stands for arcsinh.
Units: dimensionless.  Valid while B > 0.
"""
import functools

from mpmath import mp, mpf

from taylor import product, quotient, solve, square_root

KEPT = ("A", "B", "dA", "dB", "d")


def arc(c):
  """F(c)."""
  return mp.asinh(c / mp.sqrt(2)) + c / 2 * mp.sqrt(c * c + 2)


def start():
  """(A, B, A', B', d) at t = 0."""
  A, B = mpf(-25), mpf(1) / 2
  plus, minus = mp.sqrt((A + B) ** 2 + 2), mp.sqrt((A - B) ** 2 + 2)
  return dict(zip(KEPT, (A, B, mpf(1), (minus - plus) / (minus + plus), arc(A + B) - arc(A - B))))


def motion(end):
  rest = start()["d"]

  def begin(state):
    state = state or start()
    series = {name: [state[name]] for name in KEPT}
    for name in ("p", "q", "dp", "dq", "p2", "q2", "plus", "minus", "f", "speed2", "radial", "pull", "topA", "topB",
                 "ddA", "ddB"):
      series[name] = []
    return series

  def extend(y, n):
    one = 1 if n == 0 else 0

    def times(a, b):
      return product(y[a], y[b], n)

    y["p"].append(y["A"][n] + y["B"][n])
    y["q"].append(y["A"][n] - y["B"][n])
    y["dp"].append(y["dA"][n] + y["dB"][n])
    y["dq"].append(y["dA"][n] - y["dB"][n])
    y["p2"].append(times("p", "p") + 2 * one)
    y["q2"].append(times("q", "q") + 2 * one)
    y["plus"].append(square_root(y["p2"], y["plus"], n))
    y["minus"].append(square_root(y["q2"], y["minus"], n))
    y["f"].append(times("A", "A") + times("B", "B") + 2 * one)
    y["speed2"].append(times("dA", "dA") + times("dB", "dB"))
    y["radial"].append(2 * (times("A", "dA") + times("B", "dB")))
    y["pull"].append((y["d"][n] - rest * one) / 2)
    y["topA"].append(times("speed2", "A") - times("radial", "dA") - times("pull", "plus") + times("pull", "minus"))
    y["topB"].append(times("speed2", "B") - times("radial", "dB") - times("pull", "plus") - times("pull", "minus"))
    y["ddA"].append(quotient(y["topA"], y["f"], y["ddA"], n))
    y["ddB"].append(quotient(y["topB"], y["f"], y["ddB"], n))
    y["d"].append((times("plus", "dp") - times("minus", "dq")) / (n + 1))
    for value, slope in (("A", "dA"), ("B", "dB"), ("dA", "ddA"), ("dB", "ddB")):
      y[value].append(y[slope][n] / (n + 1))

  return solve(begin, extend, KEPT, mpf(end), mp.dps + 6)


def energy(solution, t):
  A, B, dA, dB, d = (solution.at(name, t) for name in KEPT)
  return (A * A + B * B + 2) * (dA * dA + dB * dB) + (d - start()["d"]) ** 2 / 2


def crossing(solution, near):
  """The time near `near` at which A = 0, by Newton's method."""
  t = mpf(near)
  for _ in range(20):
    t -= solution.at("A", t) / solution.at("dA", t)
  return t


@functools.lru_cache(maxsize=None)
def solution(end=50, digits=40):
  with mp.workdps(digits):
    return motion(end)


def scalar_curvature(r2):
  """R = -6 (r^2 + 4)/(r^2 + 2)^3."""
  return -6 * (r2 + 4) / (r2 + 2) ** 3


def radial_curvature(r2):
  """Sectional curvature of the planes with the radius, -4/(r^2 + 2)^3."""
  return -4 / (r2 + 2) ** 3


def tangential_curvature(r2):
  """Sectional curvature of the planes across the radius, -(3 r^2 + 4)/(r^2 + 2)^3."""
  return -(3 * r2 + 4) / (r2 + 2) ** 3
