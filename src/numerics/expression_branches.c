/* The branches of an expression that is a minimum:  f(min(a, b)) = min(f(a), f(b)) for an increasing f, and f(max(a,
 * b)) = min(f(a), f(b)) for a decreasing f, |a| = max(a, -a). The dependence of f on a kink is known through sums,
 * differences, products with constants, min, max and functions that increase everywhere. Other kinks, and those of
 * conditions, are examined locally (expression_sides.c). Each of their sides is a branch that is valid where its guard,
 * another expression, is not negative.
 *
 * A cone is the minimum of its tangent planes, -hypot(a, b) = min over w of -(a cos w + b sin w). Eight of these planes
 * support a body that rests at the tip, where the cone has no normal. If a force within the cone of normals pushes such
 * a body into the wall f >= 0, f is negative at the body, and hypot < -f/2. The planes are active only in this region,
 * so that a body that slides past the tip touches none of them. The last part of the file finds the degree of an
 * expression in some of its variables.
 */
#include "numerics/expression_private.h"

#include <stdlib.h>

/* How the value of the result depends on a quantity. If both bits are set, the dependence is not known. */
enum { GROWS = 1, FALLS = 2 };

static int turned(int way) { return (way & GROWS ? FALLS : 0) | (way & FALLS ? GROWS : 0); }

/* `way` says whether the result of the whole expression grows or falls with the value of operation o. Adds the same for
 * each operand of o to `ways`. */
static void pass(const cb_expression *e, const cb_operation *o, int way, uint8_t *ways) {
  const int both = GROWS | FALLS;
  double factor;
  switch (o->op) {
    case CB_OP_ADD:
    case CB_OP_MIN:
    case CB_OP_MAX:
      ways[o->a] |= way;
      ways[o->b] |= way;
      return;
    case CB_OP_SUBTRACT:
      ways[o->a] |= way;
      ways[o->b] |= turned(way);
      return;
    case CB_OP_NEGATE: ways[o->a] |= turned(way); return;
    case CB_OP_EXP:
    case CB_OP_ATAN:
    case CB_OP_SINH:
    case CB_OP_TANH:
    case CB_OP_ASINH: ways[o->a] |= way; return;
    case CB_OP_MULTIPLY:
      if (cb_expression_constant_at(e, o->a, &factor))
        ways[o->b] |= factor > 0 ? way : turned(way);
      else if (cb_expression_constant_at(e, o->b, &factor))
        ways[o->a] |= factor > 0 ? way : turned(way);
      else {
        ways[o->a] |= both;
        ways[o->b] |= both;
      }
      return;
    case CB_OP_DIVIDE:
      ways[o->b] |= both;
      ways[o->a] |= !cb_expression_constant_at(e, o->b, &factor) ? both : factor > 0 ? way : turned(way);
      return;
    default:
      ways[o->a] |= both;
      ways[o->b] |= both;
      ways[o->c] |= both;
      return;
  }
}

static void find_ways(const cb_expression *e, uint8_t ways[CB_TAPE_MAX]) {
  const int leaves = e->variables + e->constants;
  for (int i = 0; i < CB_TAPE_MAX; i++) ways[i] = 0;
  ways[e->result] = GROWS;
  for (int i = e->operations - 1; i >= 0; i--) pass(e, &e->operation[i], ways[leaves + i], ways);
}

/* Finds the last operation *kink at which the branch is the minimum of two choices (-1: none). Sets *guarded to whether
 * each choice is valid only on its side. */
static cb_status find_kink(const cb_expression_branch *b, int *kink, bool *guarded) {
  const cb_expression *e = b->value;
  const int leaves = e->variables + e->constants;
  uint8_t ways[CB_TAPE_MAX];
  find_ways(e, ways);
  *guarded = false;
  for (int i = e->operations - 1; i >= 0; i--) {
    const int op = e->operation[i].op, way = ways[leaves + i];
    *kink = i;
    if ((op == CB_OP_MIN && way == GROWS) || ((op == CB_OP_MAX || op == CB_OP_ABS) && way == FALLS)) return CB_OK;
  }
  for (int i = e->operations - 1; i >= 0; i--) {
    const int op = e->operation[i].op, way = ways[leaves + i];
    const bool ridge = (op == CB_OP_MIN && way == FALLS) || ((op == CB_OP_MAX || op == CB_OP_ABS) && way == GROWS);
    cb_border border = CB_BORDER_NONE;
    if (!cb_operation_has_sides(&e->operation[i]) || ridge) continue;
    const cb_status status = cb_expression_border(e, i, b->guard, &border);
    if (status && status != CB_ERROR_INPUT) return status;
    *kink = i;
    *guarded = border == CB_BORDER_HOLLOW;
    if (!status && (border == CB_BORDER_HOLLOW || border == CB_BORDER_LEAST)) return CB_OK;
  }
  *kink = -1;
  return CB_OK;
}

/* Returns the last operation before branch->tip that is the tip of a cone, or -1 if there is none. */
static int find_tip(const cb_expression_branch *b) {
  const cb_expression *e = b->value;
  uint8_t ways[CB_TAPE_MAX];
  double value;
  find_ways(e, ways);
  for (int i = b->tip - 1; i >= 0; i--) {
    const cb_operation *o = &e->operation[i];
    if (o->op == CB_OP_HYPOT && ways[e->variables + e->constants + i] == FALLS &&
        !cb_expression_constant_at(e, o->a, &value) && !cb_expression_constant_at(e, o->b, &value))
      return i;
  }
  return -1;
}

static void drop(cb_expression_branch *b) {
  cb_expression_free(b->value);
  cb_expression_free(b->guard);
}

/* Makes one side of a kink a branch in *out. */
static cb_status choose(const cb_expression_branch *b, int kink, bool guarded, int side, cb_expression_branch *out) {
  *out = (cb_expression_branch){NULL, NULL, false, 0};
  cb_status status = cb_expression_side(b->value, kink, side, &out->value);
  if (!status && guarded)
    status = cb_expression_guard(b->value, kink, side, b->guard, &out->guard);
  else if (!status && b->guard)
    status = cb_expression_copy(b->guard, &out->guard);
  if (status) {
    drop(out);
    *out = (cb_expression_branch){NULL, NULL, false, 0};
    return status;
  }
  out->plane = b->plane;
  out->tip = out->value->operations;
  return CB_OK;
}

/* Replaces branch[i] by its first side at a kink, and appends the second side. */
static cb_status split(cb_expression_branch *branch, int i, int *count, int kink, bool guarded) {
  cb_expression_branch side[2] = {{NULL, NULL, false, 0}, {NULL, NULL, false, 0}};
  cb_status status = choose(&branch[i], kink, guarded, 0, &side[0]);
  if (!status) status = choose(&branch[i], kink, guarded, 1, &side[1]);
  if (status) {
    drop(&side[0]);
    return status;
  }
  drop(&branch[i]);
  branch[i] = side[0];
  branch[(*count)++] = side[1];
  return CB_OK;
}

/* Appends the tangent planes of a cone at its tip. There are none if the expression does not depend on the variables
 * before `fixed` when the cone is replaced by 0, for example at the axis of a cylinder. The tip is then not on the
 * wall. */
static cb_status add_planes(cb_expression_branch *branch, int i, int *count, int tip, int fixed) {
  cb_expression_branch plane[CB_CONE_PLANES] = {{NULL, NULL, false, 0}};
  bool on_wall = false;
  cb_status status = CB_OK;
  for (int side = 0; side < CB_CONE_PLANES && !status; side++) {
    cb_expression_branch *to = &plane[side];
    status = cb_expression_side(branch[i].value, tip, side, &to->value);
    if (!status) status = cb_expression_tip_guard(branch[i].value, tip, branch[i].guard, &to->guard);
    if (!status) to->tip = to->value->operations;
    to->plane = true;
  }
  cb_expression *without = NULL;
  if (!status) status = cb_expression_side(branch[i].value, tip, CB_CONE_PLANES, &without);
  for (int v = 0; !status && v < fixed; v++) on_wall = on_wall || cb_expression_uses(without, (size_t)v);
  cb_expression_free(without);
  for (int side = 0; side < CB_CONE_PLANES; side++)
    if (!status && on_wall)
      branch[(*count)++] = plane[side];
    else
      drop(&plane[side]);
  return status;
}

cb_status cb_expression_branches(const cb_expression *e, int fixed, int maximum, cb_expression_branch *branch,
                                 int *count) {
  branch[0] = (cb_expression_branch){NULL, NULL, false, 0};
  cb_status status = cb_expression_side(e, -1, 0, &branch[0].value);
  if (status == CB_ERROR_INPUT) status = cb_expression_copy(e, &branch[0].value);
  *count = status ? 0 : 1;
  if (!status) branch[0].tip = branch[0].value->operations;
  for (int i = 0; i < *count && !status;) {
    int kink = -1, tip;
    bool guarded;
    if (*count < maximum) status = find_kink(&branch[i], &kink, &guarded);
    if (!status && kink >= 0 && !(status = split(branch, i, count, kink, guarded))) continue;
    while (!status && *count + CB_CONE_PLANES <= maximum && (tip = find_tip(&branch[i])) >= 0) {
      status = add_planes(branch, i, count, tip, fixed);
      branch[i].tip = tip;
    }
    if (status == CB_ERROR_INPUT) status = CB_OK; /* the branch would be too long, so the kink stays */
    i++;
  }
  if (!status) return CB_OK;
  while (*count > 0) drop(&branch[--*count]);
  return status;
}

/* --- the degree of each quantity of a tape as a polynomial in some variables: 0, 1, or OTHER --- */

enum { OTHER = 2 };

static int greater(int a, int b) { return a > b ? a : b; }

static bool has_two_operands(int op) {
  return cb_opcode_operands((cb_opcode)op) == 2 || (op >= CB_OP_LESS && op <= CB_OP_NOT_EQUAL);
}

static int degree_of(const cb_operation *o, const uint8_t *degree) {
  const int a = degree[o->a], b = has_two_operands(o->op) ? degree[o->b] : 0;
  switch (o->op) {
    case CB_OP_NEGATE: return a;
    case CB_OP_ADD:
    case CB_OP_SUBTRACT: return greater(a, b);
    case CB_OP_MULTIPLY: return a + b < OTHER ? a + b : OTHER;
    case CB_OP_DIVIDE: return b ? OTHER : a;
    case CB_OP_IF: return degree[o->c] ? OTHER : greater(a, b);
    default: return a || b ? OTHER : 0;
  }
}

bool cb_expression_is_affine(const cb_expression *e, int first, int count) {
  uint8_t degree[CB_TAPE_MAX];
  const int leaves = e->variables + e->constants;
  for (int k = 0; k < leaves; k++)
    degree[k] = k < e->variables && e->variable[k] >= first && e->variable[k] < first + count;
  for (int k = 0; k < e->operations; k++) degree[leaves + k] = (uint8_t)degree_of(&e->operation[k], degree);
  return degree[e->result] < OTHER;
}
