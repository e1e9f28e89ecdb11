/* Constraints to fixed points of the world: a tether of given length, and a pin.
 *
 *   tether  g = d(x, centre) - L
 *   pin     g_a = <e_a, x - centre>, e_a the frame at the centre: linear, one zero near it;  chart: g_a = q_a - c_a
 *
 * A centre is seen from the moving origin of its particle. The frame is that of the world transported to the centre, so
 * that multipliers of a pin do not turn when the origin moves.
 */
#include "dynamics/constraint_private.h"
#include "dynamics/pair.h"
#include "geometry/quadric.h"
#include <string.h>

enum { K = CB_Q_MAX };

static cb_status tether(const cb_constraints *c, const cb_constraint *row, int element, double t,
                        const double *const *x, int order, cb_element *out) {
  const cb_geometry *g = c->space;
  const cb_anchor *anchor = &c->world[row->world].anchor;
  double gradient[CB_PAIR_MAX], hessian[CB_PAIR_MAX * CB_PAIR_MAX];
  const int k = g->k, far = !g->chart && anchor->frames.far, stride = far ? k : 2 * k;
  cb_status status =
      far ? cb_anchor_distance(g, anchor, x[0], &out->value, order ? gradient : NULL, order > 1 ? hessian : NULL)
          : cb_pair_distance(g, x[0], anchor->x, &out->value, order ? gradient : NULL,
                             order > 1 ? hessian : NULL);
  (void)element;
  (void)t;
  if (status) return status == CB_ERROR_DOMAIN ? CB_STEP_DOMAIN : status;
  for (int a = 0; order && a < k; a++) out->gradient[a] = gradient[a];
  for (int a = 0; order > 1 && a < k; a++)
    memcpy(out->hessian + a * k, hessian + a * stride, (size_t)k * sizeof *hessian);
  return CB_OK;
}

/* The frame at the centre, as the particle sees it. From a moved origin it is the columns of the isometry to the
 * centre, which keep their digits at any distance from the world's base point. */
static void frame_at_centre(const cb_constraints *c, const cb_constraint *row, double frame[CB_Q_MAX][K]) {
  const cb_geometry *g = c->space;
  const cb_constraint_world *w = &c->world[row->world];
  bool moved = false;
  for (int a = 0; a < g->embedding; a++) {
    moved = moved || w->world.b[a] != 0;
    for (int b = 0; b < g->embedding; b++) moved = moved || w->world.m[a][b] != (a == b);
  }
  memset(frame, 0, CB_Q_MAX * sizeof *frame);
  double e[CB_Q_MAX * K];
  cb_geometry_frame(g, row->centre.x, e);
  for (int f = 0, i = 0; f < g->n_factors; f++) { /* a sphere in a product does not move */
    const cb_factor factor = g->factor[f];
    const int end = i + cb_factor_dim(factor);
    for (int column = factor.offset; i < end; i++, column++)
      for (int a = 0; a < g->embedding; a++)
        frame[i][a] = moved && factor.curvature <= 0 ? w->anchor.frames.isometry.m[a][column] : e[i * g->embedding + a];
  }
}

static cb_status pin(const cb_constraints *c, const cb_constraint *row, int element, double t, const double *const *x,
                     int order, cb_element *out) {
  const cb_geometry *g = c->space;
  (void)element;
  (void)t;
  if (g->chart && cb_origin_moves(g)) {
    const cb_constraint_world *w = &c->world[row->world];
    out->value = 0;
    for (int a = 0; a < g->dim; a++) {
      out->value += w->world.m[row->axis][a] * (x[0][a] - w->anchor.x[a]);
      if (order) out->gradient[a] = w->world.m[row->axis][a];
    }
    return CB_OK;
  }
  if (g->chart) {
    out->value = x[0][row->axis] - row->centre.x[row->axis];
    if (order) out->gradient[row->axis] = 1;
    return CB_OK;
  }
  const double *centre = c->world[row->world].anchor.x;
  double frame[CB_Q_MAX][K];
  frame_at_centre(c, row, frame);
  out->value = 0;
  for (int a = 0; a < g->k; a++) {
    double e = g->form[a] * frame[row->axis][a];
    out->value += e * (x[0][a] - centre[a]);
    if (order) out->gradient[a] = e;
  }
  return CB_OK;
}

const cb_constraint_kind cb_constraint_tether = {.name = "tether", .element = tether, .per_world = true, .sized = true};
const cb_constraint_kind cb_constraint_pin = {.name = "pin", .element = pin, .per_world = true};
