"""The robot fish of analysis/scenarios/joints/robot-fish-heading.yaml as an environment with the methods of Gymnasium: reset and step.

The action is the bend of the joints, in rad from -limit to limit. It is held for ten steps of 5 ms. The observation is the heading of
the body and its rate, both joint angles and their rates, and the deviation of the heading from the goal. The package gymnasium is not
needed. Run as a program, the file lets a simple controller keep a heading:

    /usr/bin/python3 analysis/examples/robot_fish.py analysis/scenarios/joints/robot-fish-heading.yaml
"""
import sys

import curvebody
import numpy as np

LIMIT, EVERY = 0.25, 10


class RobotFish:
    def __init__(self, scenario):
        # without its laws, `mean` and `turn` are controls that only the program sets
        self.sim = curvebody.open(scenario, controls={"goal": 0, "mean": 0, "turn": 0}, observables=["energy", "momentum", "joints"])
        self.first = self.sim.checkpoint()

    def reset(self, seed=None):
        self.sim.restore(self.first)
        self.goal = np.random.default_rng(seed).uniform(-1, 1) if seed is not None else 0.6
        return self.observe(), {"goal": self.goal}

    def observe(self):
        seen = self.sim.observe("pose", "twist", "angle", "rate")
        _, _, _, w, x, y, z = seen["pose"][1]
        self.heading = np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))
        return np.array([self.heading, seen["twist"][1, 2], *seen["angle"], *seen["rate"], self.goal - self.heading])

    def step(self, action):
        self.sim.control["turn"] = float(np.clip(action, -LIMIT, LIMIT))
        self.sim.step(EVERY)
        seen = self.observe()
        return seen, -abs(self.goal - self.heading), False, self.sim.ended, {"time": self.sim.time}


if __name__ == "__main__":
    fish, mean = RobotFish(sys.argv[1]), 0.0
    fish.reset()
    while not fish.sim.ended:
        mean += 0.1 * (fish.heading - mean)
        fish.step(0.6 * (fish.goal - mean))
    print(f"heading {fish.heading:.12f} at time {fish.sim.time:g}")
