/* Runs the tape of an expression (expression_private.h) over many points at once. Each operation is applied to a block
 * of points. Each value carries its derivative in one variable (forward mode: r' = f_a a' + f_b b' for the result r =
 * f(a, b); Griewank & Walther (2008), section 3.1).
 *
 * Operations that are the same at all points are computed once. sin, cos and exp are those of elementary_lanes.h;
 * operations without a vector form are computed point by point.
 */
#include "numerics/elementary.h"
#include "numerics/elementary_lanes.h"
#include "numerics/expression_private.h"

#include "core/isa.h"

#include <float.h>
#include <stdbool.h>
#include <string.h>

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
      x->r[g][i] = cb_operation_slopes(&own, v, slope);
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
CB_LANES_INLINE bool run(const tape *t, cb_lanes *v, cb_lanes *d) {
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

static bool run_any(const tape *t, cb_lanes *v, cb_lanes *d) { return run(t, v, d); }
#if defined(__x86_64__)
__attribute__((target("avx2"))) static bool run_avx2(const tape *t, cb_lanes *v, cb_lanes *d) { return run(t, v, d); }
__attribute__((target("avx512f,avx512dq,avx512vl"))) static bool run_avx512(const tape *t, cb_lanes *v, cb_lanes *d) {
  return run(t, v, d);
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
  t->leaves = e->variables + e->constants;
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

/* Copies x[count] to `to` and fills the rest with the last number. */
static void take(cb_lanes *to, int groups, const double *x, int count) {
  double at[GROUPS * CB_LANES];
  if (count == groups * CB_LANES) {
    for (int g = 0; g < groups; g++) memcpy(to + g, x + CB_LANES * g, sizeof *to);
    return;
  }
  for (int i = 0; i < groups * CB_LANES; i++) at[i] = x[i < count ? i : count - 1];
  memcpy(to, at, (size_t)groups * sizeof *to);
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
    if (t.fixed[i])
      fill(v + groups * (size_t)i, t.groups, i < e->variables ? x[e->variable[i]][0] : e->constant[i - e->variables]);
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
