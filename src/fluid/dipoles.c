/* Rigid bodies that feel each other as dipoles (fluid/dipoles.h).
 *
 * Dipoles are those of the bodies, followed by those of their images. A pair is two bodies, or a body and the image of
 * itself or of a later body. The flow and the force at an image are mirrored and added to those of its body. Points and
 * vectors have four numbers (numerics/numerics_curved.h). In flat space the last number is 1 for a point and 0 for a
 * vector.
 *
 * In flat space, pairs are computed many at a time: one dipole with all later dipoles of a block. A block stores its
 * dipoles by component. Its sums have a fixed order, so that every instruction set gives the same bits.
 */
#include "fluid/dipoles.h"

#include "core/arena.h"
#include "core/failure.h"
#include "numerics/numerics_curved.h"
#include "numerics/small.h"
#include "numerics/vec3.h"
#include "potential/operator.h"

#include <curvebody/pose.h>

#include <math.h>

typedef struct moment {
  const char *name;
  double D[3][6];     /* maps the twist of the body frame to the moment, in the axes of the centroid */
  double there[6][6]; /* maps the twist of the body frame to that of the frame at the centroid with the same axes */
  double c[3];        /* the centroid in the body frame */
  double shape[3];    /* the moment of the motion of the shape, in the axes of the centroid */
  double strength;    /* the largest eigenvalue of D for linear motions */
  double mass;        /* the largest eigenvalue of the linear part of K/rho */
  double reach, radius;
  double axes[3][4], own[3]; /* axes: the body's axes, at the centroid; own: the moment of the dipole in these axes */
} moment;

typedef struct dipole {
  double x[4], m[4], u[4], f[4]; /* place x, moment m, flow u of the other dipoles, f = -dT/dx/rho */
} dipole;

enum { MANY = 8, BLOCK = 64, LANES = 8, SUMS = 6 }; /* below MANY bodies, pairs are added one by one */
typedef struct block {                              /* dipoles stored by component, and the reach of their bodies */
  double x[3][BLOCK], m[3][BLOCK], u[3][BLOCK], f[3][BLOCK], reach[BLOCK];
} block;

struct cb_dipoles {
  cb_arena *arena;
  int n;
  double K, weight;      /* K: the curvature; weight: 1/K, or 0 in flat space: the factor of a_3 b_3 in <a, b> */
  double density, image; /* image: 1 for a rigid wall, -1 for a free surface, 0: no plane */
  cb_mirror plane;
  moment *body;   /* [n] */
  dipole *dipole; /* [2 n] */
  int blocks;     /* number of blocks of the bodies; as many blocks follow for the images */
  block *block;   /* [2 blocks], only in flat space */
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

/* A body is thin if its volume is below this share of the largest eigenvalue of the linear part of K/rho. For a disc
 * the ratio of the two is 1.2 times thickness/radius. */
static const double THIN = 0.1;

/* Sets b->reach. Bodies must be farther apart than the sum of their reaches, so that their added mass is positive
 * definite. It is so if s^3 > sqrt(k_1 k_2)/(2 pi) at the distance s, where k is the largest eigenvalue of
 * rho D K^-1 D^T, because |B| = 2/(4 pi s^3). K may be singular. For rotations of a sphere K is 0, but D is 0, too. For
 * a thin sheet that moves in its plane, some models have K = 0, but D = V, the volume. The linear part of such a K is
 * increased by rho V^2/(2 m), as for an oblate ellipsoid of the volume V with m, the largest eigenvalue of K/rho. */
static bool set_reach(double density, const double K[6][6], const double D[3][6], moment *b) {
  const double size = cbrt(b->strength / (2 * M_PI)), volume = b->strength - b->mass;
  const double edge = volume < THIN * b->mass ? volume * volume / (2 * b->mass) : 0;
  double l[36], column[3][6], k[3][3];
  for (int i = 0; i < 36; i++)
    l[i] = K[i / 6][i % 6] / density + (i % 7 ? 0 : 1e-9 * b->mass * (i < 18 ? size * size : 1) + (i < 18 ? 0 : edge));
  if (!cb_cholesky(6, l, 1e-13, l)) return false;
  for (int i = 0; i < 3; i++) {
    memcpy(column[i], D[i], sizeof column[i]);
    cb_cholesky_solve(6, l, column[i]);
  }
  for (int i = 0; i < 9; i++) k[i / 3][i % 3] = cb_dot(6, D[i / 3], column[i % 3]);
  b->reach = fmax(size, cbrt(largest(k) / (2 * M_PI)) / 2);
  return true;
}

static cb_name_text name_of(const moment *b, int i) { return cb_name_text_of(b->name, i); }

/* Sets b->D. First finds D and K (the variable `own`) for twists of the frame at the centroid. */
static cb_status set_body(int number, double K, double density, const cb_dipole_body *in, moment *b) {
  const cb_pose centre = {{1, 0, 0, 0}, {in->centroid[0], in->centroid[1], in->centroid[2]}};
  double shift[6][6], half[6][6] = {{0}}, own[6][6], D[3][6] = {{0}}, linear[3][3], sum = in->volume + in->radius;
  cb_pose back;
  if (in->name) b->name = in->name;
  for (int i = 0; i < 36; i++) sum += fabs(in->K[i / 6][i % 6]) + (i < 3 ? fabs(in->centroid[i]) : 0);
  if (!(in->volume >= 0 && in->radius >= 0 && isfinite(sum)))
    return cb_fail(CB_ERROR_ARGUMENT, "body %s of the volume %g and the radius %g: expected finite numbers >= 0",
                   name_of(b, number).text, in->volume, in->radius);
  cb_pose_inverse(&centre, &back);
  cb_pose_adjoint_in(K, &centre, shift);
  cb_pose_adjoint_in(K, &back, b->there);
  cb_add_product6(in->K, (const double(*)[6])shift, half);
  for (int j = 0; j < 6; j++) {
    double column[6], to[6];
    for (int i = 0; i < 6; i++) column[i] = half[i][j];
    cb_apply6_transposed((const double(*)[6])shift, column, to);
    for (int i = 0; i < 6; i++) own[i][j] = to[i];
  }
  for (int i = 0; i < 3; i++) {
    for (int j = 0; j < 6; j++) D[i][j] = own[3 + i][j] / density + (j == 3 + i ? in->volume : 0);
    for (int j = 0; j < 3; j++) linear[i][j] = own[3 + i][3 + j] / density;
    cb_apply6_transposed((const double(*)[6])b->there, D[i], b->D[i]);
  }
  memcpy(b->c, in->centroid, sizeof b->c);
  b->mass = largest((const double(*)[3])linear);
  b->strength = b->mass + in->volume;
  if (!set_reach(density, (const double(*)[6])own, (const double(*)[6])D, b))
    return cb_fail(CB_ERROR_DOMAIN, "the added mass of body %s: expected a positive definite tensor",
                   name_of(b, number).text);
  b->radius = in->radius > 0 ? in->radius : 1.5 * b->reach;
  return CB_OK;
}

cb_status cb_dipoles_create_in(double K, int n, const cb_dipole_body *body, double density, cb_dipoles **out) {
  if (!(n > 0 && density > 0 && isfinite(density)))
    return cb_fail(CB_ERROR_ARGUMENT, "%d bodies in a fluid of the density %g: expected numbers above 0", n, density);
  cb_dipoles *d = cb_arena_object(sizeof *d, "bodies in one fluid");
  if (!d) return CB_ERROR_MEMORY;
  cb_status status = CB_OK;
  d->n = n;
  d->K = K;
  d->weight = K == 0 ? 0 : 1 / K;
  d->density = density;
  d->body = cb_arena_alloc(d->arena, (size_t)n, sizeof *d->body);
  d->dipole = cb_arena_alloc(d->arena, 2 * (size_t)n, sizeof *d->dipole);
  d->blocks = K == 0 ? (n + BLOCK - 1) / BLOCK : 0;
  d->block = cb_arena_alloc(d->arena, 2 * (size_t)d->blocks, sizeof *d->block);
  if (cb_arena_lost(d->arena)) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies in one fluid", n);
  for (int i = 0; i < n && !status; i++) status = set_body(i, K, density, body + i, d->body + i);
  if (status)
    cb_dipoles_free(d);
  else
    *out = d;
  return status;
}

cb_status cb_dipoles_create(int n, const cb_dipole_body *body, double density, cb_dipoles **out) {
  return cb_dipoles_create_in(0, n, body, density, out);
}

cb_status cb_dipoles_shape(cb_dipoles *d, int i, const cb_dipole_body *body, const double own[3]) {
  const cb_status status = set_body(i, d->K, d->density, body, d->body + i);
  memcpy(d->body[i].shape, own, sizeof d->body[i].shape);
  return status;
}

void cb_dipoles_free(cb_dipoles *d) {
  if (d) cb_arena_free(d->arena);
}

cb_status cb_dipoles_set_plane(cb_dipoles *d, const cb_mirror *plane) {
  const bool none = plane->kind == CB_MIRROR_NONE;
  cb_mirror checked = *plane;
  const cb_status status = none ? CB_OK : cb_mirror_check(&checked);
  if (status) return status;
  if (!none && d->K != 0) return cb_fail(CB_ERROR_UNSUPPORTED, "a plane in a curved space: expected flat space");
  d->plane = checked;
  d->image = none ? 0 : plane->kind == CB_MIRROR_FREE ? -1 : 1;
  return CB_OK;
}

/* --- places --- */

/* Replaces a by a - 2 n (n.a), with the normal n of the plane. */
static void reflect(const cb_dipoles *d, double a[3]) {
  const double twice = 2 * cb_dot3(d->plane.normal, a);
  for (int k = 0; k < 3; k++) a[k] -= twice * d->plane.normal[k];
}

static double form(const cb_dipoles *d, const double a[4], const double b[4]) {
  return cb_dot3(a, b) + d->weight * a[3] * b[3];
}

/* Sets the place x = g c and the axes at x of a body with the pose g. With the normal coordinates v of x, s =
 * s_K(|v|)/|v| and C = c_K(|v|), x is (s v, C), and the transvection to x maps an axis a of the pose of the centroid to
 * (a + (C - 1) (v.a) v/|v|^2, -K s (v.a)). */
static void set_frame(double K, const cb_pose *g, const double c[3], double axes[3][4], double x[4]) {
  const cb_pose centre = {{1, 0, 0, 0}, {c[0], c[1], c[2]}};
  cb_pose at = *g;
  double r[3][3], s = 1, C = 1, bend = 0;
  if (K != 0) cb_pose_multiply_in(K, g, &centre, &at);
  cb_pose_rotation(&at, r);
  if (K == 0) {
    cb_apply3((const double(*)[3])r, c, x);
    for (int k = 0; k < 3; k++) x[k] += g->x[k];
  } else {
    const cb_trig t = cb_trig_of(K);
    const double square = cb_dot3(at.x, at.x), far = sqrt(square);
    s = cb_trig_sinc(t, far);
    C = cb_trig_c(t, far);
    bend = far > 0 ? (C - 1) / square : 0;
    for (int k = 0; k < 3; k++) x[k] = s * at.x[k];
  }
  x[3] = C;
  for (int a = 0; a < 3; a++) {
    const double along = K == 0 ? 0 : at.x[0] * r[0][a] + at.x[1] * r[1][a] + at.x[2] * r[2][a];
    for (int k = 0; k < 3; k++) axes[a][k] = r[k][a] + bend * along * at.x[k];
    axes[a][3] = -K * s * along;
  }
}

/* Sets the places of the dipoles of all bodies and images for the poses g. */
static cb_status place(cb_dipoles *d, const cb_pose *g) {
  for (int i = 0; i < d->n; i++) {
    moment *b = d->body + i;
    double *x = d->dipole[i].x, *image = d->dipole[d->n + i].x;
    set_frame(d->K, g + i, b->c, b->axes, x);
    if (d->image == 0) continue;
    const double from = cb_dot3(d->plane.normal, x) - d->plane.height;
    if (!(from > 0))
      return cb_fail(CB_STEP_DOMAIN, "the centre of body %s is at the height %g above the plane: expected more than %g",
                     name_of(b, i).text, from, b->reach);
    for (int k = 0; k < 3; k++) image[k] = x[k] - 2 * from * d->plane.normal[k];
    image[3] = 1;
  }
  return CB_OK;
}

/* Sets r = x_i - x_j and returns the square <r, r> of the chord 2 s_K(distance/2). */
static double chord(const cb_dipoles *d, const dipole *p, const dipole *q, double r[4]) {
  for (int k = 0; k < 4; k++) r[k] = p->x[k] - q->x[k];
  return form(d, r, r);
}

static double squared_distance(const cb_dipoles *d, int i, int j) {
  double r[4];
  const double square = chord(d, d->dipole + i, d->dipole + j, r);
  if (d->K == 0) return square;
  const double s = 2 * cb_trig_arc(cb_trig_of(d->K), sqrt(square) / 2, sqrt(fmax(0, 1 - d->K * square / 4)));
  return s * s;
}

/* Fails at the first pair of dipoles that are nearer than the sum of their reaches. */
static cb_status check_distances(const cb_dipoles *d) {
  const int n = d->n, all = d->image != 0 ? 2 * n : n;
  for (int i = 0; i < n; i++)
    for (int j = i + 1; j < all; j++) {
      const double square = squared_distance(d, i, j), reach = d->body[i].reach + d->body[j < n ? j : j - n].reach;
      if (square >= reach * reach) continue;
      const double s = sqrt(square);
      if (j == n + i)
        return cb_fail(CB_STEP_DOMAIN,
                       "body %s is too near to the plane for dipoles: distance %g, expected at least %g",
                       name_of(d->body + i, i).text, s / 2, reach / 2);
      return cb_fail(CB_STEP_DOMAIN,
                     "bodies %s and %s%s are too near for dipoles: distance of their centres %g, expected at least %g",
                     name_of(d->body + i, i).text, name_of(d->body + j % n, j % n).text, j < n ? "" : " (its image)", s,
                     reach);
    }
  return CB_OK;
}

/* --- coupling --- */

/* Sets g, g' and g'' of a sphere by c = c_K(distance), where g = (pi - t + sin t cos t)/sin^3 t for c = cos t. g solves
 * (1 - c^2) g' = 2 + 3 c g. Near the antipode, where c = -1, g is the series sum g_n (1 + c)^n with g_0 = 2/3 and
 * g_n/g_(n-1) = (n + 2)/(2 n + 3). */
static void sphere(double c, double g[3]) {
  enum { TERMS = 40 }; /* the ratio of successive terms is below 0.3 */
  if (c > -0.5) {
    const double square = 1 - c * c, sine = sqrt(square);
    g[0] = (M_PI - atan2(sine, c) + sine * c) / (square * sine);
    g[1] = (2 + 3 * c * g[0]) / square;
    g[2] = (3 * g[0] + 5 * c * g[1]) / square;
    return;
  }
  double term[TERMS] = {2. / 3};
  for (int n = 1; n < TERMS; n++) term[n] = term[n - 1] * (n + 2) / (2 * n + 3);
  g[0] = g[1] = g[2] = 0;
  for (int n = TERMS - 1; n >= 0; n--) {
    g[2] = g[2] * (1 + c) + 2 * g[1];
    g[1] = g[1] * (1 + c) + g[0];
    g[0] = g[0] * (1 + c) + term[n];
  }
}

/* Sets the first three derivatives of the potential G of a source (potential/curved_flow.h) by half the square of the
 * chord. Returns c_K(distance). */
static double slopes(double K, double square, double G[3]) {
  const double c = 1 - K * square / 2;
  if (K > 0) {
    const double scale = K * sqrt(K) / (4 * M_PI * M_PI);
    sphere(c, G);
    G[0] *= -scale;
    G[1] *= K * scale;
    G[2] *= -K * K * scale;
  } else { /* the first derivative is -1/(4 pi s_K^3) */
    const double inverse = 1 / (square * (1 - K * square / 4)), cube = inverse * sqrt(inverse) / (4 * M_PI);
    G[0] = -cube;
    G[1] = 3 * c * cube * inverse;
    G[2] = -3 * cube * inverse * (K + 5 * c * c * inverse);
  }
  return c;
}

/* Adds to the dipoles p and q the flows and forces of this pair, multiplied by `weight`. */
static void add_pair(const cb_dipoles *d, double weight, dipole *p, dipole *q) {
  double r[4], G[3];
  const double c = slopes(d->K, chord(d, p, q, r), G), a = form(d, p->m, r), b = form(d, q->m, r);
  for (int k = 0; k < 3; k++) G[k] *= weight;
  const double along = G[2] * a * b + G[1] * form(d, p->m, q->m), own = G[1] * c - d->K * G[0];
  for (int k = 0; k < 4; k++) {
    p->u[k] += G[1] * b * r[k] + G[0] * q->m[k];
    q->u[k] += G[1] * a * r[k] + G[0] * p->m[k];
    p->f[k] += along * r[k] + own * b * p->m[k] + G[1] * a * q->m[k];
    q->f[k] -= along * r[k] + G[1] * b * p->m[k] + own * a * q->m[k];
  }
}

/* --- many pairs of flat space --- */

/* SIMD marks functions whose loops multiply and add arrays element by element; their results have the same bits in
 * registers of any width. (clang 14 gives a function with clones a name to which other files cannot link.) */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
#define SIMD __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define SIMD
#endif

#define ALWAYS_INLINE static inline __attribute__((always_inline))

/* Sets sum[s] to the sum over k < n of part[s][k], LANES at a time. Entries up to the next multiple of LANES are
 * overwritten. */
ALWAYS_INLINE void add_up(int n, int sums, double part[SUMS][BLOCK], double sum[SUMS]) {
  const int whole = (n + LANES - 1) / LANES * LANES;
  for (int s = 0; s < sums; s++) {
    double lane[LANES] = {0};
    for (int k = n; k < whole; k++) part[s][k] = 0;
    for (int k = 0; k < whole; k += LANES)
      for (int l = 0; l < LANES; l++) lane[l] += part[s][k + l];
    sum[s] = ((lane[0] + lane[4]) + (lane[1] + lane[5])) + ((lane[2] + lane[6]) + (lane[3] + lane[7]));
  }
}

/* Does the same as add_pair in flat space, for the pairs of the dipole p, whose reach is `reach`, with each of the
 * dipoles from .. end - 1 of the block q. Forces are added only if `forces` is set. Returns whether the distance of
 * each pair is above the sum of its reaches. */
ALWAYS_INLINE bool pairs(bool forces, dipole *p, double reach, block *q, int from, int end) {
  const double x = p->x[0], y = p->x[1], z = p->x[2], mx = p->m[0], my = p->m[1], mz = p->m[2];
  double part[SUMS][BLOCK], sum[SUMS], excess[BLOCK];
  int near = 0;
  for (int j = from; j < end; j++) {
    const int k = j - from;
    const double rx = x - q->x[0][j], ry = y - q->x[1][j], rz = z - q->x[2][j], nx = q->m[0][j], ny = q->m[1][j],
                 nz = q->m[2][j], square = rx * rx + ry * ry + rz * rz, both = reach + q->reach[j];
    const double inverse = 1 / square, G0 = inverse * sqrt(inverse) * (-1 / (4 * M_PI)), G1 = -3 * G0 * inverse;
    const double a = mx * rx + my * ry + mz * rz, b = nx * rx + ny * ry + nz * rz, Ga = G1 * a, Gb = G1 * b;
    excess[k] = square - both * both;
    part[0][k] = Gb * rx + G0 * nx;
    part[1][k] = Gb * ry + G0 * ny;
    part[2][k] = Gb * rz + G0 * nz;
    q->u[0][j] += Ga * rx + G0 * mx;
    q->u[1][j] += Ga * ry + G0 * my;
    q->u[2][j] += Ga * rz + G0 * mz;
    if (!forces) continue;
    const double along = G1 * (mx * nx + my * ny + mz * nz) - 5 * inverse * Ga * b,
                 fx = along * rx + (Gb * mx + Ga * nx), fy = along * ry + (Gb * my + Ga * ny),
                 fz = along * rz + (Gb * mz + Ga * nz);
    part[3][k] = fx;
    part[4][k] = fy;
    part[5][k] = fz;
    q->f[0][j] -= fx;
    q->f[1][j] -= fy;
    q->f[2][j] -= fz;
  }
  add_up(end - from, forces ? 6 : 3, part, sum);
  for (int k = 0; k < end - from; k++) near += !(excess[k] >= 0);
  for (int k = 0; k < 3; k++) {
    p->u[k] += sum[k];
    if (forces) p->f[k] += sum[3 + k];
  }
  return near == 0;
}

SIMD static bool add_flows(dipole *p, double reach, block *q, int from, int end) {
  return pairs(false, p, reach, q, from, end);
}
SIMD static bool add_forces(dipole *p, double reach, block *q, int from, int end) {
  return pairs(true, p, reach, q, from, end);
}

/* Copies the places and moments of the dipoles into the blocks. The flows and forces in the blocks become 0. */
static void fill_blocks(cb_dipoles *d) {
  const int sets = d->image != 0 ? 2 : 1;
  for (int i = 0; i < sets * d->n; i++) {
    const dipole *p = d->dipole + i;
    const int own = i % d->n, at = own % BLOCK;
    block *to = d->block + i / d->n * d->blocks + own / BLOCK;
    for (int k = 0; k < 3; k++) {
      to->x[k][at] = p->x[k];
      to->m[k][at] = p->m[k];
      to->u[k][at] = to->f[k][at] = 0;
    }
    to->reach[at] = d->body[own].reach;
  }
}

static void add_blocks(cb_dipoles *d) {
  const int sets = d->image != 0 ? 2 : 1;
  for (int i = 0; i < sets * d->n; i++) {
    dipole *p = d->dipole + i;
    const int own = i % d->n, at = own % BLOCK;
    const block *from = d->block + i / d->n * d->blocks + own / BLOCK;
    for (int k = 0; k < 3; k++) {
      p->u[k] += from->u[k][at];
      p->f[k] += from->f[k][at];
    }
  }
}

/* Adds to the dipoles the flows and forces of all pairs, one pair after another. */
static void add_one_by_one(cb_dipoles *d) {
  dipole *all = d->dipole;
  for (int i = 0; i < d->n; i++) {
    for (int j = i + 1; j < d->n; j++) add_pair(d, 1, all + i, all + j);
    for (int j = i; j < d->n && d->image != 0; j++) add_pair(d, i == j ? 0.5 : 1, all + i, all + d->n + j);
  }
}

/* Adds to the dipoles the flows of all pairs and, if `forces` is set, the forces, in flat space. Returns whether the
 * dipoles of each pair are far enough from each other. */
static bool add_many(cb_dipoles *d, bool forces) {
  const int n = d->n;
  bool (*const add)(dipole *, double, block *, int, int) = forces ? add_forces : add_flows;
  bool apart = true;
  fill_blocks(d);
  for (int i = 0; i < n; i++) {
    const double reach = d->body[i].reach;
    for (int set = 0; set < (d->image != 0 ? 2 : 1); set++)
      for (int b = (i + 1) / BLOCK; b < d->blocks; b++) {
        const int first = b * BLOCK, end = n - first < BLOCK ? n - first : BLOCK,
                  from = i + 1 > first ? i + 1 - first : 0;
        if (from < end) apart &= add(d->dipole + i, reach, d->block + set * d->blocks + b, from, end);
      }
    if (d->image == 0) continue;
    double r[4];
    apart &= chord(d, d->dipole + i, d->dipole + n + i, r) >= 4 * reach * reach;
    add_pair(d, 0.5, d->dipole + i, d->dipole + n + i);
  }
  add_blocks(d);
  return apart;
}

static void set_moments(cb_dipoles *d, const double (*Y)[6]) {
  for (int i = 0; i < d->n; i++) {
    moment *b = d->body + i;
    dipole *p = d->dipole + i, *image = p + d->n;
    for (int a = 0; a < 3; a++) b->own[a] = cb_dot(6, b->D[a], Y[i]) + b->shape[a];
    for (int k = 0; k < 4; k++) {
      p->m[k] = b->own[0] * b->axes[0][k] + b->own[1] * b->axes[1][k] + b->own[2] * b->axes[2][k];
      p->u[k] = p->f[k] = image->u[k] = image->f[k] = 0;
    }
    if (d->image == 0) continue;
    for (int k = 0; k < 4; k++) image->m[k] = d->image * p->m[k];
    reflect(d, image->m);
  }
}

/* Adds the flow and the force at the image of a body to those at the body. The moment of the image is M d or -M d, and
 * if the place of the body changes by dx, that of the image changes by M dx. */
static void fold(const cb_dipoles *d, dipole *p, dipole *image) {
  reflect(d, image->u);
  reflect(d, image->f);
  for (int k = 0; k < 3; k++) {
    p->u[k] += d->image * image->u[k];
    p->f[k] += image->f[k];
  }
}

cb_status cb_dipoles_apply(cb_dipoles *d, const cb_pose *g, const double (*Y)[6], double (*momentum)[6],
                           double (*slope)[6]) {
  const int n = d->n;
  dipole *all = d->dipole;
  cb_status status = place(d, g);
  if (status) return status;
  set_moments(d, Y);
  const bool many = d->K == 0 && n >= MANY;
  if (!many || !add_many(d, slope)) status = check_distances(d);
  if (status) return status;
  if (!many) add_one_by_one(d);
  for (int i = 0; i < n; i++) {
    const moment *b = d->body + i;
    double u[3], there[6];
    if (d->image != 0) fold(d, all + i, all + n + i);
    for (int a = 0; a < 3; a++) {
      u[a] = -d->density * form(d, b->axes[a], all[i].u);
      there[3 + a] = -d->density * form(d, b->axes[a], all[i].f);
    }
    for (int k = 0; k < 6; k++) momentum[i][k] = b->D[0][k] * u[0] + b->D[1][k] * u[1] + b->D[2][k] * u[2];
    if (!slope) continue;
    cb_cross3(b->own, u, there);
    cb_apply6_transposed((const double(*)[6])b->there, there, slope[i]);
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
      const dipole *p = d->dipole + j, at = {.x = {x[i][0], x[i][1], x[i][2], p->x[3]}};
      double r[4], G[3];
      slopes(d->K, chord(d, &at, p, r), G);
      for (int k = 0; k < 3; k++) u[i][k] += G[1] * form(d, p->m, r) * r[k] + G[0] * p->m[k];
    }
  return CB_OK;
}

double cb_dipoles_energy(const cb_dipoles *d, int i) {
  const moment *b = d->body + i;
  double sum = 0;
  for (int a = 0; a < 3; a++) sum += b->own[a] * form(d, b->axes[a], d->dipole[i].u);
  return -d->density / 2 * sum;
}

/* --- the matrix, and its error --- */

/* Adds to B the matrix that maps the moment of body j, in the axes of body j, to its flow at body i, in the axes of
 * body i. If `image` is not 0, it is the flow of the mirror image of body j, multiplied by `image` (1 or -1). */
static void add_flow(const cb_dipoles *d, int i, int j, double image, double B[3][3]) {
  double r[4], G[3];
  slopes(d->K, chord(d, d->dipole + i, d->dipole + j + (image != 0 ? d->n : 0), r), G);
  for (int l = 0; l < 3; l++) {
    double m[4];
    memcpy(m, d->body[j].axes[l], sizeof m);
    if (image != 0) reflect(d, m);
    for (int k = 0; k < 3; k++) {
      const double *axis = d->body[i].axes[k];
      B[k][l] += (image != 0 ? image : 1) * (G[1] * form(d, m, r) * form(d, axis, r) + G[0] * form(d, axis, m));
    }
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
      double B[3][3] = {{0}};
      if (j > i) add_flow(d, i, j, 0, B);
      if (d->image != 0) add_flow(d, i, j, d->image, B);
      for (size_t k = 0; k < 36; k++) {
        double sum = 0;
        for (int l = 0; l < 9; l++) sum += d->body[i].D[l / 3][k / 6] * B[l / 3][l % 3] * d->body[j].D[l % 3][k % 6];
        const size_t row = 6 * (size_t)i + k / 6, column = 6 * (size_t)j + k % 6;
        K[row * width + column] = K[column * width + row] = -d->density * sum;
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
      const double s = sqrt(squared_distance(d, p, q)), s3 = 2 * M_PI * s * s * s,
                   next = (a->radius * a->radius + b->radius * b->radius) / (s * s),
                   error = a->strength * b->strength / s3 * (next + fmax(a->strength, b->strength) / s3) /
                           fmin(a->mass, b->mass);
      if (error <= maximum) continue;
      maximum = error;
      *i = p < q % d->n ? p : q % d->n;
      *j = p < q % d->n ? q % d->n : p;
    }
  return maximum;
}
