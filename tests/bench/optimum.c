/* Benchmark of optimal gaits: second derivatives of connection and metric, the parts of a search, and searches from one
 * and from many starts.
 *
 * The column `scalar floor` is the time of the operations that cb_chain_second needs for n shape variables, with the
 * base link in the middle. It assumes one scalar multiplication or addition per cycle at 3 GHz. With vectors of two to
 * eight numbers, the computation can be faster.
 */
#include "bench.h"
#include "core/threads.h"
#include "models.h"
#include "optimum/find.h"
#include "optimum/extremal.h"

typedef struct subject {
  cb_bundle *b;
  cb_bundle plain; /* a copy of *b whose class has no closed form of second derivatives */
  cb_bundle_class class;
  int calls;
  double low, high, *A, *dA, *M, *dM, *ddA, *ddM;
} subject;

static void take(subject *s, const char *name, const char *text, double low, double high, int calls) {
  *s = (subject){.b = model(name, text), .calls = calls, .low = low, .high = high};
  const size_t n = (size_t)s->b->n, a = n * (size_t)s->b->group->dim;
  s->class = *s->b->class_;
  s->class.second = NULL;
  s->plain = *s->b;
  s->plain.class_ = &s->class;
  double *room = calloc((1 + n + n * n) * (a + n * n), sizeof *room);
  assert_non_null(room);
  s->A = room;
  s->dA = s->A + a;
  s->ddA = s->dA + n * a;
  s->M = s->ddA + n * n * a;
  s->dM = s->M + n * n;
  s->ddM = s->dM + n * n * n;
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

/* Returns the number of operations of cb_chain_second for n shape variables. It sums over all pairs a >= b of
 * variables. For each pair, it counts the matrix F of bundle/chain.c and the connection A, with n columns each, and the
 * lower triangle of the n x n metric M. Each multiplication comes with an addition, so it counts as 2. */
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

/* --- the parts of a search --- */

/* Creates the gait of a travelling wave along the links, with the amplitude `size` of each shape variable. */
static cb_gait *wave(const cb_bundle *b, double size) {
  const int n = b->n;
  double mean[CB_SHAPE_MAX] = {0}, cosine[CB_SHAPE_MAX], sine[CB_SHAPE_MAX];
  cb_gait *g;
  for (int i = 0; i < n; i++) {
    const double phase = n == 2 ? M_PI / 2 * i + M_PI / 4 : 2 * M_PI * i / n;
    cosine[i] = size * cos(phase);
    sine[i] = size * sin(phase);
  }
  check_ok(cb_gait_fourier(n, 1, mean, cosine, sine, &g));
  return g;
}

typedef struct hunt {
  cb_optimum_problem p;
  cb_direct *d; /* the solved search, with as many harmonics as it needs */
  cb_optimum told;
  int iterations, count;
} hunt;

static void values(void *self) { check_ok(cb_variation_at(((hunt *)self)->d->v, ((hunt *)self)->d->c, 2)); }

static void hessian(void *self) {
  hunt *h = self;
  cb_variation_hessian(h->d->v, 1, h->d->lambda, NULL, h->d->qp->H);
}

static void optimality(void *self) { check_ok(cb_direct_second_variation(((hunt *)self)->d)); }

static void wong(void *self) {
  hunt *h = self;
  cb_extremal *e;
  check_ok(cb_extremal_solve(&h->p, h->told.gait, h->told.lambda, h->d->amount, &e));
  cb_extremal_free(e);
}

static void first_basis(void *self) {
  hunt *h = self;
  cb_direct *d;
  check_ok(cb_direct_create(&h->p, 8, &d));
  check_ok(cb_direct_from(d, h->p.start));
  check_ok(cb_direct_solve(d, 100));
  h->iterations = d->iterations;
  cb_direct_free(d);
}

static void whole(void *self) {
  hunt *h = self;
  cb_optima *o;
  check_ok(cb_optimum_find(&h->p, &o));
  h->count = o->count;
  cb_optima_free(o);
}

static void parts(bench *b) {
  static const struct {
    const char *text;
    double size;
  } row[] = {{"links 3", .9}, {"links 10", .6}};
  double cold[2] = {0};
  printf("\na gait of X = .05 from a wave, ms\n  %-8s %12s %10s %12s %10s %12s %12s %8s\n", "links", "evaluation",
         "Hessian", "optimality", "Wong", "8 harmonics", "from cold", "steps");
  for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
    cb_bundle *bundle = model("purcell", row[i].text);
    hunt h = {
        .p = {.bundle = bundle, .target = {.kind = CB_GAIT_MOVE, .value = .05}, .start = wave(bundle, row[i].size)}};
    bool settled;
    check_ok(cb_direct_create(&h.p, 8, &h.d));
    check_ok(cb_direct_from(h.d, h.p.start));
    check_ok(cb_direct_solve(h.d, 100));
    check_ok(cb_direct_refine(&h.d, &settled));
    check_ok(cb_optimum_certify(h.d, &h.told));
    b->n = 0;
    bench_add(b, "evaluation", values, &h, 1);
    bench_add(b, "Hessian", hessian, &h, 1);
    bench_add(b, "optimality", optimality, &h, 1);
    bench_add(b, "Wong", wong, &h, 1);
    bench_add(b, "first", first_basis, &h, 1);
    bench_add(b, "whole", whole, &h, 1);
    bench_go(b, 5);
    printf("  %-8s", row[i].text + 6);
    for (int k = 0; k < 6; k++) printf(" %*.3f", k == 1 || k == 3 ? 10 : 12, 1e3 * b->subject[k].cpu);
    printf(" %8d\n", h.iterations);
    cold[i] = 1e3 * b->subject[5].cpu;
    cb_gait_free(h.told.gait);
    cb_direct_free(h.d);
    cb_gait_free((cb_gait *)h.p.start);
    cb_bundle_free(bundle);
  }
  bench_judge(b, "Purcell's swimmer from cold, with its optimality", cold[0], "<=", 10, "ms");
  bench_judge(b, "ten links from cold, with its optimality", cold[1], "<=", 500, "ms");
}

static void many_starts(bench *b) {
  cb_bundle *bundle = model("purcell", "");
  hunt h = {
      .p = {.bundle = bundle, .target = {.kind = CB_GAIT_MOVE, .value = .05}, .starts = b->quick ? 2 : 24, .seed = 1}};
  b->n = 0;
  bench_add(b, "starts", whole, &h, 1);
  bench_go(b, 3);
  printf("\n%d random starts, three links: %.3f s, %d gaits\n", h.p.starts, b->subject[0].cpu, h.count);
  bench_judge(b, "24 random starts", b->subject[0].cpu, "<=", 1.5, "s");
  cb_bundle_free(bundle);
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "optimum: second derivatives and searches, one thread");
  cb_threads_set(1);
  chains(&b);
  models(&b);
  parts(&b);
  many_starts(&b);
  return b.missed > 0;
}
