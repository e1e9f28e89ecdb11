/* The operator of bodies near a plane. Each column holds the panels of the body and then those of the image. The panels
 * are mirrored at creation, and again at the first solution after cb_images_renew.
 */
#include "potential/operator.h"

#include "core/arena.h"
#include "numerics/vec3.h"
#include "potential/panel_kernel.h"

#include <math.h>
#include <string.h>

struct cb_images {
  cb_arena *arena;
  const cb_panels *p;
  cb_mirror wall; /* the wall; its normal has length 1 */
  cb_kirchhoff_options options;
  double (*x)[3]; /* [6 n]: the corners of the body and of its image */
  int (*face)[3];
  cb_panels *both;
  cb_operator *operator;
  bool fresh;      /* the panels of body and image are up to date */
  double *w, *phi; /* [columns][2 n] */
};

static cb_status mirror(cb_images *m) {
  const int n = m->p->n;
  for (int i = 0; i < n; i++)
    for (int c = 0; c < 3; c++) {
      const double *x = m->p->corner[i][c], from = cb_dot3(x, m->wall.normal) - m->wall.height;
      if (!(from > 0))
        return cb_fail(CB_ERROR_DOMAIN,
                       "a body is behind its wall: a corner at (%g, %g, %g) is at the height %g above the wall: "
                       "expected more than 0 along the normal (%g, %g, %g)",
                       x[0], x[1], x[2], from, m->wall.normal[0], m->wall.normal[1], m->wall.normal[2]);
      memcpy(m->x[3 * i + c], x, sizeof *m->x);
      for (int k = 0; k < 3; k++) m->x[3 * (n + i) + 2 - c][k] = x[k] - 2 * from * m->wall.normal[k];
    }
  return CB_OK;
}

static cb_status place(cb_images *m) {
  cb_status status = mirror(m);
  if (status) return status;
  if (m->both) {
    status = cb_panels_move(m->both, (const double(*)[3])m->x, (const int(*)[3])m->face);
    if (!status) cb_operator_renew(m->operator);
  } else {
    status = cb_panels_create(2 * m->p->n, (const double(*)[3])m->x, (const int(*)[3])m->face, &m->both);
    if (!status) status = cb_operator_create(m->both, &m->options, &m->operator);
  }
  m->fresh = !status;
  return status;
}

static void reflect(const cb_images *m, int columns, const double *from, double *to) {
  const size_t n = (size_t)m->p->n;
  const double sign = m->wall.kind == CB_MIRROR_FREE ? -1 : 1;
  for (size_t c = 0; c < (size_t)columns; c++)
    for (size_t i = 0; i < n; i++) {
      to[2 * n * c + i] = from[n * c + i];
      to[2 * n * c + n + i] = sign * from[n * c + i];
    }
}

cb_status cb_images_solve(cb_images *m, int columns, const double *w, double *phi) {
  const size_t n = (size_t)m->p->n;
  cb_status status = m->fresh ? CB_OK : place(m);
  if (status) return status;
  reflect(m, columns, w, m->w);
  reflect(m, columns, phi, m->phi);
  status = cb_operator_solve(m->operator, columns, m->w, m->phi);
  for (size_t c = 0; c < (size_t)columns; c++) memcpy(phi + n * c, m->phi + 2 * n * c, n * sizeof *phi);
  return status;
}

void cb_images_renew(cb_images *m) { m->fresh = false; }

cb_operator_report cb_images_report_of(const cb_images *m) {
  cb_operator_report r = cb_operator_report_of(m->operator);
  if (r.row >= m->p->n) r.row -= m->p->n;
  return r;
}

cb_status cb_mirror_check(cb_mirror *wall) {
  const double length = sqrt(cb_dot3(wall->normal, wall->normal));
  if (!(length > 0) || !isfinite(length + wall->height))
    return cb_fail(CB_ERROR_ARGUMENT, "a wall with the normal (%g, %g, %g) at the height %g: expected a direction",
                   wall->normal[0], wall->normal[1], wall->normal[2], wall->height);
  for (int k = 0; k < 3; k++) wall->normal[k] /= length;
  return CB_OK;
}

cb_status cb_images_create(const cb_panels *p, const cb_kirchhoff_options *options, cb_images **out) {
  const size_t n = (size_t)p->n;
  cb_mirror wall = options->wall;
  cb_status status = cb_mirror_check(&wall);
  if (status) return status;
  cb_images *m = cb_arena_object(sizeof *m, "the images of a body");
  if (!m) return CB_ERROR_MEMORY;
  m->p = p;
  m->wall = wall;
  m->options = *options;
  m->options.wall.kind = CB_MIRROR_NONE;
  m->x = cb_arena_alloc(m->arena, 6 * n, sizeof *m->x);
  m->face = cb_arena_alloc(m->arena, 2 * n, sizeof *m->face);
  cb_arena_doubles(m->arena, 2 * n * CB_PANEL_COLUMNS, &m->w, &m->phi);
  status = cb_arena_lost(m->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for the images of %d panels", p->n) : CB_OK;
  for (int i = 0; i < 6 * p->n && !status; i++) m->face[i / 3][i % 3] = i;
  if (!status) status = place(m);
  if (status) {
    cb_images_free(m);
    return status;
  }
  *out = m;
  return CB_OK;
}

void cb_images_free(cb_images *m) {
  if (!m) return;
  cb_operator_free(m->operator);
  cb_panels_free(m->both);
  cb_arena_free(m->arena);
}
