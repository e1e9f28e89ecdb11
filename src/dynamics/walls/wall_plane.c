/* A wall that is a totally geodesic plane: particles at x, of radius r, stay where s = d - r > 0. d is the signed
 * distance of x from the plane through the point c with the unit normal n. Here I = diag(form), and K is the curvature
 * of the factor; d has one formula each for K > 0, K = 0 and K < 0:
 *   u = <x, n>, in flat space <x - c, n>,   d = asin(sqrt(K) u)/sqrt(K) | u | asinh(sqrt(-K) u)/sqrt(-K),
 *   d_x = I n/sqrt(1 - K u^2)
 * In a moved frame, n and c are expressed in that frame. n may then be as large as exp(distance of c), while u is small
 * if the particle is near the plane. On a sphere sqrt(1 - K u^2) is the length, in radii, of x without its part along
 * n.
 *
 * Bound: d'' >= -sqrt(K) tan(sqrt(K) d) |v_t|^2 - acc, where v_t is the part of the velocity along the surface at
 * distance d from the plane, and acc is the acceleration. In H^n, -sqrt(-K) tanh(sqrt(-K) d) takes the place of sqrt(K)
 * tan(sqrt(K) d). Lengths are in units of the scenario. Source: Ratcliffe, Foundations of Hyperbolic Manifolds (2006),
 * sections 2.1 and 3.2, doi:10.1007/978-0-387-47322-2.
 */
#include "dynamics/builder_private.h"
#include "dynamics/gap_class.h"
#include "geometry/given_point.h"
#include "geometry/quadric.h"

#include <math.h>
#include <string.h>

enum { K = CB_COORD_MAX };

/* The part of a given normal that is not tangent to the space may have at most this size, relative to the normal, and
 * is removed. In a product of factors, the part of the normal in a factor is also removed if it is at most this large.
 */
static const double off_space = 1e-9;

/* A Killing field preserves the plane if it changes the unit normal, and moves the plane, by at most this. Smaller
 * numbers are round-off. */
static const double vanishes = 1e-12;
/* The length view.beyond (see `longest`) is added to the distance only if |u| is above this. */
static const double huge_normal = 1e100;
/* If a frame is farther than this, in radii, from the given point of the plane, the plane is first expressed in a frame
 * at this distance. The part of the length that is left (view.beyond) is then added to the distance that is computed
 * from u. */
static const double longest = 300;

static cb_status step_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

typedef struct plane {
  const cb_node *at, *given_normal;
  double centre[K]; /* a point of the plane, in the world's coordinates, as given */
  double normal[K]; /* the unit normal in the embedding; zero outside `factor` */
  double foot[K];   /* `centre` in the embedding */
  double local[K];  /* the normal relative to an origin at `foot` */
  int factor;       /* the index of the factor in which the normal lies */
} plane;

static const cb_param params[] = {
    {"at", CB_PARAM_NODE, offsetof(plane, at), NULL, "", "", NULL, "a point of the plane, {chart: .., point: [..]}"},
    {"normal", CB_PARAM_NODE, offsetof(plane, given_normal), NULL, "", "", NULL,
     "a vector at that point, towards the side of the bodies, in the same coordinates"},
    {0}};

/* --- the plane in the world --- */

/* Converts a point of the plane and its normal to the embedding: sets wall->foot and wall->normal. */
static cb_status in_embedding(const cb_space *g, const double *point, const double *normal, plane *wall) {
  if (g->chart) return cb_chart_push(g, g->chart, point, normal, wall->foot, wall->normal);
  memcpy(wall->foot, wall->centre, sizeof wall->foot);
  memcpy(wall->normal, normal, (size_t)g->k * sizeof *normal);
  return CB_OK;
}

/* Computes v = T^-1 N for the tangent vector N = `vector` at the point `foot`. T is the transvection from the base
 * point to `foot`, over the length L in radii. In H^n, N = (cosh L v_n + v_across, sinh L v_n), where v_n is the part
 * of v along the transvection and v_across the part perpendicular to it. To compute the product T^-1 N, or the length
 * from <N, N>, would lose exp(2 L) units of round-off.
 */
static void seen_from_foot(const cb_space *g, const double *foot, const double *vector, double *v) {
  cb_origin there, back;
  memcpy(v, vector, K * sizeof *v);
  if (!cb_origin_moves(g) || g->intrinsic) return;
  cb_origin_at(g, foot, &there);
  cb_origin_inverse(g, &there, &back);
  cb_origin_world_vector(g, &back, vector, v);
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const double *N = vector + factor.offset, *n = there.direction;
    double along = 0;
    if (factor.curvature >= 0) continue;
    for (int i = 0; i < factor.count - 1; i++) along += n[i] * N[i];
    for (int i = 0; i < factor.count - 1; i++)
      v[factor.offset + i] = N[i] - along * n[i] + along / cosh(cb_origin_radii(g, &there)) * n[i];
    v[factor.offset + factor.count - 1] = 0;
  }
}

static cb_status check_planes(const cb_space *g) {
  if (g->intrinsic)
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "a wall is a plane, but %s has no totally geodesic planes: "
                   "expected a space of constant curvature or a product of these",
                   g->class_->name);
  return CB_OK;
}

/* Checks a plane that is given by a point and a normal at this point. Sets the members of `wall`, with a normal of unit
 * length. */
static cb_status settle(const cb_space *g, const double *point, const double *normal, plane *wall) {
  double given[K], size = 0;
  wall->factor = -1;
  cb_status status = check_planes(g);
  if (!status) status = cb_builder_settle(g, "a wall's point", point, wall->centre);
  for (int a = 0; a < g->k && !status; a++)
    if (!isfinite(normal[a])) status = cb_fail(CB_ERROR_DOMAIN, "a wall's normal: expected finite numbers");
  if (!status) status = in_embedding(g, wall->centre, normal, wall);
  if (status) return status;
  memcpy(given, wall->normal, sizeof given);
  cb_space_project_tangent(g, wall->foot, wall->normal);
  for (int a = 0; a < g->embedding; a++) size = fmax(size, fabs(given[a]));
  for (int a = 0; a < g->embedding; a++)
    if (!(fabs(given[a] - wall->normal[a]) <= off_space * size))
      return cb_fail(CB_ERROR_DOMAIN, "a wall's normal: expected a vector tangent to the space at the wall's point");
  seen_from_foot(g, wall->foot, given, wall->local);
  const double length = sqrt(fmax(0, cb_inner(g, wall->local, wall->local)));
  if (!(length > 0)) return cb_fail(CB_ERROR_ARGUMENT, "a wall's normal of length %g: expected > 0", length);
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const double *part = wall->local + factor.offset;
    if (!(sqrt(fmax(0, cb_factor_inner(factor, part, part))) > off_space * length)) {
      memset(wall->normal + factor.offset, 0, (size_t)factor.count * sizeof *wall->normal);
      memset(wall->local + factor.offset, 0, (size_t)factor.count * sizeof *wall->local);
      continue;
    }
    if (wall->factor >= 0)
      return cb_fail(CB_ERROR_ARGUMENT,
                     "a wall's normal has components in both factors of %s, where no plane is totally geodesic: "
                     "expected a normal in one factor",
                     g->class_->name);
    wall->factor = f;
  }
  for (int a = 0; a < g->embedding; a++) {
    wall->normal[a] /= length;
    wall->local[a] /= length;
  }
  return CB_OK;
}

static cb_status init(void *of, const cb_space *space, cb_builder *b) {
  (void)b;
  plane *w = of;
  double point[K], normal[K];
  cb_status status = check_planes(space);
  if (!status) status = cb_place_space_point(w->at, "at", space, NULL, point);
  if (!status) status = cb_place_vector(w->at, w->given_normal, space, point, normal);
  return status ? status : settle(space, point, normal, w);
}

/* --- distances --- */

/* The plane relative to a frame: its normal, a point of the plane, and a length `beyond`. This length is added to the
 * distance that is computed from the normal. */
typedef struct view {
  double normal[K], foot[K], beyond;
} view;

static double rate_of(const cb_space *g) {
  double rate = 0;
  for (int f = 0; f < g->n_factors; f++)
    if (g->factor[f].curvature < 0) rate = sqrt(-g->factor[f].curvature);
  return rate;
}

static void seen_from(const cb_gaps *gaps, const plane *wall, const cb_origin *origin, view *p) {
  const cb_space *g = gaps->space;
  p->beyond = 0;
  if (origin == &gaps->identity || memcmp(origin, &gaps->identity, sizeof *origin) == 0) {
    memcpy(p->normal, wall->normal, sizeof p->normal);
    memcpy(p->foot, wall->foot, sizeof p->foot);
    return;
  }
  cb_origin there, relative;
  cb_isometry to, back, change;
  double normal[K] = {0}, base[K];
  cb_origin_at(g, wall->foot, &there);
  cb_origin_isometry(g, &there, &to);
  cb_isometry_inverse(g, &to, &back);
  memcpy(normal, wall->local, sizeof normal);
  cb_isometry_point(g, &back, wall->foot, base);
  cb_origin_relative(g, origin, &there, &relative);
  const double rate = rate_of(g);
  if (rate > 0 && rate * relative.length > longest) {
    p->beyond = relative.length - longest / rate;
    relative.length = longest / rate;
  }
  cb_origin_isometry(g, &relative, &change);
  cb_isometry_vector(g, &change, normal, p->normal);
  cb_isometry_point(g, &change, base, p->foot);
}

/* Computes the signed distance d of the point x of the embedding from the plane. The normal of the plane lies in factor
 * f. */
static void plane_distance(const cb_space *g, int f, const view *p, const double *x, double *d, double *gradient) {
  const cb_factor factor = g->factor[f];
  const double k = factor.curvature, rate = sqrt(fabs(k));
  const double *n = p->normal + factor.offset, *at = x + factor.offset;
  double u = 0, across = 0, slope;
  if (gradient) memset(gradient, 0, (size_t)g->embedding * sizeof *gradient);
  for (int a = 0; a < factor.count; a++)
    u += g->form[factor.offset + a] * (k == 0 ? at[a] - p->foot[factor.offset + a] : at[a]) * n[a];
  if (k > 0) {
    for (int a = 0; a < factor.count; a++) across += (at[a] - u * n[a]) * (at[a] - u * n[a]);
    across = rate * sqrt(across);
    *d = atan2(rate * u, across) / rate;
    slope = across > 0 ? 1 / across : 0; /* at the pole every direction leads to the plane */
  } else if (k < 0) {
    *d = asinh(rate * u) / rate;
    if (p->beyond > 0 && fabs(u) > huge_normal) *d += copysign(p->beyond, u);
    slope = 1 / hypot(1, rate * u);
  } else {
    *d = u;
    slope = 1;
  }
  for (int a = 0; gradient && a < factor.count; a++)
    gradient[factor.offset + a] = slope * g->form[factor.offset + a] * n[a];
}

/* to[dim] = J^T from, in a space with a chart: `from` is a gradient in the embedding, and J[embedding][dim] is the
 * Jacobian of the point in the coordinates of the chart. */
static void pull(const cb_space *g, const double *J, const double *from, double *to) {
  for (int i = 0; i < g->dim; i++) {
    to[i] = 0;
    for (int a = 0; a < g->embedding; a++) to[i] += J[a * g->dim + i] * from[a];
  }
}

static cb_status distance(const cb_gaps *gaps, const plane *wall, int i, const double *x, int order, double *d,
                          double *gradient) {
  const cb_space *g = gaps->space;
  view p;
  seen_from(gaps, wall, cb_gap_origin(gaps, i), &p);
  if (!g->chart) {
    plane_distance(g, wall->factor, &p, x, d, order ? gradient : NULL);
    return CB_OK;
  }
  double point[K], J[K * CB_DIM_MAX], slope[K];
  const cb_status status = g->chart->to_point(g, x, point, order ? J : NULL);
  if (status) return step_status(status);
  plane_distance(g, wall->factor, &p, point, d, order ? slope : NULL);
  if (order) pull(g, J, slope, gradient);
  return CB_OK;
}

static cb_status value(cb_gaps *gaps, const cb_gap *gap, const void *of, const double *const *x, int order,
                       cb_gap_value *out) {
  double d;
  const cb_status status = distance(gaps, of, gap->particle[0], x[0], order, &d, out->gradient);
  if (!status) out->gap = d - gaps->system->radius[gap->particle[0]];
  return status;
}

static double bound(const cb_gaps *gaps, const cb_gap *gap, const void *of, const double *const *x, double s,
                    cb_gap_motion m) {
  (void)x;
  const double k = gaps->space->factor[((const plane *)of)->factor].curvature, r = sqrt(fabs(k)),
               d = s + gaps->system->radius[gap->particle[0]];
  double A = m.acceleration;
  if (k > 0) A += m.squares * cb_gap_tangent(k, fmax(0, d + m.maximum));
  if (k < 0) A += m.squares * r * tanh(r * fmax(0, m.maximum - d));
  return cb_gap_or_far(A, s, m.maximum);
}

/* Marks as not conserved the momenta of the Killing fields that move a plane <n, x - foot> = 0 with the normal n. A
 * field A x + b keeps the plane if A n = 0 and <n, b> = 0. */
static void keep(const cb_space *g, const void *of, cb_conserved *out) {
  const double *normal = ((const plane *)of)->normal;
  for (int f = 0; f < g->n_killing; f++) {
    const cb_killing *X = &g->killing[f];
    double off = 0, along = 0;
    for (int a = 0; a < g->embedding; a++) {
      double turned = 0;
      for (int b = 0; b < g->embedding; b++) turned += X->a[a][b] * normal[b];
      off = fmax(off, fabs(turned));
      along += g->form[a] * normal[a] * X->b[a];
    }
    if (!(fmax(off, fabs(along)) <= vanishes)) out->momentum[f] = false;
  }
}

static const double *centre_of(const void *of) { return ((const plane *)of)->centre; }

static const cb_gap_forms forms = {.value = value, .bound = bound, .keep = keep, .centre = centre_of};

const cb_wall_class cb_wall_plane = {.name = "plane",
                                     .title = "bodies stay on one side of a totally geodesic plane",
                                     .doc = "",
                                     .params = params,
                                     .params_size = sizeof(plane),
                                     .init = init,
                                     .forms = &forms};

cb_status cb_builder_wall_plane(cb_builder *b, const char *name, int body, const double *point, const double *normal,
                                double restitution) {
  plane w = {0};
  const cb_status status = settle(b->space, point, normal, &w);
  return status ? status : cb_builder_wall(b, &cb_wall_plane, &w, name, body, restitution);
}
