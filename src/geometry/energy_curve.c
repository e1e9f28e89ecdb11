/* The energy of a polynomial curve at Lobatto's nodes, with its derivatives:
 *
 *   E = 1/2 sum_a w_a g(x_a)(v_a, v_a),   v_a = sum_j D_aj x_j,   D_aj = P_N(s_a)/(P_N(s_j) (s_a - s_j))
 *   dE/dx_j^i = sum_a w_a D_aj (g v)_i + w_j d_i g(v, v)/2
 *   d2E/dx_j^i dx_k^l = sum_a D_aj w_a g_il D_ak + D_kj w_k (d_l g v)_i + D_jk w_j (d_i g v)_l
 *                       + delta_jk w_j d_i d_l g(v, v)/2
 *
 * P_N is Legendre's polynomial of 2s - 1, N the degree, s_a and w_a Lobatto's nodes and weights, x_j the curve at the
 * node j, and g the metric. D_aj as given holds for a != j; D_aa makes the sum of row a zero.
 * Source: Hall & Leok, Spectral variational integrators (2015), section 3, doi:10.1007/s00211-014-0679-0; nodes:
 * Canuto, Hussaini, Quarteroni, Zang, Spectral Methods (2006), section 2.3.1, doi:10.1007/978-3-540-30726-6.
 */
#include "geometry/numeric.h"

#include <math.h>
#include <string.h>

enum { D = CB_CURVE_DIM, POINTS = CB_CURVE_POINTS, SIZE = CB_CURVE_SIZE, HALF = POINTS / 2 + 1 };

/* SIMD is for loops of products and sums by element, which give the same bits in registers of any width. (clang 14
 * gives a function with clones a name to which other files cannot link.) */
#if defined __x86_64__ && defined __gnu_linux__ && !defined __clang__
#define SIMD __attribute__((target_clones("avx2", "default")))
#else
#define SIMD
#endif
#define ALWAYS_INLINE static inline __attribute__((always_inline))

const int cb_curve_degrees[] = {6, 9, 12, 14, 16, 18, 20, 24, 0};

/* Lobatto's nodes on [0, 1/2], the zeros of s (1 - s) P_N'(2s - 1), and the values of P_N at these nodes, for each
 * degree N of cb_curve_degrees. They were computed by Newton's method with 40 digits. */
static const struct lobatto {
  double s[HALF], legendre[HALF];
} tables[] = {
    {{0, 0.084888051860716535, 0.26557560326464289, 0.5}, {1.0, -0.41475046037812559, 0.33210583227895204, -0.3125}},
    {{0, 0.040233045916770593, 0.13061306744724746, 0.26103752509477775, 0.41736052116680649},
     {-1.0, 0.40829015635916275, -0.31434699001036992, 0.27584846892206804, -0.26047241045879637}},
    {{0, 0.023345076678918044, 0.076826217674063842, 0.15690576545912129, 0.2585450894543319, 0.37535653494688, 0.5},
     {1.0, -0.40593658360266594, 0.30818740587727333, -0.26421711059077512, 0.24098213075155704, -0.22921536871958173,
      0.2255859375}},
    {{0, 0.017377036748080714, 0.057458977888511851, 0.1182401550240924, 0.19687339726507714, 0.28968097264316376,
      0.39232302231810288, 0.5},
     {1.0, -0.4051160648733411, 0.30607661349034956, -0.2603449192736469, 0.23477210366433418, -0.21988029312473841,
      0.21196515697695014, -0.20947265625}},
    {{0, 0.013433911684290843, 0.044560002042213202, 0.092151874389114846, 0.15448550968615765, 0.22930730033494923,
      0.31391278321726148, 0.40524401324084131, 0.5},
     {1.0, -0.40457709479037529, 0.30470017028465031, -0.2578498629584438, 0.23083958517493734, -0.21410932901736486,
      0.20381619725997987, -0.19817947374478434, 0.196380615234375}},
    {{0, 0.010694116888959952, 0.035549235923706878, 0.073769711101676953, 0.12425289872369349, 0.18554593136738975,
      0.25588535715964325, 0.33324757608775069, 0.41540698829535921, 0.5},
     {1.0, -0.4042040671351969, 0.30375213983119271, -0.25614489854599571, 0.22818253670727876, -0.21026923407837737,
      0.19850186601461557, -0.19100620615903243, 0.18681906545998579, -0.1854705810546875}},
    {{0, 0.0087138516977259859, 0.029011851520127233, 0.060352622338204768, 0.1019990369611438, 0.15297448696888838,
      0.21208401986908466, 0.27794210836049895, 0.34900507174561756, 0.42360724209890727, 0.5},
     {1.0, -0.40393519361132578, 0.30307113981443671, -0.25492688836469805, 0.22629909237177581, -0.2075752862104295,
      0.19482333031569324, -0.18612495728826677, 0.18045209245527856, -0.17723869747538882, 0.17619705200195313}},
    {{0, 0.0061050275342531454, 0.020367930873732761, 0.042508614632688711, 0.072161767082341711, 0.10884017037964161,
      0.15194147559243282, 0.20075792636000337, 0.25448794259056081, 0.31224927107038638, 0.37309346791556171,
      0.43602147025844651, 0.5},
     {1.0, -0.40358192330101277, 0.30217932727637954, -0.25334023481375142, 0.22386372469962275, -0.20412570828422501,
      0.19017098207794945, -0.18004605672242511, 0.17267258558437568, -0.16741389851618671, 0.16388243850764276,
      -0.16184600483589966, 0.16118025779724121}},
};

void cb_curve_begin(const cb_curve_ends *ends, int degree, cb_curve *c) {
  const int N = degree, start = N - 1, end = N;
  const struct lobatto *t = tables;
  for (int k = 0; cb_curve_degrees[k] != degree; k++) t++;
  c->ends = ends;
  c->n = ends->g->dim;
  c->degree = N;
  for (int a = 0; a <= N; a++) {
    const int at = a == 0 ? start : a == N ? end : a - 1, b = 2 * a <= N ? a : N - a;
    c->s[at] = a == b ? t->s[b] : 1 - t->s[b];
    c->legendre[at] = a == b || N % 2 == 0 ? t->legendre[b] : -t->legendre[b];
    c->w[at] = 1 / (N * (N + 1) * t->legendre[b] * t->legendre[b]);
  }
  for (int a = 0; a <= N; a++) {
    double sum = 0;
    c->d[a][a] = 0;
    for (int j = 0; j <= N; j++) {
      const double apart = c->legendre[j] * (c->s[a] - c->s[j]);
      c->d[a][j] = j == a ? 0 : c->legendre[a] / (j == a ? 1 : apart);
    }
    for (int j = 0; j <= N; j++) sum += c->d[a][j];
    c->d[a][a] = -sum;
    for (int j = 0; j <= N; j++) c->transpose[j][a] = c->d[a][j];
  }
  for (int i = 0; i < c->n; i++) {
    c->x[i][start] = 0;
    c->x[i][end] = ends->move[i];
  }
}

void cb_curve_prolong(const cb_curve *from, cb_curve *to) {
  for (int b = 0; b < to->degree - 1; b++) {
    double sum[D] = {0}, total = 0;
    for (int a = 0; a <= from->degree; a++) { /* barycentric formula with the weights 1/P_N, up to a factor */
      const double apart = from->legendre[a] * (to->s[b] - from->s[a]);
      if (fabs(apart) < 1e-14) {
        for (int i = 0; i < from->n; i++) sum[i] = from->x[i][a];
        total = 1;
        break;
      }
      const double weight = 1 / apart;
      for (int i = 0; i < from->n; i++) sum[i] += weight * from->x[i][a];
      total += weight;
    }
    for (int i = 0; i < from->n; i++) to->x[i][b] = sum[i] / total;
  }
}

/* Returns the larger one of the last two Legendre coefficients of the velocity (degrees N - 1 and N - 2), divided by
 * the largest velocity at the nodes. At Lobatto's nodes P_{N-1} = t P_N with t = 2s - 1, and
 * N P_N = (2N - 1) t P_{N-1} - (N - 1) P_{N-2}. */
double cb_curve_rest(const cb_curve *c) {
  const int N = c->degree;
  double size = 0, high = 0;
  for (int i = 0; i < c->n; i++) {
    double top[2] = {0};
    for (int a = 0; a <= N; a++) {
      const double t = 2 * c->s[a] - 1, p = t * c->legendre[a];
      top[0] += c->w[a] * (2 * N - 1) * p * c->v[i][a];
      top[1] += c->w[a] * (2 * N - 3) * ((2 * N - 1) * t * p - N * c->legendre[a]) / (N - 1) * c->v[i][a];
      size = fmax(size, fabs(c->v[i][a]));
    }
    high = fmax(high, fmax(fabs(top[0]), fabs(top[1])));
  }
  return high / size;
}

/* Adds sum_(a < count) by[a] in[a][k] to out[k], for k = first .. size - 1. A row of `in` has `width` numbers. */
ALWAYS_INLINE void add_columns(int first, int size, int count, const double *by, int width, const double *in,
                               double *restrict out) {
  int a = 0;
  for (; a + 4 <= count; a += 4) {
    const double *restrict x = in + a * width, *restrict y = x + width;
    const double *restrict z = y + width, *restrict w = z + width;
    const double p = by[a], q = by[a + 1], r = by[a + 2], s = by[a + 3];
    for (int k = first; k < size; k++) out[k] += (p * x[k] + q * y[k]) + (r * z[k] + s * w[k]);
  }
  for (; a < count; a++) {
    const double *restrict x = in + a * width;
    for (int k = first; k < size; k++) out[k] += by[a] * x[k];
  }
}

/* Adds sum_a by[a] in[a][k] to out[k], over all nodes a. */
SIMD static void multiply(int points, const double *by, const double *in, double *out) {
  add_columns(0, points, points, by, POINTS, in, out);
}

/* Computes the contribution of one node a: p = w g v, and own = w dg(v, v)/2 with the derivative of the metric at the
 * node. w is the weight and v the velocity there. For order 2 it also sets turn, bend and metric of c at this node.
 * Returns the energy of the node. */
ALWAYS_INLINE double at_node(cb_curve *c, int n, int a, int order, const cb_curve_metric *m, double *p, double *own) {
  const double w = c->w[a];
  double v[D], energy = 0;
  for (int i = 0; i < n; i++) v[i] = c->v[i][a];
  for (int i = 0; i < n; i++) {
    p[i] = 0;
    for (int j = 0; j < n; j++) p[i] += m->g[i * n + j] * v[j];
    p[i] *= w;
    energy += 0.5 * p[i] * v[i];
  }
  for (int l = 0; l < n; l++) {
    double sum = 0;
    for (int i = 0; i < n; i++) {
      double turn = 0;
      for (int k = 0; k < n; k++) turn += m->dg[(l * n + i) * n + k] * v[k];
      sum += turn * v[i];
      if (order > 1) c->turn[i][l][a] = w * turn;
    }
    own[l] = 0.5 * w * sum;
  }
  for (int l = 0; order > 1 && l < n; l++)
    for (int k = 0; k <= l; k++) {
      const double *dd = m->ddg + (l * n + k) * n * n;
      double sum = 0;
      for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) sum += dd[i * n + j] * v[i] * v[j];
      c->bend[l][k][a] = c->bend[k][l][a] = 0.5 * w * sum;
      c->metric[l][k][a] = c->metric[k][l][a] = w * m->g[l * n + k];
    }
  return energy;
}

ALWAYS_INLINE cb_status evaluate(cb_curve *c, int n, int order) {
  const int N = c->degree, inner = N - 1;
  double p[D][POINTS], own[D][POINTS], energy = 0;
  for (int i = 0; i < n; i++) {
    for (int a = 0; a <= N; a++) c->v[i][a] = 0;
    multiply(N + 1, c->x[i], c->transpose[0], c->v[i]);
  }
  for (int a = 0; a <= N; a++) {
    cb_curve_metric here;
    const cb_curve_metric *m = &here;
    double at[D], pa[D] = {0}, owna[D] = {0};
    for (int i = 0; i < n; i++) at[i] = c->ends->q[i] + c->x[i][a];
    if (a < inner) {
      const cb_status status = cb_numeric_metric(c->ends->g, at, here.g, here.dg, order > 1 ? here.ddg : NULL);
      if (status) return status;
    } else {
      m = &c->ends->metric[a - inner];
    }
    energy += at_node(c, n, a, order, m, pa, owna);
    for (int i = 0; i < n; i++) {
      p[i][a] = pa[i];
      own[i][a] = owna[i];
    }
  }
  if (!isfinite(energy))
    return cb_fail(CB_ERROR_DOMAIN,
                   "the curve has coordinates or a metric that are not finite: expected points closer to each other");
  c->energy = energy;
  for (int i = 0; i < n; i++) {
    multiply(N + 1, p[i], c->d[0], own[i]);
    memcpy(c->gradient + i * inner, own[i], (size_t)inner * sizeof(double));
    c->gradient[n * inner + i] = own[i][inner];
    c->gradient[n * inner + n + i] = own[i][N];
  }
  return CB_OK;
}

cb_status cb_curve_evaluate(cb_curve *c, int order) {
  switch (c->n * 2 + (order > 1)) {
    case 2: return evaluate(c, 1, 1);
    case 3: return evaluate(c, 1, 2);
    case 4: return evaluate(c, 2, 1);
    case 5: return evaluate(c, 2, 2);
    case 6: return evaluate(c, 3, 1);
    default: return evaluate(c, 3, 2);
  }
}

/* Computes the block b[j][k] of the Hessian for the coordinates i and l, where j < rows and k runs over all nodes. If i
 * = l, only entries with k >= j are complete. `convex` selects only the first term of the formula, which cannot be
 * negative. */
ALWAYS_INLINE void block(const cb_curve *c, int i, int l, bool convex, int rows, double b[POINTS][POINTS]) {
  const int N = c->degree;
  const double *metric = c->metric[i][l];
  double size = 0;
  for (int a = 0; a <= N; a++) size += fabs(metric[a]);
  for (int j = 0; j < rows; j++) {
    double by[POINTS];
    for (int k = 0; k <= N; k++) b[j][k] = 0;
    if (!(size > 0)) continue;
    for (int a = 0; a <= N; a++) by[a] = metric[a] * c->transpose[j][a];
    add_columns(i == l ? j : 0, N + 1, N + 1, by, POINTS, c->d[0], b[j]);
  }
  if (convex) return;
  for (int j = 0; j < rows; j++) {
    const double own = c->turn[l][i][j];
    for (int k = 0; k <= N; k++) b[j][k] += c->transpose[j][k] * c->turn[i][l][k] + c->d[j][k] * own;
    b[j][j] += c->bend[i][l][j];
  }
}

ALWAYS_INLINE void assemble(cb_curve *c, bool convex, bool with_ends) {
  const int n = c->n, N = c->degree, inner = N - 1, size = inner * n;
  double b[POINTS][POINTS];
  for (int i = 0; i < n; i++)
    for (int l = i; l < n; l++) {
      block(c, i, l, convex, i < l || with_ends ? N + 1 : inner, b);
      for (int j = 0; j < inner; j++) {
        double *row = c->h[i * inner + j];
        memcpy(row + l * inner, b[j], (size_t)inner * sizeof *row);
        row[size + l] = b[j][inner];
        row[size + n + l] = b[j][N];
        if (i == l) continue;
        row = c->h[l * inner + j];
        row[size + i] = b[inner][j];
        row[size + n + i] = b[N][j];
      }
      if (!with_ends) continue;
      for (int e = 0; e < 2; e++)
        for (int f = e; f < 2; f++) {
          c->h[size + e * n + i][size + f * n + l] = b[inner + e][inner + f];
          if (e < f && i < l) c->h[size + e * n + l][size + f * n + i] = b[inner + f][inner + e];
        }
    }
}

SIMD bool cb_curve_factor(cb_curve *c, bool convex, bool with_ends) {
  const int inner = (c->degree - 1) * c->n, size = inner + 2 * c->n, rows = with_ends ? size : inner;
  assemble(c, convex, with_ends);
  c->least = 1;
  for (int m = 0; m < rows; m++) {
    double *restrict row = c->h[m];
    const double diagonal = row[m];
    double by[SIZE];
    const int before = m < inner ? m : inner;
    for (int k = 0; k < before; k++) by[k] = -c->h[k][m];
    add_columns(m, size, before, by, SIZE, c->h[0], row);
    if (m >= inner) continue;
    c->least = fmin(c->least, row[m] / diagonal);
    if (!(row[m] > 1e-4 * diagonal)) return false;
    const double scale = 1 / sqrt(row[m]);
    c->inverse_pivot[m] = scale;
    for (int r = m; r < size; r++) row[r] *= scale;
  }
  return true;
}

SIMD double cb_curve_newton(const cb_curve *c, double *restrict y) {
  const int inner = (c->degree - 1) * c->n;
  double square = 0;
  memcpy(y, c->gradient, (size_t)inner * sizeof *y);
  for (int k = 0; k < inner; k += 2) { /* two rows at a time; if `inner` is odd, the last one is alone */
    const double *restrict row = c->h[k], *restrict next = c->h[k + 1];
    const double first = y[k] *= c->inverse_pivot[k];
    square += first * first;
    if (k + 1 == inner) break;
    const double second = y[k + 1] = (y[k + 1] - row[k + 1] * first) * c->inverse_pivot[k + 1];
    square += second * second;
    for (int r = k + 2; r < inner; r++) y[r] -= row[r] * first + next[r] * second;
  }
  return square;
}

SIMD void cb_curve_step(const cb_curve *c, const double *y, double *restrict step) {
  const int inner = (c->degree - 1) * c->n;
  for (int r = inner - 1; r >= 0; r--) {
    const double *restrict row = c->h[r];
    double part[4] = {0};
    int m = r + 1;
    for (; m + 4 <= inner; m += 4)
      for (int k = 0; k < 4; k++) part[k] += row[m + k] * step[m + k];
    for (; m < inner; m++) part[0] += row[m] * step[m];
    step[r] = (y[r] - ((part[0] + part[1]) + (part[2] + part[3]))) * c->inverse_pivot[r];
  }
}
