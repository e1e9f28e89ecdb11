#include "sweep/design.h"

#include "numerics/random.h"

#include <gsl/gsl_qrng.h>
#include <math.h>
#include <stdlib.h>

size_t cb_design_most(cb_design design) {
  return design == CB_DESIGN_SOBOL    ? gsl_qrng_sobol->max_dimension
         : design == CB_DESIGN_HALTON ? gsl_qrng_halton->max_dimension
                                      : 0;
}

/* A state of its own for every axis of every stream: neighbouring numbers are far apart after two rounds. */
static uint64_t state_of(uint64_t seed, uint64_t stream, size_t axis) {
  uint64_t state = seed;
  cb_uniform(&state);
  state ^= stream * UINT64_C(0xd1342543de82ef95);
  cb_uniform(&state);
  state ^= (uint64_t)axis * UINT64_C(0xaf251af3b0f025b5);
  cb_uniform(&state);
  return state;
}

static cb_status latin(size_t count, size_t axes, uint64_t seed, uint64_t stream, double *point) {
  size_t *part = malloc(count * sizeof *part);
  if (!part) return cb_fail(CB_ERROR_MEMORY, "no memory for a design of %zu points", count);
  for (size_t a = 0; a < axes; a++) {
    uint64_t state = state_of(seed, stream, a);
    for (size_t i = 0; i < count; i++) part[i] = i;
    for (size_t i = count; i > 1; i--) {
      const size_t j = (size_t)(cb_uniform(&state) * (double)i), other = part[i - 1];
      part[i - 1] = part[j];
      part[j] = other;
    }
    for (size_t i = 0; i < count; i++)
      point[i * axes + a] = fmin(((double)part[i] + cb_uniform(&state)) / (double)count, 1 - 0x1p-53);
  }
  free(part);
  return CB_OK;
}

static cb_status sequence(const gsl_qrng_type *type, size_t count, size_t axes, uint64_t seed, uint64_t stream,
                          double *point) {
  gsl_qrng *q = gsl_qrng_alloc(type, (unsigned)axes);
  double *shift = calloc(axes + 1, sizeof *shift);
  const cb_status status = q && shift ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a design");
  for (size_t a = 0; !status && seed && a < axes; a++) {
    uint64_t state = state_of(seed, stream, a);
    shift[a] = cb_uniform(&state);
  }
  for (size_t i = 0; !status && i < count; i++) {
    gsl_qrng_get(q, point + i * axes);
    for (size_t a = 0; a < axes; a++) {
      double *x = &point[i * axes + a];
      *x += shift[a];
      if (*x >= 1) *x -= 1;
    }
  }
  if (q) gsl_qrng_free(q);
  free(shift);
  return status;
}

cb_status cb_design_points(cb_design design, size_t count, size_t axes, uint64_t seed, uint64_t stream, double *point) {
  const size_t most = cb_design_most(design);
  if (most && axes > most) return cb_fail(CB_ERROR_ARGUMENT, "%zu axes, expected at most %zu", axes, most);
  if (!axes || !count) return CB_OK;
  switch (design) {
    case CB_DESIGN_LATIN_HYPERCUBE: return latin(count, axes, seed, stream, point);
    case CB_DESIGN_SOBOL: return sequence(gsl_qrng_sobol, count, axes, seed, stream, point);
    case CB_DESIGN_HALTON: return sequence(gsl_qrng_halton, count, axes, seed, stream, point);
    case CB_DESIGN_RANDOM: break;
  }
  for (size_t a = 0; a < axes; a++) {
    uint64_t state = state_of(seed, stream, a);
    for (size_t i = 0; i < count; i++) point[i * axes + a] = cb_uniform(&state);
  }
  return CB_OK;
}
