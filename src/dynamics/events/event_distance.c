/* The event that the distance d of the particles at x_i and x_j reaches the value D = `equals`: s = d(x_i, x_j) - D.
 * Distances and their derivatives are those of geometry/origin.h, and gap_second_derivative_bound.c bounds |s''|. Where
 * two particles coincide, or are antipodal, d has a kink, and its gradient is set to 0. Lengths are in units of the
 * scenario. */
#include "dynamics/builder_private.h"
#include "dynamics/gap_class.h"

#include <math.h>
#include <string.h>

typedef struct distance {
  double equals;
} distance;

static const cb_param params[] = {{"equals", CB_PARAM_REAL, offsetof(distance, equals), NULL, "units of length", "> 0",
                                   NULL, "the distance at which the event happens"},
                                  {0}};

static cb_status init(void *of, const cb_space *space, cb_builder *b) {
  (void)b;
  const distance *p = of;
  const cb_status status = cb_builder_check_distances(space, "event");
  if (!status && (!(p->equals > 0) || !isfinite(p->equals)))
    return cb_fail(CB_ERROR_ARGUMENT, "event: distance %g: expected a number > 0", p->equals);
  return status;
}

static cb_status value(cb_gaps *gaps, const cb_gap *gap, const void *of, const double *const *x, int order,
                       cb_gap_value *out) {
  const int *i = gap->particle;
  double d;
  cb_status status = cb_gap_distance_between(gaps, i[0], i[1], x[0], x[1], order, &d, out->gradient);
  if (status == CB_STEP_DOMAIN && order && !cb_gap_distance_between(gaps, i[0], i[1], x[0], x[1], 0, &d, NULL)) {
    memset(out->gradient, 0, (size_t)(2 * gaps->space->k) * sizeof *out->gradient);
    status = CB_OK;
  }
  if (!status) out->gap = d - ((const distance *)of)->equals;
  return status;
}

static double bound(const cb_gaps *gaps, const cb_gap *gap, const void *of, const double *const *x, double s,
                    cb_gap_motion m) {
  (void)gap;
  return cb_gap_pair_bound(gaps, x, s + ((const distance *)of)->equals, s, m, true);
}

static double compared(const void *of) { return ((const distance *)of)->equals; }

static const cb_gap_forms forms = {.value = value, .bound = bound, .distance = compared};

const cb_event_class cb_event_distance = {.name = "distance",
                                          .title = "the distance of two particles reaches a value",
                                          .doc = "",
                                          .params = params,
                                          .params_size = sizeof(distance),
                                          .particles = 2,
                                          .init = init,
                                          .forms = &forms};

cb_status cb_builder_event_distance(cb_builder *b, const char *name, int i, int j, double value, cb_event_action action,
                                    cb_event_direction direction) {
  distance p = {value};
  const cb_status status = init(&p, b->space, b);
  return status ? status : cb_builder_event(b, &cb_event_distance, &p, name, (int[]){i, j}, action, direction);
}
