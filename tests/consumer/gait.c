/* Purcell's swimmer from a scenario: the curvature of its connection, the holonomy of a gait, and the gait of minimum
 * cost. */
#include <curvebody/holonomy.h>
#include <curvebody/scenario.h>
#include <math.h>
#include <stdio.h>

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, cb_error_text());
  return 1;
}

int main(int argc, char **argv) {
  double A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX], B[CB_GROUP_DIM];
  double g[CB_GROUP_SIZE], length, cost;
  const double shape[2] = {0.5, -0.3};
  cb_scenario *scenario;
  cb_optima *found;
  if (cb_scenario_open_bundle(argc > 1 ? argv[1] : "gait.yaml", NULL, 0, &scenario)) return fail("scenario");
  const cb_bundle *swimmer = cb_scenario_bundle(scenario);
  if (cb_bundle_connection(swimmer, shape, A, NULL, M, NULL)) return fail("connection");
  if (cb_bundle_curvature(swimmer, shape, 0, 1, B)) return fail("curvature");
  if (cb_optimum_find(cb_scenario_optimum(scenario), &found)) return fail("optimum");
  const cb_optimum *best = &found->item[0];
  if (cb_holonomy(swimmer, best->gait, 0, g, &length, &cost)) return fail("holonomy");

  printf("at (0.5, -0.3): A_theta = (%.10f, %.10f), B = (%.10f, %.10f, %.10f), M_11 = %.10f\n", A[4], A[5], B[0], B[1],
         B[2], M[0]);
  for (int k = 0; k < found->count; k++)
    printf("cost %.12f, %s, found by %d of %d starts\n", found->item[k].cost,
           found->item[k].index ? "a saddle" : "a minimum", found->item[k].found, found->starts);
  printf("the best moves by %.12f, its cost as a holonomy is %.12f\n", hypot(g[0], g[1]), cost);
  const double off = fabs(best->cost - 0.118182747176) + fabs(best->cost - cost);
  cb_optima_free(found);
  cb_scenario_free(scenario);
  return off < 1e-11 ? 0 : fail("another optimum");
}
