/* A pin: a particle stays at a point of the world. It has one row for each dimension:
 *
 *   g_a = <e_a, x - centre>, which is linear and has one zero near the centre;  in a chart: g_a = q_a - centre_a
 *
 * x is the position of the particle, q are its coordinates in the space's own chart, and e_a are the vectors of the
 * frame at the centre. In a chart with moving origins, q - centre is rotated to the world. The centre is expressed
 * relative to the moving origin of the particle. The frame is the world's frame, transported to the centre, so that the
 * multipliers of a pin do not rotate when the origin moves.
 */
#include "dynamics/builder_private.h"

#include "geometry/quadric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

extern const cb_constraint_class cb_constraint_pin;

typedef struct keys {
  const cb_node *particle, *at, *name;
} keys;

static const cb_param table[] = {
    CB_CONSTRAINT_KEY(keys, "particle", particle, NULL, "", "[body, number]"),
    CB_CONSTRAINT_KEY(keys, "at", at, "", "", "{chart: .., point: [..]}; if absent, its position at the start"),
    CB_CONSTRAINT_NAME(keys, name),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

cb_status cb_builder_pin(cb_builder *b, const char *name, int i, const double *x) {
  const cb_space *g = b->space;
  static const char *const axes[CB_Q_MAX] = {"x", "y", "z"};
  cb_fixed centre = {0};
  cb_status status = cb_builder_check_particles(b, "pin", 1, &i);
  if (!status && !g->chart) status = cb_builder_check_factors(b, "pin", CB_FACTOR_MAX);
  if (!status && x) status = cb_builder_fix(b, "pin", x, &centre);
  if (!status && !x) { /* the initial position, relative to the particle's own origin */
    centre.origin = b->origin[b->point[i].origin];
    memcpy(centre.x, b->point[i].x, sizeof centre.x);
  }
  for (int a = 0; a < g->dim && !status; a++) {
    char text[256];
    snprintf(text, sizeof text, "%.200s %s", name ? name : "", g->chart ? g->chart->coordinates[a] : axes[a]);
    cb_constraint row = {.class = &cb_constraint_pin,
                         .name = name ? text : NULL,
                         .elements = 1,
                         .width = 1,
                         .particle = (int[]){i},
                         .axis = a,
                         .centre = centre};
    status = cb_builder_add_row(b, &row);
  }
  return status;
}

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const keys *p = params;
  int particle = -1;
  double x[CB_Q_MAX];
  cb_status status = cb_constraint_read_particle(e, p->particle, &particle);
  if (!status && p->at) status = cb_constraint_read_point(e, p->at, x);
  if (status) return status;
  return cb_constraint_placed(e, cb_builder_pin(e->builder, e->name, particle, p->at ? x : NULL), e->map);
}

/* Computes the frame at the centre, relative to the particle's origin. If this origin has moved, the vectors of flat
 * and hyperbolic factors are the columns of the isometry to the centre, which keep their digits at any distance from
 * the world's base point. */
static void frame_at_centre(const cb_constraints *c, const cb_constraint *row, double frame[CB_Q_MAX][CB_Q_MAX]) {
  const cb_space *g = c->space;
  const cb_constraint_world *w = &c->world[row->world];
  bool moved = false;
  for (int a = 0; a < g->embedding; a++) {
    moved = moved || w->world.b[a] != 0;
    for (int b = 0; b < g->embedding; b++) moved = moved || w->world.m[a][b] != (a == b);
  }
  memset(frame, 0, CB_Q_MAX * sizeof *frame);
  double e[CB_Q_MAX * CB_Q_MAX];
  cb_space_frame(g, row->centre.x, e);
  for (int f = 0, i = 0; f < g->n_factors; f++) { /* origins do not move in the spheres of a product */
    const cb_factor factor = g->factor[f];
    const int end = i + cb_factor_dim(factor);
    for (int column = factor.offset; i < end; i++, column++)
      for (int a = 0; a < g->embedding; a++)
        frame[i][a] = moved && factor.curvature <= 0 ? w->anchor.frames.isometry.m[a][column] : e[i * g->embedding + a];
  }
}

static cb_status pin(const cb_constraints *c, const cb_constraint *row, int element, double t, const double *const *x,
                     int order, cb_element *out) {
  const cb_space *g = c->space;
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
  double frame[CB_Q_MAX][CB_Q_MAX];
  frame_at_centre(c, row, frame);
  out->value = 0;
  for (int a = 0; a < g->k; a++) {
    double e = g->form[a] * frame[row->axis][a];
    out->value += e * (x[0][a] - centre[a]);
    if (order) out->gradient[a] = e;
  }
  return CB_OK;
}

const cb_constraint_class cb_constraint_pin = {.name = "pin",
                                               .title = "a particle stays at a point",
                                               .doc = "",
                                               .params = table,
                                               .params_size = sizeof(keys),
                                               .read = read,
                                               .points = 1,
                                               .element = pin,
                                               .per_world = true,
                                               .centred = true};
