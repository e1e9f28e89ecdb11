/* The forces of a system: the sum over its parts, and the Jacobian of the sum.
 *
 *   F = -I^-1 dV/dx + damping + G in the embedding, F = -dV/dq + damping + G in a chart
 * V is the potential of all parts, I = diag(form) with the form of the embedding (curvebody/space.h), and x or q are
 * the coordinates of the particles. The damping is that of springs, and G are the forces that were given without a
 * potential.
 *
 * One part consists of potentials of functions of several points: angles, areas, volumes, lengths of paths, and any
 * other function that a class of constraints of positions defines. A row of such a class is then not a constraint, but
 * has an energy U_r.
 *
 *   V = sum_r U_r(s_r, t),   U = (k/2) (s - D(t))^2 or an expression of s and t
 *   F = -I^-1 U' ds/dx,   d^2 V = U' d^2 s + U'' ds ds^T
 * s_r(t, x) is the value of row r, k a stiffness, D the required value, F the force, and I = diag(form). s and its
 * derivatives are those of a constraint of the same class. Where s has a kink but its cosine c is smooth (an angle at
 * pi and at 0), U is a function of c. With delta = s - pi near pi and delta = s near 0,
 *   dU/dc = -U'/sin s,   d^2 U/dc^2 = (U'' - U' cot delta)/sin^2 delta
 *                                   = U'' (1 - delta cot delta)/sin^2 delta + (U'' delta - U') cot delta/sin^2 delta
 * dU/dc and d^2 U/dc^2 have limits at delta = 0 if U' and U''' are 0 there, which is true of the bending energy of a
 * chain. The limits are dU/dc = -U''/cos s and, if U'' is constant, d^2 U/dc^2 = U''/3. Source: Bergou, Wardetzky,
 * Robinson, Audoly & Grinspun, Discrete elastic rods, ACM Transactions on Graphics 27 (2008),
 * doi:10.1145/1360612.1360662 (energies of the angles of a chain).
 */
#include "dynamics/forces_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- potentials of functions of several points --- */

static const double pi = 3.14159265358979323846;
/* At or below this sine of the value s, dU/dc is equal to its limit up to round-off. */
static const double straight = 1e-7;
/* Where the sine is at most `straight`, |U'| must be at most this times |U''|; otherwise the force has no direction. */
static const double flat = 4e-7;
/* Below this sine, (1 - delta cot delta)/sin^2 delta is computed by its series. */
static const double near = 0.01;
/* U'' delta - U' is treated as round-off if it is less than this times U'' delta. */
static const double round_off = 1e-10;

/* The potential energy U of a row, and its first and second derivatives by the row's value s or by the cosine of s. */
typedef struct energy {
  double u, du, ddu;
} energy;

static cb_status potentials_create(cb_forces *f) {
  const cb_status status = cb_constraints_create(f, &f->system->potentials, false, &f->potentials);
  if (status) return status;
  const cb_rows *rows = cb_constraints_rows(f->potentials);
  const size_t count = (size_t)rows->start[rows->rows] * (size_t)f->system->k;
  f->potential_gradient = cb_arena_alloc(f->arena, count, sizeof *f->potential_gradient);
  return f->potential_gradient ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d potentials", rows->rows);
}

/* Computes the sum of the values of the elements of row r. If the class of the row has a function `cosine`, this is the
 * cosine of the value of the row, otherwise the value. With order 1, also sets the gradient of the sum in
 * f->potential_gradient. */
static cb_status sum_of(cb_forces *f, int r, double t, const double *x, int order, double *sum) {
  cb_constraints *c = f->potentials;
  const cb_constraint *row = &c->row[r];
  const int k = c->space->k, first = c->rows.start[r];
  double *gradient = f->potential_gradient;
  *sum = 0;
  if (order)
    memset(gradient + (size_t)first * (size_t)k, 0,
           (size_t)(c->rows.start[r + 1] - first) * (size_t)k * sizeof *gradient);
  for (int e = 0; e < row->elements; e++) {
    const cb_status status = cb_constraints_element(c, row, row->class->cosine, e, t, x, order);
    if (status) return status;
    const int *slot = c->slot + c->slot_start[r] + e * row->width;
    *sum += c->scratch->value;
    for (int p = 0; order && p < row->width; p++)
      for (int a = 0; a < k; a++) gradient[(size_t)slot[p] * (size_t)k + (size_t)a] += c->scratch->gradient[p * k + a];
  }
  return CB_OK;
}

/* The value s = base + delta of a row. If the row computes the cosine of s, base is 0 or pi, and delta has a small
 * relative error. Otherwise base is s. */
typedef struct value {
  double base, delta;
} value;

static double sine_of(double c) { return sqrt(fmax((1 - c) * (1 + c), 0)); }

static value value_of(const cb_constraint *row, double sum) {
  if (!row->class->cosine) return (value){sum, 0};
  const double arc = atan2(sine_of(sum), fabs(sum));
  return sum < 0 ? (value){pi, -arc} : (value){0, arc};
}

cb_status cb_potentials_value(cb_forces *f, int r, double t, const double *x, double *out) {
  double sum;
  const cb_status status = sum_of(f, r, t, x, 0, &sum);
  if (status) return status;
  const value s = value_of(&f->potentials->row[r], sum);
  *out = s.base + s.delta;
  return CB_OK;
}

/* Converts derivatives of U by s to derivatives by c = cos s. */
static cb_status in_cosine(const cb_constraint *row, value s, double c, energy *u) {
  const double sine = sine_of(c), ss = sine * sine, d = s.delta, dd = d * d, du = u->du, ddu = u->ddu;
  if (sine <= straight) {
    if (!(fabs(du) <= flat * fabs(ddu)))
      return cb_fail(CB_STEP_DOMAIN,
                     "the potential of `%s` has a kink at the value %g: expected other positions, or a potential with "
                     "the slope 0 there",
                     row->name, s.base);
    u->du = c < 0 ? ddu : -ddu;
    u->ddu = ddu / 3;
    return CB_OK;
  }
  const double cotangent = fabs(c) / (c < 0 ? -sine : sine), rest = ddu * d - du;
  const double part = sine < near ? 1. / 3 + dd * (2. / 15 + dd * 2. / 63) : (1 - d * cotangent) / ss;
  u->du = -du / sine;
  u->ddu = ddu * part;
  if (sine >= near || fabs(rest) > round_off * fabs(ddu * d)) u->ddu += rest * cotangent / ss;
  return CB_OK;
}

/* Computes the energy U of a row. `sum` is the sum of the values of the row's elements. */
static cb_status energy_of(const cb_constraint *row, double t, double sum, energy *u) {
  const value s = value_of(row, sum);
  if (row->energy) {
    const cb_jet jet = cb_expression_jet(row->energy, (double[]){s.base + s.delta, t}, 1);
    *u = (energy){jet.v, jet.g[0], jet.h[0]};
  } else {
    double rest[3];
    const cb_status status = cb_constraint_target(row, t, rest);
    if (status) return status;
    const double off = (s.base - rest[0]) + s.delta;
    *u = (energy){0.5 * row->stiffness * off * off, row->stiffness * off, row->stiffness};
  }
  if (!isfinite(u->u) || !isfinite(u->du))
    return cb_fail(CB_STEP_DOMAIN, "the potential of `%s` is not finite at the value %g: use a smaller `step`",
                   row->name, s.base + s.delta);
  return row->class->cosine ? in_cosine(row, s, sum, u) : CB_OK;
}

static cb_status potentials_add(cb_forces *f, double t, const double *x, double *force) {
  const cb_rows *rows = cb_constraints_rows(f->potentials);
  const int k = f->system->k;
  for (int r = 0; r < rows->own; r++) {
    double sum;
    energy u;
    cb_status status = sum_of(f, r, t, x, 1, &sum);
    if (!status) status = energy_of(&f->potentials->row[r], t, sum, &u);
    if (status) return status;
    for (int e = rows->start[r]; e < rows->start[r + 1]; e++)
      for (int a = 0; a < k; a++)
        force[rows->particle[e] * k + a] += f->raise[a] * u.du * f->potential_gradient[e * k + a];
  }
  return CB_OK;
}

static cb_status potentials_potential(cb_forces *f, double t, const double *x, double *potential) {
  double all = 0;
  for (int r = 0; r < f->potentials->rows.own; r++) {
    double sum;
    energy u;
    cb_status status = sum_of(f, r, t, x, 0, &sum);
    if (!status) status = energy_of(&f->potentials->row[r], t, sum, &u);
    if (status) return status;
    all += u.u;
  }
  *potential += all;
  return CB_OK;
}

/* Adds -I^-1 (weight H) to the blocks of the particles of an element, where H is the matrix of its second derivatives,
 * f->potentials->scratch->hessian. */
static void add_element(const cb_forces *f, const int *particle, int width, double weight, double *dx) {
  const int k = f->system->k;
  const double *hessian = f->potentials->scratch->hessian;
  for (int p = 0; p < width; p++)
    for (int q = 0; q < width; q++) {
      double *block = dx + (size_t)cb_pattern_find(&f->pattern, particle[p], particle[q]) * (size_t)(k * k);
      for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++)
          block[a * k + b] += f->raise[a] * weight * hessian[(p * k + a) * width * k + q * k + b];
    }
}

/* Adds -I^-1 (weight ds ds^T) to the blocks of the particles of row r. */
static void add_product(const cb_forces *f, int r, double weight, double *dx) {
  const cb_rows *rows = &f->potentials->rows;
  const int k = f->system->k;
  for (int p = rows->start[r]; p < rows->start[r + 1]; p++)
    for (int q = rows->start[r]; q < rows->start[r + 1]; q++) {
      const double *left = f->potential_gradient + p * k, *right = f->potential_gradient + q * k;
      double *block = dx + (size_t)cb_pattern_find(&f->pattern, rows->particle[p], rows->particle[q]) * (size_t)(k * k);
      for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++) block[a * k + b] += f->raise[a] * weight * left[a] * right[b];
    }
}

static cb_status potentials_jacobian(cb_forces *f, double t, const double *x, double *dx) {
  cb_constraints *c = f->potentials;
  for (int r = 0; r < c->rows.own; r++) {
    const cb_constraint *row = &c->row[r];
    double sum;
    energy u;
    cb_status status = sum_of(f, r, t, x, 1, &sum);
    if (!status) status = energy_of(row, t, sum, &u);
    for (int e = 0; e < row->elements && !status; e++) {
      status = cb_constraints_element(c, row, row->class->cosine, e, t, x, 2);
      if (!status) add_element(f, row->particle + e * row->width, row->width, u.du, dx);
    }
    if (status) return status;
    add_product(f, r, u.ddu, dx);
  }
  return CB_OK;
}

/* --- the sum --- */

cb_status cb_forces_separations(cb_forces *f, const double *x, double *d) {
  const cb_system *s = f->system;
  int k = s->k;
  cb_status status = CB_OK;
  if (f->springs)
    cb_springs_separation(f->springs, x, d);
  else
    for (int e = 0; e < s->n_springs && !status; e++)
      status = cb_pair_distance(s->space, x + k * s->spring_i[e], x + k * s->spring_j[e], &d[e], NULL, NULL);
  for (int r = 0; r < s->n_rods && !status; r++) {
    const int *ends = s->constraint[s->rod[r]].particle;
    status = cb_pair_distance(s->space, x + k * ends[0], x + k * ends[1], &d[s->n_springs + r], NULL, NULL);
  }
  return status;
}

/* Adds all forces except those of the springs that the plan f->springs computes. */
static cb_status add_parts(cb_forces *f, double t, const double *x, const double *v, double *force) {
  const cb_system *s = f->system;
  cb_status status = CB_OK;
  if (s->n_springs) status = cb_forces_springs_add(f, t, x, v, force);
  if (!status && s->n_interactions) status = cb_interactions_add(f, t, x, force);
  if (!status && s->n_centrals) status = cb_centrals_add(f, t, x, force);
  if (!status && s->n_fields) status = cb_fields_add(f, t, x, v, force);
  if (!status && s->potentials.n) status = potentials_add(f, t, x, force);
  return status;
}

cb_status cb_forces_eval_stages(cb_forces *f, int stages, const double *t, const double *const *x,
                                const double *const *v, double *const *force) {
  const cb_system *s = f->system;
  if (f->springs) cb_springs_force(f->springs, stages, x, v, force);
  if (f->springs_alone) return CB_OK;
  for (int i = 0; i < stages; i++) {
    if (!f->springs) memset(force[i], 0, (size_t)s->n * (size_t)s->k * sizeof *force[i]);
    cb_status status = add_parts(f, t[i], x[i], v ? v[i] : NULL, force[i]);
    if (status) return status;
  }
  return CB_OK;
}

cb_status cb_forces_eval(cb_forces *f, double t, const double *x, const double *v, double *force) {
  return cb_forces_eval_stages(f, 1, &t, &x, &v, &force);
}

cb_status cb_forces_create(const cb_system *s, cb_forces **out) {
  const cb_space *g = s->space;
  cb_arena *arena = cb_arena_create();
  cb_forces *f = cb_arena_alloc(arena, 1, sizeof *f);
  if (!f) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for forces");
  }
  f->system = s;
  f->arena = arena;
  f->threads = 1;
  for (int a = 0; a < g->k; a++) f->raise[a] = g->chart ? -1 : -1 / g->form[a];
  f->origin = cb_arena_alloc(arena, (size_t)s->n_components, sizeof *f->origin);
  if (!f->origin) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for forces");
  }
  f->springs_alone = s->springs && cb_system_springs_alone(s);
  cb_status status = s->springs ? cb_springs_work_create(s->springs, f->threads, &f->springs) : CB_OK;
  if (!status) status = cb_interactions_create(f);
  if (!status) status = cb_centrals_create(f);
  if (!status) status = cb_fields_create(f);
  const cb_constraint_list kept = cb_constraints_of(s);
  if (!status && kept.n) status = cb_constraints_create(f, &kept, false, &f->constraints);
  if (!status && s->potentials.n) status = potentials_create(f);
  if (!status) status = cb_forces_set_origins(f, s->origin);
  if (status) {
    cb_forces_free(f);
    return status;
  }
  *out = f;
  return CB_OK;
}

void cb_forces_free(cb_forces *f) {
  if (!f) return;
  cb_springs_work_free(f->springs);
  cb_constraints_free(f->constraints);
  cb_constraints_free(f->constraints_with_space);
  cb_constraints_free(f->potentials);
  cb_arena_free(f->arena);
}

cb_status cb_forces_set_threads(cb_forces *f, int threads) {
  if (threads < 1) return cb_fail(CB_ERROR_ARGUMENT, "%d threads: expected at least 1", threads);
  cb_springs_work *work = NULL;
  cb_status status = f->springs ? cb_springs_work_create(f->system->springs, threads, &work) : CB_OK;
  if (status) return status;
  if (f->springs) {
    cb_springs_work_free(f->springs);
    f->springs = work;
  }
  f->threads = threads;
  return CB_OK;
}

int cb_forces_uses_velocity(const cb_forces *f) { return f->system->damped; }

cb_status cb_forces_set_origins(cb_forces *f, const cb_origin *origin) {
  for (int c = 0; c < f->system->n_components; c++) f->origin[c] = origin[c];
  if (f->constraints) cb_constraints_set_origins(f->constraints, origin);
  if (f->constraints_with_space) cb_constraints_set_origins(f->constraints_with_space, origin);
  if (f->potentials) cb_constraints_set_origins(f->potentials, origin);
  cb_status status = cb_centrals_set_origins(f, origin);
  return status ? status : cb_fields_set_origins(f, origin);
}

cb_status cb_forces_potential(cb_forces *f, double t, const double *x, double *potential) {
  double sum = 0;
  cb_status status = cb_forces_springs_potential(f, t, x, &sum);
  if (!status) status = cb_interactions_potential(f, t, x, &sum);
  if (!status) status = cb_centrals_potential(f, t, x, &sum);
  if (!status) status = cb_fields_potential(f, t, x, &sum);
  if (!status && f->potentials) status = potentials_potential(f, t, x, &sum);
  if (!status) *potential = sum;
  return status;
}

cb_constraints *cb_forces_constraints(cb_forces *f) { return f->constraints; }

cb_constraints *cb_forces_constraints_with_space(cb_forces *f) {
  const cb_constraint_list kept = cb_constraints_of(f->system);
  if (!f->constraints_with_space && cb_constraints_create(f, &kept, true, &f->constraints_with_space)) return NULL;
  return f->constraints_with_space;
}

/* --- the pattern and the values of dF/dx and dF/dv, in blocks of k x k --- */

int cb_pattern_find(const cb_pattern *p, int i, int j) {
  int low = p->start[i], high = p->start[i + 1] - 1;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (p->column[middle] < j)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

void cb_forces_add_block(const cb_forces *f, const double *hessian, int row, int column, double *block) {
  int k = f->system->k, n = 2 * k;
  for (int a = 0; a < k; a++)
    for (int b = 0; b < k; b++) block[a * k + b] += f->raise[a] * hessian[(row * k + a) * n + column * k + b];
}

static int ascending(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }

/* Calls visit(i, j) for every pair that a force or a constraint couples, in both orders. Pairs may be repeated. */
static void for_each_pair(const cb_forces *f, void (*visit)(int i, int j, void *self), void *self) {
  const cb_system *s = f->system;
  for (int e = 0; e < s->n_springs; e++) {
    visit(s->spring_i[e], s->spring_j[e], self);
    visit(s->spring_j[e], s->spring_i[e], self);
  }
  for (int r = 0; r < s->n_constraints; r++) {
    const cb_constraint *row = &s->constraint[r];
    for (int e = 0; e < row->elements; e++)
      for (int a = 0; a < row->width; a++)
        for (int b = 0; b < row->width; b++)
          if (a != b) visit(row->particle[e * row->width + a], row->particle[e * row->width + b], self);
  }
  for (int q = 0; q < s->n_interactions; q++) {
    const cb_interaction *x = &s->interaction[q];
    for (int a = 0; a < x->a.n; a++)
      for (int b = 0; b < x->b.n; b++) {
        visit(x->a.particle[a], x->b.particle[b], self);
        if (!x->same) visit(x->b.particle[b], x->a.particle[a], self);
      }
  }
  for (int r = 0; r < s->potentials.n; r++) { /* the value of a row couples all its particles */
    const cb_rows *rows = cb_constraints_rows(f->potentials);
    for (int a = rows->start[r]; a < rows->start[r + 1]; a++)
      for (int b = rows->start[r]; b < rows->start[r + 1]; b++)
        if (a != b) visit(rows->particle[a], rows->particle[b], self);
  }
}

static void count(int i, int j, void *self) {
  (void)j;
  ((size_t *)self)[i]++;
}

typedef struct fill_state {
  size_t *end;
  int *column;
} fill_state;

static void fill(int i, int j, void *self) {
  fill_state *s = self;
  s->column[s->end[i]++] = j;
}

/* Makes the pattern: lists the partners of each particle in `all`, sorts them and removes repetitions. Then finds the
 * blocks of the springs. */
static cb_status make_pattern(cb_forces *f) {
  const cb_system *s = f->system;
  size_t n = (size_t)s->n, *start = calloc(n + 1, sizeof *start), *end = calloc(n + 1, sizeof *end);
  if (!start || !end) goto no_memory;
  for (size_t i = 0; i < n; i++) start[i] = 1; /* one entry for the block on the diagonal */
  for_each_pair(f, count, start);
  size_t total = 0;
  for (size_t i = 0; i <= n; i++) {
    size_t here = start[i];
    start[i] = end[i] = total;
    total += i < n ? here : 0;
  }
  int *all = malloc(total * sizeof *all);
  int *row = cb_arena_alloc(f->arena, n + 1, sizeof *row);
  f->spring_block = cb_arena_alloc(f->arena, 4 * (size_t)s->n_springs, sizeof(int));
  if (!all || !row || !f->spring_block || total > INT32_MAX) {
    free(all);
    goto no_memory;
  }
  for (size_t i = 0; i < n; i++) all[end[i]++] = (int)i;
  for_each_pair(f, fill, &(fill_state){end, all});
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    size_t first = start[i], last = end[i];
    qsort(all + first, last - first, sizeof *all, ascending);
    row[i] = (int)kept;
    for (size_t c = first; c < last; c++)
      if (c == first || all[c] != all[c - 1]) all[kept++] = all[c];
  }
  row[n] = (int)kept;
  int *column = cb_arena_alloc(f->arena, kept, sizeof *column);
  if (!column) {
    free(all);
    goto no_memory;
  }
  memcpy(column, all, kept * sizeof *column);
  free(all);
  free(start);
  free(end);
  f->pattern = (cb_pattern){s->n, s->k, row, column};
  for (int e = 0; e < s->n_springs; e++) {
    int i = s->spring_i[e], j = s->spring_j[e], *block = f->spring_block + 4 * e;
    block[0] = cb_pattern_find(&f->pattern, i, i);
    block[1] = cb_pattern_find(&f->pattern, i, j);
    block[2] = cb_pattern_find(&f->pattern, j, i);
    block[3] = cb_pattern_find(&f->pattern, j, j);
  }
  return CB_OK;
no_memory:
  free(start);
  free(end);
  return cb_fail(CB_ERROR_MEMORY, "no memory for the Jacobian of %d particles", s->n);
}

const cb_pattern *cb_forces_pattern(cb_forces *f) {
  if (!f->pattern.start && make_pattern(f)) return NULL;
  return &f->pattern;
}

cb_status cb_forces_jacobian(cb_forces *f, double t, const double *x, const double *v, double *dx, double *dv) {
  if (!cb_forces_pattern(f)) return CB_ERROR_MEMORY;
  size_t bytes =
      (size_t)f->pattern.start[f->pattern.n] * (size_t)(f->pattern.block * f->pattern.block) * sizeof(double);
  memset(dx, 0, bytes);
  if (dv) memset(dv, 0, bytes);
  cb_status status = cb_forces_springs_jacobian(f, t, x, v, dx, dv);
  if (!status) status = cb_interactions_jacobian(f, t, x, dx);
  if (!status) status = cb_centrals_jacobian(f, t, x, dx);
  if (!status) status = cb_fields_jacobian(f, t, x, v, dx, dv);
  if (!status && f->potentials) status = potentials_jacobian(f, t, x, dx);
  return status;
}
