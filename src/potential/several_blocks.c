/* The blocks of S and D between several bodies, and the flow of one body at the panels of another (several.h). They are
 * computed in the axes of the body that carries the panels, by tiles of panels, whose data stays in the cache.
 */
#include "potential/several_private.h"

#include <string.h>

enum { MOTIONS = CB_SEVERAL_MOTIONS, TILE = 512, ROWS = 16 };

static int padded(int count) { return (count + CB_PANEL_PAD - 1) & ~(CB_PANEL_PAD - 1); }

static int smaller(int a, int b) { return a < b ? a : b; }

/* A row of body i has the panels of all bodies, or of all but i if there is no wall. Returns the number of numbers in
 * a row that are left out, and the length of a row. */
static size_t left_out(const cb_several *m, int i) { return m->wall.kind ? 0 : m->at[i + 1] - m->at[i]; }
static size_t width_of(const cb_several *m, int i) { return m->total - left_out(m, i); }
static double *row_of(const cb_several_work *e, int i, int row) {
  return e->D + e->m->block[i] + (size_t)(row - e->m->row[i]) * width_of(e->m, i);
}
static size_t column_of(const cb_several *m, int i, int j) { return m->at[j] - (j > i ? left_out(m, i) : 0); }

/* Calls part for the rows begin to end in pieces of at most ROWS rows of the same body. */
static void each_piece(cb_several_work *e, int begin, int end,
                       void (*part)(cb_several_work *, int body, int begin, int end)) {
  for (int i = 0; i < e->m->bodies; i++) {
    const int last = smaller(end, e->m->row[i + 1]);
    for (int r = begin > e->m->row[i] ? begin : e->m->row[i]; r < last; r += ROWS)
      part(e, i, r, smaller(r + ROWS, last));
  }
}

/* --- S and D --- */

/* Adds the panels of body j in one view of the rows begin to end of body i to D, to the sums of S w_a, and to the sums
 * of D. */
static void fill_view(cb_several_work *e, const int ij[2], const cb_several_view *v, const int rows[2],
                      double sum[ROWS][CB_PANEL_COLUMNS], double solid[ROWS]) {
  const cb_several *m = e->m;
  const cb_several_shape *from = cb_several_shape_of(m, ij[0]), *to = cb_several_shape_of(m, ij[1]);
  const size_t column = column_of(m, ij[0], ij[1]);
  double S[TILE], D[TILE];
  for (int k = 0; k < to->n; k += TILE) {
    const int count = smaller(to->n - k, TILE);
    for (int r = rows[0]; r < rows[1]; r++) {
      double y[4], *out = row_of(e, ij[0], r) + column + k, all = 0;
      cb_several_seen(v, from->centre[r - m->row[ij[0]]], y);
      cb_several_range(to, y, k, count, -1, S, D);
      for (int l = 0; l < count; l++) {
        S[l] *= v->sign;
        out[l] += v->sign * D[l];
        all += D[l];
      }
      for (int l = count; l < padded(count); l++) S[l] = 0;
      solid[r - rows[0]] += all;
      m->kernels->product(S, padded(count), MOTIONS, to->w + k, to->stride, sum[r - rows[0]]);
    }
  }
}

static void fill_piece(cb_several_work *e, int i, int begin, int end) {
  const cb_several *m = e->m;
  const size_t width = width_of(m, i);
  memset(row_of(e, i, begin), 0, (size_t)(end - begin) * width * sizeof *e->D);
  for (int r = begin; r < end; r++) e->inside[r] = -1;
  for (int j = 0; j < m->bodies; j++) {
    double sum[ROWS][CB_PANEL_COLUMNS] = {{0}};
    for (int mirrored = 0; mirrored < 2; mirrored++) {
      const cb_several_view *v = cb_several_view_of(e, i, j, mirrored);
      double solid[ROWS] = {0};
      if (v->sign == 0) continue;
      fill_view(e, (const int[]){i, j}, v, (const int[]){begin, end}, sum, solid);
      for (int r = begin; r < end && !mirrored; r++)
        if (solid[r - begin] < cb_several_shape_of(m, j)->share - 0.5) e->inside[r] = j;
    }
    for (int r = begin; r < end; r++)
      memcpy(e->more + ((size_t)r * (size_t)m->bodies + (size_t)j) * MOTIONS, sum[r - begin], MOTIONS * sizeof(double));
  }
}

static void fill_rows(void *context, int begin, int end) { each_piece(context, begin, end, fill_piece); }

cb_status cb_several_fill(cb_several_work *e) {
  const cb_several *m = e->m;
  cb_threads_range(cb_several_threads(m, 16), m->rows, fill_rows, e);
  for (int i = 0, r = 0; i < m->bodies; i++)
    for (; r < m->row[i + 1]; r++)
      if (e->inside[r] >= 0)
        return cb_fail(CB_STEP_DOMAIN, "bodies %s and %s overlap: expected a gap of at least %g between them",
                       cb_several_name(m, i).text, cb_several_name(m, e->inside[r]).text, e->report.resolved);
  return CB_OK;
}

/* --- products --- */

typedef struct task {
  cb_several_work *e;
  int columns;
  const double *x;
  double *out;
} task;

/* A row of body i without its own panels has two parts: the panels before them, and those after them. */
static void product_rows(void *context, int begin, int end) {
  const task *t = context;
  const cb_several *m = t->e->m;
  for (int i = 0; i < m->bodies; i++) {
    const size_t skip = left_out(m, i), before = skip ? m->at[i] : m->total, after = m->total - before - skip;
    const int last = smaller(end, m->row[i + 1]);
    for (int r = begin > m->row[i] ? begin : m->row[i]; r < last; r++) {
      const double *D = row_of(t->e, i, r);
      double sum[CB_PANEL_COLUMNS] = {0};
      m->kernels->product(D, (int)before, t->columns, t->x, m->total, sum);
      m->kernels->product(D + before, (int)after, t->columns, t->x + before + skip, m->total, sum);
      for (int c = 0; c < t->columns; c++) t->out[(size_t)c * m->total + m->at[i] + (size_t)(r - m->row[i])] = sum[c];
    }
  }
}

void cb_several_product(cb_several_work *e, int columns, const double *x, double *out) {
  task t = {e, columns, x, out};
  memset(out, 0, (size_t)columns * e->m->total * sizeof *out);
  cb_threads_range(cb_several_threads(e->m, 256), e->m->rows, product_rows, &t);
}

/* Adds the rows of body i, at the panels begin to end, to one column. */
static void add_rows(const task *t, int i, size_t begin, size_t end, size_t shift, int c) {
  const cb_several *m = t->e->m;
  const double *x = t->x + (size_t)c * m->total + m->at[i];
  double *out = t->out + (size_t)c * m->total;
  for (int r = m->row[i]; r < m->row[i + 1]; r++) {
    const double *D = row_of(t->e, i, r), factor = x[r - m->row[i]];
    for (size_t k = begin; k < end; k++) out[k] += factor * D[k - shift];
  }
}

/* begin and end count groups of CB_PANEL_PAD panels. */
static void transposed_columns(void *context, int begin, int end) {
  const task *t = context;
  const cb_several *m = t->e->m;
  const size_t first = (size_t)begin * CB_PANEL_PAD, last = (size_t)end * CB_PANEL_PAD;
  for (int c = 0; c < t->columns; c++)
    for (int i = 0; i < m->bodies; i++) {
      const size_t skip = left_out(m, i), before = skip ? m->at[i] : m->total, after = before + skip;
      add_rows(t, i, first, last < before ? last : before, 0, c);
      add_rows(t, i, first > after ? first : after, last, skip, c);
    }
}

void cb_several_product_transposed(cb_several_work *e, int columns, const double *x, double *out) {
  task t = {e, columns, x, out};
  memset(out, 0, (size_t)columns * e->m->total * sizeof *out);
  cb_threads_range(cb_several_threads(e->m, 256), (int)(e->m->total / CB_PANEL_PAD), transposed_columns, &t);
}

/* --- the flow V --- */

typedef struct flow_task {
  cb_several_work *e;
  const cb_several_columns *c;
  const cb_several_view *view;
  int i, j;
} flow_task;

/* Adds the velocities that the gradients rows[6][TILE] of a tile cause to flow[columns][3]. The tile begins at panel
 * `at` of the vectors. */
static void add_flow(const flow_task *t, const double *rows, int count, size_t at, double (*flow)[3]) {
  const cb_several *m = t->e->m;
  for (int c = 0; c < t->c->count; c += MOTIONS) {
    const int columns = smaller(MOTIONS, t->c->count - c);
    for (int k = 0; k < 6; k++) {
      double sum[CB_PANEL_COLUMNS] = {0};
      const double *x = (k < 3 ? t->c->w : t->c->phi) + (size_t)c * m->total + at;
      m->kernels->product(rows + (size_t)k * TILE, count, columns, x, m->total, sum);
      for (int l = 0; l < columns; l++) flow[c + l][k % 3] += k < 3 ? -sum[l] : sum[l];
    }
  }
}

static void flow_rows(void *context, int begin, int end) {
  const flow_task *t = context;
  const cb_several *m = t->e->m;
  const cb_several_shape *from = cb_several_shape_of(m, t->i), *to = cb_several_shape_of(m, t->j);
  const size_t columns = (size_t)t->c->count;
  double rows[6 * TILE];
  memset(t->c->flow + 3 * columns * (size_t)begin, 0, 3 * columns * (size_t)(end - begin) * sizeof(double));
  for (int r = begin; r < end; r++) {
    double y[4], (*flow)[3] = (double(*)[3])(t->c->flow + 3 * columns * (size_t)r);
    cb_several_seen(t->view, from->centre[r], y);
    for (int k = 0; k < to->n; k += TILE) {
      const int count = smaller(to->n - k, TILE);
      cb_several_gradients(to, y, k, count, TILE, rows, rows + 3 * TILE);
      for (int l = 0; l < 6; l++)
        for (int p = count; p < padded(count); p++) rows[l * TILE + p] = 0;
      add_flow(t, rows, padded(count), m->at[t->j] + (size_t)k, flow);
    }
  }
}

void cb_several_flow(cb_several_work *e, const cb_several_columns *c, int i, int j, int mirrored) {
  flow_task t = {e, c, cb_several_view_of(e, i, j, mirrored), i, j};
  const cb_several_shape *from = cb_several_shape_of(e->m, i), *to = cb_several_shape_of(e->m, j);
  cb_threads_range(cb_threads_for((size_t)from->n * (size_t)to->n / 4), from->n, flow_rows, &t);
}
