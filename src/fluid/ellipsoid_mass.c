/* Ellipsoids of a body: their added mass, and how they are read from a scenario (below). See fluid/ellipsoid.h. */
#include "fluid/ellipsoid.h"
#include "numerics/vec3.h"
#include "core/failure.h"
#include "tree/scalar.h"

#include <gsl/gsl_sf_ellint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- added mass --- */

/* Kronrod's nodes and weights on [0, 1], with as many decimals as in MuJoCo; the other half follows by symmetry. */
static const double rule_node[8] = {0.00427231, 0.02544604, 0.06756779, 0.12923441,
                                    0.20695638, 0.29707742, 0.39610752, 0.5},
                    rule_weight[8] = {0.01146766, 0.03154605, 0.05239501, 0.07032663,
                                      0.08450236, 0.09517529, 0.10221647, 0.10474107};

static double by_kronrod(double a, double b, double c) {
  const double scale = pow(a * a * a * b * c, 0.4);
  double sum = 0;
  for (int i = 0; i < 15; i++) {
    const int k = i < 8 ? i : 14 - i;
    const double x = i < 8 ? rule_node[k] : 1 - rule_node[k], y = 1 - x, l = scale * x * x * x / (y * y),
                 dl = scale * x * x * (3 - x) / (y * y * y);
    sum += rule_weight[k] * dl / ((a * a + l) * sqrt((a * a + l) * (b * b + l) * (c * c + l)));
  }
  return a * b * c * sum;
}

void cb_ellipsoid_kappa(const double r[3], cb_ellipsoid_rule rule, double kappa[3]) {
  for (int i = 0; i < 3; i++) {
    const double a = r[i], b = r[(i + 1) % 3], c = r[(i + 2) % 3];
    kappa[i] = rule == CB_ELLIPSOID_MUJOCO
                   ? by_kronrod(a, b, c)
                   : 2.0 / 3 * a * b * c * gsl_sf_ellint_RD(b * b, c * c, a * a, GSL_PREC_DOUBLE);
  }
}

void cb_ellipsoid_finish(cb_ellipsoid *e, cb_ellipsoid_rule rule) {
  const double *r = e->r, low = fmin(r[0], fmin(r[1], r[2])), high = fmax(r[0], fmax(r[1], r[2])),
               middle = fmax(fmin(r[0], r[1]), fmin(fmax(r[0], r[1]), r[2]));
  double kappa[3];
  cb_ellipsoid_kappa(r, rule, kappa);
  e->volume = 4 * M_PI / 3 * r[0] * r[1] * r[2];
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    const double d = r[j] * r[j] - r[k] * r[k], s = r[j] * r[j] + r[k] * r[k], across = kappa[k] - kappa[j],
                 /* 2 - kappa_i loses digits for thin bodies; kappa_j + kappa_k has the same value without the loss */
        rest = rule == CB_ELLIPSOID_MUJOCO ? 2 - kappa[i] : kappa[j] + kappa[k],
                 below = rule == CB_ELLIPSOID_MUJOCO
                             ? 2 * d - s * across
                             : d * kappa[i] + 2 * (r[j] * r[j] * kappa[j] - r[k] * r[k] * kappa[k]);
    e->mass[i] = e->volume * kappa[i] / rest;
    const double side = r[j] * r[k], wide = fmax(r[j], r[k]);
    e->side2[i] = side * side;
    e->chord[i] = 4 * M_PI / 3 * r[i] * wide * wide;
    e->spin[i] = 8 * M_PI / 15 * r[i] * (wide * wide) * (wide * wide);
    e->inertia[i] = d != 0 ? e->volume / 5 * d * d * across / below : 0;
  }
  e->greatest = M_PI * high * middle;
  e->spun = 8 * M_PI / 15 * middle * pow(high, 4);
  e->stokes = (low + middle + high) / 3;
}

void cb_ellipsoid_mass(const cb_ellipsoid *e, double K[6][6]) {
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < 3; i++)
      for (int j = 0; j < 3; j++) {
        const double n = e->axes[i][a] * e->axes[j][a];
        K[i][j] += e->inertia[a] * n;
        K[3 + i][3 + j] += e->mass[a] * n;
      }
}

/* Adds X^T K_e X for each ellipsoid. K_e is the added mass about its centre c, and X Y = (w, v + w × c) is the twist of
 * this centre for the twist Y = (w, v) of the body. */
void cb_ellipsoids_add_mass(const cb_ellipsoids *all, double K[6][6]) {
  for (int p = 0; p < all->n; p++) {
    double own[6][6] = {{0}};
    cb_ellipsoid_mass(all->of + p, own);
    cb_add_carried6((const double(*)[6])own, all->place[p], K);
  }
}

/* --- axes --- */

void cb_ellipsoid_turn(const cb_ellipsoid *e, const double V[6], double out[6]) {
  cb_turn6_transposed(e->axes, V, out);
}

void cb_ellipsoid_turn_back(const cb_ellipsoid *e, double F[6], double (*dF)[6]) {
  double turned[6];
  cb_turn6(e->axes, F, turned);
  for (int k = 0; k < 6; k++) F[k] = turned[k];
  if (dF) cb_turn_matrix6(e->axes, dF);
}

/* --- all ellipsoids of a body --- */

void cb_ellipsoids_free(cb_ellipsoids *e) {
  if (!e) return;
  free(e->of);
  free(e->place);
  free(e->part);
  free(e->named);
  free(e);
}

int cb_ellipsoids_places(const cb_fluid_model *m, const void *body, const double (**at)[3]) {
  const cb_ellipsoids *e = body;
  (void)m;
  *at = (const double(*)[3])e->place;
  return e->n;
}

void cb_ellipsoids_release(const cb_fluid_model *m, void *body) {
  (void)m;
  cb_ellipsoids_free(body);
}

/* Reads the ellipsoids of a body from a scenario. `geoms` lists shapes as in MuJoCo, and each is replaced by an
 * ellipsoid. Below, the numbers of `size` are in brackets, and the semi-axes of the ellipsoid in parentheses.
 *
 * A geom with the key `part` moves with this part of the surface, and `position` and `quaternion` are those at rest.
 *
 *   sphere [r]: (r, r, r);  capsule [r, half length h of the cylinder]: (r, r, r + h);  cylinder [r, half length h]:
 *   (r, r, h);  ellipsoid, box and mesh (its box) [a, b, c], three half sides: (a, b, c) */

typedef struct geom {
  int type;
  const cb_node *size, *position, *quaternion, *part, *coefficients;
} geom;

enum { SPHERE, CAPSULE, CYLINDER };

static const cb_param table[] = {
    {"type", CB_PARAM_CHOICE, offsetof(geom, type), "ellipsoid", "", "", "sphere|capsule|cylinder|ellipsoid|box|mesh",
     "shape that the ellipsoid replaces"},
    {"size", CB_PARAM_NODE, offsetof(geom, size), "", "m", "", NULL, "radius and half length, or three half sides"},
    {"position", CB_PARAM_NODE, offsetof(geom, position), "", "m", "", NULL, "position of its centre in the body"},
    {"quaternion", CB_PARAM_NODE, offsetof(geom, quaternion), "", "", "", NULL,
     "[w, x, y, z], orientation of its axes"},
    {"part", CB_PARAM_NODE, offsetof(geom, part), "", "", "", NULL, "part of the surface with which it moves"},
    {"coefficients", CB_PARAM_NODE, offsetof(geom, coefficients), "", "", "", NULL,
     "[blunt, slender, angular, kutta, magnus]"},
    {0},
};

/* Reads n numbers. Each must be at least `least`, or above `least` if `above` is set. */
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
    status = cb_node_fail(node, "%s: quaternion: expected a norm that is not 0, found %g", what, length);
  if (status) return status;
  cb_quaternion_project(q);
  cb_quaternion_rotation(q, axes);
  *turned = q[1] != 0 || q[2] != 0 || q[3] != 0;
  return CB_OK;
}

cb_status cb_part_read(const cb_node *node, const cb_surface *surface, int *part) {
  const char *name;
  *part = -1;
  if (!node) return CB_OK;
  const cb_status status = cb_node_string(node, &name);
  if (status) return status;
  for (int p = surface->parts - 1; p >= 0; p--)
    if (!strcmp(surface->name[p], name)) *part = p;
  return *part >= 0 ? CB_OK
                    : cb_fail_unknown(node, "part", name, (const char *const *)surface->name, (size_t)surface->parts);
}

/* Reads entry number i of `geoms`. `given` tells whether the entry may have coefficients. */
static cb_status read_geom(const cb_node *node, const cb_surface *surface, bool given, cb_ellipsoids *all, size_t i) {
  cb_ellipsoid *e = all->of + i;
  geom p;
  if (node->kind != CB_NODE_MAP) return cb_node_fail(node, "geoms: expected {type: .., size: [..]}");
  cb_status status = cb_params_bind(table, node, node, NULL, 0, &p);
  if (status) return status;
  cb_errors errors = cb_errors_begin();
  cb_errors_add(&errors, node, read_size(node, &p, e->r));
  if (p.position)
    cb_errors_add(&errors, p.position, read_numbers(p.position, "geoms", "position", 3, -INFINITY, false, e->place));
  cb_errors_add(&errors, p.quaternion, cb_axes_read(p.quaternion, "geoms", e->axes, &e->turned));
  all->named[i] = p.part;
  cb_errors_add(&errors, p.part, cb_part_read(p.part, surface, &all->part[i]));
  if (p.coefficients && !given)
    cb_errors_add(&errors, p.coefficients,
                  cb_node_fail(p.coefficients, "geoms: coefficients: expected no such key for this model"));
  if (p.coefficients && given)
    cb_errors_add(
        &errors, p.coefficients,
        read_numbers(p.coefficients, "geoms", "coefficients", CB_ELLIPSOID_COEFFICIENTS, 0, false, e->coefficient));
  return cb_errors_end(&errors);
}

/* --- without `geoms` --- */

/* Returns whether the face belongs to the ellipsoid of part p. If p < 0, this is the ellipsoid of all parts that do not
 * move. */
static bool replaces(const cb_surface *s, const bool *moves, int p, int face) {
  return p >= 0 ? s->part[face] == p : !moves[s->part[face]];
}

static cb_status of_box(const cb_surface *s, const bool *moves, int part, cb_ellipsoid *e) {
  const bool all = part < 0 && !moves;
  for (int k = 0; k < 3; k++) {
    double low = INFINITY, high = -INFINITY;
    for (int i = 0; i < (all ? s->vertices : 3 * s->faces); i++) {
      if (!all && !replaces(s, moves, part, i / 3)) continue;
      const double x = s->x[all ? i : s->face[i / 3][i % 3]][k];
      low = fmin(low, x);
      high = fmax(high, x);
    }
    e->place[k] = (low + high) / 2;
    e->r[k] = (high - low) / 2;
    if (!(e->r[k] > 0))
      return cb_fail(CB_ERROR_INPUT, "%s%s%s is flat along %c: expected `geoms`, the ellipsoids that replace it",
                     part < 0 ? "the body" : "part `", part < 0 ? "" : s->name[part], part < 0 ? "" : "`", "xyz"[k]);
  }
  return cb_axes_read(NULL, "geoms", e->axes, &e->turned);
}

/* Finds the ellipsoids of a body without `geoms`: one, or one for each part that moves and one for all other parts
 * together. *n becomes their number. part[*n] (unless NULL) becomes the part of each ellipsoid, or -1 for the ellipsoid
 * of the parts that do not move. */
static void automatic(const cb_surface *s, const bool *moves, size_t *n, int *part) {
  int moving = 0;
  *n = 0;
  for (int p = 0; moves && p < s->parts; p++) moving += moves[p];
  if (!moving || s->parts == 1 || moving < s->parts) {
    if (part) part[*n] = -1;
    ++*n;
  }
  for (int p = 0; p < s->parts && moving && s->parts > 1; p++) {
    if (!moves[p]) continue;
    if (part) part[*n] = p;
    ++*n;
  }
}

/* --- the ellipsoids --- */

static cb_status make_room(size_t n, cb_ellipsoids **out) {
  cb_ellipsoids *all = calloc(1, sizeof *all);
  if (all)
    *all = (cb_ellipsoids){(int)n, calloc(n, sizeof *all->of), calloc(n, sizeof *all->place),
                           calloc(n, sizeof *all->part), calloc(n, sizeof *all->named)};
  if (!all || !all->of || !all->place || !all->part || !all->named) {
    cb_ellipsoids_free(all);
    return cb_fail(CB_ERROR_MEMORY, "no memory for %zu ellipsoids", n);
  }
  *out = all;
  return CB_OK;
}

cb_status cb_ellipsoids_read(const cb_node *list, const cb_surface *surface, const bool *moves,
                             const double coefficient[CB_ELLIPSOID_COEFFICIENTS], cb_ellipsoid_rule rule,
                             cb_ellipsoids **out) {
  if (list && (list->kind != CB_NODE_LIST || list->count == 0))
    return cb_node_fail(list, "geoms: expected a list of {type: .., size: [..]}");
  const bool *seen = surface && surface->parts > 1 ? moves : NULL;
  size_t n = list ? list->count : 0;
  cb_ellipsoids *all = NULL;
  if (!list) automatic(surface, seen, &n, NULL);
  const cb_status made = make_room(n, &all);
  if (made) return made;
  if (!list) automatic(surface, seen, &n, all->part);
  cb_errors errors = cb_errors_begin();
  for (size_t i = 0; i < n; i++) {
    cb_ellipsoid *e = all->of + i;
    for (int k = 0; k < CB_ELLIPSOID_COEFFICIENTS && coefficient; k++) e->coefficient[k] = coefficient[k];
    const cb_status status =
        list ? read_geom(list->items[i], surface, coefficient, all, i) : of_box(surface, seen, all->part[i], e);
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

int cb_ellipsoids_part_of(const cb_fluid_model *m, const void *body, int place, const cb_node **named) {
  const cb_ellipsoids *e = body;
  (void)m;
  *named = e->named[place];
  return e->part[place];
}
