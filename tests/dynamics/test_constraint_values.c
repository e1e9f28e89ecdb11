/* Tests of angles, areas, volumes and knife edges: known values, and cases without a value. */
#include "check_constraints.h"
#include <gsl/gsl_integration.h>

extern const cb_constraint_class cb_constraint_angle, cb_constraint_area, cb_constraint_volume;

static const double pi = 3.14159265358979323846;

/* Returns the value of one element of a constraint class at `width` points x of the embedding. */
static double element_value(const cb_space *g, const cb_constraint_class *type, int width, double (*x)[COORDS]) {
  cb_constraints c = {.space = g};
  cb_constraint row = {.class = type, .elements = 1, .width = width, .world = -1};
  const double *at[CB_ELEMENT_PARTICLES];
  static cb_element e;
  for (int i = 0; i < width; i++) at[i] = x[i];
  memset(&e, 0, sizeof e);
  check_ok(type->element(&c, &row, 0, 0, at, 0, &e));
  return e.value;
}

/* Computes the end points x[n] of geodesics of the lengths d[n] from the base point, in n directions of the orthonormal
 * frame. */
static void star(const cb_space *g, int n, const double (*direction)[CB_DIM_MAX], const double *d,
                 double (*x)[COORDS]) {
  for (int i = 0; i < n; i++) {
    double c[CB_DIM_MAX];
    for (int a = 0; a < g->dim; a++) c[a] = d[i] * direction[i][a];
    check_point_at(g, c, x[i]);
  }
}

static void angles_in(const cb_space *g, uint64_t *seed) {
  for (int n = 0; n < 20; n++) {
    double x[POINTS + 1][COORDS], u[COORDS], v[COORDS];
    some_points(g, seed, 0.9, x);
    check_ok(cb_log(g, x[1], x[0], u));
    check_ok(cb_log(g, x[1], x[2], v));
    double cosine = cb_inner(g, u, v) / sqrt(cb_inner(g, u, u) * cb_inner(g, v, v));
    double angle = element_value(g, &cb_constraint_angle, 3, x);
    check_near(angle, acos(cosine), 1e-13 / sqrt(1 - cosine * cosine));
    if (g->n_factors > 1) continue;
    /* K A = sum of angles - pi, with the curvature K and the area A */
    double area = element_value(g, &cb_constraint_area, 3, x), sum = angle - pi;
    for (int i = 0; i < 2; i++) {
      double first[COORDS];
      memcpy(first, x[0], sizeof first);
      memmove(x[0], x[1], 2 * sizeof *x);
      memcpy(x[2], first, sizeof first);
      sum += element_value(g, &cb_constraint_angle, 3, x);
    }
    check_near(g->factor[0].curvature * area, sum, 1e-12);
  }
}

static void angles_are_those_of_tangents_and_areas_their_excess(void **state) { check_every_space(angles_in); }

static void equilateral_triangles_have_their_angles_and_areas(void **state) {
  static const char *const name[] = {"e3", "s3", "h3", "s2", "h2", "e2"};
  for (int n = 0; n < 6; n++) {
    cb_space *g;
    check_ok(cb_space_create(name[n], NULL, &g));
    const double curvature = g->factor[0].curvature;
    for (double a = 1e-5; a < 1.2; a *= 3) {
      double x[3][COORDS], angle = pi / 3;
      if (curvature > 0) angle = acos(cos(a) / (1 + cos(a)));
      if (curvature < 0) angle = acos(cosh(a) / (1 + cosh(a)));
      star(g, 2, (const double[2][CB_DIM_MAX]){{1}, {cos(angle), sin(angle)}}, (double[]){a, a}, x + 1);
      cb_space_base_point(g, x[0]);
      double at[3][COORDS];
      for (int i = 0; i < 3; i++) memcpy(at[i], x[(i + 2) % 3], sizeof at[i]);
      check_near(element_value(g, &cb_constraint_angle, 3, at), angle, 2e-16 / a + 1e-14);
      /* for small sides a the area is sqrt(3)/4 a^2 (1 + K a^2/8 + ...) */
      if (a < 1e-3)
        check_relative(element_value(g, &cb_constraint_area, 3, at), sqrt(3) / 4 * a * a * (1 + curvature * a * a / 8),
                       1e-9 * a + 3e-16 / a);
    }
    cb_space_free(g);
  }
}

static void octant_of_a_sphere_has_area_and_volume(void **state) {
  cb_space *g;
  check_ok(cb_space_create("s2", NULL, &g));
  double x[3][COORDS] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  check_near(element_value(g, &cb_constraint_area, 3, x), pi / 2, 4e-15);
  check_near(element_value(g, &cb_constraint_angle, 3, x), pi / 2, 4e-15);
  cb_space_free(g);
  /* A cell of the 16-cell, a sixteenth of S^3, has the volume 2 pi^2/16. A cell of the 600-cell, with the edges pi/5,
   * has the volume 2 pi^2/600. */
  check_ok(cb_space_create("s3", NULL, &g));
  double y[4][COORDS] = {{0, 0, 0, 1}, {1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}};
  check_near(element_value(g, &cb_constraint_volume, 4, y), pi * pi / 8, 1e-11);
  double c = cos(pi / 5), cosine = c / (1 + c); /* `cosine` is the cosine of the angle between two edges */
  double s = sqrt(1 - cosine * cosine), z = cosine * (1 - cosine) / s, d = pi / 5;
  star(g, 3, (const double[3][CB_DIM_MAX]){{1}, {cosine, s}, {cosine, z, sqrt(1 - cosine * cosine - z * z)}},
       (double[]){d, d, d}, y + 1);
  check_relative(element_value(g, &cb_constraint_volume, 4, y), pi * pi / 300, 1e-14);
  cb_space_free(g);
}

static void cube_has_volume_signed_by_its_orientation(void **state) {
  static const int face[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                  {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
  for (int inside_out = 0; inside_out < 2; inside_out++)
    for (int chart = 0; chart < 2; chart++) {
      cb_space *g;
      cb_builder *b;
      cb_system *s;
      cb_forces *f;
      int turned[12][3];
      double value;
      check_map m;
      check_ok(cb_space_create("e3", chart ? check_map_fill(&m, "chart", "polar", NULL, NULL) : NULL, &g));
      check_ok(cb_builder_create(g, &b));
      check_ok(cb_builder_body(b, "cube", NULL));
      for (int i = 0; i < 8; i++) {
        double x[COORDS] = {(i & 1) + 0.3, (i >> 1 & 1) + 0.2, (i >> 2) + 0.4}, q[COORDS];
        memcpy(q, x, sizeof q);
        if (chart) check_ok(g->chart->from_point(g, x, q));
        check_ok(cb_builder_particle(b, NULL, 1, 0, 0, q, NULL, NULL));
      }
      memcpy(turned, face, sizeof face);
      for (int t = 0; inside_out && t < 12; t++) {
        turned[t][1] = face[t][2];
        turned[t][2] = face[t][1];
      }
      check_ok(cb_builder_volume(b, "bag", 12, (const int(*)[3])turned, (cb_target){.value = 0.25}));
      check_ok(cb_builder_finish(b, &s));
      cb_builder_free(b);
      check_ok(cb_forces_create(s, &f));
      double x[8 * COORDS];
      cb_state *start;
      check_ok(cb_state_create(s, &start));
      check_ok(cb_system_start(s, start));
      memcpy(x, start->x, (size_t)(8 * g->k) * sizeof *x);
      check_ok(cb_constraints_eval(cb_forces_constraints(f), 0, x, &value, NULL));
      check_near(value + 0.25, inside_out ? -1 : 1, 1e-14);
      assert_string_equal(cb_system_constraint_name(s, 0), "bag");
      cb_state_free(start);
      cb_forces_free(f);
      cb_system_free(s);
      cb_space_free(g);
    }
}

/* Returns the volume of a geodesic tetrahedron by the projective model. The point (x, w) of the embedding has the
 * coordinates y = x/w, in which the tetrahedron is straight, and the volume element is R^3 dy/(1 + sign(K) |y|^2)^2
 * with the curvature K and R = 1/sqrt(|K|). */
static double projective_volume(const cb_space *g, double (*x)[COORDS]) {
  enum { N = 32 };
  const double curvature = g->factor[0].curvature, r = 1 / sqrt(fabs(curvature));
  double y[4][3], e[3][3], sum = 0;
  for (int i = 0; i < 4; i++)
    for (int a = 0; a < 3; a++) y[i][a] = x[i][a] / x[i][3];
  for (int i = 0; i < 3; i++)
    for (int a = 0; a < 3; a++) e[i][a] = y[i + 1][a] - y[0][a];
  double det = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) - e[0][1] * (e[1][0] * e[2][2] - e[1][2] * e[2][0]) +
               e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  gsl_integration_glfixed_table *table = gsl_integration_glfixed_table_alloc(N);
  for (size_t i = 0; i < N; i++)
    for (size_t j = 0; j < N; j++)
      for (size_t l = 0; l < N; l++) {
        double a, b, c, wa, wb, wc, square = 0;
        gsl_integration_glfixed_point(0, 1, i, &a, &wa, table);
        gsl_integration_glfixed_point(0, 1, j, &b, &wb, table);
        gsl_integration_glfixed_point(0, 1, l, &c, &wc, table);
        for (int n = 0; n < 3; n++) { /* the weights of the corners are 1 - a, a (1 - b), a b (1 - c) and a b c */
          double z = y[0][n] + a * (e[0][n] + b * (e[1][n] - e[0][n] + c * (e[2][n] - e[1][n])));
          square += z * z;
        }
        double q = 1 + (curvature > 0 ? square : -square);
        sum += wa * wb * wc * a * a * b / (q * q);
      }
  gsl_integration_glfixed_table_free(table);
  return r * r * r * det * sum;
}

static void tetrahedra_have_the_volume_of_the_projective_model(void **state) {
  static const char *const name[] = {"s3", "h3", "s3", "h3"}, *const curvature[] = {"1", "-1", "2.5", "-0.3"};
  static const double edge[] = {1e-4, 0.03, 0.3, 1, 1.5};
  uint64_t seed = check_seed();
  for (int n = 0; n < 4; n++)
    for (int i = 0; i < 5; i++)
      for (int repeat = 0; repeat < 4; repeat++) {
        cb_space *g;
        check_map m;
        double x[4][COORDS];
        check_ok(cb_space_create(name[n], check_map_fill(&m, "curvature", curvature[n], NULL, NULL), &g));
        const double radius = 1 / sqrt(fabs(g->factor[0].curvature)), d = edge[i] * radius;
        double direction[3][CB_DIM_MAX], length[3];
        for (int p = 0; p < 3; p++) {
          double square = 0;
          for (int a = 0; a < 3; a++) {
            direction[p][a] = (a == p) + check_uniform(&seed, -0.3, 0.3);
            square += direction[p][a] * direction[p][a];
          }
          for (int a = 0; a < 3; a++) direction[p][a] /= sqrt(square);
          length[p] = d * check_uniform(&seed, 0.6, 0.9);
        }
        cb_space_base_point(g, x[0]);
        star(g, 3, (const double(*)[CB_DIM_MAX])direction, length, x + 1);
        check_relative(element_value(g, &cb_constraint_volume, 4, x), projective_volume(g, x), 1e-12);
        cb_space_free(g);
      }
}

static void a_knife_edge_takes_the_velocity_to_its_left(void **state) {
  static const char *const name[] = {"e2", "s2", "h2"};
  uint64_t seed = check_seed();
  for (int n = 0; n < 3; n++) {
    cb_space *g;
    check_ok(cb_space_create(name[n], NULL, &g));
    double x[POINTS + 1][COORDS], along[COORDS], v[ALL] = {0}, rate, left[COORDS], frame[CB_DIM_MAX * COORDS];
    some_points(g, &seed, 0.8, x);
    setup u = setup_at(g, KNIFE_EDGE, x);
    check_ok(cb_log(g, x[3], x[1], along));
    double d = cb_distance(g, x[3], x[1]);
    double *w = v + cb_system_index(u.s, 3) * u.k;
    memcpy(w, along, (size_t)u.k * sizeof *w);
    check_ok(cb_constraints_rate(u.c, 0, u.x, v, &rate, NULL));
    check_near(rate, 0, 1e-14);
    cb_space_frame(g, x[3], frame);
    double c = 0, s = 0;
    for (int a = 0; a < g->embedding; a++) {
      c += g->form[a] * along[a] * frame[a] / d;
      s += g->form[a] * along[a] * frame[g->embedding + a] / d;
    }
    for (int a = 0; a < g->embedding; a++) left[a] = -s * frame[a] + c * frame[g->embedding + a];
    memcpy(w, left, (size_t)u.k * sizeof *w);
    check_ok(cb_constraints_rate(u.c, 0, u.x, v, &rate, NULL));
    check_near(rate, 1, 1e-14);
    setup_free(&u);
    cb_space_free(g);
  }
}

static void degenerate_shapes_are_outside_the_domain(void **state) {
  static const char *const name[] = {"e3", "s3", "h3"};
  for (int n = 0; n < 3; n++) {
    cb_space *g;
    check_ok(cb_space_create(name[n], NULL, &g));
    cb_constraints c = {.space = g};
    cb_constraint row = {.elements = 1, .width = 3, .world = -1};
    static cb_element e;
    double x[3][COORDS];
    star(g, 2, (const double[2][CB_DIM_MAX]){{1}, {1}}, (double[]){0.25, 0.5}, x + 1);
    cb_space_base_point(g, x[0]);
    memcpy(x[1], x[2], sizeof x[1]); /* two points coincide */
    const double *at[3] = {x[0], x[1], x[2]};
    for (int order = 1; order < 3; order++) {
      memset(&e, 0, sizeof e);
      assert_int_equal(cb_constraint_area.element(&c, &row, 0, 0, at, order, &e), CB_STEP_DOMAIN);
      assert_int_equal(cb_constraint_angle.element(&c, &row, 0, 0, at, order, &e), CB_STEP_DOMAIN);
    }
    cb_space_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(angles_are_those_of_tangents_and_areas_their_excess),
      cmocka_unit_test(equilateral_triangles_have_their_angles_and_areas),
      cmocka_unit_test(octant_of_a_sphere_has_area_and_volume),
      cmocka_unit_test(cube_has_volume_signed_by_its_orientation),
      cmocka_unit_test(tetrahedra_have_the_volume_of_the_projective_model),
      cmocka_unit_test(a_knife_edge_takes_the_velocity_to_its_left),
      cmocka_unit_test(degenerate_shapes_are_outside_the_domain),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
