/* This file creates the panels of a surface and computes their potentials (equations in panels.h). */
#include "potential/panels.h"

#include "core/arena.h"
#include "core/threads.h"
#include "numerics/vec3.h"
#include "potential/panel_kernel.h"

#include <math.h>
#include <string.h>

enum { GATHERED = 64, GATHERED_STRIDE = GATHERED + CB_PANEL_PAD }; /* cb_panels_row copies GATHERED panels at once */

typedef struct owned {
  cb_arena *arena;
  cb_panels panels;
} owned;

const cb_panel_kernels *cb_panel_kernels_of_isa(void) {
  const cb_isa isa = cb_isa_get();
#if defined(__x86_64__)
  if (isa == CB_ISA_AVX512) return &cb_panel_kernels_avx512;
  if (isa == CB_ISA_AVX2) return &cb_panel_kernels_avx2;
#endif
  (void)isa;
  return &cb_panel_kernels_x86_64;
}

static void place_panel(cb_panels *p, int i, int from, const double n2[3]) {
  double *q = p->lanes + i;
  const size_t s = p->stride;
  for (int k = 0; k < 3; k++) {
    const double *a = p->corner[from][k], *b = p->corner[from][(k + 1) % 3],
                 edge[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]}, length = sqrt(cb_dot3(edge, edge));
    double m[3];
    cb_cross3(edge, p->normal[from], m);
    for (int c = 0; c < 3; c++) {
      q[(size_t)(CB_PANEL_CORNER + 3 * k + c) * s] = a[c];
      q[(size_t)(CB_PANEL_CONORMAL + 3 * k + c) * s] = m[c] / length;
    }
    q[(size_t)(CB_PANEL_NORMAL + k) * s] = n2[k];
    q[(size_t)(CB_PANEL_LENGTH + k) * s] = length;
  }
  q[CB_PANEL_INVERSE * s] = 0.5 / p->area[from];
}

cb_status cb_panels_move(cb_panels *p, const double (*x)[3], const int (*face)[3]) {
  for (int i = 0; i < p->n; i++) {
    double n2[3];
    for (int k = 0; k < 3; k++)
      for (int c = 0; c < 3; c++) p->corner[i][k][c] = x[face[i][k]][c];
    for (int c = 0; c < 3; c++) p->centre[i][c] = (p->corner[i][0][c] + p->corner[i][1][c] + p->corner[i][2][c]) / 3;
    cb_normal3(p->corner[i][0], p->corner[i][1], p->corner[i][2], n2);
    const double twice = sqrt(cb_dot3(n2, n2));
    if (!(twice > 0 && isfinite(twice)))
      return cb_fail(CB_ERROR_DOMAIN, "face %d at (%g, %g, %g) has no area: expected an area > 0", i + 1,
                     p->centre[i][0], p->centre[i][1], p->centre[i][2]);
    for (int c = 0; c < 3; c++) p->normal[i][c] = n2[c] / twice;
    p->area[i] = twice / 2;
    place_panel(p, i, i, n2);
    /* The kernels read past the last panel, so copies of it fill the padding. */
    for (int j = p->n; i == p->n - 1 && j < (int)p->stride; j++) place_panel(p, j, i, n2);
  }
  return CB_OK;
}

cb_status cb_panels_create(int n, const double (*x)[3], const int (*face)[3], cb_panels **out) {
  owned *o = cb_arena_object(sizeof *o, "panels");
  if (!o) return CB_ERROR_MEMORY;
  cb_panels *p = &o->panels;
  p->n = n;
  p->stride = (size_t)(n / CB_PANEL_PAD + 2) * CB_PANEL_PAD;
  p->kernels = cb_panel_kernels_of_isa();
  p->corner = cb_arena_alloc(o->arena, (size_t)n, sizeof *p->corner);
  p->centre = cb_arena_alloc(o->arena, (size_t)n, sizeof *p->centre);
  p->normal = cb_arena_alloc(o->arena, (size_t)n, sizeof *p->normal);
  cb_arena_doubles(o->arena, (size_t)n, &p->area);
  cb_arena_doubles(o->arena, CB_PANEL_LANES * p->stride, &p->lanes);
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

void cb_panels_range(const cb_panels *p, const double x[3], int first, int n, int self, double *S, double *D) {
  p->kernels->row(p->lanes + first, p->stride, x, n, S, D);
  if (self >= 0 && D) D[self] = 0;
}

/* Copies the rows of the panels which[0..n), n <= GATHERED, to `lanes`. Copies of the first panel fill the last
 * vector. */
static void gather(const cb_panels *p, int n, const int *which, double *lanes) {
  const int padded = (n + CB_PANEL_PAD - 1) & ~(CB_PANEL_PAD - 1);
  for (size_t r = 0; r < CB_PANEL_LANES; r++)
    for (int i = 0; i < padded; i++)
      lanes[r * GATHERED_STRIDE + (size_t)i] = p->lanes[r * p->stride + (size_t)which[i < n ? i : 0]];
}

void cb_panels_row(const cb_panels *p, const double x[3], int n, const int *which, int self, double *S, double *D) {
  if (!which) {
    cb_panels_range(p, x, 0, n, self, S, D);
    return;
  }
  double gathered[CB_PANEL_LANES * GATHERED_STRIDE];
  for (int begin = 0; begin < n; begin += GATHERED) {
    const int count = n - begin < GATHERED ? n - begin : GATHERED;
    gather(p, count, which + begin, gathered);
    p->kernels->row(gathered, GATHERED_STRIDE, x, count, S ? S + begin : NULL, D ? D + begin : NULL);
  }
  if (self >= 0 && D) D[self] = 0;
}

void cb_panels_gradients(const cb_panels *p, const double x[3], int first, int n, size_t width, double *S, double *D) {
  p->kernels->gradient(p->lanes + first, p->stride, x, n, width, S, D);
}

static void along(const double d[3], int n, const double *gradient, double *slope) {
  for (int i = 0; i < n; i++)
    slope[i] = d[0] * gradient[i] + d[1] * gradient[GATHERED + i] + d[2] * gradient[2 * GATHERED + i];
}

void cb_panels_slopes(const cb_panels *p, const double x[3], const double d[3], cb_panel_choice of, double *S,
                      double *D) {
  double gathered[CB_PANEL_LANES * GATHERED_STRIDE], s[3 * GATHERED], e[3 * GATHERED];
  for (int begin = 0; begin < of.n; begin += GATHERED) {
    const int count = of.n - begin < GATHERED ? of.n - begin : GATHERED;
    const double *lanes = of.which ? gathered : p->lanes + of.first + begin;
    if (of.which) gather(p, count, of.which + begin, gathered);
    p->kernels->gradient(lanes, of.which ? GATHERED_STRIDE : p->stride, x, count, GATHERED, S ? s : NULL, D ? e : NULL);
    if (S) along(d, count, s, S + begin);
    if (D) along(d, count, e, D + begin);
  }
  if (of.self >= 0 && S) S[of.self] = 0;
}
