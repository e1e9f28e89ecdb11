/* Gaits by Fourier series: r(t) = a_0 + sum_k a_k cos 2 pi k t + b_k sin 2 pi k t, k = 1..harmonics.
 *
 * cosine[harmonics][n], sine[harmonics][n]. The powers of exp(2 pi i t) by repeated multiplication.
 */
#include "bundle/gait_private.h"

#include <math.h>
#include <string.h>

static void at(const cb_gait *g, double t, double *r, double *rate) {
  const double *mean = cb_gait_numbers(g), *cosine = mean + g->n, *sine = cosine + g->count * g->n;
  const double turn = 2 * M_PI, angle = turn * (t - rint(t)), c1 = cos(angle), s1 = sin(angle);
  double c = 1, s = 0;
  for (int i = 0; i < g->n; i++) {
    if (r) r[i] = mean[i];
    if (rate) rate[i] = 0;
  }
  for (int k = 1; k <= g->count; k++, cosine += g->n, sine += g->n) {
    const double next = c * c1 - s * s1;
    s = s * c1 + c * s1, c = next;
    for (int i = 0; i < g->n; i++) {
      if (r) r[i] += cosine[i] * c + sine[i] * s;
      if (rate) rate[i] += turn * k * (sine[i] * c - cosine[i] * s);
    }
  }
}

static void write(const cb_gait *g, cb_text *out) {
  const double *mean = cb_gait_numbers(g), *cosine = mean + g->n, *sine = cosine + g->count * g->n;
  cb_text_puts(out, "{mean: ");
  cb_gait_write_numbers(out, g->n, mean);
  cb_text_puts(out, ", cosine: ");
  cb_gait_write_rows(out, g->count, g->n, cosine);
  cb_text_puts(out, ", sine: ");
  cb_gait_write_rows(out, g->count, g->n, sine);
  cb_text_puts(out, "}");
}

static const cb_gait_kind kind = {"fourier", at, write};

cb_status cb_gait_fourier(int n, int harmonics, const double *mean, const double *cosine, const double *sine,
                          cb_gait **out) {
  cb_status status = cb_gait_check("harmonics", n, harmonics, 1, cosine);
  if (!status) status = cb_gait_check("harmonics", n, harmonics, 1, sine);
  if (!status) status = cb_gait_check("means", n, 1, 1, mean);
  if (status) return status;
  const size_t row = (size_t)n, rows = (size_t)harmonics * row;
  cb_gait *g = cb_gait_block(&kind, n, harmonics, 0, row + 2 * rows);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d harmonics", harmonics);
  g->pieces = 12 * harmonics;
  memcpy(g->data, mean, row * sizeof *mean);
  memcpy(g->data + row, cosine, rows * sizeof *cosine);
  memcpy(g->data + row + rows, sine, rows * sizeof *sine);
  *out = g;
  return CB_OK;
}
