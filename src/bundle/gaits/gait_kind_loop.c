/* Loops: straight lines r + t turn e_k, on which only shape variable k moves, such as one period of a phase. r: the
 * shape at the start; turn: the change of variable k in a cycle; e_k: the unit vector of variable k. */
#include "bundle/gait_private.h"

#include <math.h>
#include <string.h>

extern const cb_gait_kind_class cb_gait_kind_loop;

static void at(const cb_gait *g, double t, double *r, double *rate) {
  const double *start = cb_gait_own_numbers(g), turn = start[g->n];
  for (int i = 0; i < g->n; i++) {
    const bool moves = i == g->count;
    if (r) r[i] = start[i] + (moves ? t * turn : 0);
    if (rate) rate[i] = moves ? turn : 0;
  }
}

cb_status cb_gait_loop(int n, int variable, const double *r, double turn, cb_gait **out) {
  const cb_status status = cb_gait_check_arguments("starts", n, 1, 1, r);
  if (status) return status;
  if (variable < 0 || variable >= n)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "a loop in variable %d: expected an index below %d, the number of shape variables", variable, n);
  if (!(isfinite(turn) && turn != 0))
    return cb_fail(CB_ERROR_ARGUMENT, "a loop changes its variable by %g: expected a finite number other than 0", turn);
  cb_gait *g = cb_gait_block(&cb_gait_kind_loop, n, variable, 0, (size_t)n + 1);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait");
  memcpy(g->data, r, (size_t)n * sizeof *r);
  g->data[n] = turn;
  g->pieces = CB_GAIT_STEPS;
  g->open = true;
  *out = g;
  return CB_OK;
}

typedef struct loop {
  const cb_node *at;
} loop;

static cb_status read_value(const cb_bundle *b, const cb_node *node, const void *params, cb_gait **out) {
  const cb_node *start = ((const loop *)params)->at;
  double from[CB_SHAPE_MAX] = {0};
  const char *name;
  cb_status status = cb_node_string(node, &name);
  if (!status && start) status = cb_gait_read_shape(b, start, "at", from);
  if (status) return status;
  const int turning = cb_gait_variable(b, name);
  if (turning < 0) return cb_gait_unknown_variable(b, node);
  if (!(b->period[turning] > 0))
    return cb_node_fail(node, "`%s` is not periodic; expected a variable that is an angle or a phase", name);
  return cb_gait_loop(b->n, turning, from, b->period[turning], out);
}

static const cb_param beside[] = {CB_GAIT_NODE(loop, at, "the shape at which the gait begins (default 0)"),
                                  {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

const cb_gait_kind_class cb_gait_kind_loop = {.name = "loop",
                                              .title = "One period of a shape variable",
                                              .doc = "The name of a periodic shape variable",
                                              .beside = beside,
                                              .params_size = sizeof(loop),
                                              .read = read_value,
                                              .at = at};
