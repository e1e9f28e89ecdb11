#!/usr/bin/python3
"""Locomotion by shape change in 25 digits: connections, curvatures and holonomies of the models, written out again.

    g' = g xi,   xi = -A(r) r',   A = P^-1 Q,   M = R - Q^T A,   G = sum J^T D J = ((P, Q), (Q^T, R))
    B = d_1 A_2 - d_2 A_1 - [A_1, A_2];   log g = -B area + ...  for a small loop;   cost int r'Mr' dt
J is computed by differences of positions (no derivative by hand), B by differences of A.
Holonomies in SE(2) are quadratures, first of the angle, then of the position, on collocation panels of order 32.
Sources: Avron, Kenneth & Oaknin, New J. Physics 7 (2005) 234, doi:10.1088/1367-2630/7/1/234; Hatton & Choset, IEEE
Trans. Robotics 29 (2013) 615, doi:10.1109/TRO.2013.2251211; Avron & Kenneth, New J. Physics 8 (2006) 68,
doi:10.1088/1367-2630/8/5/068; Golestanian & Ajdari, Phys. Rev. E 77 (2008) 036308, doi:10.1103/PhysRevE.77.036308.

    reference/locomotion_exact.py          prints the numbers, one per line
"""
import functools

import mpmath
from mpmath import cos, cosh, matrix, mp, mpf, pi, sin, sinh, sqrt, tan, tanh

mp.dps = 50
STEP, TINY = mpf("1e-10"), mpf("1e-7")  # steps of differences of positions and of A; together an error of 1e-28


# Bundles: r -> (A [dim][n], M [n][n]) as matrices.

def pmpy(r, viscosity=1, volume=8 * pi / 3):
  l, v = r
  a1, a2 = ((3 * w / (4 * pi)) ** (mpf(1) / 3) for w in (v, volume - v))
  drag = 6 * pi * viscosity
  return (matrix([[(a1 - a2) / (a1 + a2) / 2, 1 / (4 * pi * l ** 2)]]),
          mpmath.diag([drag * a1 * a2 / (a1 + a2), drag * 2 / (9 * pi) * (1 / v + 1 / (volume - v))]))


def reduced(G, dim):
  A = G[:dim, :dim] ** -1 * G[:dim, dim:]
  return A, G[dim:, dim:] - G[dim:, :dim] * A


def middles(q, links, length):
  """(x, y, heading) of every link's middle; q = (x, y, heading) of the middle link, then the hinges."""
  base, h = (links - 1) // 2, mpf(length) / links / 2
  place = {base: (q[0], q[1], q[2])}
  for k in range(base + 1, links):
    x, y, a = place[k - 1]
    b = a + q[3 + k - 1]
    place[k] = (x + h * (cos(a) + cos(b)), y + h * (sin(a) + sin(b)), b)
  for k in range(base - 1, -1, -1):
    x, y, a = place[k + 1]
    b = a - q[3 + k]
    place[k] = (x - h * (cos(a) + cos(b)), y - h * (sin(a) + sin(b)), b)
  return [place[k] for k in range(links)]


def jacobians(r, links, length):
  """For each link, the matrix that maps (xi, r') to its velocity (along, across, rotation); r: hinge angles, the
  heading of link k + 1 minus that of link k."""
  q = [mpf(0)] * 3 + list(r)
  here = middles(q, links, length)
  J = [matrix(3, len(q)) for _ in range(links)]
  for i in range(len(q)):
    sides = []
    for s in (1, -1, 2, -2):
      moved = list(q)
      moved[i] += s * STEP
      sides.append(middles(moved, links, length))
    for k in range(links):
      dx, dy, da = ((8 * (sides[0][k][c] - sides[1][k][c]) - sides[2][k][c] + sides[3][k][c]) / (12 * STEP)
                    for c in range(3))
      a = here[k][2]
      J[k][0, i], J[k][1, i], J[k][2, i] = cos(a) * dx + sin(a) * dy, cos(a) * dy - sin(a) * dx, da
  return J


def chain(r, drag, links=3, length=1):
  """A and M of a chain; drag: coefficients of one link along, across, and of rotation."""
  G = matrix(2 + links)
  for J in jacobians(r, links, length):
    G += J.T * mpmath.diag(drag) * J
  return reduced(G, 3)


def kinematic_snake(r):
  """A and M from the condition that the middle of no link moves sideways."""
  rows = matrix(3, 5)
  for k, J in enumerate(jacobians(r, 3, 1)):
    rows[k, :] = J[1, :]
  return rows[:, :3] ** -1 * rows[:, 3:], mpmath.eye(2)


def purcell(r, ratio=2, turn=None, links=3):
  l = mpf(1) / links
  turn = mpf(ratio) / 12 if turn is None else turn
  return chain(r, (l, ratio * l, turn * l ** 3), links, 1)


def floating_snake(r):
  return chain(r, (mpf(1), mpf(1), mpf(1) / 12), 3, 3)


def three_sphere(r, radius, viscosity=1):
  """A and M for the position of the middle sphere, by Oseen's tensor; the sum of the three forces is 0."""
  l1, l2 = r
  unit = 1 / (6 * pi * viscosity * mpf(radius))
  far = lambda d: 1 / (4 * pi * viscosity * d)  # noqa: E731
  H = matrix([[unit, far(l1), far(l1 + l2)], [far(l1), unit, far(l2)], [far(l1 + l2), far(l2), unit]])
  C = H ** -1
  one, moves = matrix([1, 1, 1]), matrix([[-1, 0], [0, 0], [0, 1]])
  P, Q = (one.T * C * one)[0], one.T * C * moves
  A = Q / P
  return A, moves.T * C * moves - Q.T * A


def falling_cat(alpha, m=(1, 1), inertia=(1, 1), arm=(1, 1)):
  """theta_1'/alpha' of two bodies, from the angular momenta of their centres of mass about the common centre of
  mass."""
  mu = mpf(m[0]) * m[1] / (m[0] + m[1])
  # The vector between the centres, arm_1 (cos theta_1, ..) + arm_2 (cos theta_2, ..), in the axes of body 1.
  d = lambda turn: (arm[0] + arm[1] * cos(turn), arm[1] * sin(turn))  # noqa: E731
  x, y = d(alpha)
  whole = mu * (x * x + y * y) + inertia[0] + inertia[1]
  part = mu * (x * arm[1] * cos(alpha) + y * arm[1] * sin(alpha)) + inertia[1]
  return -part / whole


# Curvature, gaits, holonomies.

def bracket(a, b):
  """Bracket of se(2) in (x, y, theta), and of R, where it is 0."""
  if len(a) == 1:
    return matrix([0])
  return matrix([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], 0])


def slope(f, r, i):
  """df/dr_i by differences of order 4."""
  at = lambda s: f([x + s * TINY * (k == i) for k, x in enumerate(r)])[0]  # noqa: E731
  return (8 * (at(1) - at(-1)) - at(2) + at(-2)) / (12 * TINY)


def curvature(f, r):
  A = f(r)[0]
  dA2, dA1 = slope(f, r, 0)[:, 1], slope(f, r, 1)[:, 0]
  return dA2 - dA1 - bracket(A[:, 0], A[:, 1])


def circle(radius=1, middle=(0, 0)):
  """A circle as a function t -> (r, r'), and the ends of the panels of its quadrature."""
  def at(t):
    c, s = radius * cos(2 * pi * t), radius * sin(2 * pi * t)
    return [middle[0] + c, middle[1] + s], [-2 * pi * s, 2 * pi * c]
  return at, [mpf(k) / 8 for k in range(9)]


def polygon(corners):
  corners = [[mpf(x) for x in c] for c in corners]
  n = len(corners)
  def at(t):
    k = min(int(t * n), n - 1)
    p, q, s = corners[k], corners[(k + 1) % n], t * n - k
    return [a + s * (b - a) for a, b in zip(p, q)], [n * (b - a) for a, b in zip(p, q)]
  return at, [mpf(k) / (4 * n) for k in range(4 * n + 1)]


@functools.lru_cache
def collocation(stages):
  """Nodes in [0, 1], weights, and integrals from 0 to each node of the interpolating polynomial."""
  nodes = [(1 + x) / 2 for x in mpmath.polyroots(mpmath.taylor(lambda x: mpmath.legendre(stages, x), 0, stages)[::-1],
                                                 maxsteps=200, extraprec=200)]
  V = matrix(stages)
  for k, c in enumerate(nodes):
    for p in range(stages):
      V[p, k] = c ** p
  inverse = V ** -1
  up_to = lambda c: [sum(inverse[k, p] * c ** (p + 1) / (p + 1) for p in range(stages))  # noqa: E731
                     for k in range(stages)]
  return nodes, up_to(mpf(1)), [up_to(c) for c in nodes]


def holonomy(f, gait, stages=16):
  """(g, length, cost): g = (x, y, theta) in SE(2), (X) in R."""
  at, edges = gait
  nodes, weights, inner = collocation(stages)
  g, length, cost = None, mpf(0), mpf(0)
  for a, b in zip(edges, edges[1:]):
    h = b - a
    xi = []
    for c, w in zip(nodes, weights):
      r, rate = at(a + h * c)
      A, M = f(r)
      v = matrix(rate)
      square = (v.T * M * v)[0]
      length, cost = length + h * w * sqrt(square), cost + h * w * square
      xi.append(-(A * v))
    g = g or [mpf(0)] * len(xi[0])
    if len(g) == 1:
      g[0] += h * sum(w * x[0] for w, x in zip(weights, xi))
      continue
    angle = [g[2] + h * sum(c * x[2] for c, x in zip(row, xi)) for row in inner]
    g[0] += h * sum(w * (x[0] * cos(u) - x[1] * sin(u)) for w, x, u in zip(weights, xi, angle))
    g[1] += h * sum(w * (x[0] * sin(u) + x[1] * cos(u)) for w, x, u in zip(weights, xi, angle))
    g[2] += h * sum(w * x[2] for w, x in zip(weights, xi))
  return g, length, cost


def disc_integral(f, radius=1, rings=8, angles=20):
  """-int int B over a disc around the origin, by Gauss's rule along the radius and evenly spaced angles."""
  nodes, weights, _ = collocation(rings)
  total = 0
  for c, w in zip(nodes, weights):
    for k in range(angles):
      u, s = 2 * pi * k / angles, radius * c
      total -= curvature(f, [s * cos(u), s * sin(u)]) * (w * radius * s * 2 * pi / angles)
  return total


# Swimmers in spaces of constant curvature, from the foot of the tips on the geodesic and from their weight, which
# depends on the distance from it.

def curved_swimmer(kind, corners=((".3", ".4"), ("1", ".4"), ("1", "1.2"), (".3", "1.2")), legs=2, apex=1, tip=1):
  """X after the polygon in (l, a), each side by adaptive quadrature of -W/(m_0 + W) dx/ds; kind: 1 S, 0 E, -1 H."""
  S, C, T = {1: (sin, cos, tan), 0: (lambda x: x, lambda x: mpf(1), lambda x: x), -1: (sinh, cosh, tanh)}[kind]
  inverse = {1: mpmath.atan, 0: lambda x: x, -1: mpmath.atanh}[kind]
  across = {1: mpmath.asin, 0: lambda x: x, -1: mpmath.asinh}[kind]
  corners = [[mpf(x) for x in c] for c in corners]
  total = mpf(0)
  for p, q in zip(corners, corners[1:] + corners[:1]):
    def foot(s):
      l, a = (x + s * (y - x) for x, y in zip(p, q))
      return inverse(T(l) * cos(a))
    def rate(s):
      l, a = (x + s * (y - x) for x, y in zip(p, q))
      W = legs * tip * C(across(S(l) * sin(a))) ** 2
      step = mpf("1e-9")
      slope = (8 * (foot(s + step) - foot(s - step)) - foot(s + 2 * step) + foot(s - 2 * step)) / (12 * step)
      return -W / (apex + W) * slope
    total += mpmath.quad(rate, [0, mpf("0.5"), 1])
  return total


def rolling_ball(radius):
  """Angle of the rotation of a ball of radius 1 after a circle of contact of this radius."""
  return 2 * pi * (sqrt(1 + mpf(radius) ** 2) - 1)


def hopping_leg(swing, stretch, inertia=1, mass=1, length=1):
  f = lambda d: mass * (length + d) ** 2 / (inertia + mass * (length + d) ** 2)  # noqa: E731
  return swing * (f(mpf(stretch)) - f(mpf(0)))


def raft_yaw(theta, raft=1, inertia=1, mass=1, length=1):
  mu = mpf(mass) * raft / (mass + raft)
  s = mu * length ** 2 * sin(theta) ** 2
  return -2 * pi * s / (inertia + s)


def sphere_robot(swing, lift, inertia, radius=1, equator=1, across=1):
  """Rotation after the rectangle: swing, lift, swing back, lower."""
  pair = 2 * mpf(equator) * radius ** 2
  A = lambda theta: pair / (inertia + pair + 2 * across * (radius * cos(theta)) ** 2)  # noqa: E731
  return -swing * (A(mpf(0)) - A(mpf(lift)))


@functools.lru_cache
def numbers():
  """{name: [values]} with which the models are compared."""
  flat = lambda M: [M[i, j] for i in range(M.rows) for j in range(M.cols)]  # noqa: E731
  out = {}
  v0 = 8 * pi / 3
  A, M = pmpy((5, v0 / 2))
  out["pmpy A(5, v0/2)"], out["pmpy M(5, v0/2)"] = flat(A), flat(M)
  out["pmpy B(5, v0/2)"] = flat(curvature(pmpy, [mpf(5), v0 / 2]))
  A, M = pmpy((mpf(6), mpf(2)))
  out["pmpy A(6, 2)"], out["pmpy M(6, 2)"] = flat(A), flat(M)
  g, length, _ = holonomy(pmpy, polygon([(4, ".5"), (8, ".5"), (8, v0 - .5), (4, v0 - .5)]))
  out["pmpy rectangle X"], out["pmpy rectangle length"] = g, [length]
  zero = [mpf(0), mpf(0)]
  A, M = purcell(zero)
  out["purcell A(0)"], out["purcell M(0)"] = flat(A), flat(M)
  out["purcell B(0)"] = flat(curvature(purcell, zero))
  out["purcell B(.5, -.3)"] = flat(curvature(purcell, [mpf(".5"), mpf("-.3")]))
  half = functools.partial(purcell, turn=mpf(1) / 12)
  out["purcell A_theta(0), half the rotational drag"] = flat(half(zero)[0][2, :])
  out["purcell B_x(0), half the rotational drag"] = [curvature(half, zero)[0]]
  g, length, _ = holonomy(purcell, circle())
  out["purcell circle g"], out["purcell circle length"] = g, [length]
  out["purcell circle cBVI |x|"] = [mpmath.hypot(*disc_integral(purcell)[:2])]
  g, length, _ = holonomy(purcell, polygon([(1, 1), (-1, 1), (-1, -1), (1, -1)]))
  out["purcell square g"], out["purcell square length"] = g, [length]
  out["floating snake A(0)"] = flat(floating_snake(zero)[0])
  out["floating snake circle angle"] = [holonomy(floating_snake, circle())[0][2]]
  out["hopping leg"] = [hopping_leg(pi / 2, ".5")]
  out["rolling ball 1/2"], out["rolling ball 1"] = [rolling_ball(".5")], [rolling_ball(1)]
  out["hopf length, solid angle 1"] = [sqrt(4 * pi - 1)]
  for name, kind in (("S2", 1), ("E2", 0), ("H2", -1)):
    out[f"curved swimmer {name}"] = [curved_swimmer(kind)]
  tiny = functools.partial(three_sphere, radius="1e-3")
  d = mpf("1e-2")
  ellipse = (lambda t: ([1 + d * cos(2 * pi * t + pi / 2), 1 + d * cos(2 * pi * t)],
                        [-2 * pi * d * sin(2 * pi * t + pi / 2), -2 * pi * d * sin(2 * pi * t)]),
             [mpf(k) / 8 for k in range(9)])
  X = holonomy(tiny, ellipse)[0][0]
  out["three spheres X by the formula"] = [X / (7 * mpf("1e-3") / 12 * pi * d ** 2)]
  out["raft with yaw, theta = 1"] = [raft_yaw(mpf(1))]
  out["sphere robot"] = [sphere_robot(pi / 2, ".6", mpf(".2"))]
  out["kinematic snake circle g"] = holonomy(kinematic_snake, circle(mpf(".5"), (mpf("1.2"), mpf("-.8"))))[0]
  return out


if __name__ == "__main__":
  for name, values in numbers().items():
    print(f"{name:48s}", *(mpmath.nstr(mpmath.chop(v, mpf("1e-18")), 16) for v in values))
