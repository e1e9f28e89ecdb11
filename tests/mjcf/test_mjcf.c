/* Tests that MJCF is read according to its reference: masses and moments of geoms in closed form, the same orientation
 * in five forms, defaults by class, and bodies welded together. Elements that are not read are listed, and invalid ones
 * are rejected, with their line and column. */
#include "mjcf_text.h"

/* --- geoms --- */

static void masses_and_moments_are_closed_forms(void **unused) {
  /* The round geoms have the radius r = 0.1 and the half length h = 0.2. Where a row gives neither a density nor a
   * mass, the density is 1000, the default of MuJoCo. */
  static const struct {
    const char *geom;
    double mass, I[3];
  } cases[] = {
      {"size='.1'", 4 * M_PI / 3, {4 * M_PI / 3 * 0.004, 4 * M_PI / 3 * 0.004, 4 * M_PI / 3 * 0.004}},
      /* a cylinder of mass 4 pi, and two half spheres of mass 2 pi/3 whose centres are 3 r/8 from their flat faces */
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
  /* The quaternion (1, 0, 0, 1) maps x to y and y to -x: it is a quarter turn about z. (1, 0, 1, 0) maps z to x: it is
   * a quarter turn about y. */
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
  check_relative(b->mass, 8 * 0.003, 1e-15); /* the class `thin` sets only the first number of the size */
  check_relative(c->mass, 8 * 0.06, 1e-15);
  assert_true(a->fluid && b->fluid && !c->fluid);
  const double coefficients[5] = {7, 2, 3, 1, 1};
  for (int i = 0; i < 5; i++) check_near(c->coefficient[i], coefficients[i], 0);
  assert_string_equal(m->left_out, "");
  cb_mjcf_free(m);
}

/* --- elements that are replaced by several --- */

/* Copies have the names, positions and rotations that MuJoCo's compiler writes for the example in its reference
 * manual. */
static void copies_stand_where_the_reference_has_them(void **unused) {
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

/* Each copy is placed relative to the previous one, along the axes of the previous one. Here the copies form a closed
 * polygon of 12 sides, with angles in radians. */
static void offsets_are_along_the_axes_of_the_last_copy(void **unused) {
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
    x += side * cos(angle);
    y += side * sin(angle);
    angle += M_PI / 6;
  }
  assert_int_equal(n, 12);
  check_near(hypot(x - 1, y), 0, 1e-14);
  cb_mjcf_free(m);
}

/* A body of the same file is attached a second time, with the defaults that apply at its original position. */
static void what_is_attached_is_as_where_it_stands(void **unused) {
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
  check_near(foot->pose.x[1], 1.0, 1e-15); /* z of the frame points along -y */
  check_near(m->bodies->inertial.centre.x[1], 16.0 / 24, 1e-15);
  cb_mjcf_free(m);
}

/* --- bodies --- */

static void bodies_without_joints_are_welded(void **unused) {
  cb_mjcf *m;
  check_ok(
      read_body("",
                "<geom type='box' size='.5 .5 .5' density='1'/><frame pos='0 0 1'><body pos='0 0 2' euler='0 90 0'>"
                "<inertial mass='2' pos='1 0 0' diaginertia='1 2 2.5'/></body></frame>",
                &m));
  assert_int_equal(m->n, 1);
  const cb_mjcf_inertial *own = &m->bodies->inertial;
  /* The masses are 1 kg at 0 and 2 kg at (0, 0, 2), where x of the second body points along -z. */
  const double I[3] = {1.0 / 6 + 2.5 + 8.0 / 3, 1.0 / 6 + 2 + 8.0 / 3, 1.0 / 6 + 1};
  check_near(own->mass, 3, 1e-15);
  check_near(own->centre.x[2], 4.0 / 3, 1e-15);
  for (int k = 0; k < 3; k++) check_near(own->inertia[k][k], I[k], 1e-14);
  cb_mjcf_free(m);
}

static void inertial_stands_for_geoms_unless_they_are_asked_for(void **unused) {
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

/* Bodies that do not move count in the total mass; each mass bound applies to every body separately. */
static void masses_are_as_the_compiler_sets_them(void **unused) {
  static const char worlds[] =
      "<worldbody><body name='arm'><geom size='1' mass='3'/><body><geom type='plane' size='1 1 "
      "1'/></body></body>"
      "<body name='b'><freejoint/><geom type='box' size='.3 .1 .1' mass='1'/><body pos='0 0 1'><geom size='.1' "
      "mass='.01'/></body></body></worldbody>";
  static const struct {
    const char *settings;
    double mass, moment; /* the moment of inertia of the first link about x */
  } cases[] = {{"", 1.01, 0.02 / 3},
               {"settotalmass='-1'", 1.01, 0.02 / 3},
               {"settotalmass='8.02'", 2.02, 0.04 / 3},
               {"boundmass='.5'", 1.5, 0.02 / 3},
               {"boundmass='.5' settotalmass='10'", 3, 0.04 / 3}, /* before scaling, masses are 3, .5 (plane), 1.5 */
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

/* --- omitted elements, and errors --- */

static void what_is_not_read_is_listed(void **unused) {
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
      "    <body name='arm'><body><joint name='elbow' solreflimit='1'/><geom "
      "size='1'/></body><geom/><inertial/></body>\n"
      "    <body name='rock'><geom type='nonsense'/></body>\n"
      "  </worldbody>\n"
      "</mujoco>\n",
      &m));
  assert_string_equal(
      m->left_out,
      "m.xml:1:19: left out: foo of <mujoco>\nm.xml:2:23: left out: tolerance, cone of <option>\nm.xml:6:5: left out: "
      "<geom> `floor`: no moving body collides with it\nm.xml:8:48: left out: solreflimit of <joint> "
      "`elbow`\nm.xml:8:88: left out: <geom>: it does not move\nm.xml:8:95: left out: <inertial>: it does not "
      "move\nm.xml:9:5: left out: <body> `rock` with 1 element in it: it does not move\nm.xml:3:3: left out: visual "
      "and other minor elements: <visual>, <light>, text, rgba of <geom> (2 times), <site>\n");
  assert_int_equal(m->n, 2);
  check_near(m->gravity[2], 0, 0);
  cb_mjcf_free(m);
}

static void what_cannot_be_right_is_refused_with_its_place(void **unused) {
  static const struct {
    const char *within, *told; /* `within` is on line 3, which the error names */
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
      {"<geom size='1' quat='0 0 0 0'/>", "m.xml:3:22: error: quat: expected a quaternion that is not 0"},
      {"<geom size='1' quat='1 0 0 0' euler='0 0 0'/>",
       "m.xml:3:38: error: euler next to another orientation: expected only one orientation"},
      {"<geom size='1' fromto='0 0 0 1 1 1'/>", "m.xml:3:24: error: fromto: expected a capsule"},
      {"<geom type='box' size='1' fromto='1 1 1 1 1 1'/>", "m.xml:3:35: error: fromto: expected two different points"},
      {"<geom size='1' class='none'/>", "m.xml:3:23: error: no <default> has the class `none`"},
      {"<geom type='mesh' mesh='none'/>", "m.xml:3:25: error: no <mesh> is called `none`"},
      {"<geom type='mesh'/>", "m.xml:3:1: error: expected `mesh`, the name of a mesh"},
      {"<geom size='1' mesh='m'/>",
       "m.xml:3:22: error: mesh of a geom of type sphere: expected type=\"mesh\", because shapes are not fitted"},
      {"<geom size='1' shellinertia='true'/>", "m.xml:3:30: error: shellinertia: expected false, or <inertial>"},
      {"<inertial pos='0 0 0' mass='0' diaginertia='1 1 1'/>",
       "m.xml:3:29: error: mass: expected a number > 0, found 0"},
      {"<inertial pos='0 0 0' mass='1' diaginertia='1 1 3'/>",
       "m.xml:3:45: error: no body has the moments of inertia 1, 1, 3"},
      {"<inertial pos='0 0 0' mass='1'/>", "m.xml:3:1: error: expected diaginertia or fullinertia"},
      {"<inertial pos='0 0 0' diaginertia='1 1 1'/>", "m.xml:3:1: error: expected `mass`"},
      {"<inertial mass='1' quat='1 0 0 0' fullinertia='1 1 1 0 0 0'/>",
       "m.xml:3:48: error: fullinertia next to an orientation"},
      {"<body childclass='none'/><geom size='1'/>", "m.xml:3:19: error: no <default> has the class `none`"},
      {"", "m.xml:2:12: error: a body without mass: expected <inertial>, or a geom with a mass or a density"},
      {"<geom size='1' mass='0'/>", "m.xml:2:12: error: a body without mass"},
      {"<inertial pos='0 0 0' mass='1' diaginertia='0 0 0'/>", "m.xml:2:12: error: a body without inertia"},
      {"<composite/><geom size='1'/>", "m.xml:3:1: error: <composite> in a body that moves: expected geoms and bodies"},
      {"<geom size='1'/><body><flexcomp/></body>", "m.xml:3:23: error: <flexcomp> in a body that moves"},
      {"<goem size='1'/>", "m.xml:3:1: error: unknown element of a body 'goem', did you mean 'geom'?"},
      {"<replicate><geom size='1'/></replicate>", "m.xml:3:1: error: expected `count`, the number of copies"},
      {"<replicate count='0'/>", "m.xml:3:19: error: count: expected an integer from 1 to 1000000, found 0"},
      {"<replicate count='1.5'/>", "m.xml:3:19: error: count: expected an integer from 1 to 1000000, found 1.5"},
      {"<replicate count='2' offset='1'/>", "m.xml:3:30: error: offset: expected 3 numbers, found 1"},
      {"<replicate count='2' euler='1 2 x'/>", "m.xml:3:33: error: euler: expected a number, found 'x'"},
      {"<replicate count='2' childclass='c'/>", "m.xml:3:34: error: no <default> has the class `c`"},
      {"<replicate count='1000000'><replicate count='1000'><geom size='1'/></replicate></replicate>",
       "elements in the model: use fewer copies"},
      {"<attach prefix='a'/>", "m.xml:3:1: error: expected `model`, `body` or `frame`"},
      {"<attach body='b'/>", "m.xml:3:1: error: expected `prefix`"},
      {"<attach body='b' frame='c' prefix=''/>",
       "m.xml:3:25: error: `frame` next to `body`: expected only one of them"},
      {"<attach model='b' body='c' prefix=''/>", "m.xml:3:16: error: no <model> is called `b`"},
      {"<attach body='c' prefix=''/><body name='c'/>",
       "m.xml:3:15: error: no <body> is called `c`, before this <attach> and not around it"},
      {"<body name='c'><attach body='c' prefix=''/></body>", "m.xml:3:30: error: no <body> is called `c`, before"},
      {"<include/>", "m.xml:3:1: error: include: expected `file`, a path"},
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
      {"<mujoco/>", "m.xml:1:1: error: expected a <body> with a joint"},
      {"<mujoco><compiler coordinate='global'/></mujoco>", "m.xml:1:31: error: unknown coordinate 'global'"},
      {"<mujoco><compiler eulerseq='xxw'/></mujoco>", "m.xml:1:29: error: eulerseq: expected three of x, y, z"},
      {"<mujoco><option density='-1'/></mujoco>", "m.xml:1:26: error: density: expected a number >= 0, found -1"},
      {"<mujoco><option\n timestep='0'/></mujoco>", "m.xml:2:12: error: timestep: expected a number > 0, found 0"},
      {"<mujoco><compiler boundmass='-1'/></mujoco>", "m.xml:1:30: error: boundmass: expected a number >= 0, found -1"},
      {"<mujoco><compiler settotalmass='3'/><worldbody><flexcomp/></worldbody></mujoco>",
       "m.xml:1:48: error: the mass of <flexcomp> is not known: expected no settotalmass"},
      {"<mujoco><compiler settotalmass='3'/><worldbody><frame><composite/></frame></worldbody></mujoco>",
       "m.xml:1:55: error: the mass of <composite> is not known"},
      {"<mujoco><compiler settotalmass='x'/></mujoco>",
       "m.xml:1:33: error: settotalmass: expected a number, found 'x'"},
      {"<mujoco><compiler balanceinertia='1'/></mujoco>", "m.xml:1:35: error: unknown balanceinertia '1'"},
      {"<mujoco><asset><model/></asset></mujoco>", "m.xml:1:16: error: model: expected `file`, a path"},
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
  static char text[8192] = "<mujoco>";
  for (int i = 0; i < 300; i++) strcat(text, "<frame>");
  cb_mjcf *m = NULL;
  assert_int_equal(read_text(text, &m), CB_ERROR_INPUT);
  assert_non_null(strstr(cb_error_text(), "expected at most 200 nested elements"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(masses_and_moments_are_closed_forms),
      cmocka_unit_test(a_geom_from_one_point_to_another_lies_between_them),
      cmocka_unit_test(one_orientation_has_five_spellings),
      cmocka_unit_test(defaults_are_those_of_the_class),
      cmocka_unit_test(copies_stand_where_the_reference_has_them),
      cmocka_unit_test(offsets_are_along_the_axes_of_the_last_copy),
      cmocka_unit_test(what_is_attached_is_as_where_it_stands),
      cmocka_unit_test(bodies_without_joints_are_welded),
      cmocka_unit_test(inertial_stands_for_geoms_unless_they_are_asked_for),
      cmocka_unit_test(masses_are_as_the_compiler_sets_them),
      cmocka_unit_test(what_is_not_read_is_listed),
      cmocka_unit_test(what_cannot_be_right_is_refused_with_its_place),
      cmocka_unit_test(elements_may_not_be_nested_without_end),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
