/* A space from outside the tree: H2 x E as a product of a hyperbolic plane and a line, in one const object. */
#include <curvebody/geometry.h>
#include <curvebody/integrator.h>
#include <curvebody/system.h>
#include <math.h>
#include <stdio.h>

static cb_status init(cb_geometry *g, const void *params) {
  (void)params;
  g->dim = 3;
  g->k = g->embedding = 4;
  g->n_factors = 2;
  g->factor[0] = (cb_factor){0, 3, -1};
  g->factor[1] = (cb_factor){3, 1, 0};
  g->form[0] = g->form[1] = g->form[3] = 1;
  g->form[2] = -1;
  g->n_killing = 1;
  g->killing[0].name = "translation_z";
  g->killing[0].b[3] = 1;
  g->picture = "embedding";
  return CB_OK;
}

static const cb_geometry_class outside = {.name = "outside", .title = "H2 x E from outside", .doc = "", .init = init};

static int fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, cb_error_text());
  return 1;
}

int main(void) {
  cb_geometry *g;
  cb_builder *b;
  cb_system *s;
  cb_state *state;
  cb_integrator *in;
  if (cb_geometry_create_class(&outside, NULL, &g)) return fail("space");
  if (cb_builder_create(g, &b)) return fail("builder");
  int body, i, j;
  /* a spring at rest along the line, carried by the hyperbolic plane's straight motion through the origin */
  const double x[4] = {0, 0, 1, 0.5}, y[4] = {0, 0, 1, -0.5}, v[4] = {1, 0, 0, 0};
  if (cb_builder_body(b, "rod", &body) || cb_builder_particle(b, NULL, 1, 0, 0, x, v, &i) ||
      cb_builder_particle(b, NULL, 1, 0, 0, y, v, &j) || cb_builder_spring(b, i, j, 1, -1, 0) ||
      cb_builder_finish(b, &s))
    return fail("system");
  if (cb_state_create(s, &state) || cb_system_start(s, state)) return fail("state");
  if (cb_integrator_create("lobatto", NULL, s, &in)) return fail("integrator");
  for (int k = 0; k < 100; k++)
    if (cb_integrator_step(in, state, 0.01)) return fail("step");
  /* both particles move along the same geodesic of the plane for time 1 */
  const double error = fabs(state->x[0] - sinh(1.0)) + fabs(fabs(state->x[3]) - 0.5);
  printf("error %.3g\n", error);
  cb_integrator_free(in);
  cb_state_free(state);
  cb_system_free(s);
  cb_builder_free(b);
  cb_geometry_free(g);
  return error < 1e-12 ? 0 : 1;
}
