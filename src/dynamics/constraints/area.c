/* The sum of the areas of geodesic triangles, from their sides, in spaces of constant curvature.
 *
 *   A = 4/|K| atan(|K| P),   P = prod over i = 0..3 of t(sigma_i/2)^(1/2),   t = s/c      (L'Huilier)
 *
 * A is the area of a triangle and K the curvature; s, c and sigma_i are those of dynamics/constraint_charts.c. P is
 * differentiated by its logarithm:
 *   d log t(x/2)^(1/2) = dx/(2 s(x))
 * Small triangles are therefore as accurate as large ones. Source: Todhunter, Spherical Trigonometry (1886), article
 * 102.
 */
#include "dynamics/builder_private.h"

#include "numerics/numerics_curved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const cb_constraint_class cb_constraint_area;

typedef struct keys {
  const cb_node *body, *triangles, *target, *name;
} keys;

static const cb_param table[] = {
    CB_CONSTRAINT_KEY(keys, "body", body, "", "", "a body with triangles: a mesh, a triangle"),
    CB_CONSTRAINT_KEY(keys, "triangles", triangles, "", "", "instead of body: [[[a, 0], [a, 1], [a, 2]], ..]"),
    CB_CONSTRAINT_TARGET(keys, "area", target, "units of area"),
    CB_CONSTRAINT_NAME(keys, name),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_builder_area(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target area) {
  cb_status status = cb_builder_check_factors(b, "area", 1);
  if (!status) status = cb_builder_check_triangles(b, "area", n, triangle);
  if (!status) status = cb_builder_check_range("area", "value", area, 0, INFINITY);
  if (status) return status;
  int *particle = malloc(3 * (size_t)n * sizeof *particle);
  if (!particle) return cb_fail(CB_ERROR_MEMORY, "no memory for %d triangles", n);
  for (int t = 0; t < n; t++) memcpy(particle + 3 * t, triangle[t], sizeof triangle[t]);
  cb_constraint row = {.class = &cb_constraint_area, .name = name, .elements = n, .width = 3, .particle = particle};
  status = cb_builder_add_targeted(b, &row, &area);
  free(particle);
  return status;
}

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const keys *p = params;
  return cb_constraint_read_triangles(e, p->body, p->triangles, p->target, "area", "> 0", cb_builder_area);
}

enum { SIDES = CB_TRIANGLE_SIDES };

static cb_status area_by_sides(const cb_space *g, const double *d, double *value, double *gradient, double *hessian) {
  const double curvature = g->factor[0].curvature, size = fabs(curvature);
  const cb_trig trig = cb_trig_of(curvature);
  double sigma[4], first[4], second[4], l[SIDES], ll[SIDES * SIDES], product = 1;
  cb_triangle_half_sums(d, sigma);
  for (int i = 0; i < 4; i++) {
    double s = cb_trig_s(trig, sigma[i]), c = cb_trig_c(trig, sigma[i]);
    product *= cb_trig_s(trig, sigma[i] / 2) / cb_trig_c(trig, sigma[i] / 2);
    first[i] = 0.5 / s;
    second[i] = -0.5 * c / (s * s);
    if (!(s > 0))
      return cb_fail(CB_STEP_DOMAIN,
                     "the area of a triangle with sides %g, %g, %g has no derivatives: expected a triangle with three "
                     "different corners that are not on one geodesic",
                     d[0], d[1], d[2]);
  }
  double P = sqrt(product), z = size * P, turn = 1 + z * z;
  *value = size > 0 ? 4 / size * atan(z) : 4 * P;
  if (!gradient) return CB_OK;
  cb_triangle_in_sides(first, second, l, ll);
  cb_triangle_by_logarithm(4 * P / turn, 4 * P * (1 - z * z) / (turn * turn), l, ll, gradient, hessian);
  return CB_OK;
}

static cb_status area(const cb_constraints *c, const cb_constraint *row, int element, double t, const double *const *x,
                      int order, cb_element *out) {
  static const int ends[SIDES][2] = {{0, 1}, {1, 2}, {2, 0}};
  (void)row;
  (void)element;
  (void)t;
  return cb_triangle_by_sides(c->space, area_by_sides, ends, x, order, out);
}

const cb_constraint_class cb_constraint_area = {.name = "area",
                                                .title = "area of geodesic triangles",
                                                .doc = "",
                                                .params = table,
                                                .params_size = sizeof(keys),
                                                .read = read,
                                                .points = 3,
                                                .element = area,
                                                .sized = true};
