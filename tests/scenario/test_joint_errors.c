/* Tests that wrong joints of scenarios are rejected with their line and column and with a sentence that says what was
 * expected. */
#include "simulate.h"

/* Texts that are added to a scenario of two bodies, a and b. The entries of `joints` begin in line 7. */
typedef struct added {
  const char *fluid, *a, *b, *joints, *integrator;
} added;

static cb_status open(const added *w, cb_scenario **out) {
  char text[4096];
  const int length =
      snprintf(text, sizeof text,
               "curvebody: 1\nfluid: {%s}\nbodies:\n"
               "  - {name: a, shape: {name: ellipsoid, a: 0.2, b: 0.15, c: 0.1}, mass: 4, drag: false%s}\n"
               "  - {name: b, shape: {name: ellipsoid, a: 0.3, b: 0.1, c: 0.2}, %sdrag: false%s}\n"
               "joints:%s\nintegrator: {name: %s, step: 0.01}\ntime: {end: 0.1}\n",
               w->fluid, w->a, strstr(w->b, "mass") ? "" : "mass: 3, ", w->b, w->joints, w->integrator);
  assert_in_range(length, 1, sizeof text - 1);
  return cb_scenario_open_text("test", text, NULL, 0, out);
}

/* Checks that the error has the line and column `at` and begins with this text. */
static void refused(const added *w, const char *at, const char *text) {
  cb_scenario *s = NULL;
  char expected[1024];
  snprintf(expected, sizeof expected, "test:%s: error: %s", at, text);
  check_case_begins(w->joints, open(w, &s), CB_ERROR_INPUT, expected);
}

#define PIN "\n  - {kind: hinge, name: pin, of: [a, b], at: [0.3, 0, 0], in: [-0.3, 0, 0], axis: [0, 0, 1]"
#define BALL "\n  - {kind: ball, name: pin, of: [a, b], at: [0.3, 0, 0], in: [-0.3, 0, 0]"
#define CROSS "\n  - {kind: universal, name: pin, of: [a, b], at: [0.3, 0, 0], in: [-0.3, 0, 0], axis: [1, 0, 0]"

static void wrong_joints_are_refused(void **unused) {
  static const struct {
    const char *joints, *at, *text;
  } cases[] = {
      {" 3", "6:9", "expected a list of joints, each with `kind` and `of`"},
      {" []", "6:9", "expected a list of joints, each with `kind` and `of`"},
      {"\n  - 3", "7:5", "expected a map of keys and values, found '3'"},
      {"\n  - {of: [a, b]}", "7:5", "missing key 'kind': expected a text: a name of `curvebody list joints`"},
      {"\n  - {kind: hinge, axis: [0, 0, 1]}", "7:5",
       "missing key 'of': expected a value: [A, B]: names of two bodies; `world` instead of one of them"},
      {"\n  - {kind: hinge, of: [a, a], axis: [0, 0, 1]}", "7:23",
       "a joint of `a` with itself: expected two bodies, or `world` and a body"},
      {"\n  - {kind: hinge, of: [world, world], axis: [0, 0, 1]}", "7:23",
       "a joint of `world` with itself: expected two bodies, or `world` and a body"},
      {"\n  - {kind: hinge, of: [a, c], axis: [0, 0, 1]}", "7:27", "unknown body 'c', expected one of: a, b, world"},
      {"\n  - {kind: hinge, of: [a], axis: [0, 0, 1]}", "7:23",
       "expected [A, B], the names of two bodies, or `world` and a body"},
      {"\n  - {kind: hinge, of: a, axis: [0, 0, 1]}", "7:23",
       "expected [A, B], the names of two bodies, or `world` and a body"},
      {"\n  - {kind: hinge, of: [a, [b]], axis: [0, 0, 1]}", "7:27", "expected the name of a body, or `world`"},
      {"\n  - {kind: hing, of: [a, b], axis: [0, 0, 1]}", "7:12", "unknown joint 'hing', did you mean 'hinge'?"},
      {"\n  - {kind: [hinge], of: [a, b], axis: [0, 0, 1]}", "7:12", "kind: expected a text, found a list"},
      {"\n  - {kind: hinge, of: [a, b]}", "7:5", "a joint of kind hinge needs `axis`: [x, y, z]"},
      {"\n  - {kind: hinge, of: [a, b], axis: [0, 0, 0]}", "7:37", "expected an axis, found a vector of length 0"},
      {"\n  - {kind: hinge, of: [a, b], axis: [0, 0, 1], axis_in: [0, 0, 0]}", "7:57",
       "expected an axis, found a vector of length 0"},
      {"\n  - {kind: hinge, of: [a, b], axis: [0, 1]}", "7:37", "expected a list of three, along x, y, z, found 2"},
      {"\n  - {kind: hinge, of: [a, b], axis: z}", "7:37", "expected a list of three, along x, y, z, found 'z'"},
      {"\n  - {kind: hinge, of: [a, b], axis: [0, 0, 1], at: [0, 1]}", "7:52",
       "expected a list of three, along x, y, z, found 2"},
      {"\n  - {kind: hinge, of: [a, b], axis: [0, 0, 1], at: [0, 1, 1/0]}", "7:59",
       "expected a finite number, found inf"},
      {"\n  - {kind: hinge, of: [a, b], axis: [0, 0, 1], ta: [0, 1, 0]}", "7:48",
       "unknown key 'ta', did you mean 'at'?"},
      {"\n  - {kind: ball, of: [a, b], axis: [0, 0, 1]}", "7:36", "a joint of kind ball has no axis"},
      {CROSS "}", "7:5", "a joint of kind universal needs `axis_in`: [x, y, z]"},
      {CROSS ", axis_in: [-2, 0, 0]}", "7:107",
       "expected an axis perpendicular to `axis`: at coordinates 0 both bodies have the same axes, found an angle of 0 "
       "rad"},
      {CROSS ", axis_in: [1, 1, 0]}", "7:107",
       "expected an axis perpendicular to `axis`: at coordinates 0 both bodies have the same axes, found an angle of "
       "0.785398 rad"},
      {PIN ", length: 2}", "7:94", "unknown key 'length'"},
      {PIN ", parts: []}", "7:101", "only a compound joint has `parts`"},
      {"\n  - {kind: rod, of: [a, b], at: [0, 0, 0], in: [0, 0, 0]}", "7:5",
       "missing key 'length': expected a number > 0, in m"},
      {"\n  - {kind: rod, of: [a, b], length: 0}", "7:37", "length: expected a number > 0, in m, found '0'"},
      {"\n  - {kind: rod, of: [a, b], length: -1}", "7:37", "length: expected a number > 0, in m, found '-1'"},
      {"\n  - {kind: rod, of: [a, b], length: 1, angle: 1}", "7:47",
       "this joint has no coordinates: expected no such key"},
      {"\n  - {kind: rod, of: [a, b], length: 1, limits: [0, 1]}", "7:48",
       "this joint has no coordinates: expected no limits"},
      {"\n  - {kind: rod, of: [a, b], length: 1, motor: t}", "7:47",
       "this joint has no coordinates: expected no motor, servo or drive"},
      {"\n  - {kind: weld, of: [a, b], damping: 1}", "7:39", "this joint has no coordinates: expected no such key"},
      {"\n  - {kind: compound, of: [a, b]}", "7:5",
       "a compound joint needs `parts`, a list of 1 to 6 hinges and slides"},
      {"\n  - {kind: compound, of: [a, b], parts: []}", "7:41",
       "a compound joint needs `parts`, a list of 1 to 6 hinges and slides"},
      {"\n  - {kind: compound, of: [a, b], parts: [{kind: ball}]}", "7:49",
       "expected {kind: hinge, axis: [x, y, z], at: [x, y, z]} or {kind: slide, axis: [x, y, z]}"},
      {"\n  - {kind: compound, of: [a, b], parts: [{kind: hinge}]}", "7:42",
       "expected {kind: hinge, axis: [x, y, z], at: [x, y, z]} or {kind: slide, axis: [x, y, z]}"},
      {"\n  - {kind: compound, of: [a, b], parts: [{kind: hinge, axis: [0, 0, 0]}]}", "7:62",
       "expected an axis, found a vector of length 0"},
      {"\n  - {kind: compound, of: [a, b], parts: [{kind: hinge, axis: [0, 0, 1]}, {kind: hinge, axis: [0, 0, -1]}]}",
       "7:41",
       "two coordinates move the bodies in the same way at the start: expected hinges and slides that are independent "
       "there"},
      {"\n  - {kind: compound, of: [a, b], axis: [0, 0, 1], parts: [{kind: slide, axis: [0, 0, 1]}]}", "7:40",
       "a joint of kind compound has no axis"},
      {PIN ", angle: [0, 1]}", "7:101", "expected a list of 1, one per coordinate of the joint, found 2"},
      {PIN ", angle: x}", "7:101", "unknown name `x`: the variables here are: none"},
      {PIN ", angle: 1/0}", "7:101", "expected a finite number, found inf"},
      {PIN ", rate: 1/0}", "7:100", "expected a finite number, found inf"},
      {BALL ", angle: 1}", "7:83", "expected a list of 3 numbers, one per coordinate of the joint"},
      {BALL ", angle: [1, 2]}", "7:83", "expected a list of 3, one per coordinate of the joint, found 2"},
      {BALL ", angle: [3, 2, 1]}", "7:83",
       "these coordinates give the same position as others, in which coordinate 1 is -2.03776 instead of 3: expected a "
       "rotation vector of at most pi"},
      {BALL ", damping: [1, 2]}", "7:85", "expected a list of 3, one per coordinate of the joint, found 2"},
      {BALL ", motor: t}", "7:83", "expected a list of 3, one per coordinate of the joint, `none` where there is none"},
      {BALL ", motor: [t, t]}", "7:83", "expected a list of 3, one per coordinate of the joint, found 2"},
      {BALL ", limits: [0, 1]}", "7:84", "expected a list of 3 pairs [lowest, highest], `none` where there is none"},
      {BALL ", limits: [[-1, 1], [-1, 1], [1, -1]]}", "7:103",
       "expected a lowest value below the highest one, found 1 and -1"},
      {PIN ", limits: [1, -1]}", "7:102", "expected a lowest value below the highest one, found 1 and -1"},
      {PIN ", limits: [1, 1]}", "7:102", "expected a lowest value below the highest one, found 1 and 1"},
      {PIN ", limits: 1}", "7:102", "expected [lowest, highest]"},
      {PIN ", limits: [0.5, 1]}", "7:102",
       "the start is outside of the limits: expected a coordinate from 0.5 to 1, found 0"},
      {PIN ", limits: [-0.5, 1], angle: 2}", "7:120",
       "the start is outside of the limits: expected a coordinate from -0.5 to 1, found 2"},
      {PIN ", limits: [-1, 1], restitution: 2}", "7:124",
       "restitution: expected a dimensionless number in [0, 1], found '2'"},
      {PIN ", restitution: 0.5}", "7:107", "`restitution` applies only to `limits`: expected limits"},
      {PIN ", damping: -1}", "7:103", "expected a number >= 0, found -1"},
      {PIN ", friction: -1}", "7:104", "expected a number >= 0, found -1"},
      {PIN ", armature: -1}", "7:104", "expected a number >= 0, found -1"},
      {PIN ", damping: 1/0}", "7:103", "expected a finite number, found inf"},
      {PIN ", spring: {stiffness: -1}}", "7:114", "expected a number >= 0, found -1"},
      {PIN ", spring: {rest: 1}}", "7:102", "expected {stiffness: .., rest: ..}"},
      {PIN ", spring: 3}", "7:102", "expected a map of keys and values, found '3'"},
      {PIN ", spring: {stifness: 1}}", "7:103", "unknown key 'stifness', did you mean 'stiffness'?"},
      {PIN ", motor: sin(t), servo: {position: 0, kp: 1}}", "7:116",
       "expected only one of `motor`, `servo` and `drive`"},
      {PIN ", motor: sin(t), drive: t}", "7:116", "expected only one of `motor`, `servo` and `drive`"},
      {BALL ", motor: [none, t, t], drive: [t, none, t]}", "7:114",
       "expected only one of `motor`, `servo` and `drive`"},
      {PIN ", motor: sin(t) + knee}", "7:110", "unknown name `knee`: the variables here are: t, q, w, pin, pin_rate"},
      {PIN ", motor: sin(t) + pin_rat}", "7:110", "unknown name `pin_rat`: did you mean `pin_rate`?"},
      {PIN ", motor: [1, 2]}", "7:101", "expected a list of 1, one per coordinate of the joint, found 2"},
      {PIN ", motor: 'sin('}", "7:106", "the expression ends too early: expected a number, a name or `(`"},
      {PIN ", motor: {force: 1}}", "7:101", "expected an expression"},
      {PIN ", servo: {position: 0}}", "7:101",
       "expected {position: EXPRESSION, kp: .., kv: ..} or {velocity: EXPRESSION, kv: ..}"},
      {PIN ", servo: {position: 0, velocity: 1, kv: 1}}", "7:101",
       "expected {position: EXPRESSION, kp: .., kv: ..} or {velocity: EXPRESSION, kv: ..}"},
      {PIN ", servo: {velocity: 1, kp: 1}}", "7:101",
       "expected {position: EXPRESSION, kp: .., kv: ..} or {velocity: EXPRESSION, kv: ..}"},
      {PIN ", servo: {position: 0, kp: -1}}", "7:119", "expected a number >= 0, found -1"},
      {PIN ", servo: sin(t)}", "7:101", "expected a map of keys and values, found 'sin(t)'"},
      {PIN ", servo: {position: foo, kp: 1}}", "7:112", "unknown name `foo`: did you mean `log`?"},
      {PIN ", control: [-1, 1]}", "7:103",
       "`control` and `effort` are ranges of a motor or servo: expected one of them"},
      {PIN ", motor: t, control: [1, -1]}", "7:113", "expected a lowest value below the highest one, found 1 and -1"},
      {PIN ", motor: t, effort: 3}", "7:112", "expected [lowest, highest]"},
      {PIN ", motor: 1/t}", "7:101", "expected a finite force at the start, t = 0, found inf"},
      {PIN ", motor: 2 + sqrt(q - 1), effort: [-1, 1]}", "7:101",
       "expected a finite force at the start, t = 0, found nan"},
      {PIN ", servo: {velocity: 1/w, kv: 1}}", "7:112", "expected a finite force at the start, t = 0, found inf"},
      {PIN ", motor: tln(t)}", "7:101", "unknown function `tln`: did you mean `tan`?"},
      {PIN ", motor: 2*pn}", "7:103", "unknown name `pn`: did you mean `pin`?"},
      {PIN ", drive: 1/t}", "7:101", "the drive at the start, t = 0, is not finite"},
      {PIN ", drive: sqrt(t - 1)}", "7:101", "the drive at the start, t = 0, is not finite"},
      {PIN ", drive: t + q}", "7:105", "unknown name `q`: the variables here are: t"},
      {PIN ", drive: t, angle: 1}", "7:111", "a driven coordinate starts at the value and rate of its drive"},
      {PIN ", drive: t + 2, limits: [-1, 1]}", "7:116",
       "the start is outside of the limits: expected a coordinate from -1 to 1, found 2"},
      {PIN ", couple: 3}", "7:102", "expected a map of keys and values, found '3'"},
      {PIN ", couple: {to: pin}}", "7:102", "expected {to: COORDINATE, polynomial: [c0, c1, ..]}"},
      {PIN ", couple: {to: pin, by: 1}}", "7:112", "unknown key 'by'"},
      {PIN ", couple: {to: pim, polynomial: [0, 1]}}", "7:107", "unknown coordinate 'pim'"},
      {PIN ", couple: {to: pin, polynomial: [0, 1]}}", "7:102",
       "the coordinate `pin` is coupled to itself, directly or by others: expected a coordinate that does not depend"},
      {PIN
       ", couple: {to: z, polynomial: [0, 1]}}\n  - {kind: hinge, name: z, of: [world, a], axis: [0, 0, 1], couple: "
       "{to: pin, polynomial: [0, 1]}}",
       "7:102", "the coordinate `pin` is coupled to itself"},
      {PIN ", couple: {to: pin, polynomial: []}}", "7:124", "expected a list of 1 to 5 coefficients [c0, c1, ..]"},
      {PIN ", couple: {to: pin, polynomial: [1, 2, 3, 4, 5, 6]}}", "7:124",
       "expected a list of 1 to 5 coefficients [c0, c1, ..]"},
      {PIN ", couple: {to: pin, polynomial: [x]}}", "7:125", "unknown name `x`"},
      {PIN ", drive: t, couple: {to: pin, polynomial: [0, 1]}}", "7:112",
       "expected only one of `drive` and `couple`, which both give the coordinate"},
      {PIN ", angle: 1, couple: {to: pin, polynomial: [0, 1]}}", "7:101",
       "a coupled coordinate starts at the value and rate that follow from the other coordinate"},
      {BALL ", couple: {to: pin.x, polynomial: [0, 1]}}", "7:84",
       "expected a list of 3, one per coordinate of the joint, `none` where there is none"},
      {BALL ", rate: [1, 0, 0], couple: [{to: pin.y, polynomial: [0, 1]}, none, none]}", "7:83",
       "a coupled coordinate starts at the value and rate that follow from the other coordinate: expected `none`"},
      {"\n  - {kind: weld, of: [a, b], couple: {to: x, polynomial: [0]}}", "7:38",
       "this joint has no coordinates: expected no `couple`"},
      {PIN ", couple: {to: z, polynomial: [2]}, limits: [-1, 1]}\n  - {kind: hinge, name: z, of: [world, a], axis: [0, "
           "0, 1]}",
       "7:136", "the start is outside of the limits: expected a coordinate from -1 to 1, found 2"},
      {PIN "}\n  - {kind: ball, name: pin, of: [world, a]}", "8:24",
       "two joints have the name `pin`: expected different names"},
      {"\n  - {kind: ball, name: joint.1, of: [world, a]}\n  - {kind: ball, of: [a, b]}", "8:5",
       "two joints have the name `joint.1`: expected different names"},
      {"\n  - {kind: cylindrical, name: c, of: [world, a], axis: [0, 0, 1]}\n  - {kind: hinge, name: c.x, of: [a, b], "
       "axis: [0, 0, 1]}",
       "8:25",
       "the coordinates `c.x` and `c.x`, or their rates, have the same name in expressions: expected another name of "
       "one of the joints"},
      {"\n  - {kind: hinge, name: c, of: [world, a], axis: [0, 0, 1]}\n  - {kind: hinge, name: c_rate, of: [a, b], "
       "axis: [0, 0, 1]}",
       "8:25",
       "the coordinates `c` and `c_rate`, or their rates, have the same name in expressions: expected another name "
       "of one of the joints"},
      {"\n  - {kind: ball, name: t, of: [world, a]}", "7:24",
       "expected a name of at most 23 letters, digits, _ and ., other than t, q and w, found `t`"},
      {"\n  - {kind: ball, name: 3x, of: [world, a]}", "7:24",
       "expected a name of at most 23 letters, digits, _ and ., other than t, q and w, found `3x`"},
      {"\n  - {kind: hinge, name: pi, of: [world, a], axis: [0, 0, 1]}", "7:25",
       "the name 'pi' is the name of a constant: expected another name"},
      {"\n  - {kind: hinge, name: sin, of: [world, a], axis: [0, 0, 1]}", "7:25",
       "the name 'sin' is the name of a function: expected another name"},
      {"\n  - {kind: hinge, name: a_name_that_is_far_too_long_for_a_joint, of: [world, a], axis: [0, 0, 1]}", "7:25",
       "expected a name of at most 23 letters, digits, _ and ., other than t, q and w, found "
       "`a_name_that_is_far_too_long_for_a_joint`"},
      {PIN "}\n  - {kind: ball, of: [world, a]}\n  - {kind: ball, of: [b, world], in: [0, 0, 9]}", "7:5",
       "joint `pin` cannot be closed: a gap of 8.98 remains: expected coordinates at the start from which the loop can "
       "be closed"},
      {PIN "}\n  - {kind: ball, of: [world, a]}\n  - {kind: rod, of: [b, world], in: [0, 0, 9], length: 1}", "9:5",
       "joint `joint.2` cannot be closed: a gap of"},
      {PIN ", rate: 1}\n  - {kind: ball, of: [world, a], rate: [0, 0, 1]}\n  - {kind: ball, of: [b, world], in: [.3, "
           ".3, 0], rate: [0, 0, 1]}",
       "7:3",
       "the rates at the start open a loop: they differ by up to 1 from rates that keep it closed: expected joints of "
       "the loop without `rate`, which then follows from the others"},
      {"\n  - {kind: rod, of: [world, a], length: 1}", "7:5",
       "joint `joint.0` cannot be closed: a gap of 0.5 remains: expected coordinates at the start from which the loop "
       "can be closed"},
      {PIN ", motor: pin + pin_rate + 0*x}", "7:120",
       "unknown name `x`: the variables here are: t, q, w, pin, pin_rate"},
      {"\n  - {kind: cylindrical, name: c, of: [world, a], axis: [0, 0, 1], drive: [t, none], angle: [0, 1]}", "7:93",
       "a driven coordinate starts at the value and rate of its drive: expected `none`"},
      {"\n  - {kind: cylindrical, name: c, of: [world, a], axis: [0, 0, 1], drive: [t, none], rate: [1, 1]}", "7:92",
       "a driven coordinate starts at the value and rate of its drive: expected `none`"},
      {"\n  - {kind: free, of: [a, b], angle: [0, 0, 0, 0, 0, 3.2]}", "7:37",
       "these coordinates give the same position as others, in which coordinate 6 is -3.08319 instead of 3.2: expected "
       "a rotation vector of at most pi"},
      {"\n  - {kind: ball, of: [a, b], spring: {stiffness: [1, 2]}}", "7:50",
       "expected a list of 3, one per coordinate of the joint, found 2"},
      {"\n  - {kind: ball, of: [a, b], spring: {stiffness: 1, rest: [1, x, 2]}}", "7:63",
       "unknown name `x`: the variables here are: none"},
      {"\n  - {kind: ball, of: [a, b], friction: [1, 2, -3]}", "7:47", "expected a number >= 0, found -3"},
      {PIN ", drive: sin(t, angle: 1}", "7:115", "a driven coordinate starts at the value and rate of its drive"},
      {PIN ", drive: 'sin(t'}", "7:107", "the expression ends too early: expected `,` or `)` after `(` at character 4"},
      {PIN ", limits: [[-1, 1]]}", "7:102", "expected [lowest, highest]"},
      {PIN ", limits: [-1, 1, 2]}", "7:102", "expected [lowest, highest]"},
      {PIN ", limits: [-1, inf]}", "7:107", "unknown name `inf`: did you mean `if`?"},
      {PIN ", spring: {stiffness: x}}", "7:114", "unknown name `x`: the variables here are: none"},
      {PIN ", servo: {position: pin_rate*, kp: 1}}", "7:121",
       "the expression ends too early: expected a number, a name or `(`"},
      {PIN ", servo: {velocity: t, kv: 1/0}}", "7:119", "expected a finite number, found inf"},
      {PIN ", limits: [-0.01, 0.01]}\n  - {kind: hinge, of: [world, a], axis: [0, 0, 1]}\n"
           "  - {kind: ball, of: [b, world], in: [0.55, 0.05, 0]}",
       "7:102", "the start is outside of the limits: expected a coordinate from -0.01 to 0.01, found "},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    refused(&(added){"medium: none", "", "", cases[i].joints, "hamilton_pontryagin"}, cases[i].at, cases[i].text);
}

/* Tests joints that do not fit the bodies, the fluid or the integrator. */
static void what_does_not_fit_to_joints_is_refused(void **unused) {
  static const struct {
    added added;
    const char *at, *text;
  } cases[] = {
      {{"medium: none, parameters: {k: 1}", "", "",
        "\n  - {kind: hinge, name: k, of: [world, a], axis: [0, 0, 1], motor: k}", "hamilton_pontryagin"},
       "7:68",
       "`k` is both a variable and a parameter here: give the parameter another name"},
      {{"medium: none, parameters: {k: 1}", "", "",
        "\n  - {kind: hinge, name: k, of: [world, a], axis: [0, 0, 1], motor: kk}", "hamilton_pontryagin"},
       "7:68",
       "unknown name `kk`: did you mean `k`?"},
      {{"medium: none", ", place: {position: [1, 0, 0]}", ", place: {position: [0, 0, 0]}", PIN "}",
        "hamilton_pontryagin"},
       "5:94",
       "joint `pin` already gives the place and the motion of body `b`: expected no `place` and `motion` here, or "
       "values that agree with the joint"},
      {{"medium: none", ", place: {position: [1, 0, 0]}", ", motion: {spin: [0, 0, 1]}", PIN "}",
        "hamilton_pontryagin"},
       "5:95",
       "joint `pin` already gives the place and the motion of body `b`: expected no `place` and `motion` here, or "
       "values that agree with the joint"},
      {{"medium: none", ", place: {position: [1, 0, 0]}", "", PIN "}\n  - {kind: ball, of: [world, a]}",
        "hamilton_pontryagin"},
       "4:95",
       "joint `joint.1` already gives the place and the motion of body `a`: expected no `place` and `motion` here, or "
       "values that agree with the joint"},
      {{"medium: none", ", place: {position: [1, 0, 0]}, motion: {velocity: [1, 0, 0]}", "",
        "\n  - {kind: rod, of: [world, a], length: 1}", "hamilton_pontryagin"},
       "7:3",
       "the rates at the start open a loop: they differ by up to 1 from rates that keep it closed: expected a `motion` "
       "of the bodies that keeps the distances constant"},
      {{"medium: none", "", "", PIN "}", "mujoco_rk4"},
       "8:13",
       "the integrator `mujoco_rk4` cannot move bodies with joints: expected hamilton_pontryagin, or rkmk4 for trees"},
      {{"medium: none", "", "", PIN "}", "hamilton_pontryagin, order: 3"},
       "8:48",
       "order: expected one of 2, 4, found '3'"},
      {{"medium: none", "", ", mass: 0", PIN "}", "hamilton_pontryagin"},
       "5:84",
       "mass: expected a number > 0, in kg, found '0'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refused(&cases[i].added, cases[i].at, cases[i].text);
}

#define IN_H3 "medium: none}\nspace: {name: h3, curvature: -0.7"
#define IN_S3 "medium: none}\nspace: {name: s3, curvature: 1"
#define ONLY_FLAT(kind) \
  "a joint of kind " kind " exists only in flat space: expected one of ball, hinge, universal, weld in a curved space"

/* Tests joints in curved spaces that exist only in flat space, or that are wrong in every space. The entries of
 * `joints` begin in line 8. */
static void what_joints_cannot_do_in_curved_spaces_is_refused(void **unused) {
  static const struct {
    added added;
    const char *at, *text;
  } cases[] = {
      {{IN_H3, "", "", "\n  - {kind: slide, of: [a, b], axis: [0, 0, 1]}", "hamilton_pontryagin"},
       "8:12",
       ONLY_FLAT("slide")},
      {{IN_S3, "", "", "\n  - {kind: cylindrical, of: [a, b], axis: [0, 0, 1]}", "hamilton_pontryagin"},
       "8:12",
       ONLY_FLAT("cylindrical")},
      {{IN_H3, "", "", "\n  - {kind: planar, of: [a, b], axis: [0, 0, 1]}", "hamilton_pontryagin"},
       "8:12",
       ONLY_FLAT("planar")},
      {{IN_S3, "", "", "\n  - {name: f, kind: free, of: [world, b]}", "hamilton_pontryagin"},
       "8:21",
       ONLY_FLAT("free")},
      {{IN_H3, "", "", "\n  - {kind: rod, of: [a, b], length: 1}", "hamilton_pontryagin"}, "8:12", ONLY_FLAT("rod")},
      {{IN_H3, "", "", "\n  - {kind: compound, of: [a, b], parts: [{kind: hinge, axis: [0, 0, 1]}]}",
        "hamilton_pontryagin"},
       "8:12",
       ONLY_FLAT("compound")},
      {{IN_H3, "", "",
        PIN ", couple: {to: z, polynomial: [0, 1]}}\n  - {kind: hinge, name: z, of: [world, a], axis: "
            "[0, 0, 1]}",
        "hamilton_pontryagin"},
       "8:102",
       "coordinates of joints are coupled only in flat space: expected no `couple`"},
      {{IN_H3, "", "", PIN "}\n  - {kind: ball, of: [world, a]}\n  - {kind: ball, name: last, of: [b, world]}",
        "hamilton_pontryagin"},
       "8:5",
       "the joint closes a loop: expected a tree of bodies, because loops are closed only in flat space"},
      {{IN_S3, "", "", PIN "}", "rkmk4"},
       "9:13",
       "the integrator rkmk4 does not move bodies with joints in a curved space: expected hamilton_pontryagin"},
      {{IN_S3, "", "", PIN "}", "mujoco_rk4"},
       "9:13",
       "the integrator mujoco_rk4 works only in flat space: expected hamilton_pontryagin or rkmk4"},
      {{IN_H3, "", "", PIN "}", "hamilton_pontryagin, damped: true"},
       "9:13",
       "`damped: true` works only in flat space: expected no `damped`"},
      {{"medium: 1, coupling: {name: exact, samples: 9}}\nspace: {name: h3, curvature: -0.7", "", "", PIN "}",
        "hamilton_pontryagin"},
       "2:53",
       "samples: a table is only for flat space: expected `coupling: exact` without `samples` in a curved space"},
      {{IN_S3, "", "", "\n  - {kind: ball, of: [a, b], at: [3, 1, 0], in: [0, 0, 1]}", "hamilton_pontryagin"},
       "8:34",
       "the tangent vector has length 3.16228: expected at most 3.14159, the distance to the antipode on this sphere"},
      {{IN_S3, "", "", "\n  - {kind: ball, of: [a, b], at: [3, 0, 0], in: [0, -4, 1]}", "hamilton_pontryagin"},
       "8:49",
       "the tangent vector has length 4.12311: expected at most 3.14159, the distance to the antipode on this sphere"},
      {{IN_H3, ", place: {position: [1, 0, 0]}", ", place: {position: [0, 0, 0]}", PIN "}", "hamilton_pontryagin"},
       "6:94",
       "joint `pin` already gives the place and the motion of body `b`"},
      {{IN_S3, ", place: {position: [1, 0, 0]}", ", motion: {spin: [0, 0, 1]}", PIN "}", "hamilton_pontryagin"},
       "6:95",
       "joint `pin` already gives the place and the motion of body `b`"},
      {{IN_H3, "", "", PIN ", motor: sin(t) + knee}", "hamilton_pontryagin"},
       "8:110",
       "unknown name `knee`: the variables here are: t, q, w, pin, pin_rate"},
      {{IN_H3, "", "", "\n  - {kind: ball, of: [a, b], axis: [0, 0, 1]}", "hamilton_pontryagin"},
       "8:36",
       "a joint of kind ball has no axis"},
      {{IN_S3, "", "", PIN ", limits: [-0.5, 1], angle: 2}", "hamilton_pontryagin"},
       "8:120",
       "the start is outside of the limits: expected a coordinate from -0.5 to 1, found 2"},
      {{IN_S3, "", "", PIN ", drive: 1/t}", "hamilton_pontryagin"},
       "8:101",
       "the drive at the start, t = 0, is not finite"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) refused(&cases[i].added, cases[i].at, cases[i].text);
}

/* A body without a name has a number instead. Its `place` excludes a second place by a joint, as for any other body. */
static void places_of_bodies_without_names_are_not_lost(void **unused) {
  cb_scenario *s = NULL;
  check_error_begins(
      cb_scenario_open_text(
          "test",
          "curvebody: 1\nfluid: {medium: none}\nbodies:\n"
          "  - {shape: {name: ball, radius: 0.1, resolution: 8}, mass: 1, place: {position: [0, 0, 0]}}\n"
          "  - {shape: {name: ball, radius: 0.1, resolution: 8}, mass: 1, place: {position: [7, 0, 0]}}\n"
          "joints: [{kind: ball, of: [body.0, body.1]}]\n"
          "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 0.1}\n",
          NULL, 0, &s),
      CB_ERROR_INPUT, "test:5:71: error: joint `joint.0` already gives the place and the motion of body `body.1`: ");
}

/* Places and motions of joined bodies may be given if they agree with the joints. Here three copies of a body form a
 * chain. In some cases each copy is turned by 0.3 relative to the previous one, or the chain moves as one body. */
static void places_that_agree_with_joints_are_read(void **unused) {
  static const struct {
    const char *place, *joint, *where; /* where: line and column of the expected error; NULL: no error */
  } cases[] = {
      {"place: {position: [i, 0, 0]}", "axis: [1, 0, 0]", NULL},
      {"place: {position: [i, 0, 0], rotation: {axis: [1, 0, 0], angle: 0.3*i + 2*pi}}", "axis: [1, 0, 0], angle: 0.3",
       NULL},
      {"place: {position: [i, 0, 0]}", "axis: [1, 0, 0], angle: 0.3", "4:100"},
      {"place: {position: [i + r1, 0, 0]}", "axis: [1, 0, 0]", "4:100"},
      {"place: {position: [0, 0, 7]}", "axis: [1, 0, 0]", "4:100"},
      {"place: {position: [i, 0, 0]}, motion: {velocity: [0, 2*i, 0], spin: [0, 0, 2]}", "axis: [1, 0, 0]", NULL},
      {"place: {position: [i, 0, 0], rotation: {axis: [1, 0, 0], angle: 0.3*i}}, motion: {spin: [1, 0, 0]}",
       "axis: [1, 0, 0], angle: 0.3", NULL},
      {"place: {position: [i, 0, 0]}, motion: {spin: [0, 0, 2]}", "axis: [1, 0, 0]", "4:131"},
      {"motion: {spin: [1, 0, 0], frame: body}", "axis: [0, 1, 0]", NULL},
      {"motion: {velocity: [0, 0, 0]}", "axis: [1, 0, 0]", NULL},
      {"motion: {spin: [1, 0, 0]}", "axis: [1, 0, 0], angle: 0.3", NULL},
      {"motion: {spin: [1, 0, 0]}", "axis: [1, 0, 0], rate: 0.1", "4:101"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[2048], expected[128];
    cb_scenario *s = NULL;
    snprintf(text, sizeof text,
             "curvebody: 1\nfluid: {medium: none}\nbodies:\n"
             "  - {name: a, shape: {name: ball, radius: 0.1, resolution: 8}, mass: 1, repeat: {count: 3}, %s}\n"
             "joints:\n  - {kind: hinge, of: [a.0, a.1], at: [1, 0, 0], %s}\n"
             "  - {kind: hinge, of: [a.1, a.2], at: [1, 0, 0], %s}\n"
             "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 0.1}\n",
             cases[i].place, cases[i].joint, cases[i].joint);
    print_message("%s, %s\n", cases[i].place, cases[i].joint);
    const cb_status status = cb_scenario_open_text("test", text, NULL, 0, &s);
    if (cases[i].where) {
      snprintf(expected, sizeof expected,
               "test:%s: error: joint `joint.0` already gives the place and the motion of body `a.1`", cases[i].where);
      check_error_begins(status, CB_ERROR_INPUT, expected);
    } else {
      check_ok(status);
    }
    cb_scenario_free(s);
  }
}

/* Tests correct joints that are similar to the wrong ones. */
static void right_joints_are_read(void **unused) {
  static const char *const joints[] = {
      PIN ", limits: [-1, 1], restitution: 0.5, angle: 0.9}",
      PIN ", drive: t + 2, limits: [1, 3]}",
      PIN ", drive: [t], spring: {stiffness: 1}, damping: [0.1], armature: 0.2}",
      PIN ", motor: 'min(pin, 1)*pin_rate + q*w', control: [-1, 1], effort: [-0.5, 0.5]}",
      CROSS ", axis_in: [0, 3, 4], limits: [none, [-1, 1]], motor: [none, t]}",
      BALL ", motor: [t, none, none], servo: [none, {velocity: t, kv: 1}, none], drive: [none, none, t]}",
      BALL ", angle: [0, 0, -3.14], rate: [1, 2, 3]}",
      "\n  - {kind: cylindrical, name: c, of: [world, a], axis: [0, 0, 1], drive: [t, none], angle: [none, 1]}",
      "\n  - {kind: compound, of: [a, b], parts: [{kind: slide, axis: [0, 0, 1], at: [0, 0, 1]}]}",
      "\n  - {kind: rod, of: [world, a], at: [1, 0, 0], length: 1}",
      "\n  - {kind: hinge, name: c, of: [world, a], axis: [0, 0, 1]}\n  - {kind: ball, name: c.x, of: [a, b]}"};
  for (size_t i = 0; i < sizeof joints / sizeof *joints; i++) {
    cb_scenario *s = NULL;
    check_ok(open(&(added){"medium: none", "", "", joints[i], "hamilton_pontryagin"}, &s));
    cb_scenario_free(s);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(wrong_joints_are_refused),
                                     cmocka_unit_test(what_does_not_fit_to_joints_is_refused),
                                     cmocka_unit_test(what_joints_cannot_do_in_curved_spaces_is_refused),
                                     cmocka_unit_test(places_of_bodies_without_names_are_not_lost),
                                     cmocka_unit_test(places_that_agree_with_joints_are_read),
                                     cmocka_unit_test(right_joints_are_read)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
