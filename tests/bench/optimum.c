/* Optimal gaits: second derivatives of connection and metric.
 *
 * Scalar floor: the operations that chain_second.c counts for n shape variables, base in the middle (n/2 on each side), at one
 * scalar multiplication or addition a cycle of 3 GHz; vectors of two to eight numbers can be faster.
 */
#include "bench.h"
#include "models.h"

typedef struct subject {
  cb_bundle *b;
  cb_bundle plain; /* without its closed form */
  cb_bundle_class kind;
  int calls;
  double low, high, *A, *dA, *M, *dM, *ddA, *ddM;
} subject;

static void take(subject *s, const char *name, const char *text, double low, double high, int calls) {
  *s = (subject){.b = model(name, text), .calls = calls, .low = low, .high = high};
  const size_t n = (size_t)s->b->n, a = n * (size_t)s->b->group->dim;
  s->kind = *s->b->kind;
  s->kind.second = NULL;
  s->plain = *s->b;
  s->plain.kind = &s->kind;
  double *room = calloc((1 + n + n * n) * (a + n * n), sizeof *room);
  assert_non_null(room);
  s->A = room, s->dA = s->A + a, s->ddA = s->dA + n * a;
  s->M = s->ddA + n * n * a, s->dM = s->M + n * n, s->ddM = s->dM + n * n * n;
}

static void leave(subject *s) {
  free(s->A);
  cb_bundle_free(s->b);
}

static void shape_of(const subject *s, int k, double *r) {
  for (int i = 0; i < s->b->n; i++) r[i] = s->low + (s->high - s->low) * fmod(.37 + .618 * i + 1e-4 * k, 1);
}

static void first(void *self) {
  subject *s = self;
  double r[CB_SHAPE_MAX];
  for (int k = 0; k < s->calls; k++) {
    shape_of(s, k, r);
    check_ok(cb_bundle_connection(s->b, r, s->A, s->dA, s->M, s->dM));
  }
}

static void second(void *self) {
  subject *s = self;
  double r[CB_SHAPE_MAX];
  for (int k = 0; k < s->calls; k++) {
    shape_of(s, k, r);
    check_ok(cb_bundle_second(s->b, r, s->ddA, s->ddM));
  }
}

static void second_of_jets(void *self) {
  subject *s = self;
  double r[CB_SHAPE_MAX];
  for (int k = 0; k < s->calls; k++) {
    shape_of(s, k, r);
    check_ok(cb_bundle_second(&s->plain, r, s->ddA, s->ddM));
  }
}

/* By pairs a >= b of variables: F and A each n columns, M the lower triangle of n x n, by products of 2 operations. */
static double operations(int n) {
  const int left = n / 2;
  double sum = 0;
  for (int a = 0; a < n; a++)
    for (int b = 0; b <= a; b++) {
      const bool same = (a < left) == (b < left);
      sum += 2. * ((same ? 9 : 0) * n + 27 * n + (same ? 12 : 6) * n * (n + 1) / 2);
    }
  return sum;
}

static void times_of(bench *b, subject *s, double *us) {
  b->n = 0;
  bench_add(b, "first", first, s, s->calls);
  bench_add(b, "second", second, s, s->calls);
  bench_add(b, "jets", second_of_jets, s, s->calls);
  bench_go(b, 25);
  for (int i = 0; i < 3; i++) us[i] = 1e6 * b->subject[i].cpu;
}

static void chains(bench *b) {
  static const int links[] = {3, 4, 5, 10, 12};
  double three[3] = {0}, ten[3] = {0};
  printf("\nsecond derivatives of chains, us\n  %-8s %14s %10s %12s %10s %12s\n", "links", "A, dA, M, dM", "ddA, ddM",
         "scalar floor", "by jets", "jets/closed");
  for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
    char text[32];
    double us[3];
    subject s;
    snprintf(text, sizeof text, "links %d", links[i]);
    take(&s, "purcell", text, -1.2, 1.2, b->quick ? 2 : 500);
    times_of(b, &s, us);
    printf("  %-8d %14.3f %10.3f %12.3f %10.2f %12.1f\n", links[i], us[0], us[1], operations(links[i] - 1) / 3e3, us[2],
           us[2] / us[1]);
    if (links[i] == 3) memcpy(three, us, sizeof us);
    if (links[i] == 10) memcpy(ten, us, sizeof us);
    leave(&s);
  }
  bench_judge(b, "second derivatives of three links", three[1], "<=", 3, "us");
  bench_judge(b, "second derivatives of ten links", ten[1], "<=", 100, "us");
  bench_judge(b, "first derivatives beside them, ten links", ten[0] / ten[1], "<=", 1, "of it");
}

static void models(bench *b) {
  static const struct {
    const char *name, *text;
    double low, high;
  } row[] = {{"pmpy", "", 3, 5},          {"hopf", "", -1, 1},          {"heisenberg", "", -1, 1},
             {"rolling_ball", "", -1, 1}, {"sphere_robot", "", -1, 1},  {"constant_curvature_swimmer", "", .4, .7},
             {"three_sphere", "", 9, 11}, {"raft_pendulum", "", .3, 1}, {"falling_cat", "", .3, 1}};
  double worst = 0;
  printf("\nsecond derivatives of models in two variables, us\n  %-28s %14s %10s %12s\n", "", "A, dA, M, dM",
         "ddA, ddM", "by long jets");
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    double us[3];
    subject s;
    take(&s, row[i].name, row[i].text, row[i].low, row[i].high, b->quick ? 2 : 2000);
    times_of(b, &s, us);
    printf("  %-28s %14.3f %10.3f %12.3f\n", row[i].name, us[0], us[1], us[2]);
    worst = fmax(worst, us[1]);
    leave(&s);
  }
  bench_judge(b, "second derivatives of models in two variables", worst, "<=", 1, "us");
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "optimum: second derivatives, one thread");
  chains(&b);
  models(&b);
  return b.missed > 0;
}
