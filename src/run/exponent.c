/* The sum of logarithms, in eight parts. See exponent.h. */
#include "run/exponent_private.h"

#include "numerics/random.h"

#include <math.h>

enum { PARTS = 8, FEWEST = 64 };

/* Makes |w| = 1 and returns log |w|. */
static double normalise(cb_tangent *m) {
  double square = 0;
  for (size_t i = 0; i < m->n; i++) square += m->w[i] * m->w[i];
  const double length = sqrt(square);
  for (size_t i = 0; i < m->n; i++) m->w[i] /= length;
  return log(length);
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
    if (!isfinite(growth))
      return cb_fail(CB_ERROR_STEP, "the tangent vector is lost in step %lld of %lld%s%s", k + 1, steps,
                     status ? ": " : "", status ? cb_error_text() : "");
    if (k < before) continue;
    const long long part = (k - before) * PARTS / (steps - before);
    sum[part] += growth, in_part[part]++;
  }
  out->value = 0;
  for (int i = 0; i < PARTS; i++) out->value += sum[i] / (h * (double)(steps - before));
  for (int i = 0; i < PARTS; i++) square += pow(sum[i] / (h * (double)in_part[i]) - out->value, 2);
  out->error = sqrt(square / (PARTS * (PARTS - 1)));
  return CB_OK;
}

cb_status cb_run_exponent(const cb_run *run, int body, double time, cb_exponent *out) {
  const double h = cb_run_step(run);
  if (!(time >= FEWEST * h) || !(time / h < 9e15))
    return cb_fail(CB_ERROR_ARGUMENT, "expected a time of at least %d steps of %g, found %g", FEWEST, h, time);
  cb_tangent m = {.arena = cb_arena_create()};
  if (!m.arena) return cb_fail(CB_ERROR_MEMORY, "no memory for a tangent vector");
  cb_status status = cb_run_current(run) ? cb_tangent_of_particles(run, &m) : cb_tangent_of_body(run, body, &m);
  *out = (cb_exponent){.from = cb_run_time(run), .to = cb_run_time(run) + time};
  if (!status) status = follow(&m, h, time, out);
  if (m.free) m.free(&m);
  cb_arena_free(m.arena);
  return status;
}
