/* Kinks of expressions: the two sides of a kink, and the branches of an expression that is a minimum.
 *
 * The two sides of an operation at which an expression f has a kink, and the border between them:
 *
 *   f = f+ where m > 0, f = f- where m < 0
 *   u < v, u <= v, min(u, v)   m = v - u          u > v, u >= v, max(u, v)   m = u - v
 *   step(u), sign(u), abs(u)   m = u
 * m is the margin of the operation, and u and v are its operands. On either side of its kink a condition is a constant,
 * and so `if` is one of its two values there. The kink is hollow where grad(f+ - f-) . grad(m) < 0 on the border. For
 * affine functions the file decides whether f+ - f- = k m with k < 0; then f = min(f+, f-) everywhere. Otherwise the
 * border is sampled, and f+ and f- are each valid only on their side.
 *
 * The branches of an expression that is a minimum:  f(min(a, b)) = min(f(a), f(b)) for an increasing f, and f(max(a,
 * b)) = min(f(a), f(b)) for a decreasing f, |a| = max(a, -a). The dependence of f on a kink is known through sums,
 * differences, products with constants, min, max and functions that increase everywhere. Other kinks, and the kinks of
 * conditions, are examined locally, as above. Each of their sides is a branch that is valid where its guard, another
 * expression, is not negative.
 *
 * A cone is the minimum of its tangent planes, -hypot(a, b) = min over w of -(a cos w + b sin w). Eight of these planes
 * support a body that rests at the tip, where the cone has no normal. If a force within the cone of normals pushes such
 * a body into the wall f >= 0, f is negative at the body, and hypot < -f/2. The planes are active only in this region,
 * so that a body that slides past the tip touches none of them. The last part of the file finds the degree of an
 * expression in some of its variables.
 */
#include "numerics/expression_private.h"

#include "numerics/random.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* --- sides of a kink --- */

typedef enum cb_border {
  CB_BORDER_NONE,   /* no kink, or a kink that is hollow nowhere */
  CB_BORDER_HOLLOW, /* the kink is hollow somewhere */
  CB_BORDER_LEAST,  /* the kink is hollow, and the expression is the minimum of both sides everywhere */
  CB_BORDER_JUMP    /* the expression is not continuous, or a side is not defined beyond the border */
} cb_border;

enum { CB_CONE_PLANES = 8 };
enum { SEGMENTS = 96, HALVINGS = 60 };

/* Thresholds at a point of the border (`look`). jump: f has a jump if |f+ - f-| is larger than this number times the
 * sum of |f+|, |f-| and the change of f+ - f- along the sampled segment. bent: the kink is hollow if the slope of
 * f+ - f- against the margin is larger than this number times |grad f+| + |grad f-|. */
static const double jump = 1e-9, bent = 1e-6;

static bool is_less(int op) { return op == CB_OP_LESS || op == CB_OP_LESS_EQUAL; }
static bool is_comparison(int op) { return is_less(op) || op == CB_OP_GREATER || op == CB_OP_GREATER_EQUAL; }

static bool has_sides(const cb_operation *o) {
  switch (o->op) {
    case CB_OP_ABS:
    case CB_OP_MIN:
    case CB_OP_MAX:
    case CB_OP_STEP:
    case CB_OP_SIGN: return true;
    default: return is_comparison(o->op);
  }
}

/* --- rewriting an expression on one side of a kink --- */

static const cb_operation *operation_of(const cb_expression *e, int ref) {
  const int i = ref - cb_expression_leaves(e);
  return i < 0 ? NULL : &e->operation[i];
}

static bool constant_at(const cb_expression *e, int ref, double *value) {
  const int i = ref - e->variables;
  if (i < 0 || i >= e->constants) return false;
  *value = e->constant[i];
  return true;
}

/* Returns the ref of u and sets c if the quantity is c u^2 with c >= 0. Returns -1 otherwise. */
static int square(const cb_expression *e, int ref, double *c) {
  const cb_operation *o = operation_of(e, ref);
  double factor;
  *c = 1;
  if (!o) return -1;
  if (o->op == CB_OP_MULTIPLY && o->a == o->b) return o->a;
  int u = -1;
  if (o->op == CB_OP_MULTIPLY && constant_at(e, o->a, &factor)) {
    u = square(e, o->b, c);
    *c *= factor;
  } else if (o->op == CB_OP_MULTIPLY && constant_at(e, o->b, &factor)) {
    u = square(e, o->a, c);
    *c *= factor;
  } else if (o->op == CB_OP_DIVIDE && constant_at(e, o->b, &factor)) {
    u = square(e, o->a, c);
    *c /= factor;
  }
  return *c >= 0 && isfinite(*c) ? u : -1;
}

/* Replaces sqrt(c u^2) by sqrt(c) abs(u), and sqrt(c u^2 + d v^2) by a hypot, because abs and hypot have derivatives at
 * 0. Returns the new ref, or -1 if the tape is full. */
static int root(cb_tape *t, const cb_expression *e, const cb_operation *o, const int *at) {
  const cb_operation *sum = operation_of(e, o->a);
  double c[2];
  int u[2] = {square(e, o->a, c), -1};
  if (u[0] < 0 && sum && sum->op == CB_OP_ADD) {
    u[0] = square(e, sum->a, c);
    u[1] = square(e, sum->b, c + 1);
  }
  const int n = u[1] < 0 ? 1 : 2;
  if (u[0] < 0 || (n == 1 && sum->op == CB_OP_ADD))
    return cb_tape_operation(t, CB_OP_SQRT, at[o->a], at[o->a], at[o->a]);
  for (int i = 0; i < n; i++) {
    const int scale = c[i] == 1 ? -1 : cb_tape_constant(t, sqrt(c[i]));
    if (c[i] != 1 && scale < 0) return -1;
    u[i] = c[i] == 1 ? at[u[i]] : cb_tape_operation(t, CB_OP_MULTIPLY, scale, at[u[i]], at[u[i]]);
    if (u[i] < 0) return -1;
  }
  return cb_tape_operation(t, n == 1 ? CB_OP_ABS : CB_OP_HYPOT, u[0], u[n - 1], u[n - 1]);
}

/* Writes to the tape the tangent plane of the cone hypot(a, b) at the angle side * pi/4, or the axis, 0, if side is
 * CB_CONE_PLANES. Returns the ref of the result, or -1 if the tape is full. */
static int of_cone(cb_tape *t, int side, int a, int b) {
  static const double cosine[CB_CONE_PLANES] = {1,  0.70710678118654752440,  0, -0.70710678118654752440,
                                                -1, -0.70710678118654752440, 0, 0.70710678118654752440};
  if (side == CB_CONE_PLANES) return cb_tape_constant(t, 0);
  const int c = cb_tape_constant(t, cosine[side]), d = cb_tape_constant(t, cosine[(side + 6) % CB_CONE_PLANES]);
  if (c < 0 || d < 0) return -1;
  const int along = cb_tape_operation(t, CB_OP_MULTIPLY, c, a, a), up = cb_tape_operation(t, CB_OP_MULTIPLY, d, b, b);
  return along < 0 || up < 0 ? -1 : cb_tape_operation(t, CB_OP_ADD, along, up, up);
}

/* Returns the ref of operation i on a side of the kink, if this side alone decides its value. Returns -1 if the tape is
 * full, and -2 if the side does not decide the value. */
static int decided(cb_tape *t, const cb_expression *e, int i, int kink, int side, const int *at) {
  const bool second = side == 1;
  if (kink < 0) return -2;
  const cb_operation *o = &e->operation[i], *k = &e->operation[kink];
  if (i == kink) switch (o->op) {
      case CB_OP_ABS: return second ? cb_tape_operation(t, CB_OP_NEGATE, at[o->a], at[o->a], at[o->a]) : at[o->a];
      case CB_OP_MIN:
      case CB_OP_MAX: return second ? at[o->b] : at[o->a];
      case CB_OP_HYPOT: return of_cone(t, side, at[o->a], at[o->b]);
      case CB_OP_STEP: return cb_tape_constant(t, second ? 0 : 1);
      case CB_OP_SIGN: return cb_tape_constant(t, second ? -1 : 1);
      default: break;
    }
  if (!is_comparison(k->op) || o->op < CB_OP_LESS || o->op > CB_OP_NOT_EQUAL) return -2;
  const bool same = o->a == k->a && o->b == k->b, swapped = o->a == k->b && o->b == k->a;
  if (!same && !swapped) return -2;
  const bool rises = (is_less(k->op) != second) != swapped; /* whether a < b holds for the operands of o on this side */
  return cb_tape_constant(t, o->op == CB_OP_NOT_EQUAL || (o->op != CB_OP_EQUAL && is_less(o->op) == rises));
}

static int put_leaf(cb_tape *t, const cb_expression *e, int i) {
  const int constant = i - e->variables, control = constant - e->constants;
  return constant < 0  ? cb_tape_variable(t, e->variable[i])
         : control < 0 ? cb_tape_constant(t, e->constant[constant])
                       : cb_tape_control(t, e->control[control]);
}

/* Writes the expression e, on a side of a kink, to the tape; if kink is -1, e is unchanged. Sets at[ref of e] to the
 * ref on the tape. Returns the ref of the result, or -1 if the tape is full. */
static int put(cb_tape *t, const cb_expression *e, int kink, int side, int *at) {
  const int leaves = cb_expression_leaves(e);
  for (int i = 0; i < leaves; i++)
    if ((at[i] = put_leaf(t, e, i)) < 0) return -1;
  for (int i = 0; i < e->operations; i++) {
    const cb_operation *o = &e->operation[i];
    int *to = &at[leaves + i];
    if ((*to = decided(t, e, i, kink, side, at)) >= 0) continue;
    const cb_tape_node *condition = &t->node[at[o->c]];
    if (*to == -1) return -1;
    if (o->op == CB_OP_IF && condition->o.op == CB_OP_CONSTANT && condition->value == condition->value)
      *to = condition->value != 0 ? at[o->a] : at[o->b];
    else if (o->op == CB_OP_SQRT)
      *to = root(t, e, o, at);
    else if (o->op == CB_OP_POWER_INTEGER)
      *to = cb_tape_operation(t, CB_OP_POW, at[o->a], cb_tape_constant(t, o->k), at[o->a]);
    else
      *to = cb_tape_operation(t, o->op, at[o->a], at[o->b], at[o->c]);
    if (*to < 0) return -1;
  }
  return at[e->result];
}

static int margin(cb_tape *t, const cb_operation *o, const int *at) {
  const int a = at[o->a], b = at[o->b];
  if (o->op == CB_OP_ABS || o->op == CB_OP_STEP || o->op == CB_OP_SIGN) return a;
  const bool falls = is_less(o->op) || o->op == CB_OP_MIN;
  return falls ? cb_tape_operation(t, CB_OP_SUBTRACT, b, a, a) : cb_tape_operation(t, CB_OP_SUBTRACT, a, b, b);
}

static cb_status new_tape(cb_tape **t) {
  *t = malloc(sizeof **t);
  if (!*t) return cb_fail(CB_ERROR_MEMORY, "no memory for the branches of an expression");
  (*t)->count = 0;
  return CB_OK;
}

static cb_status finish(const cb_tape *t, int result, cb_expression **out) {
  return result < 0 ? cb_fail(CB_ERROR_INPUT, "a branch of an expression is too long: expected a shorter expression")
                    : cb_tape_finish(t, result, out);
}

/* Makes the expression on side 0 or 1 of the operation `kink`. For a cone hypot(a, b), sides 0 to 7 are the tangent
 * planes at the angles side * pi/4, and side CB_CONE_PLANES replaces the cone by its axis, 0. For kink < 0 the
 * expression is unchanged. Roots of sums of squares are replaced by abs and hypot. Returns CB_ERROR_INPUT if the result
 * is too long. */
static cb_status make_side(const cb_expression *e, int kink, int side, cb_expression **out) {
  int at[CB_TAPE_MAX];
  cb_tape *t;
  cb_status status = new_tape(&t);
  if (!status) status = finish(t, put(t, e, kink, side, at), out);
  free(t);
  return status;
}

/* Returns the ref of the minimum of m and the guard (NULL: none), or -1 if the tape is full. */
static int within(cb_tape *t, const cb_expression *guard, int m, int *at) {
  if (m < 0 || !guard) return m;
  const int outer = put(t, guard, -1, 0, at);
  return outer < 0 ? -1 : cb_tape_operation(t, CB_OP_MIN, outer, m, m);
}

/* Makes the minimum of the guard (NULL: none) and the margin of a side. The margin is not negative where the side is
 * valid. */
static cb_status make_guard(const cb_expression *e, int kink, int side, const cb_expression *guard,
                            cb_expression **out) {
  int at[CB_TAPE_MAX];
  cb_tape *t;
  cb_status status = new_tape(&t);
  if (status) return status;
  int m = put(t, e, kink, side, at) < 0 ? -1 : margin(t, &e->operation[kink], at);
  if (m >= 0 && side == 1) m = cb_tape_operation(t, CB_OP_NEGATE, m, m, m);
  status = finish(t, within(t, guard, m, at), out);
  free(t);
  return status;
}

/* Makes the guard of the tangent planes at the tip of a cone: the minimum of `guard` (NULL: none) and -e/2 - hypot.
 * Here -e is the depth of the body in the wall, and hypot the value of the cone. The planes are therefore valid where
 * the depth is more than twice hypot. This is the case at the tip, and for a body that has sunk in at the tip. */
static cb_status make_tip_guard(const cb_expression *e, int tip, const cb_expression *guard, cb_expression **out) {
  int at[CB_TAPE_MAX];
  cb_tape *t;
  cb_status status = new_tape(&t);
  if (status) return status;
  const int half = cb_tape_constant(t, 0.5), f = put(t, e, -1, 0, at),
            axis = f < 0 ? -1 : put(t, e, tip, CB_CONE_PLANES, at);
  int g = axis < 0 ? -1 : cb_tape_operation(t, CB_OP_MULTIPLY, half, f, f);
  if (g >= 0) g = cb_tape_operation(t, CB_OP_SUBTRACT, g, axis, axis);
  status = finish(t, within(t, guard, g, at), out);
  free(t);
  return status;
}

/* --- the border --- */

/* The expressions f+, f-, f+ - f- and m. */
enum { PLUS, MINUS, DIFFERENCE, MARGIN, PARTS };

static cb_status make_parts(const cb_expression *e, int kink, cb_expression *part[PARTS]) {
  int at[CB_TAPE_MAX], result[PARTS] = {-1, -1, -1, -1};
  cb_tape *t;
  cb_status status = new_tape(&t);
  if (status) return status;
  result[MINUS] = put(t, e, kink, 1, at);
  if (result[MINUS] >= 0) result[PLUS] = put(t, e, kink, 0, at);
  if (result[PLUS] >= 0) {
    result[MARGIN] = margin(t, &e->operation[kink], at);
    result[DIFFERENCE] = cb_tape_operation(t, CB_OP_SUBTRACT, result[PLUS], result[MINUS], result[MINUS]);
  }
  for (int i = 0; i < PARTS && !status; i++) status = finish(t, result[i], &part[i]);
  free(t);
  return status;
}

enum { V = CB_EXPRESSION_VARIABLES };

static double dot(const double *a, const double *b) {
  double sum = 0;
  for (int i = 0; i < V; i++) sum += a[i] * b[i];
  return sum;
}

/* Returns whether f+ - f- = k m, and sets k. Finds this only for affine functions, from their values and derivatives at
 * 0. */
static bool proportional(cb_expression *const part[PARTS], double *k) {
  const double zero[V] = {0};
  double d[V], m[V], off = 0;
  if (!cb_expression_is_affine(part[DIFFERENCE], 0, V) || !cb_expression_is_affine(part[MARGIN], 0, V)) return false;
  const double d0 = cb_expression_gradient(part[DIFFERENCE], zero, V, d),
               m0 = cb_expression_gradient(part[MARGIN], zero, V, m), length = dot(m, m);
  *k = dot(d, m) / length;
  for (int i = 0; i < V; i++) off = fmax(off, fabs(d[i] - *k * m[i]));
  const double scale = fabs(*k) * sqrt(length);
  return off <= 64 * DBL_EPSILON * scale && fabs(d0 - *k * m0) <= 1e-12 * scale;
}

/* Tests at the point x of the border whether f is continuous and whether its kink is hollow. `way` is the distance over
 * which x was searched. */
static cb_border look(cb_expression *const part[PARTS], const double *x, double way) {
  double g[PARTS][V], f[PARTS];
  for (int i = 0; i < PARTS; i++) f[i] = cb_expression_gradient(part[i], x, V, g[i]);
  const double m = sqrt(dot(g[MARGIN], g[MARGIN])), d = sqrt(dot(g[DIFFERENCE], g[DIFFERENCE])),
               both = sqrt(dot(g[PLUS], g[PLUS])) + sqrt(dot(g[MINUS], g[MINUS]));
  if (!isfinite(m) || !isfinite(both)) return CB_BORDER_JUMP;
  if (fabs(f[DIFFERENCE]) > jump * (fabs(f[PLUS]) + fabs(f[MINUS]) + d * way)) return CB_BORDER_JUMP;
  return -dot(g[DIFFERENCE], g[MARGIN]) > bent * m * both ? CB_BORDER_HOLLOW : CB_BORDER_NONE;
}

/* Bisects between p and q for the point where the margin changes its sign, and writes this point to p. */
static void halve(const cb_expression *margin_of, double *p, double *q) {
  const bool positive = cb_expression_value(margin_of, p) > 0;
  for (int i = 0; i < HALVINGS; i++) {
    double middle[V];
    for (int j = 0; j < V; j++) middle[j] = p[j] + (q[j] - p[j]) / 2;
    double *to = (cb_expression_value(margin_of, middle) > 0) == positive ? p : q;
    for (int j = 0; j < V; j++) to[j] = middle[j];
  }
}

/* Classifies the border by samples: it searches for border points on segments whose two ends have sizes between 0.01
 * and about 300. If a side is not defined at an end where f is defined, the border counts as a jump. */
static cb_border sampled(const cb_expression *e, const cb_expression *guard, cb_expression *const part[PARTS]) {
  uint64_t seed = 1;
  cb_border border = CB_BORDER_NONE;
  for (int s = 0; s < SEGMENTS && border != CB_BORDER_JUMP; s++) {
    double x[2][V] = {{0}}, way = 0;
    for (int end = 0; end < 2; end++) {
      const double size = pow(10, 2 - s % 5 + 0.5 * end);
      for (int i = 0; i < e->variables; i++) x[end][e->variable[i]] = size * (2 * cb_uniform(&seed) - 1);
    }
    for (int end = 0; end < 2; end++)
      if (isfinite(cb_expression_value(e, x[end])) && !(guard && !(cb_expression_value(guard, x[end]) > 0)) &&
          !isfinite(cb_expression_value(part[DIFFERENCE], x[end])))
        return CB_BORDER_JUMP;
    if ((cb_expression_value(part[MARGIN], x[0]) > 0) == (cb_expression_value(part[MARGIN], x[1]) > 0)) continue;
    for (int i = 0; i < V; i++) way += fabs(x[1][i] - x[0][i]);
    halve(part[MARGIN], x[0], x[1]);
    if (!isfinite(cb_expression_value(e, x[0])) || (guard && !(cb_expression_value(guard, x[0]) > 0))) continue;
    const cb_border here = look(part, x[0], way);
    if (here != CB_BORDER_NONE) border = here;
  }
  return border;
}

/* Classifies the border between the two sides of operation `kink`, where the guard is positive. */
static cb_status classify_border(const cb_expression *e, int kink, const cb_expression *guard, cb_border *out) {
  cb_expression *part[PARTS] = {NULL, NULL, NULL, NULL};
  double k;
  cb_status status = make_parts(e, kink, part);
  if (!status && proportional(part, &k))
    *out = k < 0 ? CB_BORDER_LEAST : CB_BORDER_NONE;
  else if (!status)
    *out = sampled(e, guard, part);
  for (int i = 0; i < PARTS; i++) cb_expression_free(part[i]);
  return status;
}

/* --- branches --- */

/* How the value of the result depends on a quantity. If both bits are set, the dependence is not known. */
enum { GROWS = 1, FALLS = 2 };

static int turned(int way) { return (way & GROWS ? FALLS : 0) | (way & FALLS ? GROWS : 0); }

/* `way` says whether the result of the whole expression grows or falls with the value of operation o. Adds to `ways`
 * whether this result grows or falls with the value of each operand of o. */
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
      if (constant_at(e, o->a, &factor))
        ways[o->b] |= factor > 0 ? way : turned(way);
      else if (constant_at(e, o->b, &factor))
        ways[o->a] |= factor > 0 ? way : turned(way);
      else {
        ways[o->a] |= both;
        ways[o->b] |= both;
      }
      return;
    case CB_OP_DIVIDE:
      ways[o->b] |= both;
      ways[o->a] |= !constant_at(e, o->b, &factor) ? both : factor > 0 ? way : turned(way);
      return;
    default:
      ways[o->a] |= both;
      ways[o->b] |= both;
      ways[o->c] |= both;
      return;
  }
}

static void find_ways(const cb_expression *e, uint8_t ways[CB_TAPE_MAX]) {
  const int leaves = cb_expression_leaves(e);
  for (int i = 0; i < CB_TAPE_MAX; i++) ways[i] = 0;
  ways[e->result] = GROWS;
  for (int i = e->operations - 1; i >= 0; i--) pass(e, &e->operation[i], ways[leaves + i], ways);
}

/* Finds the last operation *kink at which the branch is the minimum of two choices (-1: none). Sets *guarded to whether
 * each choice is valid only on its side. */
static cb_status find_kink(const cb_expression_branch *b, int *kink, bool *guarded) {
  const cb_expression *e = b->value;
  const int leaves = cb_expression_leaves(e);
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
    if (!has_sides(&e->operation[i]) || ridge) continue;
    const cb_status status = classify_border(e, i, b->guard, &border);
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
    if (o->op == CB_OP_HYPOT && ways[cb_expression_leaves(e) + i] == FALLS && !constant_at(e, o->a, &value) &&
        !constant_at(e, o->b, &value))
      return i;
  }
  return -1;
}

static void drop(cb_expression_branch *b) {
  cb_expression_free(b->value);
  cb_expression_free(b->guard);
}

/* Sets *out to the branch that is the expression of *b on one side of a kink. */
static cb_status choose(const cb_expression_branch *b, int kink, bool guarded, int side, cb_expression_branch *out) {
  *out = (cb_expression_branch){NULL, NULL, false, 0};
  cb_status status = make_side(b->value, kink, side, &out->value);
  if (!status && guarded)
    status = make_guard(b->value, kink, side, b->guard, &out->guard);
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

/* Appends the tangent planes of a cone at its tip if the tip may be on the wall f >= 0. The tip is not on the wall if
 * the expression, with 0 in place of the cone, does not depend on variables 0 to fixed - 1. An example is the axis of a
 * cylinder. */
static cb_status add_planes(cb_expression_branch *branch, int i, int *count, int tip, int fixed) {
  cb_expression_branch plane[CB_CONE_PLANES] = {{NULL, NULL, false, 0}};
  bool on_wall = false;
  cb_status status = CB_OK;
  for (int side = 0; side < CB_CONE_PLANES && !status; side++) {
    cb_expression_branch *to = &plane[side];
    status = make_side(branch[i].value, tip, side, &to->value);
    if (!status) status = make_tip_guard(branch[i].value, tip, branch[i].guard, &to->guard);
    if (!status) to->tip = to->value->operations;
    to->plane = true;
  }
  cb_expression *without = NULL;
  if (!status) status = make_side(branch[i].value, tip, CB_CONE_PLANES, &without);
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
  cb_status status = make_side(e, -1, 0, &branch[0].value);
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
  const int leaves = cb_expression_leaves(e);
  for (int k = 0; k < leaves; k++)
    degree[k] = k < e->variables && e->variable[k] >= first && e->variable[k] < first + count;
  for (int k = 0; k < e->operations; k++) degree[leaves + k] = (uint8_t)degree_of(&e->operation[k], degree);
  return degree[e->result] < OTHER;
}
