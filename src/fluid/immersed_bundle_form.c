/* The form G of an immersed body over shape space, T = (1/2) <G (xi, r'), (xi, r')>, and its derivatives.
 *
 *   K = I_b + I_f, Q_i = mu_0 of the velocities dx_i, R_ij of the bodies (moving_mass_form.c) and of the fluid
 *   R_f,ij = sum over parts rho delta int s_i s_j dA,  s_i = <dx_i, n> less its mean over a closed part
 * (exact on faces: dx is linear there). Along r_a the vertices are at x + h dx_a with dx_i + h dx_ia, of which G is an
 * algebraic function: its derivative at h = 0 by central differences of order 6, h |dx_a| at most .005 of the body's
 * extent. The shape itself is not differenced. Where all parts move rigidly no sum over faces is needed, and derivatives
 * are exact (immersed_bundle_rigid.c).
 */
#include "fluid/immersed_bundle_private.h"

#include "numerics/vec3.h"

#include <math.h>
#include <string.h>

enum { SHAPES = CB_SHAPE_SURFACE_VARIABLES };

struct cb_immersed_work {
  cb_arena *arena;
  cb_local *local;
  cb_local_part *part;                 /* [parts] */
  double (*x)[3], (*dx)[3], (*d2x)[3]; /* at r; dx[n][vertices], d2x[n(n+1)/2][vertices] */
  double (*y)[3], (*dy)[3], (*sum)[3]; /* beside it; sum: of two motions */
  double *area, (*mean)[SHAPES];       /* [parts]; mean normal velocity of each motion */
  void *shape;
};

void cb_immersed_work_free(cb_immersed_work *w) {
  if (!w) return;
  cb_local_free(w->local);
  cb_arena_free(w->arena);
}

cb_status cb_immersed_work_create(const cb_immersed_energy *e, cb_immersed_work **out) {
  const cb_surface *s = e->shape->surface;
  const size_t vertices = (size_t)s->vertices, n = (size_t)e->shape->n, parts = (size_t)s->parts;
  cb_arena *arena = cb_arena_create();
  cb_immersed_work *w = cb_arena_alloc(arena, 1, sizeof *w);
  cb_status status = w ? CB_OK : cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d faces", s->faces);
  if (!status) {
    w->arena = arena;
    w->part = cb_arena_alloc(arena, parts, sizeof *w->part);
    w->x = cb_arena_alloc(arena, vertices, sizeof *w->x);
    w->dx = cb_arena_alloc(arena, n * vertices, sizeof *w->dx);
    w->d2x = cb_arena_alloc(arena, n * (n + 1) / 2 * vertices, sizeof *w->d2x);
    w->y = cb_arena_alloc(arena, vertices, sizeof *w->y);
    w->dy = cb_arena_alloc(arena, n * vertices, sizeof *w->dy);
    w->sum = cb_arena_alloc(arena, vertices, sizeof *w->sum);
    w->area = cb_arena_alloc(arena, parts, sizeof *w->area);
    w->mean = cb_arena_alloc(arena, parts, sizeof *w->mean);
    w->shape = cb_arena_alloc(arena, e->shape->work_size, 1);
    if (!w->part || !w->x || !w->dx || !w->d2x || !w->y || !w->dy || !w->sum || !w->area || !w->mean || !w->shape)
      status = cb_fail(CB_ERROR_MEMORY, "no memory for a body of %d faces", s->faces);
  }
  if (!status) status = cb_local_create(s, &w->local);
  if (status) {
    cb_arena_free(arena);
    return status;
  }
  *out = w;
  return CB_OK;
}

cb_status cb_immersed_places(const cb_immersed_energy *e, cb_immersed_work *w, const double *r, double (**x)[3]) {
  const cb_status status = e->shape->at(e->shape, r, w->x, NULL, w->shape);
  if (!status) *x = w->x;
  return status;
}

cb_status cb_immersed_begin(const cb_immersed_energy *e, cb_immersed_work *w) {
  const double r[SHAPES] = {0};
  if (!(e->shape->surface->curvature > 0) || !(e->density > 0)) return CB_OK;
  const cb_status status = e->shape->at(e->shape, r, w->x, w->dx, w->shape);
  if (status) return CB_OK;
  return cb_immersed_check_volume(e, (const double(*)[3])w->x, (const double(*)[3])w->dx) ? CB_ERROR_DOMAIN : CB_OK;
}

/* --- of the shape's own motion --- */

/* R_f, where the local model has the same pose (w->part). */
static void add_fluid(const cb_immersed_energy *e, cb_immersed_work *w, const double (*x)[3], const double (*dx)[3],
                      double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]) {
  const cb_surface *s = e->shape->surface;
  const int n = e->shape->n;
  memset(w->area, 0, (size_t)s->parts * sizeof *w->area);
  memset(w->mean, 0, (size_t)s->parts * sizeof *w->mean);
  for (int f = 0; f < s->faces; f++) {
    const int p = s->part[f];
    double a[3];
    cb_area3(x[s->face[f][0]], x[s->face[f][1]], x[s->face[f][2]], a);
    w->area[p] += sqrt(cb_dot3(a, a));
    for (int i = 0; i < n && !s->open[p]; i++)
      for (int c = 0; c < 3; c++) w->mean[p][i] += cb_dot3(dx[i * s->vertices + s->face[f][c]], a) / 3;
  }
  for (int p = 0; p < s->parts; p++)
    for (int i = 0; i < n && w->area[p] > 0; i++) w->mean[p][i] /= w->area[p];
  for (int f = 0; f < s->faces; f++) {
    const int p = s->part[f];
    double a[3], v[SHAPES][3], sum[SHAPES];
    cb_area3(x[s->face[f][0]], x[s->face[f][1]], x[s->face[f][2]], a);
    const double area = sqrt(cb_dot3(a, a)), factor = e->density * w->part[p].delta * (s->open[p] ? 2 : 1) * area / 12;
    for (int i = 0; i < n && area > 0; i++) {
      sum[i] = 0;
      for (int c = 0; c < 3; c++) {
        v[i][c] = cb_dot3(dx[i * s->vertices + s->face[f][c]], a) / area - w->mean[p][i];
        sum[i] += v[i][c];
      }
      for (int j = 0; j <= i; j++) {
        const double own = factor * (cb_dot3(v[i], v[j]) + sum[i] * sum[j]);
        G[6 + i][6 + j] += own;
        if (j < i) G[6 + j][6 + i] += own;
      }
    }
  }
}

static void add_bodies(const cb_immersed_energy *e, cb_immersed_work *w, const double (*x)[3], const double (*dx)[3],
                       double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]) {
  const int n = e->shape->n;
  double R[SHAPES * SHAPES];
  cb_moving_mass_form(e->mass, x, n, dx, w->sum, R);
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) G[6 + i][6 + j] += R[i * n + j];
}

/* --- the form --- */

cb_status cb_immersed_form_of_motion(const cb_immersed_energy *e, cb_immersed_work *w, const double (*x)[3],
                              const double (*dx)[3], bool motion, double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]) {
  const int n = e->shape->n, vertices = e->shape->surface->vertices;
  const bool curved = e->shape->surface->curvature != 0;
  memset(G, 0, CB_IMMERSED_FORM * sizeof *G);
  for (int i = 0; i < n; i++) {
    const double(*v)[3] = dx + i * vertices;
    cb_mass mass;
    double mu_b[6], I_f[6][6] = {{0}}, mu_f[6] = {0};
    cb_status status;
    if (e->density > 0 && !e->model && !curved) {
      cb_local_pose(w->local, x, v);
      cb_local_breathing(w->local, true);
      cb_local_added_mass(w->local, e->density, NULL, I_f, mu_f, w->part);
      status = cb_moving_mass_with(e->mass, w->local, x, v, &mass, mu_b);
    } else {
      status = cb_moving_mass_at(e->mass, x, v, &mass, mu_b);
      if (!status && e->density > 0 && !e->model && i == 0)
        status = cb_local_curved_added_mass(e->shape->surface, x, I_f, w->part);
    }
    if (status) return status;
    for (int a = 0; a < 6; a++) {
      for (int b = 0; b < 6 && i == 0; b++) G[a][b] = mass.inertia[a][b] + (curved ? e->density : 1) * I_f[a][b];
      G[a][6 + i] = G[6 + i][a] = mu_b[a] + mu_f[a];
    }
  }
  if (motion) add_bodies(e, w, x, dx, G);
  if (motion && e->density > 0 && !e->model && !curved) add_fluid(e, w, x, dx, G);
  if (e->density > 0 && !e->model && curved) cb_immersed_add_fluid(e, w->part, x, dx, w->area, w->mean, G);
  return e->density > 0 && e->model ? cb_immersed_energy_of_model(e, x, dx, w->sum, G) : CB_OK;
}

/* Where in d2x[..][vertices] those of r_i and r_j are. */
static const double (*second_of(const cb_immersed_energy *e, const cb_immersed_work *w, int i, int j))[3] {
  const int at = i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
  return (const double(*)[3])w->d2x + at * e->shape->surface->vertices;
}

static double largest(int vertices, const double (*x)[3], const double *from) {
  double most = 0;
  for (int v = 0; v < vertices; v++)
    for (int k = 0; k < 3; k++) most = fmax(most, fabs(x[v][k] - (from ? from[k] : 0)));
  return most;
}

/* h of the differences along r_a; where the motion all but stops, by how it begins again. */
static double step_along(const cb_immersed_energy *e, const cb_immersed_work *w, int a) {
  const int vertices = e->shape->surface->vertices;
  const double extent = largest(vertices, (const double(*)[3])w->x, w->x[0]),
               first = largest(vertices, (const double(*)[3])w->dx + a * vertices, NULL),
               second = largest(vertices, second_of(e, w, a, a), NULL),
               h = fmin(0.005 * extent / first, 0.05 * sqrt(extent / second));
  return h > 0 && h < INFINITY ? h : 0.005;
}

/* Vertices and their motions at h along r_a. */
static void move(const cb_immersed_energy *e, cb_immersed_work *w, int a, double h) {
  const int n = e->shape->n, vertices = e->shape->surface->vertices;
  for (int v = 0; v < vertices; v++)
    for (int k = 0; k < 3; k++) w->y[v][k] = w->x[v][k] + h * w->dx[a * vertices + v][k];
  for (int i = 0; i < n; i++) {
    const double(*second)[3] = second_of(e, w, i, a);
    for (int v = 0; v < vertices; v++)
      for (int k = 0; k < 3; k++) w->dy[i * vertices + v][k] = w->dx[i * vertices + v][k] + h * second[v][k];
  }
}

/* Vertices at r with their derivatives. */
static cb_status places(const cb_shape_surface *s, cb_immersed_work *w, const double *r, bool second) {
  cb_status status = s->at(s, r, w->x, w->dx, w->shape);
  if (!status && second && !s->second) status = cb_fail(CB_ERROR_UNSUPPORTED, "the shape has no second derivatives");
  if (!status && second) status = s->second(s, r, w->d2x, w->shape);
  return status;
}

cb_status cb_immersed_form_of(const cb_immersed_energy *e, cb_immersed_work *w, const double *r, bool motion,
                              double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM],
                              double (*dG)[CB_IMMERSED_FORM][CB_IMMERSED_FORM]) {
  static const double weight[7] = {-1. / 60, 3. / 20, -3. / 4, 0, 3. / 4, -3. / 20, 1. / 60}; /* of -3 .. 3 */
  const cb_shape_surface *s = e->shape;
  double beside[CB_IMMERSED_FORM][CB_IMMERSED_FORM];
  const cb_shape_surface *first = cb_immersed_rigid_shape(e);
  const cb_immersed_places_at at = {(const double(*)[3])w->x, (const double(*)[3])w->dx, (const double(*)[3])w->d2x};
  cb_status status = places(first, w, r, dG != NULL);
  if (!status && cb_immersed_rigid_form(e, &at, G, dG)) return CB_OK;
  if (first != s) status = places(s, w, r, dG != NULL);
  if (!status && e->density > 0)
    status = cb_immersed_check_volume(e, (const double(*)[3])w->x, (const double(*)[3])w->dx);
  if (!status) status = cb_immersed_form_of_motion(e, w, at.x, at.dx, motion, G);
  for (int a = 0; dG && !status && a < s->n; a++) {
    const double h = step_along(e, w, a);
    memset(dG[a], 0, sizeof dG[a]);
    for (int k = -3; k <= 3 && !status; k++) {
      if (k == 0) continue;
      move(e, w, a, k * h);
      status = cb_immersed_form_of_motion(e, w, (const double(*)[3])w->y, (const double(*)[3])w->dy, motion, beside);
      const double factor = weight[3 + k] / h;
      for (int i = 0; i < 6 + s->n && !status; i++)
        for (int j = 0; j < 6 + s->n; j++) dG[a][i][j] += factor * beside[i][j];
    }
  }
  return status;
}
