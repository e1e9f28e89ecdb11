/* Geodesic distance and its derivatives by chords.
 *
 *   F = <x-y, x-y>/4 = s_K(d/2)^2 in each factor,   d^2 = sum over factors of s(F)   (chord.h)
 *   F_x = I(x-y)/2 = -F_y,   F_xx = I/2 = F_yy = -F_xy,   I = diag(form)
 *
 * Never by arccos or arccosh of <x,y>, which would lose half of the digits of a short distance.
 */
#include "geometry/chord.h"
#include "geometry/quadric.h"

#include <math.h>
#include <string.h>

/* Where points that a step of an integrator has moved off the space are not looked for: cosh of the distance from the
 * base point. Nearer to it derivatives belong to the chord as a function of all coordinates. */
static const double on_the_space = 100;

/* s, s', s'' of one factor from the square of the chord. */
static cb_square square_of(cb_factor f, const double *x, const double *y, double square) {
  double cos2 = f.curvature == 0 ? 1 : 0.5 * cb_factor_antichord(f, x, y, square);
  return cb_square_of_half_chord(f.curvature, 0.25 * square, cos2);
}

double cb_distance(const cb_geometry *g, const double *x, const double *y) {
  if (g->intrinsic) {
    double d;
    return g->chart->distance(g, x, y, &d, NULL, NULL) ? NAN : d;
  }
  double e[CB_COORD_MAX], sum = 0;
  for (int f = 0; f < g->n_factors; f++) {
    int o = g->factor[f].offset;
    const double square = cb_factor_chord_of_points(g->factor[f], x + o, y + o, e);
    sum += square_of(g->factor[f], x + o, y + o, square).s;
  }
  return sqrt(sum);
}

/* Adds one factor's part of the gradient and Hessian of d^2. */
static void add_factor(const cb_geometry *g, cb_factor f, cb_square s, const double *e, double *gradient,
                       double *hessian) {
  int k = g->embedding, n = 2 * k, o = f.offset;
  for (int a = 0; a < f.count; a++) {
    double part = 0.5 * s.ds * g->form[o + a] * e[a];
    gradient[o + a] += part;
    gradient[k + o + a] -= part;
  }
  if (!hessian) return;
  for (int a = 0; a < f.count; a++)
    for (int b = 0; b < f.count; b++) {
      double form_a = g->form[o + a], form_b = g->form[o + b];
      double part = 0.25 * s.dds * form_a * e[a] * form_b * e[b] + (a == b ? 0.5 * s.ds * form_a : 0);
      int row = o + a, column = o + b;
      hessian[row * n + column] += part;
      hessian[(k + row) * n + k + column] += part;
      hessian[row * n + k + column] -= part;
      hessian[(k + row) * n + column] -= part;
    }
}

cb_status cb_distance_derivatives(const cb_geometry *g, const double *x, const double *y, double *d, double *gradient,
                                  double *hessian) {
  if (g->intrinsic) return g->chart->distance(g, x, y, d, gradient, hessian);
  int n = 2 * g->embedding;
  double e[CB_FACTOR_MAX][CB_COORD_MAX], sum = 0, h[4 * CB_COORD_MAX * CB_COORD_MAX], gr[2 * CB_COORD_MAX];
  cb_square s[CB_FACTOR_MAX];
  for (int f = 0; f < g->n_factors; f++) {
    const cb_factor factor = g->factor[f];
    const double *p = x + factor.offset, *q = y + factor.offset;
    double square = cb_factor_chord(factor, p, q, e[f]);
    if (cb_factor_beyond(factor, p, on_the_space) || cb_factor_beyond(factor, q, on_the_space))
      square = cb_factor_far_square(factor, p, q);
    s[f] = square_of(factor, p, q, square);
    sum += s[f].s;
    if (isnan(s[f].s)) return cb_fail(CB_ERROR_DOMAIN, "the distance of a point that is not finite");
    if (!isfinite(s[f].ds)) return cb_fail(CB_ERROR_DOMAIN, "the distance of antipodal points has no derivatives");
  }
  if (!(sum > 0)) return cb_fail(CB_ERROR_DOMAIN, "the distance of coincident points has no derivatives");
  memset(gr, 0, (size_t)n * sizeof *gr);
  if (hessian) memset(h, 0, (size_t)(n * n) * sizeof *h);
  for (int f = 0; f < g->n_factors; f++) add_factor(g, g->factor[f], s[f], e[f], gr, hessian ? h : NULL);
  double root = sqrt(sum);
  cb_square_root_derivatives(root, n, gr, hessian ? h : NULL);
  *d = root;
  if (gradient) memcpy(gradient, gr, (size_t)n * sizeof *gr);
  if (hessian) memcpy(hessian, h, (size_t)(n * n) * sizeof *h);
  return CB_OK;
}
