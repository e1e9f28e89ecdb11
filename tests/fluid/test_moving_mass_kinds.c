/* Tests of the mass and momentum of a changing shape with lumped masses and with point masses. The sums that the local
 * fluid model computes give the same mass and momentum. */
#include "moving_shape.h"
#include "point_mass.h"

static void lumped_body_is_the_sum_over_its_vertices(void **unused) {
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  cb_moving_mass *m = made(&h, materials, true, 0, NULL);
  double *mass = calloc((size_t)h.s->vertices, sizeof *mass), mu0[6], mu[6] = {0}, energy = 0;
  for (int p = 0; p < 3; p++) {
    cb_mass own;
    cb_material alone[3] = {{0, 1}, {0, 1}, {0, 1}};
    alone[p] = materials[p];
    check_ok(cb_mass_of(h.s, NULL, alone, &own));
    double part_area = 0, *area = calloc((size_t)h.s->faces, sizeof *area);
    for (int f = 0; f < h.s->faces; f++)
      if (h.s->part[f] == p) part_area += area[f] = area_at_rest(h.s, f);
    for (int f = 0; f < h.s->faces; f++)
      for (int k = 0; k < 3; k++) mass[h.s->face[f][k]] += own.mass * area[f] / part_area / 3;
    free(area);
  }
  wriggle(&h, 1.1);
  cb_mass sum = {0};
  for (int i = 0; i < h.s->vertices; i++) {
    double turn[3];
    mass_add_point(&sum, mass[i], h.x[i]);
    cb_cross3(h.x[i], h.v[i], turn);
    for (int k = 0; k < 3; k++) {
      mu[k] += mass[i] * turn[k];
      mu[3 + k] += mass[i] * h.v[i][k];
    }
    energy += mass[i] * cb_dot3(h.v[i], h.v[i]) / 2;
  }
  check_relative(cb_moving_mass_energy(m, (const vector *)h.x, (const vector *)h.v), energy, 1e-13);
  const cb_mass found = at(m, &h, mu0);
  check_relative(found.mass, sum.mass, 1e-13);
  for (int i = 0; i < 36; i++)
    check_near(found.inertia[i / 6][i % 6], sum.inertia[i / 6][i % 6], 1e-13 * largest(sum.inertia));
  for (int i = 0; i < 6; i++) check_near(mu0[i], mu[i], 1e-12 * sum.mass);
  free(mass);
  cb_moving_mass_free(m);
  shape_free(&h);
}

static void point_masses_move_with_their_vertex_or_stay(void **unused) {
  uint64_t seed = check_seed();
  shape h = three_parts(&seed);
  const cb_point_mass points[2] = {{.mass = 40, .x = {1, 2, 3}, .vertex = -1}, {.mass = 25, .vertex = 7}};
  cb_moving_mass *m = made(&h, materials, false, 2, points), *without = made(&h, materials, false, 0, NULL);
  double mu0[6], bare[6], turn[3];
  wriggle(&h, 0.2);
  const cb_mass found = at(m, &h, mu0);
  cb_mass expected = at(without, &h, bare);
  mass_add_point(&expected, 40, points[0].x);
  mass_add_point(&expected, 25, h.x[7]);
  check_same_mass(&found, &expected, 1e-14);
  cb_cross3(h.x[7], h.v[7], turn);
  for (int i = 0; i < 3; i++) {
    check_near(mu0[i], bare[i] + 25 * turn[i], 1e-13 * found.mass);
    check_near(mu0[3 + i], bare[3 + i] + 25 * h.v[7][i], 1e-13 * found.mass);
  }
  cb_moving_mass_free(m);
  cb_moving_mass_free(without);
  shape_free(&h);
}

static mesh two_sheets(void) {
  mesh m = mesh_ellipsoid(24, 1, 0.7, 0.4);
  m.part[5] = m.part[6] = 1;
  return m;
}

/* The sums of the local model give the same mass and momentum as cb_moving_mass_at. The surfaces have three parts,
 * several blocks of faces, and two sheets. */
static void sums_of_the_local_model_give_the_same(void **unused) {
  uint64_t seed = check_seed();
  for (int turn = 0; turn < 3; turn++) {
    shape h = turn == 0 ? three_parts(&seed) : shape_of(turn == 1 ? mesh_ellipsoid(24, 1, 0.7, 0.4) : two_sheets());
    cb_material sheets[3] = {{800, turn == 2 ? 0.02 : 0}, {1300, turn == 2 ? 0.01 : 0}, {500, 0.02}};
    cb_moving_mass *m = made(&h, sheets, false, 0, NULL);
    cb_local *l;
    check_ok(cb_local_create(h.s, &l));
    for (int pose = 0; pose < 3; pose++) {
      double mu0[6], expected[6], size = 0;
      cb_mass found, mass;
      wriggle(&h, 0.3 * pose);
      cb_local_pose(l, (const vector *)h.x, (const vector *)h.v);
      check_ok(cb_moving_mass_with(m, l, (const vector *)h.x, (const vector *)h.v, &found, mu0));
      mass = at(m, &h, expected);
      check_same_mass(&found, &mass, 1e-13);
      for (int i = 0; i < 6; i++) size = fmax(size, fabs(expected[i]));
      for (int i = 0; i < 6; i++) check_near(mu0[i], expected[i], 1e-12 * size);
    }
    cb_local_free(l);
    cb_moving_mass_free(m);
    shape_free(&h);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lumped_body_is_the_sum_over_its_vertices),
      cmocka_unit_test(point_masses_move_with_their_vertex_or_stay),
      cmocka_unit_test(sums_of_the_local_model_give_the_same),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
