#!/usr/bin/python3
"""Exact separations of the elastic rod and triangle in S3, H3 and E3: reduced equations, Taylor series in mpmath.

All parameters 1: mass m, stiffness k, rest length D, Killing speed v.  Spring potential V = (k/2)(d - D)^2.
sigma = -1 (S3), 1 (H3), 0 (E3), with (S, C) = (sin, cos), (sinh, cosh), (l, 1).

Rod, l = d/2, l(0) = D/2, l'(0) = 0:
    l'' = sigma v^2 C(D/2)^4 S(l)/C(l)^3 - (2k/m)(l - D/2)
Triangle, l = s23/2, H the distance from particle 1 to the midpoint of 2 and 3, c = 1 + 2 C(l)^2, P = m v c(0):
    u = (P - m H')/(m c),   s = s12 = s13 = C^-1(C(H) C(l))   (E3: s^2 = l^2 + H^2)
    l'' = sigma S(l) C(l) u^2 - (k/m)(2l - D) - (k/m)(s - D) C(H) S(l)/S(s)
    H'' (1 - 1/c) = -(2k/m)(s - D) S(H) C(l)/S(s) + (P/m - H') c'/c^2
Source: reduction of the motion by its symmetry, sections 2.7.1 and 2.7.2 of the thesis whose code is published at
github.com/bday336/curved_space_dynamics_solver; its S3 rod is rewritten in l.  Energies (the check, not used to solve):
    rod       l'^2 + v^2 C(D/2)^4/C(l)^2 + 2 (l - D/2)^2        (m = k = 1)
    triangle  (u + H')^2/2 + C(l)^2 u^2 + l'^2 + (2l - D)^2/2 + (s - D)^2
Units: dimensionless.  Valid while the particles are apart and, in S3, l < pi/2.

Run as a program it writes the arrays that the C tests compare with (3 minutes):  elastic.py > tests/oracle_elastic.h
"""
import functools
import sys

import numpy as np
from mpmath import mp, mpf

import collocation
from taylor import product, quotient, solve, square_root

SIGMA = {"s3": -1, "h3": 1, "e3": 0}


def cosine(sigma, x):
  return {-1: mp.cos, 1: mp.cosh, 0: lambda _: mpf(1)}[sigma](x)


def sine(sigma, x):
  return {-1: mp.sin, 1: mp.sinh, 0: lambda y: y}[sigma](x)


def arc_cosine(sigma, w):
  return mp.acos(w) if sigma < 0 else mp.acosh(w)


def extend_sine_cosine(sigma, dx, s, c, n):
  """Coefficient n+1 of S(x), C(x) from S' = C x', C' = sigma S x'; dx holds the series of x'."""
  s.append(product(c, dx, n) / (n + 1))
  c.append(sigma * product(s, dx, n) / (n + 1))


def rod(space, end):
  """Solution with components l, dl on [0, end]; the separation is 2 l."""
  sigma = SIGMA[space]
  flow = sigma * cosine(sigma, mpf(1) / 2) ** 4

  def begin(state):
    state = state or {"l": mpf(1) / 2, "dl": mpf(0)}
    return {"l": [state["l"]], "dl": [state["dl"]], "S": [sine(sigma, state["l"])], "C": [cosine(sigma, state["l"])],
            "C_squared": [], "C_cubed": [], "S_over_C_cubed": []}

  def extend(y, n):
    y["C_squared"].append(product(y["C"], y["C"], n))
    y["C_cubed"].append(product(y["C_squared"], y["C"], n))
    y["S_over_C_cubed"].append(quotient(y["S"], y["C_cubed"], y["S_over_C_cubed"], n))
    rest = mpf(1) / 2 if n == 0 else 0
    ddl = flow * y["S_over_C_cubed"][n] - 2 * (y["l"][n] - rest)
    y["l"].append(y["dl"][n] / (n + 1))
    extend_sine_cosine(sigma, y["dl"], y["S"], y["C"], n)
    y["dl"].append(ddl / (n + 1))

  return solve(begin, extend, ("l", "dl"), mpf(end), order())


def triangle(space, end):
  """Solution with components l, dl, H, dH, s on [0, end]; the separations are s12 = s13 = s and s23 = 2 l."""
  sigma = SIGMA[space]
  half = mpf(1) / 2
  height = arc_cosine(sigma, cosine(sigma, 1) / cosine(sigma, half)) if sigma else mp.sqrt(3) / 2
  momentum = 1 + 2 * cosine(sigma, half) ** 2

  def side(l, H):
    return arc_cosine(sigma, cosine(sigma, H) * cosine(sigma, l)) if sigma else mp.sqrt(l * l + H * H)

  def begin(state):
    y = state or {"l": half, "dl": mpf(0), "H": height, "dH": mpf(0)}
    y["s"] = side(y["l"], y["H"])
    series = {name: [y[name]] for name in ("l", "dl", "H", "dH", "s")}
    series.update(S=[sine(sigma, y["l"])], C=[cosine(sigma, y["l"])], SH=[sine(sigma, y["H"])],
                  CH=[cosine(sigma, y["H"])])
    for name in ("cosine_s", "sine_s_squared", "sine_s", "stretch", "pull", "c", "dc", "p", "u", "u_squared", "u_dc",
                 "S_C", "C_squared", "CH_S", "SH_C", "pull_SH_C", "top", "ddH"):
      series[name] = []
    return series

  def extend(y, n):
    one = 1 if n == 0 else 0

    def times(a, b):
      return product(y[a], y[b], n)

    if sigma:
      y["cosine_s"].append(times("CH", "C"))
      y["sine_s_squared"].append(sigma * (times("cosine_s", "cosine_s") - one))
    else:
      y["sine_s_squared"].append(times("l", "l") + times("H", "H"))
    y["sine_s"].append(square_root(y["sine_s_squared"], y["sine_s"], n))
    y["stretch"].append(y["s"][n] - one)
    y["pull"].append(quotient(y["stretch"], y["sine_s"], y["pull"], n))
    y["S_C"].append(times("S", "C"))
    y["C_squared"].append(times("C", "C"))
    y["CH_S"].append(times("CH", "S"))
    y["SH_C"].append(times("SH", "C"))
    y["c"].append(one + 2 * y["C_squared"][n])
    y["p"].append(momentum * one - y["dH"][n])
    y["u"].append(quotient(y["p"], y["c"], y["u"], n))
    y["u_squared"].append(times("u", "u"))
    ddl = sigma * times("S_C", "u_squared") - (2 * y["l"][n] - one) - times("pull", "CH_S")
    # H'' (c - 1)/c = -2 pull S(H) C(l) + u c'/c  with  c - 1 = 2 C(l)^2  and  c' = 4 sigma S(l) C(l) l'
    y["dc"].append(4 * sigma * times("S_C", "dl"))
    y["u_dc"].append(times("u", "dc"))
    y["pull_SH_C"].append(times("pull", "SH_C"))
    y["top"].append(y["u_dc"][n] / 2 - times("c", "pull_SH_C"))
    y["ddH"].append(quotient(y["top"], y["C_squared"], y["ddH"], n))
    y["l"].append(y["dl"][n] / (n + 1))
    y["H"].append(y["dH"][n] / (n + 1))
    extend_sine_cosine(sigma, y["dl"], y["S"], y["C"], n)
    extend_sine_cosine(sigma, y["dH"], y["SH"], y["CH"], n)
    y["s"].append(next_side(y, n))
    y["dl"].append(ddl / (n + 1))
    y["dH"].append(y["ddH"][n] / (n + 1))

  def next_side(y, n):
    # coefficient n+1 of s from  sigma S(s) s' = (C(H) C(l))',  in E3  s s' = ((l^2 + H^2)/2)'
    if sigma:
      slope = sigma * (n + 1) * product(y["CH"], y["C"], n + 1)
    else:
      slope = half * (n + 1) * (product(y["l"], y["l"], n + 1) + product(y["H"], y["H"], n + 1))
    known = sum((k * y["s"][k] * y["sine_s"][n + 1 - k] for k in range(1, n + 1)), mpf(0))
    return (slope - known) / ((n + 1) * y["sine_s"][0])

  return solve(begin, extend, ("l", "dl", "H", "dH", "s"), mpf(end), order())


def order():
  """Taylor order for the working precision: about one per digit."""
  return mp.dps + 6


def rod_energy(space, solution, t):
  sigma = SIGMA[space]
  l, dl = solution.at("l", t), solution.at("dl", t)
  return dl ** 2 + cosine(sigma, mpf(1) / 2) ** 4 / cosine(sigma, l) ** 2 + 2 * (l - mpf(1) / 2) ** 2


def triangle_energy(space, solution, t):
  sigma = SIGMA[space]
  l, dl, H, dH, s = (solution.at(name, t) for name in ("l", "dl", "H", "dH", "s"))
  cosine_l = cosine(sigma, l)
  u = (1 + 2 * cosine(sigma, mpf(1) / 2) ** 2 - dH) / (1 + 2 * cosine_l ** 2)
  return (u + dH) ** 2 / 2 + cosine_l ** 2 * u ** 2 + dl ** 2 + (2 * l - 1) ** 2 / 2 + (s - 1) ** 2


@functools.lru_cache(maxsize=None)
def solution(body, space, end, digits):
  with mp.workdps(digits):
    return {"rod": rod, "triangle": triangle}[body](space, end)


def separation(body, bond, space, times, digits=24):
  """Separation of a bond (s12, s13, s23 of a triangle; a rod has bond 0) at an array of times, in numpy.longdouble."""
  exact = solution(body, space, max(10, int(np.ceil(np.max(times)))), digits)
  with mp.workdps(digits):
    return 2 * exact("l", times) if body == "rod" or bond == 2 else exact("s", times)


def rod_long(space, times, step=0.25):
  """Separation of the rod at many times by collocation in numpy.longdouble, for long times, for which the series are
  slow. On [0, 1000] it differs by at most 1e-16 from the values of the series in tests/oracle_elastic.h."""
  sigma = SIGMA[space]
  s, c = {-1: (np.sin, np.cos), 1: (np.sinh, np.cosh), 0: (lambda x: x, np.ones_like)}[sigma]
  half = np.longdouble(1) / 2
  flow = sigma * c(half) ** 4

  def rate(y):
    l = y[:, 0]
    return np.stack([y[:, 1], flow * s(l) / c(l) ** 3 - 2 * (l - half)], axis=1)

  return 2 * collocation.solve(rate, [half, 0], times, step)[:, 0]


def c_array(name, comment, values):
  texts = [mp.nstr(v, 22, strip_zeros=False) for v in values]
  rows = ",\n".join("  " + ", ".join(texts[i:i + 4]) for i in range(0, len(texts), 4))
  return f"/* {comment} */\nstatic const double {name}[{len(values)}] = {{\n{rows}\n}};\n\n"


HEADER = """/* Exact separations of the elastic rod and triangle in H3 and S3, all parameters 1.
 *
 * Written by analysis/reference/elastic.py, which states the reduced equations and solves them by Taylor series in
 * mpmath with {digits} digits. The energy integral, which the solver does not use, drifts by at most {drift}; a second
 * run with {more} digits changes the numbers by at most {change}.
 * Units: dimensionless.  Arrays without a suffix: t = 0, 1, ..., 10; arrays ending in _long: t = 100, 200, ..., 1000.
 */
#ifndef ORACLE_ELASTIC_H
#define ORACLE_ELASTIC_H

"""


def oracle():
  """The arrays of tests/oracle_elastic.h as (name, comment, values), and the largest energy drift."""
  arrays, drift = [], mpf(0)
  for space in ("h3", "s3"):
    solution = rod(space, 1000)
    start = rod_energy(space, solution, 0)
    drift = max(drift, *(abs(rod_energy(space, solution, t) - start) for t in (10, 500, 1000)))
    for suffix, times in (("", range(11)), ("_long", range(100, 1001, 100))):
      arrays.append((f"oracle_rod_{space}{suffix}", f"{space.upper()} rod, separation",
                     [2 * solution.at("l", t) for t in times]))
  for space in ("h3", "s3"):
    solution = triangle(space, 10)
    start = triangle_energy(space, solution, 0)
    drift = max(drift, *(abs(triangle_energy(space, solution, t) - start) for t in (5, 10)))
    arrays.append((f"oracle_triangle_{space}_s12", f"{space.upper()} triangle, s12 = s13",
                   [solution.at("s", t) for t in range(11)]))
    arrays.append((f"oracle_triangle_{space}_s23", f"{space.upper()} triangle, s23",
                   [2 * solution.at("l", t) for t in range(11)]))
  return arrays, drift


def main(digits=40, more=55):
  with mp.workdps(digits):
    arrays, drift = oracle()
  with mp.workdps(more):
    again, _ = oracle()
    change = max(abs(a - b) for one, two in zip(arrays, again) for a, b in zip(one[2], two[2]))
    sys.stdout.write(HEADER.format(digits=digits, more=more, drift=mp.nstr(drift, 1), change=mp.nstr(change, 1)))
  for array in arrays:
    sys.stdout.write(c_array(*array))
  sys.stdout.write("#endif\n")


if __name__ == "__main__":
  main()
