/* Adding rows of constraints of any class to a builder, making potentials of them, and moving them into a system.
 */
#include "dynamics/builder_private.h"

#include "dynamics/forces_private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cb_constraint_release(cb_constraint *row) {
  cb_expression_free(row->target_expression);
  cb_expression_free(row->expression);
  cb_expression_free(row->energy);
  for (int i = 0; i < CB_ELEMENT_MAX; i++) cb_expression_free(row->coefficient[i]);
}

cb_status cb_builder_check_row(const cb_builder *b, const cb_constraint *row) {
  for (int e = 0; e < row->elements; e++)
    for (int p = 0; p < row->width; p++) {
      const int i = row->particle[e * row->width + p];
      if (i < 0 || i >= b->n_points)
        return cb_fail(CB_ERROR_ARGUMENT, "%s: particle %d: expected 0 to %d", row->class->name, i, b->n_points - 1);
      for (int q = 0; q < p; q++)
        if (row->particle[e * row->width + q] == i)
          return cb_fail(CB_ERROR_ARGUMENT, "%s: expected different particles, found %d twice", row->class->name, i);
    }
  if (row->elements < 1 || row->width < 1)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: expected at least one particle, found none", row->class->name);
  if (isinf(row->target)) return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a finite number", row->class->name);
  return CB_OK;
}

cb_status cb_builder_add_row(cb_builder *b, const cb_constraint *row) {
  cb_constraint copy = *row;
  cb_status status = cb_builder_check_row(b, row);
  if (!status)
    status =
        cb_builder_grow((void **)&b->constraint, b->n_constraints, &b->capacity_constraints, sizeof *b->constraint);
  if (!status) {
    const size_t count = (size_t)row->elements * (size_t)row->width;
    copy.particle = cb_arena_alloc(b->texts, count, sizeof *copy.particle);
    copy.name = row->name ? cb_arena_strdup(b->texts, row->name) : NULL;
    if (!copy.particle || (row->name && !copy.name)) status = cb_fail(CB_ERROR_MEMORY, "no memory for a constraint");
    if (!status) memcpy(copy.particle, row->particle, count * sizeof *copy.particle);
  }
  if (status) {
    cb_constraint_release(&copy);
    return status;
  }
  b->constraint[b->n_constraints++] = copy;
  return CB_OK;
}

/* Sets the target of a row, or parses its expression. */
static cb_status set_target(cb_builder *b, const cb_target *target, cb_constraint *row) {
  static const char *const names[] = {"t"};
  row->target = target->value;
  if (!target->expression) return CB_OK;
  row->target = 0;
  return cb_builder_parse(b, target->expression, names, 1, &row->target_expression);
}

cb_status cb_builder_add_targeted(cb_builder *b, cb_constraint *row, const cb_target *target) {
  cb_status status = set_target(b, target, row);
  return status ? status : cb_builder_add_row(b, row);
}

cb_status cb_builder_constraint(cb_builder *b, const cb_constraint_class *class_, const void *params, const char *name,
                                int elements, const int *particle, cb_target target) {
  cb_constraint row = {
      .class = class_, .name = name, .elements = elements, .width = class_->points, .particle = (int *)particle};
  if (class_->velocity || class_->centred || !class_->on_jets)
    return cb_fail(CB_ERROR_UNSUPPORTED, "%s: expected a class of positions that is written on jets", class_->name);
  cb_status status = cb_builder_check_row(b, &row);
  if (!status && class_->points * b->space->k > CB_ELEMENT_MAX)
    status = cb_fail(CB_ERROR_UNSUPPORTED, "%s: %d points with %d coordinates: expected at most %d numbers",
                     class_->name, class_->points, b->space->k, CB_ELEMENT_MAX);
  if (!status && class_->params_size) {
    row.params = cb_arena_alloc(b->texts, class_->params_size, 1);
    if (!row.params) return cb_fail(CB_ERROR_MEMORY, "no memory for a constraint");
    memcpy(row.params, params, class_->params_size);
  }
  return status ? status : cb_builder_add_targeted(b, &row, &target);
}

/* --- potentials --- */

int cb_builder_constraints(const cb_builder *b) { return b->n_constraints; }

static cb_status potential_of(cb_builder *b, cb_constraint *row, double stiffness, const cb_target *rest,
                              const char *expression) {
  static const char *const names[] = {"s", "t"};
  if (row->class->velocity)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a function of positions, found an equation of velocities",
                   row->class->name);
  if ((rest || expression) && (row->target_expression || (!isnan(row->target) && row->target != 0)))
    return cb_fail(CB_ERROR_ARGUMENT, "%s: a target next to `%s`: expected only one of them", row->class->name,
                   rest ? "rest" : "expression");
  row->is_potential = true;
  row->stiffness = stiffness;
  if (expression) row->target = 0;
  if (expression) return cb_builder_parse(b, expression, names, 2, &row->energy);
  return rest ? set_target(b, rest, row) : CB_OK;
}

cb_status cb_builder_potentials_of(cb_builder *b, int first, double stiffness, const cb_target *rest,
                                   const char *expression) {
  cb_status status = CB_OK;
  if (!expression && !isfinite(stiffness))
    return cb_fail(CB_ERROR_ARGUMENT, "stiffness %g: expected a finite number", stiffness);
  if (!expression && rest && !rest->expression && isinf(rest->value))
    return cb_fail(CB_ERROR_ARGUMENT, "rest %g: expected a finite number", rest->value);
  for (int r = first; r < b->n_constraints && !status; r++)
    status = potential_of(b, &b->constraint[r], stiffness, rest, expression);
  return status;
}

/* --- making the rows of a system --- */

/* Makes a name such as "rod a.0 a.1" from the class and the first particles. */
static const char *made_name(const cb_system *s, const cb_constraint *row) {
  enum { SHOWN = 4 };
  char text[512];
  size_t at = (size_t)snprintf(text, sizeof text, "%s", row->class->name);
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

/* Computes the residuals g[n_constraints] at the start. A constraint without a target counts as one with the target 0,
 * so its residual is its value. */
static cb_status values_at_start(cb_system *s, cb_constraints *c, double *g) {
  double *given = malloc((size_t)s->n_constraints * sizeof *given);
  if (!given) return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", s->n_constraints);
  for (int r = 0; r < s->n_constraints; r++) {
    given[r] = s->constraint[r].target;
    if (isnan(given[r])) s->constraint[r].target = 0;
  }
  const cb_status status = cb_constraints_eval(c, 0, s->x, g, NULL);
  for (int r = 0; r < s->n_constraints; r++) s->constraint[r].target = given[r];
  free(given);
  return status;
}

/* Sets the targets that were not given to the values at the start. */
static cb_status measure(cb_system *s) {
  bool asked = false;
  for (int r = 0; r < s->n_constraints; r++) asked = asked || isnan(s->constraint[r].target);
  for (int r = 0; r < s->potentials.n; r++) asked = asked || isnan(s->potentials.row[r].target);
  if (!asked) return CB_OK;
  cb_forces *f;
  cb_status status = cb_forces_create(s, &f);
  if (status) return status;
  double *g = calloc((size_t)s->n_constraints + 1, sizeof *g);
  status = g ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", s->n_constraints);
  if (!status && s->n_constraints) status = values_at_start(s, cb_forces_constraints(f), g);
  for (int r = 0; r < s->n_constraints && !status; r++)
    if (isnan(s->constraint[r].target)) s->constraint[r].target = g[r];
  for (int r = 0; r < s->potentials.n && !status; r++)
    if (isnan(s->potentials.row[r].target)) status = cb_potentials_value(f, r, 0, s->x, &s->potentials.row[r].target);
  free(g);
  cb_forces_free(f);
  if (status == CB_STEP_DOMAIN) status = CB_ERROR_DOMAIN;
  return status;
}

/* Moves a row of the builder into the system. */
static cb_status take(cb_constraint *from, cb_system *s, cb_constraint *row, int *n_world) {
  const size_t count = (size_t)from->elements * (size_t)from->width, params = from->class->params_size;
  *row = *from;
  /* From here on the system owns the expressions. */
  from->target_expression = from->expression = from->energy = NULL;
  memset(from->coefficient, 0, sizeof from->coefficient);
  row->world = row->class->per_world ? (*n_world)++ : -1;
  row->particle = cb_arena_alloc(s->arena, count, sizeof *row->particle);
  if (!row->particle) return cb_fail(CB_ERROR_MEMORY, "no memory for a constraint");
  for (size_t p = 0; p < count; p++) row->particle[p] = s->place[from->particle[p]];
  if (from->params && !(row->params = cb_arena_alloc(s->arena, params, 1)))
    return cb_fail(CB_ERROR_MEMORY, "no memory for a constraint");
  if (from->params) memcpy(row->params, from->params, params);
  row->name = from->name ? cb_arena_strdup(s->arena, from->name) : made_name(s, row);
  return row->name ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a name");
}

cb_status cb_constraints_settle(cb_builder *b, cb_system *s) {
  int kept = 0;
  cb_status status = CB_OK;
  s->constraint = cb_arena_alloc(s->arena, (size_t)b->n_constraints, sizeof *s->constraint);
  if (!s->constraint) return cb_fail(CB_ERROR_MEMORY, "no memory for %d constraints", b->n_constraints);
  for (int r = 0; r < b->n_constraints; r++) kept += !b->constraint[r].is_potential;
  s->potentials.row = s->constraint + kept;
  for (int r = 0; r < b->n_constraints && !status; r++) {
    cb_constraint *from = &b->constraint[r];
    status = from->is_potential ? take(from, s, &s->potentials.row[s->potentials.n++], &s->potentials.n_world)
                                : take(from, s, &s->constraint[s->n_constraints++], &s->n_world);
  }
  return status ? status : measure(s);
}

/* --- checks of arguments --- */

cb_status cb_builder_check_particles(const cb_builder *b, const char *what, int n, const int *particle) {
  for (int p = 0; p < n; p++)
    if (particle[p] < 0 || particle[p] >= b->n_points)
      return cb_fail(CB_ERROR_ARGUMENT, "%s: particle %d: expected 0 to %d", what, particle[p], b->n_points - 1);
  return CB_OK;
}

cb_status cb_builder_check_factors(const cb_builder *b, const char *what, int maximum) {
  if (b->space->intrinsic)
    return cb_fail(CB_ERROR_UNSUPPORTED, "%s: expected a space of constant curvature%s, found %s%s", what,
                   maximum == 1 ? "" : " or a product of these", b->space->class_->name,
                   maximum == 1 ? ": sides do not determine a figure there" : "");
  const int n = b->space->n_factors;
  if (n == 0 || n > maximum)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: expected a space of %s, found %s", what,
                   maximum == 1 ? "one factor" : "quadrics and flat factors", n ? "a product" : "another kind");
  return CB_OK;
}

cb_status cb_builder_check_range(const char *what, const char *quantity, cb_target target, double low, double high) {
  if (target.expression || isnan(target.value) || (target.value > low && target.value < high)) return CB_OK;
  if (isinf(high)) return cb_fail(CB_ERROR_ARGUMENT, "%s: %s %g: expected > %g", what, quantity, target.value, low);
  return cb_fail(CB_ERROR_ARGUMENT, "%s: %s %g: expected > %g and < %g", what, quantity, target.value, low, high);
}

cb_status cb_builder_check_triangles(const cb_builder *b, const char *what, int n, const int (*triangle)[3]) {
  if (n < 1) return cb_fail(CB_ERROR_ARGUMENT, "%s: expected at least one triangle, found %d", what, n);
  for (int t = 0; t < n; t++) {
    cb_status status = cb_builder_check_particles(b, what, 3, triangle[t]);
    if (status) return status;
    for (int p = 0; p < 3; p++)
      if (triangle[t][p] == triangle[t][(p + 1) % 3])
        return cb_fail(CB_ERROR_ARGUMENT, "%s: triangle %d has particle %d twice", what, t, triangle[t][p]);
  }
  return CB_OK;
}

cb_status cb_builder_find_chart(const cb_builder *b, const char *what, const char *name, const cb_chart **found,
                                const cb_chart **row) {
  const cb_space *g = b->space;
  *found = name ? cb_chart_find(g, name) : g->chart ? g->chart : cb_chart_find(g, "embedding");
  if (!*found)
    return cb_fail(CB_ERROR_ARGUMENT, "%s: the space has no chart '%s': `curvebody list spaces` lists its charts", what,
                   name ? name : "embedding");
  *row = *found == g->chart || strcmp((*found)->name, "embedding") ? *found : NULL;
  return *found == g->chart ? CB_OK : cb_builder_check_factors(b, what, CB_FACTOR_MAX);
}
