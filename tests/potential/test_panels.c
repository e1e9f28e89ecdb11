/* Tests of panels with constant sources and dipoles, whose potentials are S and D: closed forms against quadrature,
 * gradients against differences, jumps, and vector kernels against one panel at a time.
 */
#include "core/threads.h"
#include "panel_formulas.h"
#include "potential.h"
#include "potential/panels.h"

#include <gsl/gsl_integration.h>

typedef struct triangle {
  const double (*corner)[3];
  const double *x;
  double normal[3], area;
  bool dipole;
  double u;
  gsl_integration_workspace *inner;
} triangle;

/* Returns 1/(4 pi r) at the distance r of the point (u, v) of the panel from x, or the slope of this function along the
 * normal of the panel. */
static double kernel(const triangle *t, double u, double v) {
  double d[3];
  for (int k = 0; k < 3; k++)
    d[k] =
        t->corner[0][k] + u * (t->corner[1][k] - t->corner[0][k]) + v * (t->corner[2][k] - t->corner[0][k]) - t->x[k];
  const double r2 = cb_dot3(d, d), r = sqrt(r2);
  return (t->dipole ? -cb_dot3(d, t->normal) / (r2 * r) : 1 / r) / (4 * M_PI);
}

static double at_v(double v, void *context) {
  const triangle *t = context;
  return kernel(t, t->u, v);
}

static double at_u(double u, void *context) {
  triangle *t = context;
  double sum, error;
  t->u = u;
  const gsl_function f = {at_v, t};
  gsl_integration_qag(&f, 0, 1 - u, 1e-14, 1e-13, 400, GSL_INTEG_GAUSS31, t->inner, &sum, &error);
  return sum;
}

static double quadrature(const double corner[3][3], const double x[3], bool dipole) {
  gsl_integration_workspace *outer = gsl_integration_workspace_alloc(400);
  triangle t = {.corner = corner, .x = x, .dipole = dipole, .inner = gsl_integration_workspace_alloc(400)};
  double n2[3], sum, error;
  cb_normal3(corner[0], corner[1], corner[2], n2);
  const double twice = sqrt(cb_dot3(n2, n2));
  for (int k = 0; k < 3; k++) t.normal[k] = n2[k] / twice;
  const gsl_function f = {at_u, &t};
  gsl_integration_qag(&f, 0, 1, 1e-13, 1e-12, 400, GSL_INTEG_GAUSS31, outer, &sum, &error);
  gsl_integration_workspace_free(outer);
  gsl_integration_workspace_free(t.inner);
  return sum * twice;
}

static void random_triangle(uint64_t *state, double corner[3][3]) {
  for (int k = 0; k < 9; k++) corner[k / 3][k % 3] = check_uniform(state, -1, 1);
}

static void potentials_are_the_integrals(void **unused) {
  uint64_t state = check_seed();
  for (int trial = 0; trial < 40; trial++) {
    double corner[3][3], x[3], S, D;
    random_triangle(&state, corner);
    const double far = trial % 4 == 0 ? 10 : 1;
    for (int k = 0; k < 3; k++) x[k] = far * check_uniform(&state, -1, 1);
    panel_potential(corner, x, &S, &D);
    check_near(S, quadrature(corner, x, false), 1e-11); /* the tolerance is the error of the quadrature near edges */
    check_near(D, quadrature(corner, x, true), 1e-10);
  }
}

/* The distance of the point from the panel is a fiftieth of the panel's size. */
static void near_points_are_exact(void **unused) {
  const double corner[3][3] = {{0, 0, 0}, {1, 0, 0}, {0.2, 0.9, 0}}, x[3] = {0.4, 0.3, 0.02};
  double S, D;
  panel_potential(corner, x, &S, &D);
  check_near(S, quadrature(corner, x, false), 1e-10);
  check_near(D, quadrature(corner, x, true), 1e-9);
}

/* At the centre of a triangle with sides 1, the distance to all edges is 1/(2 √3). This gives
 * 4 pi S = 3/(2 √3) ln((2 + √3)/(2 - √3)). */
static void an_equilateral_triangle_is_a_closed_form(void **unused) {
  const double corner[3][3] = {{0, 0, 0}, {1, 0, 0}, {0.5, sqrt(0.75), 0}}, x[3] = {0.5, sqrt(0.75) / 3, 0};
  double S, D;
  panel_potential(corner, x, &S, &D);
  check_relative(4 * M_PI * S, 3 / (2 * sqrt(3)) * log((2 + sqrt(3)) / (2 - sqrt(3))), 1e-15);
  assert_true(D == 0);
}

static void gradients_are_differences(void **unused) {
  uint64_t state = check_seed();
  for (int trial = 0; trial < 60; trial++) {
    double corner[3][3], x[3], S[3], D[3];
    random_triangle(&state, corner);
    for (int k = 0; k < 3; k++) x[k] = check_uniform(&state, -2, 2);
    panel_velocity(corner, x, S, D);
    const double size = sqrt(cb_dot3(D, D));
    if (size > 5) continue; /* next to an edge, where differences are inaccurate */
    for (int k = 0; k < 3; k++) {
      const double h = 1e-3;
      double s[4], d[4];
      for (int i = 0; i < 4; i++) {
        double y[3] = {x[0], x[1], x[2]};
        y[k] += h * (i < 2 ? i - 2 : i - 1);
        panel_potential(corner, y, s + i, d + i);
      }
      /* The differences are of fourth order. Their error is the fifth derivative times h^4/30, about 1e-9 where the
       * gradient is of order 5. */
      check_near(S[k], (8 * (s[2] - s[1]) - (s[3] - s[0])) / (12 * h), 1e-7 * (1 + size * size));
      check_near(D[k], (8 * (d[2] - d[1]) - (d[3] - d[0])) / (12 * h), 1e-6 * (1 + size * size * size));
    }
  }
}

/* At the panel's centre D jumps by 1 along the normal and is 0 on the panel. The slope of S along the normal jumps by
 * -1. */
static void potentials_jump(void **unused) {
  uint64_t state = check_seed();
  for (int trial = 0; trial < 20; trial++) {
    double corner[3][3], n[3], S[2], D[2], dS[2][3], dD[2][3];
    random_triangle(&state, corner);
    cb_normal3(corner[0], corner[1], corner[2], n);
    const double twice = sqrt(cb_dot3(n, n)), h = 1e-9;
    for (int side = 0; side < 2; side++) {
      double x[3];
      for (int k = 0; k < 3; k++)
        x[k] = (corner[0][k] + corner[1][k] + corner[2][k]) / 3 + (side ? h : -h) * n[k] / twice;
      panel_potential(corner, x, S + side, D + side);
      panel_velocity(corner, x, dS[side], dD[side]);
    }
    /* The error is of order h divided by the distance to the edges. The tolerance is 100 h divided by twice the
     * area. */
    const double tolerance = 1e2 * h / twice;
    check_near(S[1], S[0], tolerance);
    check_near(D[1] - D[0], 1, tolerance);
    check_near((cb_dot3(dS[1], n) - cb_dot3(dS[0], n)) / twice, -1, tolerance);
    for (int k = 0; k < 3; k++) check_near(dD[1][k], dD[0][k], tolerance * 1e2 / twice);
  }
}

/* At corners and on edges all values are finite, and S is the limit of nearby values. */
static void corners_and_edges_are_finite(void **unused) {
  const double corner[3][3] = {{0, 0, 0}, {1, 0, 0}, {0.2, 0.9, 0}};
  for (int place = 0; place < 9; place++) {
    double x[3], S, near_S, D, dS[3], dD[3];
    for (int k = 0; k < 3; k++)
      x[k] = place < 3   ? corner[place][k]
             : place < 6 ? 0.5 * (corner[place - 3][k] + corner[(place - 2) % 3][k])
                         /* on the line of an edge, outside the edge */
                         : 2 * corner[place - 6][k] - corner[(place - 5) % 3][k];
    panel_potential(corner, x, &S, &D);
    panel_velocity(corner, x, dS, dD);
    x[2] += 1e-12;
    panel_potential(corner, x, &near_S, NULL);
    check_near(S, near_S, 1e-10); /* the error is of order h ln h for h = 1e-12 */
    assert_true(isfinite(D) && fabs(D) <= 0.5);
    for (int k = 0; k < 3; k++) assert_true(isfinite(dS[k]) && isfinite(dD[k]));
  }
}

/* For a closed surface with outward normals, the sum of D over the panels is -1 inside, -1/2 on the surface, and 0
 * outside. */
static void rows_add_up(void **unused) {
  solid_mesh m = ellipsoid_mesh(6, 1, 0.7, 1e-3);
  cb_panels *p = NULL;
  check_ok(cb_panels_create(m.faces, (const double(*)[3])m.x, (const int(*)[3])m.face, &p));
  double *D = malloc((size_t)m.faces * sizeof *D);
  for (int i = -2; i < m.faces; i++) {
    const double inside[3] = {0.1, 0.1, 0}, outside[3] = {0.1, 0.1, 0.01};
    double sum = 0;
    cb_panels_row(p, i == -2 ? inside : i == -1 ? outside : p->centre[i], m.faces, NULL, i, NULL, D);
    for (int j = 0; j < m.faces; j++) sum += D[j];
    /* the tolerance is round-off divided by the thickness of the body */
    check_near(sum, i == -2 ? -1 : i == -1 ? 0 : -0.5, 1e-12);
  }
  free(D);
  cb_panels_free(p);
  free_mesh(&m);
}

/* Vector kernels of every instruction set agree with one panel at a time, for all panels, a range, and a selection. */
static void vectors_are_panels(void **unused) {
  static const char *const names[] = {CB_ISA_BASE, "avx2", "avx512"};
  uint64_t state = check_seed();
  solid_mesh m = ellipsoid_mesh(5, 1, 0.5, 0.01);
  const int n = m.faces;
  double *S = malloc((size_t)n * sizeof *S), *D = malloc((size_t)n * sizeof *D);
  int *which = malloc((size_t)n * sizeof *which);
  for (int i = 0; i < n; i++) which[i] = (i * 37 + 5) % n;
  for (int isa = 0; isa < 3; isa++) {
    if (cb_isa_set(names[isa])) continue;
    cb_panels *p = NULL;
    check_ok(cb_panels_create(n, (const double(*)[3])m.x, (const int(*)[3])m.face, &p));
    for (int trial = 0; trial < 60; trial++) {
      const int self = trial % 3 == 0 ? (trial * 7) % n : -1, first = trial % 5, kind = trial % 4;
      const int count = kind == 0 ? n : kind == 1 ? n - 11 : 13 + trial;
      /* The point is a centre, a vertex, a point next to an edge, or random. Next to an edge D may have the value of
       * either side. */
      const bool touching = trial % 3 == 1;
      const int *edge = m.face[trial];
      double at[3];
      for (int k = 0; k < 3; k++)
        at[k] = !touching        ? check_uniform(&state, -1, 1)
                : trial % 2 == 0 ? m.x[trial][k]
                                 : 0.3 * m.x[edge[0]][k] + 0.7 * m.x[edge[1]][k] + 1e-8 * k;
      const double *x = self >= 0 ? p->centre[self] : at;
      if (kind == 0)
        cb_panels_row(p, x, n, NULL, self, S, D);
      else if (kind == 1)
        cb_panels_range(p, x, first, count, self >= first && self < first + count ? self - first : -1, S, D);
      else if (kind == 2) {
        cb_panels_row(p, x, count, which, -1, S, NULL);
        cb_panels_row(p, x, count, which, -1, NULL, D);
      } else
        cb_panels_row(p, x, count, which, -1, S, D);
      for (int i = 0; i < count; i++) {
        const int j = kind == 0 ? i : kind == 1 ? first + i : which[i];
        double s, d;
        panel_potential((const double(*)[3])p->corner[j], x, &s, &d);
        check_near(S[i], s, 4e-16); /* a few units in the last place of terms below 1 */
        if (j != self || kind < 2) check_near(D[i], j == self ? 0 : d, touching ? 1 : 1e-14 / 0.01);
      }
    }
    cb_panels_free(p);
  }
  check_ok(cb_isa_set("auto"));
  free(S);
  free(D);
  free(which);
  free_mesh(&m);
}

/* Vector kernels of gradients, and of slopes along a direction, agree with one panel at a time, up to an error that
 * grows like 1/distance. */
static void vectors_of_gradients_are_panels(void **unused) {
  static const char *const names[] = {CB_ISA_BASE, "avx2", "avx512"};
  enum { MOST = 200 };
  uint64_t state = check_seed();
  solid_mesh m = ellipsoid_mesh(5, 1, 0.5, 0.1);
  double S[3 * MOST], D[3 * MOST], s[MOST], d[MOST];
  int which[MOST];
  assert_int_equal(m.faces, MOST);
  for (int i = 0; i < MOST; i++) which[i] = (i * 37 + 5) % MOST;
  for (int isa = 0; isa < 3; isa++) {
    if (cb_isa_set(names[isa])) continue;
    cb_panels *p = NULL;
    check_ok(cb_panels_create(MOST, (const double(*)[3])m.x, (const int(*)[3])m.face, &p));
    for (int trial = 0; trial < 60; trial++) {
      const int self = trial % 3 == 0 ? (trial * 7) % MOST : -1, first = trial % 5, count = MOST - 5 - trial % 11;
      const double far = trial % 2 ? 1 : 8, direction[3] = {0.3, -0.7, 0.2};
      double at[3];
      for (int k = 0; k < 3; k++) at[k] = far * check_uniform(&state, -1, 1);
      const double *x = self >= 0 ? p->centre[self] : at;
      cb_panels_gradients(p, x, first, count, MOST, S, D);
      cb_panels_slopes(p, x, direction, (cb_panel_choice){first, count, trial % 2 ? which : NULL, -1}, s, d);
      for (int i = 0; i < count; i++) {
        double u[3], v[3], slope[2] = {0};
        panel_velocity((const double(*)[3])p->corner[first + i], x, u, v);
        /* On the panel itself the slope of S along its normal jumps. */
        for (int k = 0; k < 3 && first + i != self; k++) {
          check_near(S[k * MOST + i], u[k], 1e-13);
          check_near(D[k * MOST + i], v[k], 1e-12 * (1 + fabs(v[k])));
        }
        const int j = trial % 2 ? which[i] : first + i;
        if (j == self) continue;
        panel_velocity((const double(*)[3])p->corner[j], x, u, v);
        for (int k = 0; k < 3; k++) {
          slope[0] += direction[k] * u[k];
          slope[1] += direction[k] * v[k];
        }
        check_near(s[i], slope[0], 1e-13);
        check_near(d[i], slope[1], 1e-12 * (1 + sqrt(cb_dot3(v, v))));
      }
    }
    cb_panels_slopes(p, p->centre[3], p->normal[3], (cb_panel_choice){0, 8, NULL, 3}, s, d);
    /* The panel's dipoles are a ring of vortices. It drives the fluid through itself in the direction opposite to its
     * jump. */
    assert_true(s[3] == 0 && d[3] < 0);
    cb_panels_free(p);
  }
  check_ok(cb_isa_set("auto"));
  free_mesh(&m);
}

static void a_face_of_no_area_is_named(void **unused) {
  const double x[4][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {2, 0, 0}};
  const int face[2][3] = {{0, 1, 2}, {0, 1, 3}};
  cb_panels *p = NULL;
  assert_int_equal(cb_panels_create(2, x, face, &p), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "face 2 at (1, 0, 0) has no area: expected an area > 0"));
  assert_null(p);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(potentials_are_the_integrals),
      cmocka_unit_test(near_points_are_exact),
      cmocka_unit_test(an_equilateral_triangle_is_a_closed_form),
      cmocka_unit_test(gradients_are_differences),
      cmocka_unit_test(potentials_jump),
      cmocka_unit_test(corners_and_edges_are_finite),
      cmocka_unit_test(rows_add_up),
      cmocka_unit_test(vectors_are_panels),
      cmocka_unit_test(vectors_of_gradients_are_panels),
      cmocka_unit_test(a_face_of_no_area_is_named),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
