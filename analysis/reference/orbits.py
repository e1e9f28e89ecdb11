"""Orbits in S3, H3 and E3 by collocation in extended precision: a central potential, two bodies, an elastic ring.

Central potential V = -GM ct(a) (ct = cot, coth, 1/a; S = sin, sinh, a; S' = C):
    a'' = L^2 C(a)/S(a)^3 - GM/S(a)^2,   g' = L/S(a)^2,   L = S(a)^2 g'
    orbit ct(a) = (GM/L^2)(1 + e cos(g - g0))
Two bodies, V = -G m1 m2 ct(d), in the embedding <x,x> = sigma (S3: 1, H3: -1), form diag(1, 1, 1, sigma):
    x1'' = -sigma <x1',x1'> x1 + (G m2/S(d)^2) u,   u = (x2 - C(d) x1)/S(d)   and 1 <-> 2
Ring of N particles of mass m at polar angle a on S2, joined by N springs (k, rest r) along the parallel:
    sin(d/2) = sin(a) sin(pi/N),   m a'' = -k (d - r) dd/da,   dd/da = 2 cos(a) sin(pi/N)/cos(d/2)
Source: Carinena, Ranada and Santander (2005), J. Math. Phys. 46, 052702, doi:10.1063/1.1893214, for the Kepler problem;
the equation of the ring follows from the Lagrangian restricted to the symmetric motion.  Units: dimensionless.
"""
import numpy as np

from collocation import solve

SIGN = {"s3": 1, "h3": -1}


def sine(space, x):
  return {"s3": np.sin, "h3": np.sinh, "e3": lambda y: y}[space](x)


def cosine(space, x):
  return {"s3": np.cos, "h3": np.cosh, "e3": np.ones_like}[space](x)


def central(space, strength, a, da, dg, times, step=0.02):
  """Radius a(t) and the angle g(t) - g(0) at `times`, from a, a', g' at times[0]."""
  momentum = sine(space, np.longdouble(a)) ** 2 * np.longdouble(dg)

  def rate(y):
    s = sine(space, y[:, 0])
    force = momentum ** 2 * cosine(space, y[:, 0]) / s ** 3 - strength / s ** 2
    return np.stack([y[:, 1], force, momentum / s ** 2], axis=1)

  y = solve(rate, [np.longdouble(a), np.longdouble(da), 0], times, step)
  return y[:, 0], y[:, 2]


def two_bodies(space, strength, masses, x, v, times, step=0.05):
  """Embedding positions [T, 2, 4] at `times`, from positions and velocities [2, 4] at times[0]."""
  sign = SIGN[space]
  form = np.array([1, 1, 1, sign], dtype=np.longdouble)
  masses = np.asarray(masses, dtype=np.longdouble)

  def rate(y):
    x, v = y[:, 0], y[:, 1]
    chord = np.sqrt(np.sum(form * (x[:, 1] - x[:, 0]) ** 2, axis=-1))
    half = (np.arcsin if sign > 0 else np.arcsinh)(chord / 2)
    s, c = sine(space, 2 * half)[:, None], cosine(space, 2 * half)[:, None]
    force = np.stack([masses[1] * (x[:, 1] - c * x[:, 0]), masses[0] * (x[:, 0] - c * x[:, 1])], axis=1)
    curve = sign * np.sum(form * v * v, axis=-1)[..., None] * x
    return np.stack([v, strength / s[..., None] ** 3 * force - curve], axis=1)

  y = solve(rate, np.array([x, v], dtype=np.longdouble), times, step)
  return y[:, 0]


def ring(count, stiffness, rest, mass, a, da, times, step=0.05):
  """Polar angle a(t) of the ring at `times`."""
  share = np.sin(np.longdouble(np.pi) / count)

  def rate(y):
    half = np.arcsin(np.sin(y[:, 0]) * share)
    slope = 2 * np.cos(y[:, 0]) * share / np.cos(half)
    return np.stack([y[:, 1], -stiffness / mass * (2 * half - rest) * slope], axis=1)

  return solve(rate, [np.longdouble(a), np.longdouble(da)], times, step)[:, 0]
