/* Surfaces over shape space that are laid into a curved space, part by part: fluid/lay.h on Taylor numbers of the shape
 * variables. */
#include "fluid/shape_surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct laid {
  cb_arena *arena;
  cb_shape_surface *flat;
  cb_laying to;
  int shifts;
  struct {
    cb_expression *e[3];
  } * shift;
  int *of; /* [vertices]: which shift, -1: none */
} laid;

static void free_laid(cb_shape_surface *s) {
  laid *own = s->self;
  for (int i = 0; i < own->shifts; i++)
    for (int k = 0; k < 3; k++) cb_expression_free(own->shift[i].e[k]);
  cb_shape_surface_free(own->flat);
  cb_arena_free(own->arena);
}

/* Work: that of the flat one, the shifts, places and rates. */
static size_t inner_size(const cb_shape_surface *flat) { return (flat->work_size + 15) / 16 * 16; }

/* x[vertices] with dx[n][vertices] and d2x[n(n+1)/2][vertices] (either may be NULL) become laid. */
static cb_status lay(const cb_shape_surface *s, const double *r, double (*x)[3], double (*dx)[3], double (*d2x)[3],
                     void *work) {
  const laid *own = s->self;
  const int n = dx ? s->n : 0, pairs = d2x ? n * (n + 1) / 2 : 0;
  const size_t vertices = (size_t)s->surface->vertices;
  cb_jet(*shift)[3] = (void *)((char *)work + inner_size(own->flat));
  for (int i = 0; i < own->shifts; i++) {
    for (int k = 0; k < 3; k++) shift[i][k] = cb_expression_jet(own->shift[i].e[k], r, n);
    if (!cb_lay_shifts(own->to.K, (const cb_jet *)shift[i]))
      return cb_fail(CB_STEP_DOMAIN,
                     "the shift (%g, %g, %g) reaches the antipode of the origin of the space of curvature %g: expected "
                     "a finite one of a length below %g",
                     shift[i][0].v, shift[i][1].v, shift[i][2].v, own->to.K,
                     cb_lay_reach((cb_laying){own->to.K, CB_CHART_EXPONENTIAL}));
  }
  for (size_t v = 0; v < vertices; v++) {
    cb_jet y[3];
    double sum = 0;
    for (int k = 0; k < 3; k++) {
      y[k] = cb_jet_constant(n, x[v][k]);
      for (int i = 0; i < n; i++) y[k].g[i] = dx[(size_t)i * vertices + v][k];
      for (int i = 0; i < pairs; i++) y[k].h[i] = d2x[(size_t)i * vertices + v][k];
    }
    cb_lay_jets(own->to, own->of[v] < 0 ? NULL : shift[own->of[v]], y);
    for (int k = 0; k < 3; k++) {
      sum += x[v][k] = y[k].v;
      for (int i = 0; i < n; i++) sum += dx[(size_t)i * vertices + v][k] = y[k].g[i];
      for (int i = 0; i < pairs; i++) sum += d2x[(size_t)i * vertices + v][k] = y[k].h[i];
    }
    if (!isfinite(sum))
      return cb_fail(CB_STEP_DOMAIN, "vertex %d lies beyond what the chart of the space of curvature %g reaches",
                     s->surface->number[v], own->to.K);
  }
  return CB_OK;
}

static cb_status laid_at(const cb_shape_surface *s, const double *r, double (*x)[3], double (*dx)[3], void *work) {
  const laid *own = s->self;
  const cb_status status = own->flat->at(own->flat, r, x, dx, work);
  return status ? status : lay(s, r, x, dx, NULL, work);
}

static cb_status laid_second(const cb_shape_surface *s, const double *r, double (*d2x)[3], void *work) {
  const laid *own = s->self;
  double(*x)[3] = (void *)((char *)work + inner_size(own->flat) + (size_t)own->shifts * 3 * sizeof(cb_jet)),
  (*dx)[3] = x + s->surface->vertices;
  cb_status status = own->flat->at(own->flat, r, x, dx, work);
  if (!status) status = own->flat->second(own->flat, r, d2x, work);
  return status ? status : lay(s, r, x, dx, d2x, work);
}

/* --- making --- */

static cb_status read_shift(cb_shape_surface *s, int i, const cb_shape_shift *shift,
                            const cb_poses_parameters *parameters, int *coordinate, size_t *at) {
  laid *own = s->self;
  const cb_expression_scope scope = {.names = s->name,
                                     .n = (size_t)s->n,
                                     .parameters = parameters ? parameters->names : NULL,
                                     .values = parameters ? parameters->values : NULL,
                                     .n_parameters = parameters ? parameters->n : 0};
  for (int k = 0; k < 3; k++) {
    if (coordinate) *coordinate = k;
    const cb_status status = cb_expression_parse_in(shift->text[k], &scope, at, &own->shift[i].e[k]);
    if (status) return status;
  }
  return CB_OK;
}

static int shift_of(const char *name, int shifts, const cb_shape_shift *shift) {
  int whole = -1;
  for (int i = 0; i < shifts; i++) {
    if (!shift[i].part) whole = i;
    if (shift[i].part && name && !strcmp(shift[i].part, name)) return i;
  }
  return whole;
}

/* A vertex that two parts share moves with the first, as in poses. */
static void set_shifts(cb_shape_surface *s, int shifts, const cb_shape_shift *shift) {
  const cb_surface *surface = s->surface;
  const laid *own = s->self;
  for (int v = 0; v < surface->vertices; v++) own->of[v] = surface->parts;
  for (int f = 0; f < surface->faces; f++)
    for (int k = 0; k < 3; k++) {
      int *part = &own->of[surface->face[f][k]];
      if (surface->part[f] < *part) *part = surface->part[f];
    }
  for (int v = 0; v < surface->vertices; v++)
    own->of[v] = own->of[v] < surface->parts ? shift_of(surface->name[own->of[v]], shifts, shift) : -1;
}

cb_status cb_shape_surface_lay(cb_shape_surface *flat, cb_laying to, int shifts, const cb_shape_shift *shift,
                               const cb_poses_parameters *parameters, size_t *which, int *coordinate, size_t *at,
                               cb_shape_surface **out) {
  cb_arena *arena = cb_arena_create();
  laid *own = cb_arena_alloc(arena, 1, sizeof *own);
  cb_shape_surface *s = calloc(1, sizeof *s);
  if (own) {
    *own = (laid){.arena = arena, .flat = flat, .to = to, .shifts = shifts};
    own->shift = cb_arena_alloc(arena, (size_t)shifts + 1, sizeof *own->shift);
    own->of = cb_arena_alloc(arena, (size_t)flat->surface->vertices, sizeof *own->of);
  }
  if (!own || !s || !own->shift || !own->of) {
    free(s);
    cb_arena_free(arena);
    cb_shape_surface_free(flat);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a surface over shape space");
  }
  *s = *flat;
  s->at = laid_at, s->second = flat->second ? laid_second : NULL, s->free = free_laid, s->self = own;
  s->work_size = inner_size(flat) + (size_t)shifts * 3 * sizeof(cb_jet) +
                 (1 + (size_t)s->n) * (size_t)s->surface->vertices * 3 * sizeof(double);
  set_shifts(s, shifts, shift);
  cb_status status = CB_OK;
  for (int i = 0; i < shifts && !status; i++) {
    if (which) *which = (size_t)i;
    status = read_shift(s, i, shift + i, parameters, coordinate, at);
  }
  if (status)
    cb_shape_surface_free(s);
  else
    *out = s;
  return status;
}
