/* The branches of an expression that is a minimum:  f(min(a, b)) = min(f(a), f(b)) for f that grows, and
 * f(max(a, b)) = min(f(a), f(b)) for f that falls, |a| = sqrt(a^2) = max(a, -a). How f depends on a kink is known through sums,
 * differences, products with constants, min, max and functions that grow everywhere; other kinks stay as they are. */
#include "numerics/expression_private.h"
#include <math.h>
#include <stdlib.h>

/* How the result depends on a quantity: these bits together are not known. */
enum { GROWS = 1, FALLS = 2 };

static int turned(int way) { return (way & GROWS ? FALLS : 0) | (way & FALLS ? GROWS : 0); }

static bool constant_of(const cb_expression *e, int ref, double *value) {
  const int i = ref - e->variables;
  if (i < 0 || i >= e->constants) return false;
  *value = e->constant[i];
  return true;
}

/* Passes on how the result depends on an operation to what this is made of. */
static void pass(const cb_expression *e, const cb_operation *o, int way, uint8_t *ways) {
  const int both = GROWS | FALLS;
  double factor;
  switch (o->op) {
    case CB_OP_ADD:
    case CB_OP_MIN:
    case CB_OP_MAX: ways[o->a] |= way, ways[o->b] |= way; return;
    case CB_OP_SUBTRACT: ways[o->a] |= way, ways[o->b] |= turned(way); return;
    case CB_OP_NEGATE: ways[o->a] |= turned(way); return;
    case CB_OP_EXP:
    case CB_OP_ATAN:
    case CB_OP_SINH:
    case CB_OP_TANH:
    case CB_OP_ASINH: ways[o->a] |= way; return;
    case CB_OP_MULTIPLY:
      if (constant_of(e, o->a, &factor))
        ways[o->b] |= factor > 0 ? way : turned(way);
      else if (constant_of(e, o->b, &factor))
        ways[o->a] |= factor > 0 ? way : turned(way);
      else
        ways[o->a] |= both, ways[o->b] |= both;
      return;
    case CB_OP_DIVIDE:
      ways[o->b] |= both;
      ways[o->a] |= !constant_of(e, o->b, &factor) ? both : factor > 0 ? way : turned(way);
      return;
    default: ways[o->a] |= both, ways[o->b] |= both, ways[o->c] |= both; return;
  }
}

/* The u of |u|, also where it is written sqrt(u^2); otherwise -1. */
static int absolute(const cb_expression *e, const cb_operation *o) {
  const int leaves = e->variables + e->constants;
  if (o->op == CB_OP_ABS) return o->a;
  if (o->op != CB_OP_SQRT || o->a < leaves) return -1;
  const cb_operation *square = &e->operation[o->a - leaves];
  return square->op == CB_OP_MULTIPLY && square->a == square->b ? square->a : -1;
}

/* The last operation that the expression is the minimum of two choices of; -1: there is none. */
static int find_kink(const cb_expression *e) {
  const int leaves = e->variables + e->constants;
  uint8_t ways[CB_TAPE_MAX] = {0};
  ways[e->result] = GROWS;
  for (int i = e->operations - 1; i >= 0; i--) {
    const cb_operation *o = &e->operation[i];
    const int way = ways[leaves + i];
    if (o->op == CB_OP_MIN && way == GROWS) return i;
    if ((o->op == CB_OP_MAX || absolute(e, o) >= 0) && way == FALLS) return i;
    pass(e, o, way, ways);
  }
  return -1;
}

/* The expression with one of the two choices at an operation. */
static cb_status choose(const cb_expression *e, int kink, bool second, cb_expression **out) {
  const int leaves = e->variables + e->constants;
  int at[CB_TAPE_MAX];
  cb_tape *t = malloc(sizeof *t);
  if (!t) return cb_fail(CB_ERROR_MEMORY, "no memory for the branches of an expression");
  t->count = 0;
  for (int i = 0; i < leaves; i++)
    at[i] = i < e->variables ? cb_tape_variable(t, e->variable[i]) : cb_tape_constant(t, e->constant[i - e->variables]);
  bool full = false;
  for (int i = 0; i < e->operations && !full; i++) {
    const cb_operation *o = &e->operation[i];
    const int u = absolute(e, o);
    int *to = &at[leaves + i];
    if (i == kink && u >= 0)
      *to = second ? cb_tape_operation(t, CB_OP_NEGATE, at[u], at[u], at[u]) : at[u];
    else if (i == kink)
      *to = second ? at[o->b] : at[o->a];
    else if (o->op == CB_OP_POWER_INTEGER)
      *to = cb_tape_operation(t, CB_OP_POW, at[o->a], cb_tape_constant(t, o->k), at[o->a]);
    else
      *to = cb_tape_operation(t, o->op, at[o->a], at[o->b], at[o->c]);
    full = *to < 0;
  }
  const cb_status status =
      full ? cb_fail(CB_ERROR_INPUT, "a branch of an expression is too long") : cb_tape_finish(t, at[e->result], out);
  free(t);
  return status;
}

cb_status cb_expression_branches(const cb_expression *e, int most, cb_expression **branch, int *count) {
  cb_status status = cb_expression_copy(e, &branch[0]);
  *count = status ? 0 : 1;
  for (int i = 0; i < *count && !status;) {
    const int kink = find_kink(branch[i]);
    cb_expression *choice[2] = {NULL, NULL};
    if (kink < 0 || *count == most) {
      i++;
      continue;
    }
    status = choose(branch[i], kink, false, &choice[0]);
    if (!status) status = choose(branch[i], kink, true, &choice[1]);
    if (status) {
      cb_expression_free(choice[0]);
      if (status != CB_ERROR_INPUT) break;
      status = CB_OK; /* too long: that kink stays */
      i++;
      continue;
    }
    cb_expression_free(branch[i]);
    branch[i] = choice[0];
    branch[(*count)++] = choice[1];
  }
  if (!status) return CB_OK;
  while (*count > 0) cb_expression_free(branch[--*count]);
  return status;
}

static double margin_at(const cb_expression *e, int ref, const double *v) {
  const int i = ref - e->variables - e->constants;
  if (i < 0) return fabs(v[ref]);
  const cb_operation *o = &e->operation[i];
  switch (o->op) {
    case CB_OP_LESS:
    case CB_OP_LESS_EQUAL: return v[o->b] - v[o->a];
    case CB_OP_GREATER:
    case CB_OP_GREATER_EQUAL: return v[o->a] - v[o->b];
    case CB_OP_NOT_EQUAL: return fabs(v[o->a] - v[o->b]);
    case CB_OP_EQUAL: return -fabs(v[o->a] - v[o->b]);
    case CB_OP_MULTIPLY:
    case CB_OP_MIN: return fmin(margin_at(e, o->a, v), margin_at(e, o->b, v));
    case CB_OP_ADD:
    case CB_OP_MAX: return fmax(margin_at(e, o->a, v), margin_at(e, o->b, v));
    default: return fabs(v[ref]);
  }
}

double cb_expression_margin(const cb_expression *e, const double *x) {
  const int leaves = e->variables + e->constants;
  double v[CB_TAPE_MAX];
  for (int k = 0; k < leaves; k++) v[k] = k < e->variables ? x[e->variable[k]] : e->constant[k - e->variables];
  for (int i = 0; i < e->operations; i++) v[leaves + i] = cb_operation_value(&e->operation[i], v);
  return margin_at(e, e->result, v);
}
