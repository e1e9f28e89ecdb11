/* Panels of a surface, and their rows. */
#include "potential/panels.h"

#include "core/arena.h"
#include "numerics/vec3.h"

#include <math.h>

typedef struct owned {
  cb_arena *arena;
  cb_panels panels;
} owned;

cb_status cb_panels_move(cb_panels *p, const double (*x)[3], const int (*face)[3]) {
  for (int i = 0; i < p->n; i++) {
    double n2[3];
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < 3; c++) p->corner[i][k][c] = x[face[i][k]][c];
    for (int c = 0; c < 3; c++) p->centre[i][c] = (p->corner[i][0][c] + p->corner[i][1][c] + p->corner[i][2][c]) / 3;
    cb_normal3(p->corner[i][0], p->corner[i][1], p->corner[i][2], n2);
    const double twice = sqrt(cb_dot3(n2, n2));
    if (!(twice > 0 && isfinite(twice)))
      return cb_fail(CB_ERROR_DOMAIN, "face %d at (%g, %g, %g) has no area", i + 1, p->centre[i][0], p->centre[i][1],
                     p->centre[i][2]);
    for (int c = 0; c < 3; c++) p->normal[i][c] = n2[c] / twice;
    p->area[i] = twice / 2;
  }
  return CB_OK;
}

cb_status cb_panels_create(int n, const double (*x)[3], const int (*face)[3], cb_panels **out) {
  owned *o = cb_arena_object(sizeof *o, "panels");
  if (!o) return CB_ERROR_MEMORY;
  cb_panels *p = &o->panels;
  p->n = n;
  p->corner = cb_arena_alloc(o->arena, (size_t)n, sizeof *p->corner);
  p->centre = cb_arena_alloc(o->arena, (size_t)n, sizeof *p->centre);
  p->normal = cb_arena_alloc(o->arena, (size_t)n, sizeof *p->normal);
  p->area = cb_arena_alloc(o->arena, (size_t)n, sizeof *p->area);
  const cb_status status =
      cb_arena_lost(o->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for %d panels", n) : cb_panels_move(p, x, face);
  if (status) {
    cb_arena_free(o->arena);
    return status;
  }
  *out = p;
  return CB_OK;
}

void cb_panels_free(cb_panels *p) {
  if (p) cb_arena_free(((owned *)((char *)p - offsetof(owned, panels)))->arena);
}

static void row(const cb_panels *p, const double x[3], int first, int n, const int *which, int self, double *S,
                double *D) {
  for (int i = 0; i < n; i++)
    cb_panel_potential(p->corner[which ? which[i] : first + i], x, S ? S + i : NULL, D ? D + i : NULL);
  if (self >= 0 && D) D[self] = 0;
}

void cb_panels_row(const cb_panels *p, const double x[3], int n, const int *which, int self, double *S, double *D) {
  row(p, x, 0, n, which, self, S, D);
}

void cb_panels_range(const cb_panels *p, const double x[3], int first, int n, int self, double *S, double *D) {
  row(p, x, first, n, NULL, self, S, D);
}
