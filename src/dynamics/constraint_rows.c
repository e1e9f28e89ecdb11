/* Evaluating rows of constraints: sums over elements, targets, rates and second derivatives, and the rows of the space.
 *
 *   positional  g = sum_e f_e(x, t) - c(t)     rate = G v + g_t        gamma = v.H v + 2 g_tx v + g_tt
 *   velocity    a(t,x) v - b(t,x)              rate = a v - b          gamma = v.(da/dx) v + a_t v - b_x v - b_t
 *   space       g = (<x,x> - 1/K)/2            rate = <x,v>            gamma = <v,v>
 * f_e is the value of element e at the positions x and the time t, c the target, v the velocity, G the gradient of g
 * and H its matrix of second derivatives. a and b are the coefficients and the right side of a velocity row, and K is
 * the curvature of a factor. The indices t and x are derivatives. The rate of a positional row is dg/dt, and gamma is
 * the derivative of the rate by time if v is constant.
 *
 * The derivatives of elements of classes that are written on jets (cb_constraint_class, on_jets) follow from the value.
 * A jet has at most CB_JET_MAX variables. An element whose points have more coordinates is evaluated once for every
 * pair of its points: the coordinates of the pair are the variables, and the other points are constant. This gives
 * every block of second derivatives.
 */
#include "dynamics/forces_private.h"

#include "dynamics/constraint_private.h"
#include "dynamics/pair_potential_private.h"
#include "dynamics/system_facts.h"
#include "geometry/quadric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- elements on jets --- */

enum { COORDINATES = CB_Q_MAX, POINTS = CB_ELEMENT_PARTICLES };

/* The n variables of an evaluation: the k coordinates of each of the `count` points in `moves`, then t if `timed`. */
typedef struct variables {
  int n, count, k;
  int moves[POINTS]; /* the numbers of the points that are variable, ascending */
  bool timed;
} variables;

/* Sets out[k] to jets of the coordinates of a point. `at` is the number of the first of these coordinates among the n
 * variables; -1: the point is constant. If `world` (the isometry x -> M x + b) is not NULL, they are jets of the
 * coordinates M x + b in the world. */
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
  cb_jet coordinate[POINTS][COORDINATES];
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

/* Evaluates an element of a class that is written on jets. */
static cb_status element_by_jets(const cb_constraints *c, const cb_constraint *row, int element, double t,
                                 const double *const *x, int order, cb_element *out) {
  return cb_element_by_embedding(in_embedding, c, row, element, t, x, order, out);
}

cb_status cb_constraint_distance(const cb_space *g, const cb_jet *x, const cb_jet *y, cb_jet *d) {
  const int k = g->intrinsic ? g->dim : g->embedding, n = x[0].n;
  double at[2][COORDINATES], value, first[CB_PAIR_MAX], second[CB_PAIR_MAX * CB_PAIR_MAX];
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

/* --- rows --- */

static int by_place(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

static int find(const int *list, int count, int what) {
  int low = 0, high = count - 1;
  while (low < high) {
    const int middle = low + (high - low) / 2;
    if (list[middle] < what)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

/* Lists the particles of each row, each once and ascending, and the position of each element's particles in this list.
 */
static cb_status make_rows(cb_constraints *c, bool with_space) {
  const cb_system *s = c->system;
  c->curved = with_space && !s->space->chart ? cb_curved_factors(s->space) : 0;
  const int own = c->rows.own, curved = c->curved, rows = own + curved * s->n;
  size_t members = 0;
  for (int r = 0; r < own; r++) members += (size_t)c->row[r].elements * (size_t)c->row[r].width;
  const size_t maximum = members + (size_t)curved * (size_t)s->n;
  int *start = cb_arena_alloc(c->arena, (size_t)rows + 1, sizeof *start);
  int *particle = cb_arena_alloc(c->arena, maximum, sizeof *particle);
  bool *velocity = cb_arena_alloc(c->arena, (size_t)rows, sizeof *velocity);
  c->slot = cb_arena_alloc(c->arena, members, sizeof *c->slot);
  c->slot_start = cb_arena_alloc(c->arena, (size_t)own + 1, sizeof *c->slot_start);
  if (!start || !particle || !velocity || !c->slot || !c->slot_start)
    return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", rows);
  int entries = 0, slots = 0;
  for (int r = 0; r < own; r++) {
    const cb_constraint *row = &c->row[r];
    const int count = row->elements * row->width;
    int *mine = particle + entries, kept = 0;
    start[r] = entries;
    velocity[r] = row->class->velocity;
    memcpy(mine, row->particle, (size_t)count * sizeof *mine);
    qsort(mine, (size_t)count, sizeof *mine, by_place);
    for (int p = 0; p < count; p++)
      if (p == 0 || mine[p] != mine[p - 1]) mine[kept++] = mine[p];
    c->slot_start[r] = slots;
    for (int p = 0; p < count; p++) c->slot[slots++] = entries + find(mine, kept, row->particle[p]);
    entries += kept;
  }
  c->slot_start[own] = slots;
  for (int r = own; r < rows; r++) {
    start[r] = entries;
    particle[entries++] = (r - own) / curved;
  }
  start[rows] = entries;
  c->rows = (cb_rows){rows, own, start, particle, velocity};
  return CB_OK;
}

cb_constraint_list cb_constraints_of(const cb_system *s) {
  return (cb_constraint_list){s->n_constraints, s->n_world, s->constraint};
}

cb_status cb_constraints_create(cb_forces *f, const cb_constraint_list *list, bool with_space, cb_constraints **out) {
  cb_constraints *c = cb_arena_object(sizeof *c, "constraints");
  if (!c) return CB_ERROR_MEMORY;
  c->forces = f;
  c->system = f->system;
  c->space = f->system->space;
  c->row = list->row;
  c->rows.own = list->n;
  c->world = cb_arena_alloc(c->arena, (size_t)list->n_world, sizeof *c->world);
  c->scratch = cb_arena_alloc(c->arena, 1, sizeof *c->scratch);
  cb_status status =
      c->world && c->scratch ? make_rows(c, with_space) : cb_fail(CB_ERROR_MEMORY, "no memory for constraints");
  if (status) {
    cb_arena_free(c->arena);
    return status;
  }
  cb_constraints_set_origins(c, f->origin);
  *out = c;
  return CB_OK;
}

void cb_constraints_free(cb_constraints *c) {
  if (c) cb_arena_free(c->arena);
}

void cb_constraints_set_origins(cb_constraints *c, const cb_origin *origin) {
  const cb_system *s = c->system;
  for (int r = 0; r < c->rows.own; r++) {
    const cb_constraint *row = &c->row[r];
    if (row->world < 0) continue;
    cb_constraint_world *w = &c->world[row->world];
    const cb_origin *mine = &origin[s->component[row->particle[0]]];
    if (s->space->chart && !cb_origin_moves(s->space)) {
      cb_isometry_identity(s->space, &w->world);
      cb_isometry_identity(s->space, &w->local);
      memcpy(w->anchor.x, row->centre.x, sizeof w->anchor.x);
      continue;
    }
    cb_anchor_of(s->space, mine, &row->centre, &w->anchor);
    cb_origin_isometry(s->space, mine, &w->world);
    cb_isometry_inverse(s->space, &w->world, &w->local);
  }
}

const cb_rows *cb_constraints_rows(const cb_constraints *c) { return &c->rows; }

/* Does the same as cb_constraints_element, but function must not be NULL. The function is inlined. */
static inline __attribute__((always_inline)) cb_status element_by(cb_constraints *c, const cb_constraint *row,
                                                                  cb_element_function *function, int e, double t,
                                                                  const double *x, int order) {
  cb_element *out = c->scratch;
  const size_t k = (size_t)c->space->k, size = (size_t)row->width * k;
  const double *at[CB_ELEMENT_PARTICLES];
  for (int p = 0; p < row->width; p++) at[p] = x + k * (size_t)row->particle[e * row->width + p];
  out->value = out->t1 = out->t2 = 0;
  if (order > 0) {
    memset(out->gradient, 0, size * sizeof(double));
    memset(out->tx, 0, size * sizeof(double));
    memset(out->b_x, 0, size * sizeof(double));
  }
  if (order > 1) memset(out->hessian, 0, size * size * sizeof(double));
  return function(c, row, e, t, at, order, out);
}

/* Clears the parts of c->scratch that `order` needs. Then evaluates element e of a row into c->scratch. */
static inline __attribute__((always_inline)) cb_status element(cb_constraints *c, const cb_constraint *row, int e,
                                                               double t, const double *x, int order) {
  cb_element_function *const function = row->class->element;
  return element_by(c, row, function ? function : element_by_jets, e, t, x, order);
}

cb_status cb_constraints_element(cb_constraints *c, const cb_constraint *row, cb_element_function *function, int e,
                                 double t, const double *x, int order) {
  return function ? element_by(c, row, function, e, t, x, order) : element(c, row, e, t, x, order);
}

cb_status cb_constraint_target(const cb_constraint *row, double t, double value[3]) {
  value[0] = row->target;
  value[1] = value[2] = 0;
  if (!row->target_expression) return CB_OK;
  const cb_jet jet = cb_expression_jet(row->target_expression, &t, 1);
  value[0] = jet.v;
  value[1] = jet.g[0];
  value[2] = jet.h[0];
  if (isfinite(value[0]) && isfinite(value[1]) && isfinite(value[2])) return CB_OK;
  return cb_fail(
      CB_STEP_DOMAIN,
      "the target of constraint `%s` is not finite: expected an expression that is finite at all times of the run",
      row->name);
}

double cb_system_constraint_size(const cb_system *s, int row, double t) {
  const cb_constraint *c = &s->constraint[row];
  double value[3];
  return c->class->sized && !cb_constraint_target(c, t, value) && value[0] > 0 ? value[0] : 1;
}

/* A row of the space: its number `row`, the number `entry` of its gradient, the offset and the count of the coordinates
 * of its factor, and the curvature of this factor. Rows of the space follow the `own` rows of the system. */
typedef struct space_row {
  int row, entry, offset, count;
  double curvature;
} space_row;

static space_row space_row_at(const cb_constraints *c, int r) {
  const cb_factor *f = cb_curved_factor(c->space, (r - c->rows.own) % c->curved);
  return (space_row){r, c->rows.start[r], f->offset, f->count, f->curvature};
}

/* Returns <a, b> in the factor of a row, for the row's particle; a and b are arrays over all particles. If gradient is
 * not NULL, it is set to <a, .>. */
static double space_product(const cb_constraints *c, const space_row *s, const double *a, const double *b,
                            double *gradient) {
  const size_t k = (size_t)c->space->k, particle = k * (size_t)c->rows.particle[s->entry];
  double sum = 0;
  for (int e = s->offset; e < s->offset + s->count; e++) {
    sum += c->space->form[e] * a[particle + (size_t)e] * b[particle + (size_t)e];
    if (gradient) gradient[(size_t)s->entry * k + (size_t)e] = c->space->form[e] * a[particle + (size_t)e];
  }
  return sum;
}

/* Writes the values of all rows to `out`, or their rates for the velocity v if v is not NULL, and the gradients to G;
 * `out` and G may be NULL. The value of a velocity row is 0. The function is inlined so that each use gets a loop of
 * its own. */
static inline __attribute__((always_inline)) cb_status rows(cb_constraints *c, double t, const double *x,
                                                            const double *v, double *out, double *G) {
  const int k = c->space->k;
  if (G) memset(G, 0, (size_t)c->rows.start[c->rows.rows] * (size_t)k * sizeof *G);
  for (int r = 0; r < c->rows.own; r++) {
    const cb_constraint *row = &c->row[r];
    const bool velocity = row->class->velocity;
    double sum = 0, aim[3] = {0};
    for (int e = 0; e < row->elements; e++) {
      const cb_status status = element(c, row, e, t, x, v || G);
      if (status) return status;
      const double *gradient = c->scratch->gradient;
      const int *slot = c->slot + c->slot_start[r] + e * row->width;
      sum += v && !velocity ? c->scratch->t1 : c->scratch->value;
      for (int p = 0; (v || G) && p < row->width; p++)
        for (int a = 0; a < k; a++) {
          if (v) sum += gradient[p * k + a] * v[(size_t)row->particle[e * row->width + p] * k + a];
          if (G) G[(size_t)slot[p] * k + a] += gradient[p * k + a];
        }
    }
    if (!out) continue;
    const cb_status status = v || !velocity ? cb_constraint_target(row, t, aim) : CB_OK;
    if (status) return status;
    out[r] = velocity ? (v ? sum : 0) : sum - aim[v ? 1 : 0];
  }
  for (int r = c->rows.own; r < c->rows.rows; r++) {
    const space_row s = space_row_at(c, r);
    const double product = space_product(c, &s, x, v ? v : x, G);
    if (out) out[r] = v ? product : 0.5 * (product - 1 / s.curvature);
  }
  return CB_OK;
}

cb_status cb_constraints_eval(cb_constraints *c, double t, const double *x, double *g, double *G) {
  return rows(c, t, x, NULL, g, G);
}

cb_status cb_constraints_rate(cb_constraints *c, double t, const double *x, const double *v, double *rate, double *G) {
  return rows(c, t, x, v, rate, G);
}

cb_status cb_constraints_second(cb_constraints *c, double t, const double *x, const double *v, double *gamma,
                                double *rate_x) {
  const int k = c->space->k;
  if (rate_x) memset(rate_x, 0, (size_t)c->rows.start[c->rows.rows] * (size_t)k * sizeof *rate_x);
  for (int r = 0; r < c->rows.own; r++) {
    const cb_constraint *row = &c->row[r];
    const bool velocity = row->class->velocity;
    const int size = row->width * k;
    double sum = 0, aim[3];
    for (int e = 0; e < row->elements; e++) {
      const cb_status status = element(c, row, e, t, x, 2);
      if (status) return status;
      const cb_element *out = c->scratch;
      const int *slot = c->slot + c->slot_start[r] + e * row->width;
      double u[CB_ELEMENT_MAX];
      for (int p = 0; p < row->width; p++)
        memcpy(u + p * k, v + (size_t)row->particle[e * row->width + p] * k, (size_t)k * sizeof *u);
      sum += velocity ? out->t1 : out->t2;
      for (int j = 0; j < size; j++) {
        double along = 0; /* sum_i u_i H_ij, with the velocities u of the element's particles */
        for (int i = 0; i < size; i++) along += u[i] * out->hessian[i * size + j];
        sum += u[j] * (along + (velocity ? out->tx[j] + out->b_x[j] : 2 * out->tx[j]));
        if (rate_x) rate_x[(size_t)slot[j / k] * k + j % k] += along + (velocity ? out->b_x[j] : out->tx[j]);
      }
    }
    const cb_status status = cb_constraint_target(row, t, aim);
    if (status) return status;
    gamma[r] = sum - (velocity ? 0 : aim[2]);
  }
  for (int r = c->rows.own; r < c->rows.rows; r++) {
    const space_row s = space_row_at(c, r);
    gamma[r] = space_product(c, &s, v, v, rate_x);
  }
  return CB_OK;
}

cb_status cb_constraints_hessian(cb_constraints *c, double t, const double *x, const double *weight, double *blocks) {
  const cb_pattern *pattern = cb_forces_pattern(c->forces);
  if (!pattern) return CB_ERROR_MEMORY;
  const int k = c->space->k;
  for (int r = 0; r < c->rows.own; r++) {
    const cb_constraint *row = &c->row[r];
    const int size = row->width * k;
    if (weight[r] == 0) continue;
    for (int e = 0; e < row->elements; e++) {
      const cb_status status = element(c, row, e, t, x, 2);
      if (status) return status;
      const int *particle = row->particle + e * row->width;
      for (int p = 0; p < row->width; p++)
        for (int q = 0; q < row->width; q++) {
          double *block = blocks + (size_t)cb_pattern_find(pattern, particle[p], particle[q]) * (size_t)(k * k);
          for (int a = 0; a < k; a++)
            for (int b = 0; b < k; b++)
              block[a * k + b] += weight[r] * c->scratch->hessian[(p * k + a) * size + q * k + b];
        }
    }
  }
  for (int r = c->rows.own; r < c->rows.rows; r++) {
    const space_row s = space_row_at(c, r);
    const int i = c->rows.particle[s.entry];
    double *block = blocks + (size_t)cb_pattern_find(pattern, i, i) * (size_t)(k * k);
    for (int a = s.offset; a < s.offset + s.count; a++) block[a * k + a] += weight[r] * c->space->form[a];
  }
  return CB_OK;
}

bool cb_constraints_chord(const cb_constraints *c, int row, double t, int *i, int *j, double *square, double *slope) {
  const cb_space *g = c->space;
  if (row >= c->rows.own || !c->row[row].class->bond || !cb_pair_by_chord(g)) return false;
  const cb_constraint *rod = &c->row[row];
  const double K = g->factor[0].curvature, r = sqrt(fabs(K));
  double length[3];
  cb_constraint_target(rod, t, length);
  const double half = 0.5 * length[0];
  const double s = K > 0 ? sin(r * half) / r : K < 0 ? sinh(r * half) / r : half;
  *i = rod->particle[0];
  *j = rod->particle[1];
  *square = 4 * s * s;
  *slope = 0.5 / sqrt(*square * (1 - 0.25 * K * *square));
  return true;
}

int cb_system_constraints(const cb_system *s) { return s->n_constraints; }
const cb_system *cb_system_dropped(const cb_system *s) { return s->dropped; }
const char *cb_system_constraint_name(const cb_system *s, int row) { return s->constraint[row].name; }
bool cb_system_constraint_is_velocity(const cb_system *s, int row) { return s->constraint[row].class->velocity; }

bool cb_system_constraint_is_rod(const cb_system *s, int row, int *i, int *j) {
  const cb_constraint *c = &s->constraint[row];
  if (!c->class->bond) return false;
  *i = s->particle[c->particle[0]];
  *j = s->particle[c->particle[1]];
  return true;
}

int cb_system_velocity_constraints(const cb_system *s) {
  int count = 0;
  for (int r = 0; r < s->n_constraints; r++) count += s->constraint[r].class->velocity;
  return count;
}

bool cb_system_constraints_depend_on_time(const cb_system *s) {
  for (int r = 0; r < s->n_constraints; r++) {
    const cb_constraint *c = &s->constraint[r];
    if (c->target_expression || c->class->timed) return true;
  }
  return false;
}
