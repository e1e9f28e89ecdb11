/* Runs the tape: values forwards, gradients backwards (adjoints), Hessians forwards on jets.
 *
 * Value      v_i = f_i(v_a, v_b)
 * Gradient   vbar_a += f_a vbar_i, vbar_b += f_b vbar_i from the last operation to the first, vbar_result = 1
 * Jet        the chain rules of jet_kernels.h
 * f_i is operation i, and v_a and v_b are its operands. f_a and f_b are its derivatives with respect to the operands.
 * vbar_i is the derivative of the result with respect to v_i.
 * Source: Griewank & Walther (2008), sections 3.1, 3.2 and 13.3, doi:10.1137/1.9780898717761.
 */
#include "numerics/expression_private.h"
#include "numerics/jet_kernels.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Returns one operation with its partial derivatives up to an order that is a constant in each call. */
ALWAYS_INLINE cb_taylor taylor(const cb_operation *o, const double *v, int order) {
  double a = v[o->a], b = v[o->b], c = v[o->c];
  switch ((cb_opcode)o->op) {
    case CB_OP_SQRT: return cb_taylor_sqrt(a, order);
    case CB_OP_EXP: return cb_taylor_exp(a, order);
    case CB_OP_LOG: return cb_taylor_log(a, order);
    case CB_OP_LOG10: return cb_taylor_log10(a, order);
    case CB_OP_POW: return cb_taylor_power(a, b, order);
    case CB_OP_SIN: return cb_taylor_sin(a, order);
    case CB_OP_COS: return cb_taylor_cos(a, order);
    case CB_OP_TAN: return cb_taylor_tan(a, order);
    case CB_OP_COT: return cb_taylor_cot(a, order);
    case CB_OP_ASIN: return cb_taylor_asin(a, order);
    case CB_OP_ACOS: return cb_taylor_acos(a, order);
    case CB_OP_ATAN: return cb_taylor_atan(a, order);
    case CB_OP_ATAN2: return cb_taylor_atan2(a, b, order);
    case CB_OP_SINH: return cb_taylor_sinh(a, order);
    case CB_OP_COSH: return cb_taylor_cosh(a, order);
    case CB_OP_TANH: return cb_taylor_tanh(a, order);
    case CB_OP_COTH: return cb_taylor_coth(a, order);
    case CB_OP_ASINH: return cb_taylor_asinh(a, order);
    case CB_OP_ACOSH: return cb_taylor_acosh(a, order);
    case CB_OP_ATANH: return cb_taylor_atanh(a, order);
    case CB_OP_ABS: return cb_taylor_abs(a, order);
    case CB_OP_SIGN: return (cb_taylor){.f = a > 0 ? 1 : a < 0 ? -1 : a};
    case CB_OP_FLOOR: return (cb_taylor){.f = floor(a)};
    case CB_OP_STEP: return (cb_taylor){.f = a >= 0 ? 1 : a < 0 ? 0 : a};
    case CB_OP_MIN: return cb_taylor_min(a, b);
    case CB_OP_MAX: return cb_taylor_max(a, b);
    case CB_OP_HYPOT: return cb_taylor_hypot(a, b, order);
    case CB_OP_IF: return (cb_taylor){.f = c != c ? c : c != 0 ? a : b, .a = c != 0, .b = c == 0};
    case CB_OP_NEGATE: return (cb_taylor){.f = -a, .a = -1};
    case CB_OP_ADD: return (cb_taylor){.f = a + b, .a = 1, .b = 1};
    case CB_OP_SUBTRACT: return (cb_taylor){.f = a - b, .a = 1, .b = -1};
    case CB_OP_MULTIPLY: return (cb_taylor){.f = a * b, .a = b, .b = a, .ab = 1};
    case CB_OP_DIVIDE: return cb_taylor_divide(a, b, order);
    case CB_OP_POWER_CONSTANT: return cb_taylor_power_constant(a, b, order);
    case CB_OP_POWER_INTEGER: return cb_taylor_power_integer(a, o->k, order);
    case CB_OP_LESS: return (cb_taylor){.f = a < b};
    case CB_OP_LESS_EQUAL: return (cb_taylor){.f = a <= b};
    case CB_OP_GREATER: return (cb_taylor){.f = a > b};
    case CB_OP_GREATER_EQUAL: return (cb_taylor){.f = a >= b};
    case CB_OP_EQUAL: return (cb_taylor){.f = a == b};
    case CB_OP_NOT_EQUAL: return (cb_taylor){.f = a != b};
    case CB_OP_CONSTANT:
    case CB_OP_VARIABLE: break;
  }
  return (cb_taylor){.f = NAN};
}

double cb_operation_value(const cb_operation *o, const double *v) { return taylor(o, v, 0).f; }

double cb_operation_slopes(const cb_operation *o, const double *v, double slope[2]) {
  const cb_taylor t = cb_taylor_settle(taylor(o, v, 1));
  slope[0] = t.a;
  slope[1] = t.b;
  return t.f;
}

static void taylor_second(const cb_operation *o, const double *v, cb_taylor *t) {
  *t = cb_taylor_settle(taylor(o, v, 2));
}

ALWAYS_INLINE double *load_leaves(const cb_expression *e, const double *x, double *v) {
  for (int i = 0; i < e->variables; i++) v[i] = x[e->variable[i]];
  for (int i = 0; i < e->constants; i++) v[e->variables + i] = e->constant[i];
  return v + e->variables + e->constants;
}

ALWAYS_INLINE void run(const cb_expression *e, const double *x, double *v) {
  double *result = load_leaves(e, x, v);
  for (int i = 0; i < e->operations; i++) result[i] = taylor(&e->operation[i], v, 0).f;
}

double cb_expression_value(const cb_expression *e, const double *x) {
  double v[CB_TAPE_MAX];
  run(e, x, v);
  return v[e->result];
}

/* Returns the margin of a condition (cb_expression_margin): the minimum for products and min, the maximum for sums and
 * max. */
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
  double v[CB_TAPE_MAX];
  run(e, x, v);
  return margin_at(e, e->result, v);
}

/* A side of `if` that was not chosen has the derivative 0. It adds nothing even if its own derivative is infinite or
 * NaN. */
double cb_expression_gradient(const cb_expression *e, const double *x, int m, double *g) {
  /* The arrays lie in one block without gaps, so that a small tape needs only a few cache lines. */
  double work[4 * CB_TAPE_MAX];
  int leaves = e->variables + e->constants, refs = leaves + e->operations;
  double *v = work, *bar = v + refs, *fa = bar + refs, *fb = fa + e->operations;
  double *result = load_leaves(e, x, v);
  const uint8_t *lowest = e->lowest + leaves;
  for (int i = 0; i < e->operations; i++) {
    if (lowest[i] >= m) {
      result[i] = cb_operation_value(&e->operation[i], v);
      continue;
    }
    cb_taylor t = cb_taylor_settle(taylor(&e->operation[i], v, 1));
    result[i] = t.f;
    fa[i] = t.a;
    fb[i] = t.b;
  }
  for (int i = 0; i < refs; i++) bar[i] = 0;
  bar[e->result] = 1;
  for (int i = e->operations - 1; i >= 0; i--) {
    double above = bar[leaves + i];
    if (lowest[i] >= m || above == 0) continue;
    const cb_operation *o = &e->operation[i];
    if (o->op == CB_OP_IF) {
      if (fa[i] != 0) bar[o->a] += fa[i] * above;
      if (fb[i] != 0) bar[o->b] += fb[i] * above;
      continue;
    }
    bar[o->a] += fa[i] * above;
    if (o->operands == 2) bar[o->b] += fb[i] * above;
  }
  for (int i = 0; i < m; i++) g[i] = 0;
  for (int i = 0; i < e->variables; i++)
    if (e->variable[i] < m) g[e->variable[i]] = bar[i];
  return v[e->result];
}

/* Computes the jet r of an operation whose result varies, and returns its value. a and b are the jets of the operands,
 * NULL for an operand that does not vary. Sums and products are the most frequent operations and need no partial
 * derivatives. */
ALWAYS_INLINE double jet_operation(const cb_operation *o, const double *v, int m, double *r, const double *a,
                                   const double *b) {
  if (a && b) {
    if (o->op == CB_OP_MULTIPLY) {
      cb_kernel_product(m, r, r + m, v[o->a], a, a + m, v[o->b], b, b + m);
      return v[o->a] * v[o->b];
    }
    if (o->op == CB_OP_ADD) {
      cb_kernel_linear(m, r, r + m, 1, a, a + m, 1, b, b + m);
      return v[o->a] + v[o->b];
    }
  }
  cb_taylor t;
  taylor_second(o, v, &t);
  if (o->op == CB_OP_IF) {
    const double *taken = v[o->c] != 0 ? a : b;
    double factor = v[o->c] == v[o->c] ? 1 : NAN;
    for (int k = 0; k < m + m * (m + 1) / 2; k++) r[k] = taken ? factor * taken[k] : factor - factor;
  } else if (a && b) {
    cb_kernel_two(m, r, r + m, &t, a, a + m, b, b + m);
  } else if (a) {
    cb_kernel_one(m, r, r + m, t.a, t.aa, a, a + m);
  } else if (b) {
    cb_kernel_one(m, r, r + m, t.b, t.bb, b, b + m);
  }
  return t.f;
}

ALWAYS_INLINE void jet_run(const cb_expression *e, const double *x, int m, cb_jet *out) {
  double v[CB_TAPE_MAX], jets[CB_SLOT_MAX * (CB_JET_MAX + CB_JET_PACKED)];
  double *result = load_leaves(e, x, v);
  int leaves = e->variables + e->constants, size = m + m * (m + 1) / 2;
  for (int i = 0; i < e->variables; i++) {
    if (e->lowest[i] >= m) continue;
    double *jet = jets + e->slot[i] * size;
    for (int k = 0; k < size; k++) jet[k] = 0;
    jet[e->variable[i]] = 1;
  }
  for (int i = 0; i < e->operations; i++) {
    const cb_operation *o = &e->operation[i];
    if (e->lowest[leaves + i] >= m) {
      result[i] = cb_operation_value(o, v);
      continue;
    }
    const double *a = e->lowest[o->a] < m ? jets + e->slot[o->a] * size : NULL;
    const double *b = o->operands == 2 && e->lowest[o->b] < m ? jets + e->slot[o->b] * size : NULL;
    result[i] = jet_operation(o, v, m, jets + e->slot[leaves + i] * size, a, b);
  }
  out->n = m;
  out->v = v[e->result];
  const double *jet = e->lowest[e->result] < m ? jets + e->slot[e->result] * size : NULL;
  for (int i = 0; i < m; i++) out->g[i] = jet ? jet[i] : 0;
  for (int k = 0; k < size - m; k++) out->h[k] = jet ? jet[m + k] : 0;
}

/* One function for each small m, with unrolled loops. */
static __attribute__((noinline)) void jet_run_1(const cb_expression *e, const double *x, cb_jet *out) {
  jet_run(e, x, 1, out);
}
static __attribute__((noinline)) void jet_run_2(const cb_expression *e, const double *x, cb_jet *out) {
  jet_run(e, x, 2, out);
}
static __attribute__((noinline)) void jet_run_3(const cb_expression *e, const double *x, cb_jet *out) {
  jet_run(e, x, 3, out);
}
static __attribute__((noinline)) void jet_run_4(const cb_expression *e, const double *x, cb_jet *out) {
  jet_run(e, x, 4, out);
}
static __attribute__((noinline)) void jet_run_any(const cb_expression *e, const double *x, int m, cb_jet *out) {
  jet_run(e, x, m, out);
}

cb_jet cb_expression_jet(const cb_expression *e, const double *x, int m) {
  cb_jet out;
  switch (m) {
    case 1: jet_run_1(e, x, &out); break;
    case 2: jet_run_2(e, x, &out); break;
    case 3: jet_run_3(e, x, &out); break;
    case 4: jet_run_4(e, x, &out); break;
    default: jet_run_any(e, x, m, &out); break;
  }
  return out;
}
