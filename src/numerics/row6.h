/* Rows of 6x6 matrices of SE(3), as three vectors of two numbers, which every x86-64 has (SSE2).
 *
 * A sum of rows is the sum of its numbers in the same order, so results do not depend on the compiler. The address of a
 * row needs no alignment.
 */
#pragma once

typedef double cb_two __attribute__((vector_size(16)));
typedef double cb_two_in_memory __attribute__((vector_size(16), aligned(8), may_alias));

typedef struct cb_row6 {
  cb_two a, b, c;
} cb_row6;

static inline cb_two cb_two_of(double x) { return (cb_two){x, x}; }

static inline cb_two cb_two_load(const double p[2]) { return *(const cb_two_in_memory *)p; }
static inline void cb_two_store(cb_two x, double p[2]) { *(cb_two_in_memory *)p = x; }

static inline cb_row6 cb_row6_load(const double p[6]) {
  return (cb_row6){cb_two_load(p), cb_two_load(p + 2), cb_two_load(p + 4)};
}
static inline void cb_row6_store(cb_row6 x, double p[6]) {
  cb_two_store(x.a, p);
  cb_two_store(x.b, p + 2);
  cb_two_store(x.c, p + 4);
}
/* c x */
static inline cb_row6 cb_row6_scale(double c, cb_row6 x) {
  const cb_two f = cb_two_of(c);
  return (cb_row6){f * x.a, f * x.b, f * x.c};
}
/* x + y */
static inline cb_row6 cb_row6_sum(cb_row6 x, cb_row6 y) { return (cb_row6){x.a + y.a, x.b + y.b, x.c + y.c}; }
/* x - y */
static inline cb_row6 cb_row6_less(cb_row6 x, cb_row6 y) { return (cb_row6){x.a - y.a, x.b - y.b, x.c - y.c}; }
/* x + c y */
static inline cb_row6 cb_row6_add(cb_row6 x, double c, cb_row6 y) { return cb_row6_sum(x, cb_row6_scale(c, y)); }

static inline double cb_row6_dot(cb_row6 x, cb_row6 y) {
  const cb_two sum = x.a * y.a + x.b * y.b + x.c * y.c;
  return sum[0] + sum[1];
}

/* The row x times X = [[1, 0], [-hat(d), 1]], the map (omega, v) to (omega, v + omega × d): x + (d × x_linear, 0). */
static inline cb_row6 cb_row6_see(const double d[3], cb_row6 x) {
  const cb_two last = {x.c[1], x.b[1]};
  return (cb_row6){x.a + ((cb_two){d[1], d[2]} * last - (cb_two){d[2], d[0]} * x.c),
                   {x.b[0] + (d[0] * x.c[0] - d[1] * x.b[1]), x.b[1]},
                   x.c};
}
