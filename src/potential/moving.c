/* Bodies that move near a plane, and bodies that change their shape (moving.h). S, D and their gradients are computed
 * by tiles of panels, whose data stays in the cache.
 */
#include "potential/moving.h"

#include "core/arena.h"
#include "core/threads.h"
#include "numerics/vec3.h"
#include "potential/linear_solvers.h"
#include "potential/operator.h"
#include "potential/panel_kernel.h"
#include "potential/panels.h"

#include <math.h>
#include <string.h>

enum { MOTIONS = 6, COLUMNS = CB_PLACED_COLUMNS, TILE = 512, ROWS = 16 };

struct cb_placed {
  cb_arena *arena;
  int vertices, faces, n; /* n: number of panels that the fluid reaches */
  const double (*x)[3];
  const int (*face)[3];
  cb_kirchhoff_options options; /* the options for free space */
  cb_kirchhoff_mass far;
  cb_kirchhoff_report report;
  cb_mirror wall; /* its normal has length 1 */
  cb_spare piece;
};

typedef struct piece {
  cb_arena *arena;
  const cb_placed *m;
  cb_kirchhoff *body; /* the body in free space, which provides the panels */
  const cb_panels *own;
  cb_panels *image;
  size_t stride;
  bool known;           /* the panels `own` are those at x, and `free` and `source` were computed from them */
  double (*x)[3];       /* [vertices]: the positions of the vertices in the axes of the body */
  double *free;         /* [n][stride]: the matrix I/2 - D of the body without the plane */
  double *source;       /* [COLUMNS][n]: -S w_a of the body without the plane */
  double *w, *phi;      /* [COLUMNS][stride]: normal velocities w_a and potentials phi_a (moving.h); 0 from n on */
  double *psi, *solved; /* psi: [COLUMNS][n] (moving.h); solved: [COLUMNS][n], phi without padding */
  double *A;            /* [n][stride]: A (moving.h), later its factors */
  int *pivots;
  double (*flow)[COLUMNS][3]; /* [n]: V_a (moving.h), the velocity that the images cause at the centres of the panels */
  double (*corner)[3];        /* [3 n]: the corners of the images */
  int (*face)[3];             /* [n]: the corners of each image, as indices of `corner` */
  double nu[3], h, sign;
} piece;

/* --- matrices --- */

/* Computes A = from - sign D and b = source - sign S w for the panels. If `from` is NULL, I/2 is used; if `source` is
 * NULL, 0 is used. */
typedef struct task {
  piece *e;
  const cb_panels *panels;
  double sign;
  const double *from, *source;
  double *A, *b;
} task;

static int padded(int count) { return (count + CB_PANEL_PAD - 1) & ~(CB_PANEL_PAD - 1); }

static void fill_piece(const task *t, int begin, int end) {
  const piece *e = t->e;
  const int n = e->own->n;
  double sum[ROWS][CB_PANEL_COLUMNS] = {{0}}, S[TILE];
  for (int j = 0; j < n; j += TILE) {
    const int count = n - j < TILE ? n - j : TILE;
    for (int i = begin; i < end; i++) {
      const size_t at = (size_t)i * e->stride + (size_t)j;
      double *A = t->A + at;
      const bool self = !t->from && i >= j && i < j + count;
      cb_panels_range(t->panels, e->own->centre[i], j, count, self ? i - j : -1, S, A);
      for (int k = count; k < padded(count); k++) S[k] = 0;
      for (int k = 0; k < count; k++) A[k] = (t->from ? t->from[at + (size_t)k] : 0) - t->sign * A[k];
      if (self) A[i - j] += 0.5;
      t->panels->kernels->product(S, padded(count), COLUMNS, e->w + j, e->stride, sum[i - begin]);
    }
  }
  for (int i = begin; i < end; i++)
    for (int c = 0; c < COLUMNS; c++) {
      const size_t at = (size_t)c * (size_t)n + (size_t)i;
      t->b[at] = (t->source ? t->source[at] : 0) - t->sign * sum[i - begin][c];
    }
}

static void fill_rows(void *context, int begin, int end) {
  for (int i = begin; i < end; i += ROWS) fill_piece(context, i, i + ROWS < end ? i + ROWS : end);
}

static void flow_rows(void *context, int begin, int end) {
  const piece *e = context;
  const int n = e->own->n;
  double row[6 * TILE];
  const size_t length = TILE;
  for (int i = begin; i < end; i++) {
    double sum[6][CB_PANEL_COLUMNS] = {{0}};
    for (int j = 0; j < n; j += TILE) {
      const int count = n - j < TILE ? n - j : TILE;
      cb_panels_gradients(e->image, e->own->centre[i], j, count, length, row, row + 3 * length);
      for (int k = 0; k < 6; k++) {
        for (int l = count; l < padded(count); l++) row[(size_t)k * length + (size_t)l] = 0;
        e->image->kernels->product(row + (size_t)k * length, padded(count), COLUMNS, (k < 3 ? e->w : e->phi) + j,
                                   e->stride, sum[k]);
      }
    }
    for (int c = 0; c < COLUMNS; c++)
      for (int k = 0; k < 3; k++) e->flow[i][c][k] = sum[3 + k][c] - sum[k][c];
  }
}

/* cb_threads_for expects elements that take about 100 ns each. A pair of panels takes a few ns, so 16 pairs count as
 * one element. */
static void each_row(piece *e, void (*part)(void *, int, int), void *context) {
  const size_t n = (size_t)e->own->n;
  cb_threads_range(cb_threads_for(n * n / 16), e->own->n, part, context);
}

/* --- the body in its own axes --- */

static void set_twists(piece *e) {
  const cb_panels *p = e->own;
  for (int i = 0; i < p->n; i++) {
    double m[MOTIONS];
    cb_cross3(p->centre[i], p->normal[i], m);
    memcpy(m + 3, p->normal[i], 3 * sizeof *m);
    for (int a = 0; a < MOTIONS; a++) e->w[(size_t)a * e->stride + (size_t)i] = m[a];
  }
}

static void set_shape(piece *e, const double (*v)[3]) {
  double *w = e->w + MOTIONS * e->stride;
  memset(w, 0, e->stride * sizeof *w);
  const int *which = cb_kirchhoff_faces(e->body);
  for (int i = 0; v && i < e->own->n; i++) {
    const int *c = e->m->face[which[i]];
    double mean[3];
    for (int d = 0; d < 3; d++) mean[d] = (v[c[0]][d] + v[c[1]][d] + v[c[2]][d]) / 3;
    w[i] = cb_dot3(mean, e->own->normal[i]);
  }
}

static cb_status set_body(piece *e, const double (*x)[3], const double (*v)[3]) {
  const size_t size = (size_t)e->m->vertices * sizeof *x;
  const bool same = e->known && !v && !memcmp(x, e->x, size);
  if (same) return CB_OK;
  e->known = false;
  const cb_status status = cb_kirchhoff_renew(e->body, x, NULL);
  if (status) return status;
  memcpy(e->x, x, size);
  set_twists(e);
  set_shape(e, v);
  task t = {.e = e, .panels = e->own, .sign = 1, .A = e->free, .b = e->source};
  each_row(e, fill_rows, &t);
  e->known = !v;
  return CB_OK;
}

/* --- near the plane --- */

static cb_status set_plane(piece *e, const cb_pose *g) {
  const cb_mirror *wall = &e->m->wall;
  const int n = e->own->n;
  double r[3][3], least = INFINITY;
  cb_pose_rotation(g, r);
  cb_apply3_transposed(r, wall->normal, e->nu);
  e->h = wall->height - cb_dot3(wall->normal, g->x);
  e->sign = wall->kind == CB_MIRROR_FREE ? -1 : 1;
  for (int i = 0; i < 3 * n; i++) {
    const double *x = e->own->corner[i / 3][i % 3], from = cb_dot3(x, e->nu) - e->h;
    least = fmin(least, from);
    /* the order of the corners is reversed, because a mirror image with the same order would have its normal inwards */
    double *to = e->corner[i - 2 * (i % 3) + 2];
    for (int k = 0; k < 3; k++) to[k] = x[k] - 2 * from * e->nu[k];
  }
  if (least > 0) return cb_panels_move(e->image, (const double(*)[3])e->corner, (const int(*)[3])e->face);
  return cb_fail(CB_STEP_DOMAIN,
                 "a body is behind its wall: a corner is at the height %g above the wall: expected more than 0", least);
}

static cb_status solve(piece *e) {
  const int n = e->own->n;
  const size_t count = (size_t)n;
  task t = {e, e->image, e->sign, e->free, e->source, e->A, e->solved};
  each_row(e, fill_rows, &t);
  const cb_status status = cb_potential_factor(n, e->stride, e->A, e->pivots);
  if (status) return status;
  for (int c = 0; c < COLUMNS; c++)
    for (int i = 0; i < n; i++)
      e->psi[(size_t)c * count + (size_t)i] = e->own->area[i] * e->w[(size_t)c * e->stride + (size_t)i];
  cb_potential_back(n, e->stride, e->A, e->pivots, COLUMNS, e->solved);
  cb_potential_back_transposed(n, e->stride, e->A, e->pivots, COLUMNS, e->psi);
  for (size_t c = 0; c < COLUMNS; c++) memcpy(e->phi + c * e->stride, e->solved + c * count, count * sizeof *e->phi);
  each_row(e, flow_rows, e);
  return CB_OK;
}

static cb_status find_form(const piece *e, cb_placed_form *out) {
  const int n = e->own->n;
  double raw[COLUMNS][COLUMNS] = {{0}}, worst = 0;
  for (int a = 0; a < COLUMNS; a++)
    for (int b = 0; b < COLUMNS; b++)
      for (int i = 0; i < n; i++)
        raw[a][b] -= e->solved[a * n + i] * e->own->area[i] * e->w[(size_t)b * e->stride + (size_t)i];
  for (int a = 0; a < COLUMNS; a++)
    for (int b = 0; b < COLUMNS; b++) out->G[a][b] = (raw[a][b] + raw[b][a]) / 2;
  for (int a = 3; a < MOTIONS; a++)
    for (int b = 3; b < MOTIONS; b++)
      worst = fmax(worst, fabs(raw[a][b] - raw[b][a]) / (raw[3][3] + raw[4][4] + raw[5][5]));
  if (worst < 0.1) return CB_OK;
  return cb_fail(
      CB_STEP_DOMAIN,
      "the body is too near to the wall of its fluid model for its %d faces: the relative raw asymmetry of K is "
      "%.2g: expected an earlier end of the run, or smaller faces",
      n, worst);
}

static void find_slope(const piece *e, cb_placed_form *out) {
  const int n = e->own->n;
  memset(out->slope, 0, sizeof out->slope);
  for (int a = 0; a < COLUMNS; a++)
    for (int b = 0; b < COLUMNS; b++) {
      double force[3] = {0}, torque[3] = {0};
      for (int i = 0; i < n; i++) {
        double x[3], pull[3], turn[3];
        for (int k = 0; k < 3; k++) {
          x[k] = e->own->centre[i][k] - e->h * e->nu[k];
          pull[k] = -e->sign * e->psi[b * n + i] * e->flow[i][a][k];
          force[k] += pull[k];
        }
        cb_cross3(x, pull, turn);
        for (int k = 0; k < 3; k++) torque[k] += turn[k];
      }
      const double along = cb_dot3(e->nu, force), about = cb_dot3(e->nu, torque);
      /* G is made symmetric by (G_ab + G_ba)/2. This 1/2 cancels the factor 2 of dx (moving.h) */
      for (int k = 0; k < 3; k++) {
        const double turns = torque[k] - about * e->nu[k], moves = along * e->nu[k];
        out->slope[k][a][b] += turns;
        out->slope[k][b][a] += turns;
        out->slope[3 + k][a][b] += moves;
        out->slope[3 + k][b][a] += moves;
      }
    }
}

/* --- the work memory of one thread --- */

static void free_piece(piece *e) {
  cb_kirchhoff_free(e->body);
  cb_panels_free(e->image);
  cb_arena_free(e->arena);
}

static cb_status create_piece(const cb_placed *m, piece **out) {
  const size_t n = (size_t)m->n, stride = (size_t)padded(m->n), matrix = n * stride;
  const double bytes = 2 * 8. * (double)matrix;
  if (bytes > (double)m->options.memory)
    return cb_fail(CB_ERROR_ARGUMENT,
                   "the matrices of %d panels that move near a wall take %.3g GB, more than `memory` = %.3g GB: "
                   "expected fewer faces or more `memory`",
                   m->n, 1e-9 * bytes, 1e-9 * (double)m->options.memory);
  piece *e = cb_arena_object(sizeof *e, "a body near a wall");
  if (!e) return CB_ERROR_MEMORY;
  e->m = m;
  e->stride = stride;
  e->x = cb_arena_alloc(e->arena, (size_t)m->vertices, sizeof *e->x);
  e->pivots = cb_arena_alloc(e->arena, n, sizeof *e->pivots);
  e->flow = cb_arena_alloc(e->arena, n, sizeof *e->flow);
  e->corner = cb_arena_alloc(e->arena, 3 * n, sizeof *e->corner);
  e->face = cb_arena_alloc(e->arena, n, sizeof *e->face);
  cb_arena_doubles(e->arena, matrix, &e->free, &e->A);
  cb_arena_doubles(e->arena, COLUMNS * stride, &e->w, &e->phi);
  cb_arena_doubles(e->arena, COLUMNS * n, &e->source, &e->psi, &e->solved);
  cb_status status =
      cb_arena_lost(e->arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for %d panels that move near a wall", m->n) : CB_OK;
  for (int i = 0; i < 3 * m->n && !status; i++) e->face[i / 3][i % 3] = i;
  if (!status) status = cb_kirchhoff_create(m->vertices, m->x, m->faces, m->face, &m->options, &e->body);
  if (!status) {
    e->own = cb_kirchhoff_panels(e->body);
    for (int i = 0; i < 3 * m->n; i++) memcpy(e->corner[i], e->own->corner[i / 3][i % 3], sizeof *e->corner);
    status = cb_panels_create(m->n, (const double(*)[3])e->corner, (const int(*)[3])e->face, &e->image);
  }
  if (status)
    free_piece(e);
  else
    *out = e;
  return status;
}

cb_status cb_placed_at(cb_placed *m, const double (*x)[3], const double (*v)[3], const cb_pose *g,
                       cb_placed_form *out) {
  piece *e = cb_spare_take(&m->piece);
  cb_placed_form form;
  cb_status status = e ? CB_OK : create_piece(m, &e);
  if (status) return status;
  status = set_body(e, x, v);
  if (!status) status = set_plane(e, g);
  if (!status) status = solve(e);
  if (!status) status = find_form(e, &form);
  if (!status) {
    find_slope(e, &form);
    *out = form;
  }
  if (!cb_spare_leave(&m->piece, e)) free_piece(e);
  return status;
}

/* --- create and free --- */

const cb_kirchhoff_mass *cb_placed_far(const cb_placed *m, cb_kirchhoff_report *report) {
  *report = m->report;
  return &m->far;
}

/* Computes the added mass of the body far from the plane, its number of panels and its report. */
static cb_status look(cb_placed *m) {
  cb_kirchhoff *k = NULL;
  cb_status status = cb_kirchhoff_create(m->vertices, m->x, m->faces, m->face, &m->options, &k);
  if (!status) status = cb_kirchhoff_added_mass(k, NULL, &m->far);
  if (!status) {
    m->n = cb_kirchhoff_panels(k)->n;
    m->report = cb_kirchhoff_report_of(k);
  }
  cb_kirchhoff_free(k);
  return status;
}

cb_status cb_placed_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                           const cb_kirchhoff_options *options, cb_placed **out) {
  cb_mirror wall = options->wall;
  cb_status status =
      options->sheets
          ? cb_fail(CB_ERROR_UNSUPPORTED, "sheets near a wall are not supported: expected closed parts, or no `wall`")
          : cb_mirror_check(&wall);
  if (status) return status;
  cb_placed *m = cb_arena_object(sizeof *m, "a body that moves near a wall");
  if (!m) return CB_ERROR_MEMORY;
  m->vertices = vertices;
  m->x = x;
  m->faces = faces;
  m->face = face;
  m->wall = wall;
  m->options = *options;
  m->options.wall.kind = CB_MIRROR_NONE;
  if (m->options.memory == 0) m->options.memory = 4000000000;
  status = look(m);
  if (status) {
    cb_placed_free(m);
    return status;
  }
  *out = m;
  return CB_OK;
}

void cb_placed_free(cb_placed *m) {
  if (!m) return;
  for (piece *e; (e = cb_spare_take(&m->piece));) free_piece(e);
  cb_arena_free(m->arena);
}

/* --- bodies that change their shape. A solver whose iteration was slow at one pose has changed its method
 * (potential/operator.h). Such a solver is freed, so that results do not depend on earlier calls --- */

struct cb_moving {
  cb_arena *arena;
  int vertices, faces;
  const double (*x)[3];
  const int (*face)[3];
  cb_kirchhoff_options options;
  cb_kirchhoff_mass mass; /* the added mass at x, at rest */
  cb_kirchhoff_report report;
  double *start; /* [6][panels]: the potentials from which the iteration at each pose starts; NULL: from 0 */
  bool unsolved; /* the potentials at creation could not be computed, for example because moving parts overlap there */
  cb_spare piece;
};

static cb_status create_kirchhoff(const cb_moving *m, cb_kirchhoff **out) {
  return cb_kirchhoff_create(m->vertices, m->x, m->faces, m->face, &m->options, out);
}

static cb_status borrow(cb_moving *m, const double (*x)[3], cb_kirchhoff **out) {
  *out = cb_spare_take(&m->piece);
  cb_status status = *out ? CB_OK : create_kirchhoff(m, out);
  if (!status) status = cb_kirchhoff_renew(*out, x, m->start);
  if (status) {
    cb_kirchhoff_free(*out);
    *out = NULL;
  }
  return status;
}

static void give_back(cb_moving *m, cb_kirchhoff *k) {
  const bool same = cb_kirchhoff_report_of(k).method == m->report.method;
  if (!same || !cb_spare_leave(&m->piece, k)) cb_kirchhoff_free(k);
}

cb_status cb_moving_added_mass(cb_moving *m, const double (*x)[3], const double (*v)[3], cb_kirchhoff_mass *out) {
  cb_kirchhoff *k;
  if (!v && !m->unsolved && !memcmp(x, m->x, (size_t)m->vertices * sizeof *x)) {
    *out = m->mass;
    return CB_OK;
  }
  cb_status status = borrow(m, x, &k);
  if (status) return status;
  status = cb_kirchhoff_added_mass(k, v, out);
  give_back(m, k);
  return status;
}

cb_status cb_moving_form(cb_moving *m, const double (*x)[3], int n, const double (*v)[3], double *G) {
  cb_kirchhoff *k;
  cb_status status = borrow(m, x, &k);
  if (status) return status;
  status = cb_kirchhoff_form(k, n, v, G);
  give_back(m, k);
  return status;
}

cb_kirchhoff_report cb_moving_report(const cb_moving *m) { return m->report; }

/* If the first solution used factors of the complete matrix, all later poses use the dense method from the
 * beginning. */
static cb_status solve_first(cb_moving *m) {
  cb_kirchhoff *k = NULL;
  cb_status status = create_kirchhoff(m, &k);
  if (!status) status = cb_kirchhoff_added_mass(k, NULL, &m->mass);
  if (!status) {
    const size_t count = 6 * (size_t)cb_kirchhoff_panels(k)->n;
    m->report = cb_kirchhoff_report_of(k);
    m->start = cb_arena_alloc(m->arena, count, sizeof *m->start);
    if (m->start)
      memcpy(m->start, cb_kirchhoff_potentials(k), count * sizeof *m->start);
    else
      status = cb_fail(CB_ERROR_MEMORY, "no memory for the potentials of %d faces", m->faces);
    if (m->report.method == CB_POTENTIAL_DENSE) m->options.method = CB_POTENTIAL_DENSE;
  }
  cb_kirchhoff_free(k);
  return status;
}

cb_status cb_moving_create(int vertices, const double (*x)[3], int faces, const int (*face)[3],
                           const cb_kirchhoff_options *options, cb_moving **out) {
  cb_moving *m = cb_arena_object(sizeof *m, "the potential flow around a body that moves");
  if (!m) return CB_ERROR_MEMORY;
  m->vertices = vertices;
  m->faces = faces;
  m->x = x;
  m->face = face;
  if (options) m->options = *options;
  const cb_status status = solve_first(m);
  if (status && status != CB_ERROR_MEMORY && m->options.curvature != 0) {
    /* Moving parts may overlap at the positions at creation, but not at other poses. */
    m->start = NULL;
    m->report.method = CB_POTENTIAL_ITERATIVE;
    m->unsolved = true;
  } else if (status) {
    cb_moving_free(m);
    return status;
  }
  *out = m;
  return CB_OK;
}

void cb_moving_free(cb_moving *m) {
  if (!m) return;
  for (cb_kirchhoff *k; (k = cb_spare_take(&m->piece));) cb_kirchhoff_free(k);
  cb_arena_free(m->arena);
}
