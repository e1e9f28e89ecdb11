/* Tests of the local fluid model of a moving shape: its momentum, and changes of volume, which an incompressible fluid
 * does not allow. */
#include "local_cases.h"

/* If the shape moves with the velocity field of a twist Y, its momentum mu0 is K Y, with the added mass K. */
static void motion_of_a_rigid_body_has_the_momentum_K_Y(void **unused) {
  uint64_t seed = check_seed();
  mesh m = mesh_torus(13, 9, 1, 0.4);
  mesh_shake(&m, &seed, 0.05);
  cb_surface *s = mesh_surface(m);
  cb_local *l;
  check_ok(cb_local_create(s, &l));
  double(*v)[3] = malloc(sizeof *v * (size_t)s->vertices), Y[6], K[6][6], mu[6], size = 0;
  for (int i = 0; i < 6; i++) Y[i] = check_uniform(&seed, -1, 1);
  for (int i = 0; i < s->vertices; i++)
    for (int k = 0; k < 3; k++)
      v[i][k] = Y[3 + k] + Y[(k + 1) % 3] * s->x[i][(k + 2) % 3] - Y[(k + 2) % 3] * s->x[i][(k + 1) % 3];
  cb_local_pose(l, (const double(*)[3])s->x, (const double(*)[3])v);
  cb_local_added_mass(l, 998, NULL, K, mu, NULL);
  for (int i = 0; i < 6; i++) size = fmax(size, K[i][i]);
  for (int i = 0; i < 6; i++) {
    double KY = 0;
    for (int j = 0; j < 6; j++) KY += K[i][j] * Y[j];
    check_near(mu[i], KY, 1e-14 * size);
  }
  check_near(cb_local_removed_normal_velocity(l, false), 0, 1e-15); /* a rigid motion keeps the volume */
  free(v);
  cb_local_free(l);
  cb_surface_free(s);
}

/* The unit sphere grows with the velocity x' = x, whose normal component is 1, in a medium whose density grows along z.
 * After the mean of the normal velocity is subtracted, the momentum is 0. */
static void breathing_is_told_and_taken_off(void **unused) {
  cb_surface *s = mesh_surface(mesh_ellipsoid(16, 1, 1, 1));
  cb_local *l;
  check_ok(cb_local_create(s, &l));
  double *rho = malloc(sizeof *rho * (size_t)s->faces), K[6][6], mu[6], force = 0;
  for (int f = 0; f < s->faces; f++)
    rho[f] = 2 + (s->x[s->face[f][0]][2] + s->x[s->face[f][1]][2] + s->x[s->face[f][2]][2]) / 3;
  cb_local_pose(l, (const double(*)[3])s->x, (const double(*)[3])s->x);
  cb_local_part part;
  cb_local_added_mass(l, 0, rho, K, mu, &part);
  check_near(cb_local_removed_normal_velocity(l, true), 3 * part.volume / part.area, 1e-13);
  check_near(mu[5], 0.5 * 4 * PI / 3, 2e-2); /* delta times the integral of z^2 over the sphere, delta = 1/2 */
  cb_local_added_mass(l, 0, rho, K, mu, NULL);
  for (int i = 0; i < 6; i++) force = fmax(force, fabs(mu[i]));
  check_at_most(force, 5e-3); /* the mesh has this error */
  free(rho);
  cb_local_free(l);
  cb_surface_free(s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(motion_of_a_rigid_body_has_the_momentum_K_Y),
      cmocka_unit_test(breathing_is_told_and_taken_off),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
