/* The rigid motion that fits the motion of a part best (equations: fluid/part_motion.h). */
#include "fluid/part_motion.h"

#include "core/failure.h"
#include "numerics/small.h"
#include "numerics/vec3.h"

/* --- the part at rest --- */

/* Returns whether the part of the face is the part p, or another part of the same name. */
static bool belongs(const cb_surface *s, int face, int p) {
  return s->part[face] == p || !strcmp(s->name[s->part[face]], s->name[p]);
}

/* Adds a third of the area of each face of the part to weight[vertices]. */
static void weigh(const cb_surface *s, int p, double *weight) {
  for (int f = 0; f < s->faces; f++) {
    const int *c = s->face[f];
    double area[3];
    if (!belongs(s, f, p)) continue;
    cb_area3(s->x[c[0]], s->x[c[1]], s->x[c[2]], area);
    for (int k = 0; k < 3; k++) weight[c[k]] += sqrt(cb_dot3(area, area)) / 3;
  }
}

/* Sets the weights of vertices that also belong to other parts to 0, unless fewer than three vertices would remain.
 * Returns the number of vertices that have a weight. */
static int leave_shared(const cb_surface *s, int p, const double *all, double *weight) {
  int n = 0, own = 0;
  memcpy(weight, all, (size_t)s->vertices * sizeof *weight);
  for (int f = 0; f < s->faces; f++)
    for (int k = 0; k < 3 && !belongs(s, f, p); k++) weight[s->face[f][k]] = 0;
  for (int i = 0; i < s->vertices; i++) {
    n += all[i] > 0;
    own += weight[i] > 0;
  }
  if (own >= 3) return own;
  memcpy(weight, all, (size_t)s->vertices * sizeof *weight);
  return n;
}

static void take_vertices(const cb_surface *s, const double *weight, cb_part_fit *f) {
  double sum = 0;
  for (int i = 0, k = 0; i < s->vertices; i++) {
    if (!(weight[i] > 0)) continue;
    f->vertex[k] = i;
    f->w[k++] = weight[i];
    sum += weight[i];
  }
  for (int k = 0; k < f->n; k++) {
    f->w[k] /= sum;
    for (int i = 0; i < 3; i++) f->centre[i] += f->w[k] * s->x[f->vertex[k]][i];
  }
  for (int k = 0; k < f->n; k++) {
    for (int i = 0; i < 3; i++) f->a[k][i] = s->x[f->vertex[k]][i] - f->centre[i];
    f->size += f->w[k] * cb_dot3(f->a[k], f->a[k]);
  }
  f->size = sqrt(f->size);
}

/* --- the rotation --- */

/* Rotates the axes p and q of the symmetric matrix N so that N[p][q] becomes 0, and the columns of V with them. */
static void rotate_pair(double N[4][4], double V[4][4], int p, int q) {
  if (N[p][q] == 0) return;
  const double theta = (N[q][q] - N[p][p]) / (2 * N[p][q]), t = (theta < 0 ? -1 : 1) / (fabs(theta) + hypot(theta, 1)),
               c = 1 / hypot(t, 1), s = t * c;
  for (int k = 0; k < 4; k++) {
    const double a = N[k][p], b = N[k][q], e = V[k][p], f = V[k][q];
    N[k][p] = c * a - s * b;
    N[k][q] = s * a + c * b;
    V[k][p] = c * e - s * f;
    V[k][q] = s * e + c * f;
  }
  for (int k = 0; k < 4; k++) {
    const double a = N[p][k], b = N[q][k];
    N[p][k] = c * a - s * b;
    N[q][k] = s * a + c * b;
  }
  N[p][q] = N[q][p] = 0;
}

/* Finds the quaternion of the rotation R for which tr(R^T H^T) is greatest, H = sum w a (x - c)^T, by Jacobi's method.
 * Returns false if a second rotation is as good, to 1e-10 of `least`. */
static bool find_rotation(const double H[3][3], double least, double q[4]) {
  const double trace = H[0][0] + H[1][1] + H[2][2];
  double N[4][4] = {{trace}}, V[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    N[0][1 + i] = N[1 + i][0] = H[j][k] - H[k][j];
    for (int l = 0; l < 3; l++) N[1 + i][1 + l] = H[i][l] + H[l][i] - (i == l ? trace : 0);
  }
  for (int sweep = 0; sweep < 30; sweep++) {
    double off = 0;
    for (int p = 0; p < 4; p++)
      for (int k = p + 1; k < 4; k++) off += fabs(N[p][k]);
    if (off == 0) break;
    for (int p = 0; p < 4; p++)
      for (int k = p + 1; k < 4; k++) rotate_pair(N, V, p, k);
  }
  int best = 0;
  for (int k = 1; k < 4; k++)
    if (N[k][k] > N[best][best]) best = k;
  bool single = true;
  for (int k = 0; k < 4; k++) single = single && (k == best || N[best][best] - N[k][k] > 1e-10 * least);
  for (int i = 0; i < 4; i++) q[i] = V[i][best];
  cb_quaternion_project(q);
  return single;
}

/* --- the motion --- */

static bool is_at_rest(const cb_part_fit *f, const double (*x)[3]) {
  for (int k = 0; k < f->n; k++) {
    const double *is = x[f->vertex[k]], *was = f->surface->x[f->vertex[k]];
    if (is[0] != was[0] || is[1] != was[1] || is[2] != was[2]) return false;
  }
  return true;
}

static bool is_still(const cb_part_fit *f, const double (*v)[3]) {
  for (int k = 0; k < f->n && v; k++) {
    const double *own = v[f->vertex[k]];
    if (own[0] != 0 || own[1] != 0 || own[2] != 0) return false;
  }
  return true;
}

static cb_status find_place(const cb_part_fit *f, const double (*x)[3], cb_part_motion *m) {
  double H[3][3] = {{0}}, q[4], sum = 0;
  for (int k = 0; k < f->n; k++)
    for (int i = 0; i < 3; i++) m->centre[i] += f->w[k] * x[f->vertex[k]][i];
  for (int k = 0; k < f->n; k++) {
    double b[3];
    for (int i = 0; i < 3; i++) b[i] = x[f->vertex[k]][i] - m->centre[i];
    cb_add_outer3(H, f->w[k], f->a[k], b);
  }
  if (!find_rotation((const double(*)[3])H, f->size * f->size, q))
    return cb_fail(CB_STEP_SINGULAR, "the vertices of part `%s` do not show its rotation: they are on a line",
                   f->surface->name[f->part]);
  cb_quaternion_rotation(q, m->R);
  for (int k = 0; k < f->n; k++) {
    double turned[3];
    cb_apply3((const double(*)[3])m->R, f->a[k], turned);
    for (int i = 0; i < 3; i++) {
      const double d = x[f->vertex[k]][i] - m->centre[i] - turned[i];
      sum += f->w[k] * d * d;
    }
  }
  m->residual = sqrt(sum) / f->size;
  return CB_OK;
}

cb_status cb_part_fit_create(cb_arena *arena, const cb_surface *s, int part, cb_part_fit *out) {
  *out = (cb_part_fit){.part = part, .surface = s};
  for (int p = part - 1; p >= 0; p--)
    if (!strcmp(s->name[p], s->name[part])) out->part = p;
  double *all = cb_arena_alloc(arena, (size_t)s->vertices, sizeof *all),
         *weight = cb_arena_alloc(arena, (size_t)s->vertices, sizeof *weight);
  if (all && weight) {
    weigh(s, part, all);
    out->n = leave_shared(s, part, all, weight);
  }
  out->vertex = cb_arena_alloc(arena, (size_t)out->n, sizeof *out->vertex);
  out->w = cb_arena_alloc(arena, (size_t)out->n, sizeof *out->w);
  out->a = cb_arena_alloc(arena, (size_t)out->n, sizeof *out->a);
  if (!all || !weight || !out->vertex || !out->w || !out->a)
    return cb_fail(CB_ERROR_MEMORY, "no memory for the motion of a part of %d vertices", s->vertices);
  take_vertices(s, weight, out);
  cb_part_motion still = {.rests = true};
  const cb_status status = find_place(out, (const double(*)[3])s->x, &still);
  return status ? cb_fail(CB_ERROR_DOMAIN,
                          "the vertices of part `%s` are on a line: expected a part whose motion shows its rotation",
                          s->name[part])
                : CB_OK;
}

static cb_status find_spin(const cb_part_fit *f, const double (*x)[3], const double (*v)[3], cb_part_motion *m) {
  double S[3][3] = {{0}}, M[3][3], l[3][3], turn[3];
  for (int k = 0; k < f->n; k++)
    for (int i = 0; i < 3; i++) m->velocity[i] += f->w[k] * v[f->vertex[k]][i];
  for (int k = 0; k < f->n; k++) {
    double a[3], b[3], u[3];
    cb_apply3((const double(*)[3])m->R, f->a[k], a);
    for (int i = 0; i < 3; i++) {
      b[i] = x[f->vertex[k]][i] - m->centre[i];
      u[i] = v[f->vertex[k]][i] - m->velocity[i];
    }
    cb_add_outer3(S, f->w[k], a, b);
    cb_cross3(a, u, turn);
    for (int i = 0; i < 3; i++) m->omega[i] += f->w[k] * turn[i];
  }
  const double trace = S[0][0] + S[1][1] + S[2][2];
  for (int i = 0; i < 9; i++) M[i / 3][i % 3] = (i % 4 == 0 ? trace : 0) - (S[i / 3][i % 3] + S[i % 3][i / 3]) / 2;
  if (!cb_cholesky(3, M[0], 1e-13, l[0]))
    return cb_fail(CB_STEP_SINGULAR, "the vertices of part `%s` do not show its spin", f->surface->name[f->part]);
  cb_cholesky_solve(3, l[0], m->omega);
  return CB_OK;
}

cb_status cb_part_motion_at(const cb_part_fit *f, const double (*x)[3], const double (*v)[3], cb_part_motion *out) {
  cb_part_motion m = {.rests = is_at_rest(f, x), .moves = !is_still(f, v)};
  for (int i = 0; i < 3 && m.rests; i++) {
    m.R[i][i] = 1;
    m.centre[i] = f->centre[i];
  }
  cb_status status = m.rests ? CB_OK : find_place(f, x, &m);
  if (!status && m.moves) status = find_spin(f, x, v, &m);
  *out = m;
  return status;
}

void cb_part_motion_place(const cb_part_fit *f, const cb_part_motion *m, const double X0[3], double place[3],
                          double twist[6]) {
  double arm[3], turned[3], turn[3];
  for (int i = 0; i < 3; i++) arm[i] = X0[i] - f->centre[i];
  cb_apply3((const double(*)[3])m->R, arm, turned);
  cb_cross3(m->omega, turned, turn);
  for (int i = 0; i < 3; i++) {
    place[i] = m->rests ? X0[i] : m->centre[i] + turned[i];
    twist[i] = m->omega[i];
    twist[3 + i] = m->velocity[i] + turn[i];
  }
}
