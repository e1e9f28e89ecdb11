/* A leaf that falls in air: prints its position and velocity as a table. SI units. */
#include <curvebody/immersed.h>
#include <curvebody/integrator.h>
#include <math.h>
#include <stdio.h>

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, cb_error_text());
  return 1;
}

int main(void) {
  static cb_fluid fluid;
  static cb_immersed_options options;
  static cb_rigid_state state;
  static double wrench[16][6];
  const cb_material material = {600, 3e-4};
  const cb_pose place = {{cos(0.4), sin(0.4), 0, 0}, {0, 0, 0}};
  const double rest[6] = {0, 0, 0, 0, 0, 0};
  const cb_problem *const problems[] = {&cb_problem_discrete_lagrangian, NULL};
  cb_tree *tree;
  cb_surface *leaf;
  cb_medium *air;
  cb_immersed *body;
  cb_immersed_workspace *workspace;
  cb_integrator *in;
  cb_immersed_row row;
  if (cb_tree_read("leaf", "{resolution: 24}", &tree)) return fail("text");
  if (cb_shape_create("leaf", cb_tree_root(tree), &leaf) || cb_medium_uniform(1.225, &air)) return fail("leaf and air");
  fluid.medium = air;
  fluid.gravity[2] = -9.81;
  options.material = &material;
  options.added_mass = options.drag = true;
  if (cb_immersed_create(&fluid, leaf, NULL, &options, NULL, NULL, NULL, &body)) return fail("body");
  if (cb_immersed_wrenches(body) > 16 || cb_immersed_workspace_create(body, &workspace)) return fail("workspace");
  if (cb_integrator_create_for("hamilton_pontryagin", NULL, problems, cb_immersed_workspace_problem(workspace), &in))
    return fail("integrator");
  if (cb_rigid_start(cb_immersed_workspace_problem(workspace), 0, &place, rest, &state)) return fail("start");

  double energy = 0, last = INFINITY;
  row.wrench = wrench;
  for (int step = 0; step <= 200; step++) {
    if (step && cb_integrator_step(in, &state, 1.0 / 400)) return fail("step");
    if (step % 20) continue;
    if (cb_immersed_workspace_measure(workspace, &state, &row)) return fail("measures");
    energy = row.kinetic + row.potential;
    if (!(energy < last + 1e-6 * row.kinetic)) return fail("drag takes energy only");
    last = energy;
    printf("t = %5.3f  x %8.5f %8.5f %8.5f  v %8.5f  energy %.6e", state.t, state.g.x[0], state.g.x[1], state.g.x[2],
           row.twist[5], energy);
    for (int i = 0; i < cb_immersed_wrenches(body); i++)
      printf("  %s %.2e", cb_immersed_wrench_name(body, i), wrench[i][5]);
    printf("\n");
  }
  const bool slower = state.g.x[2] < 0 && state.g.x[2] > -9.81 * 0.5 * 0.5 / 2; /* slower than without air */
  cb_integrator_free(in);
  cb_immersed_workspace_free(workspace);
  cb_immersed_free(body);
  cb_medium_free(air);
  cb_surface_free(leaf);
  cb_tree_free(tree);
  return slower ? 0 : fail("falls as without air");
}
