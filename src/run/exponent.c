/* The largest Lyapunov exponent: one step maps a tangent vector, and the exponent is the mean
 * growth rate of the logarithm of its length. The definition is in exponent.h. */
#include "run/exponent.h"
#include "numerics/random.h"
#include "run/run_private.h"

#include <math.h>
#include <string.h>

/* --- the sum of logarithms --- */

/* PARTS: the number of parts of the time; FEWEST: the smallest number of steps; SHIFTS: the number of times s that
 * take_out_powers tries; LOST: the largest |log |w|| after one step. In a step that resolves a smooth motion, |w|
 * changes by less than the factor exp(2). */
enum { PARTS = 8, FEWEST = 64, SHIFTS = 80, LOST = 2 };

/* Makes |w| = 1 and returns log |w|. */
static double normalise(cb_tangent *m) {
  double square = 0;
  for (size_t i = 0; i < m->n; i++) square += m->w[i] * m->w[i];
  const double length = sqrt(square);
  for (size_t i = 0; i < m->n; i++) m->w[i] /= length;
  return log(length);
}

/* Fits log|w| = lambda t + p log f(t) + c by least squares to the values y of log|w| at the ends t of the parts. Sets
 * *lambda and p = *power, and returns the root mean square residual; INFINITY if the equations are singular. */
static double fit(const double t[PARTS + 1], const double y[PARTS + 1], const double log_f[PARTS + 1], double *lambda,
                  double *power) {
  double a[3][4] = {{0}}, left = 0;
  *lambda = *power = 0;
  for (int i = 0; i <= PARTS; i++) {
    const double row[4] = {t[i], log_f[i], 1, y[i]};
    for (int r = 0; r < 3; r++)
      for (int c = 0; c < 4; c++) a[r][c] += row[r] * row[c];
  }
  for (int r = 0; r < 3;
       r++) { /* Gauss-Jordan elimination: the matrix is symmetric, and positive definite if it is not singular */
    if (!(a[r][r] > 0)) return INFINITY;
    for (int q = 0; q < 3; q++) {
      const double factor = a[q][r] / a[r][r];
      for (int c = r; c < 4 && q != r; c++) a[q][c] -= factor * a[r][c];
    }
  }
  *lambda = a[0][3] / a[0][0];
  *power = a[1][3] / a[1][1];
  for (int i = 0; i <= PARTS; i++) {
    const double d = *lambda * t[i] + *power * log_f[i] + a[2][3] / a[2][2] - y[i];
    left += d * d / (PARTS + 1);
  }
  return sqrt(left);
}

/* Neighbouring free motions separate as a power of the time t. For them a mean of rates would report an exponent of
 * about log(t)/t. Therefore the growth of |w| is compared with f(t)^p. If it fits to 1 %, and an exponential explains
 * less than a tenth of the growth, the exponent is 0 and its error is the rate of the last part. Chaotic motion
 * fluctuates by more than 1 %.
 * For some tau and s, f is either 1 + t/tau, with p > 1/2, or sqrt((t - s)^2 + tau^2), with p within 0.1 of 1; the
 * second f is the length of a vector that is linear in t. */
static void take_out_powers(double before, const double sum[PARTS], const long long in_part[PARTS], double h,
                            cb_exponent *out) {
  double t[PARTS + 1] = {before}, y[PARTS + 1] = {0}, least = INFINITY, lambda = 0, power = 0;
  for (int i = 0; i < PARTS; i++) {
    t[i + 1] = t[i] + h * (double)in_part[i];
    y[i + 1] = y[i] + sum[i];
  }
  const double grown = y[PARTS], time = t[PARTS] - t[0];
  bool linear = false;
  for (double tau = t[PARTS] / 1024; tau < 2 * t[PARTS]; tau *= 1.25)
    for (int k = -1; k <= SHIFTS; k++) {
      double own = 0, of = 0, log_f[PARTS + 1];
      for (int i = 0; i <= PARTS; i++)
        log_f[i] = k < 0 ? log1p(t[i] / tau) : log(hypot(t[i] - t[PARTS] * (k / (0.5 * SHIFTS) - 1), tau));
      const double left = fit(t, y, log_f, &own, &of);
      if (k >= 0) {
        linear = linear || (left < 0.01 * grown && fabs(of - 1) < 0.1 && fabs(own) * time < 0.1 * grown);
      } else if (left < least) {
        least = left;
        lambda = own;
        power = of;
      }
    }
  const bool as_power = least < 0.01 * grown && power > 0.5 && fabs(lambda) * time < 0.1 * grown;
  if (!(grown > 0) || !(linear || as_power)) return;
  out->value = 0;
  out->error = fabs(sum[PARTS - 1]) / (h * (double)in_part[PARTS - 1]);
}

static cb_status follow(cb_tangent *m, double h, double time, cb_exponent *out) {
  const long long steps = llround(time / h), before = steps / 10;
  double sum[PARTS] = {0}, square = 0;
  long long in_part[PARTS] = {0}, k = 0;
  uint64_t seed = 1;
  for (size_t i = 0; i < m->n; i++) m->w[i] = cb_uniform(&seed) - 0.5;
  normalise(m);
  for (; k < steps; k++) {
    const cb_status status = m->step(m, h);
    if (status < 0) return status;
    const double growth = status ? NAN : normalise(m);
    if (!(fabs(growth) < LOST))
      return cb_fail(CB_ERROR_STEP, "the tangent vector could not be computed in step %lld of %lld%s%s", k + 1, steps,
                     status ? ": " : "", status ? cb_error_text() : "");
    if (k < before) continue;
    const long long part = (k - before) * PARTS / (steps - before);
    sum[part] += growth;
    in_part[part]++;
  }
  out->value = 0;
  for (int i = 0; i < PARTS; i++) out->value += sum[i] / (h * (double)(steps - before));
  for (int i = 0; i < PARTS; i++) square += pow(sum[i] / (h * (double)in_part[i]) - out->value, 2);
  out->error = sqrt(square / (PARTS * (PARTS - 1)));
  take_out_powers(h * (double)before, sum, in_part, h, out);
  return CB_OK;
}

cb_status cb_run_exponent(const cb_run *run, int body, double time, cb_exponent *out) {
  const double h = cb_run_step(run);
  if (!(time >= FEWEST * h) || !(time / h < 9e15))
    return cb_fail(CB_ERROR_ARGUMENT, "expected a time of at least %d steps of %g, found %g", FEWEST, h, time);
  cb_tangent m = {.arena = cb_arena_create()};
  if (!m.arena) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  cb_status status = run->motion->tangent
                         ? run->motion->tangent(run, body, &m)
                         : cb_fail(CB_ERROR_UNSUPPORTED, "the Lyapunov exponent is not available for this motion");
  *out = (cb_exponent){.from = cb_run_time(run), .to = cb_run_time(run) + time};
  if (!status) status = follow(&m, h, time, out);
  out->shared = m.shared;
  if (m.free) m.free(&m);
  cb_arena_free(m.arena);
  return status;
}
