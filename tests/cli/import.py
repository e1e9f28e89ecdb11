#!/usr/bin/python3
"""`curvebody import`: it makes a scenario of the moving bodies of an MJCF file, and reports omitted elements and errors."""
import math
import os

import h5py
from command import Case, main

MODEL = """\
<mujoco model="a ball and a card">
  <option density="1.2" viscosity="{viscosity}" wind="0 0 {wind}" timestep="0.001" gravity="{gravity}"/>
  <worldbody>
    <geom name="floor" type="plane" size="1 1 .1"/>
    <body name="ball" pos="0 0 1"><freejoint/><geom size=".1" mass="2"/></body>
    <body name="card"><freejoint/>
      <geom type="box" size=".1 .05 .001" density="300" fluidshape="ellipsoid" rgba="1 0 0 1"/></body>
    <body name="rock"><geom size=".1"/></body>
  </worldbody>
</mujoco>
"""

WEDGE = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


class Import(Case):
    def model(self, viscosity=1.8e-5, wind=0, gravity="0 0 -9.81"):
        self.write("m.xml", MODEL.format(viscosity=viscosity, wind=wind, gravity=gravity))

    def test_a_scenario_runs_and_what_is_left_out_is_told(self):
        self.model()
        done = self.good("import", "m.xml", "-o", "m.yaml", "--end", "1/10")
        self.assertEqual(done.stdout, "")
        self.assertEqual(done.stderr.splitlines(), [
            "m.xml:4:5: left out: friction of the floor; no body rebounds from it; it is lowered by 0.001 to the lowest point of a body at its start",
            "m.xml:8:5: left out: <body> `rock` with 1 element in it: it does not move",
            "m.xml:7:80: left out: visual and other minor elements: rgba of <geom>"])
        self.good("run", "m.yaml")
        with h5py.File(os.path.join(self.folder, "m.h5")) as f:
            self.assertEqual([name.decode() for name in f["body"][()]], ["ball", "card"])
            self.assertAlmostEqual(f["time"][-1], 0.1, places=12)
            self.assertNotIn("wrench_buoyancy", f)
            # 2 kg fall, and the drag is less than 1e-3 of the weight
            self.assertAlmostEqual(f["plot_position"][-1][0][2], 1 - 9.81 * 0.01 / 2, places=4)

    def test_without_output_it_is_printed(self):
        self.model()
        printed = self.good("import", "m.xml").stdout
        self.good("import", "m.xml", "-o", "m.yaml")
        with open(os.path.join(self.folder, "m.yaml"), encoding="utf-8") as f:
            self.assertEqual(printed, f.read())
        resolved = self.good("check", "m.yaml").stdout
        self.write("r.yaml", resolved)
        self.assertEqual(resolved, self.good("check", "r.yaml").stdout)

    def test_a_ball_in_thick_fluid_goes_as_stokes_and_the_box_model_say(self):
        # density 0, no gravity: v' = -(6 pi mu h/m) v relative to the wind; h = r sqrt(3/5) from the ball's inertia 2 m r^2/5
        self.write("m.xml", MODEL.format(viscosity=1, wind=3, gravity="0 0 0").replace('density="1.2"', 'density="0"', 1))
        self.good("import", "m.xml", "-o", "m.yaml")
        self.good("run", "m.yaml")
        rate = 6 * math.pi * 0.1 * math.sqrt(3 / 5) / 2
        with h5py.File(os.path.join(self.folder, "m.h5")) as f:
            self.assertAlmostEqual(f["plot_position"][-1][0][2], 1 + 3 * (1 - (1 - math.exp(-rate)) / rate), places=12)

    def test_meshes_are_found_beside_the_model(self):
        os.makedirs(os.path.join(self.folder, "models/meshes"))
        self.write("models/meshes/wedge.obj", WEDGE)
        self.write("models/m.xml", """\
<mujoco><compiler meshdir="meshes" exactmeshinertia="true"/><option density="1"/>
<asset><mesh file="wedge.obj" scale="2 -2 2"/></asset>
<worldbody><body><freejoint/><geom type="mesh" mesh="wedge" density="6" pos="1 0 0" fluidshape="ellipsoid"/></body></worldbody>
</mujoco>
""")
        text = self.good("import", "models/m.xml", "-o", "m.yaml").stderr
        self.assertEqual(text, "")
        self.good("run", "m.yaml", "--set", "time.end=0.01", "--set", "record.observables=[inertia, centre]")
        with h5py.File(os.path.join(self.folder, "m.h5")) as f:
            self.assertAlmostEqual(f["inertia"][0][0][5][5], 8, places=12)
            for value, known in zip(f["centre"][0][0], (1.5, -0.5, 0.5)):
                self.assertAlmostEqual(value, known, places=12)

    def test_included_files_are_read_in_their_place(self):
        # 1 kg at 0 and 5 kg at .3; the option comes from a file that the included file includes
        os.makedirs(os.path.join(self.folder, "models/parts"))
        self.write("models/parts/inner.xml", "<any><geom class='c' pos='.3 0 0'/></any>")
        self.write("models/parts/option.xml", "<mujoco><option density='7' timestep='.25'/></mujoco>")
        self.write("models/parts/part.xml", "<mujoco><default><default class='c'><geom type='box' size='.1 .1 .1' mass='5'/>"
                   "</default></default><include file='parts/option.xml'/></mujoco>")
        self.write("models/m.xml", "<mujoco><include file='parts/part.xml'/><worldbody><body><freejoint/><geom size='.1' mass='1'/>\n"
                   "<include file='parts/inner.xml'/></body></worldbody></mujoco>")
        done = self.good("import", "models/m.xml")
        self.assertEqual(done.stderr, "")
        for part in "mass: 6\n", "at: [0.25, 0, 0]", "medium: 7\n", "step: 0.25\n":
            self.assertIn(part, done.stdout)
        self.assertIn("the output would replace", self.call("import", "models/m.xml", "-o", "models/parts/inner.xml").stderr)

    def test_an_attached_file_keeps_its_own_settings(self):
        # radians and density 1 in the attached file, degrees and 1000 in this one; a free joint at the top level stays free
        os.makedirs(os.path.join(self.folder, "sub/meshes"))
        self.write("sub/meshes/wedge.obj", WEDGE)
        self.write("sub/child.xml", "<mujoco model='child'><compiler angle='radian' meshdir='meshes'/><option density='5'/>"
                   "<asset><mesh file='wedge.obj'/></asset><default><geom density='1'/></default>"
                   "<worldbody><body name='a' pos='1 0 0'><freejoint/><body name='arm' euler='0 0 1.5707963267948966'>"
                   "<geom type='box' size='.5 .5 .5' pos='1 0 0'/></body></body>"
                   "<body name='other'><freejoint/><geom type='mesh' mesh='wedge'/></body></worldbody></mujoco>")
        self.write("m.xml", "<mujoco><option density='2'/><asset><model name='c' file='sub/child.xml'/></asset><worldbody>"
                   "<frame euler='0 0 90'><replicate count='2' offset='0 0 1'><attach model='c' body='a' prefix='x_'/></replicate>"
                   "</frame><attach model='c' prefix='w_'/></worldbody></mujoco>")
        done = self.good("import", "m.xml", "-o", "m.yaml", "--end", ".01")
        self.assertEqual(done.stderr, "sub/child.xml:1:66: left out: <option>: the options of the file that attaches "
                         "this one are used\n")
        self.good("run", "m.yaml", "--set", "record.observables=[inertia, centre]")
        with h5py.File(os.path.join(self.folder, "m.h5")) as f:
            self.assertEqual([name.decode() for name in f["body"][()]], ["x_a0", "x_a1", "w_a", "w_other"])
            for row, (x, mass) in enumerate((((-1, 1, 0), 1), ((-1, 1, 1), 1), ((1, 1, 0), 1), ((.25, .25, .25), 1 / 6))):
                for value, known in zip(f["centre"][0][row], x):
                    self.assertAlmostEqual(value, known, places=12)
                self.assertAlmostEqual(f["inertia"][0][row][5][5], mass, places=12)

    def test_files_that_cannot_be_part_of_a_model_are_refused(self):
        self.write("empty.xml", "<mujoco></mujoco>")
        self.write("wrong.xml", "<mujoco>\n<geom size='0'/></mujoco>")
        self.write("loop.xml", "<mujoco><include file='again.xml'/></mujoco>")
        self.write("again.xml", "<mujoco><include file='loop.xml'/></mujoco>")
        self.write("self.xml", "<mujoco><asset><model file='self.xml'/></asset></mujoco>")
        body = "<mujoco><worldbody><body><freejoint/><geom size='1'/>%s</body></worldbody></mujoco>"
        part = "<include file='%s'/>"
        for name, text, code, told in (
                ("m", body % (part % "none.xml"), 3, "m.xml:1:69: error: cannot read 'none.xml'"),
                ("m", body % (part % "."), 3, "m.xml:1:69: error: "),
                ("m", body % (part % "empty.xml"), 2, "m.xml:1:69: error: include: expected a file with at least one element in its root"),
                ("m", body % (part % "wrong.xml"), 2, "wrong.xml:2:13: error: a geom without volume"),
                ("m", body % (part % "loop.xml"), 2, "again.xml:1:24: error: include: expected a file that is not yet part"),
                ("m", body % (2 * part % ("wrong.xml", "wrong.xml")), 2, "m.xml:1:96: error: include: expected a file that"),
                ("m", body % (part % "m.xml"), 2, "m.xml:1:69: error: include: expected a file that is not yet part"),
                ("m", "<mujoco><asset><model file='self.xml'/></asset></mujoco>", 2,
                 "self.xml:1:29: error: model: expected a file that does not attach itself")):
            self.write(name + ".xml", text)
            done = self.call("import", name + ".xml")
            self.assertEqual(done.returncode, code, (text, done.stderr))
            self.assertIn(told, done.stderr)

    def last(self, name, *words):
        self.good("import", *words, "-o", name + ".yaml")
        self.good("run", name + ".yaml", "-o", name + ".h5")
        with h5py.File(os.path.join(self.folder, name + ".h5")) as f:
            return f["time"][-1], f["pose"][-1]

    def test_a_body_of_neutral_weight_hovers_and_one_that_falls_stays_on_the_floor(self):
        body = "<body%s pos='0 0 %g'><freejoint/><geom type='box' size='.1 .2 .3' pos='.1 .2 0' mass='2'/></body>"
        self.write("m.xml", "<mujoco><option density='1000'/><worldbody><geom type='plane' size='1 1 1' pos='0 0 -3'/>"
                   + body % (" gravcomp='1'", 0) + body % (" gravcomp='.5'", -2) + "</worldbody></mujoco>")
        poses = self.last("m", "m.xml", "--end", "4")[1]
        for value, known in zip(poses[0], (0, 0, 0, 1, 0, 0, 0)):
            self.assertAlmostEqual(value, known, places=10)  # round-off of 1000 steps with a weight of 20 N
        self.assertAlmostEqual(poses[1][2], -2.7, places=9)

    def test_what_stands_on_the_floor_by_its_numbers_may_start_there(self):
        # 0.2 + 0.7 - 0.9 is below 0 by round-off
        self.write("m.xml", "<mujoco><worldbody><geom type='plane' pos='0 0 -.7'/><body pos='0 0 .2'><freejoint/>"
                   "<geom type='box' size='.1 .1 .9'/></body></worldbody></mujoco>")
        self.assertAlmostEqual(self.last("m", "m.xml", "--end", ".1")[1][0][2], .2, places=12)

    def test_a_key_throws_a_ball_and_holds_a_copter(self):
        # without a fluid the ball's path is a parabola; the copter hovers with its controls, and falls without them
        self.write("m.xml", "<mujoco><option gravity='0 0 -10' integrator='RK4'/><worldbody><body name='ball'><freejoint/><geom size='.1'/></body>"
                   "<body name='copter' pos='0 0 1'><freejoint/><geom type='box' size='.1 .1 .02' mass='.3'/>"
                   "<replicate count='4' euler='0 0 90'><site name='s' pos='.1 .1 0'/></replicate></body></worldbody>"
                   "<actuator><motor site='s' gear='0 0 1'/></actuator><keyframe><key name='go' time='2' "
                   "qpos='0 0 0 1 0 0 0 0 0 1 .6 0 0 .8' qvel='3 0 9 0 0 0 0 0 0 0 0 0' ctrl='.75 .75 .75 .75'/></keyframe>"
                   "</mujoco>")
        time, poses = self.last("k", "m.xml", "--key", "go")
        self.assertAlmostEqual(time, 3, places=12)
        for value, known in zip((*poses[0][:3], *poses[1]), (3, 0, 4, 0, 0, 1, .6, 0, 0, .8)):
            self.assertAlmostEqual(value, known, places=10)
        time, poses = self.last("n", "m.xml")
        for pose, z in zip(poses, (-5, -4)):
            self.assertAlmostEqual(pose[2], z, places=10)

    def test_joined_bodies_move_by_given_controls(self):
        # a rotor of moment 2 m r^2/5 + armature on a hinge: its angle is that of the torque 2 cos t, from .5 at rest
        self.write("m.xml", "<mujoco><option gravity='0 0 0' integrator='RK4'/><worldbody><body name='rotor'><joint name='spin' armature='.1'/>"
                   "<geom size='.5' mass='4'/></body></worldbody><actuator><motor name='m' joint='spin' gear='2'/></actuator>"
                   "<keyframe><key name='go' qpos='.5'/></keyframe></mujoco>")
        done = self.good("import", "m.xml", "--key", "go", "--control", "m=cos(t)", "-o", "m.yaml")
        self.assertEqual(done.stderr, "")
        self.good("run", "m.yaml")
        with h5py.File(os.path.join(self.folder, "m.h5")) as f:
            self.assertEqual([name.decode() for name in f["joint_dof_name"][()]], ["spin"])
            self.assertAlmostEqual(f["angle"][-1][0], .5 + 2 * (1 - math.cos(1)) / .5, places=10)
        self.assertIn("controls: the values for 1 actuator are 0; set them with `--control m=EXPR`", self.good("import", "m.xml").stderr)
        for control, told in (("m", "--control:1:1: error: expected NAME=EXPRESSION"), ("n=1", "unknown control 'n', expected m"),
                              ("m=1+", "--control:1:5: error: ")):
            done = self.call("import", "m.xml", "--control", control)
            self.assertEqual(done.returncode, 2)
            self.assertIn(told, done.stderr)

    def test_shapes_that_cut_each_other_are_told_where_they_matter(self):
        self.write("m.xml", "<mujoco><option density='1'/><worldbody><body><freejoint/><geom type='box' size='.1 .1 .1'/>"
                   "<geom type='capsule' size='.04 .3'/></body></worldbody></mujoco>")
        self.assertEqual(self.good("import", "m.xml", "-o", "m.yaml", "--end", "0.01").stderr, "")
        self.assertEqual(self.good("run", "m.yaml").stderr, "")
        for more in "buoyancy=true", "added_mass=local", "model=local":
            self.assertIn("'piece1' and 'piece2' cut each other", self.good("check", "m.yaml", "--set", "bodies.0." + more).stderr)

    def test_what_is_wrong_is_said(self):
        self.model()
        self.write("zero.xml", "<mujoco><worldbody>\n<body><freejoint/><geom size='0'/></body></worldbody></mujoco>")
        self.write("open.xml", "<mujoco>\n<worldbody>")
        self.write("open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        self.write("sheet.xml", "<mujoco><asset><mesh file='open.obj'/></asset><worldbody>\n"
                   "<body><freejoint/><geom type='mesh' mesh='open'/></body></worldbody></mujoco>")
        for words, code, part in (([], 2, "usage"), (["m.xml", "m.xml"], 2, "usage"), (["none.xml"], 3, "none.xml"),
                                  (["zero.xml"], 2, "zero.xml:2:31: error: a geom without volume"),
                                  (["open.xml"], 2, "open.xml:2:12: error: expected well-formed XML"),
                                  (["sheet.xml"], 2, "sheet.xml:2:43: error: mesh `open`: "),
                                  (["m.xml", "-o", "m.xml"], 2, "m.xml"), (["m.xml", "--end", "0"], 2, "--end:1:1"),
                                  (["m.xml", "--ende", "1"], 2, "did you mean `--end`"),
                                  (["m.xml", "-o", "no/where.yaml"], 3, "no/where.yaml")):
            done = self.call("import", *words)
            self.assertEqual(done.returncode, code, (words, done.stderr))
            self.assertIn(part, done.stderr, words)


if __name__ == "__main__":
    main()
