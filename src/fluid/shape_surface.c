/* Surfaces over shape space: poses over a phase, expressions of shape variables, and both embedded in a curved space
 * (below). */
#include "fluid/shape_surface.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((int)CB_SHAPE_SURFACE_VARIABLES == (int)CB_POSES_VARIABLES, "variables of expressions");

/* The data of a shape surface. For poses over a phase, these are the poses and the time span over which the phase runs.
 * For expressions of shape variables, `own` are poses that are functions of these variables. */
typedef struct source {
  const cb_poses *poses;
  double start, duration;
  double *breaks; /* the phases of the poses of a sequence */
  cb_poses *own;
} source;

static void free_source(cb_shape_surface *s) {
  source *from = s->self;
  cb_poses_free(from->own);
  free(from->breaks);
  free(from);
}

static cb_status create(const cb_surface *surface, int n, const source *from, cb_shape_surface **out) {
  cb_shape_surface *s = calloc(1, sizeof *s);
  source *self = malloc(sizeof *self);
  if (!s || !self) {
    free(s);
    free(self);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a surface over shape space");
  }
  *self = *from;
  *s = (cb_shape_surface){.surface = surface, .n = n, .free = free_source, .self = self};
  *out = s;
  return CB_OK;
}

void cb_shape_surface_free(cb_shape_surface *s) {
  if (!s) return;
  if (s->free) s->free(s);
  free(s);
}

/* ---- poses over a phase ---- */

/* Returns the time of the poses at this phase. If the phase is periodic, the result is in the first period. */
static double time_of(const cb_shape_surface *s, double phase) {
  const source *from = s->self;
  return from->start + from->duration * (s->period[0] > 0 ? phase - floor(phase) : phase);
}

static cb_status phase_at(const cb_shape_surface *s, const double *r, double (*x)[3], double (*dx)[3], void *work) {
  const source *from = s->self;
  (void)work;
  const cb_status status = cb_poses_at(from->poses, time_of(s, r[0]), x, dx);
  for (int v = 0; !status && dx && v < s->surface->vertices; v++)
    for (int k = 0; k < 3; k++) dx[v][k] *= from->duration;
  return status;
}

static cb_status phase_second(const cb_shape_surface *s, const double *r, double (*d2x)[3], void *work) {
  const source *from = s->self;
  const double t = time_of(s, r[0]);
  (void)work;
  const cb_status status = from->poses->poses ? cb_poses_sequence_second(from->poses, t, d2x)
                                              : cb_poses_expressions_second(from->poses, &t, d2x);
  for (int v = 0; !status && v < s->surface->vertices; v++)
    for (int k = 0; k < 3; k++) d2x[v][k] *= from->duration * from->duration;
  return status;
}

/* Returns whether two poses are equal to 1e-9 of their extent. */
static bool same_places(int n, const double (*a)[3], const double (*b)[3]) {
  double far = 0, extent = 0;
  for (int v = 0; v < n; v++)
    for (int k = 0; k < 3; k++) {
      far = fmax(far, fabs(a[v][k] - b[v][k]));
      extent = fmax(extent, fabs(a[v][k] - a[0][k]));
    }
  return far <= 1e-9 * extent;
}

/* Sets the breaks of the phase: the phases of all poses from the start to before the end. They are breaks because a
 * sequence is a cubic only between two poses. A phase of a million poses or more gets no breaks. */
static cb_status set_breaks(cb_shape_surface *s) {
  source *from = s->self;
  const int count = cb_poses_count(from->poses);
  const bool periodic = count && from->poses->end == CB_POSES_PERIODIC;
  const double period = from->poses->period;
  double turn = periodic ? floor((from->start - cb_poses_time(from->poses, count - 1)) / period) : 0;
  const double turns = periodic ? ceil(from->duration / period) + 2 : 1;
  if (!count || !(turns * count < 1e6)) return CB_OK;
  double *const breaks = malloc((size_t)(turns * count) * sizeof *breaks);
  if (!breaks) return cb_fail(CB_ERROR_MEMORY, "no memory for a phase of %d poses", count);
  for (int k = 0; k < turns; k++, turn++)
    for (int i = 0; i < count; i++) {
      const double phase = (cb_poses_time(from->poses, i) + turn * period - from->start) / from->duration;
      if (phase > -1e-12 && phase < 1 - 1e-12) breaks[s->breaks[0]++] = fmax(phase, 0);
    }
  s->break_at[0] = from->breaks = breaks;
  return CB_OK;
}

cb_status cb_shape_surface_of_poses(const cb_poses *poses, const cb_surface *surface, double start, double duration,
                                    cb_shape_surface **out) {
  const int n = surface->vertices;
  if (cb_poses_vertices(poses) != n)
    return cb_fail(CB_ERROR_ARGUMENT, "the poses have %d vertices: expected %d, as the surface has",
                   cb_poses_vertices(poses), n);
  if (!isfinite(start) || !(duration > 0) || !isfinite(duration))
    return cb_fail(CB_ERROR_ARGUMENT, "a phase from time %g on for %g seconds: expected a duration > 0", start,
                   duration);
  double(*ends)[3] = malloc(2 * (size_t)n * sizeof *ends);
  if (!ends) return cb_fail(CB_ERROR_MEMORY, "no memory for poses of %d vertices", n);
  cb_status status = cb_poses_at(poses, start, ends, NULL);
  if (!status) status = cb_poses_at(poses, start + duration, ends + n, NULL);
  const bool closed = !status && same_places(n, (const double(*)[3])ends, (const double(*)[3])(ends + n));
  free(ends);
  cb_shape_surface *s = NULL;
  if (!status) status = create(surface, 1, &(source){.poses = poses, .start = start, .duration = duration}, &s);
  if (status) return status;
  s->name[0] = "phase";
  s->period[0] = closed ? 1 : 0;
  s->at = phase_at;
  s->second = phase_second;
  status = set_breaks(s);
  if (status)
    cb_shape_surface_free(s);
  else
    *out = s;
  return status;
}

/* ---- expressions of shape variables ---- */

static cb_status shape_at(const cb_shape_surface *s, const double *r, double (*x)[3], double (*dx)[3], void *work) {
  const source *from = s->self;
  const size_t vertices = (size_t)s->surface->vertices;
  cb_status status = CB_OK;
  (void)work;
  for (int i = 0; !status && i < (dx ? s->n : 1); i++) {
    double along[CB_SHAPE_SURFACE_VARIABLES] = {0};
    along[i] = 1;
    status = cb_poses_expressions_at(from->own, r, along, x, dx ? dx + (size_t)i * vertices : NULL);
  }
  return status;
}

static cb_status shape_second(const cb_shape_surface *s, const double *r, double (*d2x)[3], void *work) {
  (void)work;
  return cb_poses_expressions_second(((const source *)s->self)->own, r, d2x);
}

cb_status cb_shape_surface_check_names(int n, const char *const *names, const cb_poses_parameters *parameters,
                                       int *which) {
  const char *taken[3 + CB_SHAPE_SURFACE_VARIABLES] = {"X", "Y", "Z"};
  if (n < 1 || n > CB_SHAPE_SURFACE_VARIABLES)
    return cb_fail(CB_ERROR_ARGUMENT, "%d shape variables: expected 1 to %d", n, CB_SHAPE_SURFACE_VARIABLES);
  for (int i = 0; i < n; i++) {
    const cb_expression_scope scope = {.names = taken,
                                       .n = 3 + (size_t)i,
                                       .parameters = parameters ? parameters->names : NULL,
                                       .n_parameters = parameters ? parameters->n : 0};
    if (which) *which = i;
    const cb_status status = cb_expression_check_variable(names[i], &scope, "coordinate or variable");
    if (status) return status;
    taken[3 + i] = names[i];
  }
  return CB_OK;
}

cb_status cb_shape_surface_expressions_in(const cb_surface *surface, const cb_shape_text *text, size_t *which,
                                          int *coordinate, size_t *at, cb_shape_surface **out) {
  source from = {0};
  cb_shape_surface *s = NULL;
  cb_status status = cb_shape_surface_check_names(text->n, text->names, text->parameters, NULL);
  if (!status) status = cb_poses_of_variables(surface, text, which, coordinate, at, &from.own);
  if (!status) status = create(surface, text->n, &from, &s);
  if (status) {
    cb_poses_free(from.own);
    return status;
  }
  for (int i = 0; i < text->n; i++) s->name[i] = from.own->name[i];
  s->at = shape_at;
  s->second = shape_second;
  *out = s;
  return CB_OK;
}

cb_status cb_shape_surface_affine(const cb_shape_surface *s, int count, const int *vertex, cb_shape_surface **out) {
  source from = {0};
  cb_shape_surface *few = NULL;
  *out = NULL;
  if (s->at != shape_at) return CB_OK;
  cb_status status = cb_poses_affine(((const source *)s->self)->own, count, vertex, &from.own);
  if (status || !from.own) return status;
  status = create(s->surface, s->n, &from, &few);
  if (status) {
    cb_poses_free(from.own);
    return status;
  }
  for (int i = 0; i < s->n; i++) few->name[i] = s->name[i];
  few->at = shape_at;
  few->second = shape_second;
  *out = few;
  return CB_OK;
}

cb_status cb_shape_surface_expressions(const cb_surface *surface, int n, const char *const *names, int motions,
                                       const cb_poses_motion *motion, cb_shape_surface **out) {
  const cb_shape_text text = {n, names, (size_t)motions, motion, NULL};
  return cb_shape_surface_expressions_in(surface, &text, NULL, NULL, NULL, out);
}

cb_status cb_shape_surface_of_bundle(const cb_shape_surface *s, cb_bundle *b, int (**line)[2]) {
  cb_surface_edge *edge;
  const cb_status status = cb_surface_edges(s->surface, &edge, &b->lines);
  if (status) return status;
  const double K = s->surface->curvature;
  b->group = cb_group_find(K > 0 ? "so4" : K < 0 ? "so31" : "se3");
  b->n = s->n;
  for (int i = 0; i < s->n; i++) {
    b->shape[i] = s->name[i];
    b->period[i] = s->period[i];
    b->breaks[i] = s->breaks[i];
    b->at[i] = s->break_at[i];
  }
  b->points = s->surface->vertices;
  *line = malloc(((size_t)b->lines + 1) * sizeof **line);
  for (int i = 0; *line && i < b->lines; i++) {
    (*line)[i][0] = edge[i].a;
    (*line)[i][1] = edge[i].b;
  }
  free(edge);
  b->line = (const int(*)[2]) * line;
  return *line ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for the edges of a surface");
}

/* Surfaces over shape space that are embedded in a curved space part by part. The equations of fluid/shape_surface.h
 * are evaluated with truncated Taylor series in the shape variables. */

typedef struct laid {
  cb_arena *arena;
  cb_shape_surface *flat;
  cb_surface_embedding to;
  int shifts;
  struct {
    cb_expression *e[3];
  } * shift;
  int *of; /* [vertices]: index of the shift of each vertex; -1: the vertex has none */
} laid;

static void free_laid(cb_shape_surface *s) {
  laid *own = s->self;
  for (int i = 0; i < own->shifts; i++)
    for (int k = 0; k < 3; k++) cb_expression_free(own->shift[i].e[k]);
  cb_shape_surface_free(own->flat);
  cb_arena_free(own->arena);
}

/* Returns how many bytes of the work array the flat surface uses. The shifts, positions and rates follow after these
 * bytes. */
static size_t inner_size(const cb_shape_surface *flat) { return (flat->work_size + 15) / 16 * 16; }

/* Embeds x[vertices] with dx[n][vertices] and d2x[n(n+1)/2][vertices], in place. d2x, or dx and d2x, may be NULL. */
static cb_status embed(const cb_shape_surface *s, const double *r, double (*x)[3], double (*dx)[3], double (*d2x)[3],
                       void *work) {
  const laid *own = s->self;
  const int n = dx ? s->n : 0, pairs = d2x ? n * (n + 1) / 2 : 0;
  const size_t vertices = (size_t)s->surface->vertices;
  cb_jet(*shift)[3] = (void *)((char *)work + inner_size(own->flat));
  for (int i = 0; i < own->shifts; i++) {
    for (int k = 0; k < 3; k++) shift[i][k] = cb_expression_jet(own->shift[i].e[k], r, n);
    if (!cb_surface_embedding_shifts(own->to.K, (const cb_jet *)shift[i]))
      return cb_fail(CB_STEP_DOMAIN,
                     "the shift (%g, %g, %g) reaches the antipode of the origin of the space of curvature %g: expected "
                     "a finite shift of a length below %g",
                     shift[i][0].v, shift[i][1].v, shift[i][2].v, own->to.K,
                     cb_surface_embedding_reach((cb_surface_embedding){own->to.K, CB_CHART_EXPONENTIAL}));
  }
  for (size_t v = 0; v < vertices; v++) {
    cb_jet y[3];
    double sum = 0;
    for (int k = 0; k < 3; k++) {
      y[k] = cb_jet_constant(n, x[v][k]);
      for (int i = 0; i < n; i++) y[k].g[i] = dx[(size_t)i * vertices + v][k];
      for (int i = 0; i < pairs; i++) y[k].h[i] = d2x[(size_t)i * vertices + v][k];
    }
    cb_surface_embedding_jets(own->to, own->of[v] < 0 ? NULL : shift[own->of[v]], y);
    for (int k = 0; k < 3; k++) {
      sum += x[v][k] = y[k].v;
      for (int i = 0; i < n; i++) sum += dx[(size_t)i * vertices + v][k] = y[k].g[i];
      for (int i = 0; i < pairs; i++) sum += d2x[(size_t)i * vertices + v][k] = y[k].h[i];
    }
    if (!isfinite(sum))
      return cb_fail(CB_STEP_DOMAIN,
                     "vertex %d is outside the chart of the space of curvature %g: expected a smaller body or shift",
                     s->surface->number[v], own->to.K);
  }
  return CB_OK;
}

static cb_status laid_at(const cb_shape_surface *s, const double *r, double (*x)[3], double (*dx)[3], void *work) {
  const laid *own = s->self;
  const cb_status status = own->flat->at(own->flat, r, x, dx, work);
  return status ? status : embed(s, r, x, dx, NULL, work);
}

static cb_status laid_second(const cb_shape_surface *s, const double *r, double (*d2x)[3], void *work) {
  const laid *own = s->self;
  double(*x)[3] = (void *)((char *)work + inner_size(own->flat) + (size_t)own->shifts * 3 * sizeof(cb_jet)),
  (*dx)[3] = x + s->surface->vertices;
  cb_status status = own->flat->at(own->flat, r, x, dx, work);
  if (!status) status = own->flat->second(own->flat, r, d2x, work);
  return status ? status : embed(s, r, x, dx, d2x, work);
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

/* Finds the shift of each vertex. A vertex that two parts share moves with the first part, as in poses. */
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

cb_status cb_shape_surface_embed(cb_shape_surface *flat, cb_surface_embedding to, const cb_shape_shifts *shifts,
                                 size_t *which, int *coordinate, size_t *at, cb_shape_surface **out) {
  cb_arena *arena = cb_arena_create();
  laid *own = cb_arena_alloc(arena, 1, sizeof *own);
  cb_shape_surface *s = calloc(1, sizeof *s);
  if (own) {
    *own = (laid){.arena = arena, .flat = flat, .to = to, .shifts = shifts->n};
    own->shift = cb_arena_alloc(arena, (size_t)shifts->n + 1, sizeof *own->shift);
    own->of = cb_arena_alloc(arena, (size_t)flat->surface->vertices, sizeof *own->of);
  }
  if (!own || !s || !own->shift || !own->of) {
    free(s);
    cb_arena_free(arena);
    cb_shape_surface_free(flat);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a surface over shape space");
  }
  *s = *flat;
  s->at = laid_at;
  s->second = flat->second ? laid_second : NULL;
  s->free = free_laid;
  s->self = own;
  s->work_size = inner_size(flat) + (size_t)shifts->n * 3 * sizeof(cb_jet) +
                 (1 + (size_t)s->n) * (size_t)s->surface->vertices * 3 * sizeof(double);
  set_shifts(s, shifts->n, shifts->shift);
  cb_status status = CB_OK;
  for (int i = 0; i < shifts->n && !status; i++) {
    if (which) *which = (size_t)i;
    status = read_shift(s, i, shifts->shift + i, shifts->parameters, coordinate, at);
  }
  if (status)
    cb_shape_surface_free(s);
  else
    *out = s;
  return status;
}
