/* A wall that is a geodesic ball of radius R about the centre c. Particles at x, of radius r, stay outside of it, with
 * the gap s = d(x, c) - R - r, or inside, with s = R - d(x, c) - r, where d is the distance (geometry/origin.h).
 *
 * Bounds of s'', where a is the speed of the particle and acc its acceleration. K is the maximum of 0 and all sectional
 * curvatures, and k the minimum of 0 and all sectional curvatures.
 *   outside  s'' >= a^2 min(0, sqrt(K) cot(sqrt(K) d)) - acc
 *   inside   s'' >= -a^2 sqrt(-k) coth(sqrt(-k) d) - acc
 * Lengths are in units of the scenario. Source: do Carmo, Riemannian Geometry (1992), chapter 10.
 */
#include "dynamics/builder_private.h"
#include "dynamics/gap_class.h"
#include "geometry/given_point.h"

#include <math.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

typedef struct ball {
  const cb_node *at;
  double radius;
  int inside;
  double centre[CB_COORD_MAX]; /* in the world's coordinates, as given */
} ball;

static const cb_param params[] = {
    {"at", CB_PARAM_NODE, offsetof(ball, at), NULL, "", "", NULL, "the centre, {chart: .., point: [..]}"},
    {"radius", CB_PARAM_REAL, offsetof(ball, radius), NULL, "units of length", "> 0", NULL, "radius of the ball"},
    {"side", CB_PARAM_CHOICE, offsetof(ball, inside), "outside", "", "", "outside|inside",
     "the side on which the bodies are"},
    {0}};

/* Checks a ball. If its centre is off the space by round-off only, moves the centre onto the space. */
static cb_status settle(const cb_space *g, const char *name, ball *w, const double *centre) {
  const cb_status status = cb_builder_check_distances(g, "a wall that is a ball");
  if (status) return status;
  if (!(w->radius > 0) || !isfinite(w->radius))
    return cb_fail(CB_ERROR_ARGUMENT, "radius %g of a wall: expected a number > 0", w->radius);
  if (g->n_factors == 1 && g->factor[0].curvature > 0 && w->radius * sqrt(g->factor[0].curvature) >= pi)
    return cb_fail(CB_ERROR_ARGUMENT, "wall '%s': a ball of radius %g contains all of %s: expected a radius < %.6g",
                   name, w->radius, g->class_->name, pi / sqrt(g->factor[0].curvature));
  return cb_builder_settle(g, "a wall's centre", centre, w->centre);
}

static cb_status init(void *of, const cb_space *space, cb_builder *b) {
  (void)b;
  ball *w = of;
  double centre[CB_Q_MAX];
  cb_status status = cb_builder_check_distances(space, "a wall that is a ball");
  if (!status) status = cb_place_space_point(w->at, "at", space, NULL, centre);
  return status ? status : settle(space, "ball", w, centre);
}

static cb_status value(cb_gaps *gaps, const cb_gap *gap, const void *of, const double *const *x, int order,
                       cb_gap_value *out) {
  const ball *w = of;
  const int i = gap->particle[0];
  const double r = gaps->system->radius[i];
  double d;
  cb_status status = cb_gap_distance_from(gaps, i, x[0], w->centre, order, &d, out->gradient);
  if (status && order && w->inside && !cb_gap_distance_from(gaps, i, x[0], w->centre, 0, &d, NULL) &&
      d < 0.5 * w->radius) { /* d has no gradient at the centre, which is far from the wall: 0 is taken */
    memset(out->gradient, 0, (size_t)gaps->space->k * sizeof *out->gradient);
    status = CB_OK;
  }
  if (status) return status;
  out->gap = w->inside ? w->radius - d - r : d - w->radius - r;
  for (int a = 0; order && w->inside && a < gaps->space->k; a++) out->gradient[a] = -out->gradient[a];
  return CB_OK;
}

static double bound(const cb_gaps *gaps, const cb_gap *gap, const void *of, const double *const *x, double s,
                    cb_gap_motion m) {
  const ball *w = of;
  const double r = gaps->system->radius[gap->particle[0]], d = w->inside ? w->radius - r - s : s + w->radius + r;
  const double *points[2] = {x[0], w->centre};
  cb_gap_curvature c;
  if (!cb_gap_curvature_about(gaps->space, 2, points, &c)) return cb_gap_or_far(INFINITY, s, m.maximum);
  double A = INFINITY;
  if (w->inside) {
    A = m.squares * cb_gap_cotangent(c.least, d - m.maximum) + m.acceleration;
  } else if (d + m.maximum < c.unique) {
    const double root = sqrt(c.greatest), at = root * (d + m.maximum);
    A = (at > pi / 2 ? m.squares * -root / tan(at) : 0) + m.acceleration;
  }
  return cb_gap_or_far(A, s, m.maximum);
}

static void keep(const cb_space *g, const void *of, cb_conserved *out) {
  cb_fixed centre;
  cb_origin_identity(g, &centre.origin);
  memcpy(centre.x, ((const ball *)of)->centre, sizeof((const ball *)of)->centre);
  cb_conserved_keep_point(g, &centre, out);
}

static const double *centre_of(const void *of) { return ((const ball *)of)->centre; }

static const cb_gap_forms forms = {.value = value, .bound = bound, .keep = keep, .centre = centre_of};

const cb_wall_class cb_wall_ball = {.name = "ball",
                                    .title = "bodies stay outside of a geodesic ball, or inside",
                                    .doc = "",
                                    .params = params,
                                    .params_size = sizeof(ball),
                                    .init = init,
                                    .forms = &forms};

cb_status cb_builder_wall_ball(cb_builder *b, const char *name, int body, const double *centre, double radius,
                               bool inside, double restitution) {
  ball w = {.radius = radius, .inside = inside};
  const cb_status status = settle(b->space, name ? name : "ball", &w, centre);
  return status ? status : cb_builder_wall(b, &cb_wall_ball, &w, name, body, restitution);
}
