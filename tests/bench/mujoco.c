/* Measures the time of a step of a body under MuJoCo's ellipsoid model. A triaxial ellipsoid falls in air, by two
 * explicit methods of Runge-Kutta type and by an implicit method that uses derivatives of forces. If MuJoCo's library
 * is installed, the table also contains MuJoCo's own steps. Other rows are for 10^4 such bodies on one and two
 * threads. */
#include "bench.h"
#include "mujoco_fall.h"

#ifdef CB_MUJOCO
#include <mujoco/mujoco.h>
#endif

enum { METHODS = 3, MANY = 10000, MANY_STEPS = 10, THREADS = 2 };
static const double length = 1e-3, begin[13] = {0, 0, 0, 0.965925826289, 0.258819045103, 0, 0, 0.5, 0, 0, 0, 1, 2};

/* --- one body --- */

static const faller triaxial = {
    "triaxial", "mujoco_ellipsoid",      "{viscosity: 1.8e-5, geoms: [{size: [0.2, 0.1, 0.03]}]}", 1.225,
    0.05,       {0.00218, 0.00818, 0.01}};
static const char *const method[METHODS] = {"rkmk4", "mujoco_rk4", "hamilton_pontryagin"};
/* targets for the integrators of `method`, in microseconds per step */
static const double limit[METHODS] = {0.6, 0.6, 1};

typedef struct subject {
  fall fall;
  int steps;
} subject;

static void steps(void *self) {
  subject *s = self;
  for (int i = 0; i < s->steps; i++) check_ok(cb_integrator_step(s->fall.method, &s->fall.state, length));
}

/* Evaluates the force on the body and its derivatives. */
static void slopes(void *self) {
  subject *s = self;
  const cb_rigid_problem *p = cb_immersed_workspace_problem(s->fall.workspace);
  for (int i = 0; i < s->steps; i++) {
    double F[6], dF[6][6];
    s->fall.state.Y[0] += 1e-9; /* changes the state, because the last result is cached */
    check_ok(cb_rigid_wrenches(p, 0, &s->fall.state.g, s->fall.state.Y, F, dF));
  }
}

/* --- many bodies --- */

typedef struct crowd {
  fall of[THREADS];
  int threads, bodies, steps;
  cb_rigid_state *state;
} crowd;

static void crowd_begin(crowd *c, int threads, int bodies) {
  *c = (crowd){.threads = threads, .bodies = bodies, .steps = MANY * MANY_STEPS / bodies};
  for (int k = 0; k < threads; k++) fall_begin(&c->of[k], &triaxial, "rkmk4", begin);
  c->state = malloc((size_t)bodies * sizeof *c->state);
  uint64_t seed = 1;
  for (int i = 0; i < bodies; i++) {
    c->state[i] = c->of[0].state;
    for (int k = 0; k < 3; k++) c->state[i].g.x[k] = check_uniform(&seed, -1, 1);
  }
}

static void crowd_end(crowd *c) {
  for (int k = 0; k < c->threads; k++) fall_end(&c->of[k]);
  free(c->state);
}

static void fall_all(void *self) {
  crowd *c = self;
#pragma omp parallel for num_threads(c->threads) schedule(static, 1) if (c->threads > 1)
  for (int k = 0; k < c->threads; k++)
    for (int n = 0; n < c->steps; n++)
      for (int i = c->bodies * k / c->threads; i < c->bodies * (k + 1) / c->threads; i++)
        check_ok(cb_integrator_step(c->of[k].method, &c->state[i], length));
}

/* --- MuJoCo's own steps --- */

#ifdef CB_MUJOCO
enum { THEIRS = 2 };
static const char *const their_name[THEIRS] = {"MuJoCo RK4", "MuJoCo implicit"};
static const int their_integrator[THEIRS] = {mjINT_RK4, mjINT_IMPLICIT};

typedef struct theirs {
  mjModel *m;
  mjData *d;
  int steps;
} theirs;

static void their_steps(void *self) {
  theirs *t = self;
  for (int i = 0; i < t->steps; i++) mj_step(t->m, t->d);
}

static void theirs_begin(theirs *t, int integrator, int count) {
  static const char text[] =
      "<mujoco><option density='1.225' viscosity='1.8e-5' timestep='1e-3'/><worldbody><body><freejoint/>"
      "<inertial pos='0 0 0' mass='0.05' diaginertia='1.09e-4 4.09e-4 5e-4'/>"
      "<geom type='ellipsoid' size='.2 .1 .03' fluidshape='ellipsoid' contype='0' conaffinity='0'/>"
      "</body></worldbody></mujoco>";
  char told[1000] = "";
  static mjVFS files; /* too large for a stack */
  mj_defaultVFS(&files);
  mj_makeEmptyFileVFS(&files, "body.xml", sizeof text);
  memcpy(files.filedata[0], text, sizeof text);
  t->m = mj_loadXML("body.xml", &files, told, sizeof told);
  mj_deleteVFS(&files);
  if (!t->m) fail_msg("MuJoCo: %s", told);
  t->m->opt.integrator = integrator;
  t->d = mj_makeData(t->m);
  t->steps = count;
  memcpy(t->d->qpos, begin, 7 * sizeof *begin);
  memcpy(t->d->qvel, begin + 7, 6 * sizeof *begin);
}
#endif

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "an ellipsoid under MuJoCo's model");
  static subject of[METHODS + 1];
  static crowd crowds[3];
  static const int threads[3] = {1, 1, THREADS}, bodies[3] = {100, MANY, MANY};
  const int count = b.quick ? 10 : 10000;
  for (int m = 0; m <= METHODS; m++) {
    of[m].steps = count;
    fall_begin(&of[m].fall, &triaxial, method[m % METHODS], begin);
    bench_add(&b, m < METHODS ? method[m] : "force and derivatives", m < METHODS ? steps : slopes, &of[m], count);
  }
  for (int i = 0; i < 3; i++) {
    char name[64];
    snprintf(name, sizeof name, "%d bodies, %d thread%s", bodies[i], threads[i], threads[i] > 1 ? "s" : "");
    crowd_begin(&crowds[i], threads[i], bodies[i]);
    if (b.quick) crowds[i].steps = 1;
    bench_add(&b, name, fall_all, &crowds[i], (double)bodies[i] * crowds[i].steps);
  }
#ifdef CB_MUJOCO
  static theirs their[THEIRS];
  for (int i = 0; i < THEIRS; i++) {
    theirs_begin(&their[i], their_integrator[i], count);
    bench_add(&b, their_name[i], their_steps, &their[i], count);
  }
#endif
  bench_go(&b, 10);
  for (int i = 0; i < b.n; i++)
    printf("  %-24s %8.3f us a step of one body\n", b.subject[i].name, 1e6 * b.subject[i].wall);
  const bench_subject *many = b.subject + METHODS + 1;
  for (int m = 0; m < METHODS; m++) {
    char what[80];
    snprintf(what, sizeof what, "mujoco: a step, %s", method[m]);
    bench_judge(&b, what, 1e6 * b.subject[m].cpu, "<=", limit[m], "us");
  }
  bench_judge(&b, "mujoco: force and derivatives", 1e6 * b.subject[METHODS].cpu, "<=", 1, "us");
  bench_judge(&b, "mujoco: a step of one of 10^4 bodies to that of 100", many[1].cpu / many[0].cpu, "<=", 1.2, "");
  bench_judge(&b, "mujoco: 10^4 bodies, two threads", many[1].wall / many[2].wall, ">=", 1.8, "times");
#ifdef CB_MUJOCO
  bench_judge(&b, "mujoco: rkmk4 to MuJoCo's RK4", many[3].cpu / b.subject[0].cpu, ">=", 10, "times");
  bench_judge(&b, "mujoco: hamilton_pontryagin to MuJoCo's implicit", many[4].cpu / b.subject[2].cpu, ">=", 5, "times");
  for (int i = 0; i < THEIRS; i++) {
    mj_deleteData(their[i].d);
    mj_deleteModel(their[i].m);
  }
#endif
  for (int m = 0; m <= METHODS; m++) fall_end(&of[m].fall);
  for (int i = 0; i < 3; i++) crowd_end(&crowds[i]);
  return b.missed > 0;
}
