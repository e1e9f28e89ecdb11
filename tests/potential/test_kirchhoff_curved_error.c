/* Tests that the estimated error of Kirchhoff's tensor in S^3 and H^3 is not below the true one, with two and three
 * levels of faces. The references are balls and tubes with closed forms, and quadrics by the method of fundamental
 * solutions with 10 digits, or by finer faces. */
#include "curved_bodies.h"

#include "numerics/numerics_curved.h"
#include "potential/refine.h"

enum { BALL, QUADRIC, TUBE, COARSEST = 8, ROUND = 16, ABOUT = 5 };

typedef struct body {
  int kind;
  double K, a, axes[3];
  cb_surface *level;
} body;

/* Makes the mesh of a tube of radius a around the great circle x^2 + y^2 = 1. */
static cb_surface *tube(double a, int round, int about) {
  double(*x)[3] = malloc((size_t)(round * about) * sizeof *x);
  int(*face)[3] = malloc((size_t)(2 * round * about) * sizeof *face);
  cb_surface *s;
  for (int i = 0; i < round; i++)
    for (int j = 0; j < about; j++) {
      const double u = 2 * M_PI * i / round, v = 2 * M_PI * (j + .5) / about;
      const double y[4] = {cos(a) * cos(u), cos(a) * sin(u), sin(a) * cos(v), sin(a) * sin(v)};
      const int next = (i + 1) % round * about, over = (j + 1) % about, at = i * about;
      int *f = face[2 * (at + j)], *g = face[2 * (at + j) + 1];
      cb_curved_normal(1, y, x[at + j]);
      f[0] = at + j;
      f[1] = next + j;
      f[2] = next + over;
      g[0] = at + j;
      g[1] = next + over;
      g[2] = at + over;
    }
  check_ok(cb_surface_make(round * about, (const double(*)[3])x, 2 * round * about, (const int(*)[3])face, NULL, &s));
  free(x);
  free(face);
  return s;
}

static cb_status mesh(void *context, int level, int *vertices, const double (**x)[3], int *faces,
                      const int (**face)[3]) {
  body *b = context;
  cb_surface_free(b->level);
  b->level = b->kind == TUBE   ? tube(b->a, ROUND << level, ABOUT << level)
             : b->kind == BALL ? curved_ball(b->a, COARSEST << level, b->K, CB_CHART_EXPONENTIAL)
                               : curved_quadric(b->axes, COARSEST << level, b->K);
  *vertices = b->level->vertices;
  *faces = b->level->faces;
  *x = (const double(*)[3])b->level->x;
  *face = (const int(*)[3])b->level->face;
  return CB_OK;
}

static cb_potential_estimate estimate(const body *of, int levels, double *radius) {
  body b = *of;
  cb_potential_estimate e;
  cb_potential_level level[CB_POTENTIAL_LEVELS];
  cb_kirchhoff_report report;
  int n, faces;
  const cb_potential_body all = {.context = &b, .mesh = mesh, .least = levels, .level = level, .levels = &n};
  check_ok(cb_kirchhoff_refined(&all, 10, &(cb_kirchhoff_options){.curvature = of->K}, &e, &report, &faces));
  cb_surface_free(b.level);
  *radius = level[n - 1].radius;
  return e;
}

/* Returns the maximum error of the diagonal of the tensor, relative to its largest entry for translations. Errors of
 * entries for rotations are divided by radius^2, as in the estimate. */
static double error_of(const cb_potential_estimate *e, const double K[6], double radius) {
  double most = 0, error = 0;
  for (int i = 3; i < 6; i++) most = fmax(most, K[i]);
  for (int i = 0; i < 6; i++)
    error = fmax(error, fabs(e->mass.K[i][i] - K[i]) / (most * (i < 3 ? radius * radius : 1)));
  return error;
}

/* Returns the added mass of a ball of radius a in curvature K. In H^3 it is (2 pi/3) sinh^3 a/cosh a. In S^3 it is (2
 * pi/3) N S^3/(S^3 + N C), with N = pi - a + S C, S = sin a, C = cos a. */
static double ball(double K, double a) {
  const double S = K < 0 ? sinh(a) : sin(a), C = K < 0 ? cosh(a) : cos(a), N = M_PI - a + S * C;
  return K < 0 ? 2 * M_PI / 3 * S * S * S / C : 2 * M_PI / 3 * N * S * S * S / (S * S * S + N * C);
}

static void check_body(const char *name, const body *b, const double K[6]) {
  for (int levels = 2; levels <= 3; levels++) {
    double radius;
    const cb_potential_estimate e = estimate(b, levels, &radius);
    const double error = error_of(&e, K, radius);
    print_message("%-10s K %2g a %.3f, %d levels: error %.1e, estimate %.1e\n", name, b->K, b->a, levels, error,
                  e.error);
    check_at_least(e.error, error);
    if (levels == 3) assert_true(e.error < .05); /* the estimate must also be small enough to be useful */
  }
}

static void of_balls(void **unused) {
  static const double of[][2] = {{-1, .5}, {-1, 1}, {-1, 2}, {1, .5}, {1, 1}, {1, 1.5707963267948966}, {1, 2.5}};
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    const double k = ball(of[i][0], of[i][1]), K[6] = {0, 0, 0, k, k, k};
    check_body("ball", &(body){.kind = BALL, .K = of[i][0], .a = of[i][1]}, K);
  }
}

static void of_quadrics(void **unused) {
  static const double known[2][6] = {{.0036455394, .0153159809, .0034581361, .2116121666, .3299998762, .5460661032},
                                     {.0007738390, .0026044675, .0004982475, .1433059009, .1850536967, .2635774368}};
  for (int s = 0; s < 2; s++)
    check_body("quadric", &(body){.kind = QUADRIC, .K = s ? 1 : -1, .axes = {.6, .5, .4}}, known[s]);
}

static void of_thin_quadrics(void **unused) {
  for (int s = 0; s < 2; s++) {
    const body b = {.kind = QUADRIC, .K = s ? 1 : -1, .axes = {.6, .6, .06}};
    double radius, K[6];
    const cb_potential_estimate e = estimate(&b, 4, &radius); /* the finest of the four levels has 5120 faces */
    for (int i = 0; i < 6; i++) K[i] = e.mass.K[i][i];
    check_body("thin", &b, K);
  }
}

static void of_tubes(void **unused) {
  for (int i = 0; i < 3; i++) {
    const double a = i == 0 ? .2 : i == 1 ? .4 : M_PI / 4, k = pow(M_PI * sin(a) * cos(a), 2);
    check_body("tube", &(body){.kind = TUBE, .K = 1, .a = a}, (const double[6]){k, k, 0, k, k, 0});
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(of_balls),
      cmocka_unit_test(of_quadrics),
      cmocka_unit_test(of_thin_quadrics),
      cmocka_unit_test(of_tubes),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
