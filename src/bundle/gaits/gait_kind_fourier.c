/* Gaits by Fourier series:
 *
 *   r(t) = a_0 + sum_k a_k cos 2 pi k t + b_k sin 2 pi k t, k = 1..harmonics.
 *
 * a_0 is the mean; a_k and b_k are rows k - 1 of cosine[harmonics][n] and sine[harmonics][n]. The powers of exp(2 pi i
 * t) are computed by repeated multiplication.
 */
#include "bundle/gait_private.h"
#include "core/failure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const cb_gait_kind_class cb_gait_kind_fourier;

static void at(const cb_gait *g, double t, double *r, double *rate) {
  const double *mean = cb_gait_own_numbers(g), *cosine = mean + g->n, *sine = cosine + g->count * g->n;
  const double turn = 2 * M_PI, angle = turn * (t - rint(t)), c1 = cos(angle), s1 = sin(angle);
  double c = 1, s = 0;
  for (int i = 0; i < g->n; i++) {
    if (r) r[i] = mean[i];
    if (rate) rate[i] = 0;
  }
  for (int k = 1; k <= g->count; k++, cosine += g->n, sine += g->n) {
    const double next = c * c1 - s * s1;
    s = s * c1 + c * s1;
    c = next;
    for (int i = 0; i < g->n; i++) {
      if (r) r[i] += cosine[i] * c + sine[i] * s;
      if (rate) rate[i] += turn * k * (sine[i] * c - cosine[i] * s);
    }
  }
}

static void write_value(const cb_gait *g, cb_text *out) {
  const double *mean = cb_gait_own_numbers(g), *cosine = mean + g->n, *sine = cosine + g->count * g->n;
  cb_text_puts(out, "{mean: ");
  cb_gait_write_numbers(out, g->n, mean);
  cb_text_puts(out, ", cosine: ");
  cb_gait_write_rows(out, g->count, g->n, cosine);
  cb_text_puts(out, ", sine: ");
  cb_gait_write_rows(out, g->count, g->n, sine);
  cb_text_puts(out, "}");
}

/* Writes the numbers of the gait to `out` (cb_gait_basis.state): 0, harmonics, mean[n], cosine[harmonics][n],
 * sine[harmonics][n]. */
static size_t state(const cb_gait *g, double *out) {
  const size_t numbers = (size_t)(g->n + 2 * g->count * g->n);
  if (!out) return 2 + numbers;
  out[0] = 0;
  out[1] = g->count;
  memcpy(out + 2, cb_gait_own_numbers(g), numbers * sizeof *out);
  return 2 + numbers;
}

cb_status cb_gait_fourier(int n, int harmonics, const double *mean, const double *cosine, const double *sine,
                          cb_gait **out) {
  cb_status status = cb_gait_check_arguments("harmonics", n, harmonics, 1, cosine);
  if (!status) status = cb_gait_check_arguments("harmonics", n, harmonics, 1, sine);
  if (!status) status = cb_gait_check_arguments("means", n, 1, 1, mean);
  if (status) return status;
  const size_t row = (size_t)n, rows = (size_t)harmonics * row;
  cb_gait *g = cb_gait_block(&cb_gait_kind_fourier, n, harmonics, 0, row + 2 * rows);
  if (!g) return cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d harmonics", harmonics);
  g->pieces = 12 * harmonics;
  memcpy(g->data, mean, row * sizeof *mean);
  memcpy(g->data + row, cosine, rows * sizeof *cosine);
  memcpy(g->data + row + rows, sine, rows * sizeof *sine);
  *out = g;
  return CB_OK;
}

/* --- the value in a scenario --- */

typedef struct fourier {
  const cb_node *mean, *cosine, *sine;
} fourier;

static cb_status read_value(const cb_bundle *b, const cb_node *map, const void *params, cb_gait **out) {
  const fourier *p = params;
  const int n = b->n;
  double a0[CB_SHAPE_MAX] = {0}, *a = NULL, *s = NULL;
  int cosines = 0, sines = 0;
  if (!p->cosine && !p->sine) return cb_node_fail(map, "expected `cosine` or `sine`: lists of harmonics 1, 2, ..");
  cb_errors errors = cb_errors_begin();
  if (p->mean) cb_errors_add(&errors, p->mean, cb_gait_read_shape(b, p->mean, "mean", a0));
  cb_errors_add(&errors, p->cosine, cb_gait_read_rows(b, p->cosine, "harmonic", &a, &cosines));
  cb_errors_add(&errors, p->sine, cb_gait_read_rows(b, p->sine, "harmonic", &s, &sines));
  cb_status status = cb_errors_end(&errors);
  const int maximum = cosines > sines ? cosines : sines;
  double *both = status ? NULL : calloc(2 * (size_t)maximum * (size_t)n, sizeof *both);
  if (!status && !both) status = cb_fail(CB_ERROR_MEMORY, "no memory for a gait of %d harmonics", maximum);
  if (!status) {
    double *c = both, *d = both + maximum * n;
    if (a) memcpy(c, a, (size_t)(cosines * n) * sizeof *c);
    if (s) memcpy(d, s, (size_t)(sines * n) * sizeof *d);
    status = cb_gait_fourier(n, maximum, a0, c, d, out);
  }
  free(a);
  free(s);
  free(both);
  return status;
}

static const cb_param params[] = {CB_GAIT_NODE(fourier, mean, "the mean shape; default 0"),
                                  CB_GAIT_NODE(fourier, cosine, "[[..], ..]: rows of harmonics 1, 2, .."),
                                  CB_GAIT_NODE(fourier, sine, "[[..], ..]: rows of harmonics 1, 2, .."),
                                  {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const cb_gait_basis basis = {write_value, state};

const cb_gait_kind_class cb_gait_kind_fourier = {.name = "fourier",
                                                 .title = "Fourier series",
                                                 .doc = "The mean, and harmonics as cosine or sine or both",
                                                 .params = params,
                                                 .params_size = sizeof(fourier),
                                                 .read = read_value,
                                                 .at = at,
                                                 .basis = &basis};
