/* Measures microseconds per step of 0.01 for the elastic rod and triangle of figures 2.13 to 2.19 of the thesis (see
 * analysis/README.md) in H3 and S3.
 *
 * Each repetition steps from the start to t = 10 and moves origins, as a run does. The last table measures complete
 * runs of scenarios, as by `curvebody run` without a record. */
#include "bench.h"
#include "integrate.h"
#include "scenarios.h"
#include <curvebody/scenario.h>

enum { STEPS = 1000 };
static const double h = 0.01;

typedef struct stepping {
  body_case c;
  cb_state *start;
} stepping;

static stepping *open_stepping(const char *space, bool triangle, const char *method) {
  stepping *s = calloc(1, sizeof *s);
  open_thesis(&s->c, space, triangle);
  use_method(&s->c, method);
  s->start = clone_state(&s->c);
  return s;
}

static void restart(void *self) {
  stepping *s = self;
  cb_state_copy(s->c.state, s->start);
  cb_integrator_reset(s->c.integrator);
  check_ok(cb_forces_set_origins(s->c.integrator->forces, s->start->origin));
}

static void steps(void *self) {
  stepping *s = self;
  for (int i = 0; i < STEPS; i++) {
    check_ok(cb_integrator_step(s->c.integrator, s->c.state, h));
    recentre(&s->c);
  }
}

static void close_stepping(stepping *s) {
  cb_state_free(s->start);
  close_case(&s->c);
  free(s);
}

/* Times one integrator for the rod and the triangle in H3 and S3. */
static void row(bench *b, const char *name, const char *chart, const char *method) {
  static const char *const spaces[] = {"h3", "s3"};
  b->n = 0;
  for (int triangle = 0; triangle < 2; triangle++)
    for (int i = 0; i < 2; i++) {
      char space[64];
      snprintf(space, sizeof space, "%s%s", spaces[i], chart);
      bench_add(b, space, steps, open_stepping(space, triangle, method), STEPS)->ready = restart;
    }
  bench_go(b, 25);
  printf("  %-42s", name);
  for (int i = 0; i < b->n; i++) {
    const stepping *s = b->subject[i].self;
    printf(" %9.2f (%2d)", 1e6 * b->subject[i].cpu, s->c.integrator->iterations);
    close_stepping(b->subject[i].self);
  }
  printf("\n");
}

#define REST SCENARIO_LOBATTO "time: {end: 100}\nrecord: {every: 1000000}\n"

static const struct {
  const char *name, *text;
  double limit;
} runs[] = {{"run, rod, H3, lobatto 4 stages", SCENARIO_ROD_H3 REST, 2},
            {"run, rod, S3, lobatto 4 stages", SCENARIO_ROD_S3 REST, 2},
            {"run, triangle, H3, lobatto 4 stages", SCENARIO_TRIANGLE_H3 REST, 4},
            {"run, triangle, S3, lobatto 4 stages", SCENARIO_TRIANGLE_S3 REST, 4}};
enum { RUNS = sizeof runs / sizeof *runs };

static cb_status no_row(void *self, const void *const *data) {
  (void)self;
  (void)data;
  return CB_OK;
}
static cb_status no_event(void *self, const cb_event_row *event) {
  (void)self;
  (void)event;
  return CB_OK;
}
static cb_status no_checkpoint(void *self, const cb_blob *state, size_t n) {
  (void)self;
  (void)state;
  (void)n;
  return CB_OK;
}
static cb_status no_close(void *self, bool completed) {
  (void)self;
  (void)completed;
  return CB_OK;
}

typedef struct whole_run {
  const char *text;
  cb_scenario *scenario;
} whole_run;

static void open_run(void *self) {
  whole_run *r = self;
  cb_scenario_free(r->scenario);
  check_ok(cb_scenario_open_text("bench", r->text, NULL, 0, &r->scenario));
}

static void go(void *self) {
  const whole_run *r = self;
  cb_sink none = {NULL, no_row, no_event, no_checkpoint, no_close};
  check_ok(cb_run_go(cb_scenario_run(r->scenario), &none, NULL, NULL, NULL));
}

/* Scenarios of bodies that act on each other as dipoles. For 125 ellipsoids, the time is per pair of bodies and step.
 * For 216 balls that collide in a box, it is per step, including its impacts. */
#define CROWD(side, count, distance, shape, motion, more)                                                          \
  "curvebody: 1\nfluid: {medium: 1, gravity: [0, 0, 0], model: ellipsoid, coupling: dipole, parameters: {m: " side \
  ", d: " distance "}}\nbodies:\n  - {name: body, shape: {name: ellipsoid, " shape                                 \
  ", resolution: 8}, density: 2, "                                                                                 \
  "drag: false,\n     repeat: {count: " count                                                                      \
  ", seed: 2}, spheres: [{at: [0, 0, 0], radius: 0.25}],\n"                                                        \
  "     place: {position: [d*(i - m*floor(i/m)) + 0.1*r1, d*(floor(i/m) - m*floor(i/m^2)) + 0.1*r2, "              \
  "d*floor(i/m^2)]},\n     motion: {velocity: [" motion "*(r3 - 0.5), " motion "*(r4 - 0.5), " motion              \
  "*(r5 - 0.5)], spin: [0.1, 0.2, r6]}}\n" more                                                                    \
  "integrator: {name: hamilton_pontryagin, step: 0.01}\ntime: {end: 0.4}\nrecord: {every: 40}\n"
#define SIDE(name, at, normal) "  - {plane: {name: " name ", at: {point: " at "}, normal: " normal "}}\n"

static void couplings(bench *b) {
  static const char *const text[2] = {
      CROWD("5", "125", "3", "a: 0.5, b: 0.4, c: 0.3", "0.1", ""),
      CROWD("6", "216", "1.2", "a: 0.25, b: 0.25, c: 0.25", "6",
            "contacts: {restitution: 1}\nwalls:\n" SIDE("left", "[-0.6, 0, 0]", "[1, 0, 0]")
                SIDE("right", "[6.7, 0, 0]", "[-1, 0, 0]") SIDE("front", "[0, -0.6, 0]", "[0, 1, 0]")
                    SIDE("back", "[0, 6.7, 0]", "[0, -1, 0]") SIDE("bottom", "[0, 0, -0.6]", "[0, 0, 1]")
                        SIDE("top", "[0, 0, 6.7]", "[0, 0, -1]"))};
  whole_run whole[2] = {{text[0], NULL}, {text[1], NULL}};
  b->n = 0;
  bench_add(b, "125 bodies as dipoles", go, &whole[0], 40 * 125 * 124 / 2)->ready = open_run;
  bench_add(b, "216 colliding balls", go, &whole[1], 40)->ready = open_run;
  bench_go(b, 3);
  for (int i = 0; i < 2; i++) cb_scenario_free(whole[i].scenario);
  bench_judge(b, "steps: 125 bodies as dipoles", 1e6 * b->subject[0].cpu, "<=", 0.1, "us a pair and step");
  bench_judge(b, "steps: 216 colliding balls as dipoles", 1e3 * b->subject[1].cpu, "<=", 250, "ms a step");
}

int main(int argc, char **argv) {
  bench b = bench_begin(
      argc, argv,
      "steps: microseconds a step (iterations of the last), h = 0.01, [0, 10], one thread, default tolerances");
  printf("  %-42s %14s %14s %14s %14s\n", "", "rod H3", "rod S3", "triangle H3", "triangle S3");
  char name[96], method[96];
  for (int s = 2; s <= 5; s++) {
    snprintf(name, sizeof name, "lobatto, %d stages", s);
    snprintf(method, sizeof method, "lobatto {stages: %d}", s);
    row(&b, name, "", method);
  }
  for (int symmetric = 1; symmetric >= 0; symmetric--)
    for (int s = 1; s <= 3; s++) {
      snprintf(name, sizeof name, "gauss, moving charts, %d stage%s%s", s, s > 1 ? "s" : "",
               symmetric ? ", symmetric" : "");
      snprintf(method, sizeof method, "gauss {stages: %d, symmetric: %s}", s, symmetric ? "true" : "false");
      row(&b, name, "", method);
    }
  for (int s = 1; s <= 3; s++) {
    snprintf(name, sizeof name, "gauss, canonical in the polar chart, %d stage%s", s, s > 1 ? "s" : "");
    snprintf(method, sizeof method, "gauss {stages: %d}", s);
    row(&b, name, " {chart: polar}", method);
  }
  row(&b, "rk4", "", "rk4");

  whole_run whole[RUNS];
  b.n = 0;
  for (int i = 0; i < RUNS; i++) {
    whole[i] = (whole_run){runs[i].text, NULL};
    bench_add(&b, runs[i].name, go, &whole[i], 10000)->ready = open_run;
  }
  bench_go(&b, 25);
  printf("\nwhole runs to t = 100, record off: microseconds a step\n");
  for (int i = 0; i < RUNS; i++) {
    printf("  %-42s %9.2f\n", runs[i].name, 1e6 * b.subject[i].cpu);
    cb_scenario_free(whole[i].scenario);
  }
  for (int i = 0; i < RUNS; i++)
    bench_judge(&b, runs[i].name, 1e6 * b.subject[i].cpu, "<=", runs[i].limit, "us a step");
  couplings(&b);
  return b.missed > 0;
}
