/* Tests of the observable `coordinates` in every chart of six spaces. */
#include "check_geometry.h"
#include "simulate.h"

static const char body[] =
    "curvebody: 1\nbodies:\n  - kind: triangle\n    masses: [1, 2.7, 0.6]\n    link: {spring: {stiffness: 1.3, rest: "
    ".9}}\n"
    "    place: {tangent: [[.5, .1], [-.3, .4], [.1, -.5]], at: {chart: polar, point: [.4, .3]}}\n"
    "    motion: {chart: polar, velocities: [[.1, .2], [-.2, .1], [.3, -.1]]}\n"
    "integrator: {name: lobatto, step: .01}\ntime: {end: 1}\n";

static void coordinates_lead_back_to_the_point_in_every_chart(void **unused) {
  static const char *const spaces[] = {"e2", "s2", "h2", "e3", "s3", "h3"};
  static const char *const fields[] = {"coordinates", "position", NULL};
  for (int i = 0; i < 6; i++) {
    cb_space *g;
    check_ok(cb_space_create(spaces[i], NULL, &g));
    for (size_t c = 0; c < cb_chart_count(g); c++) {
      const cb_chart *chart = cb_chart_at(g, c);
      char space[64], name[64], point[96], tangent[128], motion[160];
      snprintf(space, sizeof space, "space=%s", spaces[i]);
      snprintf(name, sizeof name, "record={observables: [coordinates], chart: %s}", chart->name);
      const char *three = g->dim == 3 ? ", .2" : "";
      snprintf(point, sizeof point, "bodies.0.place.at.point=[.4, 1.1%s]", three);
      snprintf(tangent, sizeof tangent, "bodies.0.place.tangent=[[.5, .1%s], [-.3, .4%s], [.1, -.5%s]]", three, three,
               three);
      snprintf(motion, sizeof motion, "bodies.0.motion.velocities=[[.1, .2%s], [-.2, .1%s], [.3, -.1%s]]", three, three,
               three);
      const char *sets[] = {space, name, point, tangent, motion};
      simulation *s = simulate(body, sets, 5, fields);
      assert_int_equal(s->width[0], 3 * chart->size);
      double error = 0;
      for (size_t r = 0; r < s->rows; r++)
        for (int p = 0; p < 3; p++) {
          double x[CB_COORD_MAX];
          check_ok(chart->to_point(g, s->value[0] + r * s->width[0] + (size_t)(p * chart->size), x, NULL));
          error = fmax(error, check_distance_max(g->k, x, s->value[1] + r * s->width[1] + (size_t)(p * g->k)));
        }
      if (!(error <= 1e-13)) print_error("%s in chart %s: %g\n", spaces[i], chart->name, error);
      check_at_most(error, 1e-13);
      simulation_free(s);
    }
    cb_space_free(g);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(coordinates_lead_back_to_the_point_in_every_chart)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
