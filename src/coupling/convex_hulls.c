/* The gap of two convex hulls (convex.h), by the algorithm of Gilbert, Johnson & Keerthi.
 *
 *   C = {y - x: x in A, y in B},  v = the point of C that is nearest to the origin,  n = v/|v|,  s = |v|
 * v is found as the point of a simplex W, whose corners are points of C. In each step the corner z of C with the
 * smallest v.z is added to W, v becomes the point of W that is nearest to the origin, and corners that v does not need
 * are removed from W. The iteration ends when no corner of C is nearer along v.
 *   If A and B overlap or are very close, C is moved by d along a normal m for which d + g(m) > 0. Then
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
  double z[3], x[3], y[3]; /* x, y: vertices of A and B; z: the corner y - x of C, or of C moved by d m */
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

/* These functions find the point of the line or of the plane through the corners z that is nearest to the origin. The
 * point is v = sum w z, with the weights w of the corners. They return whether it is inside the segment or triangle. */
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

/* Returns whether the origin is inside the tetrahedron c. If so, w becomes its barycentric coordinates. */
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

/* Reduces the simplex to those corners whose segment or triangle contains, in its inside, the point of the simplex that
 * is nearest to the origin. */
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

/* Finds the point of C + shift that is nearest to the origin; `first` is the direction with which the search begins. If
 * the origin is inside, v is 0. */
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

/* Finds a maximum of g by the ascent m <- n of the file header, which starts at the given normal m. */
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

/* --- the patch in which two hulls touch ---
 *
 * The patch in which two convex hulls touch (convex.h).
 *
 * Along n each hull has a side: its vertices near the supporting plane, as a polygon in the directions t_1 and t_2
 * perpendicular to n. The corners of this polygon are the vertices that are farthest in 32 directions. These directions
 * are inclined towards the other body, so that of two vertices at the same place of the plane the one nearer to that
 * body is taken. The polygon is exact if the direction of its sides changes by more than 2 pi/32 at each corner. The
 * patch is the intersection of the two polygons. Its points are the corners of one polygon inside the other one, and
 * the crossings of their sides. Of these points the one with the smallest gap is taken, and then up to seven others
 * that are far from each other.
 */

enum { DIRECTIONS = 32, POINTS_MAX = 4 * DIRECTIONS };

/* flat: how far the corners of a face may be out of its plane, relative to the size of the hull. near: how far the
 * points of a side may be away from the supporting plane, relative to the size of the smaller hull. */
static const double flat = 1e-9, near = 0.1;
/* The smallest distance of two points of a patch, relative to the size of the smaller body. If points were nearer to
 * each other, their impulses would be large numbers of opposite sign. */
static const double apart = 0.02;
/* An end of a segment touches another segment only if their distance is at most this share of the size of the smaller
 * body. */
static const double beside = 0.01;
/* Two segments whose angle has a larger sine than this touch each other only where they cross. */
static const double parallel = 0.05;
/* A point counts as inside a triangle if no barycentric coordinate is below minus this number. */
static const double inside = 1e-9;
static const double pi = 3.14159265358979323846;

typedef struct place {
  /* u: coordinates along t_1 and t_2; body: the same point in the frame of the body; height: coordinate along n */
  double u[2], body[3], height;
} place;

/* Two points, one of each hull, with the same coordinates u perpendicular to n. gap: the height, along n, of the point
 * of b above that of a. */
typedef struct meeting {
  place of[2];
  double gap;
} meeting;

typedef struct side {
  int n; /* number of corners, which are in counterclockwise order */
  place c[DIRECTIONS];
} side;

/* Finds corners of the side of a hull in the direction sign * n: vertices whose distance from the supporting plane in
 * this direction is at most `depth`. */
static void find_side(const cb_convex_placed *of, const double n[3], double sign, const double t[2][3], double depth,
                      side *out) {
  double m[3], e[2][3], highest = -INFINITY;
  int last = -1, first = -1;
  cb_apply3_transposed(of->r, n, m);
  for (int k = 0; k < 2; k++) cb_apply3_transposed(of->r, t[k], e[k]);
  for (int i = 0; i < of->set->n; i++) highest = fmax(highest, sign * cb_dot3(m, cb_convex_point(of->set, i)));
  out->n = 0;
  for (int k = 0; k < DIRECTIONS; k++) {
    const double c = cos(2 * pi * (k + .25) / DIRECTIONS), s = sin(2 * pi * (k + .25) / DIRECTIONS);
    double most = -INFINITY;
    int best = -1;
    for (int i = 0; i < of->set->n; i++) {
      const double *x = cb_convex_point(of->set, i), height = sign * cb_dot3(m, x),
                   along = c * cb_dot3(e[0], x) + s * cb_dot3(e[1], x) + height / 2;
      if (height < highest - depth || !(along > most)) continue;
      most = along;
      best = i;
    }
    if (best == last || best == first) continue;
    last = best;
    if (first < 0) first = best;
    place *to = &out->c[out->n++];
    memcpy(to->body, cb_convex_point(of->set, best), sizeof to->body);
    for (int i = 0; i < 2; i++) to->u[i] = cb_dot3(e[i], to->body) + cb_dot3(t[i], of->x);
    to->height = cb_dot3(m, to->body) + cb_dot3(n, of->x);
  }
}

static double turn(const double a[2], const double b[2], const double c[2]) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Returns twice the area of the polygon of a side. */
static double area(const side *s) {
  double sum = 0;
  for (int i = 1; i + 1 < s->n; i++) sum += turn(s->c[0].u, s->c[i].u, s->c[i + 1].u);
  return sum;
}

static void mix(const place *a, const place *b, double w, place *out) {
  for (int i = 0; i < 2; i++) out->u[i] = a->u[i] + w * (b->u[i] - a->u[i]);
  for (int i = 0; i < 3; i++) out->body[i] = a->body[i] + w * (b->body[i] - a->body[i]);
  out->height = a->height + w * (b->height - a->height);
}

/* Finds the point of the side `s` at the place u, in the triangle (0, i, i + 1) of corners that contains u. If the side
 * is a segment, finds its point nearest to u, which must be at most `distance` away. Returns whether there is such a
 * point. */
static bool find_at(const side *s, const double u[2], double distance, place *out) {
  if (s->n == 2) {
    const double *a = s->c[0].u, *b = s->c[1].u, d[2] = {b[0] - a[0], b[1] - a[1]}, dd = d[0] * d[0] + d[1] * d[1],
                 w = ((u[0] - a[0]) * d[0] + (u[1] - a[1]) * d[1]) / dd;
    mix(&s->c[0], &s->c[1], w, out);
    return w >= 0 && w <= 1 && hypot(out->u[0] - u[0], out->u[1] - u[1]) <= distance;
  }
  for (int i = 1; i + 1 < s->n; i++) {
    const place *a = &s->c[0], *b = &s->c[i], *c = &s->c[i + 1];
    const double whole = turn(a->u, b->u, c->u), q = turn(a->u, u, c->u) / whole, r = turn(a->u, b->u, u) / whole;
    if (!(q >= -inside && r >= -inside && q + r <= 1 + inside)) continue;
    memcpy(out->u, u, sizeof out->u);
    for (int k = 0; k < 3; k++)
      out->body[k] = a->body[k] + q * (b->body[k] - a->body[k]) + r * (c->body[k] - a->body[k]);
    out->height = a->height + q * (b->height - a->height) + r * (c->height - a->height);
    return true;
  }
  return false;
}

/* Returns whether both sides are segments that are nearly parallel. */
static bool are_parallel(const side s[2]) {
  double d[2][2];
  if (s[0].n != 2 || s[1].n != 2) return false;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < 2; i++) d[k][i] = s[k].c[1].u[i] - s[k].c[0].u[i];
  return fabs(d[0][0] * d[1][1] - d[0][1] * d[1][0]) <= parallel * hypot(d[0][0], d[0][1]) * hypot(d[1][0], d[1][1]);
}

/* Finds the corners of the intersection of both sides, and returns their number. */
static int intersect(const side s[2], double distance, meeting out[POINTS_MAX]) {
  const double reach = are_parallel(s) ? distance : 0;
  int n = 0;
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < s[k].n; i++) {
      out[n].of[k] = s[k].c[i];
      n += find_at(&s[!k], s[k].c[i].u, reach, &out[n].of[!k]);
    }
  for (int i = 0; i < s[0].n && s[0].n > 1; i++)
    for (int k = 0; k < s[1].n && s[1].n > 1 && n < POINTS_MAX; k++) {
      const place *a = &s[0].c[i], *b = &s[0].c[(i + 1) % s[0].n], *c = &s[1].c[k], *d = &s[1].c[(k + 1) % s[1].n];
      const double p = turn(c->u, d->u, a->u), q = turn(c->u, d->u, b->u);
      const double v = turn(a->u, b->u, c->u), w = turn(a->u, b->u, d->u);
      if (!(p * q < 0 && v * w < 0)) continue;
      mix(a, b, p / (p - q), &out[n].of[0]);
      mix(c, d, v / (v - w), &out[n++].of[1]);
    }
  for (int i = 0; i < n; i++) out[i].gap = out[i].of[1].height - out[i].of[0].height;
  return n;
}

/* Takes the point with the smallest gap. Then it repeatedly takes the point that is farthest from the points taken so
 * far, as long as its distance from them is above `smallest`. */
static int choose(int n, const meeting *m, double smallest, const meeting *chosen[CB_PATCH_POINTS]) {
  int count = 1;
  chosen[0] = &m[0];
  for (int i = 1; i < n; i++)
    if (m[i].gap < chosen[0]->gap) chosen[0] = &m[i];
  for (; count < CB_PATCH_POINTS; count++) {
    double most = smallest;
    for (int i = 0; i < n; i++) {
      double least = INFINITY;
      for (int k = 0; k < count; k++) {
        const double *u = chosen[k]->of[0].u;
        least = fmin(least, hypot(m[i].of[0].u[0] - u[0], m[i].of[0].u[1] - u[1]));
      }
      if (!(least > most)) continue;
      most = least;
      chosen[count] = &m[i];
    }
    if (most == smallest) break;
  }
  return count;
}

/* Returns whether the hull has a face whose outward normal is sign * n, up to the tolerance `flat`. */
static bool has_face(const cb_convex_placed *of, const double n[3], double sign, const double t[2][3]) {
  const double size = of->set->bound;
  side face;
  find_side(of, n, sign, t, flat * size, &face);
  return face.n > 2 && area(&face) > 1e-6 * size * size;
}

void cb_convex_find_patch(const cb_convex *a, const cb_pose *ga, const cb_convex *b, const cb_pose *gb,
                          const double normal[3], cb_convex_patch *out) {
  const double across[3] = {fabs(normal[0]) < 0.6, fabs(normal[0]) >= 0.6, 0};
  const double size = fmin(a->bound, b->bound);
  double t[2][3];
  cb_convex_placed of[2];
  side s[2];
  meeting point[POINTS_MAX + 1];
  const meeting *chosen[CB_PATCH_POINTS];
  out->n = 0;
  if (a->n < 2 || b->n < 2) return;
  cb_cross3(normal, across, t[0]);
  const double length = sqrt(cb_dot3(t[0], t[0]));
  for (int i = 0; i < 3; i++) t[0][i] /= length;
  cb_cross3(normal, t[0], t[1]);
  cb_convex_place(a, ga, &of[0]);
  cb_convex_place(b, gb, &of[1]);
  for (int k = 0; k < 2; k++) find_side(&of[k], normal, k ? -1 : 1, (const double(*)[3])t, near * size, &s[k]);
  const int n = intersect(s, beside * size, point), count = n ? choose(n, point, apart * size, chosen) : 0;
  if (count < 2) return;
  out->n = count;
  out->on_b =
      !has_face(&of[0], normal, 1, (const double(*)[3])t) && has_face(&of[1], normal, -1, (const double(*)[3])t);
  const int plane = out->on_b;
  cb_apply3_transposed(of[plane].r, normal, out->normal);
  for (int i = 0; i < count; i++) {
    out->level[i] = cb_dot3(out->normal, chosen[i]->of[plane].body) + (plane ? -1 : 1) * (a->radius + b->radius);
    memcpy(out->point[i], chosen[i]->of[!plane].body, sizeof out->point[i]);
  }
}
