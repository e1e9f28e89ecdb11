/* Lift and drag at face centres, with d = <u,a>, r = 1/(A |u|), p = r (|u|^2 a + d u), so that one root does:
 *
 *   force  sum r |u|^2 d M;  Jacobian  sum M (c × p, p)^T
 *
 * Part of local_kernel.h.
 */
/* Velocity of the body's surface relative to the flow at the centres of faces f... */
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

enum { COLUMNS = 7, AT_ONCE = 128 / WIDTH }; /* faces whose M and p stay in the first cache */
typedef struct loads {
  vec M[6][AT_ONCE], p[COLUMNS][AT_ONCE], sum[6][COLUMNS];
} loads;

INLINE void begin_loads(loads *on) {
#pragma GCC unroll 8
  for (int i = 0; i < 6; i++)
#pragma GCC unroll 8
    for (int k = 0; k < COLUMNS; k++) on->sum[i][k] = set(0);
}

/* sum[row][column] += M_row p_column of n: ROWS rows at once stay in registers. */
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

/* Of faces f..., of which c, a, w, M and <a,a> are known: M and p of place i. */
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
  M[0][i] = m.x, M[1][i] = m.y, M[2][i] = m.z;
  M[3][i] = a.x, M[4][i] = a.y, M[5][i] = a.z;
  p[0][i] = cq.x, p[1][i] = cq.y, p[2][i] = cq.z;
  p[3][i] = q.x, p[4][i] = q.y, p[5][i] = q.z, p[6][i] = load;
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

/* Linear drag, with B = (c_n - c_t) a a^T/A + c_t A 1 at each face:
 * force sum (c × B u, B u);  Jacobian sum (c × B (e_j × c), B (e_j × c)) and (c × B e_j, B e_j). */
static void linear(const cb_local *l, const cb_local_block *b, const cb_local_flow *in, double *out) {
  vec sum[6][COLUMNS];
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < COLUMNS; k++) sum[i][k] = set(0);
  const vec along = set(in->along), difference = set(in->normal - in->along), zero = set(0);
  for (int f = b->begin; f < b->end; f += WIDTH) {
    const double *flat = l->flat + place(f, CB_LOCAL_FLAT);
    const vec3 c = load3(flat), a = load3(flat + 3 * CB_LOCAL_GROUP);
    const vec3 column[COLUMNS] = {{zero, -c.z, c.y}, {c.z, zero, -c.x}, {-c.y, c.x, zero}, {set(1), zero, zero},
                                  {zero, set(1), zero}, {zero, zero, set(1)}, relative(l, in, f, c, velocity(l, f))};
    const vec aa = dot(a, a), r = inverse_root(aa + set(tiny)), A = along * aa * r, w = difference * r;
    for (int k = in->jacobian ? 0 : COLUMNS - 1; k < COLUMNS; k++) {
      const vec3 Bu = add(scaled(A, column[k]), scaled(w * dot(a, column[k]), a)), cBu = cross(c, Bu);
      sum[0][k] += cBu.x, sum[1][k] += cBu.y, sum[2][k] += cBu.z;
      sum[3][k] += Bu.x, sum[4][k] += Bu.y, sum[5][k] += Bu.z;
    }
  }
  for (int i = 0; i < 6; i++)
    for (int k = 0; k < COLUMNS; k++) out[COLUMNS * i + k] = total(sum[i][k]);
}
