#!/usr/bin/python3
"""Scripts of analysis/figures with short runs: their statements about a run are true."""
import json
import pathlib
import sys

from command import BINARY, Case, main

FIGURES = pathlib.Path(__file__).resolve().parents[2] / "analysis" / "figures"
sys.path.insert(0, str(FIGURES))
import figure_cost
from record import Records
from runs import execute


class Figures(Case):
    def test_the_cost_of_a_step_is_by_the_vertices_that_the_run_had(self):
        folder = pathlib.Path(self.folder)
        for resolution in (64, 128):
            run = figure_cost.run(resolution, True, 2)
            self.assertIsNone(execute(run, BINARY, folder)[1])
            shape = f"ellipsoid:a=0.3,b=0.2,c=0.1,resolution={resolution}"
            there = json.loads(self.good("inertia", shape, "--json").stdout)["vertices"]
            self.assertEqual(figure_cost.vertices_of(Records(folder)[run]), there)


if __name__ == "__main__":
    main()
