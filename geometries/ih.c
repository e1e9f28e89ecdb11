/* The inhomogeneous space IH: R^3 with the metric
 *
 *   g = (r^2 + 2) 1,   r^2 = x^2 + y^2 + z^2
 *
 * where 1 is the unit matrix. The space is negatively curved and complete, so that geodesics are unique and minimal.
 * The curvature is -4/(r^2+2)^3 for planes that contain the radius and -(3 r^2+4)/(r^2+2)^3 for planes normal to it.
 * The isometries are the rotations and reflections about the origin.
 *
 * g is the Jacobi metric of the repulsive oscillator x'' = x with |x'|^2 - |x|^2 = 2 (Arnold, Mathematical Methods of
 * Classical Mechanics, 2nd ed. (1989), section 45D, doi:10.1007/978-1-4757-2063-1). With the time tau of the
 * oscillator, p = x(0), v = x'(0) and the arc length s,
 *
 *   x = p cosh tau + v sinh tau = a e^tau + b e^-tau,   a = (p + v)/2,  b = (p - v)/2,  a.b = -1/2
 *   ds = (|x|^2 + 2) dtau,   s(tau) = |a|^2 (e^2tau - 1)/2 + |b|^2 (1 - e^-2tau)/2 + tau
 *
 * The distance d of p and q is, with P = |p + q|, M = |p - q|, u+- = (P +- M)/2, w+- = sqrt(u+-^2 + 2):
 *
 *   d = F(u+) - F(u-),   F(c) = asinh(c/sqrt 2) + c sqrt(c^2 + 2)/2
 *
 * With c = sqrt 2 sinh t, F = t + sinh(2t)/2. Let t+- be t for c = u+-, D = sinh(t+ - t-) and S = sinh(t+ + t-):
 *
 *   d = asinh D + sqrt(D^2 + D^2 S^2),   D S = P M/2,   {D, S} = (u+ w- -+ u- w+)/2
 *
 * One of D and S is computed from its sum, the one whose sum has no cancellation; the other follows from the product.
 * This is exact to round-off at M -> 0 and P -> 0. Let E = w+ w- = sqrt((p.q)^2 + P^2 + M^2 + 4) and W = w+ + w- =
 * sqrt((P^2 + M^2)/2 + 4 + 2E). The derivatives d_p of d with respect to p are
 *
 *   d_p d = alpha (p + q) + beta (p - q) = p coth T - q/sinh T,   alpha = M/2W,   beta = W/2M
 *
 * where T is the time from p to q.
 */
#include <curvebody/intrinsic.h>
#include "geometry/space_class.h"
#include "numerics/vec3.h"

#include <math.h>

enum { N = 3 };

static cb_status metric(const cb_space *g, const double *q, double *gij, double *dg, double *ddg) {
  cb_metric_conformal(cb_metric_begin(g->dim, gij, dg, ddg), q, cb_dot3(q, q) + 2, 1, 0);
  return CB_OK;
}

/* --- distance --- */

typedef struct pair {
  double s[N], m[N]; /* p + q, p - q */
  double P, M, c, E, W;
} pair;

static pair pair_of(const double *p, const double *q) {
  pair x;
  for (int i = 0; i < N; i++) {
    x.s[i] = p[i] + q[i];
    x.m[i] = p[i] - q[i];
  }
  const double P2 = cb_dot3(x.s, x.s), M2 = cb_dot3(x.m, x.m);
  x.P = sqrt(P2);
  x.M = sqrt(M2);
  x.c = cb_dot3(p, q);
  x.E = sqrt(x.c * x.c + P2 + M2 + 4);
  x.W = sqrt((P2 + M2) / 2 + 4 + 2 * x.E);
  return x;
}

static double length(const pair *x) {
  const double up = (x->P + x->M) / 2, um = fabs(x->P - x->M) / 2, product = x->P * x->M / 2;
  const double sum = (up * sqrt(um * um + 2) + um * sqrt(up * up + 2)) / 2;
  const double D = x->P < x->M ? sum : sum > 0 ? product / sum : 0;
  return asinh(D) + hypot(D, product);
}

/* Computes the covector d_p d by the one of its two forms (end of the comment at the top) whose terms are smaller. */
static void covector(const pair *x, const double *p, const double *q, double *out) {
  const double alpha = x->M / (2 * x->W), beta = x->W / (2 * x->M), coth = alpha + beta;
  const double csch = (x->c + x->E + 2) / (x->W * x->M); /* beta - alpha */
  const double by_chords = fmax(alpha * x->P, beta * x->M);
  const double by_ends = fmax(coth * sqrt(cb_dot3(p, p)), csch * sqrt(cb_dot3(q, q)));
  for (int i = 0; i < N; i++)
    out[i] = by_chords < by_ends ? alpha * x->s[i] + beta * x->m[i] : coth * p[i] - csch * q[i];
}

/* Computes the second derivatives of d with respect to p and q, from those with respect to s = p + q and m = p - q.
 * alpha and beta are functions of A = P^2 and B = M^2, and d alpha/dB = d beta/dA. */
static void second(const pair *x, double *hessian) {
  const double A = x->P * x->P, B = x->M * x->M, M = x->M, W = x->W;
  const double EA = (1 + (A - B) / 8) / (2 * x->E), EB = (1 - (A - B) / 8) / (2 * x->E);
  const double WA = (0.5 + 2 * EA) / (2 * W), WB = (0.5 + 2 * EB) / (2 * W);
  const double alpha = M / (2 * W), beta = W / (2 * M);
  const double alpha_A = -M * WA / (2 * W * W), beta_A = WA / (2 * M), beta_B = WB / (2 * M) - W / (4 * M * B);
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      const double ss = (i == j ? alpha : 0) + 2 * alpha_A * (x->s[i] * x->s[j]);
      const double mm = (i == j ? beta : 0) + 2 * beta_B * (x->m[i] * x->m[j]);
      const double sm = 2 * beta_A * (x->s[i] * x->m[j]), ms = 2 * beta_A * (x->m[i] * x->s[j]);
      hessian[i * 2 * N + j] = ss + mm + (sm + ms);
      hessian[i * 2 * N + N + j] = hessian[(N + j) * 2 * N + i] = ss - mm - sm + ms;
      hessian[(N + i) * 2 * N + N + j] = ss + mm - (sm + ms);
    }
}

static cb_status distance(const cb_space *g, const double *q1, const double *q2, double *d, double *gradient,
                          double *hessian) {
  (void)g;
  const pair x = pair_of(q1, q2);
  if ((gradient || hessian) && !(x.M > 0))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the distance from a point to itself has no derivative (x = %.6g): expected two different points",
                   q1[0]);
  *d = length(&x);
  if (gradient) {
    pair back = x;
    for (int i = 0; i < N; i++) back.m[i] = -x.m[i];
    covector(&x, q1, q2, gradient);
    covector(&back, q2, q1, gradient + N);
  }
  if (hessian) second(&x, hessian);
  return CB_OK;
}

/* --- geodesics --- */

/* Returns the tau with s(tau) = total, for aa = |a|^2 and bb = |b|^2, by Newton's method from above within bounds. */
static double time_of(double aa, double bb, double total) {
  double low = 0, high = fmin(total, log1p(2 * total / aa) / 2);
  if (2 * total < bb) high = fmin(high, -log1p(-2 * total / bb) / 2);
  double tau = high;
  for (int i = 0; i < 200; i++) {
    const double s = aa * expm1(2 * tau) / 2 - bb * expm1(-2 * tau) / 2 + tau;
    const double rate = aa * exp(2 * tau) + bb * exp(-2 * tau) + 1;
    if (s >= total)
      high = tau;
    else
      low = tau;
    double next = tau - (s - total) / rate;
    if (!(next >= low && next <= high)) next = low + (high - low) / 2;
    if (fabs(next - tau) <= 2e-16 * tau) return next;
    tau = next;
  }
  return tau;
}

static cb_status exponential(const cb_space *g, const double *p, const double *u, double *q1, double *u1) {
  (void)g;
  const double speed = sqrt(cb_dot3(u, u)), f = cb_dot3(p, p) + 2, root = sqrt(f);
  if (!(speed > 0)) {
    for (int i = 0; i < N; i++) {
      q1[i] = p[i];
      if (u1) u1[i] = u[i];
    }
    return CB_OK;
  }
  /* v = n sqrt f with the unit vector n along u. `across` is the part of p normal to n. The two numbers p.n +- sqrt f
   * are computed without cancellation: their product is (p.n)^2 - f = -(|across|^2 + 2). */
  double n[N], across[N], a[N], b[N];
  for (int i = 0; i < N; i++) n[i] = u[i] / speed;
  const double along = cb_dot3(p, n);
  for (int i = 0; i < N; i++) across[i] = p[i] - along * n[i];
  const double far = fabs(along) + root, near = (cb_dot3(across, across) + 2) / far;
  const double plus = along < 0 ? near : far, minus = along < 0 ? -far : -near;
  for (int i = 0; i < N; i++) {
    a[i] = (across[i] + plus * n[i]) / 2;
    b[i] = (across[i] + minus * n[i]) / 2;
  }
  const double total = root * speed, tau = time_of(cb_dot3(a, a), cb_dot3(b, b), total);
  if (!isfinite(tau))
    return cb_fail(CB_ERROR_DOMAIN, "a geodesic of length %.6g is too long: expected a smaller velocity or step",
                   total);
  const double grow = expm1(tau), decay = expm1(-tau); /* q = p + a (e^tau - 1) + b (e^-tau - 1) */
  double end[N], rate[N];
  for (int i = 0; i < N; i++) {
    end[i] = tau < 1 ? p[i] + a[i] * grow + b[i] * decay : a[i] * (1 + grow) + b[i] * (1 + decay);
    rate[i] = a[i] * (1 + grow) - b[i] * (1 + decay);
  }
  const double scale = total / (cb_dot3(end, end) + 2);
  for (int i = 0; i < N; i++) {
    q1[i] = end[i];
    if (u1) u1[i] = rate[i] * scale;
  }
  return CB_OK;
}

/* Computes u = log_p(q) = -d g^-1 d_p d. */
static cb_status logarithm(const cb_space *g, const double *p, const double *q, double *u) {
  (void)g;
  const pair x = pair_of(p, q);
  if (!(x.M > 0)) {
    for (int i = 0; i < N; i++) u[i] = 0;
    return CB_OK;
  }
  double way[N];
  const double scale = -length(&x) / (cb_dot3(p, p) + 2);
  covector(&x, p, q, way);
  for (int i = 0; i < N; i++) u[i] = scale * way[i];
  return CB_OK;
}

/* --- the space --- */

static const cb_chart chart = {
    .name = "cartesian",
    .doc = "the coordinates x, y, z of R^3",
    .coordinates = {"x", "y", "z"},
    .metric = metric,
    .distance = distance,
};
static const struct cb_intrinsic intrinsic = {
    .exp = exponential, .log = logarithm, .killing_names = cb_rotation_names, .killing = cb_rotation_field};

static cb_status init(cb_space *g, const void *p) {
  (void)p;
  return cb_space_init_intrinsic(g, 3, &chart, &intrinsic);
}

const cb_space_class cb_space_ih = {
    .name = "ih",
    .title = "inhomogeneous space IH",
    .doc =
        "R^3 with metric (x^2 + y^2 + z^2 + 2)(dx^2 + dy^2 + dz^2), of negative curvature that tends to 0 far from the "
        "origin",
    .init = init,
};
