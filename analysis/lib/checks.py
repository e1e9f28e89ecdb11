"""Checks of claims (measured value and allowed range), and the fit of an order of convergence."""
from dataclasses import dataclass

import numpy as np


@dataclass
class Check:
  claim: str
  measured: str
  criterion: str
  passed: bool


def at_most(claim, value, bound):
  return Check(claim, f"{value:.3g}", f"≤ {bound:.3g}", bool(value <= bound))


def near(claim, value, target, tolerance, digits=5):
  passed = bool(abs(value - target) <= tolerance)
  return Check(claim, f"{value:.{digits}g}", f"{target:.{digits}g} ± {tolerance:.2g}", passed)


def at_least(claim, value, bound):
  return Check(claim, f"{value:.3g}", f"≥ {bound:.3g}", bool(value >= bound))


def between(claim, values, low, high):
  """`values` is one value or an array; every value must be in the range."""
  least, most = float(np.min(values)), float(np.max(values))
  measured = f"{least:.3g}" if least == most else f"{least:.3g} to {most:.3g}"
  return Check(claim, measured, f"{low:.3g} to {high:.3g}", bool(low <= least and most <= high))


def three_digits(claim, value, printed):
  """`printed` has three significant digits; the value must round to it (within 0.51 units of the last digit)."""
  unit = 10.0 ** (np.floor(np.log10(printed)) - 2)
  return Check(claim, f"{value:.4g}", f"{printed:.3g} to three digits", bool(abs(value - printed) <= 0.51 * unit))


def fitted_order(steps, errors, floor, top=0.05):
  """Slope of log error against log step by least squares, from the coarse end down to the first error below `floor`,
  where round-off takes over (and grows again at smaller steps), without errors of `top` or more.  Returns (order,
  points used); the order is nan if there are fewer than three points."""
  used = []
  for step, error in sorted(zip(steps, errors), reverse=True):
    if error <= floor:
      break
    if error < top:
      used.append((step, error))
  if len(used) < 3:
    return float("nan"), len(used)
  return float(np.polyfit(*np.log(np.transpose(used)), 1)[0]), len(used)
