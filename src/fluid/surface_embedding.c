/* Embeds flat coordinates and surfaces into a curved space (see fluid/surface_embedding.h), and finds the middles of
 * geodesic edges. */
#include "fluid/surface_embedding.h"
#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include "fluid/surface_mesh.h"

#include <math.h>

enum { TERMS = 14 }; /* number of terms of a series; each term is at most 1/20 of the one before it */
static const double pi = 3.14159265358979323846;

double cb_surface_embedding_reach(cb_surface_embedding to) {
  const double R = 1 / sqrt(fabs(to.K));
  if (to.chart == CB_CHART_GNOMONIC) return to.K < 0 ? R : INFINITY;
  return to.K > 0 ? pi * R : INFINITY;
}

/* A function of one variable with two derivatives. */
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

/* Returns the function g(w) of fluid/surface_embedding.h, with z = 1 - w^2 = K |y|^2. Near w = 1 it is the series
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
