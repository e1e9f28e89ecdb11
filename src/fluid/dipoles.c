/* Rigid bodies that feel each other as dipoles (fluid/dipoles.h).
 *
 * Numbers of all bodies are rows of 2 n numbers: those of the bodies, and then those of their images. A pair is two
 * bodies, or a body and the image of itself or of a later body. What an image collects is mirrored back to its body.
 */
#include "fluid/dipoles.h"

#include "core/arena.h"
#include "numerics/small.h"
#include "numerics/vec3.h"
#include "potential/operator.h"

#include <math.h>

typedef struct moment { /* of one body */
  double D[3][6], c[3]; /* D for the twist of the body frame; the centroid */
  double shape[3];      /* the moment of the motion of the shape */
  double strength;      /* the largest eigenvalue of D for linear motions */
  double mass;          /* that of the linear part of K/rho */
  double reach, radius;
} moment;

struct cb_dipoles {
  cb_arena *arena;
  int n;
  double density, image; /* image: 1 for a rigid wall, -1 for a free surface, 0: no plane */
  cb_mirror plane;
  moment *body;
  double (*R)[3][3], (*own)[3]; /* the rotations; the moments in body axes */
  /* [2 n]: places, moments, the flow u of the other bodies, and dT/dx divided by -rho */
  double *reach, *x[3], *m[3], *u[3], *f[3];
};

/* --- creation --- */

/* Returns the largest eigenvalue q + 2 p cos(a/3), cos a = det((m - q)/p)/2, of a symmetric matrix m with the trace 3 q
 * and tr (m - q)^2 = 6 p^2 (Smith, Comm. ACM 4 (1961) 168). */
static double largest(const double m[3][3]) {
  const double q = (m[0][0] + m[1][1] + m[2][2]) / 3;
  double b[3][3], square = 0, minor[3];
  for (int i = 0; i < 9; i++) {
    b[i / 3][i % 3] = m[i / 3][i % 3] - (i % 4 ? 0 : q);
    square += b[i / 3][i % 3] * b[i / 3][i % 3];
  }
  const double p = sqrt(square / 6);
  if (!(p > 1e-14 * fabs(q))) return q;
  cb_cross3(b[1], b[2], minor);
  return q + 2 * p * cos(acos(fmax(-1, fmin(1, cb_dot3(b[0], minor) / (2 * p * p * p)))) / 3);
}

/* Sets the reach. The tensor of two bodies is positive definite if s^3 > sqrt(k_1 k_2)/(2 pi) at the distance s, where
 * k is the largest eigenvalue of rho D K^-1 D^T, because |B| = 2/(4 pi s^3). K may be singular, as for the rotation of
 * a sphere, but then D is 0 there. */
static bool set_reach(double density, const double K[6][6], moment *b) {
  const double size = cbrt(b->strength / (2 * M_PI));
  double l[36], column[3][6], k[3][3];
  for (int i = 0; i < 36; i++)
    l[i] = K[i / 6][i % 6] / density + (i % 7 ? 0 : 1e-9 * b->mass * (i < 18 ? size * size : 1));
  if (!cb_cholesky(6, l, 1e-13, l)) return false;
  for (int i = 0; i < 3; i++) {
    memcpy(column[i], b->D[i], sizeof column[i]);
    cb_cholesky_solve(6, l, column[i]);
  }
  for (int i = 0; i < 9; i++) k[i / 3][i % 3] = cb_dot(6, b->D[i / 3], column[i % 3]);
  b->reach = fmax(size, cbrt(largest(k) / (2 * M_PI)) / 2);
  return true;
}

static cb_status set_body(int number, double density, const cb_dipole_body *in, moment *b) {
  double hat[3][3] = {{0}}, linear[3][3], sum = in->volume + in->radius;
  for (int i = 0; i < 36; i++) sum += fabs(in->K[i / 6][i % 6]) + (i < 3 ? fabs(in->centroid[i]) : 0);
  if (!(in->volume >= 0 && in->radius >= 0 && isfinite(sum)))
    return cb_fail(CB_ERROR_ARGUMENT, "body %d of the volume %g and the radius %g: expected finite numbers >= 0",
                   number, in->volume, in->radius);
  cb_add_hat3(hat, in->volume, in->centroid);
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++) {
      linear[i][j] = in->K[3 + i][3 + j] / density;
      b->D[i][j] = in->K[3 + i][j] / density - hat[i][j];
      b->D[i][3 + j] = linear[i][j] + (i == j ? in->volume : 0);
    }
  memcpy(b->c, in->centroid, sizeof b->c);
  b->mass = largest((const double(*)[3])linear);
  b->strength = b->mass + in->volume;
  if (!set_reach(density, in->K, b))
    return cb_fail(CB_ERROR_DOMAIN, "the added mass of body %d: expected a positive definite tensor", number);
  b->radius = in->radius > 0 ? in->radius : 1.5 * b->reach;
  return CB_OK;
}

cb_status cb_dipoles_create(int n, const cb_dipole_body *body, double density, cb_dipoles **out) {
  if (!(n > 0 && density > 0 && isfinite(density)))
    return cb_fail(CB_ERROR_ARGUMENT, "%d bodies in a fluid of the density %g: expected numbers above 0", n, density);
  cb_dipoles *d = cb_arena_object(sizeof *d, "bodies in one fluid");
  if (!d) return CB_ERROR_MEMORY;
  const size_t count = 2 * (size_t)n;
  cb_status status = CB_OK;
  d->n = n;
  d->density = density;
  d->body = cb_arena_alloc(d->arena, (size_t)n, sizeof *d->body);
  d->R = cb_arena_alloc(d->arena, (size_t)n, sizeof *d->R);
  d->own = cb_arena_alloc(d->arena, (size_t)n, sizeof *d->own);
  cb_arena_doubles(d->arena, count, &d->reach);
  for (int k = 0; k < 3; k++) cb_arena_doubles(d->arena, count, &d->x[k], &d->m[k], &d->u[k], &d->f[k]);
  if (cb_arena_lost(d->arena)) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies in one fluid", n);
  for (int i = 0; i < n && !status; i++) {
    status = set_body(i + 1, density, body + i, d->body + i);
    d->reach[i] = d->reach[n + i] = d->body[i].reach;
  }
  if (status)
    cb_dipoles_free(d);
  else
    *out = d;
  return status;
}

cb_status cb_dipoles_shape(cb_dipoles *d, int i, const cb_dipole_body *body, const double own[3]) {
  const cb_status status = set_body(i + 1, d->density, body, &d->body[i]);
  memcpy(d->body[i].shape, own, sizeof d->body[i].shape);
  d->reach[i] = d->reach[d->n + i] = d->body[i].reach;
  return status;
}

void cb_dipoles_free(cb_dipoles *d) {
  if (d) cb_arena_free(d->arena);
}

cb_status cb_dipoles_set_plane(cb_dipoles *d, const cb_mirror *plane) {
  cb_mirror checked = *plane;
  const cb_status status = plane->kind == CB_MIRROR_NONE ? CB_OK : cb_mirror_check(&checked);
  if (status) return status;
  d->plane = checked;
  d->image = plane->kind == CB_MIRROR_NONE ? 0 : plane->kind == CB_MIRROR_FREE ? -1 : 1;
  return CB_OK;
}

/* --- places --- */

/* a -= 2 n (n.a) for the normal n of the plane */
static void reflect(const cb_dipoles *d, double a[3]) {
  const double twice = 2 * cb_dot3(d->plane.normal, a);
  for (int k = 0; k < 3; k++) a[k] -= twice * d->plane.normal[k];
}

static void column(double *const *rows, int i, double out[3]) {
  for (int k = 0; k < 3; k++) out[k] = rows[k][i];
}

static void set_column(double *const *rows, int i, const double a[3]) {
  for (int k = 0; k < 3; k++) rows[k][i] = a[k];
}

/* Places the dipoles of all bodies and images. */
static cb_status place(cb_dipoles *d, const cb_pose *g) {
  for (int i = 0; i < d->n; i++) {
    double x[3], from = 0;
    cb_pose_rotation(g + i, d->R[i]);
    cb_apply3((const double(*)[3])d->R[i], d->body[i].c, x);
    for (int k = 0; k < 3; k++) x[k] += g[i].x[k];
    set_column(d->x, i, x);
    if (d->image == 0) continue;
    from = cb_dot3(d->plane.normal, x) - d->plane.height;
    if (!(from > 0))
      return cb_fail(CB_STEP_DOMAIN, "the centre of body %d is at the height %g above the plane: expected more than %g",
                     i + 1, from, d->reach[i]);
    for (int k = 0; k < 3; k++) x[k] -= 2 * from * d->plane.normal[k];
    set_column(d->x, d->n + i, x);
  }
  return CB_OK;
}

static double squared_distance(const cb_dipoles *d, int i, int j) {
  const double r[3] = {d->x[0][i] - d->x[0][j], d->x[1][i] - d->x[1][j], d->x[2][i] - d->x[2][j]};
  return cb_dot3(r, r);
}

static bool near(const cb_dipoles *d, int i, int j) {
  const double reach = d->reach[i] + d->reach[j];
  return !(squared_distance(d, i, j) >= reach * reach);
}

/* Reports the first pair that is too near. */
static cb_status check_distances(const cb_dipoles *d) {
  const int n = d->n, all = d->image != 0 ? 2 * n : n;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < all; j++) {
      if (!near(d, i, j)) continue;
      const double s = sqrt(squared_distance(d, i, j)), reach = d->reach[i] + d->reach[j];
      if (j == n + i)
        return cb_fail(CB_STEP_DOMAIN,
                       "body %d is too near to the plane for dipoles: distance %g, expected at least %g", i + 1, s / 2,
                       reach / 2);
      return cb_fail(CB_STEP_DOMAIN,
                     "bodies %d and %d%s are too near for dipoles: distance of their centres %g, expected at least %g",
                     i + 1, j % n + 1, j < n ? "" : " (its image)", s, reach);
    }
  return CB_OK;
}

/* --- coupling --- */

/* Adds the flows and forces of the pairs of i with from .. to - 1. */
static void add_pairs(cb_dipoles *d, int i, int from, int to, double weight) {
  const double *const x = d->x[0], *const y = d->x[1], *const z = d->x[2], *const mx = d->m[0], *const my = d->m[1],
                      *const mz = d->m[2];
  double *const ux = d->u[0], *const uy = d->u[1], *const uz = d->u[2], *const fx = d->f[0], *const fy = d->f[1],
                *const fz = d->f[2];
  const double xi = x[i], yi = y[i], zi = z[i], px = mx[i], py = my[i], pz = mz[i], scale = weight / (4 * M_PI);
  double u[3] = {0}, f[3] = {0};
  for (int j = from; j < to; j++) {
    const double rx = xi - x[j], ry = yi - y[j], rz = zi - z[j], inverse = 1 / (rx * rx + ry * ry + rz * rz),
                 s = scale * inverse * sqrt(inverse), t = 3 * inverse, a = px * rx + py * ry + pz * rz,
                 b = mx[j] * rx + my[j] * ry + mz[j] * rz,
                 along = px * mx[j] + py * my[j] + pz * mz[j] - 5 * a * b * inverse, st = s * t;
    const double gx = st * (px * b + mx[j] * a + along * rx), gy = st * (py * b + my[j] * a + along * ry),
                 gz = st * (pz * b + mz[j] * a + along * rz);
    u[0] += s * (t * b * rx - mx[j]);
    u[1] += s * (t * b * ry - my[j]);
    u[2] += s * (t * b * rz - mz[j]);
    f[0] += gx;
    f[1] += gy;
    f[2] += gz;
    ux[j] += s * (t * a * rx - px);
    uy[j] += s * (t * a * ry - py);
    uz[j] += s * (t * a * rz - pz);
    fx[j] -= gx;
    fy[j] -= gy;
    fz[j] -= gz;
  }
  for (int k = 0; k < 3; k++) {
    d->u[k][i] += u[k];
    d->f[k][i] += f[k];
  }
}

static void set_moments(cb_dipoles *d, const double (*Y)[6]) {
  for (int i = 0; i < d->n; i++) {
    double m[3];
    for (int k = 0; k < 3; k++) d->own[i][k] = cb_dot(6, d->body[i].D[k], Y[i]) + d->body[i].shape[k];
    cb_apply3((const double(*)[3])d->R[i], d->own[i], m);
    set_column(d->m, i, m);
    if (d->image == 0) continue;
    reflect(d, m);
    for (int k = 0; k < 3; k++) d->m[k][d->n + i] = d->image * m[k];
  }
}

/* Adds what the images have collected to the bodies. The moment of an image is +-M d, and its place changes by M dx. */
static void fold(cb_dipoles *d) {
  for (int i = 0; i < d->n; i++) {
    double u[3], f[3];
    column(d->u, d->n + i, u);
    column(d->f, d->n + i, f);
    reflect(d, u);
    reflect(d, f);
    for (int k = 0; k < 3; k++) {
      d->u[k][i] += d->image * u[k];
      d->f[k][i] += f[k];
    }
  }
}

cb_status cb_dipoles_apply(cb_dipoles *d, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                           double (*slope)[6]) {
  const int n = d->n, all = d->image != 0 ? 2 * n : n;
  cb_status status = place(d, g);
  if (!status) status = check_distances(d);
  if (status) return status;
  set_moments(d, Y);
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < all; i++) d->u[k][i] = d->f[k][i] = 0;
  for (int i = 0; i < n; i++) {
    add_pairs(d, i, i + 1, n, 1);
    if (d->image == 0) continue;
    add_pairs(d, i, n + i, n + i + 1, 0.5);
    add_pairs(d, i, n + i + 1, 2 * n, 1);
  }
  if (d->image != 0) fold(d);
  for (int i = 0; i < n; i++) {
    const moment *b = d->body + i;
    double world[3], u[3], f[3], turn[3], arm[3];
    column(d->u, i, world);
    cb_apply3_transposed((const double(*)[3])d->R[i], world, u);
    for (int a = 0; a < 6; a++)
      momentum[i][a] = -d->density * (b->D[0][a] * u[0] + b->D[1][a] * u[1] + b->D[2][a] * u[2]);
    if (!slope) continue;
    column(d->f, i, world);
    cb_apply3_transposed((const double(*)[3])d->R[i], world, f);
    cb_cross3(d->own[i], u, turn);
    cb_cross3(b->c, f, arm);
    for (int k = 0; k < 3; k++) {
      slope[i][k] = -d->density * (arm[k] + turn[k]);
      slope[i][3 + k] = -d->density * f[k];
    }
  }
  return CB_OK;
}

cb_status cb_dipoles_flow(cb_dipoles *d, const cb_pose *g, const double (*Y)[6], int except, int points,
                          const double (*x)[3], double (*u)[3]) {
  const cb_status status = place(d, g);
  if (status) return status;
  set_moments(d, Y);
  memset(u, 0, (size_t)points * sizeof *u);
  for (int i = 0; i < points; i++)
    for (int j = 0; j < (d->image != 0 ? 2 * d->n : d->n); j++) {
      if (j % d->n == except) continue;
      double at[3], m[3];
      column(d->x, j, at);
      column(d->m, j, m);
      const double r[3] = {x[i][0] - at[0], x[i][1] - at[1], x[i][2] - at[2]}, square = cb_dot3(r, r),
                   s = 1 / (4 * M_PI * square * sqrt(square)), along = 3 * cb_dot3(m, r) / square;
      for (int k = 0; k < 3; k++) u[i][k] += s * (along * r[k] - m[k]);
    }
  return CB_OK;
}

double cb_dipoles_energy(const cb_dipoles *d, int i) {
  double world[3], u[3];
  column(d->u, i, world);
  cb_apply3_transposed((const double(*)[3])d->R[i], world, u);
  return -d->density / 2 * cb_dot3(d->own[i], u);
}

/* --- the matrix, and its error --- */

/* Adds B(x_i - x_j), for an image j times its mirror. */
static void add_flow(const cb_dipoles *d, int i, int j, double B[3][3]) {
  const double r[3] = {d->x[0][i] - d->x[0][j], d->x[1][i] - d->x[1][j], d->x[2][i] - d->x[2][j]},
               square = cb_dot3(r, r), s = 1 / (4 * M_PI * square * sqrt(square));
  for (int k = 0; k < 3; k++) {
    double row[3];
    for (int l = 0; l < 3; l++) row[l] = s * (3 * r[k] * r[l] / square - (k == l));
    if (j >= d->n) reflect(d, row);
    for (int l = 0; l < 3; l++) B[k][l] += (j < d->n ? 1 : d->image) * row[l];
  }
}

cb_status cb_dipoles_tensor(cb_dipoles *d, const cb_pose *g, double *K) {
  const int n = d->n;
  const size_t width = 6 * (size_t)n;
  cb_status status = place(d, g);
  if (!status) status = check_distances(d);
  if (status) return status;
  memset(K, 0, width * width * sizeof *K);
  for (int i = 0; i < n; i++)
    for (int j = d->image != 0 ? i : i + 1; j < n; j++) {
      double B[3][3] = {{0}}, left[3][6] = {{0}}, right[3][6] = {{0}};
      if (j > i) add_flow(d, i, j, B);
      if (d->image != 0) add_flow(d, i, n + j, B);
      for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
          for (int a = 0; a < 6; a++) {
            left[k][a] += d->R[i][k][l] * d->body[i].D[l][a];
            right[k][a] += d->R[j][k][l] * d->body[j].D[l][a];
          }
      for (int a = 0; a < 6; a++)
        for (int b = 0; b < 6; b++) {
          double sum = 0;
          for (int k = 0; k < 9; k++) sum += left[k / 3][a] * B[k / 3][k % 3] * right[k % 3][b];
          K[(6 * (size_t)i + (size_t)a) * width + 6 * (size_t)j + (size_t)b] =
              K[(6 * (size_t)j + (size_t)b) * width + 6 * (size_t)i + (size_t)a] = -d->density * sum;
        }
    }
  return CB_OK;
}

double cb_dipoles_error(cb_dipoles *d, const cb_pose *g, int *i, int *j) {
  double maximum = 0;
  *i = *j = -1;
  if (place(d, g)) return INFINITY;
  for (int p = 0; p < d->n; p++)
    for (int q = p + 1; q < (d->image != 0 ? 2 * d->n : d->n); q++) {
      const moment *a = d->body + p, *b = d->body + q % d->n;
      const double square = squared_distance(d, p, q), s3 = 2 * M_PI * square * sqrt(square),
                   next = (a->radius * a->radius + b->radius * b->radius) / square,
                   error = a->strength * b->strength / s3 * (next + fmax(a->strength, b->strength) / s3) /
                           fmin(a->mass, b->mass);
      if (error <= maximum) continue;
      maximum = error;
      *i = p < q % d->n ? p : q % d->n;
      *j = p < q % d->n ? q % d->n : p;
    }
  return maximum;
}
