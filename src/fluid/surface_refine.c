/* Makes the same body with other faces: shapes are built again with another resolution, and in other meshes each face
 * is divided into four.
 *
 *   (a, b, c) -> (a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca),  ab the middle of a and b, in a curved space on
 *   the geodesic between them
 *
 * The first part embeds flat coordinates and surfaces into a curved space (equations: fluid/shape_surface.h), and
 * finds the middles of geodesic edges.
 */
#include "fluid/shape_surface.h"

#include "fluid/surface_mesh.h"
#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TERMS = 14 }; /* number of terms of a series; each term is at most 1/20 of the previous one */
static const double pi = 3.14159265358979323846;

double cb_surface_embedding_reach(cb_surface_embedding to) {
  const double R = 1 / sqrt(fabs(to.K));
  if (to.chart == CB_CHART_GNOMONIC) return to.K < 0 ? R : INFINITY;
  return to.K > 0 ? pi * R : INFINITY;
}

/* The value of a function of one variable, and its first and second derivative. */
typedef struct taylor {
  double f, df, ddf;
} taylor;

static cb_jet of(const cb_jet *a, taylor t) { return cb_jet_compose(a, t.f, t.df, t.ddf); }

/* Returns s_K(r)/r as a function of q = r^2, with the sine s_K of the space (numerics/numerics_curved.h). */
static taylor sine(double K, double q) {
  if (fabs(K * q) > 0.2) {
    const cb_trig t = cb_trig_of(K);
    const double r = sqrt(q), f = cb_trig_sinc(t, r), df = (cb_trig_c(t, r) - f) / (2 * q);
    return (taylor){f, df, (-K * f / 2 - 3 * df) / (2 * q)};
  }
  taylor sum = {0};
  double term[TERMS] = {1};
  for (int n = 1; n < TERMS; n++) term[n] = -term[n - 1] * K / (2 * n * (2 * n + 1));
  for (int n = TERMS - 1; n >= 0; n--) {
    sum.f = sum.f * q + term[n];
    if (n >= 1) sum.df = sum.df * q + n * term[n];
    if (n >= 2) sum.ddf = sum.ddf * q + n * (n - 1) * term[n];
  }
  return sum;
}

/* Returns c_K(r) as a function of q = r^2, with the cosine c_K of the space. */
static taylor cosine(double K, double q) {
  const taylor s = sine(K, q);
  return (taylor){cb_trig_c(cb_trig_of(K), sqrt(q)), -K * s.f / 2, -K * s.df / 2};
}

/* Returns the function g(w) of fluid/shape_surface.h, with z = 1 - w^2 = K |y|^2. Near w = 1 it is the series
 * sum n!/(2n + 1)!! (1 - w)^n. */
static taylor ratio(double z, double w) {
  const double u = z / (1 + w);
  if (fabs(u) > 0.1 || w < 0) {
    const double root = sqrt(fabs(z)), f = (z > 0 ? atan2(root, w) : asinh(root)) / root, df = (w * f - 1) / z;
    return (taylor){f, df, (3 * w * df + f) / z};
  }
  taylor sum = {0};
  double term[TERMS] = {1};
  for (int n = 1; n < TERMS; n++) term[n] = term[n - 1] * n / (2 * n + 1);
  for (int n = TERMS - 1; n >= 0; n--) {
    sum.f = sum.f * u + term[n];
    if (n >= 1) sum.df = sum.df * u - n * term[n];
    if (n >= 2) sum.ddf = sum.ddf * u + n * (n - 1) * term[n];
  }
  return sum;
}

static cb_jet dot(const cb_jet a[3], const cb_jet b[3]) {
  cb_jet sum = cb_jet_mul(&a[0], &b[0]);
  for (int i = 1; i < 3; i++) {
    const cb_jet term = cb_jet_mul(&a[i], &b[i]);
    sum = cb_jet_add(&sum, &term);
  }
  return sum;
}

static void scale(const cb_jet *factor, cb_jet x[3]) {
  for (int i = 0; i < 3; i++) x[i] = cb_jet_mul(factor, &x[i]);
}

/* Turns normal coordinates x into the point (x, w). */
static void point(double K, cb_jet x[3], cb_jet *w) {
  const cb_jet q = dot(x, x), s = of(&q, sine(K, q.v));
  *w = of(&q, cosine(K, q.v));
  scale(&s, x);
}

static void normal(double K, const cb_jet *w, cb_jet x[3]) {
  const double y[3] = {x[0].v, x[1].v, x[2].v};
  const cb_jet g = of(w, ratio(K * cb_dot3(y, y), w->v));
  scale(&g, x);
}

/* Moves the point (x, w) by the transvection from the origin to (p, p_w), the point of `shift`:
 * x becomes x + p (w - K p.x/(1 + p_w)), and w becomes p_w w - K p.x. */
static void carry(double K, const cb_jet shift[3], cb_jet x[3], cb_jet *w) {
  cb_jet p[3] = {shift[0], shift[1], shift[2]}, pw;
  point(K, p, &pw);
  cb_jet along = dot(p, x);
  along = cb_jet_scale(&along, K);
  const cb_jet below = cb_jet_shift(&pw, 1), part = cb_jet_div(&along, &below), factor = cb_jet_sub(w, &part),
               product = cb_jet_mul(&pw, w);
  for (int i = 0; i < 3; i++) {
    const cb_jet more = cb_jet_mul(&factor, &p[i]);
    x[i] = cb_jet_add(&x[i], &more);
  }
  *w = cb_jet_sub(&product, &along);
}

bool cb_surface_embedding_shifts(double K, const cb_jet shift[3]) {
  const double v[3] = {shift[0].v, shift[1].v, shift[2].v}, square = cb_dot3(v, v);
  return isfinite(square) && !(K * square >= pi * pi);
}

void cb_surface_embedding_jets(cb_surface_embedding to, const cb_jet shift[3], cb_jet x[3]) {
  const double at[3] = {x[0].v, x[1].v, x[2].v};
  cb_jet w;
  if (to.K == 0) {
    for (int i = 0; shift && i < 3; i++) x[i] = cb_jet_add(&x[i], &shift[i]);
    return;
  }
  if (!(sqrt(cb_dot3(at, at)) < cb_surface_embedding_reach(to)) ||
      (shift && !cb_surface_embedding_shifts(to.K, shift))) {
    for (int i = 0; i < 3; i++) x[i] = cb_jet_constant(x[i].n, NAN);
    return;
  }
  if (to.chart == CB_CHART_GNOMONIC) {
    const cb_jet q = dot(x, x);
    const double below = 1 + to.K * q.v, f = 1 / sqrt(below), df = -to.K * f / (2 * below);
    w = of(&q, (taylor){f, df, -1.5 * to.K * df / below});
    scale(&w, x);
  } else if (shift) {
    point(to.K, x, &w);
  } else {
    return;
  }
  if (shift) carry(to.K, shift, x, &w);
  normal(to.K, &w, x);
}

void cb_surface_embedding_point(cb_surface_embedding to, const double x[3], double v[3]) {
  cb_jet at[3];
  for (int i = 0; i < 3; i++) at[i] = cb_jet_constant(0, x[i]);
  cb_surface_embedding_jets(to, NULL, at);
  for (int i = 0; i < 3; i++) v[i] = at[i].v;
}

/* Embeds a flat surface into a curved space, and finds the middles of its geodesic edges. */

cb_status cb_surface_embed(cb_surface *s, double K, cb_surface_chart chart) {
  const cb_surface_embedding to = {K, chart};
  if (!isfinite(K))
    return cb_fail(CB_ERROR_ARGUMENT, "a surface in a curved space: expected a finite curvature, found %g", K);
  if (s->curvature != 0)
    return cb_fail(CB_ERROR_ARGUMENT, "the surface is already in a space of curvature %g: expected a flat surface",
                   s->curvature);
  if (K == 0) return CB_OK;
  const double reach = cb_surface_embedding_reach(to);
  for (int v = 0; v < s->vertices; v++) {
    const double *x = s->x[v], far = sqrt(cb_dot3(x, x));
    if (!(far < reach))
      return cb_fail(CB_ERROR_DOMAIN,
                     "vertex %d at (%g, %g, %g) is %g from the origin: the %s chart of the space of curvature %g "
                     "expects distances below %g",
                     s->number[v], x[0], x[1], x[2], far, chart == CB_CHART_GNOMONIC ? "gnomonic" : "exponential", K,
                     reach);
  }
  for (int v = 0; v < s->vertices; v++) {
    const double x[3] = {s->x[v][0], s->x[v][1], s->x[v][2]};
    cb_surface_embedding_point(to, x, s->x[v]);
  }
  s->curvature = K;
  ((cb_surface_owned *)s)->chart = chart;
  return CB_OK;
}

void cb_surface_middle(double K, const double a[3], const double b[3], double out[3]) {
  double p[4], q[4];
  for (int i = 0; i < 3; i++) out[i] = 0.5 * (a[i] + b[i]);
  if (K == 0) return;
  cb_curved_point(K, a, p);
  cb_curved_point(K, b, q);
  for (int i = 0; i < 4; i++) p[i] += q[i];
  const double root = sqrt(p[3] * p[3] + K * cb_dot3(p, p));
  for (int i = 0; i < 4; i++) p[i] /= root;
  cb_curved_normal(K, p, out);
}

/* --- other faces --- */

enum { LEAST = 8, MAXIMUM = 4000 }; /* smallest and largest resolution */

static int *resolution_of(const cb_surface_owned *o, void *params) {
  return (int *)(void *)((char *)params + o->resolution);
}

bool cb_surface_is_shape(const cb_surface *s) { return ((const cb_surface_owned *)s)->shape; }

int cb_surface_coarser(const cb_surface *s) {
  const cb_surface_owned *o = (const cb_surface_owned *)s;
  int level = 0;
  if (!o->shape) return 0;
  /* r can be halved only if a quarter turn then still has an integer number of faces (cb_shape_quarter) */
  for (int r = *resolution_of(o, o->params); r % 8 == 0 && r / 2 >= LEAST; r /= 2) level++;
  return level;
}

static cb_status make_again(const cb_surface_owned *o, int level, cb_surface **out) {
  cb_surface *made = NULL;
  const int was = *resolution_of(o, o->params);
  if (level > 0 && was > (MAXIMUM >> level))
    return cb_fail(CB_ERROR_ARGUMENT, "the shape %s has a resolution of %d: expected at most %d", o->shape->name, was,
                   MAXIMUM);
  void *params = malloc(o->shape->params_size);
  if (!params) return cb_fail(CB_ERROR_MEMORY, "no memory for the shape %s", o->shape->name);
  memcpy(params, o->params, o->shape->params_size);
  *resolution_of(o, params) = level > 0 ? was << level : was >> -level;
  cb_status status = o->shape->make(params, &made);
  free(params);
  if (status) return status;
  cb_surface_scale(made, o->scale);
  status = cb_surface_embed(made, o->surface.curvature, o->chart);
  if (status)
    cb_surface_free(made);
  else
    *out = made;
  return status;
}

typedef struct fine {
  double (*x)[3];
  /* middle[faces][3]: the numbers of the new vertices at the middles of the sides of each face */
  int (*face)[3], *part, (*middle)[3];
  int vertices;
} fine;

static bool take(const cb_surface *s, fine *m) {
  const size_t n = (size_t)s->faces;
  m->x = malloc(((size_t)s->vertices + 3 * n) * sizeof *m->x);
  m->face = malloc(4 * n * sizeof *m->face);
  m->part = malloc(4 * n * sizeof *m->part);
  m->middle = malloc(n * sizeof *m->middle);
  m->vertices = s->vertices;
  return m->x && m->face && m->part && m->middle;
}

static void put_middles(const cb_surface *s, const cb_side *side, fine *m) {
  const size_t n = 3 * (size_t)s->faces;
  memcpy(m->x, s->x, (size_t)s->vertices * sizeof *m->x);
  for (size_t i = 0, end; i < n; i = end) {
    end = cb_sides_same(side, n, i, NULL);
    cb_surface_middle(s->curvature, s->x[side[i].lo], s->x[side[i].hi], m->x[m->vertices]);
    for (size_t j = i; j < end; j++) {
      const int *f = s->face[side[j].face], from = side[j].forward ? side[j].lo : side[j].hi;
      m->middle[side[j].face][f[0] == from ? 0 : f[1] == from ? 1 : 2] = m->vertices;
    }
    m->vertices++;
  }
}

static void put_faces(const cb_surface *s, fine *m) {
  for (int f = 0; f < s->faces; f++) {
    const int *c = s->face[f], *d = m->middle[f];
    const int four[4][3] = {{c[0], d[0], d[2]}, {d[0], c[1], d[1]}, {d[2], d[1], c[2]}, {d[0], d[1], d[2]}};
    memcpy(m->face[4 * f], four, sizeof four);
    for (int i = 0; i < 4; i++) m->part[4 * f + i] = s->part[f];
  }
}

static cb_status divide(const cb_surface *s, cb_surface **out) {
  fine m = {0};
  if (s->faces > INT_MAX / 24)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the mesh has %d faces, too many to divide each into four: expected a coarser mesh", s->faces);
  cb_side *side = cb_sides_sorted(s->vertices, s->faces, (const int(*)[3])s->face, NULL);
  cb_status status = side && take(s, &m) ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for %d faces", 4 * s->faces);
  if (!status) {
    put_middles(s, side, &m);
    put_faces(s, &m);
    status = cb_surface_build(m.vertices, (const double(*)[3])m.x, 4 * s->faces, (const int(*)[3])m.face, m.part,
                              (const char *const *)s->name, out);
  }
  if (!status) (*out)->curvature = s->curvature;
  free(side);
  free(m.x);
  free(m.face);
  free(m.part);
  free(m.middle);
  return status;
}

cb_status cb_surface_at_level(const cb_surface *s, int level, cb_surface **out) {
  const cb_surface_owned *o = (const cb_surface_owned *)s;
  if (o->shape) return make_again(o, level, out);
  cb_surface *last = NULL;
  cb_status status = CB_OK;
  if (level == 0) {
    status = cb_surface_build(s->vertices, (const double(*)[3])s->x, s->faces, (const int(*)[3])s->face, s->part,
                              (const char *const *)s->name, out);
    if (!status) (*out)->curvature = s->curvature;
    return status;
  }
  for (int l = 0; l < level && !status; l++) {
    cb_surface *next = NULL;
    status = divide(last ? last : s, &next);
    cb_surface_free(last);
    last = next;
  }
  if (!status) *out = last;
  return status;
}

cb_status cb_surface_with_faces(const cb_surface *s, int faces, cb_surface **out) {
  cb_status status = CB_OK;
  *out = NULL;
  if (faces == s->faces || (s->curvature == 0 && !cb_surface_is_shape(s))) return CB_OK;
  for (int level = -cb_surface_coarser(s); !status && !*out; level++) {
    status = cb_surface_at_level(s, level, out);
    if (status || (*out)->faces == faces) break;
    const bool past = (*out)->faces > faces;
    cb_surface_free(*out);
    *out = NULL;
    if (past) break;
  }
  return status;
}
