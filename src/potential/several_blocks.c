/* The blocks of S and D between several bodies, and the flow of one body at the panels of another (several.h). They are
 * computed in the axes of the body that carries the panels, by tiles of panels, whose data stays in the cache. */
#include "potential/several_private.h"

#include "numerics/numerics_curved.h"
#include "numerics/vec3.h"
#include <curvebody/pose.h>

#include <math.h>
#include <string.h>

/* --- points, panels and wrenches ---
 *
 * Points, panels and wrenches of flat and of curved spaces, for several bodies in one fluid (several_private.h).
 *
 *   a force F at y, in the frame T_y:  F_x = f - s y (y.f)/(1 + w);  torque = y × F_x/r,  force = w F_x + s y (y.f)
 * In these formulas y is the vector r x of the point (r x, w), f are the components of F in the frame to which T_y
 * carries the axes, F_x is the vector part of F, and s is the sign of the curvature. The wrench is that of
 * F on the Killing fields of numerics/numerics_curved.h. In flat space the torque is y × f.
 */

void cb_several_range(const cb_several_shape *s, const double y[4], int first, int count, int self, double *S,
                      double *D) {
  if (s->panels) {
    cb_panels_range(s->panels, y, first, count, self, S, D);
    return;
  }
  cb_curved_panels_range(&s->curved, y, first, count, self, S, D);
  for (int k = 0; k < count; k++) S[k] /= s->space.r;
}

/* Computes the gradients of S and D at y, as cb_panels_gradients does. In a curved space the components refer to the
 * frame to which T_y carries the axes (potential/curved_flow.h). */
static void several_gradients(const cb_several_shape *s, const double y[4], int first, int count, size_t width,
                              double *S, double *D) {
  if (s->panels) {
    cb_panels_gradients(s->panels, y, first, count, width, S, D);
    return;
  }
  cb_curved_panels_gradients(&s->curved, y, first, count, width, S, D);
  for (size_t k = 0; k < 3; k++)
    for (int l = 0; l < count; l++) D[k * width + (size_t)l] *= s->space.r;
}

void cb_several_add_force(const cb_several_space *space, const double y[4], const double f[3], double wrench[6]) {
  const double along = space->sign * cb_dot3(y, f);
  double F[3], torque[3];
  for (int k = 0; k < 3; k++) F[k] = f[k] - along / (1 + y[3]) * y[k];
  cb_cross3(y, F, torque);
  for (int k = 0; k < 3; k++) {
    wrench[k] += torque[k] / space->r;
    wrench[3 + k] += y[3] * F[k] + along * y[k];
  }
}

double cb_several_distance(const cb_several_space *space, const double a[4], const double b[4]) {
  const double d[4] = {a[0] - b[0], a[1] - b[1], a[2] - b[2], a[3] - b[3]},
               chord = sqrt(fmax(0, cb_dot3(d, d) + space->sign * d[3] * d[3]));
  if (space->sign == 0) return chord;
  return 2 * (space->sign > 0 ? asin(fmin(chord / 2, 1)) : asinh(chord / 2)) / space->r;
}

/* --- blocks --- */

enum { MOTIONS = CB_SEVERAL_MOTIONS, TILE = 512, ROWS = 16 };

static int padded(int count) { return (count + CB_PANEL_PAD - 1) & ~(CB_PANEL_PAD - 1); }

static int smaller(int a, int b) { return a < b ? a : b; }

/* A row of body i has one number for each panel of all bodies; if there is no wall, the panels of body i are left out.
 * left_out returns the number of panels that are left out, and width_of the length of a row. */
static size_t left_out(const cb_several *m, int i) { return m->wall.kind ? 0 : m->at[i + 1] - m->at[i]; }
static size_t width_of(const cb_several *m, int i) { return m->total - left_out(m, i); }
static double *row_of(const cb_several_work *e, int i, int row) {
  return e->D + e->m->block[i] + (size_t)(row - e->m->row[i]) * width_of(e->m, i);
}
static size_t column_of(const cb_several *m, int i, int j) { return m->at[j] - (j > i ? left_out(m, i) : 0); }

/* Calls the function `part` for the rows begin to end in pieces of at most ROWS rows of the same body. */
static void each_piece(cb_several_work *e, int begin, int end,
                       void (*part)(cb_several_work *, int body, int begin, int end)) {
  for (int i = 0; i < e->m->bodies; i++) {
    const int last = smaller(end, e->m->row[i + 1]);
    for (int r = begin > e->m->row[i] ? begin : e->m->row[i]; r < last; r += ROWS)
      part(e, i, r, smaller(r + ROWS, last));
  }
}

/* --- S and D --- */

/* Adds what the panels of body j contribute in one view, for the rows begin to end of body i, to D, to the sums of S
 * w_a, and to the sums of D. */
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

/* Computes the rows begin to end - 1 of the product. Without a wall, rows of body i do not contain the panels of body i
 * (left_out). They are then multiplied with the panels of the bodies before i, and with those of the bodies after i. */
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

/* Adds the contribution of body i's rows of the matrix to column c of the transposed product. Only the entries begin to
 * end - 1 of the column are computed. */
static void add_rows(const task *t, int i, size_t begin, size_t end, size_t shift, int c) {
  const cb_several *m = t->e->m;
  const double *x = t->x + (size_t)c * m->total + m->at[i];
  double *out = t->out + (size_t)c * m->total;
  for (int r = m->row[i]; r < m->row[i + 1]; r++) {
    const double *D = row_of(t->e, i, r), factor = x[r - m->row[i]];
    for (size_t k = begin; k < end; k++) out[k] += factor * D[k - shift];
  }
}

/* Computes part of the transposed product in one thread: the entries of the groups begin to end - 1, each of
 * CB_PANEL_PAD panels. */
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

/* Adds the velocity at one point that `count` panels cause to flow[columns][3]. rows[6][TILE] holds the gradients of S
 * (three rows) and of D (three rows) of these panels. Their densities begin at index `at` of each column. */
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
      several_gradients(to, y, k, count, TILE, rows, rows + 3 * TILE);
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

/* --- places and gaps ---
 *
 * Where several bodies are, seen from each other, and the smallest gap between them (several.h).
 *
 *   y = R_j^T (R_i x + p_i - p_j);  mirror image: y = R_j^T (M (R_i x + p_i) + 2 h n - p_j),  M = 1 - 2 n n^T
 * x is a point in the axes of body i, y the same point or its mirror image in the axes of body j, R and p are the
 * rotation and position of a pose, and <x, n> = h is the wall. In a curved space y = g_j^-1 g_i x. The gap of two
 * triangles is the smallest distance of a corner from a triangle or of two edges, and 0 if an edge crosses a triangle.
 * Only pairs of panels whose balls are nearer than the smallest gap so far are compared. Source: Ericson, Real-Time
 * Collision Detection (2005), sections 5.1.5 and 5.1.9.
 */

/* The smallest gap that panels of size h resolve, divided by h (several.h). */
static const double resolved = 1. / 3;

/* Computes the view of body i from body j (cb_several_view) in flat space, from their poses gi and gj. With `mirrored`,
 * it is the view of the image of body i. The torque of a mirrored force has the opposite sign. */
static void set_view(const cb_several *m, const cb_pose *gi, const cb_pose *gj, bool mirrored, cb_several_view *v) {
  double ri[3][3], rj[3][3], x[3], t[3], hat[3][3] = {{0}};
  cb_pose_rotation(gi, ri);
  cb_pose_rotation(gj, rj);
  for (int k = 0; k < 3; k++) x[k] = gi->x[k] - gj->x[k];
  if (mirrored) {
    const double *n = m->wall.normal, height = cb_dot3(n, gi->x) - m->wall.height;
    for (int k = 0; k < 3; k++) x[k] -= 2 * height * n[k];
    for (int l = 0; l < 3; l++) {
      const double along = n[0] * ri[0][l] + n[1] * ri[1][l] + n[2] * ri[2][l];
      for (int k = 0; k < 3; k++) ri[k][l] -= 2 * along * n[k];
    }
  }
  cb_apply3_transposed((const double(*)[3])rj, x, t);
  cb_add_hat3(hat, mirrored ? -1 : 1, t);
  memset(v, 0, sizeof *v);
  v->sign = mirrored && m->wall.kind == CB_MIRROR_FREE ? -1 : 1;
  v->T[3][3] = 1;
  for (int k = 0; k < 3; k++) {
    v->T[k][3] = t[k];
    for (int l = 0; l < 3; l++) v->T[k][l] = rj[0][k] * ri[0][l] + rj[1][k] * ri[1][l] + rj[2][k] * ri[2][l];
  }
  for (int k = 0; k < 3; k++)
    for (int l = 0; l < 3; l++) {
      v->carry[k][l] = (mirrored ? -1 : 1) * v->T[l][k];
      v->carry[3 + k][3 + l] = v->T[l][k];
      for (int c = 0; c < 3; c++) v->carry[k][3 + l] -= v->T[c][k] * hat[c][l];
    }
}

/* Computes the view of body i from body j (cb_several_view) in a curved space, from their poses gi and gj. It uses the
 * transvection to a point (x, c), which is T_x (y, w) = (y + x (w - s x.y/(1 + c)), c w - s x.y). s is the sign of the
 * curvature. */
static void set_curved_view(const cb_several_space *space, const cb_pose *gi, const cb_pose *gj, cb_several_view *v) {
  cb_pose back, g;
  double x[4], r[4][4] = {{0}}, turn[3][3], adjoint[6][6];
  cb_pose_inverse(gj, &back);
  cb_pose_multiply_in(space->K, &back, gi, &g);
  cb_curved_point(space->K, g.x, x);
  for (int k = 0; k < 3; k++) x[k] *= space->r;
  cb_pose_rotation(&g, turn);
  for (int k = 0; k < 9; k++) r[k / 3][k % 3] = turn[k / 3][k % 3];
  r[3][3] = 1;
  for (int l = 0; l < 4; l++) {
    const double along = space->sign * (x[0] * r[0][l] + x[1] * r[1][l] + x[2] * r[2][l]);
    for (int k = 0; k < 3; k++) v->T[k][l] = r[k][l] + x[k] * (r[3][l] - along / (1 + x[3]));
    v->T[3][l] = x[3] * r[3][l] - along;
  }
  cb_pose_adjoint_in(space->K, &g, adjoint);
  for (int k = 0; k < 36; k++) v->carry[k / 6][k % 6] = adjoint[k % 6][k / 6];
  v->sign = 1;
}

/* --- distances of triangles --- */

/* Returns the distance of the segments from p to p + u and from q to q + v. */
static double segments(const double p[3], const double u[3], const double q[3], const double v[3]) {
  const double r[3] = {p[0] - q[0], p[1] - q[1], p[2] - q[2]};
  const double a = cb_dot3(u, u), e = cb_dot3(v, v), f = cb_dot3(v, r), c = cb_dot3(u, r), b = cb_dot3(u, v),
               below = a * e - b * b;
  double s = below > 0 ? fmin(fmax((b * f - c * e) / below, 0), 1) : 0, t = (b * s + f) / e;
  if (t < 0) {
    t = 0;
    s = fmin(fmax(-c / a, 0), 1);
  } else if (t > 1) {
    t = 1;
    s = fmin(fmax((b - c) / a, 0), 1);
  }
  double d[3];
  for (int k = 0; k < 3; k++) d[k] = r[k] + s * u[k] - t * v[k];
  return sqrt(cb_dot3(d, d));
}

/* Returns whether the projection of the point p along the normal n to the plane of the triangle t is inside t. */
static bool above(const double t[3][3], const double n[3], const double p[3]) {
  for (int k = 0; k < 3; k++) {
    const double *a = t[k], *b = t[(k + 1) % 3], edge[3] = {b[0] - a[0], b[1] - a[1], b[2] - a[2]},
                 to[3] = {p[0] - a[0], p[1] - a[1], p[2] - a[2]};
    double m[3];
    cb_cross3(edge, to, m);
    if (cb_dot3(m, n) < 0) return false;
  }
  return true;
}

/* Returns the smallest distance of a corner of the triangle b from the plane of the triangle a, over those corners that
 * lie above or below a; infinity if none does. Returns 0 if an edge of b crosses a. */
static double corners(const double a[3][3], const double b[3][3]) {
  double n[3], height[3], least = INFINITY;
  cb_normal3(a[0], a[1], a[2], n);
  const double size = sqrt(cb_dot3(n, n));
  for (int k = 0; k < 3; k++) {
    const double to[3] = {b[k][0] - a[0][0], b[k][1] - a[0][1], b[k][2] - a[0][2]};
    height[k] = cb_dot3(to, n) / size;
    if (fabs(height[k]) < least && above(a, n, b[k])) least = fabs(height[k]);
  }
  for (int k = 0; k < 3; k++) {
    const int next = (k + 1) % 3;
    if (height[k] * height[next] > 0 || height[k] == height[next]) continue;
    const double s = height[k] / (height[k] - height[next]);
    double p[3];
    for (int l = 0; l < 3; l++) p[l] = b[k][l] + s * (b[next][l] - b[k][l]);
    if (above(a, n, p)) return 0;
  }
  return least;
}

static double triangles(const double a[3][3], const double b[3][3]) {
  double least = fmin(corners(a, b), corners(b, a));
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      double u[3], v[3];
      for (int k = 0; k < 3; k++) {
        u[k] = a[(i + 1) % 3][k] - a[i][k];
        v[k] = b[(j + 1) % 3][k] - b[j][k];
      }
      least = fmin(least, segments(a[i], u, b[j], v));
    }
  return least;
}

/* --- the gap --- */

/* Computes the gap between panel a of `p`, seen in the view v, and panel b of `q`. In a curved space it is computed in
 * the gnomonic image about the middle of both centres, in which panels are flat. If the panels are too far from each
 * other for this image, the distance of their centres is used. */
static void compare(cb_several_report *r, const cb_several_view *v, const cb_several_shape *p, int a,
                    const cb_several_shape *q, int b) {
  const cb_several_space *space = &p->space;
  double corner[2][3][3], centre[4], middle[4];
  cb_several_seen(v, p->centre[a], centre);
  for (int k = 0; k < 4; k++) middle[k] = centre[k] + q->centre[b][k];
  const double square = middle[3] * middle[3] + space->sign * cb_dot3(middle, middle);
  bool near = square > 1;
  for (int k = 0; k < 4; k++) middle[k] /= sqrt(square);
  for (int k = 0; k < 6 && near; k++) {
    double y[4], seen[4];
    if (k < 3)
      cb_several_seen(v, p->corner[a][k], y);
    else
      memcpy(y, q->corner[b][k - 3], sizeof y);
    if (space->sign != 0)
      cb_curved_towards(space->sign, middle, y, seen);
    else
      memcpy(seen, y, sizeof seen);
    near = seen[3] > 0.5;
    for (int l = 0; l < 3; l++) corner[k / 3][k % 3][l] = seen[l] / (space->r * seen[3]);
  }
  const double gap = near ? triangles((const double(*)[3])corner[0], (const double(*)[3])corner[1])
                          : cb_several_distance(space, centre, q->centre[b]);
  if (gap >= r->gap) return;
  r->gap = gap;
  r->resolved = resolved * sqrt(fmax(p->area[a], q->area[b]));
}

/* Returns the panel whose centre, in the view v (NULL: none), is nearest to x. */
static int nearest(const cb_several_shape *s, const cb_several_view *v, const double x[4]) {
  double least = INFINITY, y[4];
  int at = 0;
  for (int k = 0; k < s->n; k++) {
    if (v) cb_several_seen(v, s->centre[k], y);
    const double d = cb_several_distance(&s->space, v ? y : s->centre[k], x);
    if (d < least) at = k;
    least = fmin(least, d);
  }
  return at;
}

/* Returns the squared chord (potential/curved_kernel.h) between points at this distance. Returns infinity for a
 * distance that is larger than any in the space. */
static double chord_of(const cb_several_space *space, double distance) {
  const double half = space->r * distance / 2;
  if (space->sign > 0 && half >= 1.57) return INFINITY;
  const double chord = 2 * (space->sign > 0 ? sin(half) : space->sign < 0 ? sinh(half) : half);
  return chord * chord;
}

/* Lowers the gap of the report to the gap between the bodies i and j if it is smaller. All pairs of panels that may be
 * closer than this gap are compared. The first pair lies between the centres, where convex bodies have their gap, so
 * that most other pairs need no comparison. */
static void find_gap(cb_several_work *e, int i, int j, const cb_several_view *v) {
  const cb_several_shape *p = cb_several_shape_of(e->m, i), *q = cb_several_shape_of(e->m, j);
  const cb_several_space *space = &e->m->space;
  cb_several_report *r = &e->report, was = *r;
  double at[4];
  cb_several_seen(v, p->middle, at);
  if (cb_several_distance(space, at, q->middle) - p->radius - q->radius >= r->gap) return;
  const int first = nearest(p, v, q->middle);
  cb_several_seen(v, p->centre[first], at);
  compare(r, v, p, first, q, nearest(q, NULL, at));
  for (int k = 0; k < p->n; k++) {
    cb_several_seen(v, p->centre[k], at);
    if (cb_several_distance(space, at, q->middle) - p->reach[k] - q->radius >= r->gap) continue;
    const double limit = chord_of(space, r->gap + p->reach[k] + q->widest);
    for (int l = 0; l < q->n; l++) {
      const double d[4] = {at[0] - q->centre[l][0], at[1] - q->centre[l][1], at[2] - q->centre[l][2],
                           at[3] - q->centre[l][3]};
      if (cb_dot3(d, d) + space->sign * d[3] * d[3] >= limit) continue;
      if (cb_several_distance(space, at, q->centre[l]) - p->reach[k] - q->reach[l] < r->gap) compare(r, v, p, k, q, l);
    }
  }
  if (r->gap >= was.gap) return;
  r->body[0] = i;
  r->body[1] = j;
}

static cb_status check_wall(const cb_several *m, int i, const cb_pose *g) {
  const cb_several_shape *s = cb_several_shape_of(m, i);
  double r[3][3], n[3], least = INFINITY;
  cb_pose_rotation(g, r);
  cb_apply3_transposed((const double(*)[3])r, m->wall.normal, n);
  for (int k = 0; k < 3 * s->n; k++) least = fmin(least, cb_dot3(s->corner[k / 3][k % 3], n));
  least += cb_dot3(m->wall.normal, g->x) - m->wall.height;
  if (least > 0) return CB_OK;
  return cb_fail(CB_STEP_DOMAIN,
                 "body %s is behind its wall: a corner is at the height %g above the wall: expected more than 0",
                 cb_several_name(m, i).text, least);
}

static cb_status check_gap(const cb_several *m, const cb_several_report *r) {
  if (r->gap >= r->resolved) return CB_OK;
  const cb_name_text first = cb_several_name(m, r->body[0]), second = cb_several_name(m, r->body[1]);
  const char *i = first.text, *j = second.text;
  if (r->gap == 0)
    return cb_fail(CB_STEP_DOMAIN, "bodies %s and %s overlap: expected a gap of at least %g between them", i, j,
                   r->resolved);
  if (r->body[0] == r->body[1])
    return cb_fail(CB_STEP_DOMAIN,
                   "body %s is at the distance %g from the wall, but its faces resolve only distances above %g: "
                   "expected an earlier end of the run, or smaller faces",
                   i, r->gap / 2, r->resolved / 2);
  return cb_fail(CB_STEP_DOMAIN,
                 "the gap between bodies %s and %s is %g, but their faces resolve only gaps above %g: expected an "
                 "earlier end of the run, or smaller faces",
                 i, j, r->gap, r->resolved);
}

static cb_status check_finite(const cb_several *m, const cb_pose *g) {
  for (int i = 0; i < m->bodies; i++) {
    const double *q = g[i].q, *x = g[i].x;
    if (!isfinite(q[0] + q[1] + q[2] + q[3] + x[0] + x[1] + x[2]))
      return cb_fail(CB_STEP_NOT_FINITE, "the pose of body %s is not finite: expected finite poses",
                     cb_several_name(m, i).text);
  }
  return CB_OK;
}

cb_status cb_several_place(cb_several_work *e, const cb_pose *g) {
  const cb_several *m = e->m;
  const bool wall = m->wall.kind != CB_MIRROR_NONE;
  e->report = (cb_several_report){.gap = INFINITY};
  cb_status status = check_finite(m, g);
  for (int i = 0; i < m->bodies && wall && !status; i++) status = check_wall(m, i, g + i);
  if (status) return status;
  for (int i = 0; i < m->bodies; i++)
    for (int j = 0; j < m->bodies; j++) {
      cb_several_view *v = e->view + ((size_t)i * (size_t)m->bodies + (size_t)j) * 2;
      if (i != j && m->space.K == 0) set_view(m, g + i, g + j, false, v);
      if (i != j && m->space.K != 0) set_curved_view(&m->space, g + i, g + j, v);
      if (wall) set_view(m, g + i, g + j, true, v + 1);
      if (i < j || (i == j && wall)) find_gap(e, i, j, i == j ? v + 1 : v);
    }
  return check_gap(m, &e->report);
}
