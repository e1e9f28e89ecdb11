/* Vectors of three numbers for mechanism_articulated_kernel.h and mechanism_sweep_kernel.h. With VECTORS, each of them
 * is one vector of four numbers in the processor, whose fourth number is 0. With HALVES, each is two vectors of two
 * numbers (SSE2). Otherwise each is three separate numbers, because a compiler would keep a vector of four in memory if
 * the processor has none. All versions give the same bits. */
#include "mechanism/mechanism_tree.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#ifdef VECTORS
typedef double vec __attribute__((vector_size(32)));
/* This type loads and stores a vector at the address of any number. memcpy would copy two halves, and a later load of
 * the whole vector would have to wait for them. */
typedef double loose __attribute__((vector_size(32), aligned(8), may_alias));
#if defined(__clang__)
#define PICK(x, y, i, j, k, l) __builtin_shufflevector(x, y, i, j, k, l)
#else
typedef long long lanes __attribute__((vector_size(32)));
#define PICK(x, y, i, j, k, l) __builtin_shuffle(x, y, (lanes){i, j, k, l})
#endif
INLINE vec load(const double *p) { return *(const loose *)p; }
INLINE void store(double *p, vec v) { *(loose *)p = v; }
INLINE vec none(void) { return (vec){0}; }
INLINE vec plus(vec x, vec y) { return x + y; }
INLINE vec minus(vec x, vec y) { return x - y; }
INLINE vec times(double factor, vec x) { return factor * x; }
/* each returns the products of the components; next returns the components (y, z, x) */
INLINE vec each(vec x, vec y) { return x * y; }
INLINE vec next(vec x) { return PICK(x, x, 1, 2, 0, 3); }
INLINE double part(vec x, const int i) { return x[i]; }
INLINE double sum(vec x) { return (x[0] + x[1]) + (x[2] + x[3]); }
INLINE void transpose(vec x[3]) {
  const vec zero = {0}, low = PICK(x[0], x[1], 0, 4, 2, 6), high = PICK(x[0], x[1], 1, 5, 3, 7),
            low2 = PICK(x[2], zero, 0, 4, 2, 6), high2 = PICK(x[2], zero, 1, 5, 3, 7);
  x[0] = PICK(low, low2, 0, 1, 4, 5);
  x[1] = PICK(high, high2, 0, 1, 4, 5);
  x[2] = PICK(low, low2, 2, 3, 6, 7);
}
/* out = p (c a + s b) for quaternions p, a and b */
INLINE void multiply(const double p[4], double c, const double a[4], double s, const double b[4], double out[4]) {
  const vec one = {-1, 1, -1, 1}, two = {-1, 1, 1, -1}, three = {-1, -1, 1, 1}, q = c * load(a) + s * load(b);
  store(out, (p[0] * q + p[1] * (one * PICK(q, q, 1, 0, 3, 2))) +
                 (p[2] * (two * PICK(q, q, 2, 3, 0, 1)) + p[3] * (three * PICK(q, q, 3, 2, 1, 0))));
}
#elif defined(HALVES)
typedef struct vec {
  cb_two x, y;
} vec;
#if defined(__clang__)
#define PAIR(x, y, i, j) __builtin_shufflevector(x, y, i, j)
#else
typedef long long lanes __attribute__((vector_size(16)));
#define PAIR(x, y, i, j) __builtin_shuffle(x, y, (lanes){i, j})
#endif
INLINE vec load(const double *p) { return (vec){cb_two_load(p), cb_two_load(p + 2)}; }
INLINE void store(double *p, vec v) {
  cb_two_store(v.x, p);
  cb_two_store(v.y, p + 2);
}
INLINE vec none(void) { return (vec){{0, 0}, {0, 0}}; }
INLINE vec plus(vec x, vec y) { return (vec){x.x + y.x, x.y + y.y}; }
INLINE vec minus(vec x, vec y) { return (vec){x.x - y.x, x.y - y.y}; }
INLINE vec times(double factor, vec x) { return (vec){factor * x.x, factor * x.y}; }
INLINE vec each(vec x, vec y) { return (vec){x.x * y.x, x.y * y.y}; }
INLINE vec next(vec x) { return (vec){PAIR(x.x, x.y, 1, 2), x.x}; }
INLINE double part(vec x, const int i) { return i < 2 ? x.x[i] : x.y[0]; }
INLINE double sum(vec x) { return (x.x[0] + x.x[1]) + x.y[0]; }
INLINE void transpose(vec x[3]) {
  const vec a = x[0], b = x[1], c = x[2];
  x[0] = (vec){PAIR(a.x, b.x, 0, 2), c.x};
  x[1] = (vec){PAIR(a.x, b.x, 1, 3), PAIR(c.x, c.x, 1, 1)};
  x[2] = (vec){PAIR(a.y, b.y, 0, 2), c.y};
}
#else
typedef struct vec {
  double x, y, z;
} vec;
INLINE vec load(const double *p) { return (vec){p[0], p[1], p[2]}; }
INLINE void store(double *p, vec v) {
  p[0] = v.x;
  p[1] = v.y;
  p[2] = v.z;
}
INLINE vec none(void) { return (vec){0, 0, 0}; }
INLINE vec plus(vec x, vec y) { return (vec){x.x + y.x, x.y + y.y, x.z + y.z}; }
INLINE vec minus(vec x, vec y) { return (vec){x.x - y.x, x.y - y.y, x.z - y.z}; }
INLINE vec times(double factor, vec x) { return (vec){factor * x.x, factor * x.y, factor * x.z}; }
INLINE vec each(vec x, vec y) { return (vec){x.x * y.x, x.y * y.y, x.z * y.z}; }
INLINE vec next(vec x) { return (vec){x.y, x.z, x.x}; }
INLINE double part(vec x, const int i) { return i == 0 ? x.x : i == 1 ? x.y : x.z; }
INLINE double sum(vec x) { return (x.x + x.y) + x.z; }
INLINE void transpose(vec x[3]) {
  const vec a = x[0], b = x[1], c = x[2];
  x[0] = (vec){a.x, b.x, c.x};
  x[1] = (vec){a.y, b.y, c.y};
  x[2] = (vec){a.z, b.z, c.z};
}
#endif
#ifndef VECTORS
INLINE void multiply(const double p[4], double c, const double a[4], double s, const double b[4], double out[4]) {
  double q[4];
  for (int i = 0; i < 4; i++) q[i] = c * a[i] + s * b[i];
  out[0] = (p[0] * q[0] - p[1] * q[1]) + (-(p[2] * q[2]) - p[3] * q[3]);
  out[1] = (p[0] * q[1] + p[1] * q[0]) + (p[2] * q[3] - p[3] * q[2]);
  out[2] = (p[0] * q[2] - p[1] * q[3]) + (p[2] * q[0] + p[3] * q[1]);
  out[3] = (p[0] * q[3] + p[1] * q[2]) + (-(p[2] * q[1]) + p[3] * q[0]);
}
#endif

INLINE vec plus3(vec x, vec y, vec z) { return plus(plus(x, y), z); }
INLINE vec cross(vec x, vec y) { return next(minus(each(x, next(y)), each(next(x), y))); }
/* Returns R a. R is stored by columns. */
INLINE vec turn(const vec R[3], const double a[3]) {
  return plus3(times(a[0], R[0]), times(a[1], R[1]), times(a[2], R[2]));
}
INLINE vec turn_vec(const vec R[3], vec a) {
  return plus3(times(part(a, 0), R[0]), times(part(a, 1), R[1]), times(part(a, 2), R[2]));
}
/* Returns R^T a. */
INLINE vec turn_back(const vec R[3], vec a) {
  vec rows[3] = {each(R[0], a), each(R[1], a), each(R[2], a)};
  transpose(rows);
  return plus3(rows[0], rows[1], rows[2]);
}
INLINE void load3(vec v[3], const double p[3][4]) {
  v[0] = load(p[0]);
  v[1] = load(p[1]);
  v[2] = load(p[2]);
}
INLINE void store3(double p[3][4], const vec v[3]) {
  store(p[0], v[0]);
  store(p[1], v[1]);
  store(p[2], v[2]);
}

/* --- twists and covectors, and inertias (mechanism_tree.h) --- */

typedef struct six {
  vec a, l;
} six;

INLINE six load6(const cb_six *p) { return (six){load(p->a), load(p->l)}; }
INLINE void store6(cb_six *p, six v) {
  store(p->a, v.a);
  store(p->l, v.l);
}
INLINE six none6(void) { return (six){none(), none()}; }
INLINE six plus6(six x, six y) { return (six){plus(x.a, y.a), plus(x.l, y.l)}; }
INLINE six times6(double factor, six x) { return (six){times(factor, x.a), times(factor, x.l)}; }
INLINE double dot(six x, six y) { return sum(plus(each(x.a, y.a), each(x.l, y.l))); }

typedef struct inertia {
  vec I[3], H[3], M[3];
} inertia;

INLINE void load_inertia(inertia *A, const cb_articulated *o) {
  load3(A->I, o->I);
  load3(A->H, o->H);
  load3(A->M, o->M);
}
INLINE six apply(const inertia *A, six V) {
  return (six){plus(turn_vec(A->I, V.a), turn_vec(A->H, V.l)), plus(turn_back(A->H, V.a), turn_vec(A->M, V.l))};
}
/* A -= left right^T, which is symmetric */
INLINE void subtract(six left, six right, inertia *A) {
#pragma GCC unroll 3
  for (int k = 0; k < 3; k++) {
    A->I[k] = minus(A->I[k], times(part(right.a, k), left.a));
    A->H[k] = minus(A->H[k], times(part(right.l, k), left.a));
    A->M[k] = minus(A->M[k], times(part(right.l, k), left.l));
  }
}
