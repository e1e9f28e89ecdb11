/* The shapes of several bodies in one fluid (several.h): the panels, the factors and the potentials of each shape alone,
 * and the sizes of all data.
 */
#include "potential/several_private.h"

#include "numerics/vec3.h"
#include "potential/operator.h"
#include "potential/panel_kernel.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MOTIONS = CB_SEVERAL_MOTIONS };

static double distance(const double a[3], const double b[3]) {
  const double d[3] = {a[0] - b[0], a[1] - b[1], a[2] - b[2]};
  return sqrt(cb_dot3(d, d));
}

/* Sets the balls around the panels and around the shape. */
static void set_balls(cb_several_shape *s) {
  const cb_panels *p = s->panels;
  double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = 0; k < 9 * p->n; k++) {
    low[k % 3] = fmin(low[k % 3], p->corner[k / 9][k / 3 % 3][k % 3]);
    high[k % 3] = fmax(high[k % 3], p->corner[k / 9][k / 3 % 3][k % 3]);
  }
  for (int k = 0; k < 3; k++) s->centre[k] = (low[k] + high[k]) / 2;
  for (int k = 0; k < 3 * p->n; k++) {
    const double *x = p->corner[k / 3][k % 3];
    s->reach[k / 3] = fmax(s->reach[k / 3], distance(x, p->centre[k / 3]));
    s->radius = fmax(s->radius, distance(x, s->centre));
  }
}

static void set_motions(cb_several_shape *s) {
  const cb_panels *p = s->panels;
  for (int i = 0; i < p->n; i++) {
    double m[MOTIONS];
    cb_cross3(p->centre[i], p->normal[i], m);
    memcpy(m + 3, p->normal[i], 3 * sizeof *m);
    for (size_t a = 0; a < MOTIONS; a++) {
      s->w[a * s->stride + (size_t)i] = m[a];
      s->load[a * s->stride + (size_t)i] = p->area[i] * m[a];
    }
  }
}

/* Computes the rows begin to end of A = I/2 - D and of S w_a. S has one row of a matrix, padded with zeros. */
static void fill(cb_several_shape *s, double *S) {
  const cb_panels *p = s->panels;
  for (int i = 0; i < p->n; i++) {
    double *A = s->A + (size_t)i * s->stride, sum[CB_PANEL_COLUMNS] = {0};
    cb_panels_range(p, p->centre[i], 0, p->n, i, S, A);
    for (int k = 0; k < p->n; k++) A[k] = (k == i ? 0.5 : 0) - A[k];
    p->kernels->product(S, (int)s->stride, MOTIONS, s->w, s->stride, sum);
    for (size_t a = 0; a < MOTIONS; a++) s->source[a * s->stride + (size_t)i] = sum[a];
  }
}

static void solve_unit_twists(cb_several_shape *s, double *b, bool transposed) {
  const size_t n = (size_t)s->n;
  double *to = transposed ? s->psi : s->phi;
  for (size_t a = 0; a < MOTIONS; a++)
    for (size_t i = 0; i < n; i++)
      b[a * n + i] = transposed ? s->load[a * s->stride + i] : -s->source[a * s->stride + i];
  (transposed ? cb_potential_back_transposed : cb_potential_back)(s->n, s->stride, s->A, s->pivots, MOTIONS, b);
  for (size_t a = 0; a < MOTIONS; a++) memcpy(to + a * s->stride, b + a * n, n * sizeof *b);
}

/* Computes the added mass and the panels, which are those of the body alone. */
static cb_status find_panels(cb_arena *arena, cb_several_shape *s) {
  const cb_several_body *body = s->body;
  const cb_kirchhoff_options options = {.method = CB_POTENTIAL_DENSE, .memory = SIZE_MAX};
  cb_kirchhoff *k = NULL;
  cb_kirchhoff_mass mass;
  cb_status status = cb_kirchhoff_create(body->vertices, body->x, body->faces, body->face, &options, &k);
  if (!status) status = cb_kirchhoff_added_mass(k, NULL, &mass);
  if (!status) {
    const cb_panels *p = cb_kirchhoff_panels(k);
    int(*face)[3] = cb_arena_alloc(arena, (size_t)p->n, sizeof *face);
    for (int i = 0; face && i < 3 * p->n; i++) face[i / 3][i % 3] = i;
    memcpy(s->K, mass.K, sizeof s->K);
    status = face ? cb_panels_create(p->n, (const double(*)[3])p->corner[0], (const int(*)[3])face, &s->panels)
                  : cb_fail(CB_ERROR_MEMORY, "no memory for %d panels", p->n);
  }
  cb_kirchhoff_free(k);
  return status;
}

static cb_status create_shape(cb_arena *arena, const cb_several_body *body, cb_several_shape *s) {
  double *some;
  s->body = body;
  cb_status status = find_panels(arena, s);
  if (status) return status;
  const size_t n = (size_t)s->panels->n;
  s->n = s->panels->n;
  s->stride = (n + CB_PANEL_PAD - 1) / CB_PANEL_PAD * CB_PANEL_PAD;
  s->pivots = cb_arena_alloc(arena, n, sizeof *s->pivots);
  cb_arena_doubles(arena, n * s->stride, &s->A);
  cb_arena_doubles(arena, n, &s->reach);
  cb_arena_doubles(arena, MOTIONS * s->stride, &s->w, &s->load, &s->phi, &s->psi, &s->source, &some);
  if (cb_arena_lost(arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for the factors of %d panels", s->n);
  set_balls(s);
  set_motions(s);
  fill(s, some);
  status = cb_potential_factor(s->n, s->stride, s->A, s->pivots);
  if (status) return status;
  solve_unit_twists(s, some, false);
  solve_unit_twists(s, some, true);
  return CB_OK;
}

/* --- create and free --- */

static bool same_shape(const cb_several_body *a, const cb_several_body *b) {
  return a->x == b->x && a->face == b->face && a->vertices == b->vertices && a->faces == b->faces;
}

/* Creates the shapes, and sets the shape of each body. */
static cb_status create_shapes(cb_several *m, const cb_several_body *body) {
  cb_status status = CB_OK;
  for (int i = 0; i < m->bodies && !status; i++) {
    int s = 0;
    while (s < m->shapes && !same_shape(m->shape[s].body, body + i)) s++;
    m->of[i] = s;
    if (s < m->shapes) continue;
    m->shapes++;
    status = create_shape(m->arena, body + i, m->shape + s);
    if (status && status != CB_ERROR_MEMORY) status = cb_fail(status, "body %d: %s", i + 1, cb_error_text());
  }
  return status;
}

/* Checks that the factors and the blocks between bodies fit into the memory. The number of faces is at least that of
 * panels. */
static cb_status check_memory(const cb_several_body *body, int bodies, const cb_kirchhoff_options *options) {
  const double memory = options->memory ? (double)options->memory : 4e9;
  double own = 0, all = 0, faces = 0;
  for (int i = 0; i < bodies; i++) {
    const double n = body[i].faces, square = 8 * n * n;
    bool again = false;
    for (int j = 0; j < i && !again; j++) again = same_shape(body + j, body + i);
    if (!again) own += square;
    if (options->wall.kind == CB_MIRROR_NONE) all -= square;
    faces += n;
  }
  const double bytes = own + all + 8 * faces * faces;
  if (bytes <= memory) return CB_OK;
  return cb_fail(CB_ERROR_ARGUMENT,
                 "the matrices of %d bodies with %g faces in one fluid take %.3g GB, more than `memory` = %.3g GB: "
                 "expected fewer faces or more `memory`",
                 bodies, faces, 1e-9 * bytes, 1e-9 * memory);
}

static void set_sizes(cb_several *m) {
  for (int i = 0; i < m->bodies; i++) {
    const cb_several_shape *s = cb_several_shape_of(m, i);
    m->row[i + 1] = m->row[i] + s->n;
    m->at[i + 1] = m->at[i] + s->stride;
  }
  m->rows = m->row[m->bodies];
  m->total = m->at[m->bodies];
  for (int i = 0; i < m->bodies; i++) {
    const cb_several_shape *s = cb_several_shape_of(m, i);
    m->block[i] = m->doubles;
    m->doubles += (size_t)s->n * (m->total - (m->wall.kind == CB_MIRROR_NONE ? s->stride : 0));
  }
}

static cb_status fill_object(cb_several *m, const cb_several_body *body) {
  const size_t n = (size_t)m->bodies;
  m->shape = cb_arena_alloc(m->arena, n, sizeof *m->shape);
  m->of = cb_arena_alloc(m->arena, n, sizeof *m->of);
  m->row = cb_arena_alloc(m->arena, n + 1, sizeof *m->row);
  m->at = cb_arena_alloc(m->arena, n + 1, sizeof *m->at);
  m->block = cb_arena_alloc(m->arena, n, sizeof *m->block);
  m->body = cb_arena_alloc(m->arena, n, sizeof *m->body);
  if (cb_arena_lost(m->arena)) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", m->bodies);
  memcpy(m->body, body, n * sizeof *body);
  const cb_status status = create_shapes(m, m->body);
  if (!status) set_sizes(m);
  return status;
}

cb_status cb_several_create(int bodies, const cb_several_body *body, const cb_kirchhoff_options *options,
                            cb_several **out) {
  const cb_kirchhoff_options used = options ? *options : (cb_kirchhoff_options){0};
  cb_mirror wall = used.wall;
  cb_status status = CB_OK;
  if (used.sheets)
    status = cb_fail(CB_ERROR_UNSUPPORTED,
                     "sheets are not supported with several bodies in one fluid: expected closed "
                     "parts");
  else if (used.curvature != 0)
    status = cb_fail(CB_ERROR_UNSUPPORTED, "several bodies in one fluid are not supported in a curved space");
  else if (wall.kind != CB_MIRROR_NONE)
    status = cb_mirror_check(&wall);
  if (!status) status = check_memory(body, bodies, &used);
  if (status) return status;
  cb_several *m = cb_arena_object(sizeof *m, "several bodies in one fluid");
  if (!m) return CB_ERROR_MEMORY;
  m->bodies = bodies;
  m->wall = wall;
  m->iterations = used.iterations > 0 ? used.iterations : 200;
  status = fill_object(m, body);
  if (status) {
    cb_several_free(m);
    return status;
  }
  *out = m;
  return CB_OK;
}

void cb_several_free(cb_several *m) {
  if (!m) return;
  for (cb_several_work *e; (e = cb_spare_take(&m->work));) cb_several_work_free(e);
  for (int s = 0; s < m->shapes; s++) cb_panels_free(m->shape[s].panels);
  cb_arena_free(m->arena);
}
