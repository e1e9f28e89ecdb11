/* Parts of local_kernel.h: lift and drag at faces, and the bending of edges (below).
 *
 * Lift and drag are sums over the face centres c, here without the factor -rho/2. a, A and M = (c × a, a) are those of
 * fluid/local_kernel.h, and u is the velocity of a centre relative to the flow. With d = <u,a>, r = 1/(A |u|) and
 * p = r (|u|^2 a + d u) one root per face is sufficient:
 *
 *   force  sum r |u|^2 d M;  Jacobian in the twist  sum M (c × p, p)^T */
#pragma once

/* Returns the velocity of the body's surface relative to the flow at the centres c of the faces from f on. w is the
 * velocity of the centres in the body frame. */
INLINE vec3 relative(const cb_local *l, const cb_local_flow *in, int f, vec3 c, vec3 w) {
  const vec3 omega = {set(in->Y[0]), set(in->Y[1]), set(in->Y[2])}, v = {set(in->Y[3]), set(in->Y[4]), set(in->Y[5])};
  vec3 u = {fma3(omega.y, c.z, fnma3(omega.z, c.y, v.x)), fma3(omega.z, c.x, fnma3(omega.x, c.z, v.y)),
            fma3(omega.x, c.y, fnma3(omega.y, c.x, v.z))};
  if (l->moving) u = add(u, w);
  if (in->flow) {
    int at[WIDTH];
    for (int i = 0; i < WIDTH; i++) at[i] = 3 * l->face_of[f + i];
    u = subtract(u, (vec3){gather(in->flow, at), gather(in->flow + 1, at), gather(in->flow + 2, at)});
  }
  return u;
}

/* AT_ONCE is the number of vectors of faces whose M and p fit into the L1 cache. */
enum { COLUMNS = 7, AT_ONCE = 128 / WIDTH };
typedef struct loads {
  vec M[6][AT_ONCE], p[COLUMNS][AT_ONCE], sum[6][COLUMNS];
} loads;

INLINE void begin_loads(loads *on) {
#pragma GCC unroll 8
  for (int i = 0; i < 6; i++)
#pragma GCC unroll 8
    for (int k = 0; k < COLUMNS; k++) on->sum[i][k] = set(0);
}

/* Adds M_row p_column, summed over n vectors of faces, to sum[row][column]. ROWS rows at a time stay in registers. */
INLINE void add_loads(int n, loads *on) {
  for (int r0 = 0; r0 < 6; r0 += ROWS) {
    vec s[ROWS][COLUMNS];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 8
      for (int k = 0; k < COLUMNS; k++) s[r][k] = on->sum[r0 + r][k];
    for (int i = 0; i < n; i++)
#pragma GCC unroll 8
      for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 8
        for (int k = 0; k < COLUMNS; k++) s[r][k] = fma3(on->M[r0 + r][i], on->p[k][i], s[r][k]);
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 8
      for (int k = 0; k < COLUMNS; k++) on->sum[r0 + r][k] = s[r][k];
  }
}

/* Stores M, p and the force of the faces from f on in entry i of `on`. c, a, w, M and <a,a> of these faces are known.
 * If no Jacobian is wanted, the function adds the force to the sums instead. */
INLINE void load_face(const cb_local *l, const cb_local_flow *in, int f, const triangle *of, int i, loads *on) {
  const vec3 c = of->c, a = of->a, m = of->M, u = relative(l, in, f, c, of->w);
  const vec uu = dot(u, u), d = dot(u, a);
  vec r = inverse_root(fma3(uu, of->aa, set(tiny)));
  if (in->rho) r *= gather(in->rho, l->face_of + f);
  const vec force = r * uu, slope = r * d, load = force * d;
  vec(*sum)[COLUMNS] = on->sum;
  if (!in->jacobian) {
    sum[0][6] = fma3(load, m.x, sum[0][6]);
    sum[1][6] = fma3(load, m.y, sum[1][6]);
    sum[2][6] = fma3(load, m.z, sum[2][6]);
    sum[3][6] = fma3(load, a.x, sum[3][6]);
    sum[4][6] = fma3(load, a.y, sum[4][6]);
    sum[5][6] = fma3(load, a.z, sum[5][6]);
    return;
  }
  const vec3 q = {fma3(force, a.x, slope * u.x), fma3(force, a.y, slope * u.y), fma3(force, a.z, slope * u.z)},
             cq = cross(c, q);
  vec(*M)[AT_ONCE] = on->M, (*p)[AT_ONCE] = on->p;
  M[0][i] = m.x;
  M[1][i] = m.y;
  M[2][i] = m.z;
  M[3][i] = a.x;
  M[4][i] = a.y;
  M[5][i] = a.z;
  p[0][i] = cq.x;
  p[1][i] = cq.y;
  p[2][i] = cq.z;
  p[3][i] = q.x;
  p[4][i] = q.y;
  p[5][i] = q.z;
  p[6][i] = load;
}

INLINE void give_loads(const loads *on, double *out) {
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < COLUMNS; k++) out[COLUMNS * i + k] = total(on->sum[i][k]);
}

INLINE vec3 velocity(const cb_local *l, int f) {
  return l->moving ? load3(l->rate + place(f, CB_LOCAL_RATE)) : (vec3){set(0), set(0), set(0)};
}

static void drag(const cb_local *l, const cb_local_block *b, const cb_local_flow *in, double *out) {
  loads on;
  begin_loads(&on);
  int i = 0;
  for (int f = b->begin; f < b->end; f += WIDTH) {
    const double *flat = l->flat + place(f, CB_LOCAL_FLAT);
    triangle q = {.c = load3(flat), .a = load3(flat + 3 * CB_LOCAL_GROUP), .w = velocity(l, f)};
    q.M = cross(q.c, q.a);
    q.aa = dot(q.a, q.a);
    load_face(l, in, f, &q, i++, &on);
    if (i < AT_ONCE && f + WIDTH < b->end) continue;
    if (in->jacobian) add_loads(i, &on);
    i = 0;
  }
  give_loads(&on, out);
}

/* Linear drag, without its sign. At each face B = (c_n - c_t) a a^T/A + c_t A 1, with the normal and tangential
 * coefficients c_n and c_t and the identity 1. c, a, A and u as at the top of this file; e_j: unit vector along axis j.
 *
 *   force sum (c × B u, B u);  columns of the Jacobian sum (c × B (e_j × c), B (e_j × c)) and sum (c × B e_j, B e_j) */
static void linear(const cb_local *l, const cb_local_block *b, const cb_local_flow *in, double *out) {
  vec sum[6][COLUMNS];
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < COLUMNS; k++) sum[i][k] = set(0);
  const vec along = set(in->along), difference = set(in->normal - in->along), zero = set(0);
  for (int f = b->begin; f < b->end; f += WIDTH) {
    const double *flat = l->flat + place(f, CB_LOCAL_FLAT);
    const vec3 c = load3(flat), a = load3(flat + 3 * CB_LOCAL_GROUP);
    const vec3 column[COLUMNS] = {{zero, -c.z, c.y},
                                  {c.z, zero, -c.x},
                                  {-c.y, c.x, zero},
                                  {set(1), zero, zero},
                                  {zero, set(1), zero},
                                  {zero, zero, set(1)},
                                  relative(l, in, f, c, velocity(l, f))};
    const vec aa = dot(a, a), r = inverse_root(aa + set(tiny)), A = along * aa * r, w = difference * r;
    for (int k = in->jacobian ? 0 : COLUMNS - 1; k < COLUMNS; k++) {
      const vec3 Bu = add(scaled(A, column[k]), scaled(w * dot(a, column[k]), a)), cBu = cross(c, Bu);
      sum[0][k] += cBu.x;
      sum[1][k] += cBu.y;
      sum[2][k] += cBu.z;
      sum[3][k] += Bu.x;
      sum[4][k] += Bu.y;
      sum[5][k] += Bu.z;
    }
  }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < COLUMNS; k++) out[COLUMNS * i + k] = total(sum[i][k]);
}

/* The bending of edges: alpha l for an edge e of length l, and the angle alpha between the unit normals n0 and n1 of
 * its faces. S = <e, n0 × n1> = l sin alpha and C = <n0, n1> = cos alpha.
 *
 *   alpha l = S alpha/sin alpha
 *
 * alpha/sin alpha is a series in u = 1 - C. The rounding of u then affects only the small terms after the first one. */

/* The coefficients of Q in asin z = z (1 + z^2 Q(z^2)) for |z| <= 0.4. Q is interpolated at Chebyshev's points of
 * [0, 0.16]; the error of asin is 3e-18. */
static const double asin_series[] = {0.166666666666666679,   0.0749999999999812041, 0.0446428571475420571,
                                     0.0303819439902223862,  0.0223721816048187376, 0.0173521160725346175,
                                     0.0139764177489021308,  0.011420252360583682,  0.0107081478475466792,
                                     0.00428139000014606235, 0.0166780797813572859};
enum { ASIN_TERMS = sizeof asin_series / sizeof *asin_series };
INLINE vec small_asin(vec z) {
  const vec zz = z * z;
  vec sum = set(asin_series[ASIN_TERMS - 1]);
#pragma GCC unroll 16
  for (int i = ASIN_TERMS - 2; i >= 0; i--) sum = fma3(sum, zz, set(asin_series[i]));
  return fma3(z * zz, sum, z);
}

INLINE vec size_of(vec a) { return where_above(set(0), a, -a, a); }

/* Returns the angle for any cosine c and sine s. The angle is halved three times, so that it is at most pi/8. The
 * result of the series for asin is then multiplied by 8. *fold becomes 1 where the angle is +pi or -pi, which counts as
 * +pi, and 0 elsewhere. */
static __attribute__((noinline)) vec large_angle(vec c, vec s, vec *fold) {
  const vec zero = set(0), one = set(1), half = set(0.5);
  vec size = size_of(s);
  *fold = where_above(zero, c, where_above(set(CB_LOCAL_FOLDED), size, one, zero), zero);
  const vec sign = where_above(zero, s, *fold - (one - *fold), one);
  /* root1 is the cosine of half the angle, or its sine if c < 0. The sum under the root has no cancellation. */
  vec root1 = root(half * (one + size_of(c))), other = half * size / root1;
  size = where_above(zero, c, root1, other);
  c = where_above(zero, c, other, root1);
  for (int i = 0; i < 2; i++) {
    c = root(half * (one + c));
    size = half * size / c;
  }
  return set(8) * sign * small_asin(size);
}

/* The coefficients of alpha/sin alpha as a series in u = 1 - cos alpha: one series for u in [0, 1/2], and one for u in
 * [0, 0.06], that is, for angles up to 20 degrees. They are interpolated at Chebyshev's points; the errors are 1.2e-17
 * and 1.4e-17. */
static const double wide_bend[] = {1.0,
                                   0.3333333333333307,
                                   0.13333333333372238,
                                   0.05714285712004413,
                                   0.025396826095510895,
                                   0.011543998697724114,
                                   0.0053281589108542336,
                                   0.0024851493652995054,
                                   0.001177252107675855,
                                   0.000524948435414062,
                                   0.0003490773923383807,
                                   -4.7511156402644795e-05,
                                   0.0003003772379845992,
                                   -0.00017750329837568318,
                                   0.00010516768010353911,
                                   0};
static const double narrow_bend[] = {1.0,
                                     0.3333333333333477,
                                     0.13333333332831643,
                                     0.057142857810307486,
                                     0.025396781855373467,
                                     0.011545550295759906,
                                     0.005298019376796255,
                                     0.0027872197156268083};
static const double wide_range = 0.5, narrow_range = 0.06;

/* Returns S times the series in u, which has an even number of terms. */
INLINE vec bend(vec S, vec u, const double *series, int terms) {
  const vec uu = u * u;
  vec odd = set(series[terms - 1]), even = set(series[terms - 2]);
#pragma GCC unroll 8
  for (int i = terms - 4; i >= 0; i -= 2) {
    odd = fma3(odd, uu, set(series[i + 1]));
    even = fma3(even, uu, set(series[i]));
  }
  return S * fma3(odd, u, even);
}

/* Returns alpha l for any angle. The lengths of the edges that are folded flat are added to *fold. */
static __attribute__((noinline)) vec large_bend(vec3 e, vec S, vec C, vec *fold) {
  const vec ee = dot(e, e), r = inverse_root(ee + set(tiny)), size = ee * r;
  vec flat;
  const vec angle = large_angle(C, S * r, &flat);
  *fold = fma3(flat, size, *fold);
  return angle * size;
}

/* Returns alpha l of edges e with S and C of the equations above. The lengths l of the edges that are folded flat are
 * added to *folds. */
INLINE vec bending(vec3 e, vec S, vec C, vec *folds) {
  const vec u = set(1) - C;
  if (__builtin_expect(!any_above(u, set(narrow_range)), 1)) return bend(S, u, narrow_bend, 8);
  if (__builtin_expect(!any_above(u, set(wide_range)), 1)) return bend(S, u, wide_bend, 16);
  return large_bend(e, S, C, folds);
}

/* Computes the sums over a block of edges that are not summed together with a face (local_order.c). */
static void edges(const cb_local *l, const cb_local_block *b, double *sum) {
  vec turning = set(0), length = set(0), folds = set(0);
  for (int k = b->begin; k < b->end; k += WIDTH) {
    const vec3 n0 = rows3(l->rim, l->edge_face[0] + k), n1 = rows3(l->rim, l->edge_face[1] + k),
               e = subtract(rows3(l->x, l->edge_end[1] + k), rows3(l->x, l->edge_end[0] + k));
    const vec ee = dot(e, e);
    length = fma3(ee, inverse_root(ee + set(tiny)), length);
    turning += bending(e, dot(e, cross(n0, n1)), dot(n0, n1), &folds);
  }
  sum[CB_LOCAL_EDGE_TURNING] = total(turning);
  sum[CB_LOCAL_EDGE_LENGTH] = total(length);
  sum[CB_LOCAL_EDGE_FOLD] = total(folds);
}
