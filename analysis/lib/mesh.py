#!/usr/bin/python3
"""Geodesic spheres as OBJ: an icosahedron whose triangles are split `levels` times, vertices pushed to the unit sphere.

A sphere has 10 * 4^levels + 2 vertices, 20 * 4^levels triangles and 30 * 4^levels edges. As a program, this file writes the
mesh of the network scenarios:  mesh.py > analysis/scenarios/networks/icosphere-642.obj. With the argument 1 it writes
analysis/scenarios/constraints/icosphere-42.obj.
"""
import sys

import numpy as np


def icosphere(levels):
  """(vertices [n, 3], triangles [m, 3]) of the geodesic sphere. The vertices of the icosahedron are first, then the
  midpoints that each splitting adds."""
  golden = (1 + 5 ** 0.5) / 2
  vertices = [np.array(v, dtype=float) for a in (-1, 1) for b in (-golden, golden)
              for v in ((0, a, b), (a, b, 0), (b, 0, a))]
  edge = min(np.linalg.norm(vertices[0] - v) for v in vertices[1:])
  near = [[j for j in range(12) if i != j and np.linalg.norm(vertices[i] - vertices[j]) < 1.1 * edge]
          for i in range(12)]
  triangles = [oriented(vertices, (i, j, k)) for i in range(12) for j in near[i] for k in near[i]
               if i < j < k and k in near[j]]
  vertices = [v / np.linalg.norm(v) for v in vertices]
  for _ in range(levels):
    middle, split = {}, []

    def midpoint(i, j):
      key = (min(i, j), max(i, j))
      if key not in middle:
        middle[key] = len(vertices)
        v = vertices[i] + vertices[j]
        vertices.append(v / np.linalg.norm(v))
      return middle[key]

    for i, j, k in triangles:
      ij, jk, ki = midpoint(i, j), midpoint(j, k), midpoint(k, i)
      split += [(i, ij, ki), (j, jk, ij), (k, ki, jk), (ij, jk, ki)]
    triangles = split
  return np.array(vertices), np.array(triangles)


def oriented(vertices, triangle):
  """The triangle with its normal pointing away from the centre."""
  i, j, k = triangle
  return (i, j, k) if np.dot(np.cross(vertices[i], vertices[j]), vertices[k]) > 0 else (i, k, j)


def main(levels=3):
  vertices, triangles = icosphere(levels)
  print(f"# geodesic sphere, {len(vertices)} vertices, {len(triangles)} triangles, written by analysis/lib/mesh.py")
  for x, y, z in vertices:
    print(f"v {x:.15f} {y:.15f} {z:.15f}")
  for i, j, k in triangles + 1:
    print(f"f {i} {j} {k}")


if __name__ == "__main__":
  sys.exit(main(*map(int, sys.argv[1:2])))
