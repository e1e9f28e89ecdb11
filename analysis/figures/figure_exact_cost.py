#!/usr/bin/python3
"""CPU time of the exact added mass for its three solvers, over the number of faces."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
from checks import at_least, at_most
from runs import Inertia
from style import BLUE, GREY, ORANGE, VERMILION, panels

TITLE = "Cost of the exact added mass"
CAPTION = ("CPU time of `curvebody inertia` on one thread for an ellipsoid 1:0.8:0.5, for three solvers: factorisation "
           "of the dense matrix (LAPACK), factorisation of a hierarchical matrix (hmat-oss) as a preconditioner of an "
           "iteration, and the iteration only (GMRES; its matrix is kept for up to 8000 faces, above that a tree "
           "computes the far field). Times include all seven right-hand sides, the mesh and the start of the program. "
           "Right: largest difference of K between two solvers on the same faces, divided by the largest K.")
METHODS = {"dense": ("dense LU", VERMILION, "s"), "hlu": ("hmat-oss", ORANGE, "^"),
           "iterative": ("iteration", BLUE, "o")}


def sizes(method, full):
  """Resolutions; the number of faces is around 9/8 of their squares."""
  most = {"dense": 64, "hlu": 128, "iterative": 192} if not full else {"dense": 96, "hlu": 256, "iterative": 512}
  return [n for n in (24, 32, 48, 64, 96, 128, 192, 256, 384, 512) if n <= most[method]]


def run(method, n):
  return Inertia(f"ellipsoid:b=0.8,c=0.5,resolution={n}",
                 ("--added-mass", f"exact:method={method}", "--fluid", "1", "--error", "none"), threads=1)


def runs(full):
  return [run(method, n) for method in METHODS for n in sizes(method, full)]


def draw(records, full):
  canvas, ((ax, apart),) = panels(1, 2, 5.4, 4.2)
  faces, seconds, K = {}, {}, {}
  for method, (name, colour, mark) in METHODS.items():
    answers = [records.answer(run(method, n)) for n in sizes(method, full)]
    faces[method] = np.array([a["faces"] for a in answers])
    seconds[method] = np.array([records.processor_seconds(run(method, n)) for n in sizes(method, full)])
    K |= {(method, a["faces"]): np.array(a["added_mass"]) for a in answers}
    ax.loglog(faces[method], seconds[method], "-" + mark, color=colour, label=name)
  checks, most = [], 0
  for method in ("dense", "hlu"):
    common = [n for n in faces[method] if n in faces["iterative"]]
    size = [np.max(np.abs(K[method, n] - K["iterative", n])) / np.max(K["iterative", n]) for n in common]
    apart.loglog(common, size, "-" + METHODS[method][2], color=METHODS[method][1],
                 label=f"{METHODS[method][0]} less iteration")
    most = max(most, float(np.max(size)))
  n = np.array([9000, 40000])
  ax.loglog(n, 1.2e-5 * n ** 1.2, ":", color=GREY)
  ax.text(n[1], 1.2e-5 * n[1] ** 1.2, "$n^{1.2}$", color=GREY)
  ax.set(xlabel="faces", ylabel="processor's time (s)")
  ax.legend(loc="upper left")
  apart.set(xlabel="faces", ylabel="difference of $K$ / largest entry", ylim=(1e-16, 1e-5))
  apart.legend()
  tree, dense, hlu = (seconds[m] for m in ("iterative", "dense", "hlu"))
  span = np.array([np.argmax(faces["iterative"] > 3000), -1])
  growth = float(np.diff(np.log(tree[span]))[0] / np.diff(np.log(faces["iterative"][span]))[0])
  same = list(faces["iterative"]).index(faces["dense"][-1])
  last = list(faces["iterative"]).index(faces["hlu"][-1])
  checks += [at_most("the three solvers: difference of K on the same faces / largest entry", most, 1e-5),
             at_most("iteration: exponent of the time in the number of faces, from 3200 faces on", growth, 1.5),
             at_least(f"{faces['dense'][-1]} faces: time of dense LU / time of the iteration",
                      float(dense[-1] / tree[same]), 1.2),
             at_least(f"{faces['hlu'][-1]} faces: time of hmat-oss / time of the iteration",
                      float(hlu[-1] / tree[last]), 1.2)]
  rows = [[METHODS[m][0], int(n), f"{t:.3f}"] for m in METHODS for n, t in zip(faces[m], seconds[m])]
  return figure.Drawing(canvas, checks, [figure.Table("Processor's time", ["method", "faces", "seconds"], rows)])


if __name__ == "__main__":
  figure.main(globals())
