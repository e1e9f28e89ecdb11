/* Benchmark of gaits: holonomies by cb_holonomy_by and by plain integrators, curvature over a grid, and connections of
 * long chains.
 *
 * The gait is the unit circle in the shapes of Purcell's swimmer, from (1, 0). Each method computes the displacement
 * (x, y, theta) and the length s of this gait to 1e-11. The plain integrators solve
 * x' = cos(theta) xi_x - sin(theta) xi_y, y' = sin(theta) xi_x + cos(theta) xi_y, theta' = xi_theta and
 * s' = sqrt(r'.M r'). Here r is the shape, A the connection, xi = -A r' the velocity of the body, and M the metric.
 */
#include "bench.h"
#include <curvebody/holonomy.h>
#include "models.h"
#include <gsl/gsl_errno.h>
#include <gsl/gsl_odeiv2.h>

static const double error = 1e-11;

typedef struct problem {
  cb_bundle *b;
  cb_gait *gait;
  cb_holonomy_options options;
  bool measured;
  int steps, evaluations;
  gsl_odeiv2_driver *driver;
  double g[4]; /* the displacement (x, y, theta), and the length of the gait */
} problem;

static int rhs(double t, const double *y, double *dy, void *self) {
  problem *p = self;
  double r[2], rate[2], A[6], M[4], xi[3], square = 0;
  cb_gait_at(p->gait, t, r, rate);
  check_ok(cb_bundle_connection(p->b, r, A, NULL, M, NULL));
  for (int a = 0; a < 3; a++) xi[a] = -A[2 * a] * rate[0] - A[2 * a + 1] * rate[1];
  for (int i = 0; i < 2; i++)
    for (int j = 0; j < 2; j++) square += M[2 * i + j] * rate[i] * rate[j];
  const double c = cos(y[2]), s = sin(y[2]);
  dy[0] = c * xi[0] - s * xi[1];
  dy[1] = s * xi[0] + c * xi[1];
  dy[2] = xi[2];
  dy[3] = sqrt(square);
  p->evaluations++;
  return GSL_SUCCESS;
}

static void by_holonomy(void *self) {
  problem *p = self;
  check_ok(cb_holonomy_by(p->b, p->gait, &p->options, p->g, p->measured ? &p->g[3] : NULL, NULL));
}

static void by_rk4(void *self) {
  problem *p = self;
  const double h = 1. / p->steps;
  double y[4] = {0}, k[4][4], z[4];
  p->evaluations = 0;
  for (int step = 0; step < p->steps; step++) {
    rhs(step * h, y, k[0], p);
    for (int stage = 1; stage < 4; stage++) {
      const double share = stage < 3 ? h / 2 : h;
      for (int a = 0; a < 4; a++) z[a] = y[a] + share * k[stage - 1][a];
      rhs(step * h + share, z, k[stage], p);
    }
    for (int a = 0; a < 4; a++) y[a] += h / 6 * (k[0][a] + 2 * k[1][a] + 2 * k[2][a] + k[3][a]);
  }
  memcpy(p->g, y, sizeof y);
}

static void by_gsl(void *self) {
  problem *p = self;
  double t = 0, y[4] = {0};
  p->evaluations = 0;
  gsl_odeiv2_driver_reset_hstart(p->driver, 1e-2);
  if (gsl_odeiv2_driver_apply(p->driver, &t, 1, y)) fail_msg("gsl_odeiv2 failed");
  memcpy(p->g, y, sizeof y);
}

static double off(const problem *p, const double *exact) {
  double worst = 0;
  for (int a = 0; a < (p->measured ? 4 : 3); a++) worst = fmax(worst, fabs(p->g[a] - exact[a]));
  return worst;
}

static void holonomies(bench *b) {
  cb_bundle *purcell = model("purcell", "");
  cb_gait *gait = NULL;
  check_ok(cb_gait_fourier(2, 1, (const double[]){0, 0}, (const double[]){1, 0}, (const double[]){0, 1}, &gait));
  problem exact = {.b = purcell, .gait = gait, .measured = true};
  by_holonomy(&exact);

  const problem blank = {.b = purcell, .gait = gait, .measured = true, .options = {.error = error}};
  problem with = blank, without = blank, fourth = blank, plain = blank, rk4 = blank, rk8 = blank;
  without.measured = false;
  fourth.options.order = 4;
  plain.options = (cb_holonomy_options){.order = 6, .step = .1};
  do { /* finds the longest equal steps with this accuracy */
    plain.options.step /= 1.1;
    by_holonomy(&plain);
  } while (off(&plain, exact.g) > error);
  rk4.steps = 50;
  do {
    rk4.steps += rk4.steps / 8;
    by_rk4(&rk4);
  } while (off(&rk4, exact.g) > error);
  gsl_odeiv2_system system = {rhs, NULL, 4, &rk8};
  rk8.driver = gsl_odeiv2_driver_alloc_y_new(&system, gsl_odeiv2_step_rk8pd, 1e-2, error, 0);
  struct {
    const char *name;
    problem *p;
    void (*run)(void *self);
  } row[] = {{"cb_holonomy to 1e-11, with length", &with, by_holonomy},
             {"cb_holonomy to 1e-11, without", &without, by_holonomy},
             {"order 4 to 1e-11, with length", &fourth, by_holonomy},
             {"order 6, longest even steps of that error", &plain, by_holonomy},
             {"rk4, longest even steps of that error", &rk4, by_rk4},
             {"gsl rk8pd, told 1e-11 a step", &rk8, by_gsl}};
  enum { ROWS = sizeof row / sizeof *row };
  b->n = 0;
  for (int i = 0; i < ROWS; i++) bench_add(b, row[i].name, row[i].run, row[i].p, 1);
  bench_go(b, 400);
  printf("\nPurcell's unit circle\n  %-44s %9s %9s %11s\n", "", "us", "ratio", "error");
  for (int i = 0; i < ROWS; i++)
    printf("  %-44s %9.1f %9.2f %11.1e\n", row[i].name, 1e6 * b->subject[i].cpu, b->subject[i].cpu / b->subject[0].cpu,
           off(row[i].p, exact.g));
  bench_judge(b, "holonomy of a Purcell gait to 1e-11, with length", 1e6 * b->subject[0].cpu, "<=", 100, "us");
  bench_judge(b, "its error", off(&with, exact.g), "<=", error, "");
  gsl_odeiv2_driver_free(rk8.driver);
  cb_gait_free(gait);
  cb_bundle_free(purcell);
}

typedef struct grid {
  cb_bundle *b;
  int points;
  double *B;
} grid;

static void curvature(void *self) {
  grid *g = self;
  for (int i = 0; i < g->points; i++)
    for (int j = 0; j < g->points; j++) {
      const double r[2] = {-3 + 6. * i / (g->points - 1), -3 + 6. * j / (g->points - 1)};
      check_ok(cb_bundle_curvature(g->b, r, 0, 1, g->B + 3 * (i * g->points + j)));
    }
}

static void curvatures(bench *b) {
  grid g = {.b = model("purcell", ""), .points = b->quick ? 16 : 512};
  g.B = calloc((size_t)(3 * g.points * g.points), sizeof *g.B);
  assert_non_null(g.B);
  b->n = 0;
  bench_add(b, "curvature", curvature, &g, 1);
  bench_go(b, 15);
  printf("\ncurvature of Purcell's swimmer on %d x %d shapes: %.1f ms, %.0f ns a shape\n", g.points, g.points,
         1e3 * b->subject[0].cpu, 1e9 * b->subject[0].cpu / (g.points * g.points));
  bench_judge(b, "curvature on a 512 x 512 grid", b->subject[0].cpu, "<=", .1, "s");
  free(g.B);
  cb_bundle_free(g.b);
}

typedef struct chain {
  cb_bundle *b;
  int calls;
  double A[33], dA[11 * 33], M[121], dM[11 * 121];
} chain;

static void shape_of(const chain *c, int k, double *r) {
  for (int i = 0; i < c->b->n; i++) r[i] = .3 * (i % 3) - .2 + 1e-3 * k;
}

static void values(void *self) {
  chain *c = self;
  double r[11];
  for (int k = 0; k < c->calls; k++) {
    shape_of(c, k, r);
    check_ok(cb_bundle_connection(c->b, r, c->A, NULL, NULL, NULL));
  }
}

static void derivatives(void *self) {
  chain *c = self;
  double r[11];
  for (int k = 0; k < c->calls; k++) {
    shape_of(c, k, r);
    check_ok(cb_bundle_connection(c->b, r, c->A, c->dA, c->M, c->dM));
  }
}

/* Times A, dA, M and dM; the connection A and its derivatives dA determine the curvature B. */
static void fish(bench *b) {
  chain c = {.b = model("perfect_fish", ""), .calls = b->quick ? 1 : 40};
  b->n = 0;
  bench_add(b, "derivatives", derivatives, &c, c.calls);
  bench_go(b, 25);
  printf("\nconnection and curvature of a three-link fish in a perfect fluid, 64 nodes a body: %.2f ms\n",
         1e3 * b->subject[0].cpu);
  bench_judge(b, "A and B of a three-link fish", 1e3 * b->subject[0].cpu, "<=", 1, "ms");
  cb_bundle_free(c.b);
}

static void chains(bench *b) {
  static const int links[] = {3, 5, 10, 12};
  enum { CASES = sizeof links / sizeof *links };
  chain c[CASES];
  double ten = 0;
  printf("\nconnections of chains, us\n  %-12s %14s %24s\n", "links", "A", "A, dA, M, dM");
  for (int i = 0; i < CASES; i++) {
    char text[32];
    snprintf(text, sizeof text, "links %d", links[i]);
    c[i] = (chain){.b = model("purcell", text), .calls = b->quick ? 2 : 2000};
    b->n = 0;
    bench_add(b, "values", values, &c[i], c[i].calls);
    bench_add(b, "derivatives", derivatives, &c[i], c[i].calls);
    bench_go(b, 25);
    printf("  %-12d %14.3f %24.3f\n", links[i], 1e6 * b->subject[0].cpu, 1e6 * b->subject[1].cpu);
    if (links[i] == 10) ten = b->subject[0].cpu;
    cb_bundle_free(c[i].b);
  }
  bench_judge(b, "connection of the ten-link swimmer", 1e6 * ten, "<=", 20, "us");
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "gait: holonomies, curvatures and connections, one thread");
  holonomies(&b);
  curvatures(&b);
  chains(&b);
  fish(&b);
  return b.missed > 0;
}
