/* Potentials on a rigid solid in a curved space, and the buoyancy of the fluid that it displaces.
 *
 *   U = int (rho_b - rho) V dV,  F_a = -int (rho_b - rho) X_a(V) dV;  the fluid at rest has the pressure -rho V
 *
 * V is the potential per kg and comes from the library's forces on particles (curvebody/system.h); dV is an element of
 * the volume. U is the potential energy and F the wrench. X_a are the Killing fields, rho_b and rho the densities of
 * the body and the fluid. Both integrals are sums over the same nodes, so that F is the derivative of U to round-off.
 *
 * The nodes are in the cones from an apex to the faces: three points of each face (degree 2) and two along each line
 * from the apex, at r_j/d = 2/3 -+ sqrt(2/45). The rule with the nodes r_j is exact for r^2 times cubics. The weights
 * are multiplied by (S(r)/r)^2. r is the distance from the apex, d its value on the face, and S the sine s_K of the
 * space. The sums are then scaled to the part's volume. In hyperbolic space the origin of the particle is that of the
 * body, so that no digits are lost far from the world's origin.
 */
#include "fluid/immersed_private.h"
#include "dynamics/system_facts.h"
#include "fluid/curved_moments.h"
#include "geometry/origin.h"
#include "numerics/numerics_curved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OF_FACE = 3, ALONG = 2 };

/* --- nodes --- */

/* Writes the nodes of the cone from the base point to the face with the corners y, with their volumes in `fluid`.
 * Returns the sum of the volumes. */
static double add_cone(double K, const double y[3][4], cb_immersed_node *out) {
  const cb_trig t = cb_trig_of(K);
  const double at[ALONG] = {2. / 3 - sqrt(2. / 45), 2. / 3 + sqrt(2. / 45)};
  const double second = (0.25 - at[0] / 3) / (at[1] - at[0]), share[ALONG] = {1. / 3 - second, second};
  double plane[4], sum = 0;
  const double norm = cb_curved_plane(K, y[0], y[1], y[2], plane);
  for (int k = 0; k < OF_FACE; k++) {
    double q[4], v[3];
    for (int i = 0; i < 4; i++) q[i] = (y[0][i] + y[1][i] + y[2][i]) / 6 + y[k][i] / 2;
    const double c = cb_curved_form(K, q, q), weight = norm / (2 * OF_FACE * c * sqrt(c));
    for (int i = 0; i < 4; i++) q[i] /= sqrt(c);
    cb_curved_normal(K, q, v);
    const double d = sqrt(cb_dot3(v, v)), S = cb_trig_s(t, d);
    for (int j = 0; j < ALONG; j++, out++) {
      const double place[3] = {at[j] * v[0], at[j] * v[1], at[j] * v[2]}, thin = cb_trig_sinc(t, at[j] * d);
      cb_curved_point(K, place, out->y);
      sum += out->fluid = S > 0 ? weight * -plane[3] * d * d * d / (S * S * S) * share[j] * thin * thin : 0;
    }
  }
  return sum;
}

static void move(double K, const double apex[4], cb_immersed_node *node) {
  const double back[4] = {-apex[0], -apex[1], -apex[2], apex[3]};
  double y[4];
  memcpy(y, node->y, sizeof y);
  cb_curved_towards(K, back, y, node->y);
}

static cb_status take_part(cb_immersed *b, const double (*y)[4], int part, double density) {
  const cb_surface *s = b->surface;
  const double K = s->curvature, rho = cb_immersed_is_wet(b) ? b->around.density : 0;
  cb_immersed_node *const first = b->curved.node + b->curved.nodes;
  cb_curved_moments solid, skin;
  double apex[4], area, sum = 0;
  cb_curved_of_part(s, y, part, &solid, &skin, &area);
  cb_curved_apex(s, y, part, apex);
  for (int f = 0; f < s->faces; f++) {
    double at[3][4];
    if (s->part[f] != part) continue;
    for (int k = 0; k < 3; k++) cb_curved_towards(K, apex, y[s->face[f][k]], at[k]);
    sum += add_cone(K, (const double(*)[4])at, b->curved.node + b->curved.nodes);
    b->curved.nodes += OF_FACE * ALONG;
  }
  if (!(sum > 0))
    return cb_fail(CB_ERROR_UNSUPPORTED,
                   "part `%s` contains the antipode of its own middle, and potentials cannot act on such a part: "
                   "expected a smaller part",
                   s->name[part]);
  const double scale = cb_curved_content(K, &solid) / sum;
  for (cb_immersed_node *n = first; n < b->curved.node + b->curved.nodes; n++) {
    move(K, apex, n);
    n->body = density * scale * n->fluid;
    n->fluid *= rho * scale;
  }
  return CB_OK;
}

static cb_status take_points(cb_immersed *b, const cb_immersed_options *o) {
  for (int i = 0; i < o->n_points; i++) {
    const cb_point_mass *p = o->points + i;
    for (int k = 0; k < 9; k++)
      if (p->inertia[k / 3][k % 3] != 0)
        return cb_fail(CB_ERROR_UNSUPPORTED,
                       "only the inertia of the body is given, and potentials need its masses: expected densities of "
                       "parts, or point masses");
    cb_immersed_node *n = b->curved.node + b->curved.nodes++;
    n->body = p->mass;
    cb_curved_point(b->surface->curvature, p->vertex < 0 ? p->x : b->surface->x[p->vertex], n->y);
  }
  return CB_OK;
}

static cb_status prepare(cb_immersed *b, const cb_immersed_options *o) {
  const cb_surface *s = b->surface;
  const cb_space *g = cb_system_space(b->curved.potential);
  if (s->curvature == 0 || g->n_factors != 1 || g->dim != 3 || g->chart || g->factor[0].curvature != s->curvature)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the potentials are defined in another space: expected the space of the body, of curvature %g",
                   s->curvature);
  if (cb_system_particles(b->curved.potential) != 1)
    return cb_fail(CB_ERROR_ARGUMENT, "the potentials act on %d particles: expected one particle",
                   cb_system_particles(b->curved.potential));
  b->curved.node =
      cb_arena_alloc(b->arena, (size_t)s->faces * OF_FACE * ALONG + (size_t)o->n_points, sizeof *b->curved.node);
  double(*y)[4] = malloc((size_t)s->vertices * sizeof *y);
  cb_status status =
      b->curved.node && y ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for potentials on %d faces", s->faces);
  for (int v = 0; v < s->vertices && !status; v++) cb_curved_point(s->curvature, s->x[v], y[v]);
  for (int p = 0; p < s->parts && !status; p++) status = take_part(b, (const double(*)[4])y, p, o->material[p].density);
  free(y);
  return status ? status : take_points(b, o);
}

/* --- at a pose --- */

/* Finds T, which maps the body's coordinates (x, w/sqrt|K|) of points to the world's. In hyperbolic space T is the
 * identity, because the particle's origin is set to the body's pose. */
static cb_status place(cb_immersed_workspace *s, const cb_immersed_moment *m, double T[4][4]) {
  const double K = s->b->surface->curvature, *x = m->g->x, d = sqrt(cb_dot3(x, x)), root = sqrt(fabs(K));
  for (int i = 0; i < 16; i++) T[i / 4][i % 4] = i / 4 == i % 4;
  if (K < 0) {
    cb_origin at;
    cb_origin_identity(cb_system_space(s->b->curved.potential), &at);
    for (int i = 0; i < 3 && d > 0; i++) at.direction[i] = x[i] / d;
    if (d > 0) at.length = d;
    for (int i = 0; i < 9; i++) at.rotation[i] = m->r[i / 3][i % 3];
    return cb_forces_set_origins(s->potential, &at);
  }
  const double C = cos(root * d), S = sin(root * d);
  double u[3] = {0}, turned[3];
  for (int i = 0; i < 3 && d > 0; i++) u[i] = x[i] / d;
  cb_apply3_transposed(m->r, u, turned);
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 3; j++) T[i][j] = m->r[i][j] - (1 - C) * u[i] * turned[j];
    T[i][3] = S * u[i];
    T[3][i] = -S * turned[i];
  }
  T[3][3] = C;
  return CB_OK;
}

/* Adds factor <X_a, force> to F: the wrench of a force, given in the world's axes, at the point y of the body. */
static void push(double K, const double y[4], double T[4][4], const double force[4], double factor, double *F) {
  double f[4] = {0}, turn[3];
  for (int i = 0; i < 16; i++) f[i / 4] += T[i % 4][i / 4] * force[i % 4];
  cb_cross3(y, f, turn);
  for (int i = 0; i < 3; i++) {
    F[i] += factor * turn[i];
    F[3 + i] += factor * (y[3] * f[i] - sqrt(fabs(K)) * f[3] * y[i]);
  }
}

static cb_status lost(const cb_immersed_moment *m, const char *what, double value) {
  return cb_fail(
      CB_STEP_DOMAIN,
      "the %s on the body is %g at t = %g, place (%g, %g, %g): does the body contain the centre of a potential?", what,
      value, m->t, m->g->x[0], m->g->x[1], m->g->x[2]);
}

/* Adds the potential's wrench to F and the potential energy to *energy, with the body's masses times factor[0] and the
 * fluid's masses times factor[1]. F and energy may be NULL. */
static cb_status add(cb_immersed_workspace *s, const cb_immersed_moment *m, const double factor[2], double *F,
                     double *energy) {
  const cb_immersed *b = s->b;
  const double K = b->surface->curvature;
  double T[4][4], sum = 0, own[6] = {0};
  if (!F && !energy) return CB_OK;
  cb_status status = place(s, m, T);
  for (const cb_immersed_node *n = b->curved.node; n < b->curved.node + b->curved.nodes && !status; n++) {
    const double share = factor[0] * n->body + factor[1] * n->fluid,
                 local[4] = {n->y[0], n->y[1], n->y[2], n->y[3] / sqrt(fabs(K))};
    double x[4] = {0}, force[4], V;
    if (share == 0) continue;
    for (int i = 0; i < 16; i++) x[i / 4] += T[i / 4][i % 4] * local[i % 4];
    if (F) {
      status = cb_forces_eval(s->potential, m->t, x, NULL, force);
      if (!status) push(K, n->y, T, force, share, own);
    }
    if (energy && !status) {
      status = cb_forces_potential(s->potential, m->t, x, &V);
      sum += share * V;
    }
  }
  if (status) return status == CB_STEP_NOT_FINITE ? CB_STEP_DOMAIN : status;
  for (int i = 0; i < 6 && F; i++)
    if (!isfinite(own[i])) return lost(m, "force of potentials", own[i]);
  if (energy && !isfinite(sum)) return lost(m, "potential energy", sum);
  for (int i = 0; i < 6 && F; i++) F[i] += own[i];
  if (energy) *energy += sum;
  return CB_OK;
}

static bool pulls(const cb_immersed *b) { return b->curved.potential && b->heavy; }
static bool lifts(const cb_immersed *b) {
  return b->curved.potential && cb_immersed_is_lifted(b) && cb_immersed_displaces(b);
}

/* If the body has mass, wrench 0 is the potential's wrench on the body. The buoyancy, if it acts, is the wrench after
 * that. */
static cb_status wrench(cb_immersed_workspace *s, const cb_immersed_moment *m, const cb_immersed_sums *to) {
  const bool pulled = pulls(s->b);
  cb_status status = CB_OK;
  if (pulled && to->number <= 0) status = add(s, m, (const double[2]){1, 0}, to->F, NULL);
  if (!status && lifts(s->b) && (to->number < 0 || to->number == pulled))
    status = add(s, m, (const double[2]){0, -1}, to->F, NULL);
  return status;
}

static cb_status potential(cb_immersed_workspace *s, const cb_immersed_moment *m, double *energy) {
  return add(s, m, (const double[2]){pulls(s->b), -(double)lifts(s->b)}, NULL, energy);
}

static void conserves(const cb_immersed *b, cb_immersed_conserved *out) {
  out->energy = out->energy && cb_system_conserved(b->curved.potential).energy;
  out->momentum = false;
}

static cb_status create(cb_immersed_workspace *s) { return cb_forces_create(s->b->curved.potential, &s->potential); }
static bool only_pulls(const cb_immersed *b) { return !lifts(b); }
static int count(const cb_immersed *b) { return pulls(b) + lifts(b); }
static const char *name_of(cb_immersed *b, int i) { return i == pulls(b) ? "buoyancy" : "potentials"; }

const cb_immersed_term_class cb_immersed_term_potentials = {
    .name = "potentials",
    .order = 50,
    .count = count,
    .name_of = name_of,
    .surfaceless = only_pulls,
    .approximate = cb_immersed_always,
    .conserves = conserves,
    .prepare = prepare,
    .create = create,
    .wrench = wrench,
    .potential = potential,
};
