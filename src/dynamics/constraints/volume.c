/* The volume inside a closed surface of geodesic triangles. It is the sum of the volumes V of the geodesic tetrahedra
 * that join the first vertex x_0 of the mesh to each triangle, with signs that depend on the orientation.
 *
 * A point of a tetrahedron x_0 .. x_3 is the projection of x_0 (1-u) + m u along its ray onto the quadric, with 0 <= u
 * <= 1. Here m = sum_i mu_i x_i is a point of the opposite triangle, with mu_1 + mu_2 + mu_3 = 1. K is the curvature,
 * and s_K(r) = sin(sqrt(K) r)/sqrt(K) or sinh(sqrt|K| r)/sqrt|K|. The integral over u has a closed form, and the
 * integral over mu remains:
 *   V = D Q,   D = -det(x_0, x_1, x_2, x_3) sqrt|K|,   Q = int Phi(z) N^-3 dmu   over the unit triangle
 *   w_ij = <x_i - x_j, x_i - x_j>,  alpha = sum_i mu_i w_0i,  beta = sum_(i<j) mu_i mu_j w_ij
 *   N^2 = K <m,m> = 1 - K beta,   z = K s_K(r/2)^2 = K (alpha/2 - beta/(1 + N))/(2 N),  r the distance from x_0 to m/N
 *   Phi = int_0^r s_K(x)^2 dx / s_K(r)^3,   2 z (1-z) Phi' + 3 (1-2z) Phi = 1
 * In flat space the determinant has the rows (x_i, 1), and Q = 1/6. Only D and the squared chords w_ij appear, so small
 * triangles are accurate too, and the result is the same in every frame. Q is computed by a product of two Gauss rules
 * in collapsed coordinates; the largest |K| w_ij determines their order. The relative error is round-off for edges of
 * up to 2.4 radii (hyperbolic) or 1.4 radii (sphere), and 1e-12 at 3 radii (hyperbolic). Sources: Ratcliffe,
 * Foundations of Hyperbolic Manifolds, 2nd ed. (2006), section 10.4, doi:10.1007/978-0-387-47322-2; nodes: Abramowitz &
 * Stegun (1964), table 25.4.
 */
#include "dynamics/builder_private.h"

#include "dynamics/pair_potential_private.h"
#include "numerics/numerics_curved.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern const cb_constraint_class cb_constraint_volume;

typedef struct keys {
  const cb_node *body, *triangles, *target, *name;
} keys;

static const cb_param table[] = {
    CB_CONSTRAINT_KEY(keys, "body", body, "", "", "a body with a closed surface: a mesh"),
    CB_CONSTRAINT_KEY(keys, "triangles", triangles, "", "",
                      "instead of body: [[[a, 0], [a, 1], [a, 2]], ..], seen from outside"),
    CB_CONSTRAINT_TARGET(keys, "volume", target, "units of volume"),
    CB_CONSTRAINT_NAME(keys, name),
    {NULL, 0, 0, NULL, NULL, NULL, NULL, NULL}};

static const double pi = 3.14159265358979323846;

static int by_ends(const void *a, const void *b) {
  const int *x = a, *y = b;
  return x[0] != y[0] ? (x[0] > y[0]) - (x[0] < y[0]) : (x[1] > y[1]) - (x[1] < y[1]);
}

/* Fails unless the surface is closed and oriented: every directed edge must occur once, and once in the opposite
 * direction. */
static cb_status check_closed(int n, const int (*triangle)[3]) {
  const size_t count = 3 * (size_t)n;
  int(*edge)[2] = malloc(count * sizeof *edge);
  cb_status status = CB_OK;
  if (!edge) return cb_fail(CB_ERROR_MEMORY, "no memory for %d triangles", n);
  for (size_t e = 0; e < count; e++) {
    edge[e][0] = triangle[e / 3][e % 3];
    edge[e][1] = triangle[e / 3][(e + 1) % 3];
  }
  qsort(edge, count, sizeof *edge, by_ends);
  for (size_t e = 1; e < count && !status; e++)
    if (by_ends(edge[e], edge[e - 1]) == 0)
      status = cb_fail(
          CB_ERROR_ARGUMENT,
          "volume: two triangles have the edge %d-%d in the same direction: expected consistently oriented triangles",
          edge[e][0], edge[e][1]);
  for (size_t e = 0; e < count && !status; e++)
    if (!bsearch((int[]){edge[e][1], edge[e][0]}, edge, count, sizeof *edge, by_ends))
      status = cb_fail(CB_ERROR_ARGUMENT,
                       "volume: the surface is not closed: edge %d-%d belongs to only one triangle, expected two",
                       edge[e][0], edge[e][1]);
  free(edge);
  return status;
}

/* On a sphere, fails unless the distance of each vertex from the first one is less than a quarter of a great circle. */
static cb_status check_near(const cb_builder *b, int first, int n, const int (*triangle)[3]) {
  const double curvature = b->space->factor[0].curvature;
  for (int e = 0; curvature > 0 && e < 3 * n; e++) {
    const int i = triangle[e / 3][e % 3];
    double d;
    cb_status status = cb_pair_distance(b->space, b->point[first].x, b->point[i].x, &d, NULL, NULL);
    if (status) return CB_ERROR_DOMAIN;
    if (!(sqrt(curvature) * d < pi / 2))
      return cb_fail(CB_ERROR_DOMAIN,
                     "volume: particle %d is at the distance %g from the first particle, %d: expected less than %g", i,
                     d, first, pi / 2 / sqrt(curvature));
  }
  return CB_OK;
}

cb_status cb_builder_volume(cb_builder *b, const char *name, int n, const int (*triangle)[3], cb_target volume) {
  cb_status status = cb_builder_check_factors(b, "volume", 1);
  if (!status && b->space->dim != 3)
    status = cb_fail(CB_ERROR_ARGUMENT, "volume: expected a space of dimension 3, found %d", b->space->dim);
  if (!status) status = cb_builder_check_triangles(b, "volume", n, triangle);
  if (!status) status = check_closed(n, triangle);
  if (!status) status = check_near(b, triangle[0][0], n, triangle);
  if (!status && !volume.expression && (isinf(volume.value) || volume.value == 0))
    status = cb_fail(CB_ERROR_ARGUMENT, "volume: value %g: expected a number other than 0", volume.value);
  if (status) return status;
  int *particle = malloc(4 * (size_t)n * sizeof *particle), first = triangle[0][0], elements = 0;
  if (!particle) return cb_fail(CB_ERROR_MEMORY, "no memory for %d triangles", n);
  /* a tetrahedron whose triangle contains the first vertex has no volume */
  for (int t = 0; t < n; t++) {
    if (triangle[t][0] == first || triangle[t][1] == first || triangle[t][2] == first) continue;
    particle[4 * elements] = first;
    memcpy(particle + 4 * elements + 1, triangle[t], sizeof triangle[t]);
    elements++;
  }
  cb_constraint row = {
      .class = &cb_constraint_volume, .name = name, .elements = elements, .width = 4, .particle = particle};
  if (!elements)
    status =
        cb_fail(CB_ERROR_ARGUMENT,
                "volume: all triangles contain particle %d, so that the volume is 0: expected a closed surface", first);
  if (!status) status = cb_builder_add_targeted(b, &row, &volume);
  free(particle);
  return status;
}

static cb_status read(const cb_constraint_entry *e, const void *params) {
  const keys *p = params;
  return cb_constraint_read_triangles(e, p->body, p->triangles, p->target, "volume", "", cb_builder_volume);
}

enum { K = CB_COORD_MAX, CORNERS = 4, EDGES = 6, SIZE = CORNERS * K };

static const int ends[EDGES][2] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};

/* A positive node of a Gauss rule on [-1, 1], and its weight. The node -x has the same weight. */
typedef struct node {
  double x, weight;
} node;

static const node gauss_4[] = {{0.33998104358485626, 0.65214515486254609}, {0.86113631159405257, 0.34785484513745385}};
static const node gauss_8[] = {
    {0.18343464249564981, 0.36268378337836199},
    {0.52553240991632899, 0.31370664587788727},
    {0.79666647741362673, 0.22238103445337448},
    {0.96028985649753629, 0.10122853629037626},
};
static const node gauss_16[] = {
    {0.095012509837637441, 0.1894506104550685}, {0.28160355077925892, 0.18260341504492358},
    {0.45801677765722737, 0.16915651939500254}, {0.61787624440264377, 0.14959598881657674},
    {0.755404408355003, 0.12462897125553388},   {0.86563120238783176, 0.095158511682492786},
    {0.9445750230732326, 0.062253523938647894}, {0.98940093499164994, 0.027152459411754096},
};
static const node gauss_32[] = {
    {0.048307665687738317, 0.096540088514727798}, {0.14447196158279649, 0.095638720079274861},
    {0.23928736225213706, 0.093844399080804566},  {0.33186860228212767, 0.091173878695763891},
    {0.42135127613063533, 0.087652093004403811},  {0.50689990893222936, 0.083311924226946749},
    {0.5877157572407623, 0.078193895787070311},   {0.66304426693021523, 0.072345794108848505},
    {0.73218211874028971, 0.065822222776361849},  {0.79448379596794239, 0.058684093478535544},
    {0.84936761373256997, 0.050998059262376175},  {0.89632115576605209, 0.042835898022226683},
    {0.93490607593773967, 0.034273862913021431},  {0.96476225558750639, 0.025392065309262059},
    {0.98561151154526838, 0.01627439473090567},   {0.99726386184948157, 0.0070186100094700964},
};

/* The rules, with 2*half nodes each. A rule is used up to `largest`, the largest |K| w_ij of a tetrahedron. Relative
 * errors are then below 1e-15 (measured against 128 nodes), except for the last rule, which has no limit. */
static const struct rule {
  double largest;
  int half;
  const node *nodes;
} rules[] = {{0.008, 2, gauss_4}, {0.3, 4, gauss_8}, {1.8, 8, gauss_16}, {INFINITY, 16, gauss_32}};

/* The series of Phi near 0: phi_0 = 1/3, phi_n = phi_(n-1) (2n+4)/(2n+3). It has as many terms as are needed for |z| up
 * to `largest`. */
enum { TERMS = 36 };
typedef struct series {
  int n;
  double c[TERMS];
} series;
static const double near = 0.25, negligible = 1e-19;

static series series_up_to(double largest) {
  series s = {.n = 1, .c = {1. / 3}};
  for (double power = 1; s.n < TERMS && (s.n < 4 || power * s.n * s.n > negligible); s.n++) {
    s.c[s.n] = s.c[s.n - 1] * (2 * s.n + 4) / (2 * s.n + 3);
    power *= largest;
  }
  return s;
}

/* Computes Phi(z) and its first two derivatives. */
static void phi(const series *s, double z, double out[3]) {
  if (fabs(z) < near) {
    double sum = 0, first = 0, half_second = 0;
    for (int n = s->n - 1; n >= 0; n--) {
      half_second = half_second * z + first;
      first = first * z + sum;
      sum = sum * z + s->c[n];
    }
    out[0] = sum;
    out[1] = first;
    out[2] = 2 * half_second;
    return;
  }
  double sine = 2 * sqrt(fabs(z) * (1 - z)), c = 1 - 2 * z, two = 2 * z * (1 - z);
  double r = 2 * (z > 0 ? atan2(sqrt(z), sqrt(1 - z)) : asinh(sqrt(-z)));
  out[0] = (z > 0 ? r - sine * c : sine * c - r) / (2 * sine * sine * sine);
  out[1] = (1 - 3 * c * out[0]) / two;
  out[2] = (6 * out[0] - 5 * c * out[1]) / two;
}

/* f = Phi(z) N^-3 and its derivatives in alpha and beta. */
typedef struct integrand {
  double f, a, b, aa, ab, bb;
} integrand;

static integrand integrand_at(const series *s, double curvature, double alpha, double beta) {
  double N2 = 1 - curvature * beta, N = sqrt(N2), p[3];
  double z = curvature * (alpha / 2 - beta / (1 + N)) / (2 * N), c = (1 - curvature * alpha / 2) / N;
  double z_a = curvature / (4 * N), z_b = -curvature * c / (4 * N2), z_ab = curvature * curvature / (8 * N2 * N),
         z_bb = -0.375 * c * curvature * curvature / (N2 * N2);
  double m = 1 / (N2 * N), m_b = 1.5 * curvature * m / N2, m_bb = 2.5 * curvature * m_b / N2;
  phi(s, z, p);
  return (integrand){
      .f = p[0] * m,
      .a = p[1] * z_a * m,
      .b = p[1] * z_b * m + p[0] * m_b,
      .aa = p[2] * z_a * z_a * m,
      .ab = (p[2] * z_a * z_b + p[1] * z_ab) * m + p[1] * z_a * m_b,
      .bb = (p[2] * z_b * z_b + p[1] * z_bb) * m + 2 * p[1] * z_b * m_b + p[0] * m_bb,
  };
}

/* Q and its first and second derivatives in the six squared chords w_ij. */
typedef struct quadrature {
  double v, w[EDGES], ww[EDGES][EDGES];
} quadrature;

static void add_point(const series *s, const double *w, double curvature, double weight, const double *mu, int order,
                      quadrature *q) {
  const double part[EDGES] = {mu[0], mu[1], mu[2], mu[0] * mu[1], mu[0] * mu[2], mu[1] * mu[2]};
  double alpha = part[0] * w[0] + part[1] * w[1] + part[2] * w[2];
  double beta = part[3] * w[3] + part[4] * w[4] + part[5] * w[5];
  const integrand f = integrand_at(s, curvature, alpha, beta);
  q->v += weight * f.f;
  for (int e = 0; order && e < EDGES; e++) q->w[e] += weight * (e < 3 ? f.a : f.b) * part[e];
  for (int e = 0; order > 1 && e < EDGES; e++)
    for (int d = 0; d <= e; d++) q->ww[e][d] += weight * (e < 3 ? f.aa : d < 3 ? f.ab : f.bb) * part[e] * part[d];
}

static void integrate(double curvature, const double *w, int order, quadrature *q) {
  memset(q, 0, sizeof *q);
  if (curvature == 0) {
    q->v = 1. / 6;
    return;
  }
  double largest = 0;
  for (int e = 0; e < EDGES; e++) largest = fmax(largest, fabs(curvature) * w[e]);
  const series s = series_up_to(fmin(largest / 4, near));
  const struct rule *rule = rules;
  while (!(largest <= rule->largest) && isfinite(rule->largest)) rule++;
  for (int i = -rule->half; i < rule->half; i++)
    for (int j = -rule->half; j < rule->half; j++) {
      const node *first = &rule->nodes[i < 0 ? -i - 1 : i], *second = &rule->nodes[j < 0 ? -j - 1 : j];
      double u = (1 + (i < 0 ? -first->x : first->x)) / 2, v = (1 + (j < 0 ? -second->x : second->x)) / 2;
      const double weight = first->weight * second->weight * u / 4, mu[] = {1 - u, u * (1 - v), u * v};
      add_point(&s, w, curvature, weight, mu, order, q);
    }
  for (int e = 0; e < EDGES; e++)
    for (int d = 0; d < e; d++) q->ww[d][e] = q->ww[e][d];
}

/* The determinant v of four rows, computed as a sum over permutations, and its first and second derivatives m and mm in
 * the SIZE entries. */
typedef struct determinant {
  double v, m[SIZE], mm[SIZE * SIZE];
} determinant;

/* All permutations of the four rows: the 12 even ones, then the 12 odd ones. */
static const int permutation[24][CORNERS] = {
    {0, 1, 2, 3}, {0, 2, 3, 1}, {0, 3, 1, 2}, {1, 0, 3, 2}, {1, 2, 0, 3}, {1, 3, 2, 0}, {2, 0, 1, 3}, {2, 1, 3, 0},
    {2, 3, 0, 1}, {3, 0, 2, 1}, {3, 1, 0, 2}, {3, 2, 1, 0}, {0, 1, 3, 2}, {0, 2, 1, 3}, {0, 3, 2, 1}, {1, 0, 2, 3},
    {1, 2, 3, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}, {2, 1, 0, 3}, {2, 3, 1, 0}, {3, 0, 1, 2}, {3, 1, 2, 0}, {3, 2, 0, 1},
};

static void determine(const double m[CORNERS][K], int order, determinant *d) {
  memset(d, 0, sizeof *d);
  for (int n = 0; n < 24; n++) {
    const int *at = permutation[n];
    const double sign = n < 12 ? 1 : -1;
    double r[CORNERS];
    for (int p = 0; p < CORNERS; p++) r[p] = m[p][at[p]];
    d->v += sign * r[0] * r[1] * r[2] * r[3];
    for (int p = 0; order && p < CORNERS; p++) {
      double rest = sign;
      for (int q = 0; q < CORNERS; q++) rest *= q == p ? 1 : r[q];
      d->m[p * K + at[p]] += rest;
    }
    for (int p = 0; order > 1 && p < CORNERS; p++)
      for (int q = 0; q < CORNERS; q++) {
        double rest = sign;
        for (int o = 0; o < CORNERS; o++) rest *= o == p || o == q ? 1 : r[o];
        if (q != p) d->mm[(p * K + at[p]) * SIZE + q * K + at[q]] += rest;
      }
  }
}

/* y holds n vectors of derivatives by the four rows of a determinant, which are x_0 and the differences x_i - x_0.
 * Converts each vector to derivatives by x_0 and x_i. Number e of vector r is y[r * across + e * step], e < SIZE. */
static void from_differences(int n, int step, int across, double *y) {
  for (int r = 0; r < n; r++)
    for (int a = 0; a < K; a++)
      for (int p = 1; p < CORNERS; p++) y[r * across + a * step] -= y[r * across + (p * K + a) * step];
}

/* Computes D of the file header and its derivatives in x, up to `order`. */
static void signed_content(const cb_space *g, const double *const *x, int order, determinant *d) {
  const double curvature = g->factor[0].curvature, last = curvature == 0 ? 0 : sqrt(fabs(curvature));
  const double scale[K] = {1, 1, 1, last};
  double m[CORNERS][K] = {{0}};
  for (int p = 0; p < CORNERS; p++)
    for (int a = 0; a < g->embedding; a++) m[p][a] = scale[a] * (x[p][a] - (p ? x[0][a] : 0));
  if (curvature == 0) m[0][K - 1] = 1;
  determine(m, order, d);
  d->v = -d->v;
  if (!order) return;
  from_differences(1, 1, 0, d->m);
  from_differences(SIZE, 1, SIZE, d->mm);
  from_differences(SIZE, SIZE, 1, d->mm);
  for (int i = 0; i < SIZE; i++) {
    d->m[i] *= -scale[i % K];
    for (int j = 0; j < SIZE; j++) d->mm[i * SIZE + j] *= -scale[i % K] * scale[j % K];
  }
}

/* Converts index i of arrays with k numbers per corner to the index in arrays with K = 4 numbers per corner. */
static int lifted(int k, int i) { return i / k * K + i % k; }

static cb_status in_embedding(const cb_constraints *c, const cb_constraint *row, int element, double t,
                              const double *const *x, int order, cb_element *out) {
  const cb_space *g = c->space;
  const int k = g->embedding, size = CORNERS * k;
  double w[EDGES], e[EDGES][K], Q_x[SIZE] = {0}, w_x[EDGES][SIZE] = {{0}};
  quadrature Q;
  determinant D;
  (void)row;
  (void)element;
  (void)t;
  for (int s = 0; s < EDGES; s++) {
    w[s] = 0;
    for (int a = 0; a < k; a++) {
      e[s][a] = x[ends[s][0]][a] - x[ends[s][1]][a];
      w[s] += g->form[a] * e[s][a] * e[s][a];
      w_x[s][ends[s][0] * k + a] = 2 * g->form[a] * e[s][a];
      w_x[s][ends[s][1] * k + a] = -2 * g->form[a] * e[s][a];
    }
  }
  integrate(g->factor[0].curvature, w, order, &Q);
  signed_content(g, x, order, &D);
  out->value = D.v * Q.v;
  if (!isfinite(out->value))
    return cb_fail(CB_STEP_DOMAIN,
                   "a triangle is too far from the first vertex of its surface: expected a smaller surface");
  if (!order) return CB_OK;
  for (int i = 0; i < size; i++) {
    for (int s = 0; s < EDGES; s++) Q_x[i] += Q.w[s] * w_x[s][i];
    out->gradient[i] = D.m[lifted(k, i)] * Q.v + D.v * Q_x[i];
  }
  if (order < 2) return CB_OK;
  for (int i = 0; i < size; i++) {
    double sum[EDGES] = {0};
    for (int s = 0; s < EDGES; s++)
      for (int r = 0; r < EDGES; r++) sum[s] += Q.ww[s][r] * w_x[r][i];
    for (int j = 0; j < size; j++) {
      double Q_xx = 0;
      for (int s = 0; s < EDGES; s++) Q_xx += sum[s] * w_x[s][j];
      out->hessian[i * size + j] = D.mm[lifted(k, i) * SIZE + lifted(k, j)] * Q.v + D.m[lifted(k, i)] * Q_x[j] +
                                   D.m[lifted(k, j)] * Q_x[i] + D.v * Q_xx;
    }
  }
  for (int s = 0; s < EDGES; s++)
    for (int i = 0; i < 2; i++)
      for (int j = 0; j < 2; j++)
        for (int a = 0; a < k; a++)
          out->hessian[(ends[s][i] * k + a) * size + ends[s][j] * k + a] +=
              D.v * Q.w[s] * (i == j ? 2 : -2) * g->form[a];
  return CB_OK;
}

static cb_status volume(const cb_constraints *c, const cb_constraint *row, int element, double t,
                        const double *const *x, int order, cb_element *out) {
  return cb_element_by_embedding(in_embedding, c, row, element, t, x, order, out);
}

const cb_constraint_class cb_constraint_volume = {.name = "volume",
                                                  .title = "volume inside a closed surface of geodesic triangles",
                                                  .doc = "",
                                                  .params = table,
                                                  .params_size = sizeof(keys),
                                                  .read = read,
                                                  .points = 4,
                                                  .element = volume,
                                                  .sized = true};
