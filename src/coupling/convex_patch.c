/* The patch in which two convex hulls touch (convex.h).
 *
 * Along n each hull has a side: its vertices near the supporting plane, as a polygon in the directions t_1 and t_2
 * perpendicular to n. The polygon is that of the vertices which are farthest in 32 directions, which point a little
 * along n, so that of two vertices above each other the nearer one is taken. It is exact for polygons whose corners
 * turn by more than 2 pi/32. The patch is the intersection of both polygons: corners of one of them inside the other
 * one, and crossings of their sides. Of its points the one with the smallest gap is taken, and then up to seven that
 * are far from each other.
 */
#include "coupling/convex.h"
#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

enum { DIRECTIONS = 32, POINTS_MAX = 4 * DIRECTIONS };

/* The share of the size of a hull by which the corners of a face may be out of its plane; and the share of the smaller
 * size by which a corner of a side may be away from the supporting plane. */
static const double flat = 1e-9, near = 0.1;
/* The least distance of two points of a patch, as a share of the size. Points nearer to each other would have impulses
 * that are large differences. */
static const double apart = 0.02;
/* An end of a segment touches another segment if it is not farther beside it than this share of the size. */
static const double beside = 0.01;
/* Two segments whose angle has a larger sine than this touch each other only where they cross. */
static const double parallel = 0.05;
/* The share of a triangle by which a point may be outside of it. */
static const double inside = 1e-9;
static const double pi = 3.14159265358979323846;

typedef struct corner {
  double u[2], body[3], height; /* along t_1 and t_2; in the frame of the body; along n */
} corner;

/* A point of each hull at the same u; gap: the height of the point of b above that of a. */
typedef struct meeting {
  corner of[2];
  double gap;
} meeting;

typedef struct side {
  int n; /* counterclockwise */
  corner c[DIRECTIONS];
} side;

/* Finds the vertices of a hull within `depth` of its supporting plane along sign n. */
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
    corner *to = &out->c[out->n++];
    memcpy(to->body, cb_convex_point(of->set, best), sizeof to->body);
    for (int i = 0; i < 2; i++) to->u[i] = cb_dot3(e[i], to->body) + cb_dot3(t[i], of->x);
    to->height = cb_dot3(m, to->body) + cb_dot3(n, of->x);
  }
}

static double turn(const double a[2], const double b[2], const double c[2]) {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
}

/* Twice the area of a side. */
static double area(const side *s) {
  double sum = 0;
  for (int i = 1; i + 1 < s->n; i++) sum += turn(s->c[0].u, s->c[i].u, s->c[i + 1].u);
  return sum;
}

static void mix(const corner *a, const corner *b, double w, corner *out) {
  for (int i = 0; i < 2; i++) out->u[i] = a->u[i] + w * (b->u[i] - a->u[i]);
  for (int i = 0; i < 3; i++) out->body[i] = a->body[i] + w * (b->body[i] - a->body[i]);
  out->height = a->height + w * (b->height - a->height);
}

/* Finds the point of the hull of `s` at u, in the triangle 0, i, i + 1 that contains u; if the side is a segment, near
 * u. */
static bool find_at(const side *s, const double u[2], double distance, corner *out) {
  if (s->n == 2) {
    const double *a = s->c[0].u, *b = s->c[1].u, d[2] = {b[0] - a[0], b[1] - a[1]}, dd = d[0] * d[0] + d[1] * d[1],
                 w = ((u[0] - a[0]) * d[0] + (u[1] - a[1]) * d[1]) / dd;
    mix(&s->c[0], &s->c[1], w, out);
    return w >= 0 && w <= 1 && hypot(out->u[0] - u[0], out->u[1] - u[1]) <= distance;
  }
  for (int i = 1; i + 1 < s->n; i++) {
    const corner *a = &s->c[0], *b = &s->c[i], *c = &s->c[i + 1];
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

/* Finds the points in the intersection of both sides. */
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
      const corner *a = &s[0].c[i], *b = &s[0].c[(i + 1) % s[0].n], *c = &s[1].c[k], *d = &s[1].c[(k + 1) % s[1].n];
      const double p = turn(c->u, d->u, a->u), q = turn(c->u, d->u, b->u);
      const double v = turn(a->u, b->u, c->u), w = turn(a->u, b->u, d->u);
      if (!(p * q < 0 && v * w < 0)) continue;
      mix(a, b, p / (p - q), &out[n].of[0]);
      mix(c, d, v / (v - w), &out[n++].of[1]);
    }
  for (int i = 0; i < n; i++) out[i].gap = out[i].of[1].height - out[i].of[0].height;
  return n;
}

/* Takes the point with the smallest gap, and then again and again the one that is farthest from those that were taken,
 * at least `smallest` away. */
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

/* Returns whether n is perpendicular to a face of the hull. */
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
