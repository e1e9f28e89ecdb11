"""Hard spheres on geodesics of products of S, E and H: roots of the gap in closed form, and reflection; in mpmath.

Factor of curvature K = 1, 0, -1, form <,> = diag(1, ..., 1, K), <x,x> = K; S, C = sin, cos | id, 1 | sinh, cosh:
    x(t) = C(s t) x + S(s t)/s v,   s = |v|;    d = (sum over factors of d_f^2)^(1/2), C(d_f) = K <x,y> or d_f = |x - y|
    u = grad_1 d = -(1/d) log_x(y),   w = grad_2 d,   <u,u> = <w,w> = 1
    contact: d = r1 + r2, d' = <u,v1> + <w,v2> < 0;   J = -(1 + e) d'/(1/m1 + 1/m2),   v1 += J u/m1,  v2 += J w/m2
    wall: the plane <x,n> = 0, gap S^-1(<x,n>) - r, gradient along n - K <x,n> x
Source: the reflection law is that of J. J. Moreau (1988), doi:10.1007/978-3-7091-2624-0_1; the rest is trigonometry.
Units: dimensionless.  Valid for contacts farther apart in time than SCAN.
"""
from mpmath import mp, mpf

DIGITS = 40
SCAN = mpf("0.01")  # time between two evaluations of a gap; two roots within it are missed

# Factors (offset, count, curvature) in the embedding.
SPACES = {"e3": [(0, 3, 0)], "s3": [(0, 4, 1)], "h3": [(0, 4, -1)], "h2xe": [(0, 3, -1), (3, 1, 0)]}


def sine(K, x):
  return mp.sin(x) if K > 0 else mp.sinh(x) if K < 0 else x


def cosine(K, x):
  return mp.cos(x) if K > 0 else mp.cosh(x) if K < 0 else mpf(1)


def inverse_sine(K, x):
  return mp.asin(x) if K > 0 else mp.asinh(x) if K < 0 else x


def inner(K, x, y):
  total = sum(a * b for a, b in zip(x, y))
  return total - 2 * x[-1] * y[-1] if K < 0 else total


def dot(space, u, v):
  return sum(inner(K, u[o:o + n], v[o:o + n]) for o, n, K in SPACES[space])


def polar(space, q, u):
  """Point and velocity of the embedding from those in polar coordinates."""
  q, u = [mpf(c) for c in q], [mpf(c) for c in u]
  K = SPACES[space][0][2]
  s, c = sine(K, q[0]), cosine(K, q[0])
  if space == "h2xe":
    ray, turn, rest = [mp.cos(q[1]), mp.sin(q[1])], [-mp.sin(q[1]) * u[1], mp.cos(q[1]) * u[1]], [(q[2], u[2])]
  else:
    sb, cb, sg, cg = mp.sin(q[1]), mp.cos(q[1]), mp.sin(q[2]), mp.cos(q[2])
    ray = [sb * cg, sb * sg, cb]
    turn, rest = [cb * cg * u[1] - sb * sg * u[2], cb * sg * u[1] + sb * cg * u[2], -sb * u[1]], []
  x, v = [s * r for r in ray], [c * u[0] * r + s * t for r, t in zip(ray, turn)]
  if K:
    x, v = x + [c], v + [-K * s * u[0]]
  return x + [p for p, _ in rest], v + [p for _, p in rest]


def flow(space, x, v, t):
  """Point and velocity after time t on the geodesic."""
  y, w = [], []
  for o, n, K in SPACES[space]:
    a, b = x[o:o + n], v[o:o + n]
    speed = mp.sqrt(inner(K, b, b))
    c, s = cosine(K, speed * t), (sine(K, speed * t) / speed if speed else t)
    y += [c * p + s * q for p, q in zip(a, b)]
    w += [-K * speed ** 2 * s * p + c * q for p, q in zip(a, b)]
  return y, w


def log(space, x, y):
  """The shortest vector v with exp_x(v) = y."""
  v = []
  for o, n, K in SPACES[space]:
    a, b = x[o:o + n], y[o:o + n]
    if K == 0:
      v += [q - p for p, q in zip(a, b)]
      continue
    c = K * inner(K, a, b)
    side = [q - c * p for p, q in zip(a, b)]
    size = mp.sqrt(inner(K, side, side))
    d = mp.atan2(size, c) if K > 0 else mp.asinh(size)
    v += [d / size * q for q in side]
  return v


def distance(space, x, y):
  v = log(space, x, y)
  return mp.sqrt(dot(space, v, v))


def first_root(gap, start, end):
  """The first time after `start` at which a positive gap closes, or None."""
  t = start + SCAN / 16  # just after the contact at `start`
  before = gap(t)
  while t < end:
    after = gap(t + SCAN)
    if before > 0 and after <= 0:
      return mp.findroot(gap, (t, t + SCAN), solver="anderson", tol=mpf(10) ** (-2 * mp.dps + 10))
    t, before = t + SCAN, after
  return None


def bounce_pair(space, states, masses, e=1):
  """Velocities of two spheres with the states (x, v) after their contact, returned as states; e: restitution."""
  (x, v), (y, w) = states
  back, forth = log(space, x, y), log(space, y, x)
  d = mp.sqrt(dot(space, back, back))
  u, n = [-c / d for c in back], [-c / d for c in forth]
  rate = dot(space, u, v) + dot(space, n, w)
  J = -(1 + mpf(e)) * rate / (1 / mpf(masses[0]) + 1 / mpf(masses[1]))
  return [(x, [a + J / masses[0] * b for a, b in zip(v, u)]), (y, [a + J / masses[1] * b for a, b in zip(w, n)])]


def pair(space, radii, masses, states, end):
  """Legs (time, [(x, v), (x, v)]): the start and every contact until `end`, with the states from which the geodesics
  start."""
  with mp.workdps(DIGITS):
    radii, masses = [mpf(r) for r in radii], [mpf(m) for m in masses]
    legs, t = [(mpf(0), states)], mpf(0)
    while True:
      def gap(s, legs=legs):
        start, ((x, v), (y, w)) = legs[-1]
        return distance(space, flow(space, x, v, s - start)[0], flow(space, y, w, s - start)[0]) - sum(radii)
      t = first_root(gap, t, mpf(end))
      if t is None or t > end:
        return legs
      here = [flow(space, x, v, t - legs[-1][0]) for x, v in legs[-1][1]]
      legs.append((t, bounce_pair(space, here, masses)))


def billiard(space, radius, state, normals, end):
  """Legs (time, (x, v), wall) of one sphere between planes <x,n> = 0, <n,n> = 1, in S or H."""
  K = SPACES[space][0][2]
  with mp.workdps(DIGITS):
    legs, t = [(mpf(0), state, None)], mpf(0)
    while True:
      def gap_of(wall, legs=legs):
        start, (x, v), _ = legs[-1]
        return lambda s: inverse_sine(K, inner(K, flow(space, x, v, s - start)[0], normals[wall])) - radius
      roots = [(first_root(gap_of(k), t, min(mpf(end), t + 8)), k) for k in range(len(normals))]
      roots = [(root, k) for root, k in roots if root is not None]
      if not roots or min(roots)[0] > end:
        return legs
      t, wall = min(roots)
      x, v = flow(space, *legs[-1][1], t - legs[-1][0])
      n = normals[wall]
      side = inner(K, x, n)
      u = [a - K * side * b for a, b in zip(n, x)]
      scale = 2 * dot(space, u, v) / dot(space, u, u)
      legs.append((t, (x, [a - scale * b for a, b in zip(v, u)]), wall))


def at(space, legs, t):
  """Positions of the spheres at time t on their legs."""
  with mp.workdps(DIGITS):
    leg = max((leg for leg in legs if leg[0] <= t), key=lambda leg: leg[0])
    states = leg[1] if isinstance(leg[1], list) else [leg[1]]
    return [flow(space, x, v, mpf(t) - leg[0])[0] for x, v in states]
