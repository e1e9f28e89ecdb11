"""Contacts in a tank, computed independently of the program from one contact to the next: spheres of which each moves
at a constant velocity (also in a perfect fluid, with half of the displaced mass) or falls freely, and a body whose
vertices touch the walls.

    spheres:  the next contact is a root of |x_ij + v_ij t|^2 = (r_i + r_j)^2 or of
              n.(x_i + v_i t + g t^2/2) - r_i = height
    body:     Kirchhoff's equations (coupled.py) to the root of the smallest gap of all vertices y = x + R a; then
              Y -> Y - 2 (f.Y)/(f.K^-1 f) K^-1 f,  f = (a × R^T n, R^T n)
A wall is a pair of its normal n, towards the bodies, and its height: n.x >= height.
"""
import numpy as np
from scipy.integrate import solve_ivp

from coupled import Coupled, pose_matrix


def spheres(mass, radius, x, v, walls, times, gravity=(0, 0, 0), restitution=1):
  """Positions [time, sphere, 3], and the contacts (time, sphere, other sphere or -1 - wall)."""
  x, v, now, out, contacts, g = np.array(x), np.array(v), times[0], [], [], np.array(gravity)
  while True:
    wait, i, j = min(_waits(radius, x, v, walls, g))
    for t in times[len(out):]:
      if t > now + wait:
        break
      out.append(x + (t - now) * v + (t - now) ** 2 / 2 * g)
    if len(out) == len(times):
      return np.array(out), contacts
    now, x, v = now + wait, x + wait * v + wait**2 / 2 * g, v + wait * g
    contacts.append((now, i, j))
    if j < 0:
      n = walls[-1 - j][0]
      v[i] -= (1 + restitution) * (n @ v[i]) * n
    else:
      n = (x[j] - x[i]) / np.linalg.norm(x[j] - x[i])
      impulse = (1 + restitution) * (n @ (v[j] - v[i])) / (1 / mass[i] + 1 / mass[j])
      v[i] += impulse / mass[i] * n
      v[j] -= impulse / mass[j] * n


def _waits(radius, x, v, walls, g):
  for i in range(len(x)):
    for k, (n, height) in enumerate(walls):
      a, b, c = n @ g / 2, n @ v[i], n @ x[i] - radius[i] - height
      root = b**2 - 4 * a * c
      if b < 0 and root > 0:
        yield 2 * c / (np.sqrt(root) - b), i, -1 - k
      elif a < 0 <= b:
        yield (b + np.sqrt(root)) / (-2 * a), i, -1 - k
    for j in range(i):
      d, u = x[i] - x[j], v[i] - v[j]
      c = d @ d - (radius[i] + radius[j]) ** 2
      root = (d @ u) ** 2 - (u @ u) * c
      if d @ u < 0 and root > 0:
        yield c / (-(d @ u) + np.sqrt(root)), i, j


def body(K, pose, twist, vertices, walls, times):
  """Matrices of the pose [time, 4, 4], and the contacts (time, vertex, -1 - wall)."""
  free = Coupled([K], [])
  normals, heights = np.array([n for n, _ in walls]), np.array([h for _, h in walls])

  def gaps(s):
    g = s[:16].reshape(4, 4)
    return (vertices @ g[:3, :3].T + g[:3, 3]) @ normals.T - heights

  def touch(_, s):
    return np.min(gaps(s))

  touch.terminal, touch.direction = True, -1
  s, now, out, contacts = np.concatenate([pose_matrix(pose).ravel(), K @ twist]), times[0], [], []
  while True:
    wanted = times[len(out):]
    solved = solve_ivp(free.rates, (now, times[-1]), s, "DOP853", wanted, events=touch, rtol=1e-12, atol=1e-12,
                       max_step=0.01)
    out += [y[:16].reshape(4, 4) for y in solved.y.T] if len(solved.t) else []
    if not len(solved.t_events[0]):
      return np.array(out), contacts
    now, s = solved.t_events[0][0], solved.y_events[0][0].copy()
    vertex, wall = np.unravel_index(np.argmin(gaps(s)), gaps(s).shape)
    contacts.append((now, int(vertex), -1 - int(wall)))
    n = s[:16].reshape(4, 4)[:3, :3].T @ normals[wall]
    f = np.concatenate([np.cross(vertices[vertex], n), n])
    s[16:] -= 2 * (f @ np.linalg.solve(K, s[16:])) / (f @ np.linalg.solve(K, f)) * f
