/* Tests of mass properties: closed forms, convergence, a shift of the origin, and principal axes. */
#include "fluid_mesh.h"
#include "point_mass.h"

static cb_mass mass_of(mesh m, double density, double thickness) {
  cb_surface *s = mesh_surface(m);
  cb_mass out;
  check_ok(cb_mass_of(s, NULL, &(cb_material){density, thickness}, &out));
  cb_surface_free(s);
  return out;
}

static void check_diagonal(const cb_mass *m, const double J[3], double tolerance) {
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) check_near(m->inertia[i][j], i == j ? J[i] : 0, tolerance);
}

static void box_has_its_closed_form(void **unused) {
  const double a[3] = {1, 0.5, 0.25}, mass = 3 * 8 * a[0] * a[1] * a[2];
  const cb_mass m = mass_of(mesh_box(5, a, false), 3, 0);
  check_relative(m.mass, mass, 1e-14);
  check_relative(m.volume, mass / 3, 1e-14);
  check_relative(m.area, 8 * (a[0] * a[1] + a[1] * a[2] + a[2] * a[0]), 1e-14);
  check_diagonal(&m,
                 (double[3]){mass / 3 * (a[1] * a[1] + a[2] * a[2]), mass / 3 * (a[2] * a[2] + a[0] * a[0]),
                             mass / 3 * (a[0] * a[0] + a[1] * a[1])},
                 1e-14 * mass);
}

static void tetrahedron_has_its_closed_form(void **unused) {
  mesh t = mesh_room(4, 4);
  mesh_vertex(&t, 0, 0, 0);
  mesh_vertex(&t, 1, 0, 0);
  mesh_vertex(&t, 0, 1, 0);
  mesh_vertex(&t, 0, 0, 1);
  mesh_face(&t, 0, 2, 1);
  mesh_face(&t, 0, 3, 2);
  mesh_face(&t, 0, 1, 3);
  mesh_face(&t, 1, 2, 3);
  const cb_mass m = mass_of(t, 1, 0);
  check_near(m.mass, 1. / 6, 1e-16);
  for (int i = 0; i < 3; i++) {
    check_near(m.centre[i], 0.25, 1e-15);
    check_near(m.inertia[i][i], 1. / 30, 1e-16);
    check_near(m.inertia[i][(i + 1) % 3], -1. / 120, 1e-16);
  }
  check_near(m.inertia[1][5], -m.mass * 0.25, 1e-16); /* entry (1, 2) of m hat(c), with hat(c) x = c × x, is -m c_0 */
  check_near(m.inertia[2][4], m.mass * 0.25, 1e-16);
}

/* The error of an inscribed mesh with edges of length h is of order h^2. Two meshes with h and h/2 give the limit with
 * an error of order h^4. */
static void ellipsoid_and_torus_converge_to_their_closed_forms(void **unused) {
  const double a = 3, b = 2, c = 1, V = 4 * PI / 3 * a * b * c;
  const cb_mass e1 = mass_of(mesh_ellipsoid(12, a, b, c), 1, 0), e2 = mass_of(mesh_ellipsoid(24, a, b, c), 1, 0);
  check_relative((4 * e2.mass - e1.mass) / 3, V, 3e-5);
  check_relative((4 * e2.inertia[0][0] - e1.inertia[0][0]) / 3, V / 5 * (b * b + c * c), 1e-4);
  check_relative((4 * e2.inertia[1][1] - e1.inertia[1][1]) / 3, V / 5 * (a * a + c * c), 1e-4);
  check_relative((4 * e2.inertia[2][2] - e1.inertia[2][2]) / 3, V / 5 * (a * a + b * b), 1e-4);
  const double R = 1, r = 0.4, T = 2 * PI * PI * R * r * r;
  const cb_mass t1 = mass_of(mesh_torus(40, 20, R, r), 2, 0), t2 = mass_of(mesh_torus(80, 40, R, r), 2, 0);
  check_relative((4 * t2.mass - t1.mass) / 3, 2 * T, 1e-4);
  check_relative((4 * t2.inertia[2][2] - t1.inertia[2][2]) / 3, 2 * T * (R * R + 0.75 * r * r), 1e-4);
  check_relative((4 * t2.inertia[0][0] - t1.inertia[0][0]) / 3, 2 * T * (R * R / 2 + 0.625 * r * r), 1e-4);
  check_relative((4 * t2.area - t1.area) / 3, 4 * PI * PI * R * r, 1e-4);
}

static void sheet_and_points_have_their_closed_forms(void **unused) {
  mesh p = mesh_plate(4, 2, 1, false);
  const double d[3] = {10, -20, 30};
  mesh_move(&p, d);
  cb_mass m = mass_of(p, 500, 0.01);
  check_relative(m.mass, 10., 1e-14);
  check_near(m.volume, 0, 0);
  for (int i = 0; i < 3; i++) check_near(m.centre[i], d[i], 1e-13);
  check_relative(m.inertia[0][0], 10 * (1. / 12 + 20 * 20 + 30 * 30), 1e-14);
  check_relative(m.inertia[0][1], 10. * 200, 1e-14);
  mass_add_point(&m, 10, (double[3]){10, -20, 34});
  check_near(m.centre[2], 32, 1e-13);
  check_relative(m.inertia[0][0], 10 * (1. / 12 + 400 + 900) + 10 * (400 + 34 * 34), 1e-14);
  check_relative(m.inertia[3][3], 20., 1e-15);
  check_relative(m.inertia[3][1], m.mass * m.centre[2], 1e-15); /* entry (0, 1) of -m hat(c) is m c_2 */
}

/* Computes the inertia X^T k X of a body with the inertia k after a shift by d, with X = [[1, 0], [-hat(d), 1]] and
 * hat(d) x = d × x. */
static void shift(const double k[6][6], const double d[3], double out[6][6]) {
  double X[6][6] = {{0}}, half[6][6] = {{0}};
  for (int i = 0; i < 6; i++) X[i][i] = 1;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, l = (i + 2) % 3;
    X[3 + j][l] = d[i];
    X[3 + l][j] = -d[i];
  }
  memset(out, 0, sizeof half);
  for (int i = 0; i < 6; i++)
    for (int l = 0; l < 6; l++)
      for (int j = 0; j < 6; j++) half[i][j] += k[i][l] * X[l][j];
  for (int i = 0; i < 6; i++)
    for (int l = 0; l < 6; l++)
      for (int j = 0; j < 6; j++) out[i][j] += X[l][i] * half[l][j];
}

static void moved_body_has_the_shifted_tensor(void **unused) {
  uint64_t seed = check_seed();
  for (int turn = 0; turn < 20; turn++) {
    mesh a = mesh_torus(9, 7, 1, 0.4), b;
    mesh_shake(&a, &seed, 0.1);
    b = mesh_room(a.vertices, a.faces);
    b.vertices = a.vertices;
    b.faces = a.faces;
    memcpy(b.x, a.x, sizeof *a.x * (size_t)a.vertices);
    memcpy(b.face, a.face, sizeof *a.face * (size_t)a.faces);
    double d[3], shifted[6][6], size = 0;
    for (int k = 0; k < 3; k++) d[k] = check_uniform(&seed, -1, 1);
    mesh_move(&b, d);
    const cb_mass here = mass_of(a, 1, 0), there = mass_of(b, 1, 0);
    shift(here.inertia, d, shifted);
    for (int i = 0; i < 6; i++) size = fmax(size, there.inertia[i][i]);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) check_near(shifted[i][j], there.inertia[i][j], 8e-16 * size);
  }
}

static void principal_axes_are_those_of_the_turned_body(void **unused) {
  const double a[3] = {1, 0.5, 0.25}, mass = 8 * a[0] * a[1] * a[2];
  mesh m = mesh_box(3, a, false);
  /* first a rotation around (1, 1, 1) by a third of a turn, which only permutes coordinates, then a rotation around z
   * by 0.3 */
  const double c = cos(0.3), s = sin(0.3);
  for (int i = 0; i < m.vertices; i++) {
    const double x = m.x[i][2], y = m.x[i][0], z = m.x[i][1];
    m.x[i][0] = c * x - s * y + 3;
    m.x[i][1] = s * x + c * y - 1;
    m.x[i][2] = z + 2;
  }
  const cb_mass found = mass_of(m, 1, 0);
  double moment[3], axis[3][3], det = 0;
  check_ok(cb_mass_principal(&found, moment, axis));
  check_near(moment[0], mass / 3 * (a[1] * a[1] + a[2] * a[2]), 1e-13);
  check_near(moment[1], mass / 3 * (a[2] * a[2] + a[0] * a[0]), 1e-13);
  check_near(moment[2], mass / 3 * (a[0] * a[0] + a[1] * a[1]), 1e-13);
  check_near(fabs(axis[0][0]), s, 1e-12); /* before the rotation around z this axis is y */
  check_near(axis[0][1], c, 1e-12);
  check_near(axis[1][2], 1, 1e-12);
  for (int i = 0; i < 3; i++)
    det += axis[0][i] * (axis[1][(i + 1) % 3] * axis[2][(i + 2) % 3] - axis[1][(i + 2) % 3] * axis[2][(i + 1) % 3]);
  check_near(det, 1, 1e-14);
}

static void what_has_no_mass_is_refused(void **unused) {
  cb_surface *s = mesh_surface(mesh_plate(3, 1, 1, false));
  cb_mass m;
  assert_int_equal(cb_mass_of(s, NULL, &(cb_material){1000, 0}, &m), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "is open"));
  assert_int_equal(cb_mass_of(s, NULL, &(cb_material){-1, 1}, &m), CB_ERROR_ARGUMENT);
  assert_non_null(strstr(cb_error_text(), "part 1 "));
  s->x[5][1] = NAN;
  assert_int_equal(cb_mass_of(s, NULL, &(cb_material){1000, 1}, &m), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "vertex 6 is at"));
  cb_surface_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(box_has_its_closed_form),
      cmocka_unit_test(tetrahedron_has_its_closed_form),
      cmocka_unit_test(ellipsoid_and_torus_converge_to_their_closed_forms),
      cmocka_unit_test(sheet_and_points_have_their_closed_forms),
      cmocka_unit_test(moved_body_has_the_shifted_tensor),
      cmocka_unit_test(principal_axes_are_those_of_the_turned_body),
      cmocka_unit_test(what_has_no_mass_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
