/* Tests that joined bodies of MJCF move as in MuJoCo: swimmers, a fish, arms with all kinds of joints, and loops.
 * MuJoCo's paths for several steps are extrapolated, because its RK4 has order 2 where there is a quaternion. The test
 * is skipped if MuJoCo (Debian: libmujoco-dev) is not installed. */
#include "check.h"

#ifdef CB_MUJOCO
#include "articulated_models.h"
#include "memory_sink.h"
#include "mjcf/mjcf.h"
#include "numerics/vec3.h"

#include <mujoco/mujoco.h>
#include <unistd.h>

/* A model and its start. Actuator i has the control amplitude sin(frequency t + shift i). `key` names the keyframe of
 * the start, and the run ends at the time `end`. */
typedef struct tried {
  const char *name, *text, *key;
  double end, amplitude, frequency, shift;
  /* steps: number of steps of the coarsest of three runs by MuJoCo, and of the coarser of two runs by curvebody */
  int steps[2];
  double tolerance;
  bool rough; /* forces like |v| v reduce the order from 4 to 3 */
} tried;

/* POSE_PLACE and POSE_TURN: the index of the first number of the position and of the quaternion in the 7 numbers of a
 * pose. */
enum { ACTUATORS = 16, BODIES = 20, POSE_PLACE = 0, POSE_TURN = 3 };

static const tried *now;

static double control_of(const tried *c, int i, double t) {
  return c->amplitude * sin(c->frequency * t + c->shift * i);
}

static void control(const mjModel *m, mjData *d) {
  for (int i = 0; i < m->nu; i++) d->ctrl[i] = control_of(now, i, d->time);
}

/* Computes the positions and axes of all bodies with MuJoCo after the time `end`, 12 numbers per body. */
static void run_mujoco(const tried *c, mjModel *m, int steps, const char *const *name, int n, double (*out)[12]) {
  mjData *d = mj_makeData(m);
  if (c->key) mj_resetDataKeyframe(m, d, 0);
  m->opt.timestep = c->end / (steps ? steps : 1);
  m->opt.integrator = mjINT_RK4;
  now = c;
  mjcb_control = control;
  for (int i = 0; i < steps; i++) mj_step(m, d);
  mjcb_control = NULL;
  mj_kinematics(m, d);
  for (int b = 0; b < n; b++) {
    const int id = mj_name2id(m, mjOBJ_BODY, name[b]);
    assert_true(id > 0);
    memcpy(out[b], d->xpos + 3 * id, 3 * sizeof(double));
    memcpy(out[b] + 3, d->xmat + 9 * id, 9 * sizeof(double));
  }
  mj_deleteData(d);
}

/* Runs the scenario with the fluid rules of MuJoCo 2.2 and with an integrator of order 4. */
static void run_own(const tried *c, const cb_mjcf *own, int steps, int n, double (*out)[12]) {
  static const char viscosity[] = "        viscosity: ", step[] = "  step: ";
  static memory_sink sink;
  cb_text text = {0}, changed = {0};
  cb_scenario *s;
  char own_step[64];
  check_ok(cb_mjcf_write(own, c->end, &text));
  for (const char *line = text.data; *line;) {
    const size_t length = strcspn(line, "\n") + 1;
    const bool is_step = !strncmp(line, step, sizeof step - 1);
    snprintf(own_step, sizeof own_step, "  order: 4\n  step: %.17g\n", c->end / steps);
    if (is_step)
      cb_text_puts(&changed, own_step);
    else if (!strncmp(line, "  observables: ", 15))
      cb_text_puts(&changed, "  observables: [joints]\n");
    else if (strncmp(line, "  order: ", 9))
      cb_text_put(&changed, line, length);
    if (!strncmp(line, viscosity, sizeof viscosity - 1)) cb_text_puts(&changed, "        compat: \"2.2\"\n");
    line += length;
  }
  check_ok(cb_scenario_open_text("imported", changed.data, NULL, 0, &s));
  cb_sink to = memory_open(&sink, cb_scenario_run(s));
  check_ok(cb_run_go(cb_scenario_run(s), &to, NULL, NULL, NULL));
  for (int b = 0; b < n; b++) {
    double q[4], R[3][3];
    for (int i = 0; i < 4; i++) q[i] = memory_value(&sink, sink.n_rows - 1, "pose", (size_t)(7 * b + POSE_TURN + i));
    for (int i = 0; i < 3; i++)
      out[b][i] = memory_value(&sink, sink.n_rows - 1, "pose", (size_t)(7 * b + POSE_PLACE + i));
    cb_quaternion_rotation(q, R);
    memcpy(out[b] + 3, R, sizeof R);
  }
  memory_free(&sink);
  cb_scenario_free(s);
  cb_text_free(&text);
  cb_text_free(&changed);
}

static double largest(int n, const double (*a)[12], const double (*b)[12]) {
  double difference = 0;
  for (int i = 0; i < 12 * n; i++) difference = fmax(difference, fabs(a[i / 12][i % 12] - b[i / 12][i % 12]));
  return difference;
}

static mjModel *load(const char *text, char path[32]) {
  char error[1024];
  strcpy(path, "/tmp/joined-XXXXXX.xml");
  const int fd = mkstemps(path, 4);
  assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
  close(fd);
  mjModel *m = mj_loadXML(path, NULL, error, sizeof error);
  if (!m) fail_msg("%s", error);
  return m;
}

static void check_case(const tried *c) {
  static double path[3][BODIES][12], own_path[2][BODIES][12], start[BODIES][12];
  char file[32], texts[ACTUATORS][96];
  const char *control_text[ACTUATORS], *name[BODIES];
  mjModel *m = load(c->text, file);
  cb_mjcf *own = NULL;
  int n = 0;
  assert_true(m->nu <= ACTUATORS);
  for (int i = 0; i < m->nu; i++) {
    snprintf(texts[i], sizeof *texts, "ctrl%d=%.17g*sin(%.17g*t + %.17g)", i, c->amplitude, c->frequency, c->shift * i);
    control_text[i] = texts[i];
  }
  check_ok(cb_mjcf_read_file(file, &(cb_mjcf_choices){c->key, control_text, m->nu}, &own));
  unlink(file);
  for (const cb_mjcf_body *b = own->bodies; b; b = b->next) name[n++] = b->name;
  assert_true(n <= BODIES);
  run_mujoco(c, m, 0, name, n, start);
  for (int k = 0; k < 3; k++) run_mujoco(c, m, c->steps[0] << k, name, n, path[k]);
  double moved = INFINITY;
  for (int b = 0; b < n; b++) moved = fmin(moved, largest(1, &path[2][b], &start[b]));
  assert_true(moved > .001); /* in m, or the sine of an angle; every body moves */
  for (int k = 0; k < 2; k++) run_own(c, own, c->steps[1] << k, n, own_path[k]);
  const double before = largest(n, path[1], path[2]);
  for (int i = 0; i < 12 * n; i++) { /* removes terms of order h^2, and then of h^4, or h^3 if rough */
    double *a = &path[0][i / 12][i % 12], *b = &path[1][i / 12][i % 12], *z = &path[2][i / 12][i % 12];
    *a = *b + (*b - *a) / 3;
    *b = *z + (*z - *b) / 3;
    *z = *b + (*b - *a) / (c->rough ? 7 : 15);
  }
  const double difference = largest(n, own_path[1], path[2]);
  print_message(
      "%s: %d bodies, move by %.2g, differ by %.2g; last change of MuJoCo's %.2g, extrapolated %.2g, of ours %.2g\n",
      c->name, n, moved, difference, before, largest(n, path[1], path[2]), largest(n, own_path[0], own_path[1]));
  check_at_most(difference, c->tolerance);
  cb_mjcf_free(own);
  mj_deleteModel(m);
}

static void swimmers_swim_as_mujocos_do(void **unused) {
  static char chain[3][16384];
  static const int links[] = {3, 6, 15};
  for (int i = 0; i < 3; i++) {
    write_swimmer(links[i], chain[i], sizeof chain[i]);
    const tried c = {.name = "swimmer",
                     .text = chain[i],
                     .key = "bent",
                     .end = 1.3,
                     .amplitude = .8,
                     .frequency = 6.28,
                     .shift = 1.3,
                     .steps = {500, 250},
                     .tolerance = 1e-7};
    check_case(&c);
  }
  const tried gym = {.name = "three links",
                     .text = three_links,
                     .end = 2,
                     .amplitude = .3,
                     .frequency = 5,
                     .shift = 1.5,
                     .steps = {400, 200},
                     .tolerance = 1e-7};
  check_case(&gym);
  const tried space = {.name = "in space",
                       .text = swimmer_in_space,
                       .key = "bent",
                       .end = 1,
                       .amplitude = 20,
                       .frequency = 5,
                       .shift = .7,
                       .steps = {500, 200},
                       .tolerance = 1e-7};
  check_case(&space);
}

static void a_fish_swims_as_mujocos_does(void **unused) {
  const tried c = {.name = "fish",
                   .text = fish,
                   .key = "bent",
                   .end = 1,
                   .amplitude = .5,
                   .frequency = 6,
                   .shift = .8,
                   .steps = {500, 200},
                   .tolerance = 1e-7};
  check_case(&c);
}

static void all_kinds_of_joints_move_as_mujocos_do(void **unused) {
  const tried c = {.name = "arms",
                   .text = arms,
                   .key = "bent",
                   .end = .5,
                   .amplitude = .5,
                   .frequency = 6,
                   .shift = .8,
                   .steps = {500, 200},
                   .tolerance = 1e-7};
  check_case(&c);
}
/* --- random trees --- */

enum { ROOM = 1 << 16, TREES = 8 };

typedef struct writer {
  char text[ROOM], q[ROOM / 8], v[ROOM / 8];
  size_t length;
  uint64_t state;
  int bodies, joints;
} writer;

static double draw(writer *w, double low, double high) { return check_uniform(&w->state, low, high); }
static int pick(writer *w, int n) { return (int)draw(w, 0, n); }

static void put(writer *w, const char *format, ...) {
  va_list args;
  va_start(args, format);
  w->length += (size_t)vsnprintf(w->text + w->length, ROOM - w->length, format, args);
  va_end(args);
  assert_true(w->length < ROOM - 1);
}

static void put_drawn(writer *w, const char *name, int n, double low, double high) {
  put(w, " %s='", name);
  for (int i = 0; i < n; i++) put(w, "%s%.15g", i ? " " : "", draw(w, low, high));
  put(w, "'");
}

static void add_state(writer *w, char *to, int n, double size) {
  for (int i = 0; i < n; i++) snprintf(to + strlen(to), 32, " %.15g", draw(w, -size, size));
}

/* type: 0 hinge, 1 slide, 2 ball, 3 free */
static void put_joint(writer *w, int type) {
  static const char *const types[] = {"hinge", "slide", "ball", "free"};
  static const int coordinates[] = {1, 1, 4, 7}, velocities[] = {1, 1, 3, 6};
  put(w, "<joint name='j%d' type='%s'", w->joints++, types[type]);
  if (type < 2) {
    put_drawn(w, "axis", 3, -1, 1);
    if (pick(w, 2)) put_drawn(w, "ref", 1, -.5, .5);
    if (pick(w, 2)) put_drawn(w, "springref", 1, -.5, .5);
  }
  if (type < 3) put_drawn(w, "pos", 3, -.2, .2);
  if (type < 3 && pick(w, 2)) put_drawn(w, "stiffness", 1, 1, 20);
  if (type < 2 && pick(w, 2)) put_drawn(w, "armature", 1, 0, .2);
  if (pick(w, 2)) put_drawn(w, "damping", 1, 0, .5);
  put(w, "/>\n");
  add_state(w, w->q, coordinates[type], .4);
  add_state(w, w->v, velocities[type], .5);
}

static void put_body(writer *w, int depth) {
  const bool welded = depth > 0 && pick(w, 4) == 0, still = depth == 0 && pick(w, 3) == 0;
  put(w, "<body name='b%d'", w->bodies++);
  put_drawn(w, "pos", 3, -.5, .5);
  put_drawn(w, "euler", 3, -2, 2);
  put(w, ">\n");
  if (depth == 0 && !still && pick(w, 2))
    put_joint(w, 3);
  else if (!welded && !still && pick(w, 4) == 0)
    put_joint(w, 2);
  else
    for (int n = welded || still ? 0 : 1 + pick(w, 3); n; n--) put_joint(w, pick(w, 2));
  put(w, "<geom type='box'");
  put_drawn(w, "size", 3, .1, .3);
  put_drawn(w, "pos", 3, -.2, .2);
  put_drawn(w, "euler", 3, -2, 2);
  put(w, "%s/>\n", pick(w, 2) ? " fluidshape='ellipsoid'" : "");
  for (int n = depth < 3 ? 1 + pick(w, 2) : 0; n && w->bodies < 7; n--) put_body(w, depth + 1);
  put(w, "</body>\n");
}

static void put_tree(writer *w) {
  w->length = 0;
  w->q[0] = w->v[0] = 0;
  w->bodies = w->joints = 0;
  put(w,
      "<mujoco><compiler angle='radian' autolimits='true'%s/><option density='100' viscosity='.1' gravity='1 0 -3' "
      "wind='.2 .1 0'><flag contact='disable'/></option><worldbody>\n",
      pick(w, 3) ? "" : " settotalmass='90'");
  put_body(w, 0);
  if (w->bodies < 4) put_body(w, 0);
  put(w, "</worldbody><actuator>\n");
  for (int i = 0; i < w->joints && i < ACTUATORS; i += 2)
    if (!strstr(w->text, "type='ball'") && !strstr(w->text, "type='free'"))
      put(w, "<position joint='j%d' kp='%g' gear='%g'/>\n", i, draw(w, 1, 5), draw(w, -2, 2));
  put(w, "</actuator><keyframe><key name='k' qpos='%s' qvel='%s'/></keyframe></mujoco>\n", w->q, w->v);
}

/* A four-bar linkage, and a plate that is held at one point of the crank. MuJoCo's constraints are soft, so the
 * difference decreases with the square of their time constant: 2.3e-3, 6.1e-4, 1.6e-4 for .004, .002, .001 s. */
static void loops_move_nearly_as_mujocos_do(void **unused) {
  static const char text[] =
      "<mujoco><compiler autolimits='true'/><option density='100' gravity='4 0 -9'><flag "
      "contact='disable'/></option><default>"
      "<geom type='capsule' size='.05'/><equality solref='.001 1' solimp='.9999 .9999 .001'/></default><worldbody>"
      "<body name='crank'><joint axis='0 1 0'/><geom fromto='0 0 0 .1 0 .4'/><body name='rod' pos='.1 0 .4'>"
      "<joint axis='0 1 0'/><geom fromto='0 0 0 .9 0 .2'/></body></body><body name='rocker' pos='1.2 0 0' "
      "euler='0 0 90'><joint axis='1 0 0'/><geom fromto='0 0 0 0 .2 .6'/></body><body name='plate' pos='.1 .2 .4'>"
      "<freejoint/><geom type='box' size='.1 .15 .02'/></body></worldbody><equality>"
      "<connect body1='rod' body2='rocker' anchor='.9 0 .2'/><connect body1='crank' body2='plate' anchor='.1 0 .4'/>"
      "</equality></mujoco>";
  const tried c = {.name = "loops", .text = text, .end = .5, .steps = {2000, 200}, .tolerance = 3e-4};
  check_case(&c);
}

/* Two arms are on a base that turns. One hinge follows another by a polynomial of degree 2, and a slide follows a hinge
 * as a rack follows a pinion. MuJoCo's constraints are soft, so the difference decreases with the square of their time
 * constant: 1.9e-4, 4.7e-5, 1.2e-5 for .004, .002, .001 s. */
static void gears_move_nearly_as_mujocos_do(void **unused) {
  static const char text[] =
      "<mujoco><compiler autolimits='true' angle='radian'/><option density='100' gravity='4 0 -9'><flag "
      "contact='disable'/></option><default>"
      "<geom type='capsule' size='.05'/><equality solref='.001 1' solimp='.9999 .9999 .001'/></default><worldbody>"
      "<body name='base'><joint name='turn' axis='0 0 1' ref='.3'/><geom fromto='0 0 0 .2 0 .4'/>"
      "<body name='one' pos='.1 0 .4'><joint name='first' axis='0 1 0' damping='.1'/><geom fromto='0 0 0 .9 0 "
      ".2'/></body>"
      "<body name='two' pos='0 0 .6'><joint name='second' axis='0 1 0' ref='.2'/><geom fromto='0 0 0 -.4 .1 "
      ".2'/></body>"
      "</body><body name='rack' pos='3 0 0'><joint name='rack' type='slide' axis='1 0 1'/>"
      "<geom fromto='0 0 0 0 .3 0'/></body></worldbody><equality>"
      "<joint joint1='second' joint2='first' polycoef='0 -1.5 .3 0 0'/><joint joint1='rack' joint2='turn' polycoef='0 "
      ".5 0 0 0'/>"
      "</equality></mujoco>";
  const tried c = {.name = "gears", .text = text, .end = .5, .steps = {2000, 200}, .tolerance = 3e-5};
  check_case(&c);
}

/* Motors and servos act on two ball joints. The vectors of their gears are in the axes of the body or of its parent. */
static void actuators_turn_balls_as_mujocos_do(void **unused) {
  static const char text[] =
      "<mujoco><option density='100' gravity='1 0 -3'><flag contact='disable'/></option><worldbody>"
      "<body name='a' euler='20 30 40'><joint name='i' type='ball' pos='.1 0 0'/><geom type='box' size='.3 .2 .1'/>"
      "<body name='b' pos='.5 .1 0' euler='50 -20 70'><joint name='j' type='ball'/><geom type='box' size='.1 .2 .3'/>"
      "</body></body></worldbody><actuator><motor joint='i' gear='3 -2 4'/><motor jointinparent='i' gear='1 5 2'/>"
      "<position joint='j' gear='.5 1 -.7' kp='3'/><velocity joint='j' gear='1 .4 .2' kv='.5'/>"
      "<velocity jointinparent='j' gear='.2 1 .6' kv='.3'/></actuator><keyframe><key name='k' qpos='.9 .3 -.2 .4 .8 .2 "
      ".5 "
      "-.3' qvel='1 .5 -.3 .4 -.6 .2'/></keyframe></mujoco>";
  const tried c = {.name = "balls",
                   .text = text,
                   .key = "k",
                   .end = .3,
                   .amplitude = .9,
                   .frequency = 6,
                   .shift = .8,
                   .steps = {400, 300},
                   .tolerance = 1e-8};
  check_case(&c);
}

static void random_trees_move_as_mujocos_do(void **unused) {
  static writer w;
  w.state = check_seed();
  for (int i = 0; i < TREES; i++) {
    do put_tree(&w);
    while (!w.joints);
    const tried c = {.name = "tree",
                     .text = w.text,
                     .key = "k",
                     .end = .3,
                     .amplitude = .5,
                     .frequency = 6,
                     .shift = .8,
                     .steps = {400, 300},
                     .tolerance = 1e-8};
    check_case(&c);
  }
}
#else
static void loops_move_nearly_as_mujocos_do(void **unused) { skip(); }
static void gears_move_nearly_as_mujocos_do(void **unused) { skip(); }
static void actuators_turn_balls_as_mujocos_do(void **unused) { skip(); }
static void random_trees_move_as_mujocos_do(void **unused) { skip(); }
static void swimmers_swim_as_mujocos_do(void **unused) { skip(); }
static void a_fish_swims_as_mujocos_does(void **unused) { skip(); }
static void all_kinds_of_joints_move_as_mujocos_do(void **unused) { skip(); }
#endif

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_trees_move_as_mujocos_do),       cmocka_unit_test(gears_move_nearly_as_mujocos_do),
      cmocka_unit_test(actuators_turn_balls_as_mujocos_do),    cmocka_unit_test(loops_move_nearly_as_mujocos_do),
      cmocka_unit_test(swimmers_swim_as_mujocos_do),           cmocka_unit_test(a_fish_swims_as_mujocos_does),
      cmocka_unit_test(all_kinds_of_joints_move_as_mujocos_do)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
