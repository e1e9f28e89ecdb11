#!/usr/bin/python3
"""Ten balls that fall in a tank of water and in vacuum, touch each other and the walls, and come to rest."""
import numpy as np

import _paths  # noqa: F401  (must be first: it makes the next imports possible)

import figure
import tank
from checks import Check, at_least, at_most, near
from coupled import pose_matrix
from runs import Run
from style import BLACK, BLUE, GREY, ORANGE, VERMILION, panels

TITLE = "Ten balls in a tank, in water and in vacuum"
CAPTION = ("Balls of glass (radius 0.1 m, density 2500 kg/m³) fall in a tank and touch each other, its bottom and "
           "its four walls with the restitution 0.6. Above: paths of the centres in the first 0.6 s, seen from the "
           "side, and the balls at its end, in the colours of the four columns in which they start; dots: free "
           "falls from contact to contact in the first 0.4 s, without the program. Below: kinetic energy, which in "
           "water includes that of the fluid, and number of contacts. In water the weight is smaller by the "
           "buoyancy, the inertia is larger by the added mass, and drag takes energy; `dipole`: the flow around "
           "each ball also acts on the other balls.")
END, SHOWN, COMPARED = 1.0, 0.6, 0.4  # s: of the runs, of the paths, and of the comparison, before balls rest
RADIUS, DENSITY, WATER, GRAVITY, RESTITUTION = 0.1, 2500, 998, 9.81, 0.6
X, Y, Z = np.eye(3)
WALLS = [(X, -0.15), (-X, -0.55), (Y, -0.15), (-Y, -0.55), (Z, 0)]
CASES = {"water": ((), BLUE), "vacuum": (("fluid.medium=none",), ORANGE),
         "water, dipole": (("fluid.coupling=dipole",), VERMILION)}


def run(name, step=1 / 200):
  return Run("coupled/ten-balls", CASES[name][0] + (f"integrator.step={step}", f"time.end={END}",
                                                    f"record.every={round(1 / 200 / step)}"))


FINER = [run("water", 1 / 400), run("water", 1 / 800)]


def runs(full):
  return [run(name) for name in CASES] + FINER


def velocities(record, row):
  return np.array([pose_matrix(p)[:3, :3] @ y[3:] for p, y in zip(record["pose"][row], record["twist"][row])])


def contact(record, name):
  """A quantity of all contacts, without the other events."""
  return record["event_" + name][record["event_kind"] == 0]


def falls(record):
  """Free falls from contact to contact, at the rows before the time COMPARED."""
  t = record["time"]
  x, v = record["pose"][0, :, :3], velocities(record, 0)
  return tank.spheres(np.ones(len(x)), np.full(len(x), RADIUS), x, v, WALLS, t[t <= COMPARED + 1e-9], -GRAVITY * Z,
                      RESTITUTION)


def work_of_contacts(record):
  """The work of the contacts before each row: J (s'- + s'+)/2 of each, J its impulse and s' the rate of its gap."""
  work = contact(record, "impulse") * (contact(record, "speed_before") + contact(record, "speed_after")) / 2
  return np.array([work[contact(record, "time") <= t].sum() for t in record["time"]])


def work_of_drag(record):
  """The work of drag before each row, by the trapezoidal rule."""
  wrench = sum(record[name] for name in ("wrench_drag", "wrench_viscous_drag_drag"))
  power = np.einsum("tbi,tbi->t", wrench, record["twist"])
  return np.concatenate([[0], np.cumsum(np.diff(record["time"]) * (power[1:] + power[:-1]) / 2)])


# --- drawing ---

def draw_paths(axes, record, title, exact=None):
  t, x = record["time"], record["pose"][..., :3]
  last = int(np.searchsorted(t, SHOWN + 1e-9)) - 1
  axes.plot([-0.15, -0.15, 0.55, 0.55], [1.1, 0, 0, 1.1], color=GREY)
  angle = np.linspace(0, 2 * np.pi, 65)
  for i in range(x.shape[1]):
    colour = (BLUE, ORANGE, VERMILION, BLACK)[i % 4]
    axes.plot(*x[:last + 1, i, [0, 2]].T, color=colour, linewidth=1)
    centre = x[last, i]
    axes.fill(centre[0] + RADIUS * np.cos(angle), centre[2] + RADIUS * np.sin(angle), color=colour, alpha=0.25,
              linewidth=0)
    if exact is not None:
      axes.plot(*exact[::8, i, [0, 2]].T, ".", color=colour, markersize=4)
  axes.set(xlabel="$x$ (m)", ylabel="height (m)", title=title)
  axes.set_aspect("equal")


def draw_energies(axes, records):
  for name, (_, colour) in CASES.items():
    record = records[run(name)]
    axes.plot(record["time"], record["kinetic_energy"], color=colour, label=name,
              linestyle=":" if "dipole" in name else "-")
  axes.set(xlabel="time (s)", ylabel="kinetic energy (J)", title="energy of the motion")
  axes.legend()


def draw_contacts(axes, records):
  for name, (_, colour) in CASES.items():
    time = np.sort(contact(records[run(name)], "time"))
    axes.step(np.append(time, END), np.append(np.arange(1, len(time) + 1), len(time)), where="post", color=colour,
              label=name, linestyle=":" if "dipole" in name else "-")
  axes.set(xlabel="time (s)", ylabel="contacts", title="number of contacts", xlim=(0, END), ylim=(0, None))
  axes.legend(loc="upper left")


# --- checks ---

def check_vacuum(record, exact, contacts):
  time = contact(record, "time")
  expected = np.array([s for s, *_ in contacts if s <= COMPARED])
  found = np.sort(time[time <= COMPARED])
  rows = record["time"] <= COMPARED + 1e-9
  e = record["energy"]
  balance = e - e[0] - work_of_contacts(record)
  return [Check(f"vacuum: contacts in {COMPARED} s", str(len(found)), str(len(expected)), len(found) == len(expected)),
          at_most("vacuum: largest difference of their times from free falls (s)",
                  float(np.max(np.abs(found - expected))) if len(found) == len(expected) else np.inf, 1e-9),
          at_most(f"vacuum: largest difference of the places in {COMPARED} s (m)",
                  float(np.max(np.abs(record["pose"][:len(exact), :, :3] - exact)[rows[:len(exact)]])), 1e-9),
          at_most(f"vacuum: energy minus the work of the contacts in {COMPARED} s / its value",
                  float(np.max(np.abs(balance[rows])) / e[0]), 1e-12)]


def check_water(records):
  out = []
  for name in ("water", "water, dipole"):
    record = records[run(name)]
    e, rows = record["energy"], record["time"] <= COMPARED
    balance = e - e[0] - work_of_contacts(record) - work_of_drag(record)
    out.append(at_most(f"{name}: energy minus the work of contacts and drag in {COMPARED} s / its value",
                       float(np.max(np.abs(balance[rows])) / e[0]), 5e-3))
  record = records[run("water")]
  fall = (velocities(record, 2) - velocities(record, 0))[:, 2].mean() / (record["time"][2] - record["time"][0])
  out.append(near("water: mean acceleration in the first 0.01 s / -(ρ_b - ρ) g/(ρ_b + ρ/2)",
                  float(fall / (-(DENSITY - WATER) * GRAVITY / (DENSITY + WATER / 2))), 1, 0.01))
  first = contact(record, "time").min()
  rows = record["time"] <= first
  x = [records[r]["pose"][rows, :, :3] for r in (run("water"), *FINER)]
  out.append(near("water: log2 of the ratio of the changes with the step 1/200, 1/400, 1/800, before the first contact",
                  float(np.log2(np.max(np.abs(x[0] - x[1])) / np.max(np.abs(x[1] - x[2])))), 2, 0.1))
  return out


def check_all(records):
  least = {name: records[run(name)]["pose"][..., 2].min() - RADIUS for name in CASES}
  count = {name: int(np.sum(contact(records[run(name)], "time") <= COMPARED)) for name in CASES}
  out = [at_least(f"{name}: smallest gap to the bottom at all rows (m)", float(gap), -1e-11)
         for name, gap in least.items()]
  for name in CASES:
    x = records[run(name)]["pose"][..., :3]
    pairs = np.array([np.linalg.norm(x[:, i] - x[:, j], axis=1) for i in range(10) for j in range(i)])
    out.append(at_least(f"{name}: smallest gap of two balls at all rows (m)", float(pairs.min() - 2 * RADIUS), -1e-11))
  out.append(Check(f"water: contacts in {COMPARED} s, less than in vacuum", str(count["water"]),
                   f"< {count['vacuum']}", count["water"] < count["vacuum"]))
  return out


def effect(records):
  """A table of the effects of the fluid."""
  rows = []
  for name in CASES:
    record = records[run(name)]
    time, e = contact(record, "time"), record["energy"]
    drag = 0 if name == "vacuum" else work_of_drag(record)[-1]
    rows.append([name, f"{time.min():.3f}", str(int(np.sum(time <= COMPARED))), str(len(time)), f"{e[0] - e[-1]:.0f}",
                 f"{-drag:.0f}"])
  return figure.Table("Effects of the fluid", ["", "first contact (s)", f"contacts in {COMPARED} s", f"in {END:g} s",
                                                 "energy lost (J)", "of this by drag (J)"], rows)


def draw(records, full):
  canvas, axes = panels(2, 2, 3.8, 3.2, height_ratios=(1.3, 0.8))
  exact, contacts = falls(records[run("vacuum")])
  draw_paths(axes[0, 0], records[run("water")], f"water, 0 to {SHOWN} s")
  draw_paths(axes[0, 1], records[run("vacuum")], f"vacuum, 0 to {SHOWN} s", exact)
  draw_energies(axes[1, 0], records)
  draw_contacts(axes[1, 1], records)
  return figure.Drawing(canvas, check_vacuum(records[run("vacuum")], exact, contacts) + check_water(records) +
                        check_all(records), [effect(records)])


if __name__ == "__main__":
  figure.main(globals())
