/* Tables of other bundles. See samples.h. */
#include "bundle/samples_private.h"

#include <math.h>

typedef struct owned {
  cb_bundle_table table; /* first */
  cb_arena *arena;
} owned;

void cb_bundle_table_free(cb_bundle_table *table) {
  if (table) cb_arena_free(((owned *)table)->arena);
}

static cb_status make_axes(const cb_bundle *b, const double *low, const double *high, const int *points, owned *o) {
  for (int i = 0; i < b->n; i++) {
    double *x = cb_arena_alloc(o->arena, (size_t)points[i], sizeof *x);
    o->table.shape[i] = cb_arena_strdup(o->arena, b->shape[i] ? b->shape[i] : "r");
    if (!x || !o->table.shape[i]) return cb_fail(CB_ERROR_MEMORY, "no memory for a table");
    for (int k = 0; k < points[i]; k++) x[k] = low[i] + (high[i] - low[i]) * k / (points[i] - 1);
    x[points[i] - 1] = high[i];
    o->table.axis[i] = x;
    o->table.points[i] = points[i];
    if (b->period[i] > 0 && fabs(high[i] - low[i] - b->period[i]) <= 1e-9 * b->period[i])
      o->table.period[i] = b->period[i];
  }
  return CB_OK;
}

cb_status cb_bundle_sample(const cb_bundle *b, const double *low, const double *high, const int *points,
                           cb_bundle_table **out) {
  const int n = b->n, count = b->group->dim * n;
  size_t total = 1;
  if (n > CB_SAMPLES_AXES)
    return cb_fail(CB_ERROR_ARGUMENT, "bundle %s has %d shape variables, a table at most %d", b->kind->name, n,
                   CB_SAMPLES_AXES);
  for (int i = 0; i < n; i++) {
    if (points[i] < 2 || !(high[i] > low[i]) || !isfinite(high[i] - low[i]))
      return cb_fail(CB_ERROR_ARGUMENT, "%d points of %s from %g to %g", points[i], b->shape[i], low[i], high[i]);
    total *= (size_t)points[i];
  }
  cb_arena *arena = cb_arena_create();
  owned *o = cb_arena_alloc(arena, 1, sizeof *o);
  double *A = cb_arena_alloc(arena, total * (size_t)count, sizeof *A);
  double *M = cb_arena_alloc(arena, total * (size_t)(n * n), sizeof *M);
  cb_status status = o && A && M ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a table");
  if (!status) {
    *o = (owned){.table = {.n = n, .connection = A, .metric = M}, .arena = arena};
    /* static where the bundle has its own R^n */
    o->table.group = cb_group_find(b->group->name) ? cb_group_find(b->group->name) : b->group;
    status = make_axes(b, low, high, points, o);
  }
  for (size_t at = 0; !status && at < total; at++) {
    double r[CB_SAMPLES_AXES];
    size_t rest = at;
    for (int i = n - 1; i >= 0; i--) {
      r[i] = o->table.axis[i][rest % (size_t)points[i]];
      rest /= (size_t)points[i];
    }
    status = cb_bundle_connection(b, r, A + at * (size_t)count, NULL, M + at * (size_t)(n * n), NULL);
  }
  if (status) {
    cb_arena_free(arena);
    return status;
  }
  *out = &o->table;
  return CB_OK;
}
