#!/usr/bin/python3
"""Surfaces of bodies as vertices [n, 3] and triangles [m, 3], made independently of the program's shapes, for comparison
and for drawing. As a program, this file writes a mesh: stone, rabbit, two-spheres or two-spheres-coarse:
    surfaces.py stone > analysis/scenarios/immersed/stone.obj
    surfaces.py two-spheres > analysis/scenarios/immersed/two-spheres.obj
"""
import sys

import numpy as np

from mesh import icosphere


def rings(points, closed=(True, True)):
  """Triangles between points[level, around, 3]. closed: the surface ends in a pole at the first or last level; all points of
  this level are then equal. The outward normal has the direction (d around) x (d level)."""
  levels, around = points.shape[:2]
  vertices, index = [], np.empty((levels, around), int)
  for level in range(levels):
    pole = closed[0] and level == 0 or closed[1] and level == levels - 1
    for k in range(around):
      index[level, k] = len(vertices) - (1 if pole and k > 0 else 0)
      if not (pole and k > 0):
        vertices.append(points[level, k])
  triangles = []
  for low, high in zip(index, index[1:]):
    for k in range(around):
      n = (k + 1) % around
      triangles += [t for t in ((low[k], low[n], high[n]), (low[k], high[n], high[k])) if len(set(t)) == 3]
  return np.array(vertices), np.array(triangles)


def turned(profile, around):
  """A surface of revolution around z. profile: rows (radius, height), from the lowest to the highest."""
  angle = 2 * np.pi * np.arange(around) / around
  r, z = np.transpose(profile)
  return rings(np.stack([r[:, None] * np.cos(angle), r[:, None] * np.sin(angle),
                         np.broadcast_to(z[:, None], (len(r), around))], axis=-1))


def cylinder(radius, length, across=8, along=12, around=32):
  """A closed cylinder; the rings are denser near the edges."""
  out = radius * np.sin(np.pi / 2 * np.arange(across + 1) / across)
  up = -length / 2 * np.cos(np.pi * np.arange(along + 1) / along)
  profile = [(r, -length / 2) for r in out[:-1]] + [(radius, z) for z in up] + [(r, length / 2) for r in out[-2::-1]]
  return turned(profile, around)


def ellipsoid(a, levels=16, around=32):
  angle = np.pi * np.arange(levels + 1) / levels
  x, triangles = turned(np.stack([np.sin(angle), -np.cos(angle)], axis=1), around)
  return x * a, triangles


def blade(radius=0.05, hub=0.01, chord=0.018, thickness=0.003, pitch=0.12, levels=18, around=16):
  """A blade of the propeller, along x."""
  s = np.pi * np.arange(levels + 1) / levels
  angle = 2 * np.pi * np.arange(around) / around
  root = 1.02 * hub
  r = root + (radius - root) * (1 - np.cos(s)) / 2
  beta = np.arctan(pitch / (2 * np.pi * r))[:, None]
  y, z = chord / 2 * np.sin(s)[:, None] * np.cos(angle), thickness / 2 * np.sin(s)[:, None] * np.sin(angle)
  points = np.stack([np.broadcast_to(r[:, None], y.shape), y * np.cos(beta) - z * np.sin(beta),
                     y * np.sin(beta) + z * np.cos(beta)], axis=-1)
  return rings(points)


def propeller(blades=3, **sizes):
  pieces = [ellipsoid((0.01, 0.01, 0.015), 10, 20)]
  for k in range(blades):
    c, s = np.cos(2 * np.pi * k / blades), np.sin(2 * np.pi * k / blades)
    x, triangles = blade(**sizes)
    pieces.append((x @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]]), triangles))
  first = np.cumsum([0] + [len(x) for x, _ in pieces])
  return np.concatenate([x for x, _ in pieces]), np.concatenate([t + n for n, (_, t) in zip(first, pieces)])


def stone(levels=3):
  """A body without symmetry, about 0.1 m long."""
  x, triangles = icosphere(levels)
  u, v, w = x.T
  r = 1 + 0.15 * np.sin(2 * u + 3 * v + 1) + 0.1 * np.sin(4 * w - 2 * u) + 0.08 * np.sin(5 * v * w + 3 * u)
  return x * r[:, None] * np.array([0.05, 0.035, 0.028]), triangles


def twisted_bar(a, b, length, twist=np.pi, levels=32, side=8):
  """A bar along z of section a × b. Its upper end is rotated by `twist` relative to its lower end; the rings are denser near
  the ends."""
  u = -np.cos(np.pi * np.arange(side) / side)
  section = np.concatenate([np.stack([u, 0 * u - 1], 1), np.stack([0 * u + 1, u], 1), np.stack([-u, 0 * u + 1], 1),
                            np.stack([0 * u - 1, -u], 1)]) * [a / 2, b / 2]
  up = -length / 2 * np.cos(np.pi * np.arange(levels + 1) / levels)
  inward = np.sin(np.pi / 2 * np.arange(side) / side)
  points = []
  for scale, z in [(s, up[0]) for s in inward] + [(1, z) for z in up] + [(s, up[-1]) for s in inward[::-1]]:
    c, s = np.cos(twist * z / length), np.sin(twist * z / length)
    points.append(np.column_stack([scale * section @ [[c, s], [-s, c]], np.full(len(section), z)]))
  return rings(np.array(points))


# Bumps of the rabbit (head, ears, tail, paws): direction, height relative to the ball, and width (rad).
BUMPS = (((0.75, 0, 0.55), 0.75, 0.5), ((0.28, 0.32, 0.9), 1.35, 0.2), ((0.28, -0.32, 0.9), 1.35, 0.2),
         ((-1, 0, 0.1), 0.35, 0.25), ((0.75, 0.45, -0.5), 0.4, 0.25), ((0.75, -0.45, -0.5), 0.4, 0.25))


def rabbit(levels=3, rounds=200):
  """A body with a head, two ears, a tail and two paws, about 0.1 m high, symmetric about the plane y = 0. Every ray from the
  origin meets the surface once, so it does not intersect itself. To spread the vertices, each one moves repeatedly towards
  the mean of its neighbours and back to the surface."""
  x, triangles = icosphere(levels)
  edges = np.concatenate([triangles[:, [k, (k + 1) % 3]] for k in range(3)])
  count = np.bincount(edges[:, 0], minlength=len(x))[:, None]

  def outward(u):
    u = u / np.linalg.norm(u, axis=1, keepdims=True)
    r = np.ones(len(u))
    for way, height, width in BUMPS:
      cosine = u @ (np.array(way) / np.linalg.norm(way))
      r += height * np.exp((cosine - 1) / width ** 2)
    return u * r[:, None]

  for _ in range(rounds):
    x = outward(x)
    middle = np.zeros_like(x)
    np.add.at(middle, edges[:, 0], x[edges[:, 1]])
    x = (x + middle / count) / 2
  return outward(x) * [0.034, 0.026, 0.034], triangles


def volume(x, triangles):
  a, b, c = (x[triangles[:, k]] for k in range(3))
  return float(np.sum(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6)


def two_spheres(levels=3):
  """Two balls with the volume of the unit ball and the centres x = -1.5 and 1.5; they are mirror images of each other."""
  x, triangles = icosphere(levels)
  x = x * (4 / 3 * np.pi / volume(x, triangles)) ** (1 / 3) + [1.5, 0, 0]
  return np.concatenate([x * [-1, 1, 1], x]), np.concatenate([triangles[:, ::-1], triangles + len(x)])


MESHES = {"stone": stone, "rabbit": rabbit, "two-spheres": two_spheres, "two-spheres-coarse": lambda: two_spheres(2)}


def main(name="stone"):
  x, triangles = MESHES[name]()
  print(f"# {name}, {len(x)} vertices, {len(triangles)} triangles, metres, written by analysis/lib/surfaces.py")
  for row in x:
    print("v " + " ".join(f"{c:.9f}" for c in row))
  for k, row in enumerate(triangles + 1):
    if name.startswith("two") and k % (len(triangles) // 2) == 0:
      print("g " + ("right" if k else "left"))
    print("f " + " ".join(map(str, row)))


if __name__ == "__main__":
  main(*sys.argv[1:2])
