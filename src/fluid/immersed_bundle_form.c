/* The form G = ((K, Q), (Q^T, R)) of an immersed body over shape space, and its derivatives. The kinetic energy is
 * (1/2) <G (xi, r'), (xi, r')> for the twist xi of the body and the rates r' of the shape variables r.
 *
 *   K = I_b + I_f, column i of Q = mu_0 of the velocities dx_i, R = R_b + R_f, R_b: masses (moving_mass_curved.c)
 *   R_f,ij = sum over parts rho delta int s_i s_j dA,  s_i = <dx_i, n> less its mean over a closed part
 *   I_b, I_f: inertia of the masses and added mass;  rho: density of the fluid;  delta: fluid/local.h
 *
 * x are the vertices, dx_i = dx/dr_i, dx_ia = d dx_i/dr_a, and n is the normal of a face. The integrals are exact on
 * faces, because dx is linear there. For the derivative of G by r_a, the vertices are at x + h dx_a and move by
 * dx_i + h dx_ia. G is an algebraic function of these positions and motions. Its derivative at h = 0 is found by
 * central differences of order 6, with h |dx_a| at most .005 of the body's extent. The derivatives of the shape itself
 * are exact. If all parts move rigidly, no sum over faces is needed and the derivatives are exact
 * (immersed_bundle_rigid.c). The functions for curved spaces come first.
 */
#include "fluid/immersed_bundle.h"
#include "numerics/vec3.h"
#include "numerics/numerics_curved.h"

#include <math.h>
#include <string.h>

enum { SHAPES = CB_SHAPE_SURFACE_VARIABLES };

/* Faces of a body in a curved space that move with its shape: the volume that they sweep, and the local model's energy.
 *
 *   y = sum l_c y_c/q, q = sqrt(w^2 + K |x|^2) for (x, w) = sum l_c y_c: the point of a geodesic face at shares l_c of
 *   its corners y_c
 *   s = <u, n> = sum l_c (nu . u_c + nu_w u_cw)/q,  u_c the velocities of the corners (y moves with them: exact where
 *   they move by an isometry);  dA = N/q^3 dl, dl an element of the shares l
 *   volume: V' = int s dA;  Q_f,ai = sum over parts rho delta int m_a s_i dA, R_f,ij = sum rho delta int s_i s_j dA,
 *   s_i less its mean over a closed part
 *
 * K is the curvature of the space. u and n are the velocity and the normal at y, and s_i is the s of motion i.
 * (nu, nu_w), N and the flux m of the twists are those of numerics/numerics_curved.h; rho and delta are as above.
 * Integrals use the rule of degree 5 of that file. Derived for this project.
 */

enum { POINTS = CB_CURVED_POINTS };

/* The maximum change of a body's volume, relative to the volume that its surface sweeps. If the true surface keeps its
 * volume, the volume of the mesh is still constant only up to the error of the mesh. */
static const double tolerance = 1e-3;

typedef struct sample {
  double weight, share[3], m[6]; /* weight = dA, share = l_c/q, m: the flux of twists (equations above) */
} sample;

/* Finds the points of face f, and s_i at these points (equations above) for the motions dx_i of the vertices. */
static void move_face(const cb_shape_surface *shape, int f, const double (*x)[3], const double (*dx)[3],
                      sample point[POINTS], double (*s)[POINTS]) {
  const cb_surface *surface = shape->surface;
  const double K = surface->curvature;
  const int *corner = surface->face[f];
  double y[3][4], plane[4];
  for (int c = 0; c < 3; c++) cb_curved_point(K, x[corner[c]], y[c]);
  const double norm = cb_curved_plane(K, y[0], y[1], y[2], plane);
  for (int k = 0; k < POINTS; k++) {
    double at[4];
    const double square = cb_curved_node(K, (const double(*)[4])y, k, at), q = sqrt(square);
    point[k].weight = cb_curved_rule[k][3] * norm / (2 * square * q);
    for (int c = 0; c < 3; c++) point[k].share[c] = cb_curved_rule[k][c] / q;
    cb_curved_flux(K, plane, at, point[k].m);
  }
  for (int i = 0; i < shape->n; i++) {
    double normal[3];
    for (int c = 0; c < 3; c++) {
      double u[4];
      cb_curved_velocity(K, x[corner[c]], dx[i * surface->vertices + corner[c]], u);
      normal[c] = cb_dot3(plane, u) + plane[3] * u[3];
    }
    for (int k = 0; k < POINTS; k++) s[i][k] = cb_dot3(point[k].share, normal);
  }
}

/* Checks that the volume is constant on a sphere. If not, returns CB_STEP_DOMAIN and names a variable that changes it.
 */
static cb_status check_volume(const cb_immersed_energy *e, const double (*x)[3], const double (*dx)[3]) {
  const cb_shape_surface *shape = e->shape;
  double grows[SHAPES] = {0}, swept[SHAPES] = {0}, s[SHAPES][POINTS];
  sample point[POINTS];
  if (!(shape->surface->curvature > 0)) return CB_OK;
  for (int f = 0; f < shape->surface->faces; f++) {
    move_face(shape, f, x, dx, point, s);
    for (int i = 0; i < shape->n; i++)
      for (int k = 0; k < POINTS; k++) {
        grows[i] += point[k].weight * s[i][k];
        swept[i] += point[k].weight * fabs(s[i][k]);
      }
  }
  for (int i = 0; i < shape->n; i++)
    if (fabs(grows[i]) > tolerance * swept[i])
      return cb_fail(CB_STEP_DOMAIN,
                     "the volume changes by %.3g m^3 per unit of %s, %.3g of the volume that the surface sweeps: "
                     "expected a shape of constant volume, because the fluid fills the sphere and is incompressible",
                     grows[i], shape->name[i], grows[i] / swept[i]);
  return CB_OK;
}

/* Adds Q_f and R_f of the local model to G (equations above). area[parts] and mean[parts][variables] are overwritten.
 */
static void add_curved_fluid(const cb_immersed_energy *e, const cb_local_part *part, const double (*x)[3],
                             const double (*dx)[3], double *area, double (*mean)[SHAPES],
                             double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM]) {
  const cb_surface *surface = e->shape->surface;
  const int n = e->shape->n;
  double s[SHAPES][POINTS];
  sample point[POINTS];
  memset(area, 0, (size_t)surface->parts * sizeof *area);
  memset(mean, 0, (size_t)surface->parts * sizeof *mean);
  for (int f = 0; f < surface->faces; f++) {
    const int p = surface->part[f];
    move_face(e->shape, f, x, dx, point, s);
    for (int k = 0; k < POINTS; k++) {
      area[p] += point[k].weight;
      for (int i = 0; i < n; i++) mean[p][i] += point[k].weight * s[i][k];
    }
  }
  for (int p = 0; p < surface->parts; p++)
    for (int i = 0; i < n && area[p] > 0; i++) mean[p][i] /= area[p];
  for (int f = 0; f < surface->faces; f++) {
    const int p = surface->part[f];
    move_face(e->shape, f, x, dx, point, s);
    const double factor = e->density * part[p].delta;
    for (int i = 0; i < n; i++) {
      for (int a = 0; a < 6; a++) {
        double own = 0;
        for (int k = 0; k < POINTS; k++) own += point[k].weight * point[k].m[a] * (s[i][k] - mean[p][i]);
        G[a][6 + i] += factor * own;
        G[6 + i][a] += factor * own;
      }
      for (int j = 0; j <= i; j++) {
        double own = 0;
        for (int k = 0; k < POINTS; k++) own += point[k].weight * (s[i][k] - mean[p][i]) * (s[j][k] - mean[p][j]);
        G[6 + i][6 + j] += factor * own;
        if (j < i) G[6 + j][6 + i] += factor * own;
      }
    }
  }
}

struct cb_immersed_work {
  cb_arena *arena;
  cb_local *local;
  cb_local_part *part;                 /* [parts] */
  double (*x)[3], (*dx)[3], (*d2x)[3]; /* at r: x[vertices], dx[n][vertices], d2x[n(n+1)/2][vertices] */
  /* y, dy: x and dx at a point of a finite difference; sum: the sum of two motions */
  double (*y)[3], (*dy)[3], (*sum)[3];
  double *area, (*mean)[SHAPES]; /* area[parts]; mean[parts]: mean normal velocity of each motion */
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
  return check_volume(e, (const double(*)[3])w->x, (const double(*)[3])w->dx) ? CB_ERROR_DOMAIN : CB_OK;
}

/* --- the energy of the shape's own motion --- */

/* Adds R_f to G. The local model must have been set to the same pose before, because w->part comes from it. */
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
      cb_local_removed_normal_velocity(w->local, true);
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
  if (e->density > 0 && !e->model && curved) add_curved_fluid(e, w->part, x, dx, w->area, w->mean, G);
  return e->density > 0 && e->model ? cb_immersed_energy_of_model(e, x, dx, w->sum, G) : CB_OK;
}

/* Returns the second derivatives of the vertices by the shape variables r_i and r_j. */
static const double (*second_of(const cb_immersed_energy *e, const cb_immersed_work *w, int i, int j))[3] {
  const int at = i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
  return (const double(*)[3])w->d2x + at * e->shape->surface->vertices;
}

static double largest(int vertices, const double (*x)[3], const double *from) {
  double maximum = 0;
  for (int v = 0; v < vertices; v++)
    for (int k = 0; k < 3; k++) maximum = fmax(maximum, fabs(x[v][k] - (from ? from[k] : 0)));
  return maximum;
}

/* Returns the step h of the differences along r_a: the smaller one of two steps that follow from the first and from the
 * second derivatives of the vertices. (The second derivatives limit h if the motion nearly stops.) If both derivatives
 * are 0, h is 0.005. */
static double step_along(const cb_immersed_energy *e, const cb_immersed_work *w, int a) {
  const int vertices = e->shape->surface->vertices;
  const double extent = largest(vertices, (const double(*)[3])w->x, w->x[0]),
               first = largest(vertices, (const double(*)[3])w->dx + a * vertices, NULL),
               second = largest(vertices, second_of(e, w, a, a), NULL),
               h = fmin(0.005 * extent / first, 0.05 * sqrt(extent / second));
  return h > 0 && h < INFINITY ? h : 0.005;
}

/* Finds the vertices (w->y) and their motions (w->dy) after a change of r_a by h. */
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

/* Finds the vertices at r with their derivatives. Returns CB_ERROR_UNSUPPORTED if the second derivatives are wanted and
 * s does not give them. */
static cb_status places(const cb_shape_surface *s, cb_immersed_work *w, const double *r, bool second) {
  cb_status status = s->at(s, r, w->x, w->dx, w->shape);
  if (!status && second && !s->second) status = cb_fail(CB_ERROR_UNSUPPORTED, "the shape has no second derivatives");
  if (!status && second) status = s->second(s, r, w->d2x, w->shape);
  return status;
}

cb_status cb_immersed_form_of(const cb_immersed_energy *e, cb_immersed_work *w, const double *r, bool motion,
                              double G[CB_IMMERSED_FORM][CB_IMMERSED_FORM],
                              double (*dG)[CB_IMMERSED_FORM][CB_IMMERSED_FORM]) {
  /* The weights of a central difference at -3 h .. 3 h, times h. */
  static const double weight[7] = {-1. / 60, 3. / 20, -3. / 4, 0, 3. / 4, -3. / 20, 1. / 60};
  const cb_shape_surface *s = e->shape;
  double beside[CB_IMMERSED_FORM][CB_IMMERSED_FORM];
  const cb_shape_surface *first = cb_immersed_rigid_shape(e);
  const cb_immersed_places_at at = {(const double(*)[3])w->x, (const double(*)[3])w->dx, (const double(*)[3])w->d2x};
  cb_status status = places(first, w, r, dG != NULL);
  if (!status && cb_immersed_rigid_form(e, &at, G, dG)) return CB_OK;
  if (first != s) status = places(s, w, r, dG != NULL);
  if (!status && e->density > 0) status = check_volume(e, (const double(*)[3])w->x, (const double(*)[3])w->dx);
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
