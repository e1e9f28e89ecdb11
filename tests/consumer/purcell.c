/* Prints the displacement of Purcell's swimmer per cycle (the holonomy of its gait), the length and the cost of the
 * gait, the curvature at one shape, and a table of the path. */
#include <curvebody/holonomy.h>
#include <math.h>
#include <stdio.h>

static const char text[] =
    "bundle: {links: 3, ratio: 2}\n"
    "gait: {fourier: {mean: [0, 0], cosine: [[1, 0]], sine: [[0, 1]]}}\n";

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, cb_error_text());
  return 1;
}

int main(void) {
  enum { TIMES = 5 };
  static const double time[TIMES] = {0, 0.25, 0.5, 0.75, 1};
  double g[CB_GROUP_SIZE], B[CB_GROUP_DIM], path[TIMES * CB_GROUP_SIZE], length, cost;
  const double shape[2] = {0.5, -0.3};
  cb_tree *tree;
  cb_bundle *swimmer;
  cb_gait *gait;
  if (cb_tree_read("gait", text, &tree)) return fail("text");
  if (cb_bundle_create("purcell", cb_node_get(cb_tree_root(tree), "bundle"), &swimmer)) return fail("bundle");
  if (cb_gait_read(swimmer, cb_node_get(cb_tree_root(tree), "gait"), NULL, NULL, &gait)) return fail("gait");
  if (cb_holonomy(swimmer, gait, 0, g, &length, &cost)) return fail("holonomy");
  if (cb_reconstruct(swimmer, gait, 0, TIMES, time, path)) return fail("path");
  if (cb_bundle_curvature(swimmer, shape, 0, 1, B)) return fail("curvature");

  for (int i = 0; i < TIMES; i++) {
    printf("t = %4.2f", time[i]);
    for (int k = 0; k < swimmer->group->size; k++)
      printf("  %s = %13.10f", swimmer->group->number[k], path[i * swimmer->group->size + k]);
    printf("\n");
  }
  printf("length %.10f, cost %.10f, curvature at (0.5, -0.3): %.10f %.10f %.10f\n", length, cost, B[0], B[1], B[2]);
  cb_gait_free(gait);
  cb_bundle_free(swimmer);
  cb_tree_free(tree);
  return fabs(g[0] + 0.04949902143485) + fabs(g[1] - 0.01340036636874) < 1e-11 ? 0 : fail("another holonomy");
}
