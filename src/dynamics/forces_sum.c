/* The forces of a system: the sum over its parts, and the Jacobian of the sum.
 *
 *   F = -I^-1 dV/dx + damping + G in the embedding, F = -dV/dq + damping + G in a chart
 * V is the potential of all parts, I = diag(form), and x or q are the coordinates of the particles. The damping is that
 * of springs, and G are the forces that were given without a potential.
 */
#include "dynamics/forces_private.h"

#include <stdlib.h>
#include <string.h>

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

/* Adds all forces except those of the plan of springs. */
static cb_status add_parts(cb_forces *f, double t, const double *x, const double *v, double *force) {
  const cb_system *s = f->system;
  cb_status status = CB_OK;
  if (s->n_springs) status = cb_forces_springs_add(f, t, x, v, force);
  if (!status && s->n_interactions) status = cb_interactions_add(f, t, x, force);
  if (!status && s->n_centrals) status = cb_centrals_add(f, t, x, force);
  if (!status && s->n_fields) status = cb_fields_add(f, t, x, v, force);
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
  f->springs_alone = s->springs && !s->n_interactions && !s->n_centrals && !s->n_fields && !s->n_driven;
  cb_status status = s->springs ? cb_springs_work_create(s->springs, f->threads, &f->springs) : CB_OK;
  if (!status) status = cb_interactions_create(f);
  if (!status) status = cb_centrals_create(f);
  if (!status) status = cb_fields_create(f);
  if (!status && s->n_constraints) status = cb_constraints_create(f, false, &f->constraints);
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
  cb_status status = cb_centrals_set_origins(f, origin);
  return status ? status : cb_fields_set_origins(f, origin);
}

cb_status cb_forces_potential(cb_forces *f, double t, const double *x, double *potential) {
  double sum = 0;
  cb_status status = cb_forces_springs_potential(f, t, x, &sum);
  if (!status) status = cb_interactions_potential(f, t, x, &sum);
  if (!status) status = cb_centrals_potential(f, t, x, &sum);
  if (!status) status = cb_fields_potential(f, t, x, &sum);
  if (!status) *potential = sum;
  return status;
}

cb_constraints *cb_forces_constraints(cb_forces *f) { return f->constraints; }

cb_constraints *cb_forces_constraints_with_space(cb_forces *f) {
  if (!f->constraints_with_space && cb_constraints_create(f, true, &f->constraints_with_space)) return NULL;
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
static void for_each_pair(const cb_system *s, void (*visit)(int i, int j, void *self), void *self) {
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
  for (size_t i = 0; i < n; i++) start[i] = 1; /* the diagonal */
  for_each_pair(s, count, start);
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
  for_each_pair(s, fill, &(fill_state){end, all});
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
  return status;
}
