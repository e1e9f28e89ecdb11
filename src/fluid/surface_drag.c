/* The drag of a surface over shape space as a bundle (equations and symbols: immersed_bundle.h).
 *
 * Over a face with the corners a, b, d, N = (b - a) × (d - a), and |N| is twice its area. At each of the midpoints of
 * its three edges, with J_n = N . J,
 *
 *   G += w J^T J + w_n J_n^T J_n,   w = k_t |N|/6,   w_n = (k_n - k_t)/(6 |N|)
 *
 * Positions are relative to their middle c, so that no digits are lost for a body far from the origin of its frame.
 * This changes the twist xi = (omega, v) to (omega, v + omega × c).
 */
#include "fluid/immersed_bundle.h"

#include "bundle/bundle_private.h"
#include "core/threads.h"
#include "numerics/vec3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SHAPE = CB_SHAPE_SURFACE_VARIABLES, COLUMNS = 6 + SHAPE };

#define INLINE static inline __attribute__((always_inline))

typedef double vector[3];

/* The arrays of one thread: positions x[vertices], and dx[n][vertices] and ddx[n (n + 1)/2][vertices], their first and
 * second derivatives by the n shape variables. `work` is the work array of the shape's function `at`. dx is also used
 * for CB_STRAINS linear flows, and is large enough for both. */
typedef struct workspace {
  vector *x, *dx, *ddx;
  void *work;
} workspace;

typedef struct drag {
  const cb_shape_surface *shape;
  double normal, tangential;
  int (*line)[2];
  cb_spare spare;
} drag;

static void free_workspace(workspace *w) {
  if (!w) return;
  free(w->x);
  free(w->work);
  free(w);
}

/* Takes an unused workspace, or makes a new one. */
static workspace *take_workspace(drag *d) {
  const cb_shape_surface *s = d->shape;
  const size_t vertices = (size_t)s->surface->vertices, n = (size_t)s->n;
  workspace *w = cb_spare_take(&d->spare);
  if (w || !(w = calloc(1, sizeof *w))) return w;
  const size_t motions = n + n * (n + 1) / 2;
  w->x = malloc((1 + (motions > CB_STRAINS ? motions : CB_STRAINS)) * vertices * sizeof *w->x);
  w->work = malloc(s->work_size ? s->work_size : 1);
  if (!w->x || !w->work) {
    free_workspace(w);
    return NULL;
  }
  w->dx = w->x + vertices;
  w->ddx = w->dx + n * vertices;
  return w;
}

static void leave_workspace(drag *d, workspace *w) {
  if (!cb_spare_leave(&d->spare, w)) free_workspace(w);
}

/* ---- the form ---- */

/* Sums over points of faces, from which a quadratic form in (omega, v, r') is made. Each point p adds 2 u.y to the
 * form, with two vectors u and y that are linear in (omega, v, r'). u = omega × p + v + sum d_i r_i' is the velocity at
 * p, and y = omega × z + (weight/2) v + sum y_i r_i'. With y = (weight/2) u the form is weight |u|^2, a part of G;
 * other y give derivatives of G. */
typedef struct sums {
  double weight, p[3], pz[3][3], pd[SHAPE][3], d[SHAPE][3], dd[SHAPE][SHAPE];
  double W[COLUMNS][COLUMNS]; /* lower triangle of the sum of the terms with J_n */
} sums;

INLINE void cross_to(vector out, const vector a, const vector b) { /* out += a × b */
  out[0] += a[1] * b[2] - a[2] * b[1];
  out[1] += a[2] * b[0] - a[0] * b[2];
  out[2] += a[0] * b[1] - a[1] * b[0];
}

/* The coefficients of u or of y (struct sums). For u they are p, d = d_i, and W, the row J_n. For y they are p = z,
 * d = y_i, and W, the row by which J_n is multiplied in the form. */
typedef struct row {
  const double *p;
  const vector *d;
  const double *W;
} row;

INLINE void add(sums *s, int n, double weight, const row *of_u, const row *of_y) {
  const double *p = of_u->p, *z = of_y->p, *W = of_u->W, *V = of_y->W;
  const vector *d = of_u->d, *y = of_y->d;
  s->weight += weight;
  for (int i = 0; i < 3; i++) {
    s->p[i] += 0.5 * weight * p[i] + z[i];
    for (int j = 0; j <= i; j++) s->pz[i][j] += p[i] * z[j] + z[i] * p[j];
  }
  for (int i = 0; i < n; i++) {
    cross_to(s->pd[i], z, d[i]);
    cross_to(s->pd[i], p, y[i]);
    for (int k = 0; k < 3; k++) s->d[i][k] += 0.5 * weight * d[i][k] + y[i][k];
    for (int j = 0; j <= i; j++)
      for (int k = 0; k < 3; k++) s->dd[i][j] += d[i][k] * y[j][k] + y[i][k] * d[j][k];
  }
  for (int i = 0; i < 6 + n; i++)
    for (int j = 0; j <= i; j++) s->W[i][j] += W[i] * V[j] + V[i] * W[j];
}

/* Finds dN, the change of N = ab × ac if the corners a, b and c change by da, db and dc. */
INLINE void area_rate(const vector ab, const vector ac, const vector da, const vector db, const vector dc, vector dN) {
  vector dab, dac;
  for (int k = 0; k < 3; k++) {
    dab[k] = db[k] - da[k];
    dac[k] = dc[k] - da[k];
    dN[k] = 0;
  }
  cross_to(dN, dab, ac);
  cross_to(dN, ab, dac);
}

/* Adds the terms of a face at the midpoints of its three edges: those of G to sum[0] and, if `derivatives` is set,
 * those of the derivative of G by r_k to sum[1 + k]. */
INLINE void add_face(const drag *f, const int *corner, const workspace *w, int n, bool derivatives, sums *sum) {
  const int vertices = f->shape->surface->vertices;
  const double *a = w->x[corner[0]], *b = w->x[corner[1]], *c = w->x[corner[2]];
  vector ab, ac, N = {0};
  for (int k = 0; k < 3; k++) {
    ab[k] = b[k] - a[k];
    ac[k] = c[k] - a[k];
  }
  cross_to(N, ab, ac);
  const double size = sqrt(N[0] * N[0] + N[1] * N[1] + N[2] * N[2]);
  if (!(size > 0)) return;
  const double along = f->tangential * size / 6, across = (f->normal - f->tangential) / (6 * size);
  vector d_corner[3][SHAPE], dN[SHAPE];
  double grows[SHAPE]; /* derivative of |N| by r_i, divided by |N| */
  for (int i = 0; i < n; i++) {
    for (int q = 0; q < 3; q++) memcpy(d_corner[q][i], w->dx[i * vertices + corner[q]], sizeof(vector));
    if (!derivatives) continue;
    area_rate(ab, ac, d_corner[0][i], d_corner[1][i], d_corner[2][i], dN[i]);
    grows[i] = cb_dot3(N, dN[i]) / (size * size);
  }
  for (int q = 0; q < 3; q++) {
    const int from = corner[q], to = corner[(q + 1) % 3];
    vector p, z, d[SHAPE], y[SHAPE];
    double W[COLUMNS] = {0}, V[COLUMNS];
    for (int k = 0; k < 3; k++) {
      p[k] = 0.5 * (w->x[from][k] + w->x[to][k]);
      z[k] = 0.5 * along * p[k];
    }
    cross_to(W, p, N);
    memcpy(W + 3, N, sizeof N);
    for (int i = 0; i < n; i++) {
      for (int k = 0; k < 3; k++) {
        d[i][k] = 0.5 * (d_corner[q][i][k] + d_corner[(q + 1) % 3][i][k]);
        y[i][k] = 0.5 * along * d[i][k];
      }
      W[6 + i] = cb_dot3(N, d[i]);
    }
    for (int i = 0; i < 6 + n; i++) V[i] = 0.5 * across * W[i];
    const row of_u = {p, (const vector *)d, W}, of_y = {z, (const vector *)y, V};
    add(&sum[0], n, along, &of_u, &of_y);
    for (int v = 0; derivatives && v < n; v++) {
      const double half = 0.5 * grows[v];
      double dW[COLUMNS] = {0};
      for (int k = 0; k < 3; k++) z[k] = along * (half * p[k] + d[v][k]);
      cross_to(dW, d[v], N);
      cross_to(dW, p, dN[v]);
      memcpy(dW + 3, dN[v], sizeof(vector));
      for (int i = 0; i < n; i++) {
        const vector *dd = w->ddx + (size_t)cb_jet_packed(i, v) * (size_t)vertices;
        vector bend;
        for (int k = 0; k < 3; k++) {
          bend[k] = 0.5 * (dd[from][k] + dd[to][k]);
          y[i][k] = along * (half * d[i][k] + bend[k]);
        }
        dW[6 + i] = cb_dot3(dN[v], d[i]) + cb_dot3(N, bend);
      }
      for (int i = 0; i < 6 + n; i++) V[i] = across * (dW[i] - half * W[i]);
      add(&sum[1 + v], n, 2 * along * half, &of_u, &of_y);
    }
  }
}

/* Computes the sums over all faces. The faces are divided into pieces of about sqrt(faces) faces. The sums over the
 * pieces are added up, so that round-off grows only as the fourth root of the number of faces. */
INLINE void add_faces(const drag *f, const workspace *w, int n, bool derivatives, sums *sum) {
  const cb_surface *s = f->shape->surface;
  const int kinds = derivatives ? 1 + n : 1, piece = (int)fmax(32, sqrt(s->faces));
  enum { NUMBERS = sizeof(sums) / sizeof(double) };
  sums part[1 + SHAPE];
  memset(sum, 0, sizeof *sum * (size_t)kinds);
  for (int begin = 0; begin < s->faces; begin += piece) {
    const int end = begin + piece < s->faces ? begin + piece : s->faces;
    memset(part, 0, sizeof *part * (size_t)kinds);
    for (int face = begin; face < end; face++) add_face(f, s->face[face], w, n, derivatives, part);
    for (int k = 0; k < kinds; k++) {
      double total[NUMBERS], more[NUMBERS];
      memcpy(total, &sum[k], sizeof total);
      memcpy(more, &part[k], sizeof more);
      for (int i = 0; i < NUMBERS; i++) total[i] += more[i];
      memcpy(&sum[k], total, sizeof total);
    }
  }
}

/* Makes the symmetric matrix G, or a derivative of G, from the sums. */
static void fill_form(const sums *s, int n, double *G) {
  const int N = 6 + n;
  const double trace = s->pz[0][0] + s->pz[1][1] + s->pz[2][2];
  for (int i = 0; i < N; i++)
    for (int j = 0; j <= i; j++) G[i * N + j] = s->W[i][j];
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j <= i; j++) G[i * N + j] += (i == j ? trace : 0) - s->pz[i][j];
    G[(3 + i) * N + 3 + i] += s->weight;
    const int j = (i + 1) % 3, k = (i + 2) % 3; /* the term omega . (p × v) */
    G[(3 + k) * N + i] += s->p[j];
    G[(3 + j) * N + i] -= s->p[k];
  }
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < 3; k++) {
      G[(6 + i) * N + k] += s->pd[i][k];
      G[(6 + i) * N + 3 + k] += s->d[i][k];
    }
    for (int j = 0; j <= i; j++) G[(6 + i) * N + 6 + j] += s->dd[i][j];
  }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < i; j++) G[j * N + i] = G[i * N + j];
}

/* Computes the positions of the vertices at r and subtracts their mean, which is written to middle. Computes the first
 * derivatives and, if `derivatives` is set, the second derivatives, too. */
static cb_status read_places(const drag *f, const double *r, bool derivatives, workspace *w, double *middle) {
  const cb_shape_surface *s = f->shape;
  const int vertices = s->surface->vertices;
  cb_status status = s->at(s, r, w->x, w->dx, w->work);
  if (!status && derivatives) status = s->second(s, r, w->ddx, w->work);
  if (status) return status;
  for (int k = 0; k < 3; k++) {
    double sum = 0;
    for (int v = 0; v < vertices; v++) sum += w->x[v][k];
    middle[k] = sum / vertices;
    for (int v = 0; v < vertices; v++) w->x[v][k] -= middle[k];
  }
  return CB_OK;
}

/* Finds the form G about the middle of the positions, its derivatives dG (NULL: not wanted), and the middle. */
static cb_status form_about_middle(const drag *f, const double *r, double *G, double *dG, double *middle) {
  const int n = f->shape->n, N = 6 + n;
  const bool derivatives = dG != NULL;
  sums sum[1 + SHAPE];
  workspace *w = take_workspace((drag *)f);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for positions of %d vertices", f->shape->surface->vertices);
  const cb_status status = read_places(f, r, derivatives, w, middle);
  if (!status) {
    if (n == 1 && !derivatives)
      add_faces(f, w, 1, false, sum);
    else if (n == 1)
      add_faces(f, w, 1, true, sum);
    else if (n == 2 && !derivatives)
      add_faces(f, w, 2, false, sum);
    else if (n == 2)
      add_faces(f, w, 2, true, sum);
    else
      add_faces(f, w, n, derivatives, sum);
    fill_form(&sum[0], n, G);
    for (int v = 0; derivatives && v < n; v++) fill_form(&sum[1 + v], n, dG + v * N * N);
  }
  leave_workspace((drag *)f, w);
  return status;
}

/* ---- the class ---- */

/* Transforms the columns of the connection A for (omega, v + omega × c) into columns for (omega, v). */
static void move_columns(const double *c, int n, double *A) {
  for (int i = 0; i < n; i++) {
    const double w[3] = {A[i], A[n + i], A[2 * n + i]};
    vector shift = {0};
    cross_to(shift, w, c);
    for (int k = 0; k < 3; k++) A[(3 + k) * n + i] -= shift[k];
  }
}

static cb_status connection(const cb_bundle *b, const double *r, double *A, double *dA, double *M, double *dM) {
  const drag *f = b->self;
  const int n = b->n;
  double G[COLUMNS * COLUMNS], dG[SHAPE * COLUMNS * COLUMNS], c[3];
  if ((dA || dM) && !f->shape->second)
    return cb_fail(CB_ERROR_UNSUPPORTED, "the surface has no second derivatives, which dA and dM need");
  cb_status status = form_about_middle(f, r, G, dA || dM ? dG : NULL, c);
  if (!status) status = cb_form_reduce(b->group, n, G, dG, A, dA, M, dM);
  if (status) return status;
  if (A) move_columns(c, n, A);
  for (int v = 0; dA && v < n; v++) move_columns(c, n, dA + v * 6 * n);
  return CB_OK;
}

static cb_status form(const cb_bundle *b, const double *r, double *G, double *dG) {
  if (dG) return cb_fail(CB_ERROR_UNSUPPORTED, "the form of a surface with drag has no derivatives");
  const int N = 6 + b->n;
  double about[COLUMNS * COLUMNS], c[3];
  const cb_status status = form_about_middle(b->self, r, about, NULL, c);
  if (status) return status;
  /* G = T^T G' T, with G' = `about`: the columns of v times e_j × c are added to the column of omega_j, and then the
   * same is done with the rows. */
  for (int i = 0; i < 2 * N; i++) {
    double *at = i < N ? about + i * N : about + i - N;
    const int step = i < N ? 1 : N;
    vector more = {0};
    cross_to(more, c, (const double[]){at[3 * step], at[4 * step], at[5 * step]});
    for (int k = 0; k < 3; k++) at[k * step] += more[k];
  }
  memcpy(G, about, sizeof *G * (size_t)(N * N));
  return CB_OK;
}

/* Finds S (cb_bundle_class.strain, curvebody/bundle.h). A flow E x acts like a surface that moves with the velocity
 * -E x in a fluid at rest. S is therefore the connection A with E x in place of the columns dx of the shape. */
static cb_status strain(const cb_bundle *b, const double *r, double *S) {
  static const int pair[CB_STRAINS][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {0, 2}, {0, 1}};
  const drag *f = b->self;
  const int vertices = f->shape->surface->vertices;
  double G[(6 + CB_STRAINS) * (6 + CB_STRAINS)], c[3];
  workspace *w = take_workspace((drag *)f);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for positions of %d vertices", vertices);
  cb_status status = read_places(f, r, false, w, c);
  if (!status) {
    sums sum;
    memset(w->dx, 0, (size_t)CB_STRAINS * (size_t)vertices * sizeof *w->dx);
    for (int k = 0; k < CB_STRAINS; k++)
      for (int v = 0; v < vertices; v++) {
        double *u = w->dx[(size_t)k * (size_t)vertices + (size_t)v];
        const int i = pair[k][0], j = pair[k][1];
        u[i] = w->x[v][j] + c[j];
        u[j] = w->x[v][i] + c[i];
      }
    add_faces(f, w, CB_STRAINS, false, &sum);
    fill_form(&sum, CB_STRAINS, G);
    status = cb_form_reduce(b->group, CB_STRAINS, G, NULL, S, NULL, NULL, NULL);
  }
  leave_workspace((drag *)f, w);
  if (!status) move_columns(c, CB_STRAINS, S);
  return status;
}

static cb_status plot(const cb_bundle *b, const double *r, const double *g, double (*x)[3]) {
  drag *f = b->self;
  workspace *w = take_workspace(f);
  if (!w) return cb_fail(CB_ERROR_MEMORY, "no memory for positions of %d vertices", b->points);
  const cb_status status = f->shape->at(f->shape, r, w->x, NULL, w->work);
  for (int v = 0; !status && v < b->points; v++) {
    vector once = {0}, twice = {0}; /* the rotation of x by the quaternion (w, q): x + 2 w q × x + 2 q × (q × x) */
    cross_to(once, g + 1, w->x[v]);
    cross_to(twice, g + 1, once);
    for (int k = 0; k < 3; k++) x[v][k] = w->x[v][k] + 2 * (g[0] * once[k] + twice[k]) + g[4 + k];
  }
  leave_workspace(f, w);
  return status;
}

static void destroy(cb_bundle *b) {
  drag *f = b->self;
  if (!f) return;
  for (workspace *w; (w = cb_spare_take(&f->spare));) free_workspace(w);
  free(f->line);
  free(f);
  b->self = NULL;
}

static const cb_bundle_class surface_drag_class = {
    .name = "surface_drag",
    .title = "drag of a surface",
    .doc = "a surface that deforms at low Reynolds number, with normal and tangential drag on its faces",
    .destroy = destroy,
    .connection = connection,
    .form = form,
    .resistance = CB_RESISTANCE_DRAG,
    .plot = plot,
    .strain = strain,
};

cb_status cb_bundle_surface_drag(const cb_shape_surface *s, double normal, double tangential, cb_bundle **out) {
  if (!(normal >= 0) || !(tangential >= 0) || !isfinite(normal + tangential) || normal + tangential == 0)
    return cb_fail(CB_ERROR_ARGUMENT, "drag %g along the normal and %g across it: expected both >= 0 and one > 0",
                   normal, tangential);
  cb_bundle *b = calloc(1, sizeof *b);
  drag *f = calloc(1, sizeof *f);
  if (!b || !f) {
    free(b);
    free(f);
    return cb_fail(CB_ERROR_MEMORY, "no memory for the drag of a surface of %d faces", s->surface->faces);
  }
  f->shape = s;
  f->normal = normal;
  f->tangential = tangential;
  *b = (cb_bundle){.class_ = &surface_drag_class, .self = f, .resistance = CB_RESISTANCE_DRAG};
  const cb_status status = cb_shape_surface_of_bundle(s, b, &f->line);
  if (status) {
    cb_bundle_free(b);
    return status;
  }
  *out = b;
  return CB_OK;
}
