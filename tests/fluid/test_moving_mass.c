/* Tests of the mass and momentum of a changing shape: rigid and affine motions are exact, and conservation laws
 * hold. */
#include "moving_shape.h"

/* Sets the velocities x' = omega × x + w of the vertices, with the twist Y = (omega, w). */
static void turn_and_move(shape *h, const double Y[6]) {
  for (int i = 0; i < h->s->vertices; i++) {
    cb_cross3(Y, h->x[i], h->v[i]);
    for (int k = 0; k < 3; k++) h->v[i][k] += Y[3 + k];
  }
}

/* Applies the rotation by `angle` around the unit vector `axis` (Rodrigues's formula), then the translation by d. */
static void place(shape *h, const vector axis, double angle, const vector d) {
  for (int i = 0; i < h->s->vertices; i++) {
    double across[3], *x = h->x[i];
    const double along = cb_dot3(axis, h->s->x[i]);
    cb_cross3(axis, h->s->x[i], across);
    for (int k = 0; k < 3; k++)
      x[k] = cos(angle) * h->s->x[i][k] + sin(angle) * across[k] + (1 - cos(angle)) * along * axis[k] + d[k];
  }
}

static void rigid_parts_have_the_mass_of_the_placed_surface(void **unused) {
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  for (int turn = 0; turn < 10; turn++) {
    double Y[6], mu0[6], d[3], expected[6] = {0}, size = 0;
    for (int k = 0; k < 6; k++) Y[k] = check_uniform(&seed, -1, 1);
    for (int k = 0; k < 3; k++) d[k] = check_uniform(&seed, -2, 2);
    place(&h, (vector){2. / 3, -1. / 3, 2. / 3}, check_uniform(&seed, -3, 3), d);
    turn_and_move(&h, Y);
    double energy = 0;
    cb_mass rest;
    check_ok(cb_mass_of(h.s, (const vector *)h.x, materials, &rest));
    const cb_mass found = at(m, &h, mu0);
    check_same_mass(&found, &rest, 1e-13);
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        expected[i] += rest.inertia[i][j] * Y[j];
        size = fmax(size, fabs(expected[i]));
      }
    for (int i = 0; i < 6; i++) {
      check_near(mu0[i], expected[i], 1e-13 * size);
      energy += Y[i] * expected[i] / 2;
    }
    check_relative(cb_moving_mass_energy(m, (const vector *)h.x, (const vector *)h.v), energy, 1e-12);
  }
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void parts_that_turn_each_by_themselves_add_up(void **unused) {
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  double expected[6] = {0}, mu0[6], size = 0;
  for (int p = 0; p < 3; p++) {
    double Y[6];
    cb_mass own;
    cb_material alone[3] = {{0}};
    alone[p] = materials[p];
    for (int k = 0; k < 6; k++) Y[k] = check_uniform(&seed, -1, 1);
    for (int f = 0; f < h.s->faces; f++)
      for (int k = 0; h.s->part[f] == p && k < 3; k++) {
        const int i = h.s->face[f][k];
        cb_cross3(Y, h.x[i], h.v[i]);
        for (int c = 0; c < 3; c++) h.v[i][c] += Y[3 + c];
      }
    /* parts 0 and 1 get a thickness, although their density in `alone` is 0 */
    if (p == 2) alone[0].thickness = alone[1].thickness = 1;
    check_ok(cb_mass_of(h.s, NULL, alone, &own));
    for (int i = 0; i < 6; i++)
      for (int j = 0; j < 6; j++) {
        expected[i] += own.inertia[i][j] * Y[j];
        size = fmax(size, fabs(expected[i]));
      }
  }
  at(m, &h, mu0);
  for (int i = 0; i < 6; i++) check_near(mu0[i], expected[i], 1e-13 * size);
  cb_moving_mass_free(m);
  shape_free(&h);
}

/* For the affine motion x = (1 + t A) X of a solid with density rho, the integral of rho x x'^T is (1 + t A) C A^T,
 * where C is the integral of rho X X^T. The test uses t = 0.4. */
static void affine_motion_has_its_closed_form(void **unused) {
  uint64_t seed = check_seed();
  const double a[3] = {1, 0.5, 0.25}, d[3] = {0.3, -0.2, 0.7}, density = 3, mass = density * 8 * a[0] * a[1] * a[2];
  mesh box = mesh_box(3, a, false);
  mesh_move(&box, d);
  shape h = shape_of(box);
  cb_moving_mass *m = made(&h, &(cb_material){density, 0}, false, 0, NULL);
  double A[3][3], G[3][3], C[3][3], Q[3][3] = {{0}}, P[3][3] = {{0}}, mu0[6];
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      A[i][j] = check_uniform(&seed, -1, 1);
      G[i][j] = (i == j) + 0.4 * A[i][j];
      C[i][j] = mass * ((i == j) * a[i] * a[i] / 3 + d[i] * d[j]);
    }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++) {
          Q[i][j] += G[i][k] * C[k][l] * A[j][l];
          P[i][j] += G[i][k] * C[k][l] * G[j][l];
        }
  for (int i = 0; i < h.s->vertices; i++) {
    cb_apply3((const vector *)G, h.s->x[i], h.x[i]);
    cb_apply3((const vector *)A, h.s->x[i], h.v[i]);
  }
  const cb_mass found = at(m, &h, mu0);
  check_relative(found.mass, mass, 1e-14);
  double centre[3], velocity[3];
  cb_apply3((const vector *)G, d, centre);
  cb_apply3((const vector *)A, d, velocity);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    check_near(found.centre[i], centre[i], 1e-14);
    check_near(found.inertia[i][i], P[j][j] + P[k][k], 1e-13 * mass);
    check_near(found.inertia[i][j], -P[i][j], 1e-13 * mass);
    check_near(mu0[i], Q[j][k] - Q[k][j], 1e-13 * mass);
    check_near(mu0[3 + i], mass * velocity[i], 1e-13 * mass);
  }
  double twice = 0; /* twice the energy, the trace of A C A^T */
  for (int i = 0; i < 27; i++) twice += A[i / 9][i / 3 % 3] * C[i / 3 % 3][i % 3] * A[i / 9][i % 3];
  check_relative(cb_moving_mass_energy(m, (const vector *)h.x, (const vector *)h.v), twice / 2, 1e-13);
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void linear_momentum_is_that_of_the_centre(void **unused) {
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  const double t = 0.37, d = 1e-3;
  double mu0[6], other[6], slope[3] = {0};
  const double weights[4] = {1, -8, 8, -1};
  for (int n = 0; n < 4; n++) { /* the difference with the time step d has an error of order d^4 */
    wriggle(&h, t + (n < 2 ? n - 2 : n - 1) * d);
    const cb_mass there = at(m, &h, other);
    for (int i = 0; i < 3; i++) slope[i] += weights[n] * there.centre[i] / (12 * d);
  }
  wriggle(&h, t);
  const cb_mass here = at(m, &h, mu0);
  for (int i = 0; i < 3; i++) check_near(mu0[3 + i], here.mass * slope[i], 1e-9 * here.mass);
  cb_moving_mass_free(m);
  shape_free(&h);
}

/* The library assumes that the velocity inside the body is linear on each tetrahedron from a face to one inner point,
 * the apex. The expected angular momentum about the centre of mass is the integral over these tetrahedra, by four
 * points with the barycentric coordinates a, b, b, b. This rule is exact for quadratic functions. */
static void spin_about_the_centre_is_that_of_the_velocities(void **unused) {
  shape h = shape_of(mesh_ellipsoid(4, 1, 0.7, 0.4));
  const double density = 800, a = (5 + 3 * sqrt(5)) / 20, b = (5 - sqrt(5)) / 20;
  cb_moving_mass *m = made(&h, &(cb_material){density, 0}, false, 0, NULL);
  double area = 0, volume = 0, mu0[6], apex[2][3] = {{0}}, one[2][3] = {{0}}, spin[3] = {0}, expected[3], turn[3];
  wriggle(&h, 0.9);
  const cb_mass found = at(m, &h, mu0);
  vector *const of[2] = {h.x, h.v};
  for (int f = 0; f < h.s->faces; f++) {
    const int *c = h.s->face[f];
    const double size = area_at_rest(h.s, f);
    area += size;
    for (int q = 0; q < 2; q++)
      for (int k = 0; k < 3; k++) apex[q][k] += size * (of[q][c[0]][k] + of[q][c[1]][k] + of[q][c[2]][k]) / 3;
  }
  for (int k = 0; k < 6; k++) apex[k / 3][k % 3] /= area;
  for (int f = 0; f < h.s->faces; f++) {
    double y[4][3], n[3];
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) y[j][k] = h.x[h.s->face[f][j]][k] - apex[0][k];
    cb_cross3(y[1], y[2], n);
    const double content = cb_dot3(y[0], n) / 6;
    volume += content;
    for (int p = 0; p < 4; p++) {
      double x[2][3];
      for (int q = 0; q < 2; q++)
        for (int k = 0; k < 3; k++) {
          x[q][k] = (p == 3 ? a : b) * apex[q][k];
          for (int j = 0; j < 3; j++) x[q][k] += (p == j ? a : b) * of[q][h.s->face[f][j]][k];
          one[q][k] += content / 4 * x[q][k];
        }
      cb_cross3(x[0], x[1], turn);
      for (int k = 0; k < 3; k++) spin[k] += content / 4 * turn[k];
    }
  }
  const double mass = found.mass;
  cb_cross3(one[0], one[1], turn);
  for (int k = 0; k < 3; k++) expected[k] = mass / volume * (spin[k] - turn[k] / volume);
  cb_cross3(found.centre, mu0 + 3, turn);
  for (int k = 0; k < 3; k++) check_near(mu0[k] - turn[k], expected[k], 1e-12 * mass);
  cb_moving_mass_free(m);
  shape_free(&h);
}

/* A shift of a body of mass m by d and an additional velocity w of all its points change its momentum p to p + m w, and
 * its angular momentum L to L + d × p + m c × w, where c is the shifted centre of mass. */
static void momentum_is_galilean(void **unused) {
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  const double d[3] = {5, -3, 2}, w[3] = {0.3, 0.7, -1.1};
  double here[6], there[6], turn[3], centre[3], push[3];
  wriggle(&h, 0.8);
  const cb_mass before = at(m, &h, here);
  for (int i = 0; i < h.s->vertices; i++)
    for (int k = 0; k < 3; k++) {
      h.x[i][k] += d[k];
      h.v[i][k] += w[k];
    }
  const cb_mass after = at(m, &h, there);
  for (int i = 0; i < 3; i++) centre[i] = before.centre[i] + d[i];
  cb_cross3(d, here + 3, turn);
  cb_cross3(centre, w, push);
  for (int i = 0; i < 3; i++) {
    check_near(there[3 + i], here[3 + i] + before.mass * w[i], 1e-12 * before.mass);
    check_near(there[i], here[i] + turn[i] + before.mass * push[i], 1e-11 * before.mass);
    check_near(after.centre[i], centre[i], 1e-13);
  }
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void mass_is_kept_where_the_volume_changes(void **unused) {
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  double mu0[6];
  cb_mass rest;
  check_ok(cb_mass_of(h.s, NULL, materials, &rest));
  for (int i = 0; i < h.s->vertices; i++)
    for (int k = 0; k < 3; k++) {
      h.x[i][k] = 1.2 * h.s->x[i][k];
      h.v[i][k] = h.s->x[i][k];
    }
  const cb_mass swollen = at(m, &h, mu0);
  check_relative(swollen.mass, rest.mass, 1e-14);
  check_relative(swollen.volume, 1.2 * 1.2 * 1.2 * rest.volume, 1e-13);
  check_relative(swollen.area, 1.2 * 1.2 * rest.area, 1e-13);
  for (int i = 0; i < 3; i++) {
    check_relative(swollen.inertia[i][i], 1.44 * rest.inertia[i][i], 1e-13);
    check_near(mu0[i], 0, 1e-12 * rest.mass); /* the velocity x' = x has no angular momentum */
    check_near(mu0[3 + i], rest.mass * rest.centre[i], 1e-13 * rest.mass);
  }
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void shape_at_rest_has_no_momentum(void **unused) {
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, false, 0, NULL);
  cb_mass found, rest;
  double mu0[6] = {1, 1, 1, 1, 1, 1};
  check_ok(cb_moving_mass_at(m, (const vector *)h.x, NULL, &found, mu0));
  check_ok(cb_mass_of(h.s, NULL, materials, &rest));
  check_same_mass(&found, &rest, 1e-13);
  for (int i = 0; i < 6; i++) check_near(mu0[i], 0, 0);
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void what_cannot_be_is_refused(void **unused) {
  shape h = shape_of(mesh_ellipsoid(3, 1, 1, 1));
  const cb_material water = {1000, 0};
  cb_moving_mass *m = made(&h, &water, false, 0, NULL), *none;
  cb_mass out;
  double mu0[6];
  for (int i = 0; i < h.s->vertices; i++) h.x[i][0] *= -1;
  assert_int_equal(cb_moving_mass_at(m, (const vector *)h.x, NULL, &out, mu0), CB_STEP_SINGULAR);
  assert_non_null(strstr(cb_error_text(), "has the volume -"));
  const cb_point_mass off = {.mass = 1, .vertex = h.s->vertices}, negative = {.mass = -1, .vertex = -1};
  assert_int_equal(cb_moving_mass_create(h.s, &water, false, 1, &off, &none), CB_ERROR_ARGUMENT);
  assert_int_equal(cb_moving_mass_create(h.s, &water, false, 1, &negative, &none), CB_ERROR_ARGUMENT);
  cb_moving_mass_free(m);
  shape_free(&h);
  h = shape_of(mesh_plate(3, 1, 1, false));
  assert_int_equal(cb_moving_mass_create(h.s, &water, false, 0, NULL, &none), CB_ERROR_DOMAIN);
  assert_non_null(strstr(cb_error_text(), "is open"));
  shape_free(&h);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rigid_parts_have_the_mass_of_the_placed_surface),
      cmocka_unit_test(parts_that_turn_each_by_themselves_add_up),
      cmocka_unit_test(affine_motion_has_its_closed_form),
      cmocka_unit_test(linear_momentum_is_that_of_the_centre),
      cmocka_unit_test(spin_about_the_centre_is_that_of_the_velocities),
      cmocka_unit_test(momentum_is_galilean),
      cmocka_unit_test(mass_is_kept_where_the_volume_changes),
      cmocka_unit_test(shape_at_rest_has_no_momentum),
      cmocka_unit_test(what_cannot_be_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
