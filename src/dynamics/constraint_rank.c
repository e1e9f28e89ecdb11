/* Constraints that depend on one another at the start: refused by name, or dropped where that changes nothing.
 *
 * A row depends on the others if the part of its gradient across theirs, in the kinetic metric, is `slack` times its
 * length: a pivot of the Gram matrix. Dropping it is right only where the others imply it: where they are met, it is.
 * */
#include "core/failure.h"
#include "dynamics/builder_private.h"
#include "dynamics/gram.h"
#include "dynamics/system_private.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double slack = 1e-10;
/* How far a dropped row may be from its target where the others are met: the tolerance of places typed by hand. */
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

/* The row that depends on the others at the start, -1 if none does. */
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

/* Takes a row out; rows that were taken out stand behind those that are left. */
static void drop(cb_system *s, int row) {
  const cb_constraint dropped = s->constraint[row];
  memmove(s->constraint + row, s->constraint + row + 1, (size_t)(s->n_constraints - row - 1) * sizeof dropped);
  s->constraint[--s->n_constraints] = dropped;
}

/* Are the `dropped` rows met where the others are? */
static cb_status check_implied(cb_system *s, const look *w, int dropped) {
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
  const int kept = s->n_constraints;
  s->n_constraints = kept + dropped;
  status = cb_forces_create(s, &f);
  if (!status) status = cb_constraints_eval(cb_forces_constraints(f), 0, w->x, w->g, NULL);
  cb_forces_free(f);
  s->n_constraints = kept;
  for (int r = kept; r < kept + dropped && !status; r++)
    if (!s->constraint[r].kind->velocity && !(fabs(w->g[r]) <= implied))
      status = cb_fail_as(CB_FAILURE_CONSTRAINT, CB_ERROR_DOMAIN,
                          "constraint `%s` contradicts the others: it is off by %.3g where they are met",
                          s->constraint[r].name, w->g[r]);
  return status;
}

cb_status cb_constraints_check_rank(const cb_builder *b, cb_system *s) {
  if (!s->n_constraints) return CB_OK;
  const size_t count = (size_t)s->n * (size_t)s->k;
  size_t members = 0;
  for (int r = 0; r < s->n_constraints; r++)
    members += (size_t)s->constraint[r].elements * (size_t)s->constraint[r].width;
  look w = {malloc(count * sizeof(double)), malloc(count * sizeof(double)),
            malloc((size_t)s->n_constraints * sizeof(double)), malloc(members * (size_t)s->k * sizeof(double))};
  cb_status status = w.x && w.v && w.g && w.G ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for constraints");
  int dropped = 0;
  while (!status && s->n_constraints) {
    int row = -1;
    cb_forces *f;
    if ((status = cb_forces_create(s, &f))) break;
    status = find(s, f, &w, &row);
    cb_forces_free(f);
    if (status || row < 0) break;
    if (!b->drop_redundant) {
      status = cb_fail_as(CB_FAILURE_CONSTRAINT, CB_ERROR_DOMAIN,
                          "constraint `%s` depends on the others at the start: leave it out, or set `start: "
                          "{redundant: drop}` if they imply it, or start from another place",
                          s->constraint[row].name);
      break;
    }
    drop(s, row);
    dropped++;
  }
  if (!status && dropped) status = check_implied(s, &w, dropped);
  for (int r = 0; r < dropped; r++) cb_constraint_release(&s->constraint[s->n_constraints + r]);
  look_free(&w);
  return status == CB_STEP_DOMAIN ? CB_ERROR_DOMAIN : status;
}
