/* The gap of two convex hulls (convex.h), by the algorithm of Gilbert, Johnson & Keerthi.
 *
 *   C = {y - x: x in A, y in B},  v = the point of C that is nearest to the origin,  n = v/|v|,  s = |v|
 * v is found as the point of a simplex W, whose corners are points of C: the corner z with the smallest v.z is added to
 * W, and W is reduced to the corners whose simplex has the new nearest point inside, until no corner is nearer along v.
 *   If A and B overlap or all but touch each other, C is moved by d along a normal m for which d + g(m) > 0. Then
 *   n = the normal of the nearest point of C + d m,  g(n) >= g(m)
 * and m <- n is repeated until n = m. This is an ascent to a maximum of g: max over n of g(n) + d n.m is at least g(m)
 * + d.
 */
#include "coupling/convex.h"
#include "numerics/vec3.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { STEPS_MAX = 200, MOVES_MAX = 60 };

typedef struct corner {
  double z[3], x[3], y[3]; /* z = y - x + the shift */
} corner;

typedef struct simplex {
  int n;
  corner c[4];
  double weight[4], v[3];
} simplex;

/* --- the nearest point of a simplex --- */

static void minus(const double a[3], const double b[3], double out[3]) {
  for (int i = 0; i < 3; i++) out[i] = a[i] - b[i];
}

/* These find the point of the line or the plane of the corners that is nearest to the origin, as weights of the
 * corners, and return whether it is inside. */
static bool on_segment(const corner *a, const corner *b, double w[2], double v[3]) {
  double d[3];
  minus(b->z, a->z, d);
  const double dd = cb_dot3(d, d), t = dd > 0 ? -cb_dot3(a->z, d) / dd : -1;
  w[0] = 1 - t;
  w[1] = t;
  for (int i = 0; i < 3; i++) v[i] = a->z[i] + t * d[i];
  return t > 0 && t < 1;
}

static bool on_triangle(const corner *a, const corner *b, const corner *c, double w[3], double v[3]) {
  double e[3], f[3], n[3], part[3], at[3];
  minus(b->z, a->z, e);
  minus(c->z, a->z, f);
  cb_cross3(e, f, n);
  const double nn = cb_dot3(n, n);
  if (!(nn > 1e-24 * cb_dot3(e, e) * cb_dot3(f, f))) return false;
  const double along = cb_dot3(n, a->z) / nn;
  for (int i = 0; i < 3; i++) v[i] = along * n[i];
  minus(v, a->z, at);
  cb_cross3(at, f, part);
  w[1] = cb_dot3(part, n) / nn;
  cb_cross3(e, at, part);
  w[2] = cb_dot3(part, n) / nn;
  w[0] = 1 - w[1] - w[2];
  return w[0] > 0 && w[1] > 0 && w[2] > 0;
}

/* Returns whether the origin is inside the tetrahedron. */
static bool in_tetrahedron(const corner c[4], double w[4]) {
  double sum = 0;
  for (int i = 0; i < 4; i++) {
    const double *p = c[(i + 1) & 3].z, *q = c[(i + 2) & 3].z, *r = c[(i + 3) & 3].z;
    double n[3];
    cb_cross3(q, r, n);
    w[i] = (i & 1 ? -1 : 1) * cb_dot3(p, n);
    sum += w[i];
  }
  for (int i = 0; i < 4; i++)
    if (!(w[i] / sum > 0)) return false;
  for (int i = 0; i < 4; i++) w[i] /= sum;
  return true;
}

/* Reduces the simplex to the corners whose simplex has the point nearest to the origin inside. */
static void reduce(simplex *s) {
  simplex best = {.n = 0};
  double least = INFINITY;
  for (int mask = 1; mask < 1 << s->n; mask++) {
    simplex t = {.n = 0};
    bool inside = true;
    for (int i = 0; i < s->n; i++)
      if (mask >> i & 1) t.c[t.n++] = s->c[i];
    t.weight[0] = 1;
    if (t.n == 1) memcpy(t.v, t.c[0].z, sizeof t.v);
    if (t.n == 2) inside = on_segment(&t.c[0], &t.c[1], t.weight, t.v);
    if (t.n == 3) inside = on_triangle(&t.c[0], &t.c[1], &t.c[2], t.weight, t.v);
    if (t.n == 4) inside = in_tetrahedron(t.c, t.weight);
    const double square = cb_dot3(t.v, t.v);
    if (!inside || !(square < least)) continue;
    least = square;
    best = t;
  }
  *s = best;
}

/* --- the nearest point of C --- */

static void find_corner(const cb_convex_pair *p, const double n[3], const double shift[3], corner *out) {
  cb_convex_width(p, n, out->x, out->y);
  for (int i = 0; i < 3; i++) out->z[i] = (out->y[i] - out->x[i]) + shift[i];
}

static bool has(const simplex *s, const corner *c) {
  for (int i = 0; i < s->n; i++)
    if (!memcmp(s->c[i].z, c->z, sizeof c->z)) return true;
  return false;
}

/* Finds the nearest point of C + shift; `first` is a direction in which to begin. v = 0: the origin is inside. */
static void find_nearest(const cb_convex_pair *p, const double first[3], const double shift[3], double tolerance,
                         simplex *s) {
  s->n = 1;
  find_corner(p, first, shift, &s->c[0]);
  reduce(s);
  for (int k = 0; k < STEPS_MAX && s->n < 4; k++) {
    simplex next = *s;
    const double square = cb_dot3(s->v, s->v);
    if (!(square > 0)) return;
    find_corner(p, s->v, shift, &next.c[next.n]);
    if (square - cb_dot3(s->v, next.c[next.n].z) <= tolerance * square || has(s, &next.c[next.n])) return;
    next.n++;
    reduce(&next);
    if (next.n < 4 && !(cb_dot3(next.v, next.v) < square)) return;
    *s = next;
  }
}

static void combine(const simplex *s, cb_convex_contact *out) {
  for (int i = 0; i < 3; i++) {
    out->a[i] = out->b[i] = 0;
    for (int k = 0; k < s->n; k++) {
      out->a[i] += s->weight[k] * s->c[k].x[i];
      out->b[i] += s->weight[k] * s->c[k].y[i];
    }
  }
}

/* --- sets that overlap or touch --- */

/* Finds the direction with the largest g among the line of the centres and the axes of both frames. */
static void find_start(const cb_convex_pair *p, double out[3]) {
  double best = -INFINITY, n[3], x[3], y[3];
  for (int k = 0; k < 13; k++) {
    const cb_convex_placed *of = k < 7 ? &p->a : &p->b;
    for (int i = 0; i < 3; i++)
      n[i] = k == 0 ? p->b.centre[i] - p->a.centre[i] : (k & 1 ? 1 : -1) * of->r[i][(k - 1) / 2 % 3];
    const double size = sqrt(cb_dot3(n, n));
    if (!(size > 0)) continue;
    for (int i = 0; i < 3; i++) n[i] /= size;
    const double g = cb_convex_width(p, n, x, y);
    if (!(g > best)) continue;
    best = g;
    memcpy(out, n, sizeof n);
  }
}

/* Ascends from the normal `m` to a maximum of g. */
static void ascend(const cb_convex_pair *p, double tolerance, double m[3], cb_convex_contact *out) {
  double x[3], y[3], shift[3];
  for (int k = 0; k < MOVES_MAX; k++) {
    const double g = cb_convex_width(p, m, x, y), d = fmax(-2 * g, 0) + 1e-3 * p->size;
    simplex s;
    for (int i = 0; i < 3; i++) shift[i] = d * m[i];
    find_nearest(p, m, shift, tolerance, &s);
    const double size = sqrt(cb_dot3(s.v, s.v));
    double turn = 0;
    combine(&s, out);
    for (int i = 0; i < 3; i++) {
      out->normal[i] = s.v[i] / size;
      turn = fmax(turn, fabs(out->normal[i] - m[i]));
    }
    out->gap = size - d * cb_dot3(out->normal, m);
    memcpy(m, out->normal, sizeof out->normal);
    if (turn <= fmax(tolerance, 4 * DBL_EPSILON)) return;
  }
}

void cb_convex_hulls(const cb_convex_pair *p, bool coarse, const double guess[3], cb_convex_contact *out) {
  static const double none[3] = {0, 0, 0};
  const double tolerance = coarse ? 1e-4 : 4 * DBL_EPSILON, near = (coarse ? 1e-2 : 1e-6) * p->size;
  double start[3];
  simplex s;
  memcpy(start, guess, sizeof start);
  if (!(cb_dot3(start, start) > 0)) minus(p->b.centre, p->a.centre, start);
  if (!(cb_dot3(start, start) > 0)) start[0] = 1;
  find_nearest(p, start, none, tolerance, &s);
  const double size = s.n < 4 ? sqrt(cb_dot3(s.v, s.v)) : 0;
  if (size > 1e-12 * p->size) {
    for (int i = 0; i < 3; i++) out->normal[i] = start[i] = s.v[i] / size;
    out->gap = size;
    combine(&s, out);
    if (size > near) return;
  } else if (cb_dot3(guess, guess) > 0) {
    memcpy(start, guess, sizeof start);
  } else {
    find_start(p, start);
  }
  ascend(p, tolerance, start, out);
}
