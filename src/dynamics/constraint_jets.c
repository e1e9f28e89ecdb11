/* Elements of classes that are written on jets (cb_constraint_class, on_jets): the derivatives follow from the value.
 *
 * A jet has at most CB_JET_MAX variables. An element whose points have more coordinates is evaluated once for every two
 * of its points, whose coordinates are then the variables, while the others are constant. This gives every block of
 * second derivatives.
 */
#include "dynamics/constraint_private.h"

#include "dynamics/pair_potential_private.h"
#include "geometry/quadric.h"

#include <math.h>
#include <string.h>

enum { K = CB_Q_MAX, POINTS = CB_ELEMENT_PARTICLES };

/* The n variables of an evaluation: the k coordinates of each of the `count` points in `moves`, then t if `timed`. */
typedef struct variables {
  int n, count, k;
  int moves[POINTS]; /* points, ascending */
  bool timed;
} variables;

/* Sets out[k] to jets of the coordinates of a point. `at` is the number of its first variable; -1: the point is
 * constant. If world (x -> M x + b) is not NULL, they are jets of the coordinates M x + b in the world. */
static void seed(const cb_space *g, const cb_isometry *world, const double *x, int n, int at, cb_jet *out) {
  const int k = g->intrinsic ? g->dim : g->embedding;
  for (int a = 0; a < k; a++) {
    double value = x[a];
    if (world) {
      value = world->b[a];
      for (int b = 0; b < k; b++) value += world->m[a][b] * x[b];
    }
    out[a] = cb_jet_constant(n, value);
    for (int b = 0; at >= 0 && b < k; b++) out[a].g[at + b] = world ? world->m[a][b] : a == b;
  }
}

static cb_status evaluate(const cb_constraints *c, const cb_constraint *row, const variables *v, double t,
                          const double *const *x, cb_jet *value) {
  cb_jet coordinate[POINTS][K];
  const cb_jet *at[POINTS];
  const cb_isometry *world = row->world >= 0 ? &c->world[row->world].world : NULL;
  for (int p = 0; p < row->width; p++) {
    int first = -1;
    for (int i = 0; i < v->count; i++)
      if (v->moves[i] == p) first = i * v->k;
    seed(c->space, world, x[p], v->n, first, coordinate[p]);
    at[p] = coordinate[p];
  }
  const cb_jet time = v->timed ? cb_jet_variable(v->n, v->n - 1, t) : cb_jet_constant(v->n, t);
  const cb_status status = row->class->on_jets(c->space, row->params, at, &time, value);
  return status ? status : cb_constraint_check_finite(value->v, v->n, value->g, "the value");
}

/* Writes the value and the derivatives of a jet to the entries of its variables in the element. */
static void take(const cb_constraint *row, const variables *v, const cb_jet *jet, int order, cb_element *out) {
  const int k = v->k, size = row->width * k, moving = v->count * k;
  out->value = jet->v;
  if (v->timed) {
    out->t1 = jet->g[v->n - 1];
    out->t2 = jet->h[cb_jet_packed(v->n - 1, v->n - 1)];
  }
  for (int i = 0; order && i < moving; i++) {
    const int a = v->moves[i / k] * k + i % k;
    out->gradient[a] = jet->g[i];
    if (v->timed) out->tx[a] = jet->h[cb_jet_packed(v->n - 1, i)];
    for (int j = 0; order > 1 && j < moving; j++)
      out->hessian[a * size + v->moves[j / k] * k + j % k] = jet->h[cb_jet_packed(i, j)];
  }
}

static cb_status in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                              const double *const *x, int order, cb_element *out) {
  const int k = c->space->intrinsic ? c->space->dim : c->space->embedding, timed = row->class->timed;
  cb_jet jet;
  (void)element;
  if (row->width * k + timed <= CB_JET_MAX) {
    const variables all = {row->width * k + timed, row->width, k, {0, 1, 2, 3}, timed};
    const cb_status status = evaluate(c, row, &all, t, x, &jet);
    if (!status) take(row, &all, &jet, order, out);
    return status;
  }
  for (int p = 0; p < row->width; p++)
    for (int q = p + 1; q < row->width; q++) {
      const variables two = {2 * k + timed, 2, k, {p, q}, timed};
      const cb_status status = evaluate(c, row, &two, t, x, &jet);
      if (status) return status;
      take(row, &two, &jet, order, out);
    }
  return CB_OK;
}

cb_status cb_element_by_jets(const cb_constraints *c, const cb_constraint *row, int element, double t,
                             const double *const *x, int order, cb_element *out) {
  return cb_element_by_embedding(in_embedding, c, row, element, t, x, order, out);
}

cb_status cb_constraint_distance(const cb_space *g, const cb_jet *x, const cb_jet *y, cb_jet *d) {
  const int k = g->intrinsic ? g->dim : g->embedding, n = x[0].n;
  double at[2][K], value, first[CB_PAIR_MAX], second[CB_PAIR_MAX * CB_PAIR_MAX];
  for (int a = 0; a < k; a++) {
    at[0][a] = x[a].v;
    at[1][a] = y[a].v;
  }
  if (k > CB_COORD_MAX) return cb_fail(CB_ERROR_UNSUPPORTED, "expected a space with a distance");
  const bool by_embedding = g->chart && !g->intrinsic;
  const cb_status status = by_embedding ? cb_distance_derivatives(g, at[0], at[1], &value, first, second)
                                        : cb_pair_distance(g, at[0], at[1], &value, first, second);
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  *d = cb_jet_constant(n, value);
  for (int a = 0; a < 2 * k; a++) {
    const cb_jet *u = a < k ? &x[a] : &y[a - k];
    for (int i = 0; i < n; i++) {
      d->g[i] += first[a] * u->g[i];
      /* sum_b second_ab du_b/di, where d/di is the derivative by variable i */
      double along = 0;
      for (int b = 0; b < 2 * k; b++) along += second[a * 2 * k + b] * (b < k ? x[b].g[i] : y[b - k].g[i]);
      for (int j = 0; j <= i; j++) d->h[cb_jet_packed(i, j)] += first[a] * u->h[cb_jet_packed(i, j)] + along * u->g[j];
    }
  }
  return CB_OK;
}
