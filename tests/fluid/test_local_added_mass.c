/* Tests of the local fluid model for bodies at rest. The length delta (fluid/local.h) and the added mass are compared
 * with closed forms and published values. Surfaces without delta are rejected. */
#include "local_cases.h"

static void accuracy_of_the_local_model_is_the_published_one(void **unused) {
  const added sphere = added_of(mesh_ellipsoid(16, 1, 1, 1)), prolate = added_of(mesh_ellipsoid(24, 3, 1, 1)),
              oblate = added_of(mesh_ellipsoid(32, 1, 1, 0.1));
  check_near(sphere.K[3][3] / (2 * PI / 3), 0.998, 2e-3);
  check_near(prolate.K[3][3] / 1.532702719905, 1.01, 6e-3);
  check_near(prolate.K[4][4] / 10.102093957219, 0.96, 6e-3);
  check_near(prolate.K[1][1] / 11.703770322599, 1.39, 1e-2);
  check_near(oblate.K[3][3] / 0.031333853344129, 1.65, 2e-2);
  check_near(oblate.K[5][5] / 2.5904017967032, 0.77, 1e-2);
  /* a disc consists of the two caps of a tube */
  mesh disc = mesh_room(130, 256);
  for (int j = 0; j < 128; j++) mesh_vertex(&disc, cos(2 * PI * j / 128), sin(2 * PI * j / 128), 0);
  const int top = mesh_vertex(&disc, 0, 0, 0), bottom = mesh_vertex(&disc, 0, 0, 0);
  for (int j = 0; j < 128; j++) {
    mesh_face(&disc, top, j, (j + 1) % 128);
    mesh_face(&disc, bottom, (j + 1) % 128, j);
  }
  const added d = added_of(disc);
  check_relative(d.part.delta, 1 / PI, 1e-3);
  check_near(d.K[5][5] / (8. / 3), 0.75, 5e-3);
  check_near(d.K[0][0] / (16. / 45), 1.40, 1e-2);
  assert_false(d.part.capped);
}

/* Table 1 of "Going with the Flow" (fluid/local.h) gives delta = r/2 for a sphere of radius r, R for a tube of radius R
 * without caps, and a b/(pi (a + b)) for a plate with the sides a and b. The errors are of second order in the size of
 * the faces. */
static void delta_of_table_1_is_reached_to_the_order_of_the_mesh(void **unused) {
  const double one = added_of(mesh_ellipsoid(10, 2, 2, 2)).part.delta - 1,
               two = added_of(mesh_ellipsoid(20, 2, 2, 2)).part.delta - 1;
  check_at_most(fabs(two), 2e-3);
  check_near(log2(one / two), 2, 0.1);
  const added t1 = added_of(mesh_tube(20, 24, 1.5, 4, false)), t2 = added_of(mesh_tube(20, 48, 1.5, 4, false));
  const double tube1 = t1.part.area / 2 / t1.part.turning / 1.5 - 1,
               tube2 = t2.part.area / 2 / t2.part.turning / 1.5 - 1;
  check_at_most(fabs(tube2), 5e-3);
  check_near(log2(tube1 / tube2), 2, 0.1);
  for (int closed = 0; closed < 2; closed++) {
    const added p = added_of(mesh_plate(6, 3, 0.5, closed));
    check_relative(p.part.delta_uncapped, 3 * 0.5 / (PI * 3.5), 1e-13);
    check_relative(p.part.area, 3., 1e-14);
    check_relative(p.K[5][5], 2 * p.part.delta * 1.5, 1e-13);
    check_near(p.K[3][3], 0, 1e-15);
  }
}

static void closed_cylinder_has_the_delta_of_its_caps(void **unused) {
  const double R = 1, L = 2;
  const added c = added_of(mesh_tube(30, 200, R, L / 2, true));
  check_relative(c.part.delta, R * (L + R) / (L + PI * R), 1e-3);
  check_relative(c.part.volume, PI * R * R * L, 1e-3);
  /* The added moment of inertia about x, for the density 1, is delta times the sum over the side and the caps: 2 pi R
   * int z^2/2 dz from -L/2 to L/2, plus 2 int y^2 dA over a disc. */
  check_relative(c.K[0][0], c.part.delta * (PI * R * L * L * L / 12 + PI / 2), 1e-3);
}

static void hollow_and_negative_bodies_are_capped(void **unused) {
  /* a sphere with a cavity in one part: the inner faces are curved nearly as much as the outer ones, with the opposite
   * sign */
  mesh outer = mesh_ellipsoid(8, 1, 1, 1), inner = mesh_ellipsoid(8, 0.95, 0.95, 0.95),
       both = mesh_room(2 * outer.vertices, 2 * outer.faces);
  for (int i = 0; i < outer.vertices; i++) mesh_vertex(&both, outer.x[i][0], outer.x[i][1], outer.x[i][2]);
  for (int i = 0; i < inner.vertices; i++) mesh_vertex(&both, inner.x[i][0], inner.x[i][1], inner.x[i][2]);
  for (int f = 0; f < outer.faces; f++) {
    const int *a = outer.face[f], n = outer.vertices;
    mesh_face(&both, a[0], a[1], a[2]);
    mesh_face(&both, n + a[0], n + a[2], n + a[1]);
  }
  free(outer.x);
  free(outer.face);
  free(outer.part);
  free(inner.x);
  free(inner.face);
  free(inner.part);
  const added hollow = added_of(both);
  check_at_least(hollow.part.delta_uncapped, 5.);
  assert_true(hollow.part.capped);
  check_relative(hollow.part.delta, 0.5 * sqrt(hollow.part.area / (4 * PI)), 1e-14);
  /* a sphere whose faces point inwards */
  mesh s = mesh_ellipsoid(8, 1, 1, 1);
  for (int f = 0; f < s.faces; f++) {
    const int b = s.face[f][1];
    s.face[f][1] = s.face[f][2];
    s.face[f][2] = b;
  }
  const added negative = added_of(s);
  check_at_most(negative.part.delta_uncapped, 0.);
  assert_true(negative.part.capped);
  check_relative(negative.part.delta, 0.5 * sqrt(negative.part.area / (4 * PI)), 1e-14);
}

/* The added mass of a sheet of one face is 2 delta times the integral of m m^T over the face, with m = (x × n, n) and
 * delta as in fluid/local.h. The expected integral is computed by a product of Gauss–Legendre rules of degree 5. */
static void midpoint_rule_is_exact_for_linear_positions(void **unused) {
  uint64_t seed = check_seed();
  mesh t = mesh_room(3, 1);
  for (int i = 0; i < 3; i++)
    mesh_vertex(&t, check_uniform(&seed, -1, 1), check_uniform(&seed, -1, 1), check_uniform(&seed, -1, 1));
  double x[3][3], e[2][3], a[3], exact[6][6] = {{0}};
  memcpy(x, t.x, sizeof x);
  mesh_face(&t, 0, 1, 2);
  const added found = added_of(t);
  for (int k = 0; k < 3; k++) {
    e[0][k] = x[1][k] - x[0][k];
    e[1][k] = x[2][k] - x[0][k];
  }
  for (int k = 0; k < 3; k++) a[k] = e[0][(k + 1) % 3] * e[1][(k + 2) % 3] - e[0][(k + 2) % 3] * e[1][(k + 1) % 3];
  const double twice = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]), node[3] = {-sqrt(0.6), 0, sqrt(0.6)},
               weight[3] = {5. / 18, 8. / 18, 5. / 18};
  for (int p = 0; p < 3; p++)
    for (int q = 0; q < 3; q++) {
      const double u = (1 + node[p]) / 2, v = (1 + node[q]) / 2 * (1 - u), w = weight[p] * weight[q] * (1 - u) * twice;
      double y[3], m[6];
      for (int k = 0; k < 3; k++) {
        y[k] = x[0][k] + u * e[0][k] + v * e[1][k];
        m[3 + k] = a[k] / twice;
      }
      for (int k = 0; k < 3; k++) m[k] = y[(k + 1) % 3] * m[3 + (k + 2) % 3] - y[(k + 2) % 3] * m[3 + (k + 1) % 3];
      for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) exact[i][j] += w * m[i] * m[j];
    }
  for (int i = 0; i < 6; i++)
    for (int j = 0; j < 6; j++) check_near(found.K[i][j], 2 * found.part.delta * exact[i][j], 1e-15 * twice);
}

static void what_is_no_surface_is_refused(void **unused) {
  cb_surface *s = mesh_surface(mesh_tube(4, 5, 1, 1, false));
  cb_local *l = NULL;
  const int kept = s->face[3][1];
  s->face[3][1] = s->face[3][0];
  assert_int_equal(cb_local_create(s, &l), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "face 4 has vertex"));
  s->face[3][1] = kept;
  const int *f = s->face[4], b = f[1];
  s->face[4][1] = f[2];
  s->face[4][2] = b;
  assert_int_equal(cb_local_create(s, &l), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "opposite orientations at the edge between vertices "));
  int named[4];
  assert_int_equal(sscanf(cb_error_text(),
                          "faces %d and %d have opposite orientations at the edge between vertices %d and %d: expected "
                          "the same orientation",
                          named, named + 1, named + 2, named + 3),
                   4);
  for (int i = 0; i < 4; i++) { /* both vertices are corners of both faces; the numbers count from 1 */
    const int *c = s->face[named[i % 2] - 1], v = named[2 + i / 2] - 1;
    assert_true(c[0] == v || c[1] == v || c[2] == v);
  }
  assert_true(named[0] == 5 || named[1] == 5);
  s->x[2][0] = NAN;
  assert_int_equal(cb_local_create(s, &l), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "vertex 3 is at"));
  assert_null(l);
  cb_surface_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(accuracy_of_the_local_model_is_the_published_one),
      cmocka_unit_test(delta_of_table_1_is_reached_to_the_order_of_the_mesh),
      cmocka_unit_test(closed_cylinder_has_the_delta_of_its_caps),
      cmocka_unit_test(hollow_and_negative_bodies_are_capped),
      cmocka_unit_test(midpoint_rule_is_exact_for_linear_positions),
      cmocka_unit_test(what_is_no_surface_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
