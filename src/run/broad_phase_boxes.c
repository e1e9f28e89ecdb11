/* A box of coordinates about a point that no curve of a given length from there leaves.
 *
 *   |dq_i/ds| <= sqrt(g^ii(q)):   on its way out through a side of the box a curve crosses a slab of width w along that
 *   side, which takes at least the length w / max over the slab of sqrt(g^ii)
 *
 * The box grows in steps of a part of the length, each side by what its slab asks for. The maximum is taken from points
 * of a lattice, and widened by half of what it varies among them. No bound: where the metric is singular or the box
 * leaves the chart's domain.
 */
#include "geometry/numeric.h"
#include "run/broad_phase_private.h"

#include <string.h>

enum { D = CB_DIM_MAX };

/* sqrt(g^ii) at q; false outside the domain. */
static bool speeds(const cb_geometry *g, const double *q, double *speed) {
  const int n = g->dim;
  double m[D * D];
  if (cb_numeric_metric(g, q, m, NULL, NULL)) return false;
  double inverse[D];
  if (n == 1) {
    inverse[0] = 1 / m[0];
  } else if (n == 2) {
    const double det = m[0] * m[3] - m[1] * m[2];
    inverse[0] = m[3] / det;
    inverse[1] = m[0] / det;
  } else {
    const double c0 = m[4] * m[8] - m[5] * m[7], c1 = m[0] * m[8] - m[2] * m[6], c2 = m[0] * m[4] - m[1] * m[3];
    const double det = m[0] * c0 - m[1] * (m[3] * m[8] - m[5] * m[6]) + m[2] * (m[3] * m[7] - m[4] * m[6]);
    inverse[0] = c0 / det;
    inverse[1] = c1 / det;
    inverse[2] = c2 / det;
  }
  for (int i = 0; i < n; i++) {
    speed[i] = sqrt(inverse[i]);
    if (!(speed[i] < 1e150)) return false;
  }
  return true;
}

/* An upper estimate of each speed in the box; false where there is none, or it varies too much for the lattice. */
static bool greatest(const cb_geometry *g, const double *lo, const double *hi, double ratio, double *most) {
  const int n = g->dim;
  double least[D], speed[D];
  int points = 1;
  for (int i = 0; i < n; i++) {
    points *= 3;
    least[i] = INFINITY;
    most[i] = 0;
  }
  for (int k = 0; k < points; k++) {
    double q[D] = {0};
    for (int i = 0, rest = k; i < n; i++, rest /= 3) q[i] = lo[i] + 0.5 * (rest % 3) * (hi[i] - lo[i]);
    if (!speeds(g, q, speed)) return false;
    for (int i = 0; i < n; i++) {
      most[i] = fmax(most[i], speed[i]);
      least[i] = fmin(least[i], speed[i]);
    }
  }
  for (int i = 0; i < n; i++) {
    if (!(most[i] <= ratio * least[i])) return false;
    most[i] += 0.5 * (most[i] - least[i]);
  }
  return true;
}

/* In one step, of the same width on both sides. */
static bool small_box(const cb_geometry *g, const double *q, double reach, double *lo, double *hi) {
  enum { TRIES = 8 };
  double half[D], most[D];
  if (!speeds(g, q, half)) return false;
  for (int i = 0; i < g->dim; i++) half[i] *= 1.01 * reach;
  for (int k = 0; k < TRIES; k++) {
    bool enough = true;
    for (int i = 0; i < g->dim; i++) {
      lo[i] = q[i] - half[i];
      hi[i] = q[i] + half[i];
    }
    if (!greatest(g, lo, hi, 1.5, most)) return false;
    for (int i = 0; i < g->dim; i++) {
      enough &= reach * most[i] <= half[i];
      half[i] = fmax(half[i], 1.02 * reach * most[i]);
    }
    if (enough) return true;
  }
  return false;
}

/* One step of length ds from box lo, hi: each side moves by twice what its own speed asks for at first, then by what
 * the slab that it crosses does. */
static bool grow_box(const cb_geometry *g, double ds, double *lo, double *hi) {
  enum { TRIES = 12 };
  const int n = g->dim;
  double wide_lo[D], wide_hi[D], most[D], step[2 * D];
  for (int side = 0; side < 2 * n; side++) {
    const int a = side / 2;
    memcpy(wide_lo, lo, sizeof wide_lo);
    memcpy(wide_hi, hi, sizeof wide_hi);
    if (side % 2) wide_lo[a] = hi[a];
    else wide_hi[a] = lo[a];
    if (!greatest(g, wide_lo, wide_hi, INFINITY, most)) return false;
    step[side] = 1.05 * ds * most[a];
  }
  for (int k = 0; k < TRIES; k++) {
    bool enough = true;
    for (int i = 0; i < n; i++) {
      wide_lo[i] = lo[i] - step[2 * i];
      wide_hi[i] = hi[i] + step[2 * i + 1];
    }
    for (int side = 0; side < 2 * n; side++) {
      const int a = side / 2;
      double slab_lo[D], slab_hi[D];
      memcpy(slab_lo, wide_lo, sizeof slab_lo);
      memcpy(slab_hi, wide_hi, sizeof slab_hi);
      if (side % 2) slab_lo[a] = hi[a];
      else slab_hi[a] = lo[a];
      if (!greatest(g, slab_lo, slab_hi, 1e3, most)) return false;
      enough &= ds * most[a] <= step[side];
      step[side] = fmax(step[side], 1.02 * ds * most[a]);
    }
    if (enough) {
      memcpy(lo, wide_lo, (size_t)n * sizeof *lo);
      memcpy(hi, wide_hi, (size_t)n * sizeof *hi);
      return true;
    }
  }
  return false;
}

bool cb_broad_box(const cb_geometry *g, const double *q, double reach, double *lo, double *hi) {
  if (small_box(g, q, reach, lo, hi)) return true;
  for (int steps = 8; steps <= 32; steps *= 4) {
    bool grown = true;
    memcpy(lo, q, (size_t)g->dim * sizeof *lo);
    memcpy(hi, q, (size_t)g->dim * sizeof *hi);
    for (int k = 0; grown && k < steps; k++) grown = grow_box(g, reach / steps, lo, hi);
    if (grown) return true;
  }
  return false;
}
