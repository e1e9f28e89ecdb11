/* The kernels of tree_kernels.h, written once for the vectors of any instruction set. tree_x86_64.c, tree_avx2.c and
 * tree_avx512.c include this file after they have defined WIDTH, the type vec (WIDTH numbers), functions on vec, and
 * KERNELS.
 */
#include "potential/tree_kernels.h"

#define INLINE static inline __attribute__((always_inline))
enum { WIDE = CB_TREE_COLUMNS / WIDTH, HALF = CB_TREE_CHUNK / WIDTH / 2 };

static int first_of(int l) { return l * l; }

/* Computes the harmonics R of degrees 0..order at WIDTH points. */
INLINE void regular(const cb_tree_factors *f, int order, vec x, vec y, vec z, vec *r) {
  const vec square = fma3(x, x, fma3(y, y, z * z));
  r[0] = set(1);
  for (int l = 0; l < order; l++) {
    vec *next = r + first_of(l + 1);
    const vec *here = r + first_of(l), *last = l ? r + first_of(l - 1) : r;
    const double *up = f->up + first_of(l + 1), *down = f->down + first_of(l + 1);
    for (int i = 0; i < 2 * l - 1; i++) next[i] = set(up[i]) * z * here[i] - set(down[i]) * square * last[i];
    for (int i = l ? 2 * l - 1 : 0; i < 2 * l + 1; i++) next[i] = set(up[i]) * z * here[i];
    const vec re = l ? here[2 * l - 1] : here[0], im = l ? here[2 * l] : set(0), half = set(0.5 / (l + 1));
    next[2 * l + 1] = half * (x * re - y * im);
    next[2 * l + 2] = half * fma3(x, im, y * re);
  }
}

/* Computes the moments d of dipoles along n from the moments s of sources, by the formula for n . grad R
 * (tree_kernels.h). */
INLINE void dipoles(int order, const vec *n, const vec *s, vec *d) {
  const vec nx = n[0] * set(0.5), ny = n[1] * set(0.5);
  d[0] = set(0);
  for (int l = 1; l <= order; l++) {
    const vec *a = s + first_of(l - 1);
    vec *to = d + first_of(l);
    to[0] = n[2] * a[0];
    if (l > 1) to[0] = to[0] - fma3(n[0], a[1], n[1] * a[2]);
    for (int m = 1; m <= l; m++) {
      const vec re = m > 1 ? a[2 * m - 3] : a[0], im = m > 1 ? a[2 * m - 2] : set(0);
      vec u = nx * re - ny * im, v = fma3(nx, im, ny * re);
      if (m < l) {
        u = fma3(n[2], a[2 * m - 1], u);
        v = fma3(n[2], a[2 * m], v);
      }
      if (m < l - 1) {
        u = u - fma3(nx, a[2 * m + 1], ny * a[2 * m + 2]);
        v = v - (nx * a[2 * m + 2] - ny * a[2 * m + 1]);
      }
      to[2 * m - 1] = u;
      to[2 * m] = v;
    }
  }
}

/* Adds the sum over 8 panels of by[term][panel] density[panel][column] to moments[term][column]. */
INLINE void gather_rows(int terms, const double *by, const double *density, double *moments) {
  for (int c = 0; c < CB_TREE_COLUMNS; c += WIDTH) {
    vec rho[8];
    for (int i = 0; i < 8; i++) rho[i] = load(density + i * CB_TREE_COLUMNS + c);
    for (int t = 0; t < terms; t++) {
      vec even = load(moments + t * CB_TREE_COLUMNS + c), odd = set(0);
      for (int i = 0; i < 8; i += 2) {
        even = fma3(set(by[8 * t + i]), rho[i], even);
        odd = fma3(set(by[8 * t + i + 1]), rho[i + 1], odd);
      }
      store(moments + t * CB_TREE_COLUMNS + c, even + odd);
    }
  }
}

/* Computes the moments of WIDTH panels of a block, from panel `at` on, for sources of density 1 into s[term][8] and for
 * dipoles into d[term][8]. s or d may be NULL. */
INLINE void block_moments(const cb_tree_factors *f, int order, const cb_tree_rule *rule, const cb_tree_block *b, int at,
                          const double centre[3], double radius, double *s, double *d, vec *work) {
  const int terms = first_of(order + 1);
  vec *r = work, *sum = work + terms, p[9], n[3];
  const vec scale = set(1 / radius), area = load(b->area + at);
  for (int i = 0; i < 9; i++) p[i] = load(b->corner[i] + at) * scale;
  for (int a = 0; a < 3; a++) {
    p[a] = p[a] - set(centre[a] / radius);
    n[a] = load(b->normal[a] + at) * scale;
  }
  for (int t = 0; t < terms; t++) sum[t] = set(0);
  for (int q = 0; q < rule->points; q++) {
    const vec u = set(rule->at[q][0]), v = set(rule->at[q][1]), w = area * set(rule->at[q][2]);
    regular(f, order, fma3(u, p[3], fma3(v, p[6], p[0])), fma3(u, p[4], fma3(v, p[7], p[1])),
            fma3(u, p[5], fma3(v, p[8], p[2])), r);
    for (int t = 0; t < terms; t++) sum[t] = fma3(w, r[t], sum[t]);
  }
  if (s)
    for (int t = 0; t < terms; t++) store(s + 8 * t + at, sum[t]);
  if (!d) return;
  dipoles(order, n, sum, r);
  for (int t = 0; t < terms; t++) store(d + 8 * t + at, r[t]);
}

static void panels(const cb_tree_factors *f, int order, const cb_tree_rule *rule, int n, const cb_tree_block *blocks,
                   const double centre[3], double radius, const double *sigma, const double *mu, double *moments,
                   double *work) {
  const int terms = first_of(order + 1);
  double *s = work + CB_TREE_TERMS * CB_TREE_CHUNK, *d = s + CB_TREE_TERMS * CB_TREE_CHUNK;
  for (int i = 0; i < n; i += 8) {
    for (int at = 0; at < 8; at += WIDTH)
      block_moments(f, order, rule, &blocks[i / 8], at, centre, radius, sigma ? s : NULL, mu ? d : NULL, (vec *)work);
    if (sigma) gather_rows(terms, s, sigma + (size_t)i * CB_TREE_COLUMNS, moments);
    if (mu) gather_rows(terms, d, mu + (size_t)i * CB_TREE_COLUMNS, moments);
  }
}

/* Returns the index of the multipole moment (l, m) in arrays that hold the complex moments of all m = -l..l. */
static int full(int l, int m) { return l * l + l + m; }

/* Computes the complex moments re + i im of all m from those with m >= 0 in `rows`, and multiplies the moments of
 * degree l by scale^l. step is the number of columns. */
INLINE void spread(int order, const double *rows, int step, double scale, double *re, double *im) {
  double power = 1;
  for (int l = 0; l <= order; l++, power *= scale) {
    for (int c = 0; c < step; c++) {
      re[full(l, 0) * step + c] = power * rows[first_of(l) * step + c];
      im[full(l, 0) * step + c] = 0;
    }
    for (int m = 1; m <= l; m++) {
      const double sign = m & 1 ? -power : power;
      const double *u = rows + (first_of(l) + 2 * m - 1) * step, *v = u + step;
      double *p = re + full(l, m) * step, *q = im + full(l, m) * step, *p1 = re + full(l, -m) * step,
             *q1 = im + full(l, -m) * step;
      for (int c = 0; c < step; c++) {
        p[c] = power * u[c];
        q[c] = power * v[c];
        p1[c] = sign * u[c];
        q1[c] = -sign * v[c];
      }
    }
  }
}

static void shift(const cb_tree_factors *f, int order, const double d[3], double ratio, const double *child,
                  double *parent, double *work) {
  const int terms = first_of(order + 1);
  double *re = work, *im = re + terms * CB_TREE_COLUMNS, *tre = im + terms * CB_TREE_COLUMNS, *tim = tre + terms,
         *t = tim + terms;
  vec *r = (vec *)(work + 3 * CB_TREE_TERMS * CB_TREE_CHUNK);
  regular(f, order, set(d[0]), set(d[1]), set(d[2]), r);
  for (int i = 0; i < terms; i++) t[i] = r[i][0];
  spread(order, t, 1, 1, tre, tim);
  spread(order, child, CB_TREE_COLUMNS, ratio, re, im);
  for (int l = 0; l <= order; l++)
    for (int m = 0; m <= l; m++) {
      vec u[WIDE], v[WIDE];
      for (int c = 0; c < WIDE; c++) u[c] = v[c] = set(0);
      for (int j = 0; j <= l; j++) {
        const int rest = l - j, low = m - rest > -j ? m - rest : -j, high = m + rest < j ? m + rest : j;
        for (int k = low; k <= high; k++) {
          const vec a = set(tre[full(j, k)]), b = set(tim[full(j, k)]);
          const double *p = re + full(rest, m - k) * CB_TREE_COLUMNS, *q = im + full(rest, m - k) * CB_TREE_COLUMNS;
          for (int c = 0; c < WIDE; c++) {
            const vec x = load(p + c * WIDTH), y = load(q + c * WIDTH);
            u[c] = fma3(a, x, u[c]) - b * y;
            v[c] = fma3(a, y, fma3(b, x, v[c]));
          }
        }
      }
      double *to = parent + (first_of(l) + (m ? 2 * m - 1 : 0)) * CB_TREE_COLUMNS;
      for (int c = 0; c < WIDE; c++) {
        store(to + c * WIDTH, load(to + c * WIDTH) + u[c]);
        if (m) store(to + CB_TREE_COLUMNS + c * WIDTH, load(to + CB_TREE_COLUMNS + c * WIDTH) + v[c]);
      }
    }
}

/* Computes the harmonics I' (cb_tree_factors) up to the order at `count` vectors of points, into h[term][count]. */
INLINE void irregular(const cb_tree_factors *f, int order, int count, const vec *x, const vec *y, const vec *z,
                      vec *h) {
  vec w[2 * HALF], u[2 * HALF], v[2 * HALF], t[2 * HALF];
  for (int i = 0; i < count; i++) {
    w[i] = set(1) / fma3(x[i], x[i], fma3(y[i], y[i], z[i] * z[i]));
    h[i] = root(w[i]);
    u[i] = x[i] * w[i];
    v[i] = y[i] * w[i];
    t[i] = z[i] * w[i];
  }
  for (int l = 0; l < order; l++) {
    vec *next = h + first_of(l + 1) * count;
    const vec *here = h + first_of(l) * count, *last = l ? h + first_of(l - 1) * count : h;
    const double *by = f->across + first_of(l + 1);
    for (int j = 0; j < 2 * l - 1; j++)
      for (int i = 0; i < count; i++)
        next[j * count + i] = t[i] * here[j * count + i] - set(by[j]) * w[i] * last[j * count + i];
    for (int j = l ? 2 * l - 1 : 0; j < 2 * l + 1; j++)
      for (int i = 0; i < count; i++) next[j * count + i] = t[i] * here[j * count + i];
    const vec *re = here + (l ? (2 * l - 1) * count : 0), *im = re + count;
    vec *to = next + (2 * l + 1) * count;
    for (int i = 0; i < count; i++) {
      if (l) {
        to[i] = u[i] * re[i] - v[i] * im[i];
        to[count + i] = fma3(u[i], im[i], v[i] * re[i]);
      } else {
        to[i] = u[i] * re[i];
        to[count + i] = v[i] * re[i];
      }
    }
  }
}

/* Adds sum_t coefficients[t][column] h[t] to out[column], for one or two vectors of points. */
INLINE void contract(int terms, int columns, const double *coefficients, int count, const vec *h, double *out) {
  vec sum[CB_TREE_COLUMNS][2];
  for (int k = 0; k < columns; k++) sum[k][0] = sum[k][1] = set(0);
  for (int t = 0; t < terms; t++) {
    const vec a = h[t * count], b = h[t * count + (count > 1)];
    for (int k = 0; k < columns; k++) {
      const vec c = set(coefficients[t * CB_TREE_COLUMNS + k]);
      sum[k][0] = fma3(c, a, sum[k][0]);
      sum[k][1] = fma3(c, b, sum[k][1]);
    }
  }
  for (int k = 0; k < columns; k++) {
    double *to = out + k * CB_TREE_LEAF;
    store(to, load(to) + sum[k][0]);
    if (count > 1) store(to + WIDTH, load(to + WIDTH) + sum[k][1]);
  }
}

INLINE void contract_all(int terms, int columns, const double *coefficients, int count, const vec *h, double *out) {
  for (int i = 0; i < count; i += 2) switch (columns) {
      case 1: contract(terms, 1, coefficients, count, h + i, out + i * WIDTH); break;
      case 2: contract(terms, 2, coefficients, count, h + i, out + i * WIDTH); break;
      case 3: contract(terms, 3, coefficients, count, h + i, out + i * WIDTH); break;
      case 4: contract(terms, 4, coefficients, count, h + i, out + i * WIDTH); break;
      case 5: contract(terms, 5, coefficients, count, h + i, out + i * WIDTH); break;
      case 6: contract(terms, 6, coefficients, count, h + i, out + i * WIDTH); break;
      case 7: contract(terms, 7, coefficients, count, h + i, out + i * WIDTH); break;
      default: contract(terms, 8, coefficients, count, h + i, out + i * WIDTH);
    }
}

INLINE void evaluate_chunk(const cb_tree_factors *f, int order, int columns, const double *coefficients,
                           const double centre[3], double inverse_radius, int count, const double *const *at,
                           double *out, vec *h) {
  vec p[3][2 * HALF];
  for (int a = 0; a < 3; a++)
    for (int i = 0; i < count; i++) p[a][i] = (load(at[a] + i * WIDTH) - set(centre[a])) * set(inverse_radius);
  irregular(f, order, count, p[0], p[1], p[2], h);
  contract_all(first_of(order + 1), columns, coefficients, count, h, out);
}

static void evaluate(const cb_tree_factors *f, int order, int columns, const double *coefficients,
                     const double centre[3], double inverse_radius, int n, const double *x, const double *y,
                     const double *z, double *out, double *work) {
  int i = 0;
  for (; i + CB_TREE_CHUNK / 2 < n; i += CB_TREE_CHUNK)
    evaluate_chunk(f, order, columns, coefficients, centre, inverse_radius, 2 * HALF,
                   (const double *[]){x + i, y + i, z + i}, out + i, (vec *)work);
  if (i < n)
    evaluate_chunk(f, order, columns, coefficients, centre, inverse_radius, HALF,
                   (const double *[]){x + i, y + i, z + i}, out + i, (vec *)work);
}

INLINE void some_rows(int count, int n, size_t stride, const double *matrix, const double *density, double *out) {
  for (int c = 0; c < CB_TREE_COLUMNS; c += WIDTH) {
    vec sum[8];
    for (int i = 0; i < count; i++) sum[i] = load(out + i * CB_TREE_COLUMNS + c);
    for (int j = 0; j < n; j++) {
      const vec rho = load(density + j * CB_TREE_COLUMNS + c);
      for (int i = 0; i < count; i++) sum[i] = fma3(set(matrix[(size_t)i * stride + (size_t)j]), rho, sum[i]);
    }
    for (int i = 0; i < count; i++) store(out + i * CB_TREE_COLUMNS + c, sum[i]);
  }
}

static void rows(int count, int n, size_t stride, const double *matrix, const double *density, double *out) {
  int i = 0;
  for (; i + 8 <= count; i += 8)
    some_rows(8, n, stride, matrix + (size_t)i * stride, density, out + i * CB_TREE_COLUMNS);
  for (; i < count; i++) some_rows(1, n, stride, matrix + (size_t)i * stride, density, out + i * CB_TREE_COLUMNS);
}

const cb_tree_kernels KERNELS = {panels, shift, evaluate, rows};
