/* Tests of the motion of MJCF bodies: the keys with their start states, the actuators that push them, and the plane
 * that is their floor. The text that is written is a scenario. */
#include "mjcf_text.h"
#include <curvebody/scenario.h>

/* --- the start, actuators, and the floor --- */

/* The order of the coordinates is: 1 + 1 of the two joints of an arm, 4 of its ball joint, 7 of each of two free
 * bodies. */
static const char starts[] =
    "<mujoco><worldbody><body><joint/><joint type='slide'/><geom size='1'/><body><joint type='ball'/><geom "
    "size='1'/></body></body>"
    "<body name='a'><freejoint/><geom size='1'/></body><body name='b' pos='5 5 5'><freejoint/><geom size='1'/></body>"
    "</worldbody><keyframe><key name='one' time='3' qpos='9 9 1 0 0 0  1 2 3 0 0 0 2  4 5 6 1 0 0 1' "
    "qvel='9 9 9 9 9  1 0 0 0 0 7  0 1 0 .1 .2 .3'/><key qvel='0 0 0 0 0 0 0 0 0 0 0 0 0 0 8 0 "
    "0'/></keyframe></mujoco>";

static void a_key_is_the_start_of_each_free_body(void **unused) {
  cb_mjcf *m;
  check_ok(read_from(starts, "one", &m));
  const cb_mjcf_body *arm = m->bodies, *hand = arm->next, *a = hand->next, *b = a->next;
  check_near(m->start, 3.0, 0);
  check_near(arm->hold[0].q[0], 9.0, 0);
  check_near(hand->hold[0].q[0], 0, 0);
  check_near(a->place.x[1], 2.0, 0);
  check_near(a->place.q[3], 1.0, 0);
  check_near(a->velocity[0], -1.0, 1e-15); /* half a turn around z: x of the world is -x of the body */
  check_near(a->spin[2], 7.0, 0);
  check_near(b->place.x[2], 6.0, 0);
  check_near(b->velocity[0], 1.0, 1e-15); /* a quarter turn around z */
  check_near(b->spin[1], 0.2, 0);
  cb_mjcf_free(m);
  check_ok(read_from(starts, "1", &m)); /* the key is selected by its number */
  const cb_mjcf_body *last = m->bodies->next->next->next;
  check_near(last->place.x[0], 5.0, 0);
  check_near(last->velocity[2], 0, 0);
  check_near(last->spin[0], 8.0, 0);
  assert_non_null(strstr(m->left_out, "left out: <key> `one`: another start; select it with `--key one`\n"));
  assert_null(strstr(m->left_out, "--key 1"));
  cb_mjcf_free(m);
  check_ok(read_text(starts, &m));
  check_near(m->bodies->next->next->velocity[0], 0, 0);
  assert_non_null(strstr(m->left_out, "left out: <key>: another start; select it with `--key 1`\n"));
  cb_mjcf_free(m);
  assert_int_equal(read_from(starts, "on", &m), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), ": error: unknown key 'on', did you mean 'one'?"));
  assert_int_equal(read_from(starts, "nope", &m), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), ": error: unknown key 'nope', did you mean 'one'? Expected one of: one, 1"));
  assert_int_equal(read_from(starts, "2", &m), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "one of: one, 1"));
}

static void check_key(const char *before, const char *key, const char *told) {
  char text[1024];
  cb_mjcf *m = NULL;
  snprintf(text, sizeof text,
           "<mujoco>%s<worldbody><body><freejoint name='j'/><geom size='1'/><site name='s'/></body></worldbody>\n"
           "<keyframe><key %s/></keyframe></mujoco>",
           before, key);
  assert_int_equal(read_from(text, "0", &m), CB_ERROR_INPUT);
  if (!strstr(cb_error_text(), told)) fail_msg("%s\nexpected %s", cb_error_text(), told);
}

static void keys_and_actuators_that_cannot_be_right_are_refused(void **unused) {
  check_key("", "qpos='1 2 3'", "m.xml:2:22: error: qpos: expected 7 numbers, found 3");
  check_key("", "qvel='1 2 3 4 5 6 7'", "m.xml:2:22: error: qvel: expected 6 numbers, found 7");
  check_key("", "qvel='1 2 3 4 5 nan'", "m.xml:2:32: error: qvel: expected a number, found 'nan'");
  check_key("", "qpos='1 2 3 0 0 0 0'", "m.xml:2:22: error: qpos: expected a quaternion that is not 0");
  check_key("", "ctrl='1'", "m.xml:2:22: error: ctrl: expected 0 numbers, found 1");
  check_key("", "time='x'", "m.xml:2:22: error: time: expected a number, found 'x'");
  check_key("<compiler alignfree='true'/>", "qpos='1 2 3 1 0 0 0'", "error: a key for a joint of an aligned body");
  check_key("<actuator><motor site='s' gear='1 x'/></actuator>", "", "m.xml:1:43: error: gear: expected a number");
  check_key("<actuator><motor site='s' ctrlrange='1 0'/></actuator>", "",
            "m.xml:1:46: error: ctrlrange: expected two numbers in ascending order, found 1 and 0");
  check_key("<actuator><motor site='s' class='c'/></actuator>", "", "error: no <default> has the class `c`");
  check_key("<worldbody><body><composite/></body></worldbody>", "qpos='1'",
            "qpos: the joints of <composite> in line 1 are not known");
  check_key("<worldbody><flexcomp/></worldbody>", "qpos='1'", "qpos: the joints of <flexcomp> in line 1 are not known");
  check_key("<option actuatorgroupdisable='31'/>", "", "actuatorgroupdisable: expected groups from 0 to 30, found 31");
  cb_mjcf *m = NULL;
  assert_int_equal(
      read_from("<mujoco><worldbody><body><freejoint/><geom size='1'/></body></worldbody></mujoco>", "a", &m),
      CB_ERROR_INPUT);
  assert_string_equal(cb_error_text(), "m.xml:1:1: error: --key: expected a <key> in the file, found none");
}

static void check_text(const char *text, const char *const *parts, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (!strstr(text, parts[i])) fail_msg("%s\nexpected %s", text, parts[i]);
}

/* Each copy has its own actuators. They come after the actuators outside of copies, as in MuJoCo. */
static void actuators_become_wrenches(void **unused) {
  static const char text[] =
      "<mujoco><default><motor gear='0 0 2'/><default class='c'><general ctrlrange='-1 "
      "1'/></default></default><worldbody><site name='u'/>"
      "<body name='a'><freejoint name='j'/><geom size='1'/><replicate count='2' sep='_' offset='3 0 0'><site name='s'/>"
      "</replicate><body pos='0 1 0'><site name='t' pos='0 1 0' euler='0 0 90'/></body></body></worldbody><actuator>"
      "<motor name='m' site='s'/><motor name='n 1' site='t' class='c'/><motor name='j' joint='j' gear='1 0 0 0 0 5'/>"
      "<velocity name='v' site='t' kv='3' gear='0 1 0'/><muscle site='t'/><motor site='u'/></actuator>"
      "<keyframe><key name='k' ctrl='1 2 3 4 5 6 7'/></keyframe></mujoco>";
  static const char *const parts[] = {
      "parameters:\n    ctrl0: 1\n    ctrl1: 2\n    ctrl2: 3\n    ctrl5: 6\n    ctrl6: 7\n",
      ("- name: n_1\n        frame: body\n        force: [\"0\", \"0\", \"2*(min(max(ctrl0, -1), 1))\"]\n        at: "
       "[0, 2, 0]"),
      "- name: j\n        frame: world\n        force: [\"1*(ctrl1)\", \"0\", \"0\"]\n        at: [0, 0, 0]",
      "- name: j_torque\n        frame: body\n        torque: [\"0\", \"0\", \"5*(ctrl1)\"]",
      "- name: m_0\n        frame: body\n        force: [\"0\", \"0\", \"2*(ctrl5)\"]\n        at: [0, 0, 0]",
      "- name: m_1\n        frame: body\n        force: [\"0\", \"0\", \"2*(ctrl6)\"]\n        at: [3, 0, 0]"};
  cb_mjcf *m;
  cb_text out = {0};
  cb_scenario *s;
  check_ok(read_from(text, "k", &m));
  check_ok(cb_mjcf_write(m, 2, &out));
  check_text(out.data, parts, sizeof parts / sizeof *parts);
  check_ok(cb_scenario_open_text("written", out.data, NULL, 0, &s));
  assert_non_null(strstr(m->left_out, "left out: <muscle>: its type is not read\n"));
  assert_non_null(strstr(m->left_out, "left out: <motor>: its site does not move\n"));
  cb_scenario_free(s);
  cb_text_free(&out);
  cb_mjcf_free(m);
}

/* A record has one name per wrench, so wrenches of copies of a body share one name. */
static void copies_of_a_body_have_wrenches_of_one_name(void **unused) {
  cb_mjcf *m;
  check_ok(read_within(
      "<worldbody><replicate count='12' offset='9 0 0'><body name='b' gravcomp='1'><freejoint/><geom size='1'/>"
      "<site name='s'/><replicate count='2'><site name='t'/></replicate></body></replicate></worldbody>"
      "<actuator><motor name='up' site='s'/><motor site='s'/><motor name='side' site='t'/></actuator>",
      &m));
  static const char *const names[] = {"gravcomp", "up", "actuator1", "side0", "side1"};
  for (const cb_mjcf_body *b = m->bodies; b; b = b->next) {
    const cb_mjcf_wrench *w = b->wrenches;
    for (int i = 0; i < 5; i++, w = w->next) assert_string_equal(w->name, names[i]);
    assert_null(w);
  }
  cb_mjcf_free(m);
}

static void what_is_switched_off_does_not_push(void **unused) {
  static const struct {
    const char *flag;
    int wrenches;
    bool floor;
  } cases[] = {{"", 2, true},
               {"<option><flag gravity='disable'/></option>", 1, true},
               {"<option><flag passive='disable'/></option>", 1, true},
               {"<option><flag spring='disable'/></option>", 2, true},
               {"<option><flag spring='disable' damper='disable'/></option>", 1, true},
               {"<option><flag actuation='disable'/></option>", 1, true},
               {"<option actuatorgroupdisable='2 7'/>", 1, true},
               {"<option><flag contact='disable'/></option>", 2, false}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024];
    cb_mjcf *m;
    int n = 0;
    snprintf(
        text, sizeof text,
        "%s<worldbody><geom type='plane' size='1 1 1'/><body gravcomp='.5' pos='0 0 3'><freejoint/><geom size='1'/>"
        "<site name='s'/></body></worldbody><actuator><motor site='s' group='7'/></actuator>",
        cases[i].flag);
    check_ok(read_within(text, &m));
    for (const cb_mjcf_wrench *w = m->bodies->wrenches; w; w = w->next) n++;
    assert_int_equal(n, cases[i].wrenches);
    assert_int_equal(m->floor, cases[i].floor);
    cb_mjcf_free(m);
  }
}

/* The normal of the floor is the z axis of the plane, rotated by the frames that contain it. If two planes have the
 * same normal, the higher one is the floor. */
static void a_plane_is_the_floor(void **unused) {
  cb_mjcf *m;
  check_ok(read_within(
      "<worldbody><body name='hall' pos='0 0 -2'><geom type='plane' pos='0 0 .5'/></body>\n"
      "<frame euler='0 30 0'><frame euler='0 -30 0' pos='0 0 -1'><geom type='plane' euler='0 0 70'/></frame>"
      "</frame>\n"
      "<geom type='plane' zaxis='1 0 0' pos='-9 0 0'/><geom type='plane' pos='0 0 5' contype='2' "
      "conaffinity='4'/>\n"
      "<body pos='0 0 2'><freejoint/><geom size='1'/></body></worldbody>",
      &m));
  assert_true(m->floor);
  for (int i = 0; i < 3; i++) check_near(m->normal[i], i == 2 ? 1.0 : 0.0, 1e-15);
  check_near(m->height, -cos(M_PI / 6), 1e-15);
  assert_non_null(
      strstr(m->left_out, "m.xml:4:1: left out: <geom>: only one plane is read as the floor, the plane in line 3\n"));
  assert_non_null(strstr(m->left_out, "m.xml:4:48: left out: <geom>: no moving body collides with it\n"));
  cb_mjcf_free(m);
  check_ok(read_within(
      "<worldbody><geom type='plane' euler='0 90 0' pos='3 1 1'/><body pos='9 0 0'><freejoint/><geom size='1'/></body>"
      "<body pos='3.5 0 0'><freejoint/><geom size='1' contype='0' conaffinity='0'/></body></worldbody>",
      &m));
  check_near(m->normal[0], 1.0, 1e-15);
  check_near(m->height, 2.5, 1e-15); /* the height of the lowest point of the other body at its start */
  assert_non_null(strstr(m->left_out, "it also stops bodies that do not collide with it in MuJoCo; it is lowered by"));
  cb_mjcf_free(m);
  static const struct {
    const char *geom;
    double below; /* distance of the lowest point of the body from its origin */
  } cases[] = {{"size='.1'", 0.1},
               {"type='box' size='.1 .2 .3' euler='30 0 0'", 0.2 * 0.5 + 0.3 * 0.86602540378443865},
               {"type='capsule' size='.1 .2' euler='60 0 0'", 0.1 + 0.2 * 0.5},
               {"type='cylinder' size='.1 .2' euler='60 0 0'", 0.1 * 0.86602540378443865 + 0.2 * 0.5},
               {"type='ellipsoid' size='.1 .2 .3' euler='0 30 0'", 0.26457513110645906}}; /* sqrt(.01/4 + .09 3/4) */
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    snprintf(text, sizeof text,
             "<worldbody><geom type='plane'/><body name='b' pos='0 0 %g'><freejoint/><geom %s/></body></worldbody>",
             i ? 0.01 : -0.01, cases[i].geom);
    check_ok(read_within(text, &m));
    assert_int_equal(m->floor, i > 0);
    check_near(m->height, (i ? 0.01 : -0.01) - cases[i].below, 1e-15);
    if (!i) assert_non_null(strstr(m->left_out, "left out: <geom>: the body `b` begins below this plane\n"));
    cb_mjcf_free(m);
  }
}

/* --- the written scenario --- */

static void what_is_written_is_a_scenario(void **unused) {
  cb_mjcf *m;
  cb_text text = {0};
  cb_scenario *s;
  check_ok(read_text(
      "<mujoco model='a: &quot;b&quot;'><option density='1.2' viscosity='1e-5' wind='1 0 0' integrator='implicit' "
      "timestep='.004'/><worldbody>"
      "<body name='a #1' pos='0 0 1'><freejoint/><geom type='box' size='.1 .2 .3' fluidshape='ellipsoid'/>"
      "<body euler='10 20 30'><geom type='capsule' size='.1 .2' pos='0 0 1'/></body></body>"
      "<body><freejoint/><inertial mass='1' pos='0 0 0' fullinertia='1 2 2.5 .1 .2 .3'/></body>"
      "</worldbody></mujoco>",
      &m));
  check_ok(cb_mjcf_write(m, 2, &text));
  check_ok(cb_scenario_open_text("written", text.data, NULL, 0, &s));
  static const char *const parts[] = {"medium: 1.2\n",
                                      "gravity: [0, 0, -9.81]\n",
                                      "flow: {uniform: [1, 0, 0]}\n",
                                      "title: \"a: \\\"b\\\"\"\n",
                                      "name: \"a #1\"\n",
                                      "name: mujoco_ellipsoid\n",
                                      "- {type: box, size: [0.1, 0.2, 0.3], coefficients: [0.5, 0.25, 1.5, 1, 1]}\n",
                                      "name: mujoco_inertia_box\n",
                                      "added_mass: none\n",
                                      "buoyancy: false\n",
                                      "name: body.1\n",
                                      "- [0.1, 2, 0.3]\n",
                                      "name: hamilton_pontryagin\n",
                                      "step: 0.004\n",
                                      "end: 2\n"};
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    if (!strstr(text.data, parts[i])) fail_msg("%s\nexpected %s", text.data, parts[i]);
  cb_scenario_free(s);
  cb_text_free(&text);
  cb_mjcf_free(m);
}

static void without_a_fluid_there_is_no_drag(void **unused) {
  cb_mjcf *m;
  cb_text text = {0};
  check_ok(read_body("", "<geom size='1' fluidshape='ellipsoid'/>", &m));
  check_ok(cb_mjcf_write(m, 1, &text));
  assert_non_null(strstr(text.data, "drag: false"));
  assert_null(strstr(text.data, "model"));
  cb_text_free(&text);
  cb_mjcf_free(m);
}

/* Gravity compensation is the force -gravcomp m g at the centre of mass of each body that has this attribute, with its
 * mass m and gravity g. The compiler scales the masses to the total of 10 kg: 2 and 3 kg become 4 and 6 kg. */
static void gravity_is_made_up_for_at_each_centre(void **unused) {
  static const double force[2][3] = {{-2, -4, 18}, {-12, -24, 108}}, at[2][3] = {{0, 0, .25}, {1, 0, .5}};
  cb_mjcf *m;
  check_ok(
      read_within("<compiler settotalmass='10'/><option gravity='1 2 -9'/><worldbody><body gravcomp='.5'><freejoint/>"
                  "<geom size='.1' mass='2' pos='0 0 .25'/>"
                  "<body pos='1 0 0' gravcomp='2'><geom size='.1' mass='3' pos='0 0 .5'/></body></body></worldbody>",
                  &m));
  const cb_mjcf_wrench *w = m->bodies->wrenches;
  for (int i = 0; i < 2; i++, w = w->next) {
    assert_non_null(w);
    assert_true(w->world && !w->torque[0]);
    for (int k = 0; k < 3; k++) {
      check_near(strtod(w->force[k], NULL), force[i][k], 1e-13);
      check_near(w->at[k], at[i][k], 1e-15);
    }
  }
  assert_null(w);
  cb_mjcf_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_key_is_the_start_of_each_free_body),
      cmocka_unit_test(keys_and_actuators_that_cannot_be_right_are_refused),
      cmocka_unit_test(actuators_become_wrenches),
      cmocka_unit_test(gravity_is_made_up_for_at_each_centre),
      cmocka_unit_test(copies_of_a_body_have_wrenches_of_one_name),
      cmocka_unit_test(what_is_switched_off_does_not_push),
      cmocka_unit_test(a_plane_is_the_floor),
      cmocka_unit_test(what_is_written_is_a_scenario),
      cmocka_unit_test(without_a_fluid_there_is_no_drag),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
