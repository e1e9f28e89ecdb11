/* Tests of moving triangles. Their first contact is a zero of an active gap: the nearest points are inside the two
 * features (vertices, edges or faces). Where the nearest feature changes from a face to its edge, both gaps are 0 at
 * the same time. The second derivative of a gap is at least minus its bound. */
#include "check_gaps.h"

/* --- the first contact --- */

enum { SIX = 6, GRID = 300, MOST = 20 };

static double det_of(int k, const double (*v)[4]) {
  double m[4][4], det = 1;
  memcpy(m, v, sizeof m);
  for (int i = 0; i < k; i++) {
    int p = i;
    for (int j = i; j < k; j++)
      if (fabs(m[j][i]) > fabs(m[p][i])) p = j;
    for (int a = 0; a < k; a++) {
      const double keep = m[i][a];
      m[i][a] = m[p][a];
      m[p][a] = keep;
    }
    if (p != i) det = -det;
    det *= m[i][i];
    for (int j = i + 1; j < k; j++)
      for (int a = k - 1; a >= i; a--) m[j][a] -= m[j][i] / m[i][i] * m[i][a];
  }
  return det;
}

static double side_of(int k, const double (*x)[4], int a, int b, int c, int d) {
  double v[4][4];
  memcpy(v[0], x[a], sizeof v[0]);
  memcpy(v[1], x[b], sizeof v[1]);
  memcpy(v[2], x[c], sizeof v[2]);
  if (k == 4) memcpy(v[3], x[d], sizeof v[3]);
  return det_of(k, (const double(*)[4])v);
}

/* Returns whether the segment p q passes through the triangle a b c (dimension 3), or the point p is in this triangle
 * (dimension 2). The signs of determinants decide this, because geodesics are in planes through the origin of the
 * embedding. Points of flat space have 1 as last coordinate. */
static bool meets(int dim, const double (*x)[4], int p, int q, int a, int b, int c) {
  if (dim == 2) {
    const double s = side_of(3, x, a, b, p, 0), t = side_of(3, x, b, c, p, 0), u = side_of(3, x, c, a, p, 0);
    return (s > 0) == (t > 0) && (t > 0) == (u > 0);
  }
  if ((side_of(4, x, a, b, c, p) > 0) == (side_of(4, x, a, b, c, q) > 0)) return false;
  const double s = side_of(4, x, p, q, a, b), t = side_of(4, x, p, q, b, c), u = side_of(4, x, p, q, c, a);
  return (s > 0) == (t > 0) && (t > 0) == (u > 0);
}

static bool overlap(const cb_space *g, const mover *m, double tau) {
  double x[SIX][4] = {{0}};
  bool any = false;
  for (int i = 0; i < SIX; i++) {
    double y[COORDS], v[COORDS];
    for (int a = 0; a < g->embedding; a++) v[a] = tau * m[i].v[a];
    cb_exp(g, m[i].y, v, y, NULL);
    memcpy(x[i], y, (size_t)g->embedding * sizeof *y);
    if (g->factor[0].curvature == 0) x[i][g->dim] = 1;
  }
  for (int e = 0; e < 3; e++) {
    any = any || meets(g->dim, (const double(*)[4])x, e, (e + 1) % 3, 3, 4, 5);
    any = any || meets(g->dim, (const double(*)[4])x, 3 + e, 3 + (e + 1) % 3, 0, 1, 2);
  }
  return any;
}

static int contacts_seen;

/* Returns the time of the first contact, or infinity if there is none. A contact is a zero at which the gap is active.
 * Zeros are found by a grid of times and bisection. The sign of a gap is reversed if the gap is negative at the start,
 * and after a zero at which it is not active. */
static double first_contact(const cb_space *g, cb_gaps *gaps, const mover *m, double dt) {
  cb_gap list[MOST];
  const int n = cb_gaps_surfaces(gaps, 0, 1, MOST, list);
  double first = INFINITY;
  assert_int_equal(n, g->dim == 2 ? 18 : 15);
  for (int i = 0; i < n; i++) {
    double x[POINTS][COORDS];
    const double *at[POINTS] = {x[0], x[1], x[2], x[3]};
    cb_gap_value value, zero;
    for (int p = 0; p < 4; p++) mover_at(g, &m[list[i].particle[p]], 0, x[p], NULL);
    check_ok(cb_gap_orient(gaps, &list[i], 0, at));
    assert_true(gap_at(g, gaps, &list[i], m, 0, 0, &value));
    if (value.gap < 0) list[i].side = -list[i].side;
    for (int step = 1; step <= GRID && step * dt < first + dt; step++) {
      assert_true(gap_at(g, gaps, &list[i], m, 0, step * dt, &value));
      if (value.gap >= 0) continue;
      double low = (step - 1) * dt, high = step * dt;
      for (int k = 0; k < 45; k++) {
        const double middle = (low + high) / 2;
        assert_true(gap_at(g, gaps, &list[i], m, 0, middle, &zero));
        *(zero.gap < 0 ? &high : &low) = middle;
      }
      assert_true(gap_at(g, gaps, &list[i], m, 0, high, &zero));
      if (zero.active && fabs(zero.gap) < 1e-9) {
        first = fmin(first, high);
        break;
      }
      list[i].side = -list[i].side;
    }
  }
  return first;
}

static void collisions_of(const cb_space *g, uint64_t *seed) {
  if (!has_surfaces(g)) return;
  for (int trial = 0; trial < (CHECK_SANITIZED ? 5 : 30); trial++) {
    mover m[SIX];
    random_movers(g, seed, SIX, 1.6, 0.3, m);
    for (int i = 0; i < SIX; i++) memset(m[i].w, 0, sizeof m[i].w);
    if (overlap(g, m, 0)) continue;
    double centre[COORDS], dt = 1.0 / GRID;
    check_ok(cb_karcher_mean(g, 1, m[trial % 3].y, NULL, centre));
    for (int i = 3; i < SIX; i++) { /* the second triangle moves towards the first one */
      double v[COORDS];
      check_ok(cb_log(g, m[i].y, centre, v));
      for (int a = 0; a < g->embedding; a++) m[i].v[a] = 1.3 * v[a] + 0.2 * m[i].v[a];
    }
    cb_builder *b;
    cb_system *s;
    cb_gaps *gaps;
    check_ok(cb_builder_create(g, &b));
    for (int i = 0; i < SIX; i++) {
      if (i % 3 == 0) check_ok(cb_builder_body(b, i ? "b" : "a", NULL));
      check_ok(cb_builder_particle(b, NULL, 1, 0, 0, m[i].y, NULL, NULL));
      if (i % 3 == 2) check_ok(cb_builder_triangle(b, i - 2, i - 1, i));
    }
    check_ok(cb_builder_contacts(b, &(cb_contact_options){.restitution = 1}));
    check_ok(cb_builder_finish(b, &s));
    cb_builder_free(b);
    check_ok(cb_gaps_create(s, &gaps));
    cb_origin origin[SIX];
    for (int i = 0; i < SIX; i++) cb_origin_identity(g, &origin[i]);
    cb_gaps_set_origins(gaps, origin);
    double expected = INFINITY;
    for (int step = 1; step <= GRID && isinf(expected); step++)
      if (overlap(g, m, step * dt)) expected = step * dt;
    const double found = first_contact(g, gaps, m, dt);
    if (isfinite(expected)) {
      /* the grid may miss an earlier, short contact */
      check_at_most(found, expected + 1e-12);
      contacts_seen++;
      if (found < expected - dt) assert_true(overlap(g, m, found + 1e-6) || overlap(g, m, found + 1e-5));
    }
    cb_gaps_free(gaps);
    cb_system_free(s);
  }
}

static void the_first_contact_of_two_triangles_is_an_active_zero(void **state) {
  contacts_seen = 0;
  check_every_space(collisions_of);
  print_message("%d collisions\n", contacts_seen);
  assert_true(contacts_seen > (CHECK_SANITIZED ? 10 : 60));
}

/* If a vertex of one triangle is on an edge of the other one, its gap from the face and the gap of the two edges are
 * both 0. */
static void zeros_of_faces_and_edges_join_of(const cb_space *g, uint64_t *seed) {
  if (!has_surfaces(g) || g->dim < 3) return;
  for (int trial = 0; trial < 10; trial++) {
    mover m[6];
    random_movers(g, seed, 5, 1.5, 0.3, m);
    scene c = scene_of(g, 5, m, (const double[5]){0}, NULL, NULL);
    between(g, m[1].y, m[2].y, 0.3, m[0].y); /* puts vertex 0 on the edge 1 2 of the face 1 2 3 */
    const cb_gap on_face = {CB_GAP_VERTEX_FACE, 4, {0, 1, 2, 3}, 0, 1},
                 on_edge = {CB_GAP_EDGE_EDGE, 4, {0, 4, 1, 2}, 0, 1};
    cb_gap_value face, edge;
    mover five[5] = {m[0], m[1], m[2], m[3], m[4]};
    for (int i = 0; i < 5; i++) {
      memset(five[i].v, 0, sizeof five[i].v);
      memset(five[i].w, 0, sizeof five[i].w);
    }
    assert_true(gap_at(g, c.gaps, &on_face, five, 0, 0, &face));
    assert_true(gap_at(g, c.gaps, &on_edge, five, 0, 0, &edge));
    check_near(face.gap, 0, 1e-13); /* round-off, divided by the sine of the smallest angle */
    check_near(edge.gap, 0, 1e-13);
    for (int way = -1; way < 2; way += 2) { /* the vertex moves out of the face, or into it; the gap is active only
                                             * inside */
      double v[COORDS];
      check_ok(cb_log(g, m[0].y, m[3].y, v));
      for (int a = 0; a < g->embedding; a++) v[a] *= way * 1e-6;
      cb_exp(g, m[0].y, v, five[0].y, NULL);
      assert_true(gap_at(g, c.gaps, &on_face, five, 0, 0, &face));
      check_near(face.gap, 0, 1e-13);
      assert_true(face.active == (way > 0));
    }
    scene_free(&c);
  }
}

static void zeros_of_faces_and_edges_join(void **state) { check_every_space(zeros_of_faces_and_edges_join_of); }

/* --- bounds on second derivatives --- */

static int bends;

static void bends_in(const cb_space *g, uint64_t *seed) {
  int kind[2];
  mover m[4];
  const double dt = 1e-3, span = 0.1;
  random_movers(g, seed, 4, 1.5, 0.3, m);
  for (int i = 0; i < 4; i++) memset(m[i].w, 0, sizeof m[i].w);
  scene c = scene_of(g, 4, m, (const double[4]){0}, NULL, NULL);
  const int kinds = kinds_of(g, kind);
  for (int i = 0; i < kinds; i++) {
    const cb_gap gap = {kind[i], 4, {0, 1, 2, 3}, 0, 1};
    double x[POINTS][COORDS], speed[POINTS];
    const double *at[POINTS] = {x[0], x[1], x[2], x[3]};
    cb_gap_value s[3];
    for (int p = 0; p < 4; p++) {
      assert_true(mover_at(g, &m[p], 0, x[p], NULL));
      speed[p] = check_length(g, m[p].y, m[p].v);
    }
    const double A = cb_gap_second_derivative_bound(c.gaps, &gap, 0, at, speed, (const double[4]){0}, span);
    if (!isfinite(A)) continue;
    for (double tau = dt; tau < span; tau += span / 7) {
      bool whole = true;
      for (int k = 0; k < 3; k++) whole = whole && gap_at(g, c.gaps, &gap, m, 0, tau + (k - 1) * dt, &s[k]);
      if (!whole || !s[0].active || !s[1].active || !s[2].active) continue;
      bends++;
      check_at_least((s[0].gap - 2 * s[1].gap + s[2].gap) / (dt * dt), -A - 1e-3 * (1 + A));
    }
  }
  scene_free(&c);
}

static void bends_of(const cb_space *g, uint64_t *seed) {
  if (!has_surfaces(g)) return;
  for (int trial = 0; trial < 60; trial++) check_every_chart_of(g, seed, bends_in);
}

static void no_gap_bends_more_than_its_bound(void **state) {
  bends = 0;
  check_every_space(bends_of);
  print_message("%d times\n", bends);
  assert_true(bends > 1000);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_contact_of_two_triangles_is_an_active_zero),
      cmocka_unit_test(zeros_of_faces_and_edges_join),
      cmocka_unit_test(no_gap_bends_more_than_its_bound),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
