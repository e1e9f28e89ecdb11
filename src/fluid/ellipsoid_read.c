/* The ellipsoids of a body from a scenario: `geoms` as MuJoCo has them, each with the ellipsoid that stands for it.
 *
 *   sphere [r]; capsule [r, half length of the cylinder]: (r, r, r + h); cylinder [r, half length]: (r, r, h);
 *   ellipsoid, box and mesh (the half sides of its box): three half sides
 */
#include "fluid/ellipsoid.h"

#include "numerics/quaternion.h"
#include "core/errors.h"

#include <stdlib.h>

typedef struct geom {
  int type;
  const cb_node *size, *position, *quaternion, *coefficients;
} geom;

enum { SPHERE, CAPSULE, CYLINDER };

static const cb_param table[] = {
    {"type", CB_PARAM_CHOICE, offsetof(geom, type), "ellipsoid", "", "", "sphere|capsule|cylinder|ellipsoid|box|mesh",
     "what the ellipsoid stands for"},
    {"size", CB_PARAM_NODE, offsetof(geom, size), "", "m", "", NULL, "radius, and half length; or three half sides"},
    {"position", CB_PARAM_NODE, offsetof(geom, position), "", "m", "", NULL, "of its centre in the body"},
    {"quaternion", CB_PARAM_NODE, offsetof(geom, quaternion), "", "", "", NULL, "[w, x, y, z] of its axes"},
    {"coefficients", CB_PARAM_NODE, offsetof(geom, coefficients), "", "", "", NULL,
     "[blunt, slender, angular, kutta, magnus]"},
    {0},
};

/* n numbers, none of which is below `least`, or at it where `above`. */
static cb_status read_numbers(const cb_node *node, const char *what, const char *name, int n, double least, bool above,
                              double *out) {
  if (node->kind != CB_NODE_LIST || (int)node->count != n)
    return cb_node_fail(node, "%s: %s: expected a list of %d numbers", what, name, n);
  cb_status status = cb_node_reals(node, (size_t)n, out);
  for (int i = 0; i < n && !status; i++)
    if (!(out[i] >= least) || (above && out[i] == least))
      status = cb_node_fail(node->items[i], "%s: %s: expected a number %s %g, found %g", what, name,
                            above ? ">" : ">=", least, out[i]);
  return status;
}

static cb_status read_size(const cb_node *node, const geom *p, double r[3]) {
  const int n = p->type == SPHERE ? 1 : p->type <= CYLINDER ? 2 : 3;
  double size[3];
  if (!p->size) return cb_node_fail(node, "geoms: the key `size` is missing");
  const cb_status status = read_numbers(p->size, "geoms", "size", n, 0, true, size);
  if (status) return status;
  for (int i = 0; i < 3; i++) r[i] = n == 3 ? size[i] : size[0];
  if (p->type == CAPSULE) r[2] = size[0] + size[1];
  if (p->type == CYLINDER) r[2] = size[1];
  return CB_OK;
}

cb_status cb_axes_read(const cb_node *node, const char *what, double axes[3][3], bool *turned) {
  double q[4] = {1, 0, 0, 0};
  cb_status status = node ? read_numbers(node, what, "quaternion", 4, -INFINITY, false, q) : CB_OK;
  const double length = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  if (!status && !(length > 0 && length < INFINITY))
    status = cb_node_fail(node, "%s: quaternion: expected one that is not 0, found one of norm %g", what, length);
  if (status) return status;
  cb_quaternion_project(q);
  cb_quaternion_rotation(q, axes);
  *turned = q[1] != 0 || q[2] != 0 || q[3] != 0;
  return CB_OK;
}

/* given: coefficients may be. */
static cb_status read_geom(const cb_node *node, bool given, cb_ellipsoid *e) {
  geom p;
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "geoms: expected {type: .., size: [..]}");
  cb_status status = cb_params_bind(table, node, node, NULL, 0, &p);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, read_size(node, &p, e->r));
  if (p.position)
    cb_errors_add(&errors, p.position, read_numbers(p.position, "geoms", "position", 3, -INFINITY, false, e->place));
  cb_errors_add(&errors, p.quaternion, cb_axes_read(p.quaternion, "geoms", e->axes, &e->turned));
  if (p.coefficients && !given)
    cb_errors_add(&errors, p.coefficients, cb_node_fail(p.coefficients, "geoms: coefficients: expected none"));
  if (p.coefficients && given)
    cb_errors_add(
        &errors, p.coefficients,
        read_numbers(p.coefficients, "geoms", "coefficients", CB_ELLIPSOID_COEFFICIENTS, 0, false, e->coefficient));
  return cb_errors_end(&errors);
}

static cb_status of_box(const cb_surface *s, cb_ellipsoid *e) {
  for (int k = 0; k < 3; k++) {
    double low = s->x[0][k], high = low;
    for (int v = 1; v < s->vertices; v++) low = fmin(low, s->x[v][k]), high = fmax(high, s->x[v][k]);
    e->place[k] = (low + high) / 2;
    e->r[k] = (high - low) / 2;
    if (!(e->r[k] > 0))
      return cb_fail(CB_ERROR_INPUT, "the body is flat along %c: expected `geoms`, ellipsoids that stand for it",
                     "xyz"[k]);
  }
  return cb_axes_read(NULL, "geoms", e->axes, &e->turned);
}

cb_status cb_ellipsoids_read(const cb_node *list, const cb_surface *surface,
                             const double coefficient[CB_ELLIPSOID_COEFFICIENTS], cb_ellipsoid_rule rule,
                             cb_ellipsoids **out) {
  if (list && (list->kind != CB_NODE_LIST || list->count == 0))
    return cb_node_fail(list, "geoms: expected a list of {type: .., size: [..]}");
  const size_t n = list ? list->count : 1;
  cb_ellipsoids *all = calloc(1, sizeof *all);
  if (all) *all = (cb_ellipsoids){(int)n, calloc(n, sizeof *all->of), calloc(n, sizeof *all->place)};
  if (!all || !all->of || !all->place) {
    cb_ellipsoids_free(all);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu ellipsoids", n);
  }
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < n; i++) {
    cb_ellipsoid *e = all->of + i;
    for (int k = 0; k < CB_ELLIPSOID_COEFFICIENTS && coefficient; k++) e->coefficient[k] = coefficient[k];
    const cb_status status = list ? read_geom(list->items[i], coefficient, e) : of_box(surface, e);
    if (cb_errors_add(&errors, list ? list->items[i] : NULL, status)) continue;
    cb_ellipsoid_finish(e, rule);
    for (int k = 0; k < 3; k++) all->place[i][k] = e->place[k];
  }
  const cb_status status = cb_errors_end(&errors);
  if (status)
    cb_ellipsoids_free(all);
  else
    *out = all;
  return status;
}
