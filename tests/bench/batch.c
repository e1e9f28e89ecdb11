/* Compares the speed of rods that are stepped together in the lanes of SIMD vectors (run/run_shared.h) with that of
 * rods stepped one after another, in E3, S3 and H3. Times are nanoseconds per step of one rod, for complete runs that
 * record the energy every hundred steps. */
#include "bench.h"
#include "run/run_shared.h"

#include <curvebody/scenario.h>

enum { RUNS = 8, SPACES = 3, METHODS = 3 };
static const double steps = 2000;

typedef struct subject {
  char text[2048];
  bool batched;
  cb_batch *lanes;
  cb_scenario *scenario[RUNS];
} subject;

static cb_status row(void *self, const void *const *data) {
  (void)self;
  (void)data;
  return CB_OK;
}
static cb_status event(void *self, const cb_event_row *e) {
  (void)self;
  (void)e;
  return CB_OK;
}
static cb_status checkpoint(void *self, const cb_blob *b, size_t n) {
  (void)self;
  (void)b;
  (void)n;
  return CB_OK;
}
static cb_sink sink = {NULL, row, event, checkpoint, NULL};

static void open_all(void *self) {
  subject *s = self;
  for (int i = 0; i < RUNS; i++) {
    char mass[64];
    const char *const sets[] = {mass};
    snprintf(mass, sizeof mass, "bodies.0.mass=%g", 1 + 0.1 * i);
    cb_scenario_free(s->scenario[i]);
    check_ok(cb_scenario_open_text("rod", s->text, sets, 1, &s->scenario[i]));
  }
}

static void go(void *self) {
  subject *s = self;
  cb_batch_member of[RUNS];
  for (int i = 0; i < RUNS; i++) {
    of[i] = (cb_batch_member){.run = cb_scenario_run(s->scenario[i]), .sink = &sink};
    if (!s->batched) check_ok(cb_run_go(of[i].run, &sink, NULL, NULL, NULL));
  }
  const size_t width = cb_batch_width(of[0].run);
  for (size_t i = 0; s->batched && i < RUNS; i += width) {
    cb_batch_run(s->lanes, of + i, width, NULL);
    for (size_t k = i; k < i + width; k++) check_ok(of[k].status);
  }
}

int main(int argc, char **argv) {
  static const struct {
    const char *name, *space, *move;
  } spaces[SPACES] = {{"E3", "e3", "translation_x"}, {"S3", "s3", "rotation_wx"}, {"H3", "h3", "boost_x"}};
  static const char *const methods[METHODS] = {"lobatto, stages: 2", "lobatto, stages: 4", "rk4"};
  bench b = bench_begin(argc, argv, "rods in lanes");
  static subject all[SPACES][METHODS][2];
  cb_batch *lanes;
  check_ok(cb_batch_create(&lanes));
  for (int i = 0; i < SPACES; i++)
    for (int m = 0; m < METHODS; m++)
      for (int k = 0; k < 2; k++) {
        subject *s = &all[i][m][k];
        char name[96];
        s->batched = k;
        s->lanes = lanes;
        snprintf(
            s->text, sizeof s->text,
            "curvebody: 1\nspace: %s\nbodies:\n  - {kind: rod, name: a, link: {spring: {stiffness: 2, rest: 1}}, "
            "place: "
            "{chart: polar, points: [[0.5, pi/2, pi/2], [0.6, pi/2, 3*pi/2]]}, motion: {killing: %s, speed: 0.5}}\n"
            "integrator: {name: %s, step: 0.01}\ntime: {end: %g}\nrecord: {every: 100, observables: [energy]}\n",
            spaces[i].space, spaces[i].move, methods[m], 0.01 * (b.quick ? 20 : steps));
        snprintf(name, sizeof name, "%s %s %s", spaces[i].name, methods[m], k ? "in lanes" : "one after another");
        bench_add(&b, name, go, s, RUNS * (b.quick ? 20 : steps))->ready = open_all;
      }
  bench_go(&b, 20);
  double all_ratio = 1;
  for (int i = 0; i < b.n; i += 2) {
    const double ratio = b.subject[i].cpu / b.subject[i + 1].cpu;
    printf("  %-40s %7.1f ns  in lanes %7.1f ns  %.2f\n", b.subject[i].name, 1e9 * b.subject[i].cpu,
           1e9 * b.subject[i + 1].cpu, ratio);
    all_ratio *= pow(ratio, 2.0 / b.n);
    char what[128];
    snprintf(what, sizeof what, "%.60s by lanes", b.subject[i].name);
    bench_judge(&b, what, ratio, ">=", 2.5, "times");
  }
  printf("  geometric mean %.2f\n", all_ratio);
  for (int i = 0; i < SPACES * METHODS * 2; i++)
    for (int r = 0; r < RUNS; r++) cb_scenario_free(((subject *)all)[i].scenario[r]);
  cb_batch_free(lanes);
  return b.missed ? 1 : 0;
}
