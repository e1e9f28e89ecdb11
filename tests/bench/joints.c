/* Measures the time of a step of chains of 3, 10 and 30 hinges in vacuum, under gravity. The axes of the hinges are
 * along y and z alternately. The integrators are rkmk4 in coordinates of the joints and hamilton_pontryagin of order 2.
 * If MuJoCo's library is installed, its RK4 and Euler run in the same process, without contacts and constraints. A
 * second measurement is for two ellipsoids on a hinge in a fluid: a run without coupling, and one with the exact
 * coupling from a table over the angle.
 */
#include "bench.h"
#include "joined_bodies.h"
#include <curvebody/scenario.h>

#ifdef CB_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { LENGTHS = 3 };
static const int length[LENGTHS] = {3, 10, 30};
static const double step = 1e-3, axes[3] = {.1, .03, .02}, density = 1000, angle = .3, rate = .5;

typedef struct ours {
  joined s;
  bool explicit_;
  int n, steps;
} ours;

static const double *axis_of(int i) {
  static const double along[2][3] = {{0, 1, 0}, {0, 0, 1}};
  return along[i % 2];
}

static void ours_begin(ours *o, int n, bool explicit_, int steps) {
  *o = (ours){.explicit_ = explicit_, .n = n, .steps = steps};
  for (int i = 0; i < n; i++) joined_add(&o->s, axes, density, 0, -9.81);
  for (int i = 0; i < n; i++) {
    joined_hold(&o->s, "hinge", i - 1, (double[]){i ? axes[0] : 0, 0, 0}, axis_of(i), i, (double[]){-axes[0], 0, 0},
                axis_of(i));
    joined_place(&o->s, &o->s.joint[i], &angle, &rate, 0);
  }
  joined_start(&o->s, NULL);
}

/* Each repetition begins at the same place: long motions of such chains are chaotic. */
static void our_start(void *self) {
  ours *o = self;
  cb_mechanism_free(o->s.mechanism);
  ours_begin(o, o->n, o->explicit_, o->steps);
}

static void our_steps(void *self) {
  ours *o = self;
  for (int i = 0; i < o->steps; i++) {
    int failed;
    if (!o->explicit_) {
      check_ok(joined_step(&o->s, step, 2));
      continue;
    }
    check_ok(cb_mechanism_step_rkmk4(o->s.mechanism, &o->s.bodies, o->s.t, step, &failed));
    o->s.t += step;
  }
}

#ifdef CB_MUJOCO
typedef struct theirs {
  mjModel *m;
  mjData *d;
  int steps;
} theirs;

static void their_steps(void *self) {
  theirs *t = self;
  for (int i = 0; i < t->steps; i++) mj_step(t->m, t->d);
}

static void their_start(void *self) {
  theirs *t = self;
  mj_resetData(t->m, t->d);
  for (int i = 0; i < t->m->nq; i++) {
    t->d->qpos[i] = angle;
    t->d->qvel[i] = rate;
  }
}

static void theirs_begin(theirs *t, int n, int integrator, int steps) {
  static char text[100000];
  static mjVFS files; /* too large for a stack */
  char told[1000] = "";
  const double mass = density * 4 / 3 * 3.14159265358979323846 * axes[0] * axes[1] * axes[2];
  size_t at = (size_t)snprintf(text, sizeof text,
                               "<mujoco><option timestep='%g' gravity='0 0 -9.81'><flag contact='disable' "
                               "constraint='disable'/></option><worldbody>",
                               step);
  for (int i = 0; i < n; i++)
    at += (size_t)snprintf(
        text + at, sizeof text - at,
        "<body pos='%g 0 0'><joint type='hinge' axis='%g %g %g'/><inertial pos='%g 0 0' mass='%.17g' "
        "diaginertia='%.17g %.17g %.17g'/>",
        i ? 2 * axes[0] : 0, axis_of(i)[0], axis_of(i)[1], axis_of(i)[2], axes[0], mass,
        mass * (axes[1] * axes[1] + axes[2] * axes[2]) / 5, mass * (axes[0] * axes[0] + axes[2] * axes[2]) / 5,
        mass * (axes[0] * axes[0] + axes[1] * axes[1]) / 5);
  for (int i = 0; i < n; i++) at += (size_t)snprintf(text + at, sizeof text - at, "</body>");
  snprintf(text + at, sizeof text - at, "</worldbody></mujoco>");
  mj_defaultVFS(&files);
  mj_makeEmptyFileVFS(&files, "chain.xml", (int)strlen(text) + 1);
  memcpy(files.filedata[0], text, strlen(text) + 1);
  t->m = mj_loadXML("chain.xml", &files, told, sizeof told);
  mj_deleteVFS(&files);
  if (!t->m) fail_msg("MuJoCo: %s", told);
  t->m->opt.integrator = integrator;
  t->d = mj_makeData(t->m);
  t->steps = steps;
  their_start(t);
}
#endif

/* --- runs of a pair --- */

typedef struct pair {
  const char *coupling;
  int steps;
  cb_scenario *scenario;
} pair;

static cb_status drop_row(void *self, const void *const *data) { return CB_OK; }
static cb_status drop_event(void *self, const cb_event_row *event) { return CB_OK; }
static cb_status drop_checkpoint(void *self, const cb_blob *state, size_t n) { return CB_OK; }

static void pair_start(void *self) {
  pair *p = self;
  char text[2048];
  snprintf(text, sizeof text,
           "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], added_mass: ellipsoid, coupling: %s}\nbodies:\n"
           "  - {name: a, shape: &s {name: ellipsoid, a: 0.5, b: 0.2, c: 0.15, resolution: 8}, density: 1.2, drag: "
           "false, place: {position: [0, 0, 0]}, motion: {velocity: [0.02, 0.01, 0.03], spin: [0.03, -0.02, 0.05]}}\n"
           "  - {name: b, shape: *s, density: 1.2, drag: false}\n"
           "joints: [{kind: hinge, name: j, of: [a, b], at: [0.6, 0, 0], in: [-0.6, 0, 0], axis: [0, 0, 1], angle: "
           "0.3, rate: 0.1, spring: {stiffness: 0.02}}]\n"
           "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: %g}\nrecord: {every: %d}\n",
           p->coupling, .01 * p->steps, p->steps);
  cb_scenario_free(p->scenario);
  check_ok(cb_scenario_open_text("pair", text, NULL, 0, &p->scenario));
  cb_scenario_run(p->scenario);
}

static void pair_steps(void *self) {
  const pair *p = self;
  cb_sink sink = {NULL, drop_row, drop_event, drop_checkpoint, NULL};
  check_ok(cb_run_go(cb_scenario_run(p->scenario), &sink, NULL, NULL, NULL));
}

/* Compares the time that the coupling adds to a step with its target. */
static void compare_pairs(bench *b) {
  static pair of[2] = {{.coupling = "none"}, {.coupling = "{name: exact, samples: 12, range: [-1.2, 1.2]}"}};
  bench pairs = *b;
  pairs.n = 0;
  for (int i = 0; i < 2; i++) {
    of[i].steps = b->quick ? 3 : 2000;
    bench_add(&pairs, i ? "a pair, table of the coupling" : "a pair, no coupling", pair_steps, &of[i], of[i].steps)
        ->ready = pair_start;
  }
  bench_go(&pairs, 40);
  const double none = 1e6 * pairs.subject[0].cpu, table = 1e6 * pairs.subject[1].cpu;
  printf("  two bodies on a hinge: no coupling %.3f, table %.3f us a step, %.2f times\n", none, table, table / none);
  bench_judge(b, "joints: a table of the coupling", table - none, "<=", cb_isa_get() >= CB_ISA_AVX2 ? 3 : 8,
              "us per step");
  for (int i = 0; i < 2; i++) cb_scenario_free(of[i].scenario);
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "chains of hinges");
  static ours explicit_[LENGTHS], implicit_[LENGTHS];
  enum { KINDS = 4 };
  for (int i = 0; i < LENGTHS; i++) {
    const int n = length[i], count = b.quick ? 3 : 1200 / n;
    char name[64];
    ours_begin(&explicit_[i], n, true, count);
    ours_begin(&implicit_[i], n, false, count);
    snprintf(name, sizeof name, "%d hinges, rkmk4", n);
    bench_add(&b, name, our_steps, &explicit_[i], count)->ready = our_start;
    snprintf(name, sizeof name, "%d hinges, hamilton_pontryagin", n);
    bench_add(&b, name, our_steps, &implicit_[i], count)->ready = our_start;
#ifdef CB_MUJOCO
    static theirs rk4[LENGTHS], euler[LENGTHS];
    theirs_begin(&rk4[i], n, mjINT_RK4, count);
    theirs_begin(&euler[i], n, mjINT_EULER, count);
    snprintf(name, sizeof name, "%d hinges, MuJoCo RK4", n);
    bench_add(&b, name, their_steps, &rk4[i], count)->ready = their_start;
    snprintf(name, sizeof name, "%d hinges, MuJoCo Euler", n);
    bench_add(&b, name, their_steps, &euler[i], count)->ready = their_start;
    /* checks that both programs compute the same motion */
    theirs one;
    ours own;
    theirs_begin(&one, n, mjINT_RK4, 20);
    ours_begin(&own, n, true, 20);
    their_steps(&one);
    our_steps(&own);
    for (int k = 0; k < n; k++) check_near(cb_mechanism_q(own.s.mechanism)[k], one.d->qpos[k], 1e-7);
    mj_deleteData(one.d);
    mj_deleteModel(one.m);
    cb_mechanism_free(own.s.mechanism);
#endif
  }
  bench_go(&b, 100);
  for (int i = 0; i < b.n; i++) printf("  %-32s %8.3f us a step\n", b.subject[i].name, 1e6 * b.subject[i].cpu);
  for (int i = 0; i < LENGTHS; i++) {
    char what[96];
    snprintf(what, sizeof what, "joints: hamilton_pontryagin, %d hinges", length[i]);
    bench_judge(&b, what, 1e6 * b.subject[b.n / LENGTHS * i + 1].cpu / length[i],
                "<=", cb_isa_get() >= CB_ISA_AVX2 ? 0.6 : 1.2, "us per link and step");
  }
  compare_pairs(&b);
  for (int i = 0; i < LENGTHS && b.n == LENGTHS * KINDS; i++) {
    const bench_subject *s = b.subject + KINDS * i;
    char what[96];
    snprintf(what, sizeof what, "joints: rkmk4 to MuJoCo's RK4, %d hinges", length[i]);
    bench_judge(&b, what, s[0].cpu / s[2].cpu, "<=", 0.5, "times");
    printf("  %d hinges, to MuJoCo's RK4: rkmk4 %.2f, hamilton_pontryagin %.2f, MuJoCo Euler %.2f\n", length[i],
           s[0].cpu / s[2].cpu, s[1].cpu / s[2].cpu, s[3].cpu / s[2].cpu);
  }
  return b.missed > 0;
}
