/* Rows of constraints in the builder and their way into a system; rods and strings. */
#include "dynamics/builder_private.h"
#include "dynamics/system_private.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cb_constraint_release(cb_constraint *row) {
  cb_expression_free(row->law);
  cb_expression_free(row->expression);
  for (int i = 0; i < CB_ELEMENT_MAX; i++) cb_expression_free(row->coefficient[i]);
}

static cb_status check_particles(const cb_builder *b, const cb_constraint *row) {
  for (int e = 0; e < row->elements; e++)
    for (int p = 0; p < row->width; p++) {
      const int i = row->particle[e * row->width + p];
      if (i < 0 || i >= b->n_points)
        return cb_fail(CB_ERROR_ARGUMENT, "%s: particle %d: expected 0 to %d", row->kind->name, i, b->n_points - 1);
      for (int q = 0; q < p; q++)
        if (row->particle[e * row->width + q] == i)
          return cb_fail(CB_ERROR_ARGUMENT, "%s: expected different particles, found %d twice", row->kind->name, i);
    }
  if (row->elements < 1 || row->width < 1) return cb_fail(CB_ERROR_ARGUMENT, "%s: no particles", row->kind->name);
  if (isinf(row->target)) return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a finite number", row->kind->name);
  return CB_OK;
}

cb_status cb_builder_add_constraint(cb_builder *b, const cb_constraint *row) {
  cb_constraint copy = *row;
  cb_status status = check_particles(b, row);
  if (!status)
    status = cb_builder_grow((void **)&b->constraint, b->n_constraints, &b->room_constraints, sizeof *b->constraint);
  if (!status) {
    const size_t count = (size_t)row->elements * (size_t)row->width;
    copy.particle = cb_arena_alloc(b->texts, count, sizeof *copy.particle);
    copy.name = row->name ? cb_arena_strdup(b->texts, row->name) : NULL;
    if (!copy.particle || (row->name && !copy.name)) status = cb_fail(CB_ERROR_MEMORY, "no memory for a constraint");
    if (!status) memcpy(copy.particle, row->particle, count * sizeof *copy.particle);
  }
  if (status) return cb_constraint_release(&copy), status;
  b->constraint[b->n_constraints++] = copy;
  return CB_OK;
}

cb_status cb_builder_target(cb_builder *b, const cb_target *target, cb_constraint *row) {
  static const char *const names[] = {"t"};
  row->target = target->value;
  if (!target->law) return CB_OK;
  row->target = 0;
  return cb_builder_parse(b, target->law, names, 1, &row->law);
}

cb_status cb_builder_rod(cb_builder *b, const char *name, int i, int j, cb_target length) {
  cb_constraint row = {.kind = &cb_constraint_rod, .name = name, .elements = 1, .width = 2, .particle = (int[]){i, j}};
  cb_status status = check_particles(b, &row);
  if (!status && !length.law && length.value <= 0)
    status = cb_fail(CB_ERROR_ARGUMENT, "rod: length %g: expected > 0", length.value);
  if (!status && b->point[i].origin == b->point[j].origin) {
    double d;
    status = cb_builder_check_apart(b->space, b->point[i].x, b->point[j].x, &d);
  }
  if (!status) status = cb_builder_target(b, &length, &row);
  return status ? status : cb_builder_add_constraint(b, &row);
}

cb_status cb_builder_string(cb_builder *b, const char *name, int n, const int *particle, cb_target length) {
  if (n < 2) return cb_fail(CB_ERROR_ARGUMENT, "string: expected two particles or more, found %d", n);
  int *ends = malloc(2 * (size_t)(n - 1) * sizeof *ends);
  if (!ends) return cb_fail(CB_ERROR_MEMORY, "no memory for a string of %d particles", n);
  for (int e = 0; e < n - 1; e++) {
    ends[2 * e] = particle[e];
    ends[2 * e + 1] = particle[e + 1];
  }
  cb_constraint row = {.kind = &cb_constraint_string, .name = name, .elements = n - 1, .width = 2, .particle = ends};
  cb_status status = check_particles(b, &row);
  if (!status && !length.law && length.value <= 0)
    status = cb_fail(CB_ERROR_ARGUMENT, "string: length %g: expected > 0", length.value);
  if (!status) status = cb_builder_target(b, &length, &row);
  if (!status) status = cb_builder_add_constraint(b, &row);
  free(ends);
  return status;
}

/* "rod a.0 a.1": the kind and the first particles. */
static const char *made_name(const cb_system *s, const cb_constraint *row) {
  enum { SHOWN = 4 };
  char text[512];
  size_t at = (size_t)snprintf(text, sizeof text, "%s", row->kind->name);
  const int count = row->elements * row->width;
  int shown = 0, last = -1;
  for (int p = 0; p < count && shown < SHOWN && at < sizeof text; p++) {
    if (row->particle[p] == last) continue;
    last = row->particle[p];
    at += (size_t)snprintf(text + at, sizeof text - at, " %s", s->name[s->particle[last]]);
    shown++;
  }
  if (row->axis > 0 && at < sizeof text) snprintf(text + at, sizeof text - at, " axis %d", row->axis);
  if (count > SHOWN && at < sizeof text) snprintf(text + at, sizeof text - at, " ...");
  return cb_arena_strdup(s->arena, text);
}

/* Targets that were not given are what the rows are at the start. */
static cb_status measure(cb_system *s) {
  bool asked = false;
  for (int r = 0; r < s->n_constraints; r++) asked = asked || isnan(s->constraint[r].target);
  if (!asked) return CB_OK;
  cb_forces *f;
  cb_status status = cb_forces_create(s, &f);
  if (status) return status;
  double *g = malloc((size_t)s->n_constraints * sizeof *g);
  status = g ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", s->n_constraints);
  for (int r = 0; r < s->n_constraints && !status; r++) g[r] = s->constraint[r].target;
  double *at = status ? NULL : malloc((size_t)s->n_constraints * sizeof *at);
  if (!status && !at) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", s->n_constraints);
  for (int r = 0; r < s->n_constraints && !status; r++)
    if (isnan(g[r])) s->constraint[r].target = 0;
  if (!status) status = cb_constraints_eval(cb_forces_constraints(f), 0, s->x, at, NULL);
  for (int r = 0; r < s->n_constraints && !status; r++)
    if (isnan(g[r])) s->constraint[r].target = at[r];
  free(at);
  free(g);
  cb_forces_free(f);
  if (status == CB_STEP_DOMAIN) status = CB_ERROR_DOMAIN;
  return status;
}

cb_status cb_constraints_settle(cb_builder *b, cb_system *s) {
  s->constraint = cb_arena_alloc(s->arena, (size_t)b->n_constraints, sizeof *s->constraint);
  if (!s->constraint) return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", b->n_constraints);
  for (int r = 0; r < b->n_constraints; r++) {
    cb_constraint *row = &s->constraint[r], *from = &b->constraint[r];
    const size_t count = (size_t)from->elements * (size_t)from->width;
    *row = *from;
    row->particle = cb_arena_alloc(s->arena, count, sizeof *row->particle);
    if (!row->particle) return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", b->n_constraints);
    for (size_t p = 0; p < count; p++) row->particle[p] = s->place[from->particle[p]];
    /* the expressions are the system's from here on */
    from->law = from->expression = NULL;
    memset(from->coefficient, 0, sizeof from->coefficient);
    s->n_constraints++;
    row->world = row->kind->per_world ? s->n_world++ : -1;
    row->name = from->name ? cb_arena_strdup(s->arena, from->name) : made_name(s, row);
    if (!row->name) return cb_fail(CB_ERROR_MEMORY, "no memory for a name");
  }
  return measure(s);
}
