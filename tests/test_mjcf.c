/* MJCF is read as it says: masses and moments of geoms by their closed forms, one orientation by its five spellings, defaults
 * by class, bodies welded together as one; what is not read is listed with its place, and what cannot be right is refused
 * with its place. What is written is a scenario. */
#include "io/mjcf.h"
#include <curvebody/scenario.h>

#include "check.h"

static cb_status read_from(const char *text, const char *key, cb_mjcf **out) {
  return cb_mjcf_read_text("m.xml", text, strlen(text), key, out);
}

static cb_status read_text(const char *text, cb_mjcf **out) { return read_from(text, NULL, out); }

/* Within <mujoco>, from column 1 of line 2. */
static cb_status read_within(const char *within, cb_mjcf **out) {
  char text[4096];
  snprintf(text, sizeof text, "<mujoco>\n%s\n</mujoco>\n", within);
  return read_text(text, out);
}

static cb_status read_body(const char *before, const char *within, cb_mjcf **out) {
  char text[2048];
  snprintf(text, sizeof text, "%s<worldbody><body><freejoint/>\n%s\n</body></worldbody>", before, within);
  return read_within(text, out);
}

/* --- geoms --- */

static void masses_and_moments_are_closed_forms(void **unused) {
  (void)unused;
  /* r = 0.1, h = 0.2: the density is 1000 */
  static const struct {
    const char *geom;
    double mass, I[3];
  } cases[] = {
      {"size='.1'", 4 * M_PI / 3, {4 * M_PI / 3 * 0.004, 4 * M_PI / 3 * 0.004, 4 * M_PI / 3 * 0.004}},
      /* a cylinder of 4 pi, and half spheres of 2 pi/3 whose centres are 3 r/8 from their discs */
      {"type='capsule' size='.1 .2'",
       16 * M_PI / 3,
       {4 * M_PI * (0.03 + 0.16) / 12 + 4 * M_PI / 3 * (0.004 + 0.04 + 0.015),
        4 * M_PI * (0.03 + 0.16) / 12 + 4 * M_PI / 3 * (0.004 + 0.04 + 0.015),
        4 * M_PI * 0.005 + 4 * M_PI / 3 * 0.004}},
      {"type='cylinder' size='.1 .2'", 4 * M_PI, {4 * M_PI * 0.19 / 12, 4 * M_PI * 0.19 / 12, 4 * M_PI * 0.005}},
      {"type='ellipsoid' size='.1 .2 .3'", 8 * M_PI, {8 * M_PI * 0.026, 8 * M_PI * 0.02, 8 * M_PI * 0.01}},
      {"type='box' size='.1 .2 .3' mass='2'", 2, {2 * 0.13 / 3, 2 * 0.1 / 3, 2 * 0.05 / 3}},
      {"type='box' size='.1 .2 .3' density='500'", 24, {24 * 0.13 / 3, 24 * 0.1 / 3, 24 * 0.05 / 3}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char geom[256];
    cb_mjcf *m;
    snprintf(geom, sizeof geom, "<geom %s/>", cases[i].geom);
    check_ok(read_body("", geom, &m));
    const cb_mjcf_inertial *own = &m->bodies->inertial;
    check_relative(own->mass, cases[i].mass, 1e-14);
    for (int k = 0; k < 3; k++) check_relative(own->inertia[k][k], cases[i].I[k], 1e-14);
    cb_mjcf_free(m);
  }
}

static void a_geom_from_one_point_to_another_lies_between_them(void **unused) {
  (void)unused;
  cb_mjcf *m;
  check_ok(read_body("",
                     "<geom type='capsule' size='.1' fromto='1 0 0  2 0 0'/>"
                     "<geom type='box' size='.1' fromto='0 0 0  0 -3 4'/>",
                     &m));
  const cb_mjcf_geom *g = m->bodies->links->geoms;
  double z[3];
  check_near(g->pose.x[0], 1.5, 0);
  check_near(g->size[1], 0.5, 0);
  cb_pose_point(&(cb_pose){.q = {g->pose.q[0], g->pose.q[1], g->pose.q[2], g->pose.q[3]}}, (double[]){0, 0, 1}, z);
  check_near(z[0], -1, 1e-15);
  g = g->next;
  check_near(g->size[1], 0.1, 0);
  check_near(g->size[2], 2.5, 0);
  cb_pose_point(&(cb_pose){.q = {g->pose.q[0], g->pose.q[1], g->pose.q[2], g->pose.q[3]}}, (double[]){0, 0, 1}, z);
  check_near(z[1], 0.6, 1e-15);
  check_near(z[2], -0.8, 1e-15);
  cb_mjcf_free(m);
}

static void one_orientation_has_five_spellings(void **unused) {
  (void)unused;
  /* x to y, y to -x: a quarter turn about z; zaxis: z to x, about y */
  static const struct {
    const char *compiler, *way;
    double q[4];
  } cases[] = {{"", "quat='2 0 0 2'", {1, 0, 0, 1}},
               {"", "quat='2e300 0 0 2e300'", {1, 0, 0, 1}},
               {"", "zaxis='1.6e308 0 0'", {1, 0, 1, 0}},
               {"", "quat='3e-14 0 0 3e-14'", {1, 0, 0, 1}},
               {"", "axisangle='0 0 3 90'", {1, 0, 0, 1}},
               {"<compiler angle='radian'/>", "axisangle='0 0 -1 -1.5707963267948966'", {1, 0, 0, 1}},
               {"", "xyaxes='0 2 0 -1 1 0'", {1, 0, 0, 1}},
               {"", "zaxis='5 0 0'", {1, 0, 1, 0}},
               {"", "euler='0 0 90'", {1, 0, 0, 1}},
               {"", "euler='90 0 90'", {1, 1, -1, 1}},
               {"<compiler eulerseq='XYZ'/>", "euler='90 0 90'", {1, 1, 1, 1}},
               {"<compiler eulerseq='zyx'/>", "euler='90 0 90'", {1, 1, 1, 1}}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[512];
    cb_mjcf *m;
    snprintf(text, sizeof text, "%s<worldbody><body pos='1 2 3' %s><freejoint/><geom size='1'/></body></worldbody>",
             cases[i].compiler, cases[i].way);
    check_ok(read_within(text, &m));
    const double *q = m->bodies->place.q, *want = cases[i].q;
    double square = 0, sign = q[0] < 0 ? -1 : 1;
    for (int k = 0; k < 4; k++) square += want[k] * want[k];
    for (int k = 0; k < 4; k++) check_near(sign * q[k], want[k] / sqrt(square), 1e-15);
    check_near(m->bodies->place.x[2], 3, 0);
    cb_mjcf_free(m);
  }
}

static void defaults_are_those_of_the_class(void **unused) {
  (void)unused;
  static const char defaults[] =
      "<default><geom density='10' size='.1 .2 .3' fluidshape='ellipsoid' fluidcoef='1 2 3'/>"
      "<default class='light'><geom density='1'/><default class='thin'><geom "
      "size='.05'/></default></default></default>";
  cb_mjcf *m;
  char text[2048];
  snprintf(text, sizeof text,
           "%s<worldbody childclass='light'><body><freejoint/><geom type='box'/><geom type='box' class='thin'/>"
           "<geom type='box' class='main' fluidcoef='7' fluidshape='none'/></body></worldbody>",
           defaults);
  check_ok(read_within(text, &m));
  const cb_mjcf_geom *a = m->bodies->links->geoms, *b = a->next, *c = b->next;
  check_relative(a->mass, 8 * 0.006, 1e-15);
  check_relative(b->mass, 8 * 0.003, 1e-15); /* the first number of the size is of its own */
  check_relative(c->mass, 8 * 0.06, 1e-15);
  assert_true(a->fluid && b->fluid && !c->fluid);
  const double coefficients[5] = {7, 2, 3, 1, 1};
  for (int i = 0; i < 5; i++) check_near(c->coefficient[i], coefficients[i], 0);
  assert_string_equal(m->left_out, "");
  cb_mjcf_free(m);
}

/* --- what stands for several --- */

/* The example of MuJoCo's reference: names, places and turns that its compiler writes. */
static void copies_stand_where_the_reference_has_them(void **unused) {
  (void)unused;
  static const struct {
    const char *name;
    double x[3], q[4];
  } want[] = {{"Alice-00", {0, 0, 0}, {1, 0, 0, 0}},
              {"Alice-10", {1, 0, 0}, {M_SQRT1_2, 0, M_SQRT1_2, 0}},
              {"Alice-01", {0, 1, 0}, {M_SQRT1_2, M_SQRT1_2, 0, 0}},
              {"Alice-11", {1, 1, 0}, {0.5, 0.5, 0.5, 0.5}}};
  cb_mjcf *m;
  check_ok(read_body("",
                     "<replicate count='2' offset='0 1 0' euler='90 0 0'><replicate count='2' sep='-' offset='1 0 0' "
                     "euler='0 90 0'><geom name='Alice' size='.1'/></replicate></replicate>",
                     &m));
  const cb_mjcf_geom *g = m->bodies->links->geoms;
  for (size_t i = 0; i < sizeof want / sizeof *want; i++, g = g->next) {
    assert_string_equal(g->name, want[i].name);
    for (int k = 0; k < 3; k++) check_near(g->pose.x[k], want[i].x[k], 1e-15);
    for (int k = 0; k < 4; k++) check_near(g->pose.q[k], want[i].q[k], 1e-15);
  }
  assert_null(g);
  assert_string_equal(m->left_out, "");
  cb_mjcf_free(m);
}

/* Each copy from the last one, along its own axes: a closed polygon of 12 sides, by angles in radians. */
static void offsets_are_along_the_axes_of_the_last_copy(void **unused) {
  (void)unused;
  cb_mjcf *m;
  int n = 0;
  check_ok(read_within(
      "<compiler angle='radian' eulerseq='zyx'/><default><default class='c'><geom size='.1'/></default></default>"
      "<worldbody><frame pos='1 0 0' euler='0.5 0 0'><replicate count='12' childclass='c' offset='.2 0 0' "
      "euler='0.5235987755982988 0 0'><body name='b'><freejoint/><geom/></body></replicate></frame></worldbody>",
      &m));
  const double side = 0.2;
  double x = 1, y = 0, angle = 0.5;
  for (const cb_mjcf_body *b = m->bodies; b; b = b->next, n++) {
    char name[16];
    snprintf(name, sizeof name, "b%02d", n);
    assert_string_equal(b->name, name);
    check_near(b->place.x[0], x, 1e-14);
    check_near(b->place.x[1], y, 1e-14);
    check_near(fabs(b->place.q[0] * cos(angle / 2) + b->place.q[3] * sin(angle / 2)), 1.0, 1e-15);
    x += side * cos(angle), y += side * sin(angle), angle += M_PI / 6;
  }
  assert_int_equal(n, 12);
  check_near(hypot(x - 1, y), 0, 1e-14);
  cb_mjcf_free(m);
}

/* A part of the same file again, with the defaults that hold where it stands. */
static void what_is_attached_is_as_where_it_stands(void **unused) {
  (void)unused;
  cb_mjcf *m;
  check_ok(read_within(
      "<default><default class='heavy'><geom density='2000'/></default></default><worldbody>"
      "<body name='stand' childclass='heavy'><body name='foot' pos='0 0 1'><geom name='g' type='box' size='.1 .1 "
      ".1'/></body></body>"
      "<body name='b'><freejoint/><geom type='box' size='.1 .1 .1'/>"
      "<frame pos='0 2 0' euler='90 0 0'><attach body='foot' prefix='own_'/></frame></body></worldbody>",
      &m));
  const cb_mjcf_link *foot = m->bodies->links->next;
  assert_string_equal(foot->name, "own_foot");
  assert_string_equal(foot->geoms->name, "own_g");
  check_relative(foot->inertial.mass, 16.0, 1e-14);
  check_near(foot->pose.x[1], 1.0, 1e-15); /* z looks along -y */
  check_near(m->bodies->inertial.centre.x[1], 16.0 / 24, 1e-15);
  cb_mjcf_free(m);
}

/* --- bodies --- */

static void bodies_without_joints_are_welded(void **unused) {
  (void)unused;
  cb_mjcf *m;
  check_ok(
      read_body("",
                "<geom type='box' size='.5 .5 .5' density='1'/><frame pos='0 0 1'><body pos='0 0 2' euler='0 90 0'>"
                "<inertial mass='2' pos='1 0 0' diaginertia='1 2 2.5'/></body></frame>",
                &m));
  assert_int_equal(m->n, 1);
  const cb_mjcf_inertial *own = &m->bodies->inertial;
  /* 1 kg at 0, and 2 kg at (0, 0, 2): x of the other body looks along -z */
  const double I[3] = {1.0 / 6 + 2.5 + 8.0 / 3, 1.0 / 6 + 2 + 8.0 / 3, 1.0 / 6 + 1};
  check_near(own->mass, 3, 1e-15);
  check_near(own->centre.x[2], 4.0 / 3, 1e-15);
  for (int k = 0; k < 3; k++) check_near(own->inertia[k][k], I[k], 1e-14);
  cb_mjcf_free(m);
}

static void inertial_stands_for_geoms_unless_they_are_asked_for(void **unused) {
  (void)unused;
  static const char body[] =
      "<inertial mass='2' pos='0 0 0' diaginertia='1 1 1'/>"
      "<geom type='box' size='.5 .5 .5' density='5' group='3'/>";
  static const struct {
    const char *compiler;
    double mass;
  } cases[] = {{"", 2},
               {"<compiler inertiafromgeom='false'/>", 2},
               {"<compiler inertiafromgeom='true'/>", 5},
               {"<compiler inertiafromgeom='true' inertiagrouprange='0 2'/>", 2}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_mjcf *m;
    check_ok(read_body(cases[i].compiler, body, &m));
    check_near(m->bodies->inertial.mass, cases[i].mass, 1e-15);
    cb_mjcf_free(m);
  }
}

/* The bodies that are left out count in the total mass; a bound holds for each body by itself. */
static void masses_are_as_the_compiler_sets_them(void **unused) {
  (void)unused;
  static const char worlds[] =
      "<worldbody><body name='arm'><joint/><geom size='1' mass='3'/><body><geom type='plane' size='1 1 "
      "1'/></body></body>"
      "<body name='b'><freejoint/><geom type='box' size='.3 .1 .1' mass='1'/><body pos='0 0 1'><geom size='.1' "
      "mass='.01'/></body></body></worldbody>";
  static const struct {
    const char *settings;
    double mass, moment; /* the moment about x of the first link */
  } cases[] = {{"", 1.01, 0.02 / 3},
               {"settotalmass='-1'", 1.01, 0.02 / 3},
               {"settotalmass='8.02'", 2.02, 0.04 / 3},
               {"boundmass='.5'", 1.5, 0.02 / 3},
               {"boundmass='.5' settotalmass='10'", 3, 0.04 / 3}, /* of 3, .5 (with the plane) and 1.5 */
               {"boundinertia='.01'", 1.01, 0.01},
               {"boundinertia='.001'", 1.01, 0.02 / 3}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char text[1024];
    cb_mjcf *m;
    snprintf(text, sizeof text, "<compiler %s/>%s", cases[i].settings, worlds);
    check_ok(read_within(text, &m));
    check_relative(m->bodies->inertial.mass, cases[i].mass, 1e-14);
    check_relative(m->bodies->links->inertial.inertia[0][0], cases[i].moment, 1e-14);
    cb_mjcf_free(m);
  }
  cb_mjcf *m;
  check_ok(read_body("<compiler balanceinertia='true'/>", "<inertial pos='0 0 0' mass='1' diaginertia='1 1 4'/>", &m));
  for (int k = 0; k < 3; k++) check_near(m->bodies->inertial.inertia[k][k], 2.0, 1e-15);
  cb_mjcf_free(m);
}

/* --- the start, what pushes, and the floor --- */

/* 1 + 1 coordinates of an arm, 4 of the ball joint within it, and then those of two free bodies. */
static const char starts[] =
    "<mujoco><worldbody><body><joint/><joint type='slide'/><body><joint type='ball'/></body></body>"
    "<body name='a'><freejoint/><geom size='1'/></body><body name='b' pos='5 5 5'><freejoint/><geom size='1'/></body>"
    "</worldbody><keyframe><key name='one' time='3' qpos='9 9 1 0 0 0  1 2 3 0 0 0 2  4 5 6 1 0 0 1' "
    "qvel='9 9 9 9 9  1 0 0 0 0 7  0 1 0 .1 .2 .3'/><key qvel='0 0 0 0 0 0 0 0 0 0 0 0 0 0 8 0 "
    "0'/></keyframe></mujoco>";

static void a_key_is_the_start_of_each_free_body(void **unused) {
  (void)unused;
  cb_mjcf *m;
  check_ok(read_from(starts, "one", &m));
  const cb_mjcf_body *a = m->bodies, *b = a->next;
  check_near(m->start, 3.0, 0);
  check_near(a->place.x[1], 2.0, 0);
  check_near(a->place.q[3], 1.0, 0);
  check_near(a->velocity[0], -1.0, 1e-15); /* half a turn about z: x of the world is -x of the body */
  check_near(a->spin[2], 7.0, 0);
  check_near(b->place.x[2], 6.0, 0);
  check_near(b->velocity[0], 1.0, 1e-15); /* a quarter */
  check_near(b->spin[1], 0.2, 0);
  cb_mjcf_free(m);
  check_ok(read_from(starts, "1", &m)); /* by its number */
  check_near(m->bodies->next->place.x[0], 5.0, 0);
  check_near(m->bodies->next->velocity[2], 0, 0);
  check_near(m->bodies->next->spin[0], 8.0, 0);
  assert_non_null(strstr(m->left_out, "left out: <key> `one`: a start of its own, which `--key one` takes\n"));
  assert_null(strstr(m->left_out, "--key 1"));
  cb_mjcf_free(m);
  check_ok(read_text(starts, &m));
  check_near(m->bodies->velocity[0], 0, 0);
  assert_non_null(strstr(m->left_out, "left out: <key>: a start of its own, which `--key 1` takes\n"));
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
  (void)unused;
  check_key("", "qpos='1 2 3'", "m.xml:2:22: error: qpos: expected 7 numbers, found 3");
  check_key("", "qvel='1 2 3 4 5 6 7'", "m.xml:2:22: error: qvel: expected 6 numbers, found 7");
  check_key("", "qvel='1 2 3 4 5 nan'", "m.xml:2:32: error: qvel: expected a number, found 'nan'");
  check_key("", "qpos='1 2 3 0 0 0 0'", "m.xml:2:22: error: qpos: expected a quaternion that is not 0");
  check_key("", "ctrl='1'", "m.xml:2:22: error: ctrl: expected 0 numbers, found 1");
  check_key("", "time='x'", "m.xml:2:22: error: time: expected a number, found 'x'");
  check_key("<compiler alignfree='true'/>", "qpos='1 2 3 1 0 0 0'", "error: a key for a joint whose body is aligned");
  check_key("<actuator><motor site='s' gear='1 x'/></actuator>", "", "m.xml:1:43: error: gear: expected a number");
  check_key("<actuator><motor site='s' ctrlrange='1 0'/></actuator>", "",
            "m.xml:1:46: error: ctrlrange: expected two numbers that rise, found 1 and 0");
  check_key("<actuator><motor site='s' class='c'/></actuator>", "", "error: no <default> has the class `c`");
  check_key("<worldbody><body><joint/><composite/></body></worldbody>", "qpos='1'",
            "qpos: <composite> in line 1 has joints that are not known");
  check_key("<worldbody><flexcomp/></worldbody>", "qpos='1'",
            "qpos: <flexcomp> in line 1 has joints that are not known");
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

/* Copies have actuators of their own, after those of no copy, as MuJoCo has them. */
static void actuators_become_wrenches(void **unused) {
  (void)unused;
  static const char text[] =
      "<mujoco><default><motor gear='0 0 2'/><default class='c'><general ctrlrange='-1 "
      "1'/></default></default><worldbody>"
      "<body name='a'><freejoint name='j'/><geom size='1'/><replicate count='2' sep='_' offset='3 0 0'><site name='s'/>"
      "</replicate><body pos='0 1 0'><site name='t' pos='0 1 0' euler='0 0 90'/></body></body></worldbody><actuator>"
      "<motor name='m' site='s'/><motor name='n 1' site='t' class='c'/><motor name='j' joint='j' gear='1 0 0 0 0 5'/>"
      "<velocity name='v' site='t' kv='3' gear='0 1 0'/><muscle site='t'/><motor tendon='x'/></actuator>"
      "<keyframe><key name='k' ctrl='1 2 3 4 5 6 7'/></keyframe></mujoco>";
  static const char *const parts[] = {
      "parameters:\n    ctrl0: 1\n    ctrl1: 2\n    ctrl2: 3\n    ctrl5: 6\n    ctrl6: 7\n",
      "- name: n_1\n        frame: body\n        force: [\"0\", \"0\", \"2*(min(max(ctrl0, -1), 1))\"]\n        at: "
      "[0, 2, 0]",
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
  assert_non_null(strstr(m->left_out, "left out: <motor>: it is not at a site or a free joint of a body"));
  cb_scenario_free(s);
  cb_text_free(&out);
  cb_mjcf_free(m);
}

/* A record has one wrench of a name for all bodies. */
static void copies_of_a_body_have_wrenches_of_one_name(void **unused) {
  (void)unused;
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

/* -gravcomp m g at the centre of mass of each body that has it, with the masses that the compiler sets: 2 and 3 kg of 10. */
static void gravity_is_made_up_for_at_each_centre(void **unused) {
  (void)unused;
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

static void what_is_switched_off_does_not_push(void **unused) {
  (void)unused;
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

/* Its z axis in the frames around it; of two with one normal the higher. */
static void a_plane_is_the_floor(void **unused) {
  (void)unused;
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
  assert_non_null(strstr(m->left_out, "m.xml:4:1: left out: <geom>: there is one floor, the plane in line 3\n"));
  assert_non_null(strstr(m->left_out, "m.xml:4:48: left out: <geom>: no body that moves touches it\n"));
  cb_mjcf_free(m);
  check_ok(read_within(
      "<worldbody><geom type='plane' euler='0 90 0' pos='3 1 1'/><body pos='9 0 0'><freejoint/><geom size='1'/></body>"
      "<body pos='3.5 0 0'><freejoint/><geom size='1' contype='0' conaffinity='0'/></body></worldbody>",
      &m));
  check_near(m->normal[0], 1.0, 1e-15);
  check_near(m->height, 2.5, 1e-15); /* where the other body begins */
  assert_non_null(strstr(m->left_out, "it also stops bodies that do not touch it in MuJoCo; it is lowered by"));
  cb_mjcf_free(m);
  static const struct {
    const char *geom;
    double below; /* its lowest point, below the origin */
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
    if (!i) assert_non_null(strstr(m->left_out, "left out: <geom>: the body `b` begins below it\n"));
    cb_mjcf_free(m);
  }
}

/* --- what is left out, and refused --- */

static void the_joint_that_keeps_a_body_out_is_named(void **unused) {
  (void)unused;
  cb_mjcf *m = NULL;
  assert_int_equal(
      read_text("<mujoco><worldbody>\n<body name='hull'><freejoint/><geom size='1'/>\n<frame><body name='tail'>"
                "<joint name='bend'/></body></frame></body></worldbody></mujoco>",
                &m),
      CB_ERROR_INPUT);
  assert_string_equal(
      cb_error_text(),
      "m.xml:3:26: error: expected a <body> with a free joint and no other, found the <body> `hull` in line "
      "2: it moves by the <joint> `bend` in line 3, which is not its one free joint");
}

static void what_is_not_read_is_listed(void **unused) {
  (void)unused;
  cb_mjcf *m;
  check_ok(read_text(
      "<mujoco model='x' foo='1'>\n"
      "  <option density='1' tolerance='1' cone='elliptic'><flag contact='disable' gravity='disable'/></option>\n"
      "  <visual><map/><global/></visual>\n"
      "  <worldbody>\n"
      "    <light/>\n"
      "    <geom name='floor' type='plane'/>\n"
      "    <body name='ball'><joint type='free' damping='1'/> and <geom size='1' rgba='1 0 0 1'/><geom rgba='1 1 1 1' "
      "size='1'/>"
      "<site/></body>\n"
      "    <body name='arm'><body><joint name='elbow'/></body><geom/></body>\n"
      "    <body name='cat'><freejoint/><body><joint type='ball'/></body></body>\n"
      "    <body name='rock'><geom type='nonsense'/></body>\n"
      "  </worldbody>\n"
      "</mujoco>\n",
      &m));
  assert_string_equal(
      m->left_out,
      "m.xml:1:19: left out: foo of <mujoco>\n"
      "m.xml:2:23: left out: tolerance, cone of <option>\n"
      "m.xml:6:5: left out: <geom> `floor`: no body that moves touches it\n"
      "m.xml:7:42: left out: damping of <joint>\n"
      "m.xml:8:5: left out: <body> `arm` with 3 elements in it: it moves by the <joint> `elbow` in line 8, which is "
      "not "
      "its one free joint\n"
      "m.xml:9:5: left out: <body> `cat` with 3 elements in it: it moves by the <joint> in line 9, which is not its "
      "one "
      "free joint\n"
      "m.xml:10:5: left out: <body> `rock` with 1 element in it: it does not move\n"
      "m.xml:3:3: left out: looks and the like: <visual>, <light>, text, rgba of <geom> (2 times), <site>\n");
  assert_int_equal(m->n, 1);
  check_near(m->gravity[2], 0, 0);
  cb_mjcf_free(m);
}

static void what_cannot_be_right_is_refused_with_its_place(void **unused) {
  (void)unused;
  static const struct {
    const char *within, *told; /* in line 3 */
  } cases[] = {
      {"<geom size='0'/>", "m.xml:3:13: error: a geom without volume: expected 1 size > 0, found 0"},
      {"<geom type='box' size='.1 .2'/>", "m.xml:3:24: error: a geom without volume: expected 3 sizes > 0, found 0"},
      {"<geom/>", "m.xml:3:1: error: a geom without volume: expected 1 size > 0, found 0"},
      {"<geom type='plane' size='1 1 1'/>",
       "m.xml:3:13: error: a geom of type plane on a body that moves: expected one with a volume"},
      {"<geom type='boks' size='1'/>", "m.xml:3:13: error: unknown type of geom 'boks', did you mean 'box'?"},
      {"<geom size='1' fluidcoef='1 -2'/>", "m.xml:3:27: error: fluidcoef: expected coefficients >= 0, found -2"},
      {"<geom size='1' fluidcoef='1 2 3 4 5 6'/>", "m.xml:3:27: error: fluidcoef: expected 1 to 5 numbers, found 6"},
      {"<geom size='1' fluidshape='egg'/>", "m.xml:3:28: error: unknown fluidshape 'egg'"},
      {"<geom size='1 x'/>", "m.xml:3:15: error: size: expected a number, found 'x'"},
      {"<geom size='nan'/>", "m.xml:3:13: error: size: expected a number, found 'nan'"},
      {"<geom size='1e999'/>", "m.xml:3:13: error: size: expected a number, found '1e999'"},
      {"<geom size='1' pos='1 2'/>", "m.xml:3:21: error: pos: expected 3 numbers, found 2"},
      {"<geom size='1' mass='-1'/>", "m.xml:3:22: error: mass: expected a number >= 0, found -1"},
      {"<geom size='1' density='-1'/>", "m.xml:3:25: error: density: expected a number >= 0, found -1"},
      {"<geom size='1' quat='0 0 0 0'/>", "m.xml:3:22: error: quat: expected one that is not 0"},
      {"<geom size='1' quat='1 0 0 0' euler='0 0 0'/>",
       "m.xml:3:38: error: euler beside another orientation: expected one"},
      {"<geom size='1' fromto='0 0 0 1 1 1'/>", "m.xml:3:24: error: fromto: expected a capsule"},
      {"<geom type='box' size='1' fromto='1 1 1 1 1 1'/>", "m.xml:3:35: error: fromto: expected two points, found one"},
      {"<geom size='1' class='none'/>", "m.xml:3:23: error: no <default> has the class `none`"},
      {"<geom type='mesh' mesh='none'/>", "m.xml:3:25: error: no <mesh> is called `none`"},
      {"<geom type='mesh'/>", "m.xml:3:1: error: expected `mesh`, the name of one"},
      {"<geom size='1' mesh='m'/>",
       "m.xml:3:22: error: mesh of a geom of type sphere: expected type=\"mesh\", none is fitted"},
      {"<geom size='1' shellinertia='true'/>", "m.xml:3:30: error: shellinertia: expected false, or <inertial>"},
      {"<inertial pos='0 0 0' mass='0' diaginertia='1 1 1'/>",
       "m.xml:3:29: error: mass: expected a number > 0, found 0"},
      {"<inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/>",
       "m.xml:3:45: error: no body has the moments of inertia 1, 1, 3"},
      {"<inertial pos='0 0 0' mass='1'/>", "m.xml:3:1: error: expected diaginertia or fullinertia"},
      {"<inertial pos='0 0 0' diaginertia='1 1 1'/>", "m.xml:3:1: error: expected `mass`"},
      {"<inertial mass='1' quat='1 0 0 0' fullinertia='1 1 1 0 0 0'/>",
       "m.xml:3:48: error: fullinertia beside an orientation"},
      {"<body childclass='none'/><geom size='1'/>", "m.xml:3:19: error: no <default> has the class `none`"},
      {"", "m.xml:2:12: error: a body without mass: expected <inertial>, or a geom with a mass or a density"},
      {"<geom size='1' mass='0'/>", "m.xml:2:12: error: a body without mass"},
      {"<inertial pos='0 0 0' mass='1' diaginertia='0 0 0'/>", "m.xml:2:12: error: a body without inertia"},
      {"<composite/><geom size='1'/>", "m.xml:3:1: error: <composite> in a body that moves: expected geoms and bodies"},
      {"<geom size='1'/><body><flexcomp/></body>", "m.xml:3:23: error: <flexcomp> in a body that moves"},
      {"<goem size='1'/>", "m.xml:3:1: error: unknown element of a body 'goem', did you mean 'geom'?"},
      {"<replicate><geom size='1'/></replicate>", "m.xml:3:1: error: expected `count`, how many copies"},
      {"<replicate count='0'/>", "m.xml:3:19: error: count: expected an integer from 1 to 1000000, found 0"},
      {"<replicate count='1.5'/>", "m.xml:3:19: error: count: expected an integer from 1 to 1000000, found 1.5"},
      {"<replicate count='2' offset='1'/>", "m.xml:3:30: error: offset: expected 3 numbers, found 1"},
      {"<replicate count='2' euler='1 2 x'/>", "m.xml:3:33: error: euler: expected a number, found 'x'"},
      {"<replicate count='2' childclass='c'/>", "m.xml:3:34: error: no <default> has the class `c`"},
      {"<replicate count='1000000'><replicate count='1000'><geom size='1'/></replicate></replicate>",
       "error: expected fewer copies"},
      {"<attach prefix='a'/>", "m.xml:3:1: error: expected `model`, `body` or `frame`"},
      {"<attach body='b'/>", "m.xml:3:1: error: expected `prefix`"},
      {"<attach body='b' frame='c' prefix=''/>", "m.xml:3:25: error: frame next to body: expected one or the other"},
      {"<attach model='b' body='c' prefix=''/>", "m.xml:3:16: error: no <model> is called `b`"},
      {"<attach body='c' prefix=''/><body name='c'/>",
       "m.xml:3:15: error: no <body> is called `c`, before this <attach> and not around it"},
      {"<body name='c'><attach body='c' prefix=''/></body>", "m.xml:3:30: error: no <body> is called `c`, before"},
      {"<include/>", "m.xml:3:1: error: include: expected `file`, the path of one"},
      {"<include file='a'><geom/></include>", "m.xml:3:19: error: include: expected no elements in it"},
      {"<geom size='1'>", "m.xml:4:3: error: expected well-formed XML: mismatched tag"},
      {"<geom size='1' size='2'/>", "m.xml:3:16: error: expected well-formed XML: duplicate attribute"},
      {"<geom size='0'/><geom fluidcoef='-1' size='1'/>", "m.xml:3:34: error: fluidcoef"}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    cb_mjcf *m = NULL;
    assert_int_equal(read_body("", cases[i].within, &m), CB_ERROR_INPUT);
    assert_null(m);
    if (!strstr(cb_error_text(), cases[i].told)) fail_msg("%s\nexpected %s", cb_error_text(), cases[i].told);
  }
  static const char *const wholes[][2] = {
      {"<robot/>", "m.xml:1:1: error: expected <mujoco>, found <robot>"},
      {"", "m.xml:1:1: error: expected well-formed XML: no element found"},
      {"<mujoco>", "m.xml:1:9: error: expected well-formed XML: no element found"},
      {"<!DOCTYPE a [<!ENTITY b 'c'>]><mujoco/>", "m.xml:1:1: error: expected no DOCTYPE"},
      {"<mujoco/>", "m.xml:1:1: error: expected a <body> with a free joint"},
      {"<mujoco><compiler coordinate='global'/></mujoco>", "m.xml:1:31: error: unknown coordinate 'global'"},
      {"<mujoco><compiler eulerseq='xxw'/></mujoco>", "m.xml:1:29: error: eulerseq: expected three of x, y, z"},
      {"<mujoco><option density='-1'/></mujoco>", "m.xml:1:26: error: density: expected a number >= 0, found -1"},
      {"<mujoco><option\n timestep='0'/></mujoco>", "m.xml:2:12: error: timestep: expected a number > 0, found 0"},
      {"<mujoco><compiler boundmass='-1'/></mujoco>", "m.xml:1:30: error: boundmass: expected a number >= 0, found -1"},
      {"<mujoco><compiler settotalmass='3'/><worldbody><flexcomp/></worldbody></mujoco>",
       "m.xml:1:48: error: <flexcomp> has a mass that is not known: expected no settotalmass"},
      {"<mujoco><compiler settotalmass='3'/><worldbody><frame><composite/></frame></worldbody></mujoco>",
       "m.xml:1:55: error: <composite> has a mass that is not known"},
      {"<mujoco><compiler settotalmass='x'/></mujoco>",
       "m.xml:1:33: error: settotalmass: expected a number, found 'x'"},
      {"<mujoco><compiler balanceinertia='1'/></mujoco>", "m.xml:1:35: error: unknown balanceinertia '1'"},
      {"<mujoco><asset><model/></asset></mujoco>", "m.xml:1:16: error: model: expected `file`, the path of one"},
      {"<mujoco><default><default/></default></mujoco>", "m.xml:1:18: error: expected `class`, a name"},
      {"<mujoco><asset><mesh file='a.obj' scale='1 0 1'/></asset></mujoco>",
       "m.xml:1:42: error: scale: expected numbers"}};
  for (size_t i = 0; i < sizeof wholes / sizeof *wholes; i++) {
    cb_mjcf *m = NULL;
    assert_int_equal(read_text(wholes[i][0], &m), CB_ERROR_INPUT);
    if (!strstr(cb_error_text(), wholes[i][1])) fail_msg("%s\nexpected %s", cb_error_text(), wholes[i][1]);
  }
}

static void elements_may_not_be_nested_without_end(void **unused) {
  (void)unused;
  static char text[8192] = "<mujoco>";
  for (int i = 0; i < 300; i++) strcat(text, "<frame>");
  cb_mjcf *m = NULL;
  assert_int_equal(read_text(text, &m), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "expected at most 200 elements within each other"));
}

/* --- what is written --- */

static void what_is_written_is_a_scenario(void **unused) {
  (void)unused;
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
  (void)unused;
  cb_mjcf *m;
  cb_text text = {0};
  check_ok(read_body("", "<geom size='1' fluidshape='ellipsoid'/>", &m));
  check_ok(cb_mjcf_write(m, 1, &text));
  assert_non_null(strstr(text.data, "drag: false"));
  assert_null(strstr(text.data, "model"));
  cb_text_free(&text);
  cb_mjcf_free(m);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(masses_and_moments_are_closed_forms),
                                     cmocka_unit_test(a_geom_from_one_point_to_another_lies_between_them),
                                     cmocka_unit_test(one_orientation_has_five_spellings),
                                     cmocka_unit_test(defaults_are_those_of_the_class),
                                     cmocka_unit_test(copies_stand_where_the_reference_has_them),
                                     cmocka_unit_test(offsets_are_along_the_axes_of_the_last_copy),
                                     cmocka_unit_test(what_is_attached_is_as_where_it_stands),
                                     cmocka_unit_test(bodies_without_joints_are_welded),
                                     cmocka_unit_test(masses_are_as_the_compiler_sets_them),
                                     cmocka_unit_test(a_key_is_the_start_of_each_free_body),
                                     cmocka_unit_test(keys_and_actuators_that_cannot_be_right_are_refused),
                                     cmocka_unit_test(actuators_become_wrenches),
                                     cmocka_unit_test(copies_of_a_body_have_wrenches_of_one_name),
                                     cmocka_unit_test(gravity_is_made_up_for_at_each_centre),
                                     cmocka_unit_test(what_is_switched_off_does_not_push),
                                     cmocka_unit_test(a_plane_is_the_floor),
                                     cmocka_unit_test(the_joint_that_keeps_a_body_out_is_named),
                                     cmocka_unit_test(inertial_stands_for_geoms_unless_they_are_asked_for),
                                     cmocka_unit_test(what_is_not_read_is_listed),
                                     cmocka_unit_test(what_cannot_be_right_is_refused_with_its_place),
                                     cmocka_unit_test(elements_may_not_be_nested_without_end),
                                     cmocka_unit_test(what_is_written_is_a_scenario),
                                     cmocka_unit_test(without_a_fluid_there_is_no_drag)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
