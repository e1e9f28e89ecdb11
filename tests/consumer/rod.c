/* A rod of two masses in S3 that moves along a geodesic, with steps of Lobatto's integrator: prints its plot
 * coordinates as a table. */
#include <curvebody/integrator.h>
#include <math.h>
#include <stdio.h>

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, cb_error_text());
  return 1;
}

int main(void) {
  cb_space *space;
  cb_tree *method;
  cb_builder *b;
  cb_system *system;
  cb_state *state;
  cb_integrator *in;
  const double up[4] = {0, sin(0.5), 0, cos(0.5)}, down[4] = {0, -sin(0.5), 0, cos(0.5)}, v[4] = {1, 0, 0, 0};
  int i, j, body;
  if (cb_space_create("s3", NULL, &space)) return fail("space");
  if (cb_builder_create(space, &b) || cb_builder_body(b, "rod", &body)) return fail("builder");
  if (cb_builder_particle(b, "up", 1, 0, 0, up, v, &i) || cb_builder_particle(b, "down", 1, 0, 0, down, v, &j))
    return fail("particles");
  if (cb_builder_spring(b, i, j, 4, 1, 0) || cb_builder_finish(b, &system)) return fail("system");
  if (cb_state_create(system, &state) || cb_system_start(system, state)) return fail("state");
  if (cb_tree_read("method", "{stages: 3, solver: newton}", &method)) return fail("text");
  if (cb_integrator_create("lobatto", cb_tree_root(method), system, &in)) return fail("integrator");

  double kinetic, potential, start = 0, drift = 0, momentum[CB_KILLING_MAX], first = 0;
  const int turn = cb_killing_find(space, "rotation_wx");
  printf("%6s %12s %12s %12s %12s %12s\n", "t", "x of up", "y of up", "distance", "energy", "J");
  for (int step = 0; step <= 200; step++) {
    double plot[3];
    const int a = cb_system_index(system, i), c = cb_system_index(system, j); /* places of the particles i and j in the
                                                                               * state */
    if (step && cb_integrator_step(in, state, 0.01)) return fail("step");
    if (cb_state_plot(system, state, i, plot, NULL)) return fail("plot");
    if (cb_forces_energy(in->forces, state, &kinetic, &potential)) return fail("energy");
    if (cb_state_killing_momentum(system, state, momentum)) return fail("momentum");
    if (!step) {
      start = kinetic + potential;
      first = momentum[turn];
    }
    drift = fmax(drift, fmax(fabs(kinetic + potential - start), fabs(momentum[turn] - first)));
    if (step % 20 == 0)
      printf("%6.2f %12.8f %12.8f %12.8f %12.8f %12.8f\n", state->t, plot[0], plot[1],
             cb_distance(space, state->x + 4 * a, state->x + 4 * c), kinetic + potential, momentum[turn]);
  }
  cb_integrator_free(in);
  cb_tree_free(method);
  cb_state_free(state);
  cb_system_free(system);
  cb_builder_free(b);
  cb_space_free(space);
  return drift < 1e-8 ? 0 : fail("energy and momentum are not kept"); /* the error with this step is far below 1e-8 */
}
