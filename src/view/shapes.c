/* The shape space of a gait: its cycle, the moving point, and the curvature over the plane of the first two variables:
 * B of each axis of the algebra, nan where the shape is singular or no shape, as where a surface cuts itself. */
#include "view/view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GRID = 41, COARSE = 7, DRAWN = 257 };

/* A curvature that solves a boundary integral at each node is told on a few. */
static int grid_of(const cb_bundle *b) { return !strcmp(b->kind->name, "immersed") ? COARSE : GRID; }

static void window(const double *cycle, int n, int of, double *low, double *high) {
  *low = INFINITY, *high = -INFINITY;
  for (int k = 0; k < DRAWN; k++) *low = fmin(*low, cycle[k * n + of]), *high = fmax(*high, cycle[k * n + of]);
  const double margin = *high > *low ? (*high - *low) / 4 : fmax(1, fabs(*low)) / 2;
  *low -= margin, *high += margin;
}

static cb_status put_curvature(const cb_view *v, const cb_bundle *b, const double *cycle, const double *mean) {
  const int points = grid_of(b), dim = b->group->dim;
  double low[2], high[2], r[CB_SHAPE_MAX], *out = malloc((size_t)(points * points * dim) * sizeof *out);
  if (!out) return cb_view_memory(v);
  for (int i = 0; i < 2; i++) window(cycle, b->n, i, &low[i], &high[i]);
  memcpy(r, mean, (size_t)b->n * sizeof *r);
  cb_status status = CB_OK;
  for (int i = 0; i < points * points && !status; i++) {
    r[0] = low[0] + (high[0] - low[0]) * (i / points) / (points - 1);
    r[1] = low[1] + (high[1] - low[1]) * (i % points) / (points - 1);
    status = cb_bundle_curvature(b, r, 0, 1, out + i * dim);
    if (!status || status == CB_ERROR_MEMORY) continue;
    for (int d = 0; d < dim; d++) out[i * dim + d] = NAN;
    status = CB_OK;
  }
  const double box[] = {low[0], high[0], low[1], high[1]};
  if (!status) status = cb_page_array(v->page, "window", CB_PAGE_F8, 4, 0, 0, box);
  if (!status)
    status = cb_page_array(v->page, "curvature", CB_PAGE_F4, (size_t)points, (size_t)points, (size_t)dim, out);
  free(out);
  return status;
}

static cb_status put_cycle(const cb_view *v, const cb_bundle *b, const cb_gait *gait) {
  const size_t n = (size_t)b->n;
  double *cycle = malloc(DRAWN * n * sizeof *cycle), mean[CB_SHAPE_MAX] = {0};
  if (!cycle) return cb_view_memory(v);
  for (size_t k = 0; k < DRAWN; k++) {
    cb_gait_at(gait, (double)k / (DRAWN - 1), cycle + k * n, NULL);
    for (size_t i = 0; i < n; i++) mean[i] += cycle[k * n + i] / DRAWN;
  }
  cb_status status = cb_page_array(v->page, "cycle", CB_PAGE_F8, DRAWN, n, 0, cycle);
  if (!status && n >= 2) status = put_curvature(v, b, cycle, mean);
  free(cycle);
  return status;
}

cb_status cb_view_shapes(const cb_view *v) {
  const int shape = cb_view_field(v, "shape");
  const cb_bundle *b = v->scenario ? cb_scenario_bundle(v->scenario) : NULL;
  const cb_gait *gait = v->scenario ? cb_scenario_gait(v->scenario) : NULL;
  double *r;
  if (!b || shape < 0 || v->fields[shape].count != (size_t)b->n) return CB_OK;
  cb_status status = cb_view_frames(v, shape, &r);
  if (status) return status;
  cb_page_begin(v->page, "shapes", '{');
  cb_page_words(v->page, "variable", (size_t)b->n, b->shape);
  cb_page_words(v->page, "axis", (size_t)b->group->dim, b->group->axis);
  status = cb_page_array(v->page, "shape", CB_PAGE_F8, v->n_frames, (size_t)b->n, 0, r);
  if (!status && gait) status = put_cycle(v, b, gait);
  cb_page_end(v->page, '}');
  free(r);
  return status;
}
