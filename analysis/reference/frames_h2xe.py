"""Exact motion of a rigid rod and an equilateral triangle that rotate out of the hyperbolic plane in H2 x E.

Masses 1, sides 1.  Points (xi, eta) of H2 in Fermi coordinates about the line of eta, dxi^2 + cosh^2 xi deta^2, and
z in E.  Particles 2 and 3 are a rod along E; they start with velocities 1/2 and -1/2 across it, in H2.  By the symmetry
under the half turn that exchanges them:
    particle 2 (xi, eta, z), 3 (-xi, eta, -z);  xi = sin(phi)/2, z = cos(phi)/2       (their side stays 1)
rod        eta = 0, phi = t: it turns in the flat plane of a geodesic and E; force of the rod 1/2
triangle   particle 1 (0, eta + H, 0) with cosh sqrt(1 - z^2) = cosh xi cosh H        (the other sides stay 1)
    eta' = -H'/(1 + 2 C^2), C = cosh xi      (momentum along the line of eta is 0)
    phi'^2 (1/2 + H_phi^2 2 C^2/(1 + 2 C^2)) = 1/2                                    (energy 1/4)
    H_phi = (d/dphi (cosh sqrt(1 - z^2)/C))/sinh H
Only the height H of the triangle changes: sqrt(3)/2 while side 23 lies along E, acosh(cosh 1/cosh(1/2)) while it
lies in H2.  Solved by collocation in numpy.longdouble.
Source: reduction of the motion by its symmetry; section 2.8.1 of the thesis begins this experiment; the code of the
thesis is at github.com/bday336/curved_space_dynamics_solver.
Units: dimensionless.
"""
import numpy as np

import collocation

HALF = np.longdouble(1) / 2


def height(phi):
  """H and dH/dphi."""
  xi, z = np.sin(phi) * HALF, np.cos(phi) * HALF
  side = np.sqrt(1 - z * z)
  cosine = np.cosh(side) / np.cosh(xi)
  # d side/d phi = -z z'/side = z sin(phi)/2/side, and d xi/d phi = z
  slope = (np.sinh(side) * z * xi / side - np.cosh(side) * np.tanh(xi) * z) / np.cosh(xi)
  sine = np.sqrt(cosine * cosine - 1)
  return np.arcsinh(sine), slope / sine


def triangle(times, step=0.1):
  """Embedding coordinates (x, y, w, z) of the three particles [time, particle, coordinate] at increasing times;
  the line of eta is y."""
  def rate(state):
    phi = state[:, 0]
    slope = height(phi)[1]
    c2 = 2 * np.cosh(np.sin(phi) * HALF) ** 2
    speed = np.sqrt(HALF / (HALF + slope ** 2 * c2 / (1 + c2)))
    return np.stack([speed, -slope * speed / (1 + c2)], axis=1)

  phi, eta = collocation.solve(rate, [0, 0], times, step).T
  H = height(phi)[0]
  xi, z = np.sin(phi) * HALF, np.cos(phi) * HALF
  return np.stack([place(0 * xi, eta + H, 0 * z), place(xi, eta, z), place(-xi, eta, -z)], axis=1)


def rod(times):
  """Embedding coordinates of the rod's two particles."""
  t = np.asarray(times, dtype=np.longdouble)
  xi, z = np.sin(t) * HALF, np.cos(t) * HALF
  return np.stack([place(xi, 0 * t, z), place(-xi, 0 * t, -z)], axis=1)


def place(xi, eta, z):
  return np.stack([np.sinh(xi), np.cosh(xi) * np.sinh(eta), np.cosh(xi) * np.cosh(eta), z], axis=-1)


def boosted(x, by):
  """Points moved along boost_x by the length `by`."""
  y, c, s = x.copy(), np.cosh(np.longdouble(by)), np.sinh(np.longdouble(by))
  y[..., 0], y[..., 2] = c * x[..., 0] + s * x[..., 2], s * x[..., 0] + c * x[..., 2]
  return y
