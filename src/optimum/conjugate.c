/* Conjugate and focal times (extremal.h): a Lagrangian frame is transported along an extremal, and the angles of its
 * rotation are followed. r: shape; p, lambda: momentum and multipliers of Wong's equations; g: group element; mu =
 * Ad*_{g^-1} lambda; eta = (delta g) g^-1; Y, Z: positions and momenta of the columns of the frame. */
#include "optimum/extremal.h"
#include "optimum/extremal_private.h"

#include <complex.h>
#include <gsl/gsl_eigen.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ORDER = CB_SHAPE_MAX + CB_GROUP_DIM, FRAME = ORDER * ORDER };

/* A frame after the elapsed time t, at the state x = (r, p, lambda) (extremal.h) and the group element g of the
 * extremal. Each column is a neighbouring extremal: D[size][order] is the change of x, eta[dim][order] that of g,
 * (delta g) g^-1, and dmu[dim][order] that of mu (cb_conjugate in extremal.h). dmu is constant and is a member of
 * `path`. */
typedef struct frame {
  double t, x[CB_WONG_MAX], g[CB_GROUP_SIZE];
  double D[CB_WONG_MAX * ORDER], eta[CB_GROUP_DIM * ORDER];
  /* phi: the angles in [0, pi), ascending; sum: the sum of the angles, including the multiples of pi that were passed
   */
  double phi[ORDER], sum;
  long passed; /* number of multiples of pi that the angles have passed */
  double skew; /* the largest result of `skewness` so far */
} frame;

typedef struct path {
  const cb_extremal *e;
  flow *flow;
  int n, dim, size, order;
  double way; /* 1: the path is followed forwards; -1: backwards from its end */
  double mu[CB_GROUP_DIM], dmu[CB_GROUP_DIM * ORDER];
  double sigma[ORDER]; /* scales: rows of positions Y are divided by sigma, rows of momenta Z multiplied by it */
  gsl_eigen_symmv_workspace *workspace;
} path;

/* --- angles --- */

/* Computes the positions Y[order][order] and the momenta Z[order][order] of a frame (extremal.h), scaled by sigma. If
 * the path is followed backwards, Z has the opposite sign, so that the angles increase in both cases. */
static void position_and_momentum(const path *p, const frame *f, double *Y, double *Z) {
  const int n = p->n, d = p->order;
  double along[CB_GROUP_DIM], turned[CB_GROUP_DIM];
  for (int c = 0; c < d; c++) {
    for (int i = 0; i < n; i++) {
      Y[i * d + c] = f->D[i * d + c] / p->sigma[i];
      Z[i * d + c] = p->way * f->D[(n + i) * d + c] * p->sigma[i];
    }
    for (int a = 0; a < p->dim; a++) along[a] = f->eta[a * d + c];
    cb_group_ad_dual(p->flow->p.G, along, p->mu, turned);
    for (int a = 0; a < p->dim; a++) {
      Y[(n + a) * d + c] = along[a] / p->sigma[n + a];
      Z[(n + a) * d + c] = p->way * (p->dmu[a * d + c] + turned[a] / 2) * p->sigma[n + a];
    }
  }
}

/* Makes the columns of (Y, Z) orthonormal. This is done twice, because the second round removes the round-off of the
 * first. */
static void orthonormalise(int d, double *Y, double *Z) {
  for (int round = 0; round < 2; round++)
    for (int c = 0; c < d; c++) {
      for (int b = 0; b <= c; b++) {
        double dot = 0;
        for (int i = 0; i < d; i++) dot += Y[i * d + b] * Y[i * d + c] + Z[i * d + b] * Z[i * d + c];
        const double keep = b == c ? 1 / sqrt(dot) : 1, less = b == c ? 0 : dot;
        for (int i = 0; i < d; i++) {
          Y[i * d + c] = keep * Y[i * d + c] - less * Y[i * d + b];
          Z[i * d + c] = keep * Z[i * d + c] - less * Z[i * d + b];
        }
      }
    }
}

/* Returns the argument of det(Z + iY), by elimination. */
static double argument(int d, const double *Y, const double *Z) {
  double complex a[FRAME], det = 1;
  for (int k = 0; k < d * d; k++) a[k] = Z[k] + I * Y[k];
  for (int k = 0; k < d; k++) {
    int best = k;
    for (int i = k + 1; i < d; i++)
      if (cabs(a[i * d + k]) > cabs(a[best * d + k])) best = i;
    for (int j = 0; best != k && j < d; j++) {
      const double complex swap = a[k * d + j];
      a[k * d + j] = a[best * d + j];
      a[best * d + j] = swap;
    }
    const double complex pivot = a[k * d + k];
    det *= (best == k ? pivot : -pivot) / cabs(pivot);
    for (int i = k + 1; i < d; i++) {
      const double complex factor = a[i * d + k] / pivot;
      for (int j = k; j < d; j++) a[i * d + j] -= factor * a[k * d + j];
    }
  }
  return carg(det);
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

/* Computes phi[d] in [0, pi), d = order, where exp(2 i phi) are the eigenvalues of U = (Z + iY)(Z + iY)^T. The columns
 * of (Y, Z) must be orthonormal. The real part C and the imaginary part S of U commute, so that a generic linear
 * combination of both has their common eigenvectors. */
static void angles(const path *p, const double *Y, const double *Z, double *phi) {
  const int d = p->order;
  const size_t N = (size_t)d;
  double C[FRAME], S[FRAME], mixed[FRAME], vector[FRAME], value[ORDER];
  for (int i = 0; i < d; i++)
    for (int j = 0; j < d; j++) {
      C[i * d + j] = S[i * d + j] = 0;
      for (int k = 0; k < d; k++) {
        C[i * d + j] += Z[i * d + k] * Z[j * d + k] - Y[i * d + k] * Y[j * d + k];
        S[i * d + j] += Z[i * d + k] * Y[j * d + k] + Y[i * d + k] * Z[j * d + k];
      }
    }
  gsl_matrix_view m = gsl_matrix_view_array(mixed, N, N), v = gsl_matrix_view_array(vector, N, N);
  gsl_vector_view e = gsl_vector_view_array(value, N);
  double pure = 0;
  for (int trial = 0; trial < 8 && pure < .999; trial++) {
    const double a = .7 + 1.1 * trial;
    for (int k = 0; k < d * d; k++) mixed[k] = cos(a) * C[k] + sin(a) * S[k];
    gsl_eigen_symmv(&m.matrix, &e.vector, &v.matrix, p->workspace);
    pure = 1;
    for (int k = 0; k < d; k++) {
      double cosine = 0, sine = 0;
      for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
          cosine += vector[i * d + k] * C[i * d + j] * vector[j * d + k];
          sine += vector[i * d + k] * S[i * d + j] * vector[j * d + k];
        }
      phi[k] = atan2(sine, cosine) / 2;
      if (phi[k] < 0) phi[k] += M_PI;
      pure = fmin(pure, hypot(sine, cosine));
    }
  }
  qsort(phi, N, sizeof *phi, ascending);
}

/* Returns the largest absolute entry of Y'Z - Z'Y, where the prime is the transpose and the columns of (Y, Z) are
 * scaled to length 1. */
static double skewness(int d, const double *Y, const double *Z) {
  double maximum = 0;
  for (int b = 0; b < d; b++)
    for (int c = 0; c < b; c++) {
      double form = 0, square[2] = {0, 0};
      for (int i = 0; i < d; i++) {
        form += Y[i * d + b] * Z[i * d + c] - Z[i * d + b] * Y[i * d + c];
        square[0] += Y[i * d + b] * Y[i * d + b] + Z[i * d + b] * Z[i * d + b];
        square[1] += Y[i * d + c] * Y[i * d + c] + Z[i * d + c] * Z[i * d + c];
      }
      maximum = fmax(maximum, fabs(form) / sqrt(square[0] * square[1]));
    }
  return maximum;
}

/* Computes the angles of the frame f. The sum of the angles continues from the frame `before` (NULL: there is none).
 * Returns the growth of the sum. */
static double read_angles(const path *p, const frame *before, frame *f) {
  double Y[FRAME], Z[FRAME], rest = 0;
  position_and_momentum(p, f, Y, Z);
  const double sum = argument(p->order, Y, Z), grown = before ? remainder(sum - before->sum, 2 * M_PI) : 0;
  f->sum = before ? before->sum + grown : sum;
  f->skew = fmax(before ? before->skew : 0, skewness(p->order, Y, Z));
  orthonormalise(p->order, Y, Z);
  angles(p, Y, Z, f->phi);
  for (int k = 0; k < p->order; k++) rest += f->phi[k];
  f->passed = lround((f->sum - rest) / M_PI);
  return grown;
}

/* --- the path --- */

/* Transports the frame `from` by a time h to the frame `to`. `stage` holds the stages of the extremal on the panel of
 * this step, or is NULL. */
static cb_status carry(const path *p, const frame *from, double h, const double *stage, frame *to) {
  const int size = p->size, dim = p->dim, d = p->order;
  const cb_group *G = p->flow->p.G;
  const cb_status status = flow_step(p->flow, 0, p->way * h, from->x, stage, 1, 1e-15);
  if (status) return status;
  const extremal_mesh *m = p->flow->m;
  const int wide = columns(m);
  const double *Phi = m->affine + size * wide;
  double Ad[CB_GROUP_DIM * CB_GROUP_DIM], local[CB_GROUP_DIM];
  *to = *from;
  to->t = from->t + h;
  memcpy(to->x, m->at.x + size, (size_t)size * sizeof *to->x);
  G->multiply(G, from->g, m->element + G->size, to->g);
  G->adjoint(G, from->g, Ad);
  for (int c = 0; c < d; c++) {
    for (int i = 0; i < size; i++) {
      to->D[i * d + c] = 0;
      for (int j = 0; j < size; j++) to->D[i * d + c] += Phi[i * wide + j] * from->D[j * d + c];
    }
    for (int a = 0; a < dim; a++) {
      local[a] = 0;
      for (int j = 0; j < size; j++) local[a] += m->eta[a * wide + j] * from->D[j * d + c];
    }
    for (int a = 0; a < dim; a++)
      for (int b = 0; b < dim; b++) to->eta[a * d + c] += Ad[a * dim + b] * local[b];
  }
  return CB_OK;
}

/* Transports a frame by a time h. A step is halved until the sum of the angles changes by less than .7, but at most 12
 * times. */
static cb_status advance(const path *p, const frame *from, double h, const double *stage, int depth, frame *to) {
  enum { DEEPEST = 12 };
  cb_status status = carry(p, from, h, stage, to);
  if (!status && (fabs(read_angles(p, from, to)) < .7 || depth == DEEPEST)) return CB_OK;
  if (status && depth == DEEPEST) return status;
  frame middle;
  status = advance(p, from, h / 2, NULL, depth + 1, &middle);
  return status ? status : advance(p, &middle, h / 2, NULL, depth + 1, to);
}

/* Returns a continuous function of the time. It is negative before the number of passed multiples of pi becomes
 * `which`, 0 at this time, and positive after it. */
static double crossing(const path *p, const frame *f, long which) {
  const long ahead = f->passed - which, d = p->order;
  if (ahead >= 0) return ahead < d ? f->phi[ahead] : M_PI;
  return -ahead <= d ? f->phi[d + ahead] - M_PI : -M_PI;
}

/* Finds the time between two frames at which the number of multiples of pi that the angles have passed becomes `which`,
 * by false position (Illinois). */
static cb_status locate(const path *p, const frame *from, const frame *to, long which, double *t) {
  double a = 0, b = to->t - from->t, fa = crossing(p, from, which), fb = crossing(p, to, which);
  int side = 0;
  for (int round = 0; round < 100 && b - a > 1e-12 && fb != 0; round++) {
    double h = (a * fb - b * fa) / (fb - fa);
    if (!(h > a && h < b) || round % 8 == 7) h = (a + b) / 2;
    frame f;
    const cb_status status = advance(p, from, h, NULL, 0, &f);
    if (status) return status;
    const double value = crossing(p, &f, which);
    if (value < 0) {
      a = h;
      fa = value;
      if (side == -1) fb /= 2;
      side = -1;
    } else {
      b = h;
      fb = value;
      if (side == 1) fa /= 2;
      side = 1;
    }
    if (fabs(value) < 1e-14) a = b = h;
  }
  *t = from->t + b;
  return CB_OK;
}

/* --- the frame at the beginning --- */

/* Fills the frame at time 0. The neighbouring extremals begin at the same start shape and at the identity of the group,
 * with any changes of p and lambda. */
static void from_point(path *p, frame *f) {
  const int n = p->n, d = p->order;
  memcpy(f->x, p->e->x, (size_t)p->size * sizeof *f->x);
  memcpy(p->mu, f->x + 2 * n, (size_t)p->dim * sizeof *p->mu);
  for (int c = 0; c < d; c++) f->D[(n + c) * d + c] = 1;
  for (int a = 0; a < p->dim; a++) p->dmu[a * d + n + a] = 1;
}

/* Makes an orthonormal basis[dim][dim] whose first rows span the rows of first[count][dim]. Returns how many of its
 * rows span them; this may be less than count, because the rows of `first` may depend on one another, for example for a
 * unit quaternion. */
static int basis_of(int count, int dim, const double *first, double *basis) {
  int have = 0, rank = 0;
  for (int k = 0; k < count + dim && have < dim; k++) {
    double *row = basis + have * dim, length = 0, was = 0;
    for (int a = 0; a < dim; a++) row[a] = k < count ? first[k * dim + a] : k - count == a;
    for (int a = 0; a < dim; a++) was += row[a] * row[a];
    for (int again = 0; again < 2; again++)
      for (int b = 0; b < have; b++) {
        double dot = 0;
        for (int a = 0; a < dim; a++) dot += row[a] * basis[b * dim + a];
        for (int a = 0; a < dim; a++) row[a] -= dot * basis[b * dim + a];
      }
    for (int a = 0; a < dim; a++) length += row[a] * row[a];
    if (!(length > 1e-12 * was)) continue;
    for (int a = 0; a < dim; a++) row[a] /= sqrt(length);
    have++;
    if (k < count) rank = have;
  }
  return rank;
}

/* The conditions on g(1): `count` conditions c, `rank` of them independent. */
typedef struct asked {
  int count, rank;
  double c[CB_CONDITIONS_MAX], first[CB_CONDITIONS_MAX * CB_GROUP_DIM], basis[CB_GROUP_DIM * CB_GROUP_DIM];
  double second[CB_CONDITIONS_MAX * CB_GROUP_DIM * CB_GROUP_DIM];
} asked;

/* Fills the frame at time 1 with the extremals that satisfy transversality at the target (extremal.h); group elements
 * are relative to g(1). The first n columns change p. The next `rank` columns change mu along the gradients of the
 * conditions. The other columns move g along the target, and mu with it. */
static void from_target(path *p, const asked *t, frame *f) {
  const cb_group *G = p->flow->p.G;
  const int n = p->n, dim = p->dim, d = p->order;
  double back[CB_GROUP_SIZE], Ad[CB_GROUP_DIM * CB_GROUP_DIM];
  G->inverse(G, p->e->g, back);
  G->adjoint(G, back, Ad);
  memcpy(f->x, p->e->x + p->e->panels * p->size, (size_t)p->size * sizeof *f->x);
  memcpy(p->mu, f->x + 2 * n, (size_t)dim * sizeof *p->mu);
  for (int i = 0; i < n; i++) f->D[(n + i) * d + i] = 1;
  for (int k = 0; k < dim; k++) {
    const int column = n + k;
    const double *y = t->basis + k * dim;
    double eta[CB_GROUP_DIM] = {0}, dmu[CB_GROUP_DIM] = {0}, turned[CB_GROUP_DIM];
    if (k < t->rank) {
      memcpy(turned, y, (size_t)dim * sizeof *turned);
    } else {
      for (int a = 0; a < dim; a++) {
        turned[a] = 0;
        for (int b = 0; b < dim; b++) eta[a] += Ad[a * dim + b] * y[b];
        for (int q = 0; q < t->count; q++)
          for (int b = 0; b < dim; b++) {
            double slope = t->second[(q * dim + a) * dim + b];
            for (int e = 0; e < dim; e++) slope += t->first[q * dim + e] * p->e->wong.bracket[a][b][e] / 2;
            turned[a] += p->e->nu[q] * slope * y[b];
          }
      }
    }
    cb_group_adjoint_dual(G, p->e->g, turned, dmu);
    cb_group_ad_dual(G, eta, p->mu, turned); /* lambda = Ad*_g mu changes with g and mu */
    for (int a = 0; a < dim; a++) {
      p->dmu[a * d + column] = dmu[a];
      f->eta[a * d + column] = eta[a];
      f->D[(2 * n + a) * d + column] = dmu[a] + turned[a];
    }
  }
}

/* Sets the scales sigma, the square root of the size of a position divided by the size of its momentum. The momentum
 * itself may vanish. Its size is therefore taken as the cost divided by the width of the loop in its variable. A
 * variable that hardly moves gets the largest width of all variables; otherwise angles could change too fast between
 * two frames. */
static void scale(path *p) {
  const cb_extremal *e = p->e;
  double wide[CB_SHAPE_MAX] = {0}, widest = 0, turn = 0;
  for (int i = 0; i < p->n; i++) {
    for (int s = 0; s < e->panels * CB_STAGES; s++) wide[i] = fmax(wide[i], fabs(e->stage[s * p->size + i] - e->r[i]));
    widest = fmax(widest, wide[i]);
  }
  for (int i = 0; i < p->n; i++) p->sigma[i] = (wide[i] > .05 * widest ? wide[i] : widest) / sqrt(e->cost);
  for (int a = 0; a < p->dim; a++) turn = fmax(turn, fabs(p->mu[a]));
  for (int a = 0; a < p->dim; a++) p->sigma[p->n + a] = turn > 0 ? sqrt(e->cost) / turn : 1;
}

static cb_status begin(path *p, const cb_optimum_problem *o, frame *f) {
  const cb_group *G = p->flow->p.G;
  asked t = {.count = cb_gait_target_count(G, &o->target)};
  const cb_status status = cb_gait_target_at(G, &o->target, p->e->g, t.c, t.first, t.second);
  if (status) return status;
  t.rank = basis_of(t.count, p->dim, t.first, t.basis);
  *f = (frame){0};
  G->identity(G, f->g);
  p->way = t.rank == p->dim ? 1 : -1;
  if (t.rank == p->dim)
    from_point(p, f);
  else
    from_target(p, &t, f);
  scale(p);
  read_angles(p, NULL, f);
  for (int k = 0; k < p->order; k++) /* angles that differ from pi by round-off are set to 0 */
    if (f->phi[k] > M_PI - 1e-9) f->phi[k] = 0;
  qsort(f->phi, (size_t)p->order, sizeof *f->phi, ascending);
  f->sum = 0;
  for (int k = 0; k < p->order; k++) f->sum += f->phi[k];
  f->passed = 0;
  return CB_OK;
}

/* Returns false if an angle differs from a multiple of pi only by round-off, so that it is not known on which side of
 * this multiple it is. */
static bool resolved(const path *p, const frame *f) { return f->phi[0] > 1e-10 && f->phi[p->order - 1] < M_PI - 1e-10; }

static cb_status search(const path *p, const frame *start, double last, cb_conjugate *out) {
  /* times above 1 - at_one count as 1, because symmetries cause a conjugate time at 1 */
  static const double at_one = 1e-9;
  enum { LEAST = 48 }; /* minimum number of steps per unit of time, since angles may change fast */
  frame from = *start, at = *start, next;
  const int parts = (LEAST + p->e->panels - 1) / p->e->panels;
  const double h = 1. / (p->e->panels * parts);
  cb_status status = CB_OK;
  for (int k = 0; !status && at.t < last - 1e-9 && isinf(out->time[1]); k++) {
    const bool along = p->way > 0 && parts == 1 && k < p->e->panels;
    status = advance(p, &at, h, along ? p->e->stage + k * CB_STAGES * p->size : NULL, 0, &next);
    if (status) break;
    at = next;
    if (!resolved(p, &at) && at.t < last - h) continue;
    for (long which = from.passed + 1; !status && which <= at.passed; which++) {
      double t;
      status = locate(p, &from, &at, which, &t);
      if (status) break;
      if (t < 1 - at_one && out->count++ == 0) out->time[0] = t;
      if (t >= 1 - at_one && isinf(out->time[1]) && t <= last) out->time[1] = t;
    }
    from = at;
  }
  out->skew = at.skew;
  return status > 0 && at.t >= 1 - h / 2 ? CB_OK : status;
}

cb_status cb_conjugate_find(const cb_optimum_problem *o, const cb_extremal *e, double last, cb_conjugate *out) {
  path p = {.e = e, .n = e->wong.n, .dim = e->wong.dim, .size = e->wong.size};
  frame start;
  cb_conjugate found = {.time = {INFINITY, INFINITY}};
  p.order = p.n + p.dim;
  if (!o->start_shape)
    return cb_fail(CB_ERROR_UNSUPPORTED, "conjugate times need a given start shape: give `start_shape`");
  for (int a = 0; a < e->arcs; a++)
    if (e->held[a])
      return cb_fail(CB_ERROR_UNSUPPORTED,
                     "conjugate times are not available for a gait along bounds: expected a gait inside its bounds");
  if (e->rate || e->mu == 0)
    return cb_fail(
        CB_ERROR_UNSUPPORTED,
        "conjugate times are not available for a gait at or near the maximum of its target: try a smaller target");
  if (!(last >= 1)) return cb_fail(CB_ERROR_ARGUMENT, "conjugate times up to %.9g, expected at least 1", last);
  cb_status status = flow_create(&e->wong, &p.flow);
  if (status) return status;
  p.workspace = gsl_eigen_symmv_alloc((size_t)p.order);
  if (!p.workspace) status = cb_fail(CB_ERROR_MEMORY, "no memory for conjugate times");
  if (!status) status = begin(&p, o, &start);
  if (!status) status = search(&p, &start, last, &found);
  gsl_eigen_symmv_free(p.workspace);
  flow_free(p.flow);
  if (!status) *out = found;
  return status;
}
