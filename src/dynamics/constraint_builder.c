/* This file adds rows of constraints of any class to a builder, makes potentials of them, and moves them into a system.
 * It also finds constraints that depend on others at the start. Such a row is dropped if the motion at the start is the
 * same without it. Otherwise it is an error, whose message names the row.
 *
 * A row depends on the others if the part of its gradient that is orthogonal, in the kinetic metric, to the other
 * gradients is small. The square of this part is a pivot of the Gram matrix. It counts as small if it is less than
 * `slack` times the square of the gradient. A row may be dropped only if it is redundant: it is satisfied wherever the
 * others are satisfied. A row may be redundant at the start only (three rods in a line), so the system keeps dropped
 * rows, and the run watches them. A row with zero gradient does not depend on the others; it is an error and is never
 * dropped.
 */
#include "dynamics/builder_private.h"

#include "core/failure.h"
#include "dynamics/forces_private.h"
#include "dynamics/gram.h"
#include "dynamics/system_facts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- rows in a builder --- */

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
  if (expression) return cb_builder_parse_force(b, expression, names, 2, &row->energy);
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

/* --- rows that depend on others --- */

static const double slack = 1e-10;
/* Maximum residual of a dropped row at a point where the other rows are satisfied, relative to the length, area or
 * volume of the row. It is large enough for positions typed by hand. */
static const double implied = 1e-8;

void cb_builder_drop_redundant(cb_builder *b, bool drop) { b->drop_redundant = drop; }

typedef struct look {
  double *x, *v, *g, *G;
} look;

static void look_free(look *w) {
  free(w->x);
  free(w->v);
  free(w->g);
  free(w->G);
}

/* Finds a row whose gradient at the start is zero or depends on the gradients of other rows; *row is -1 if there is
 * none. */
static cb_status find(cb_system *s, cb_forces *f, const look *w, int *row) {
  cb_gram *gram;
  *row = -1;
  cb_status status = cb_gram_create(f, cb_forces_constraints(f), &gram);
  if (status) return status;
  status = cb_constraints_eval(cb_forces_constraints(f), 0, s->x, w->g, w->G);
  if (!status) {
    int found = -1;
    status = cb_gram_factor(gram, s->x, w->G, &found);
    if (status == CB_STEP_SINGULAR || (!status && cb_gram_weakest(gram, &found) < slack)) {
      *row = found;
      status = CB_OK;
    }
  }
  cb_gram_free(gram);
  return status;
}

/* Returns a system with the same particles and only the `count` rows from `first` on. It borrows everything from s. */
static cb_system of_rows(const cb_system *s, int first, int count) {
  cb_system of = *s;
  of.constraint += first;
  of.n_constraints = count;
  of.n_dropped = 0;
  of.borrowed = true;
  return of;
}

/* Fails if the gradient of a row is zero by itself, whatever the other rows are. */
static cb_status check_alone(cb_system *s, const look *w, int row) {
  cb_system alone = of_rows(s, row, 1);
  cb_forces *f;
  int found = -1;
  cb_status status = cb_forces_create(&alone, &f);
  if (status) return status;
  status = find(&alone, f, w, &found);
  cb_forces_free(f);
  if (status || found < 0) return status;
  return cb_fail_as(CB_FAILURE_CONSTRAINT, CB_ERROR_DOMAIN,
                    "constraint `%s` has no gradient at the start, so no force can satisfy it, and it is not "
                    "redundant: expected another start",
                    s->constraint[row].name);
}

/* Moves a row to the list of dropped rows. */
static void drop(cb_system *s, int row) {
  const cb_constraint dropped = s->constraint[row];
  memmove(s->constraint + row, s->constraint + row + 1, (size_t)(s->n_constraints - row - 1) * sizeof dropped);
  s->constraint[--s->n_constraints] = dropped;
  s->n_dropped++;
}

/* Fails if a dropped row is not satisfied where the other rows are satisfied. */
static cb_status check_implied(cb_system *s, const look *w) {
  cb_forces *f = NULL;
  cb_gram *gram = NULL;
  const size_t count = (size_t)s->n * (size_t)s->k;
  memcpy(w->x, s->x, count * sizeof(double));
  memcpy(w->v, s->v, count * sizeof(double));
  cb_status status = cb_forces_create(s, &f);
  if (!status && s->n_constraints) status = cb_gram_create(f, cb_forces_constraints(f), &gram);
  if (!status && gram) status = cb_gram_project(gram, 0, w->x, w->v, 0, NULL, NULL, NULL);
  cb_gram_free(gram);
  cb_forces_free(f);
  f = NULL;
  if (status) return status > 0 ? CB_ERROR_DOMAIN : status;
  const cb_system *of = s->dropped;
  double *rate = w->g + s->n_dropped;
  status = cb_forces_create(of, &f);
  if (!status) status = cb_constraints_eval(cb_forces_constraints(f), 0, w->x, w->g, NULL);
  if (!status) status = cb_constraints_rate(cb_forces_constraints(f), 0, w->x, w->v, rate, NULL);
  cb_forces_free(f);
  for (int r = 0; r < s->n_dropped && !status; r++) {
    const double off = of->constraint[r].class->velocity ? rate[r] : w->g[r];
    if (!(fabs(off) <= implied * cb_system_constraint_size(of, r, 0)))
      status = cb_fail_as(CB_FAILURE_CONSTRAINT, CB_ERROR_DOMAIN,
                          "constraint `%s` contradicts the others: its residual is %.3g where they are satisfied; "
                          "expected constraints that can all be satisfied",
                          of->constraint[r].name, off);
  }
  return status;
}

cb_status cb_constraints_check_rank(const cb_builder *b, cb_system *s) {
  if (!s->n_constraints) return CB_OK;
  const size_t count = (size_t)s->n * (size_t)s->k;
  size_t members = 0;
  for (int r = 0; r < s->n_constraints; r++)
    members += (size_t)s->constraint[r].elements * (size_t)s->constraint[r].width;
  look w = {malloc(count * sizeof(double)), malloc(count * sizeof(double)),
            malloc(2 * (size_t)s->n_constraints * sizeof(double)), malloc(members * (size_t)s->k * sizeof(double))};
  cb_status status = w.x && w.v && w.g && w.G ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for constraints");
  while (!status && s->n_constraints) {
    int row = -1;
    cb_forces *f;
    if ((status = cb_forces_create(s, &f))) break;
    status = find(s, f, &w, &row);
    cb_forces_free(f);
    if (status || row < 0 || (status = check_alone(s, &w, row))) break;
    if (!b->drop_redundant) {
      status = cb_fail_as(CB_FAILURE_CONSTRAINT, CB_ERROR_DOMAIN,
                          "constraint `%s` depends on the others at the start: leave it out, or set `start: "
                          "{redundant: drop}` if it is redundant, or start from another place",
                          s->constraint[row].name);
      break;
    }
    drop(s, row);
  }
  if (!status && s->n_dropped) {
    s->dropped = cb_arena_alloc(s->arena, 1, sizeof *s->dropped);
    if (s->dropped)
      *s->dropped = of_rows(s, s->n_constraints, s->n_dropped);
    else
      status = cb_fail(CB_ERROR_MEMORY, "no memory for constraints");
  }
  if (!status && s->n_dropped) status = check_implied(s, &w);
  look_free(&w);
  return status == CB_STEP_DOMAIN ? CB_ERROR_DOMAIN : status;
}
