/* The active constraints of a gait (shape_constraint.h): the directions that they block, their forces, and the arcs of
 * the gait on which they act. s_k(r) >= 0: constraint k on the shape r; phi: functions of the basis; row: one condition
 * ds_k . delta r >= 0 at a node or a vertex (= 0 if the row has a force), where delta r is a change of the gait; item:
 * an interval of time on which one constraint is active, with all its rows. */
#include "core/arena.h"
#include "numerics/small.h"
#include "optimum/direct.h"
#include "optimum/reduced.h"
#include "optimum/shape_constraint.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A force z or a distance y (cb_cone_projection) below this counts as 0 if rows and gradients have length 1. The number
 * is larger than the errors of z and y. It is smaller than the force on one row if many rows share a force. */
static const double nothing = 1e-6;

struct cb_active_constraints_work {
  cb_arena *arena;
  cb_shape_constraints *constraints;
  const cb_basis *basis;
  int n, capacity;
  double *A, *phi, *dds; /* for each row: A[unknowns], phi[functions] and s''[n][n] (shape_constraint.h) */
  double *z, *y;         /* [capacity]: for each row, the force z and the distance y of cb_cone_projection */
  /* the rows A and the gradient, projected on the changes of the gait that keep the conditions */
  double *projected, *vector;
  double *s, *ds, *second; /* for all constraints at one shape: s: values; ds and second: first and second
                            * derivatives */
  int *item;               /* [capacity]: the item to which each row belongs */
  /* [capacity]; presses: the row has a force; left: the gait moves away from the constraint at the row */
  bool *presses, *left;
};

void cb_shape_constraint_name(const cb_shape_constraints *w, int k, size_t size, char *name) {
  const cb_shape_constraint *constraint = &w->constraint[k];
  if (constraint->variable >= 0)
    snprintf(name, size, "%.40s %s %.9g", w->bundle->shape[constraint->variable],
             constraint->sign > 0 ? ">=" : "<=", constraint->at);
  else
    snprintf(name, size, "lines %d and %d apart", constraint->line[0], constraint->line[1]);
}

double cb_shape_constraint_slack(const cb_shape_constraints *w, int k) {
  return 1e-6 * (w->constraint[k].variable < 0 ? w->size : fmax(1, fabs(w->constraint[k].at)));
}

/* --- rows --- */

static void add_row(cb_active_constraints *c, int item, const double *phi, const double *ds, const double *dds) {
  struct cb_active_constraints_work *w = c->work;
  const int f = w->basis->functions, n = w->n, row = c->rows;
  if (row == w->capacity) return;
  for (int i = 0; i < n; i++)
    for (int a = 0; a < f; a++) w->A[row * c->unknowns + i * f + a] = ds[i] * phi[a];
  memcpy(w->phi + row * f, phi, (size_t)f * sizeof *phi);
  memcpy(w->dds + row * n * n, dds, (size_t)(n * n) * sizeof *dds);
  w->item[c->rows++] = item;
}

/* At a corner of two terms f_0 and f_1 the path has two sides (legs). For the leg with the direction v, computes the
 * normal ds, which points away from the constraint. dds becomes the combination of the second derivatives with the same
 * factors. Returns false unless f_0 and f_1 change with opposite signs along v. */
static bool leg(int n, const double (*df)[CB_SHAPE_MAX], const double (*ddf)[CB_SHAPE_MAX * CB_SHAPE_MAX],
                const double *v, double *ds, double *dds) {
  double share[2] = {cb_dot(n, df[1], v), -cb_dot(n, df[0], v)};
  if (!(share[0] * share[1] > 0)) return false;
  const double size = (share[0] < 0 ? -1 : 1) * hypot(share[0], share[1]);
  for (int i = 0; i < n; i++) ds[i] = (share[0] * df[0][i] + share[1] * df[1][i]) / size;
  for (int i = 0; i < n * n; i++) dds[i] = (share[0] * ddf[0][i] + share[1] * ddf[1][i]) / size;
  return true;
}

/* Adds the row of constraint k at a vertex at time t. If two terms of the constraint vanish there, adds a row for each
 * of the two legs (see the function `leg`). */
static cb_status add_vertex(cb_active_constraints *c, int item, int k, const cb_gait *gait, double t,
                            const double *phi) {
  static const double near = 1e-6, offset = 1e-7;
  struct cb_active_constraints_work *w = c->work;
  const int n = w->n;
  double r[CB_SHAPE_MAX], df[2][CB_SHAPE_MAX], ddf[2][CB_SHAPE_MAX * CB_SHAPE_MAX], f[2] = {0, INFINITY};
  cb_gait_at(gait, t, r, NULL);
  cb_status status = cb_shape_constraints_at(w->constraints, 0, r, w->s, w->ds, w->second);
  if (!status && w->constraints->constraint[k].variable < 0) {
    int term[2];
    status = cb_shape_constraints_leading(w->constraints, k, r, term);
    for (int e = 0; !status && e < 2; e++)
      status = cb_shape_constraints_term(w->constraints, k, term[e], r, &f[e], df[e], ddf[e]);
  }
  if (status) return status;
  if (!(fabs(f[1]) <= near * w->constraints->size)) {
    add_row(c, item, phi, w->ds + k * n, w->second + k * n * n);
    return CB_OK;
  }
  for (int side = -1; side <= 1; side += 2) {
    double v[CB_SHAPE_MAX], ds[CB_SHAPE_MAX], dds[CB_SHAPE_MAX * CB_SHAPE_MAX];
    cb_gait_at(gait, t + side * offset, NULL, v);
    if (leg(n, df, ddf, v, ds, dds)) add_row(c, item, phi, ds, dds);
  }
  return CB_OK;
}

static cb_status values_at(struct cb_active_constraints_work *w, const cb_gait *gait, double t) {
  double r[CB_SHAPE_MAX];
  cb_gait_at(gait, t, r, NULL);
  return cb_shape_constraints_at(w->constraints, 0, r, w->s, w->ds, w->second);
}

/* Returns whether constraint k is active (s_k = 0) at all nodes of an arc. */
static bool along(struct cb_active_constraints_work *w, const cb_gait *gait, int k, double from, double to) {
  const cb_basis *b = w->basis;
  for (int q = 0; q < b->nodes; q++) {
    if (b->time[q] < from || b->time[q] > to) continue;
    if (values_at(w, gait, b->time[q]) || !(w->s[k] <= cb_shape_constraint_slack(w->constraints, k))) return false;
  }
  return true;
}

/* Adds rows of constraint k for the nodes of an arc. Only every third node gets a row, which suffices because there are
 * more nodes than functions. */
static cb_status add_arc(cb_active_constraints *c, int item, int k, const cb_gait *gait, double from, double to) {
  enum { EVERY = 3 };
  struct cb_active_constraints_work *w = c->work;
  const cb_basis *b = w->basis;
  cb_status status = CB_OK;
  for (int q = 0; !status && q < b->nodes; q++) {
    if (b->time[q] < from || b->time[q] > to || q % EVERY) continue;
    status = values_at(w, gait, b->time[q]);
    if (!status) add_row(c, item, b->phi + q * b->functions, w->ds + k * w->n, w->second + k * w->n * w->n);
  }
  return status;
}

/* Adds the rows of all arcs and vertices at which constraint k is active. Adjacent arcs and vertices form one item. */
static cb_status add_constraint(cb_active_constraints *c, int k, const cb_gait *gait, double *phi) {
  struct cb_active_constraints_work *w = c->work;
  const cb_basis *b = w->basis;
  const int before = c->count;
  int item = -1; /* the item that began on an earlier arc and continues; -1: none */
  cb_status status = CB_OK;
  for (int arc = 0; !status && arc <= b->arcs; arc++) {
    const double t = b->end[arc];
    status = values_at(w, gait, t < 1 ? t : 0);
    const bool here = !status && w->s[k] <= cb_shape_constraint_slack(w->constraints, k),
               on = here && arc < b->arcs && along(w, gait, k, t, b->end[arc + 1]);
    if (!here || (item < 0 && arc == b->arcs)) {
      item = -1;
      continue;
    }
    if (item < 0) {
      if (c->count == CB_ACTIVE_CONSTRAINTS_MAX)
        return cb_fail(CB_ERROR_UNSUPPORTED,
                       "the gait meets constraints more than %d times: expected at most that number",
                       CB_ACTIVE_CONSTRAINTS_MAX);
      item = c->count++;
      c->item[item] = (cb_active_constraint){.constraint = k, .from = t, .to = t};
    }
    c->item[item].to = t;
    if (arc < b->arcs) {
      cb_basis_at(b, t, phi, NULL);
      status = add_vertex(c, item, k, gait, t, phi);
    }
    if (!status && on) status = add_arc(c, item, k, gait, t, b->end[arc + 1]);
    if (!on) item = -1;
  }
  /* if the item `last` runs past the end of the cycle, it and the first item are the same item */
  const int last = c->count - 1;
  if (status || last <= before || c->item[before].from > 0 || c->item[last].to < 1) return status;
  c->item[before].from = c->item[last].from;
  c->item[before].to += 1;
  for (int row = 0; row < c->rows; row++)
    if (w->item[row] == last) w->item[row] = before;
  c->count--;
  return CB_OK;
}

cb_status cb_active_constraints_create(cb_shape_constraints *constraints, const cb_basis *basis, const cb_gait *gait,
                                       int unknowns, cb_active_constraints **out) {
  cb_arena *arena = cb_arena_create();
  cb_active_constraints *c = cb_arena_alloc(arena, 1, sizeof *c);
  struct cb_active_constraints_work *w = cb_arena_alloc(arena, 1, sizeof *w);
  if (!c || !w) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for active constraints");
  }
  const size_t n = (size_t)constraints->n, count = (size_t)constraints->count, f = (size_t)basis->functions;
  const size_t capacity = count * (size_t)(basis->nodes / 3 + 2 * basis->arcs + 2), u = (size_t)unknowns;
  *c = (cb_active_constraints){.unknowns = unknowns, .work = w};
  *w = (struct cb_active_constraints_work){
      .arena = arena, .constraints = constraints, .basis = basis, .n = constraints->n, .capacity = (int)capacity};
  double *phi = cb_arena_alloc(arena, f, sizeof *phi);
  w->A = cb_arena_alloc(arena, capacity * u, sizeof *w->A);
  w->projected = cb_arena_alloc(arena, capacity * u, sizeof *w->projected);
  w->phi = cb_arena_alloc(arena, capacity * f, sizeof *w->phi);
  w->dds = cb_arena_alloc(arena, capacity * n * n, sizeof *w->dds);
  w->s = cb_arena_alloc(arena, count, sizeof *w->s);
  w->ds = cb_arena_alloc(arena, count * n, sizeof *w->ds);
  w->second = cb_arena_alloc(arena, count * n * n, sizeof *w->second);
  cb_arena_doubles(arena, capacity, &w->z, &w->y);
  w->vector = cb_arena_alloc(arena, u, sizeof *w->vector);
  w->item = cb_arena_alloc(arena, capacity, sizeof *w->item);
  w->presses = cb_arena_alloc(arena, capacity, sizeof *w->presses);
  w->left = cb_arena_alloc(arena, capacity, sizeof *w->left);
  cb_status status = cb_arena_lost(arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for active constraints") : CB_OK;
  for (int k = 0; !status && k < constraints->count; k++) status = add_constraint(c, k, gait, phi);
  if (status) {
    cb_arena_free(arena);
    return status;
  }
  *out = c;
  return CB_OK;
}

void cb_active_constraints_free(cb_active_constraints *c) {
  if (c) cb_arena_free(c->work->arena);
}

/* --- forces --- */

/* Subtracts from x its projections on `rows` orthonormal rows of Q. This is done twice, because the second round
 * removes the round-off of the first. */
static void project(int rows, int n, const double *Q, double *x) {
  for (int again = 0; again < 2; again++)
    for (int k = 0; k < rows; k++) {
      const double dot = cb_dot(n, Q + k * n, x);
      for (int i = 0; i < n; i++) x[i] -= dot * Q[k * n + i];
    }
}

/* Writes to Q an orthonormal basis of the rows of J, and returns its number of vectors. Rows that depend on earlier
 * ones are skipped. */
static int orthonormal(int rows, int n, const double *J, double *Q) {
  static const double dependent = 1e-11;
  double maximum = 0;
  int kept = 0;
  for (int k = 0; k < rows; k++) maximum = fmax(maximum, sqrt(cb_dot(n, J + k * n, J + k * n)));
  for (int k = 0; k < rows; k++) {
    double *row = Q + kept * n;
    memcpy(row, J + k * n, (size_t)n * sizeof *row);
    project(kept, n, Q, row);
    const double size = sqrt(cb_dot(n, row, row));
    if (!(size > dependent * maximum)) continue;
    for (int i = 0; i < n; i++) row[i] /= size;
    kept++;
  }
  return kept;
}

cb_status cb_active_constraints_press(cb_active_constraints *c, int rows, const double *J, const double *g) {
  struct cb_active_constraints_work *w = c->work;
  const int u = c->unknowns;
  double *Q = cb_arena_alloc(w->arena, (size_t)(rows * u), sizeof *Q);
  if (!Q) return cb_fail(CB_ERROR_MEMORY, "no memory for forces of active constraints");
  const int kept = orthonormal(rows, u, J, Q);
  memcpy(w->projected, w->A, (size_t)(c->rows * u) * sizeof *w->A);
  memcpy(w->vector, g, (size_t)u * sizeof *g);
  for (int k = 0; k < c->rows; k++) project(kept, u, Q, w->projected + k * u);
  project(kept, u, Q, w->vector);
  const double size = sqrt(cb_dot(u, w->vector, w->vector));
  const cb_status status = cb_cone_projection(c->rows, u, w->projected, w->vector, w->z, w->y);
  if (status) return status;
  c->idle = false;
  for (int k = 0; k < c->count; k++) c->item[k].impulse = 0;
  for (int k = 0; k < c->rows; k++) {
    const double own = sqrt(cb_dot(u, w->projected + k * u, w->projected + k * u));
    const double z = w->z[k] * own, y = own > 0 ? w->y[k] / own : 0;
    w->presses[k] = z > y && z > nothing;
    w->left[k] = y > z && y > nothing;
    c->idle |= !w->presses[k] && !w->left[k];
    w->z[k] = w->presses[k] ? w->z[k] * size : 0;
    c->item[w->item[k]].impulse += w->z[k];
  }
  return CB_OK;
}

int cb_active_constraints_rows(const cb_active_constraints *c, double *J) {
  const struct cb_active_constraints_work *w = c->work;
  const size_t u = (size_t)c->unknowns;
  int rows = 0;
  for (int k = 0; k < c->rows; k++)
    if (w->presses[k] || (c->all && !w->left[k])) memcpy(J + u * (size_t)rows++, w->A + u * (size_t)k, u * sizeof *J);
  return rows;
}

void cb_active_constraints_second_variation(const cb_active_constraints *c, int columns, double *H) {
  const struct cb_active_constraints_work *w = c->work;
  const int n = w->n, f = w->basis->functions;
  for (int k = 0; k < c->rows; k++)
    for (int i = 0; i < n; i++)
      for (int j = 0; j < n; j++) {
        const double curvature = w->z[k] * w->dds[(k * n + i) * n + j], *phi = w->phi + k * f;
        for (int a = 0; curvature != 0 && a < f; a++)
          for (int b = 0; b < f; b++) H[(i * f + a) * columns + j * f + b] -= curvature * phi[a] * phi[b];
      }
}

/* --- the times at which a gait is cut into arcs: the breaks of the gait and of the bundle, and the times at which the
 * gait meets and leaves constraints --- */

enum { SAMPLES = 1024, BREAKS = 16, SHORT = 2 };

/* Two edges (ends of arcs) whose times differ by less than this count as one. */
static const double apart = 1e-7;

typedef struct edges {
  int count;
  bool at_bounds;
  double time[CB_ACTIVE_CONSTRAINT_EDGES_MAX];
  double *s; /* [SAMPLES][constraints]: the values of the constraints at the samples */
} edges;

/* Adds an edge at time t unless another edge is within `near` of t. */
static cb_status add(edges *e, double t, double near) {
  t -= floor(t);
  for (int k = 0; k < e->count; k++) {
    const double way = fabs(t - e->time[k]);
    if (fmin(way, 1 - way) <= near) return CB_OK;
  }
  if (e->count == CB_ACTIVE_CONSTRAINT_EDGES_MAX)
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "the gait meets constraints and breaks of the bundle more than %d times: expected at most that number",
        CB_ACTIVE_CONSTRAINT_EDGES_MAX);
  e->time[e->count++] = t;
  return CB_OK;
}

/* Returns the value s_k of constraint k at time t; infinity if it cannot be evaluated. `s` is work memory. */
static double distance(cb_shape_constraints *w, const cb_gait *gait, int k, double t, double *s) {
  double r[CB_SHAPE_MAX];
  cb_gait_at(gait, t, r, NULL);
  return cb_shape_constraints_at(w, 0, r, s, NULL, NULL) ? INFINITY : s[k];
}

/* Finds the minimum of the value s_k of constraint k between two times by golden-section search. Returns the time of
 * the minimum, and sets *least to the minimum. */
static double nearest(cb_shape_constraints *w, const cb_gait *gait, int k, double low, double high, double *s,
                      double *least) {
  const double golden = (sqrt(5) - 1) / 2;
  double a = high - golden * (high - low), b = low + golden * (high - low);
  double fa = distance(w, gait, k, a, s), fb = distance(w, gait, k, b, s);
  while (high - low > 1e-9) {
    if (fa < fb) {
      high = b;
      b = a;
      fb = fa;
      a = high - golden * (high - low);
      fa = distance(w, gait, k, a, s);
    } else {
      low = a;
      a = b;
      fa = fb;
      b = low + golden * (high - low);
      fb = distance(w, gait, k, b, s);
    }
  }
  *least = fmin(fa, fb);
  return (low + high) / 2;
}

/* Returns the time at which the value s_k of constraint k exceeds its slack (the violation that is allowed), by
 * bisection between the times `within` and `beyond`. At `within` the value must be at most the slack. */
static double leaves(cb_shape_constraints *w, const cb_gait *gait, int k, double within, double beyond, double *s) {
  while (fabs(beyond - within) > 1e-12) {
    const double middle = (within + beyond) / 2;
    if (distance(w, gait, k, middle, s) <= cb_shape_constraint_slack(w, k))
      within = middle;
    else
      beyond = middle;
  }
  return within;
}

static cb_status passes(const cb_shape_constraints *w, int k, double s, double t) {
  char name[96];
  cb_shape_constraint_name(w, k, sizeof name, name);
  return cb_fail(CB_ERROR_ARGUMENT, "the gait violates a constraint: %s, by %.3g at time %.6g", name, -s, t - floor(t));
}

/* Finds runs of samples at which the value s_k of constraint k is at most its slack. If a run has at most SHORT
 * samples, or if s_k has only a minimum between samples, the gait touches the constraint at one time, and one edge is
 * added. A longer run adds an edge at its beginning and at its end. Returns CB_ERROR_ARGUMENT if the gait violates the
 * constraint. */
static cb_status add_edges_of_constraint(edges *e, cb_shape_constraints *w, const cb_gait *gait, int k,
                                         double *scratch) {
  const double near = 2. / SAMPLES, tiny = cb_shape_constraint_slack(w, k), *s = e->s + k;
  const int count = w->count;
  cb_status status = CB_OK;
  for (int i = 0; !status && i < SAMPLES; i++) {
    const int next = (i + 1) % SAMPLES, last = (i + SAMPLES - 1) % SAMPLES;
    const double here = s[i * count], t = (double)i / SAMPLES;
    if (here < -tiny) return passes(w, k, here, t);
    int run = 0;
    while (run < SAMPLES && s[(i + run) % SAMPLES * count] <= tiny) run++;
    e->at_bounds |= run > 0;
    if (run == SAMPLES) return CB_OK;
    const bool begins = run > 0 && s[last * count] > tiny;
    if (begins && run > SHORT) {
      status = add(e, leaves(w, gait, k, t, t - 1. / SAMPLES, scratch), near);
      const double end = t + (run - 1.) / SAMPLES;
      if (!status) status = add(e, leaves(w, gait, k, end, end + 1. / SAMPLES, scratch), near);
    } else if (begins || (run == 0 && here <= s[last * count] && here < s[next * count])) {
      double least, at = nearest(w, gait, k, t - 1. / SAMPLES, t + fmax(run, 1) / SAMPLES, scratch, &least);
      for (int b = 0; b < e->count;
           b++) { /* a minimum near a break is moved to its time, which golden sections find only approximately */
        const double way = remainder(e->time[b] - at, 1), there = distance(w, gait, k, e->time[b], scratch);
        if (fabs(way) < near && there <= least + tiny) {
          at = e->time[b];
          least = there;
        }
      }
      if (least < -tiny) return passes(w, k, least, at);
      if (least <= tiny) {
        e->at_bounds = true;
        status = add(e, at, apart);
      }
    }
  }
  return status;
}

static cb_status add_constraints(edges *e, cb_shape_constraints *w, const cb_gait *gait) {
  double *scratch = malloc((size_t)w->count * sizeof *scratch);
  e->s = malloc((size_t)(w->count * SAMPLES) * sizeof *e->s);
  cb_status status = scratch && e->s ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", w->count);
  for (int i = 0; !status && i < SAMPLES; i++) {
    double r[CB_SHAPE_MAX];
    cb_gait_at(gait, (double)i / SAMPLES, r, NULL);
    status = cb_shape_constraints_at(w, 0, r, e->s + i * w->count, NULL, NULL);
  }
  for (int k = 0; !status && k < w->count; k++) status = add_edges_of_constraint(e, w, gait, k, scratch);
  free(scratch);
  free(e->s);
  return status;
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

cb_status cb_active_constraint_arcs(const cb_bundle *b, cb_shape_constraints *constraints, const cb_gait *gait,
                                    int *arcs, double *ends, bool *at_bounds) {
  const double *at;
  edges e = {.count = 1};
  const int breaks = cb_gait_breaks(gait, &at);
  cb_status status = CB_OK;
  for (int k = 0; !status && breaks <= BREAKS && k < breaks; k++) status = add(&e, at[k], apart);
  cb_crossing list[CB_CROSSINGS_MAX];
  int crossings = 0;
  if (!status) status = cb_gait_crossings(b, gait, &crossings, list);
  for (int k = 0; !status && k < crossings; k++) status = add(&e, list[k].time, apart);
  if (!status && constraints) status = add_constraints(&e, constraints, gait);
  if (status) return status;
  qsort(e.time, (size_t)e.count, sizeof *e.time, ascending);
  memcpy(ends, e.time, (size_t)e.count * sizeof *ends);
  ends[e.count] = 1;
  *arcs = e.count;
  *at_bounds = e.at_bounds;
  return CB_OK;
}
