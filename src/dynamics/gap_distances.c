/* Distances of particles that gaps are made of: in one frame by the chord, between frames as geometry/origin.h says. */
#include "dynamics/gap_private.h"
#include "dynamics/pair.h"
#include <string.h>

static cb_status step_status(cb_status status) { return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status; }

/* In one frame, or a static chart. Beyond a quarter turn the chord to the antipode keeps the digits. */
static cb_status here(const cb_geometry *g, const double *x, const double *y, int order, double *d, double *gradient) {
  if (cb_pair_by_chord(g) && g->factor[0].curvature > 0) {
    double e[CB_COORD_MAX];
    if (g->factor[0].curvature * cb_pair_chord(g, x, y, e) > 2) {
      if (order) return step_status(cb_distance_derivatives(g, x, y, d, gradient, NULL));
      *d = cb_distance(g, x, y);
      return CB_OK;
    }
  }
  return cb_pair_distance(g, x, y, d, order ? gradient : NULL, NULL);
}

/* A point of the world as seen from the frame of particle i. */
static const cb_anchor *anchor_of(cb_gaps *gaps, int i, const double *centre) {
  cb_gap_anchor *last = &gaps->last_anchor;
  const int part = gaps->system->component[i];
  if (last->a != part || last->centre != centre) {
    cb_anchor_make(gaps->space, &gaps->origin[part], centre, &last->anchor);
    last->a = part;
    last->centre = centre;
  }
  return &last->anchor;
}

cb_status cb_gap_distance(cb_gaps *gaps, int i, int j, const double *x, const double *y, int order, double *d,
                          double *gradient) {
  cb_gap_frames *last = gaps->last;
  const int part[2] = {gaps->system->component[i], gaps->system->component[j]};
  if (part[0] == part[1] || !gaps->moves) return here(gaps->space, x, y, order, d, gradient);
  if (last->a != part[0] || last->b != part[1]) {
    cb_origin frame[2];
    cb_gap_pair(gaps, i, j, frame);
    last->same = cb_origin_same(gaps->space, &frame[0], &frame[1]);
    cb_frames_make(gaps->space, &frame[0], &frame[1], &last->frames);
    last->a = part[0];
    last->b = part[1];
  }
  if (last->same) return here(gaps->space, x, y, order, d, gradient);
  return step_status(cb_frames_distance(gaps->space, &last->frames, x, y, d, order ? gradient : NULL, NULL));
}

cb_status cb_gap_distance_from(cb_gaps *gaps, int i, const double *x, const double *centre, int order, double *d,
                               double *gradient) {
  const cb_origin *origin = cb_gap_origin(gaps, i);
  if (origin == &gaps->identity || memcmp(origin, &gaps->identity, sizeof *origin) == 0) {
    double both[2 * CB_COORD_MAX];
    const cb_status status = here(gaps->space, x, centre, order, d, both);
    if (!status && order) memcpy(gradient, both, (size_t)gaps->space->k * sizeof *gradient);
    return status;
  }
  return step_status(
      cb_anchor_distance(gaps->space, anchor_of(gaps, i, centre), x, d, order ? gradient : NULL, NULL));
}
