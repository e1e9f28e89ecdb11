/* Tests that joints of MJCF become joints of a scenario, with their positions, axes and references, their springs and
 * ranges, tendons, loops, controls and keyframes. Input that cannot be right is rejected with its line and column. */
#include "articulated_models.h"
#include "mjcf_text.h"
#include <curvebody/scenario.h>

/* Imports a model from the text inside <mujoco>, and opens it as a scenario; returns its text. */
static cb_text import(const char *within, const cb_mjcf_choices *choices) {
  char model[8192];
  cb_mjcf *m;
  cb_text out = {0};
  cb_scenario *s;
  snprintf(model, sizeof model, "<mujoco>\n%s\n</mujoco>\n", within);
  check_ok(cb_mjcf_read_text("m.xml", model, strlen(model), choices, &m));
  check_ok(cb_mjcf_write(m, 1, &out));
  check_ok(cb_scenario_open_text("written", out.data, NULL, 0, &s));
  cb_scenario_free(s);
  cb_mjcf_free(m);
  return out;
}

static void check_parts(const char *text, size_t n, const char *const *parts) {
  for (size_t i = 0; i < n; i++)
    if (!strstr(text, parts[i])) fail_msg("%s\nexpected %s", text, parts[i]);
}

#define CHECK_PARTS(text, parts) check_parts(text, sizeof(parts) / sizeof *(parts), parts)

static void a_hinge_is_written_in_the_axes_of_both_bodies(void **unused) {
  static const char *const parts[] = {
      "  - kind: hinge\n    name: knee\n    of:\n      - thigh\n      - shank\n    at: [1.0000000000000002, 2, 1]\n    "
      "in: [1, 0, 0]\n"
      "    axis: [0, 0, 1]\n    quaternion: [0.707",
      "    spring:\n      stiffness: 2\n      rest: 0.34906585039886584\n    damping: 0.5\n    armature: 0.25\n"
      "    friction: 0.125\n    limits: [-0.698131700797731",
      "    motor: \"-3*(ctrl1)\"\n"};
  cb_text text = import(
      "<worldbody><body name='thigh'><joint name='hip' type='slide' axis='0 0 -2'/><geom size='.1'/>"
      "<body name='shank' pos='1 1 1' euler='0 0 90'><joint name='knee' pos='1 0 0' ref='10' springref='30' "
      "stiffness='2' damping='.5' armature='.25' frictionloss='.125' range='-30 70'/><geom size='.1'/></body></body>"
      "</worldbody><actuator><motor joint='hip'/><motor joint='knee' gear='-3'/></actuator>",
      NULL);
  CHECK_PARTS(text.data, parts);
  cb_text_free(&text);
}

/* Slides along x and y and a hinge along z are a planar joint; in another order they are a compound one. */
static void joints_of_one_body_are_one_joint(void **unused) {
  static const char *const first[] = {"kind: planar\n    name: fish\n", "    at: [0, -0.5, 0]\n    in: [0, -0.5, 0]\n"},
                           *const second[] = {"kind: compound\n    name: fish\n",
                                              "      - {kind: hinge, axis: [0, 0, 1], at: [0, -0.5, 0]}\n"
                                              "      - {kind: slide, axis: [1, 0, 0]}\n"};
  static const char slides[] = "<joint type='slide' axis='1 0 0'/><joint type='slide' axis='0 1 0'/>",
                    hinge[] = "<joint pos='0 -.5 0'/>";
  char within[1024];
  for (int i = 0; i < 2; i++) {
    snprintf(within, sizeof within, "<worldbody><body name='fish'>%s%s<geom size='1'/></body></worldbody>",
             i ? hinge : slides, i ? slides : hinge);
    cb_text text = import(within, NULL);
    if (i)
      CHECK_PARTS(text.data, second);
    else
      CHECK_PARTS(text.data, first);
    cb_text_free(&text);
  }
}

/* The servo controls the length L = q_a/2 - q_b of the tendon, where q_b is the coordinate plus .1. The spring of the
 * tendon is slack for L from 0 to .5. */
static void tendons_pull_all_their_joints(void **unused) {
  static const char within[] =
      "<compiler angle='radian'/><worldbody><body><joint name='a'/><geom size='1'/><body><joint name='b' ref='.1'/>"
      "<geom size='1'/></body></body></worldbody><tendon><fixed name='x' stiffness='4' springlength='0 .5'>"
      "<joint joint='a' coef='.5'/><joint joint='b' coef='-1'/></fixed></tendon>"
      "<actuator><position tendon='x' kp='3' forcerange='-1 2'/></actuator>";
  static const char *const parts[] = {
      "motor: \"0.5*(min(max(3*ctrl0 + -3*(0.5*q + -1*(b + 0.1)), -1), 2)) + 0.5*(4*(max(0 - (0.5*q + -1*(b + 0.1)), "
      "0) "
      "- max((0.5*q + -1*(b + 0.1)) - (0.5), 0)))\"\n",
      "motor: \"-1*(min(max(3*ctrl0 + -3*(0.5*a + -1*(q + 0.1)), -1), 2)) + -1*("};
  cb_text text = import(within, NULL);
  CHECK_PARTS(text.data, parts);
  cb_text_free(&text);
}

static void controls_are_expressions_of_time(void **unused) {
  static const char within[] =
      "<worldbody><body><joint name='a'/><geom size='1'/><site name='s'/></body></worldbody>"
      "<actuator><motor name='m' joint='a' ctrlrange='-1 1'/><motor joint='a'/>"
      "<motor name='n' site='s'/></actuator>";
  static const char *const given[] = {"m=2*sin(t)", "n=t"};
  static const char *const parts[] = {"motor: \"1*(min(max((2*sin(t)), -1), 1)) + 1*(ctrl1)\"", "    ctrl1: 0\n",
                                      "force: [\"1*((t))\", \"0\", \"0\"]"};
  cb_text text = import(within, &(cb_mjcf_choices){.control = given, .controls = 2});
  CHECK_PARTS(text.data, parts);
  assert_null(strstr(text.data, "ctrl0"));
  cb_text_free(&text);
  cb_mjcf *m;
  check_ok(read_within(within, &m));
  assert_string_equal(
      m->left_out,
      "m.xml:2:86: left out: controls: the values for 3 actuators are 0; set them with `--control m=EXPR`\n");
  cb_mjcf_free(m);
}

/* Three classes of equality constraints become joints: the last hinge of a four-bar linkage, which is a <connect>; a
 * <weld> of a body to the world; and a <joint> that keeps a hinge at a constant angle. */
static void constraints_close_loops(void **unused) {
  static const char within[] =
      "<worldbody><body name='a'><joint axis='0 1 0'/><geom type='capsule' size='.1' fromto='0 0 0 0 0 1'/>"
      "<body name='b' pos='0 0 1'><joint axis='0 1 0'/><geom type='capsule' size='.1' fromto='0 0 0 2 0 0'/>"
      "</body></body><body name='c' pos='2 0 0' euler='0 0 90'><joint axis='1 0 0'/><geom type='capsule' size='.1' "
      "fromto='0 0 0 0 0 1'/></body><body name='d' pos='9 0 0'><freejoint/><geom size='.1'/></body>"
      "<body name='e' pos='0 9 0'><joint name='j'/><geom size='.1'/></body></worldbody>"
      "<equality><connect body1='b' body2='c' anchor='2 0 0'/><weld body1='d'/><weld body1='d' active='false'/>"
      "<joint joint1='j' polycoef='.5'/></equality>";
  static const char *const parts[] = {
      "kind: ball\n    name: loop4\n    of:\n      - b\n      - c\n    at: [2, 0, 0]\n    in: [0, 0, 1",
      "kind: weld\n    name: loop5\n    of:\n      - d\n      - world\n    at: [0, 0, 0]\n    in: [9, 0, 0]\n",
      "    drive: 0.5\n"};
  cb_text out = import(within, NULL);
  CHECK_PARTS(out.data, parts);
  cb_text_free(&out);
}

/* Coordinate i is a function of l, and l of k. Coordinate i belongs to a joint that also has motors and a second
 * coordinate j, which is constant. */
static void joints_are_coupled(void **unused) {
  static const char within[] =
      "<compiler angle='radian'/><worldbody><body name='a'><joint name='i' ref='.1'/><joint name='j' axis='0 1 0'/>"
      "<geom size='.1'/><body name='b' pos='1 0 0'><joint name='k' ref='.2'/><geom size='.1'/></body></body>"
      "<body name='c'><joint name='l' type='slide' range='-9 9'/><geom size='.1'/></body></worldbody><equality>"
      "<joint joint1='i' joint2='l' polycoef='.5 0 2'/><joint joint1='j' polycoef='.25'/>"
      "<joint joint1='l' joint2='k' polycoef='1 -2'/><joint joint1='l' joint2='k' polycoef='1 -2'/></equality>"
      "<actuator><motor joint='i'/><motor joint='j'/></actuator>"
      "<keyframe><key qpos='2.6 .25 .2 1' qvel='0 0 3 0'/></keyframe>";
  static const char *const parts[] = {
      "    motor: [\"1*(ctrl0)\", none]\n    drive: [none, 0.25]\n    couple: [{to: l, polynomial: [0.5, 0, 2]}, "
      "none]\n",
      "    name: k\n", "    rate: 3\n", "    limits: [-9, 9]\n    couple: {to: k, polynomial: [1, -2]}\n"};
  cb_text text = import(within, &(cb_mjcf_choices){.key = "0"});
  CHECK_PARTS(text.data, parts);
  assert_null(strstr(text.data, "    angle"));
  cb_text_free(&text);
  cb_mjcf *m;
  char all[2048];
  snprintf(all, sizeof all, "<mujoco>%s</mujoco>", within);
  check_ok(read_from(all, "0", &m));
  assert_null(strstr(m->left_out, "the start")); /* the start in the key satisfies the constraints */
  assert_non_null(strstr(m->left_out, "<joint>: other constraints give"));
  /* The joints are coupled by i = 0.5 + 2 l^2, so i' = 4 l l', with l = 1, l' = -2 k' and k' = 3. */
  check_near(m->bodies->hold[0].rate[0], 4 * 1 * -2 * 3., 1e-14);
  cb_mjcf_free(m);
  cb_text out = import(
      "<worldbody><body><joint name='a'/><geom size='1'/></body><body pos='9 0 0'><joint name='b'/><geom "
      "size='1'/></body></worldbody><equality><joint joint1='a' polycoef='0'/><joint joint1='a' "
      "joint2='b' polycoef='1 4'/></equality>",
      NULL);
  /* Coordinate a is already constant, so a = 1 + 4 b is written as an equation for b. */
  assert_non_null(strstr(out.data, "    couple: {to: a, polynomial: [-0.25, 0.25]}\n"));
  cb_text_free(&out);
}

/* A constraint makes the positions of two sites, or the frames of a weld, coincide, although they do not coincide in the
 * reference pose. */
static void constraints_join_sites(void **unused) {
  static const char within[] =
      "<worldbody><site name='w' pos='0 1 5'/><body name='a'><joint axis='0 1 0'/><geom size='.1' pos='0 0 1'/>"
      "<body pos='0 0 1'><site name='s' pos='1 0 0' euler='90 0 0'/></body></body>"
      "<body name='b' pos='1 0 1'><freejoint/><geom size='.1'/><site name='z' pos='0 0 .5' euler='0 90 0'/></body>"
      "<body name='c' pos='0 1 5'><freejoint/><geom size='.1'/><frame pos='0 0 .5'><site name='y' pos='0 0 "
      "-.5'/></frame>"
      "</body></worldbody><equality><weld site1='s' site2='z'/><connect site1='y' site2='w'/></equality>";
  static const char *const parts[] = {
      "kind: weld\n    name: loop1\n    of:\n      - a\n      - b\n    at: [1, 0, 1]\n    in: [0, 0, 0.5]\n    "
      "quaternion: [0.5",
      "kind: ball\n    name: loop2\n    of:\n      - c\n      - world\n    at: [0, 0, 0]\n    in: [0, 1, 5]\n"};
  cb_text text = import(within, NULL);
  CHECK_PARTS(text.data, parts);
  cb_text_free(&text);
}

/* The length -(q + .1)/2 of the tendon is between -1 and 3, so q is between -6.1 and 1.9. The joint's own range has the
 * lower limit -2. */
static void a_tendon_of_one_joint_limits_it(void **unused) {
  static const char *const parts[] = {"    friction: 0.75\n    limits: [-2.1", ", 1.9]\n"};
  cb_text text = import(
      "<compiler angle='radian'/><worldbody><body><joint name='a' ref='.1' frictionloss='.25' range='-2 9'/><geom "
      "size='1'/></body></worldbody><tendon><fixed range='-1 3' frictionloss='1'><joint joint='a' coef='-.5'/></fixed>"
      "</tendon>",
      NULL);
  CHECK_PARTS(text.data, parts);
  cb_text_free(&text);
}

/* A ball joint starts rotated by 45 degrees about its own z axis, which is the x axis of its parent, and rotates about
 * this axis. */
static void a_key_starts_joints(void **unused) {
  static const char within[] =
      "<worldbody><body euler='0 90 0'><joint type='ball'/><geom size='1'/><body><joint ref='10'/><geom "
      "size='1'/></body>"
      "</body></worldbody><keyframe><key qpos='.92387953251128674 0 0 .38268343236508978 .5' qvel='0 0 3 "
      "4'/></keyframe>";
  cb_mjcf *m;
  char text[1024];
  snprintf(text, sizeof text, "<mujoco>%s</mujoco>", within);
  check_ok(read_from(text, "0", &m));
  const cb_mjcf_hold *ball = &m->bodies->hold[0], *hinge = &m->bodies->next->hold[0];
  const double q[3] = {M_PI / 4, 0, 0}, rate[3] = {3, 0, 0};
  for (int i = 0; i < 3; i++) {
    check_near(ball->q[i], q[i], 1e-15);
    check_near(ball->rate[i], rate[i], 1e-15);
  }
  check_near(hinge->q[0], .5 - M_PI / 18, 1e-15);
  check_near(hinge->rate[0], 4.0, 0);
  cb_mjcf_free(m);
}

static void switches_are_obeyed(void **unused) {
  static const struct {
    const char *flag, *gone;
  } cases[] = {{"constraint", "limits:"},     {"constraint", "friction:"}, {"limit", "limits:"},
               {"frictionloss", "friction:"}, {"spring", "spring:"},       {"damper", "damping:"},
               {"passive", "spring:"},        {"passive", "damping:"},     {"equality", "weld"},
               {"constraint", "weld"},        {"actuation", "motor:"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    for (int off = 0; off < 2; off++) {
      char within[1024];
      snprintf(
          within, sizeof within,
          "<option><flag %s='%s'/></option><worldbody><body name='a'><joint name='j' range='-1 1' frictionloss='1' "
          "stiffness='1' damping='1'/><geom size='1'/></body></worldbody><equality><weld body1='a'/></equality>"
          "<actuator><motor joint='j'/></actuator>",
          cases[i].flag, off ? "disable" : "enable");
      cb_text text = import(within, NULL);
      const bool there = strstr(text.data, cases[i].gone) != NULL;
      if (there == (off == 1)) fail_msg("%s of %s\n%s", cases[i].gone, cases[i].flag, text.data);
      cb_text_free(&text);
    }
}

/* A <frame> displaces and rotates the joint in it. Each copy that <replicate> makes of a body has joints, actuators and
 * controls of its own. */
static void frames_and_copies_have_joints(void **unused) {
  static const char *const given[] = {"m1=t"};
  static const char *const parts[] = {
      "    name: j0\n    of:\n      - world\n      - b0\n    at: [1, 0, 0]\n    in: [1, 0, 0]\n    axis: [0, ",
      "    name: j1\n    of:\n      - world\n      - b1\n    at: [1, 5, 0]\n", "    motor: \"1*(ctrl0)\"\n",
      "    motor: \"1*((t))\"\n"};
  cb_text text = import(
      "<worldbody><replicate count='2' offset='0 5 0'><body name='b'><frame pos='1 0 0' euler='90 0 0'>"
      "<joint name='j'/></frame><geom size='1'/></body></replicate></worldbody>"
      "<actuator><motor name='m' joint='j'/></actuator>",
      &(cb_mjcf_choices){.control = given, .controls = 1});
  CHECK_PARTS(text.data, parts);
  cb_text_free(&text);
}

/* Names that expressions cannot use are replaced. */
static void joints_have_names_that_expressions_can_use(void **unused) {
  static const char *const names[][2] = {{"left knee", "left_knee"},
                                         {"t", "joint0"},
                                         {"sin", "joint0"},
                                         {"2nd", "joint0"},
                                         {"ctrl1", "joint0"},
                                         {"pi", "joint0"},
                                         {"a_name_that_is_too_long", "joint0"}};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    char within[512], part[64];
    snprintf(within, sizeof within, "<worldbody><body><joint name='%s'/><geom size='1'/></body></worldbody>",
             names[i][0]);
    snprintf(part, sizeof part, "    name: %s\n", names[i][1]);
    cb_text text = import(within, NULL);
    assert_non_null(strstr(text.data, part));
    cb_text_free(&text);
  }
}

static void models_are_read_with_little_left_out(void **unused) {
  static const struct {
    const char *text;
    int bodies, joints;
    const char *left_out;
  } cases[] = {{three_links, 3, 3, "softness of limits"},
               {swimmer_in_space, 3, 2, "controls"},
               {fish, 5, 4, "--key bent"},
               {arms, 6, 5, "controls"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_mjcf *m;
    cb_text out = {0};
    cb_scenario *s;
    check_ok(read_text(cases[i].text, &m));
    assert_int_equal(m->n, cases[i].bodies);
    assert_int_equal(m->joints, cases[i].joints);
    assert_non_null(strstr(m->left_out, cases[i].left_out));
    check_ok(cb_mjcf_write(m, 1, &out));
    check_ok(cb_scenario_open_text("written", out.data, NULL, 0, &s));
    cb_scenario_free(s);
    cb_text_free(&out);
    cb_mjcf_free(m);
  }
}

/* Omitted elements that would change the motion are listed one by one. Those that change only the appearance are in the
 * last line. */
static void what_is_left_out_is_listed(void **unused) {
  cb_mjcf *m;
  check_ok(read_within(
      "<worldbody><light/><body name='a'><joint name='j' range='1 2'/><joint name='i' springdamper='1 1'/>\n"
      "<geom size='1' rgba='1 1 1 1'/><body name='b'><joint name='k' type='ball' range='0 9' frictionloss='1' "
      "armature='1'/>\n"
      "<geom size='1'/><body name='c'><joint name='l' armature='1' type='ball'/><geom size='1'/></body></body></body>"
      "</worldbody>\n"
      "<equality><joint joint1='i' joint2='j' polycoef='1'/><joint joint1='i' joint2='j' polycoef='0 1 1'/><joint "
      "joint1='i' joint2='j'/><flex/></equality>\n"
      "<tendon><spatial name='s'/><fixed range='0 1' frictionloss='1'><joint joint='i'/><joint "
      "joint='j'/></fixed><fixed "
      "range='0 1'><joint joint='i'/><joint joint='j'/></fixed><fixed frictionloss='1'><joint joint='i'/><joint "
      "joint='j'/></fixed></tendon><contact><pair/></contact><actuator><motor tendon='s'/><muscle joint='i'/>"
      "<motor joint='k'/></actuator>",
      &m));
  assert_string_equal(
      m->left_out,
      "m.xml:2:1: left out: contacts between bodies\n"
      "m.xml:2:35: left out: range of a joint that starts outside of it, at 0, where the range is 1 to 2\n"
      "m.xml:2:80: left out: springdamper of <joint> `i`\n"
      "m.xml:3:47: left out: range and frictionloss of a ball joint: its armature acts on the rates of the rotation "
      "vector\n"
      "m.xml:4:32: left out: ball joint: its armature acts on the rates of the rotation vector\n"
      "m.xml:5:11: left out: softness of constraints: they hold exactly; the start of joint `i` at 0: this constraint "
      "sets it to 57.2958\n"
      "m.xml:5:54: left out: <joint>: other constraints give the coordinates of its joints\n"
      "m.xml:5:101: left out: <joint>: other constraints give the coordinates of its joints\n"
      "m.xml:5:131: left out: <flex>\n"
      "m.xml:6:9: left out: <spatial> `s`: only fixed tendons are read\n"
      "m.xml:6:28: left out: range and frictionloss of a tendon of several joints\n"
      "m.xml:6:108: left out: range of a tendon of several joints\n"
      "m.xml:6:171: left out: frictionloss of a tendon of several joints\n"
      "m.xml:6:248: left out: <contact> with 1 element in it\n"
      "m.xml:6:274: left out: controls: the values for 1 actuator are 0; set them with `--control ctrl2=EXPR`\n"
      "m.xml:6:284: left out: <motor>: its tendon is not read\n"
      "m.xml:6:303: left out: <muscle>: its type is not read\n"
      "m.xml:2:12: left out: visual and other minor elements: <light>, rgba of <geom>\n");
  cb_mjcf_free(m);
}

/* --- errors --- */

static const char arm[] =
    "<worldbody><body name='a'><joint name='j'/><geom size='1'/><body name='b'><joint name='k' "
    "type='ball'/><geom size='1'/><site name='s'/></body></body></worldbody>\n";

static const struct {
  const char *joints, *told; /* the joints are on line 3, which the error names */
} of_joints[] = {
    {"<joint type='hing'/>", "m.xml:3:14: error: unknown type of joint 'hing', did you mean 'hinge'?"},
    {"<joint axis='0 0 0'/>", "m.xml:3:14: error: axis: expected a direction, found a vector of length 0"},
    {"<joint axis='0 1'/>", "m.xml:3:14: error: axis: expected 3 numbers, found 2"},
    {"<joint pos='0 1 x'/>", "m.xml:3:17: error: pos: expected a number, found 'x'"},
    {"<joint limited='true'/>", "m.xml:3:17: error: range: expected two numbers in ascending order, found 0 and 0"},
    {"<joint range='1 -1'/>", "m.xml:3:15: error: range: expected two numbers in ascending order, found 1 and -1"},
    {"<joint range='1'/>", "m.xml:3:15: error: range: expected 2 numbers, found 1"},
    {"<joint limited='maybe'/>", "m.xml:3:17: error: unknown limited 'maybe'"},
    {"<joint stiffness='-1'/>", "m.xml:3:19: error: stiffness: expected a number >= 0, found -1"},
    {"<joint damping='-1'/>", "m.xml:3:17: error: damping: expected a number >= 0, found -1"},
    {"<joint armature='-1'/>", "m.xml:3:18: error: armature: expected a number >= 0, found -1"},
    {"<joint frictionloss='-1'/>", "m.xml:3:22: error: frictionloss: expected a number >= 0, found -1"},
    {"<joint ref='nan'/>", "m.xml:3:13: error: ref: expected a number, found 'nan'"},
    {"<joint springref='1 2'/>", "m.xml:3:19: error: springref: expected 1 number, found 2"},
    {"<joint class='c'/>", "m.xml:3:15: error: no <default> has the class `c`"},
    {"<joint actuatorfrcrange='1 0'/>", "m.xml:3:26: error: actuatorfrcrange: expected two numbers"},
    {"<joint name='x'/><joint name='x'/>", "m.xml:3:31: error: a second joint is called `x`"},
    {"<joint/><joint type='ball'/>", "m.xml:3:9: error: a ball joint next to another joint of its body"},
    {"<joint type='ball'/><joint/>", "m.xml:3:21: error: a ball joint next to another joint of its body"},
    {"<joint/><freejoint/>", "m.xml:3:9: error: a free joint next to another joint of its body"},
    {"<freejoint/><joint/>", "m.xml:3:13: error: a free joint next to another joint of its body"},
    {"<joint/><joint/><joint/><joint/><joint/><joint/><joint/>",
     "m.xml:3:49: error: expected at most 6 joints in a body"},
    {"<joint/><body><freejoint/><geom size='1'/></body>",
     "m.xml:3:15: error: a free joint in a body of another body: expected a body of the world"},
    {"<joint/><body><joint/></body>", "m.xml:3:9: error: a body without mass: expected <inertial>, or a geom"},
    {"<joint/><body><joint/><inertial pos='0 0 0' mass='1' diaginertia='0 0 0'/></body>",
     "m.xml:3:9: error: a body without inertia: expected moments > 0"},
    {"<joint/><geom type='plane' size='1 1 1'/>", "m.xml:3:21: error: a geom of type plane on a body that moves"}};

static const char *const after[][2] = {
    /* these follow the arm, on line 3 */
    {"<worldbody><joint/></worldbody>", "m.xml:3:12: error: a joint outside of a body: expected it in a <body>"},
    {"<worldbody><frame><freejoint/></frame></worldbody>", "m.xml:3:19: error: a joint outside of a body"},
    {"<worldbody><body><geom size='1'/><body><freejoint/><geom size='1'/></body></body></worldbody>",
     "m.xml:3:40: error: a free joint in a body of another body"},
    {"<actuator><motor joint='jj'/></actuator>", "m.xml:3:25: error: unknown joint 'jj', did you mean 'j'?"},
    {"<actuator><motor site='t'/></actuator>", "m.xml:3:24: error: unknown site 't', expected s"},
    {"<actuator><motor tendon='t'/></actuator>", "m.xml:3:26: error: unknown tendon 't'"},
    {"<actuator><motor/></actuator>", "m.xml:3:11: error: an actuator without a target: expected `joint`, `tendon` or"},
    {"<actuator><motor joint='j' site='s'/></actuator>",
     "m.xml:3:25: error: joint in addition to another target: expected only one of joint"},
    {"<actuator><position joint='j' kp='-1'/></actuator>", "m.xml:3:35: error: kp: expected a number >= 0, found -1"},
    {"<actuator><velocity joint='j' kv='x'/></actuator>", "m.xml:3:35: error: kv: expected a number, found 'x'"},
    {"<actuator><motor joint='j' forcerange='2 1'/></actuator>", "m.xml:3:40: error: forcerange: expected two numbers"},
    {"<tendon><fixed name='x'/></tendon>", "m.xml:3:9: error: a tendon without joints: expected at least one <joint>"},
    {"<tendon><fixed><joint coef='1'/></fixed></tendon>", "m.xml:3:16: error: expected `joint`, the name of a joint"},
    {"<tendon><fixed><joint joint='l'/></fixed></tendon>", "m.xml:3:30: error: unknown joint 'l'"},
    {"<tendon><fixed><joint joint='k'/></fixed></tendon>",
     "m.xml:3:30: error: joint: expected a hinge or a slide, found the ball joint `k`"},
    {"<tendon><fixed><joint joint='j'/><joint joint='j'/></fixed></tendon>",
     "m.xml:3:48: error: joint: the tendon already has the joint `j`"},
    {"<tendon><fixed><joint joint='j' coef='1 2'/></fixed></tendon>", "m.xml:3:39: error: coef: expected 1 number"},
    {"<tendon><fixed stiffness='-1'><joint joint='j'/></fixed></tendon>",
     "m.xml:3:27: error: stiffness: expected a number >= 0, found -1"},
    {"<tendon><fixed springlength='2 1'><joint joint='j'/></fixed></tendon>",
     "m.xml:3:30: error: springlength: expected two lengths in ascending order, found 2 and 1"},
    {"<tendon><fixed name='x'><joint joint='j'/></fixed><spatial name='x'/></tendon>",
     "m.xml:3:66: error: a second tendon is called `x`"},
    {"<equality><connect anchor='0 0 0'/></equality>", "m.xml:3:11: error: expected `body1`, the name of a body"},
    {"<equality><connect body1='c' anchor='0 0 0'/></equality>", "m.xml:3:27: error: unknown body 'c'"},
    {"<equality><connect body1='b'/></equality>", "m.xml:3:11: error: expected `anchor`, a point of body1"},
    {"<equality><connect body1='b' anchor='0 0'/></equality>",
     "m.xml:3:38: error: anchor: expected 3 numbers, found 2"},
    {"<equality><weld body1='b' body2='b'/></equality>", "m.xml:3:11: error: both bodies are parts of one rigid body"},
    {"<equality><weld body1='b' relpose='1'/></equality>", "m.xml:3:36: error: relpose: expected 7 numbers, found 1"},
    {"<equality><weld body1='b' active='no'/></equality>", "m.xml:3:35: error: unknown active 'no'"},
    {"<equality><joint joint1='l'/></equality>", "m.xml:3:26: error: no joint is called `l`"},
    {"<equality><joint joint1='k'/></equality>", "m.xml:3:26: error: joint1: expected a hinge or a slide"},
    {"<equality><joint joint1='j' joint2='l'/></equality>", "m.xml:3:37: error: no joint is called `l`"},
    {"<equality><joint joint1='j' joint2='k'/></equality>", "m.xml:3:37: error: joint2: expected a hinge or a slide"},
    {"<equality><joint joint1='j' joint2='j'/></equality>",
     "m.xml:3:37: error: joint2: expected another joint than `j`"},
    {"<equality><joint joint1='j' polycoef='1 2 3 4 5 6'/></equality>",
     "m.xml:3:39: error: polycoef: expected 1 to 5 numbers, found 6"},
    {"<equality><connect site1='s'/></equality>", "m.xml:3:11: error: expected `site2` next to `site1`"},
    {"<equality><weld site2='s'/></equality>", "m.xml:3:11: error: expected `site1` next to `site2`"},
    {"<equality><weld site1='s' site2='z'/></equality>", "m.xml:3:34: error: no site is called `z`"},
    {"<equality><weld site1='s' site2='s'/></equality>", "m.xml:3:11: error: both bodies are parts of one rigid body"},
    {"<equality><connect site1='s' site2='s' anchor='0 0 0'/></equality>",
     "m.xml:3:48: error: anchor next to sites: expected `site1` and `site2` alone"},
    {"<option collision='some'/>", "m.xml:3:20: error: unknown collision 'some'"}};

/* Prints the error that is not the expected one, and returns whether there is one. */
static int is_wrong(cb_status status, const char *told) {
  if (status == CB_ERROR_INPUT && strstr(cb_error_text(), told)) return 0;
  print_message("%s\nexpected %s\n", status ? cb_error_text() : "no error", told);
  return 1;
}

static void what_cannot_be_right_is_refused_with_its_place(void **unused) {
  int wrong = 0;
  for (size_t i = 0; i < sizeof of_joints / sizeof *of_joints; i++) {
    char text[1024];
    cb_mjcf *m = NULL;
    snprintf(text, sizeof text, "<worldbody><body><geom size='1'/>\n%s\n</body></worldbody>", of_joints[i].joints);
    wrong += is_wrong(read_within(text, &m), of_joints[i].told);
  }
  for (size_t i = 0; i < sizeof after / sizeof *after; i++) {
    char text[1024];
    cb_mjcf *m = NULL;
    snprintf(text, sizeof text, "%s%s", arm, after[i][0]);
    wrong += is_wrong(read_within(text, &m), after[i][1]);
  }
  assert_int_equal(wrong, 0);
}

static void keys_and_controls_that_cannot_be_right_are_refused(void **unused) {
  static const char *const keys[][2] = {
      {"qpos='1 1 0 0'", "m.xml:3:22: error: qpos: expected 5 numbers, found 4"},
      {"qvel='1 1 0 0 0'", "m.xml:3:22: error: qvel: expected 4 numbers, found 5"},
      {"ctrl='1 1'", "m.xml:3:22: error: ctrl: expected 1 number, found 2"},
      {"qpos='1 0 0 0 0'",
       "m.xml:3:22: error: qpos: expected a quaternion that is not 0, found four zeros from number 2 on"}};
  char text[1024];
  cb_mjcf *m = NULL;
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
    snprintf(text, sizeof text,
             "<mujoco>\n%s<keyframe><key %s/></keyframe><actuator><motor joint='j'/></actuator></mujoco>", arm,
             keys[i][0]);
    assert_int_equal(read_from(text, "0", &m), CB_ERROR_INPUT);
    if (!strstr(cb_error_text(), keys[i][1])) fail_msg("%s\nexpected %s", cb_error_text(), keys[i][1]);
  }
  static const char *const controls[][2] = {
      {"", "--control:1:1: error: expected NAME=EXPRESSION, found ''"},
      {"=1", "--control:1:1: error: expected NAME=EXPRESSION, found '=1'"},
      {"pul=1", "--control:1:1: error: unknown control 'pul', did you mean 'pull'?"},
      {"pull=sin(", "--control:1:10: error: "},
      {"pull=q", "--control:1:6: error: unknown name"},
      {"muscle=1", "m.xml:3:53: error: --control: this actuator is left out: its type is not read"}};
  snprintf(text, sizeof text,
           "<mujoco>\n%s<actuator>            <motor name='pull' joint='j'/><muscle name='muscle' "
           "joint='j'/></actuator></mujoco>",
           arm);
  for (size_t i = 0; i < sizeof controls / sizeof *controls; i++) {
    assert_int_equal(cb_mjcf_read_text("m.xml", text, strlen(text),
                                       &(cb_mjcf_choices){.control = &controls[i][0], .controls = 1}, &m),
                     CB_ERROR_INPUT);
    if (!strstr(cb_error_text(), controls[i][1])) fail_msg("%s\nexpected %s", cb_error_text(), controls[i][1]);
  }
  static const char *const twice[] = {"pull=1", "ctrl0=2"};
  assert_int_equal(
      cb_mjcf_read_text("m.xml", text, strlen(text), &(cb_mjcf_choices){.control = twice, .controls = 2}, &m),
      CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "a second control for `ctrl0`"));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_hinge_is_written_in_the_axes_of_both_bodies),
                                     cmocka_unit_test(joints_of_one_body_are_one_joint),
                                     cmocka_unit_test(tendons_pull_all_their_joints),
                                     cmocka_unit_test(controls_are_expressions_of_time),
                                     cmocka_unit_test(constraints_close_loops),
                                     cmocka_unit_test(joints_are_coupled),
                                     cmocka_unit_test(constraints_join_sites),
                                     cmocka_unit_test(a_tendon_of_one_joint_limits_it),
                                     cmocka_unit_test(a_key_starts_joints),
                                     cmocka_unit_test(switches_are_obeyed),
                                     cmocka_unit_test(what_is_left_out_is_listed),
                                     cmocka_unit_test(frames_and_copies_have_joints),
                                     cmocka_unit_test(joints_have_names_that_expressions_can_use),
                                     cmocka_unit_test(models_are_read_with_little_left_out),
                                     cmocka_unit_test(what_cannot_be_right_is_refused_with_its_place),
                                     cmocka_unit_test(keys_and_controls_that_cannot_be_right_are_refused)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
