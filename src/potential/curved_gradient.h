/* This part of curved_kernel.h computes the gradients of S and D of geodesic panels with respect to the point x.
 *
 * If x moves along v, the point p = T_x^-1 y of a panel, with p = (p_x, c_K), moves by -c_K v, and c_K by K v.p_x. So
 *   grad D   -(1/(2 pi)) grad atan2(N, M): grad N is minus the norm times nu, nu the plane's normal seen from x, and
 *            grad M = -sum_a (c_a (a/|a|)(|b||c| + b.c) + |a| (c_b c + c_c b)), a, b, c: p_x of the corners in turn
 *   grad S   of a point: G' = -1/s_K^2 or, for K = 1, -(c s + pi - t)/s^2 times -p_x/s_K, with t, s, c of the distance
 *   near     sqrt(1 + K f^2) ((1 + K f^2) int q/|q|^3 - K sum_e t_e int_e q/|q|) + K s_K (1 + K f^2)^(3/2) nu times the
 *            flat integral of 1/|q|, plus the gradients of the points of the smooth part;  q = p_x/c_K
 *   K = 1    the background's sum has the factors of its points' gradients, (3 c b - 2)/s^2 or (3 c b + 2)/s^2
 * M is the second argument of atan2 in curved_flow.h, f and t_e are those of curved_flow.h and panels.h, b is the
 * function `background`, and s_K in the third line is that of the distance of x from the plane. The flat triangle moves
 * by -v - K q (q.v), which maps lines to lines. The formulas are the exact derivatives of the values for a fixed choice
 * of the near panels. Derived for this project.
 */

/* Returns -p_x/s_K times the derivative of 4 pi G (K < 0) or 4 pi^2 G (K > 0) by the distance, divided by p_x. */
INLINE vec green_slope(const sight *s, double K) {
  const vec square = s->inverse * s->inverse;
  if (K < 0) return square * s->inverse;
  return square * (s->w + where_above(s->w, set(0), fma3(set(PI), s->inverse, -s->P), s->P));
}

/* Does the same for background(), whose value is b. */
INLINE vec background_slope(const sight *s, vec square, vec behind, vec b) {
  return square * fma3(set(3) * s->w, b, where_above(behind, set(0), set(2), set(-2)));
}

/* Does the same for smooth(). */
INLINE vec smooth_slope(const sight *s, double K) {
  const vec w2 = s->w * s->w, cube = s->inverse * s->inverse * s->inverse,
            far = fma3(set(-2 * K), s->square, w2) * cube / (w2 * s->w);
  return green_slope(s, K) * set(K < 0 ? 1 : 1 / PI) - far;
}

/* The sums over the points of one rule for the values and the gradients. */
typedef struct slopes {
  vec value; /* of background() */
  xyz green, background, smooth;
} slopes;

INLINE void add_times(vec f, xyz a, xyz *sum) {
  *sum = (xyz){fma3(f, a.x, sum->x), fma3(f, a.y, sum->y), fma3(f, a.z, sum->z)};
}

INLINE void add_slope(const sight *s, const cb_curved_view *v, double K, vec weight, vec behind, bool smooths,
                      slopes *sum) {
  const xyz p = towards(s, v, K);
  add_times(weight * green_slope(s, K), p, &sum->green);
  if (smooths) add_times(weight * smooth_slope(s, K), p, &sum->smooth);
  if (K < 0) return;
  const vec square = s->inverse * s->inverse, b = background(s, square, behind);
  sum->value = fma3(weight, b, sum->value);
  add_times(weight * background_slope(s, square, behind, b), p, &sum->background);
}

/* The edge of the flat triangle from a to b with the normal n: adds L m_e to *normals and t_e int_e q/|q| to *lines.
 * Returns t_e L. */
INLINE vec edge_slopes(xyz a, xyz b, xyz n, vec A, vec B, vec h, xyz *normals, xyz *lines) {
  const xyz d = {b.x - a.x, b.y - a.y, b.z - a.z};
  const vec l = root(dot(d, d)), one = set(1) / l;
  const xyz e = times(one, d), m = {e.y * n.z - e.z * n.y, e.z * n.x - e.x * n.z, e.x * n.y - e.y * n.x};
  const vec t = dot(a, m), L = edge_log(A + B, l, product(A * B, dot(a, b), t, h, l)), along = dot(a, e);
  add_times(L, m, normals);
  add_times(t * L, a, lines);
  add_times(t * (B - A - along * L), e, lines);
  return t * L;
}

/* Returns 4 pi times the gradient of the singular part of S (singular()). nu and height are those of the plane. */
INLINE xyz singular_slope(const sight *a, const sight *b, const sight *c, const cb_curved_view *v, double K, vec W,
                          xyz nu, vec height) {
  const xyz A = image(a, v, K), B = image(b, v, K), C = image(c, v, K);
  const xyz e = {B.x - A.x, B.y - A.y, B.z - A.z}, f = {C.x - A.x, C.y - A.y, C.z - A.z};
  xyz n = {e.y * f.z - e.z * f.y, e.z * f.x - e.x * f.z, e.x * f.y - e.y * f.x}, normals = {set(0), set(0), set(0)},
      lines = normals, out = normals;
  n = times(set(1) / root(dot(n, n)), n);
  const vec h = dot(A, n), a1 = root(dot(A, A)), b1 = root(dot(B, B)), c1 = root(dot(C, C));
  const vec flat =
      fma3(h, W,
           edge_slopes(A, B, n, a1, b1, h, &normals, &lines) + edge_slopes(B, C, n, b1, c1, h, &normals, &lines) +
               edge_slopes(C, A, n, c1, a1, h, &normals, &lines));
  const vec square = fma3(set(K) * h, h, set(1)), scale = root(square);
  add_times(-(scale * square), normals, &out);
  add_times(-(scale * square) * W, n, &out);
  add_times(set(-K) * scale, lines, &out);
  add_times(set(K) * height * scale * square * flat, nu, &out);
  return out;
}

/* Returns minus the gradient of M. */
INLINE xyz along_slope(const sight *a, const sight *b, const sight *c, xyz pa, xyz pb, xyz pc) {
  const vec ab = dot(pa, pb), bc = dot(pb, pc), ca = dot(pc, pa);
  const vec fa = a->w * a->inverse * fma3(b->sine, c->sine, bc) + b->w * c->sine + c->w * b->sine,
            fb = b->w * b->inverse * fma3(c->sine, a->sine, ca) + c->w * a->sine + a->w * c->sine,
            fc = c->w * c->inverse * fma3(a->sine, b->sine, ab) + a->w * b->sine + b->w * a->sine;
  xyz out = times(fa, pa);
  add_times(fb, pb, &out);
  add_times(fc, pc, &out);
  return out;
}

/* Returns the normal of the plane seen from x. */
INLINE xyz seen_normal(const double *plane, size_t stride, const cb_curved_view *v, double K) {
  const xyz nu = load3(plane, stride), x = {set(v->x[0]), set(v->x[1]), set(v->x[2])};
  xyz out = nu;
  add_times(-set(K) * fma3(dot(nu, x), set(1 / (1 + v->x[3])), load(plane + 3 * stride)), x, &out);
  return out;
}

/* Computes the sums over the points of the rule. The sights of the corners and of the centroid have their inverses. */
INLINE slopes sum_points(const double *p, size_t stride, const cb_curved_view *v, double K, bool few, const sight at[4],
                         vec behind, bool smooths) {
  const xyz none = {set(0), set(0), set(0)};
  slopes sum = {set(0), none, none, none};
  if (few) {
    const vec share = load(p + CB_CURVED_NORM * stride) * set(1. / 24);
    add_slope(at + 3, v, K, load(p + CB_CURVED_WEIGHT * stride), behind, smooths, &sum);
    for (int k = 0; k < 3; k++) add_slope(at + k, v, K, share, behind, smooths, &sum);
    return sum;
  }
  const vec least = set(1e-20) * load(p + CB_CURVED_NORM * stride);
  for (size_t k = 0; k < CB_CURVED_NODES; k++) {
    sight s = look(p + (CB_CURVED_NODE + 4 * k) * stride, stride, v, K, false, least);
    s.inverse = set(1) / s.sine;
    add_slope(&s, v, K, load(p + (CB_CURVED_NODE + 4 * CB_CURVED_NODES + k) * stride), behind, smooths, &sum);
  }
  return sum;
}

INLINE xyz chosen(vec above, vec below, xyz a, xyz b) {
  return (xyz){where_above(above, below, a.x, b.x), where_above(above, below, a.y, b.y),
               where_above(above, below, a.z, b.z)};
}

INLINE void gradient_group(const double *p, size_t stride, const cb_curved_view *v, double K, bool few, xyz *S,
                           xyz *D) {
  const vec N = load(p + CB_CURVED_NORM * stride), least = set(1e-20) * N;
  sight at[4];
  for (int k = 0; k < 4; k++) {
    const size_t row_ = k < 3 ? CB_CURVED_CORNER + 4 * (size_t)k : CB_CURVED_CENTROID;
    at[k] = look(p + row_ * stride, stride, v, K, few, least);
    at[k].inverse = set(1) / at[k].sine;
  }
  const sight *a = at, *b = at + 1, *c = at + 2;
  const double *plane = p + CB_CURVED_PLANE * stride;
  const vec height = -fma3(load(plane + 3 * stride), a->dw, dot(a->d, load3(plane, stride))), triple = -(N * height);
  const vec low = where_above(a->square, b->square, b->square, a->square), w = where_above(a->w, b->w, b->w, a->w),
            reach = where_above(where_above(w, c->w, c->w, w), set(image_w), load(p + CB_CURVED_NEAR * stride), set(0)),
            closest = where_above(low, c->square, c->square, low), behind = set(3 * behind_w) - (a->w + b->w + c->w);
  const bool near = any_above(reach, closest);
  const xyz nu = seen_normal(plane, stride, v, K), pa = towards(a, v, K), pb = towards(b, v, K), pc = towards(c, v, K);
  const slopes sum = sum_points(p, stride, v, K, few, at, behind, near);
  *S = times(set(K < 0 ? 1 / (4 * PI) : 1 / (4 * PI * PI)), sum.green);

  const vec along = fma3(a->sine * b->sine, c->sine,
                         fma3(dot(pa, pb), c->sine, fma3(dot(pb, pc), a->sine, dot(pc, pa) * b->sine))),
            square = fma3(triple, triple, along * along), unit = set(-1 / (2 * PI)) / square;
  if (near) {
    xyz close = singular_slope(a, b, c, v, K, -double_angle(triple, along), nu, height);
    add_times(set(1), sum.smooth, &close);
    *S = chosen(reach, closest, times(set(1 / (4 * PI)), close), *S);
  }
  xyz slope = times(-(unit * along * N), nu);
  add_times(unit * triple, along_slope(a, b, c, pa, pb, pc), &slope);
  *D = slope;
  if (K < 0) return;
  xyz rest = times(set(1 / (4 * PI * PI)) * sum.value, nu);
  add_times(set(1 / (4 * PI * PI)) * height, sum.background, &rest);
  *D = chosen(behind, set(0), rest, (xyz){slope.x - rest.x, slope.y - rest.y, slope.z - rest.z});
}

INLINE void store_slopes(xyz a, int n, size_t width, double *to) {
  const vec rows_[3] = {a.x, a.y, a.z};
  for (int k = 0; k < 3; k++) {
    double lane[WIDTH];
    store(lane, rows_[k]);
    memcpy(to + (size_t)k * width, lane, (size_t)(n < WIDTH ? n : WIDTH) * sizeof *lane);
  }
}

INLINE void gradients(const double *lanes, size_t stride, const cb_curved_view *v, double K, bool few, int n,
                      size_t width, double *S, double *D) {
  for (int i = 0; i < n; i += WIDTH) {
    xyz s, d;
    gradient_group(lanes + i, stride, v, K, few, &s, &d);
    store_slopes(s, n - i, width, S + i);
    store_slopes(d, n - i, width, D + i);
  }
}

static void gradient(const double *lanes, size_t stride, const cb_curved_view *v, int n, size_t width, double *S,
                     double *D) {
  if (v->K < 0 && v->few)
    gradients(lanes, stride, v, -1, true, n, width, S, D);
  else if (v->K < 0)
    gradients(lanes, stride, v, -1, false, n, width, S, D);
  else if (v->few)
    gradients(lanes, stride, v, 1, true, n, width, S, D);
  else
    gradients(lanes, stride, v, 1, false, n, width, S, D);
}
