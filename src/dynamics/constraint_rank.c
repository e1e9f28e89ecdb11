/* Constraints that depend on one another at the start. Such a system is an error that names a row, or the row is
 * dropped if this does not change the motion at the start.
 *
 * A row depends on the others if the part of its gradient that is orthogonal, in the kinetic metric, to the other
 * gradients is small. The square of this part is a pivot of the Gram matrix. It counts as small if it is less than
 * `slack` times the square of the gradient. A row may be dropped only if it is redundant: it is satisfied wherever the
 * others are satisfied. A row may be redundant at the start only (three rods in a line), so the system keeps dropped
 * rows, and the run watches them. A row with zero gradient does not depend on the others; it is an error and is never
 * dropped.
 */
#include "core/failure.h"

#include "dynamics/builder_private.h"
#include "dynamics/gram.h"
#include "dynamics/system_facts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double slack = 1e-10;
/* Maximum residual of a dropped row when the others are satisfied, relative to its length, area or volume. It is large
 * enough for positions typed by hand. */
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

/* Finds a row that depends on the others, or has no gradient, at the start; *row is -1 if there is none. */
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

/* Fails if a dropped row is not satisfied where the others are. */
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
