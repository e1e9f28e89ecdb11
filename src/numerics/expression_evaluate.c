/* Runs the tape of an expression at one point (values, gradients and jets), and over many points at once.
 *
 * At one point, values are computed forwards, gradients backwards (adjoints), and Hessians forwards on jets.
 *
 * Value      v_i = f_i(v_a, v_b)
 * Gradient   vbar_a += f_a vbar_i, vbar_b += f_b vbar_i from the last operation to the first, vbar_result = 1
 * Jet        the chain rules of elementary.h
 * f_i is operation i, and v_a and v_b are its operands. f_a and f_b are its derivatives with respect to the operands.
 * vbar_i is the derivative of the result with respect to v_i.
 * Source: Griewank & Walther (2008), sections 3.1, 3.2 and 13.3, doi:10.1137/1.9780898717761.
 *
 * Over many points at once each operation is applied to a block of points. Each value carries its derivative in one
 * variable (forward mode: r' = f_a a' + f_b b' for the result r = f(a, b); Griewank & Walther (2008), section 3.1).
 *
 * Operations that are the same at all points are computed once. sin, cos and exp are those of elementary.h;
 * operations without a vector form are computed point by point.
 */
#include "numerics/expression_private.h"

#include "core/threads.h"
#include "numerics/elementary.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Returns the value of one operation and its partial derivatives up to `order`. Callers give `order` as a literal, so
 * that the compiler removes the derivatives that are not needed. */
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
    case CB_OP_CONTROL:
    case CB_OP_VARIABLE: break;
  }
  return (cb_taylor){.f = NAN};
}

double cb_operation_value(const cb_operation *o, const double *v) { return taylor(o, v, 0).f; }

/* Returns the value of an operation, and sets slope to its derivatives f_a and f_b with respect to the operands. */
static double operation_slopes(const cb_operation *o, const double *v, double slope[2]) {
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
  for (int i = 0; i < e->controls; i++) v[e->variables + e->constants + i] = *e->control[i];
  return v + cb_expression_leaves(e);
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
  const int i = ref - cb_expression_leaves(e);
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
  int leaves = cb_expression_leaves(e), refs = leaves + e->operations;
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
  int leaves = cb_expression_leaves(e), size = m + m * (m + 1) / 2;
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

/* One function for each small number m of variables, with unrolled loops. */
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

/* --- many points at once --- */

/* GROUPS: maximum number of vectors per quantity; RESERVE: maximum number of vectors of all quantities (64 kB) */
enum { GROUPS = 8, RESERVE = 1024 };

typedef struct tape {
  const cb_expression *e;
  int leaves, refs, groups;
  bool first; /* the present block is the first one */
  bool fixed[CB_TAPE_MAX],
      active[CB_TAPE_MAX]; /* [ref]; fixed: the quantity is the same at all points; active: it has a derivative */
} tape;

CB_LANES_INLINE void power(const cb_lanes *x, int k, cb_lanes *out) {
  cb_lanes f = *x * 0 + 1, square = *x;
  for (int rest = k < 0 ? -k : k;;) {
    if (rest & 1) f *= square;
    if (!(rest >>= 1)) break;
    square *= square;
  }
  *out = k < 0 ? 1 / f : f;
}

/* The operands of an operation with their derivatives, and its result. */
typedef struct operands {
  const cb_lanes *a, *b, *c;
  const cb_lanes *da, *db; /* NULL: this operand has no derivative */
  cb_lanes *r, *dr;        /* dr NULL: no derivative is needed */
} operands;

/* Evaluates the operation point by point, where |a| is above `maximum` or NaN. */
CB_LANES_INLINE void any(const cb_operation *o, int n, double maximum, const operands *x) {
  const cb_operation own = {.op = o->op, .operands = o->operands, .k = o->k, .a = 0, .b = 1, .c = 2};
  for (int g = 0; g < n; g++)
    for (int i = 0; i < CB_LANES; i++) {
      const double v[3] = {x->a[g][i], x->b[g][i], x->c[g][i]};
      double slope[2];
      if (fabs(v[0]) <= maximum) continue;
      if (!x->dr) {
        x->r[g][i] = cb_operation_value(&own, v);
        continue;
      }
      x->r[g][i] = operation_slopes(&own, v, slope);
      double sum = 0;
      if (x->da && x->da[g][i] != 0) sum += slope[0] * x->da[g][i];
      if (x->db && x->db[g][i] != 0) sum += slope[1] * x->db[g][i];
      x->dr[g][i] = sum;
    }
}

/* Computes one operation on n vectors. */
/* NOLINTNEXTLINE(readability-function-size): one case per operation */
CB_LANES_INLINE void operate(const cb_operation *o, int n, const operands *x) {
  const cb_lanes *a = x->a, *b = x->b, *c = x->c, *da = x->da, *db = x->db;
  cb_lanes *r = x->r, *dr = x->dr;
  switch ((cb_opcode)o->op) {
    case CB_OP_ADD:
      for (int g = 0; g < n; g++) r[g] = a[g] + b[g];
      if (da && db)
        for (int g = 0; g < n; g++) dr[g] = da[g] + db[g];
      else if (da)
        for (int g = 0; g < n; g++) dr[g] = da[g];
      else if (db)
        for (int g = 0; g < n; g++) dr[g] = db[g];
      return;
    case CB_OP_SUBTRACT:
      for (int g = 0; g < n; g++) r[g] = a[g] - b[g];
      if (da && db)
        for (int g = 0; g < n; g++) dr[g] = da[g] - db[g];
      else if (da)
        for (int g = 0; g < n; g++) dr[g] = da[g];
      else if (db)
        for (int g = 0; g < n; g++) dr[g] = -db[g];
      return;
    case CB_OP_MULTIPLY:
      for (int g = 0; g < n; g++) r[g] = a[g] * b[g];
      if (da && db)
        for (int g = 0; g < n; g++) dr[g] = b[g] * da[g] + a[g] * db[g];
      else if (da)
        for (int g = 0; g < n; g++) dr[g] = b[g] * da[g];
      else if (db)
        for (int g = 0; g < n; g++) dr[g] = a[g] * db[g];
      return;
    case CB_OP_DIVIDE:
      for (int g = 0; g < n; g++) r[g] = a[g] / b[g];
      if (da && db)
        for (int g = 0; g < n; g++) dr[g] = (da[g] - r[g] * db[g]) / b[g];
      else if (da)
        for (int g = 0; g < n; g++) dr[g] = da[g] / b[g];
      else if (db)
        for (int g = 0; g < n; g++) dr[g] = -r[g] * db[g] / b[g];
      return;
    case CB_OP_NEGATE:
      for (int g = 0; g < n; g++) r[g] = -a[g];
      if (dr && da)
        for (int g = 0; g < n; g++) dr[g] = -da[g];
      return;
    case CB_OP_POWER_INTEGER:
      if (o->k < 1 || o->k > CB_POWER_MULTIPLY_MAX) break;
      for (int g = 0; g < n; g++) power(a + g, o->k, r + g);
      if (dr && da)
        for (int g = 0; g < n; g++) {
          cb_lanes slope;
          power(a + g, o->k - 1, &slope);
          dr[g] = o->k * slope * da[g];
        }
      return;
    case CB_OP_SQRT:
      for (int g = 0; g < n; g++)
        for (int i = 0; i < CB_LANES; i++) r[g][i] = __builtin_sqrt(a[g][i]);
      if (dr && da)
        for (int g = 0; g < n; g++) dr[g] = 0.5 / r[g] * da[g];
      return;
    case CB_OP_SIN:
    case CB_OP_COS:
      for (int g = 0; g < n; g++) {
        cb_lanes sine, cosine;
        cb_lanes_sincos(a + g, &sine, &cosine);
        r[g] = o->op == CB_OP_SIN ? sine : cosine;
        if (dr && da) dr[g] = (o->op == CB_OP_SIN ? cosine : -sine) * da[g];
      }
      if (!cb_lanes_within(n, a, CB_LANES_SINCOS_MAX)) any(o, n, CB_LANES_SINCOS_MAX, x);
      return;
    case CB_OP_EXP:
      for (int g = 0; g < n; g++) {
        cb_lanes_exp(a + g, r + g);
        if (dr && da) dr[g] = r[g] * da[g];
      }
      if (!cb_lanes_within(n, a, CB_LANES_EXP_MAX)) any(o, n, CB_LANES_EXP_MAX, x);
      return;
    case CB_OP_IF: /* the value and the derivative are those of the chosen side only */
      for (int g = 0; g < n; g++)
        for (int i = 0; i < CB_LANES; i++) {
          const double when = c[g][i];
          const cb_lanes *d = when != 0 ? da : db;
          r[g][i] = when != when ? when : when != 0 ? a[g][i] : b[g][i];
          if (dr) dr[g][i] = when != when ? when : d ? d[g][i] : 0;
        }
      return;
    default: break;
  }
  any(o, n, -1, x);
}

/* Runs the tape over a block; returns whether the result is finite. */
CB_LANES_INLINE bool run_block(const tape *t, cb_lanes *v, cb_lanes *d) {
  for (int i = 0; i < t->e->operations; i++) {
    const int ref = t->leaves + i;
    if (t->fixed[ref] && !t->first) continue;
    const cb_operation *o = &t->e->operation[i];
    const size_t n = (size_t)t->groups;
    const operands x = {.a = v + n * o->a,
                        .b = v + n * o->b,
                        .c = v + n * o->c,
                        .da = t->active[o->a] ? d + n * o->a : NULL,
                        .db = o->operands == 2 && t->active[o->b] ? d + n * o->b : NULL,
                        .r = v + n * (size_t)ref,
                        .dr = t->active[ref] ? d + n * (size_t)ref : NULL};
    operate(o, t->groups, &x);
  }
  const int result = t->e->result;
  const size_t at = (size_t)t->groups * (size_t)result;
  return cb_lanes_within(t->groups, v + at, DBL_MAX) &&
         (!t->active[result] || cb_lanes_within(t->groups, d + at, DBL_MAX));
}

static bool run_any(const tape *t, cb_lanes *v, cb_lanes *d) { return run_block(t, v, d); }
#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool run_avx2(const tape *t, cb_lanes *v, cb_lanes *d) {
  return run_block(t, v, d);
}
__attribute__((target("avx512f,avx512dq,avx512vl"))) static bool run_avx512(const tape *t, cb_lanes *v, cb_lanes *d) {
  return run_block(t, v, d);
}
#endif

static bool (*runner(void))(const tape *, cb_lanes *, cb_lanes *) {
#if defined(__x86_64__)
  if (cb_isa_get() == CB_ISA_AVX512) return run_avx512;
  if (cb_isa_get() == CB_ISA_AVX2) return run_avx2;
#endif
  return run_any;
}

/* Determines which refs are the same at all points and which have a derivative. */
static void look(const cb_expression *e, const _Bool *fixed, size_t along, bool rate, tape *t) {
  t->e = e;
  t->leaves = cb_expression_leaves(e);
  t->refs = t->leaves + e->operations;
  for (int i = 0; i < t->leaves; i++) {
    t->fixed[i] = i >= e->variables || fixed[e->variable[i]];
    t->active[i] = rate && i < e->variables && e->variable[i] == along;
  }
  for (int i = 0; i < e->operations; i++) {
    const cb_operation *o = &e->operation[i];
    t->fixed[t->leaves + i] = t->fixed[o->a] && t->fixed[o->b] && t->fixed[o->c];
    t->active[t->leaves + i] = (o->operands >= 1 && t->active[o->a]) || (o->operands == 2 && t->active[o->b]);
  }
}

static void fill(cb_lanes *to, int groups, double value) {
  for (int g = 0; g < groups; g++) to[g] = (cb_lanes){0} + value;
}

static void give(double *to, int count, const cb_lanes *from) {
  const int whole = count / CB_LANES;
  for (int g = 0; g < whole; g++) memcpy(to + CB_LANES * g, from + g, sizeof *from);
  for (int i = whole * CB_LANES; i < count; i++) to[i] = from[whole][i % CB_LANES];
}

/* Copies x[count] to `to`, and fills the other places of `to` with the last number. */
static void take(cb_lanes *to, int groups, const double *x, int count) {
  double at[GROUPS * CB_LANES];
  if (count == groups * CB_LANES) {
    for (int g = 0; g < groups; g++) memcpy(to + g, x + CB_LANES * g, sizeof *to);
    return;
  }
  for (int i = 0; i < groups * CB_LANES; i++) at[i] = x[i < count ? i : count - 1];
  memcpy(to, at, (size_t)groups * sizeof *to);
}

/* Returns the value of a leaf that is the same at all points. */
static double leaf(const cb_expression *e, int i, const double *const *x) {
  const int constant = i - e->variables, control = constant - e->constants;
  return constant < 0 ? x[e->variable[i]][0] : control < 0 ? e->constant[constant] : *e->control[control];
}

/* Evaluates a tape that is too long for a block. */
static bool point_by_point(const cb_expression *e, int n, const double *const *x, const _Bool *fixed, size_t along,
                           double *value, double *rate) {
  double at[CB_EXPRESSION_VARIABLES] = {0}, g[CB_EXPRESSION_VARIABLES];
  bool finite = true;
  for (int p = 0; p < n; p++) {
    for (int i = 0; i < e->variables; i++) {
      const int k = e->variable[i];
      at[k] = x[k][fixed[k] ? 0 : p];
    }
    value[p] = rate ? cb_expression_gradient(e, at, (int)along + 1, g) : cb_expression_value(e, at);
    if (rate) rate[p] = g[along];
    finite &= isfinite(value[p]) && (!rate || isfinite(rate[p]));
  }
  return finite;
}

_Bool cb_expression_values(const cb_expression *e, int n, const double *const *x, const _Bool *fixed, size_t along,
                           double *value, double *rate) {
  static const cb_lanes none[GROUPS];
  cb_lanes work[RESERVE];
  tape t;
  look(e, fixed, along, rate != NULL, &t);
  const int fit = RESERVE / (t.refs * (rate ? 2 : 1)), maximum = (n + CB_LANES - 1) / CB_LANES;
  if (fit < 1) return point_by_point(e, n, x, fixed, along, value, rate);
  bool finite = true;
  t.groups = fit < GROUPS ? fit : GROUPS;
  if (maximum < t.groups) t.groups = maximum > 0 ? maximum : 1;
  const size_t groups = (size_t)t.groups;
  const int points = t.groups * CB_LANES;
  cb_lanes *v = work, *d = work + groups * (size_t)t.refs;
  bool (*const run_on)(const tape *, cb_lanes *, cb_lanes *) = runner();
  for (int i = 0; i < t.leaves; i++) {
    if (t.active[i]) fill(d + groups * (size_t)i, t.groups, 1);
    if (t.fixed[i]) fill(v + groups * (size_t)i, t.groups, leaf(e, i, x));
  }
  for (int begin = 0; begin < n; begin += points) {
    const int count = n - begin < points ? n - begin : points;
    t.first = begin == 0;
    for (int i = 0; i < e->variables; i++)
      if (!t.fixed[i]) take(v + groups * (size_t)i, t.groups, x[e->variable[i]] + begin, count);
    finite &= run_on(&t, v, d);
    give(value + begin, count, v + groups * (size_t)e->result);
    if (rate) give(rate + begin, count, t.active[e->result] ? d + groups * (size_t)e->result : none);
  }
  return finite;
}
