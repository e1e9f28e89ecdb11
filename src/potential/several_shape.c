/* The shapes of several bodies in one fluid (several.h): the panels, the factors and the potentials of each shape
 * alone, and the sizes of all data.
 */
#include "potential/several_private.h"

#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include "potential/operator.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum { MOTIONS = CB_SEVERAL_MOTIONS };

/* Sets the balls around the panels and around the shape. Its middle is that of all centres; in a sphere they may have
 * none, and the first one is used. */
static void set_balls(cb_several_shape *s) {
  double sum[4] = {0};
  for (int i = 0; i < s->n; i++)
    for (int k = 0; k < 4; k++) sum[k] += s->centre[i][k] / s->n;
  const double square = sum[3] * sum[3] + s->space.sign * cb_dot3(sum, sum);
  for (int k = 0; k < 4; k++) s->middle[k] = square > 1e-6 ? sum[k] / sqrt(square) : s->centre[0][k];
  for (int i = 0; i < 3 * s->n; i++) {
    const double *y = s->corner[i / 3][i % 3];
    s->reach[i / 3] = fmax(s->reach[i / 3], cb_several_distance(&s->space, y, s->centre[i / 3]));
    s->radius = fmax(s->radius, cb_several_distance(&s->space, y, s->middle));
    s->widest = fmax(s->widest, s->reach[i / 3]);
  }
}

/* Sets the points of the panels and the normal velocity of panel i for unit twists, m. `corner` are the normal
 * coordinates of its corners. */
static void set_points(cb_several_shape *s, int i, const double corner[3][3], double m[MOTIONS]) {
  for (int k = 0; k < 3; k++) {
    double *y = s->corner[i][k];
    cb_curved_point(s->space.K, corner[k], y);
    for (int l = 0; l < 3; l++) y[l] *= s->space.r;
  }
  if (s->panels) {
    const double *x = s->panels->centre[i], *n = s->panels->normal[i];
    memcpy(s->centre[i], (const double[4]){x[0], x[1], x[2], 1}, sizeof *s->centre);
    cb_cross3(x, n, m);
    memcpy(m + 3, n, 3 * sizeof *m);
  } else {
    memcpy(s->centre[i], s->curved.centre[i], sizeof *s->centre);
    memcpy(m, s->curved.flux[i], MOTIONS * sizeof *m);
  }
}

static void set_motions(cb_several_shape *s, const cb_panels *p) {
  for (int i = 0; i < s->n; i++) {
    double m[MOTIONS];
    set_points(s, i, (const double(*)[3])p->corner[i], m);
    for (size_t a = 0; a < MOTIONS; a++) {
      s->w[a * s->stride + (size_t)i] = m[a];
      s->load[a * s->stride + (size_t)i] = s->area[i] * m[a];
    }
  }
}

/* Computes A = I/2 - D and S w_a. S has one row of a matrix, padded with zeros. */
static void fill(cb_several_shape *s, const cb_panel_kernels *kernels, double *S) {
  for (int i = 0; i < s->n; i++) {
    double *A = s->A + (size_t)i * s->stride, sum[CB_PANEL_COLUMNS] = {0};
    cb_several_range(s, s->centre[i], 0, s->n, i, S, A);
    s->share += 0.5 / s->n;
    for (int k = 0; k < s->n; k++) {
      s->share += A[k] / s->n;
      A[k] = (k == i ? 0.5 : 0) - A[k];
    }
    kernels->product(S, (int)s->stride, MOTIONS, s->w, s->stride, sum);
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

/* Takes the panels p, which have normal coordinates in a curved space. */
static cb_status take_panels(cb_arena *arena, const cb_panels *p, cb_several_shape *s) {
  int(*face)[3] = cb_arena_alloc(arena, (size_t)p->n, sizeof *face);
  if (!face) return cb_fail(CB_ERROR_MEMORY, "no memory for %d panels", p->n);
  for (int i = 0; i < 3 * p->n; i++) face[i / 3][i % 3] = i;
  const double(*x)[3] = (const double(*)[3])p->corner[0];
  const int(*corner)[3] = (const int(*)[3])face;
  s->n = p->n;
  if (s->space.K == 0) {
    const cb_status status = cb_panels_create(p->n, x, corner, &s->panels);
    if (!status) s->area = s->panels->area;
    return status;
  }
  cb_status status = cb_curved_panels_take(&s->curved, arena, p->n, s->space.K);
  s->area = s->curved.area;
  if (!status) status = cb_curved_panels_place(&s->curved, x, corner);
  s->curved.few = false; /* the jumps of the energy (several.h) are then a thousand times smaller */
  return status;
}

static cb_status take_arrays(cb_arena *arena, cb_several_shape *s, double **some) {
  const size_t n = (size_t)s->n;
  s->stride = (n + CB_PANEL_PAD - 1) / CB_PANEL_PAD * CB_PANEL_PAD;
  s->pivots = cb_arena_alloc(arena, n, sizeof *s->pivots);
  s->centre = cb_arena_alloc(arena, n, sizeof *s->centre);
  s->corner = cb_arena_alloc(arena, n, sizeof *s->corner);
  cb_arena_doubles(arena, n * s->stride, &s->A);
  cb_arena_doubles(arena, n, &s->reach);
  cb_arena_doubles(arena, MOTIONS * s->stride, &s->w, &s->load, &s->phi, &s->psi, &s->source, some);
  return cb_arena_lost(arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for the factors of %d panels", s->n) : CB_OK;
}

/* Computes the data of a shape from its panels p. */
static cb_status fill_shape(cb_arena *arena, const cb_panel_kernels *kernels, const cb_panels *p, cb_several_shape *s) {
  double *some = NULL;
  cb_status status = take_panels(arena, p, s);
  if (!status) status = take_arrays(arena, s, &some);
  if (status) return status;
  set_motions(s, p);
  set_balls(s);
  fill(s, kernels, some);
  status = cb_potential_factor(s->n, s->stride, s->A, s->pivots);
  if (status) return status;
  solve_unit_twists(s, some, false);
  solve_unit_twists(s, some, true);
  return CB_OK;
}

/* Computes the added mass of the body alone, and the data of its panels. */
static cb_status create_shape(cb_several *m, const cb_several_body *body, cb_several_shape *s) {
  const cb_kirchhoff_options options = {.method = CB_POTENTIAL_DENSE, .memory = SIZE_MAX, .curvature = m->space.K};
  cb_kirchhoff *k = NULL;
  cb_kirchhoff_mass mass;
  s->body = body;
  s->space = m->space;
  cb_status status = cb_kirchhoff_create(body->vertices, body->x, body->faces, body->face, &options, &k);
  if (!status) status = cb_kirchhoff_added_mass(k, NULL, &mass);
  if (!status) {
    memcpy(s->K, mass.K, sizeof s->K);
    status = fill_shape(m->arena, m->kernels, cb_kirchhoff_panels(k), s);
  }
  cb_kirchhoff_free(k);
  return status;
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
    status = create_shape(m, body + i, m->shape + s);
    if (status && status != CB_ERROR_MEMORY)
      status = cb_fail(status, "body %s: %s", cb_several_name(m, i).text, cb_error_text());
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
  else if (used.curvature != 0 && wall.kind != CB_MIRROR_NONE)
    status = cb_fail(CB_ERROR_UNSUPPORTED, "a wall in a curved space is not supported: expected no `wall`");
  else if (wall.kind != CB_MIRROR_NONE)
    status = cb_mirror_check(&wall);
  if (!status) status = check_memory(body, bodies, &used);
  if (status) return status;
  cb_several *m = cb_arena_object(sizeof *m, "several bodies in one fluid");
  if (!m) return CB_ERROR_MEMORY;
  m->bodies = bodies;
  m->wall = wall;
  m->space = (cb_several_space){used.curvature, (used.curvature > 0) - (used.curvature < 0),
                                used.curvature == 0 ? 1 : sqrt(fabs(used.curvature))};
  m->kernels = cb_panel_kernels_of_isa();
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
