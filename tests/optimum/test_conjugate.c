/* Tests of conjugate times (for a target element) and focal times (for other targets) against closed forms. Their
 * number is compared with the index, the number of negative directions of the second variation. lambda: multiplier of
 * an extremal (curvebody/optimum.h); g: holonomy. */
#include "bundles.h"
#include "extremals.h"
#include "optimum/extremal.h"
#include "optimum/reduced.h"
#include "optimum/variation.h"

/* Returns the extremal with the total area z, found near `rounds` circles of area z/rounds that begin at (.3, -.2). */
static cb_extremal *dido(const cb_bundle *b, const cb_optimum_problem *o, double z, int rounds) {
  const double r = sqrt(z / rounds / M_PI);
  double mean[4] = {.3 - r, -.2}, cosine[8] = {0}, sine[8] = {0}, lambda[2] = {2 * M_PI * rounds * 1.01};
  cosine[(rounds - 1) * b->n] = 1.01 * r;
  sine[(rounds - 1) * b->n + 1] = r;
  cb_gait *start;
  cb_extremal *e;
  check_ok(cb_gait_fourier(b->n, rounds, mean, cosine, sine, &start));
  check_ok(cb_extremal_solve(o, start, lambda, 0, &e));
  cb_gait_free(start);
  check_relative(e->cost, 4 * M_PI * z * rounds, 1e-12);
  return e;
}

/* For circles of the bundle `heisenberg`, a time t is conjugate if sin tau (sin tau - tau cos tau) = 0 with
 * tau = |lambda| t/2. The first zero of the second factor with tau > 0 is tau = 4.493409457909064. */
static void didos_circles_are_conjugate_after_whole_turns(void **state) {
  const double start_shape[4] = {.3, -.2};
  cb_bundle *b = model("heisenberg", "");
  const cb_optimum_problem o = {.bundle = b, .start_shape = start_shape, .target = {.kind = CB_GAIT_MOVE, .value = .1}};
  cb_conjugate c;
  cb_extremal *e = dido(b, &o, .1, 1);
  check_ok(cb_conjugate_find(&o, e, 2, &c));
  assert_int_equal(c.count, 0);
  check_relative(c.time[1], 2 * M_PI / fabs(e->lambda[0]), 1e-9);
  cb_extremal_free(e);
  e = dido(b, &o, .1, 3);
  check_ok(cb_conjugate_find(&o, e, 2, &c));
  assert_int_equal(c.count, 4);
  check_relative(c.time[0], 2 * M_PI / fabs(e->lambda[0]), 1e-9);
  check_near(c.time[1], 1, 1e-9);
  cb_extremal_free(e);
  e = dido(b, &o, .1, 2);
  check_ok(cb_conjugate_find(&o, e, 2, &c));
  assert_int_equal(c.count, 2); /* the conjugate times are 1/2 and 4.4934../(2 pi) */
  check_near(c.time[0], .5, 1e-9);
  cb_extremal_free(e);
  cb_bundle_free(b);
}

/* A bundle over two planes. The first number of g is the sum of the areas in both planes, with the weights 1 and 3/2.
 * The second number of g is the area in the first plane. */
static cb_status planes_on_jets(const cb_bundle *b, const cb_jet *r, cb_jet *A, cb_jet *M) {
  for (int k = 0; A && k < b->group->dim * 4; k++) {
    const int i = k % 4, other = i ^ 1;
    const double weight = k / 4 ? i < 2 : i < 2 ? 1 : 1.5;
    A[k] = cb_jet_scale(&r[other], (i % 2 ? -.5 : .5) * weight);
  }
  for (int k = 0; M && k < 16; k++) M[k] = cb_jet_constant(4, k % 5 == 0);
  return CB_OK;
}

static cb_bundle planes(const char *group) {
  static const cb_bundle_class class_ = {.name = "planes", .on_jets = planes_on_jets};
  return (cb_bundle){.class_ = &class_, .group = cb_group_find(group), .n = 4};
}

/* For a circle in the first plane, the variations in the second plane multiply the condition for a conjugate time by
 * the factor sin^2(3 tau/2), with tau = pi t. So t = 2/3 counts twice, and no determinant changes its sign there. */
static void a_double_time_counts_twice(void **state) {
  const double start_shape[4] = {.3, -.2, 0, 0};
  cb_bundle b = planes("r1");
  const cb_optimum_problem o = {
      .bundle = &b, .start_shape = start_shape, .target = {.kind = CB_GAIT_MOVE, .value = .1}};
  cb_conjugate c;
  cb_extremal *e = dido(&b, &o, .1, 1);
  check_ok(cb_conjugate_find(&o, e, 2, &c));
  assert_int_equal(c.count, 2);
  check_near(c.time[0], 2. / 3, 1e-9);
  check_near(c.time[1], 1, 1e-9);
  cb_extremal_free(e);
}

/* If the target leaves a number of g free, this number has no effect. */
static void a_free_number_of_the_group_changes_nothing(void **state) {
  const double start_shape[4] = {.3, -.2, 0, 0};
  cb_bundle one = planes("r1"), two = planes("r2");
  const cb_optimum_problem o = {
      .bundle = &one, .start_shape = start_shape, .target = {.kind = CB_GAIT_MOVE, .value = .1}};
  const cb_optimum_problem free = {
      .bundle = &two, .start_shape = start_shape, .target = {.kind = CB_GAIT_PARTS, .element = {.1}, .asked = {true}}};
  cb_conjugate c[2];
  cb_extremal *e = dido(&one, &o, .1, 2), *f = dido(&two, &free, .1, 2);
  check_near(f->lambda[1], 0, 1e-12);
  check_ok(cb_conjugate_find(&o, e, 2, &c[0]));
  check_ok(cb_conjugate_find(&free, f, 2, &c[1]));
  assert_int_equal(c[0].count, c[1].count);
  for (int k = 0; k < 2; k++) check_near(c[1].time[k], c[0].time[k], 1e-9); /* a reversed circle has the same times */
  cb_extremal_free(e);
  cb_extremal_free(f);
}

/* Returns the index: the number of negative directions of E/2 - sum nu_k c_k over loops through the start shape that
 * satisfy the conditions to first order. E is the cost, c_k are the conditions of the target, and nu_k their
 * multipliers. The loops consist of four arcs of polynomials. */
static int index_of(const cb_optimum_problem *o, const cb_extremal *e) {
  enum { ARCS = 4, DEGREE = 14 };
  const cb_group *G = o->bundle->group;
  const int n = e->wong.n, dim = e->wong.dim, count = cb_gait_target_count(G, &o->target);
  const double ends[ARCS + 1] = {0, .25, .5, .75, 1};
  double c[CB_CONDITIONS_MAX], first[CB_CONDITIONS_MAX * CB_GROUP_DIM], Lambda[CB_GROUP_DIM] = {0};
  double second[CB_CONDITIONS_MAX * CB_GROUP_DIM * CB_GROUP_DIM], W[CB_GROUP_DIM * CB_GROUP_DIM] = {0};
  cb_gait *gait;
  cb_basis *basis;
  cb_variation *v;
  cb_reduced *q;
  check_ok(cb_extremal_gait(e, &gait));
  check_ok(cb_basis_arcs(ARCS, ends, DEGREE, 0, &basis));
  check_ok(cb_variation_create(o->bundle, basis, &v));
  double *x = calloc((size_t)v->unknowns, sizeof *x), *phi = calloc((size_t)basis->functions, sizeof *phi);
  check_ok(cb_basis_project(basis, gait, x));
  check_ok(cb_variation_at(v, x, 1));
  check_relative(v->cost, e->cost, 1e-7); /* checks that polynomials of degree DEGREE resolve the gait */
  check_ok(cb_gait_target_at(G, &o->target, v->g, c, first, second));
  for (int k = 0; k < count; k++)
    for (int a = 0; a < dim; a++) {
      Lambda[a] -= e->nu[k] * first[k * dim + a];
      for (int b = 0; b < dim; b++) W[a * dim + b] -= e->nu[k] * second[(k * dim + a) * dim + b];
    }
  check_ok(cb_reduced_create(v->unknowns, n + count, &q));
  q->unknowns = v->unknowns;
  q->rows = n + count;
  memset(q->J, 0, (size_t)(q->rows * q->unknowns) * sizeof *q->J);
  check_ok(cb_variation_hessian(v, 1, Lambda, W, q->H));
  cb_basis_at(basis, 0, phi, NULL);
  for (int i = 0; i < n; i++)
    memcpy(q->J + i * q->unknowns + i * basis->functions, phi, (size_t)basis->functions * sizeof *phi);
  for (int k = 0; k < count; k++)
    for (int u = 0; u < q->unknowns; u++)
      for (int a = 0; a < dim; a++) q->J[(n + k) * q->unknowns + u] += first[k * dim + a] * v->dy[a * q->unknowns + u];
  cb_reduced_eigenvalues(q);
  int negative = 0;
  for (int k = 0; k < q->values; k++) negative += q->eigen[k] < -1e-7 * q->eigen[q->values - 1];
  free(x);
  free(phi);
  cb_reduced_free(q);
  cb_variation_free(v);
  cb_basis_free(basis);
  cb_gait_free(gait);
  return negative;
}

static void the_swimmer_on_the_sphere_has_a_minimum_and_a_saddle(void **state) {
  const double start_shape[2] = {.65, .8}, E[2] = {.481427457629, .801496291785}, time[2] = {1.14425388, .87326069};
  const ellipse from[2] = {{{.61, .87}, {.04, -.07}, {.07, .04}, {25}},
                           {{.616, .725}, {.052, .128}, {.141, -.181}, {45}}};
  cb_bundle *b = model("constant_curvature_swimmer", "");
  for (int k = 0; k < 2; k++) {
    cb_optimum_problem o = {
        .bundle = b, .start_shape = start_shape, .target = {.kind = CB_GAIT_MOVE, .value = k ? .01 : -.01}};
    ellipse near = from[k];
    near.lambda[0] *= k ? 1 : -1;
    cb_extremal *e;
    cb_conjugate c;
    if (extremal_try(&o, &near, 0, &e)) {
      o.target.value = -o.target.value;
      near.lambda[0] = -near.lambda[0];
      e = extremal(&o, &near, 0);
    }
    check_relative(e->cost, E[k], 1e-11);
    check_ok(cb_conjugate_find(&o, e, 2, &c));
    assert_int_equal(c.count, k);
    check_near(c.time[1 - k], time[k], 5e-9);
    assert_int_equal(index_of(&o, e), k);
    cb_extremal_free(e);
  }
  cb_bundle_free(b);
}

/* Morse's theorem: the number of conjugate or focal times equals the index. It is tested for branches of the swimmer
 * PushMePullYou (pmpy), and for one and two rounds of a loop of Purcell's swimmer. The targets are an element
 * (conjugate times), a distance, and two numbers of g (focal times). */
static void the_number_of_times_is_the_index(void **state) {
  cb_bundle *two = model("pmpy", ""), *three = model("purcell", "links 3");
  const double v = 4 * M_PI / 3, at[2] = {5, v};
  const ellipse branch[3] = {{{4.1, v}, {.9, 0}, {0, -1.7}, {350}},
                             {{5.9, v}, {-.9, 0}, {0, 1.7}, {350}},
                             {{5, v + 1.7}, {0, -1.7}, {-.9, 0}, {285}}};
  int seen = 0;
  for (int k = 0; k < 3; k++) {
    const cb_optimum_problem o = {.bundle = two, .start_shape = at, .target = {.kind = CB_GAIT_MOVE, .value = .1}};
    cb_extremal *e = extremal(&o, &branch[k], 0);
    cb_conjugate c;
    check_ok(cb_conjugate_find(&o, e, 1, &c));
    assert_int_equal(c.count, index_of(&o, e));
    seen += c.count;
    cb_extremal_free(e);
  }
  const double *row = purcell_row[2], start_shape[2] = {row[2], row[2]};
  for (int rounds = 1; rounds <= 2; rounds++)
    for (int kind = 0; kind < 3; kind++) {
      static const cb_gait_target_kind kinds[3] = {CB_GAIT_ELEMENT, CB_GAIT_MOVE, CB_GAIT_PARTS};
      const double X = rounds * row[0], s = row[2], w = row[3] / (2 * M_PI);
      cb_optimum_problem o = {.bundle = three, .start_shape = start_shape, .target = {.kind = kinds[kind], .value = X}};
      o.target.element[0] = X;
      o.target.asked[0] = o.target.asked[2] = true;
      const double zero[2] = {0}, cosine[4] = {rounds == 1 ? s : 0, rounds == 1 ? s : 0, s, s};
      const double sine[4] = {rounds == 1 ? w : 0, rounds == 1 ? -w : 0, w, -w};
      const double lambda[3] = {rounds * row[4], 0, rounds * row[5]};
      cb_gait *start;
      cb_extremal *e;
      cb_conjugate c;
      check_ok(cb_gait_fourier(2, rounds, zero, cosine, sine, &start));
      check_ok(cb_extremal_solve(&o, start, lambda, 0, &e));
      check_relative(e->cost, rounds * rounds * row[1], 1e-9);
      check_ok(cb_conjugate_find(&o, e, 1, &c));
      assert_int_equal(c.count, index_of(&o, e));
      assert_true((c.count > 0) == (rounds == 2));
      seen += c.count;
      cb_extremal_free(e);
      cb_gait_free(start);
    }
  assert_true(seen > 4);
  cb_bundle_free(two);
  cb_bundle_free(three);
}

/* A random bundle, loop and target. In some cases the target is a distance, and the loop may have two rounds. */
typedef struct chance {
  random_bundle p, moved;
  cb_optimum_problem o;
  cb_gait *start;
  double start_shape[2], lambda[CB_GROUP_DIM];
} chance;

static void draw(uint64_t *seed, int trial, chance *s) {
  static const char *const names[] = {"r2", "se2", "so3", "heisenberg"};
  const cb_group *G = cb_group_find(names[trial % 4]);
  const bool distance = trial % 4 < 2 && trial % 3 > 0, whole = !distance && trial % 3 == 0;
  /* `number` is the index of the number of g that the target gives. In so3, g is a quaternion, and the index is 1,
   * because number 0 is the cosine of half the angle. */
  const int rounds = distance ? 1 + trial % 3 / 2 : 1, number = trial % 4 == 2 ? 1 : 0;
  random_bundles(seed, G, 2, .7, &s->p, &s->moved);
  const double size = check_uniform(seed, .1, .5) / rounds, way = check_uniform(seed, 0, 2 * M_PI);
  const double x = size * cos(way), y = size * sin(way), mean[2] = {x, y};
  double cosine[4] = {0}, sine[4] = {0}, g[CB_GROUP_SIZE], cost;
  cosine[2 * rounds - 2] = -x;
  cosine[2 * rounds - 1] = -y;
  sine[2 * rounds - 2] = y;
  sine[2 * rounds - 1] = -x;
  check_ok(cb_gait_fourier(2, rounds, mean, cosine, sine, &s->start));
  cb_gait_at(s->start, 0, s->start_shape, NULL);
  check_ok(cb_holonomy(&s->p.b, s->start, 0, g, NULL, &cost));
  s->o = (cb_optimum_problem){.bundle = &s->p.b, .start_shape = s->start_shape};
  s->o.target.kind = distance ? CB_GAIT_MOVE : whole ? CB_GAIT_ELEMENT : CB_GAIT_PARTS;
  s->o.target.asked[number] = true;
  s->o.target.value = hypot(g[0], g[1]);
  memcpy(s->o.target.element, g, sizeof g);
  for (int a = 0; a < CB_GROUP_DIM; a++) s->lambda[a] = 0;
  for (int a = 0; a < G->dim && whole; a++) s->lambda[a] = check_uniform(seed, -2, 2) * cost / fabs(g[number]);
  if (!whole) s->lambda[0] = cost / g[number];
  for (int a = 0; a < 2 && distance; a++) s->lambda[a] = cost * g[a] / pow(s->o.target.value, 2);
}

/* The number of conjugate times equals the index. Starts that do not converge are skipped, and so are gaits that four
 * arcs of polynomials do not resolve. */
static void so_it_is_for_random_bundles_of_any_group(void **state) {
  uint64_t seed = check_seed();
  int seen = 0, saddles = 0;
  for (int trial = 0; trial < (CHECK_SANITIZED ? 20 : 80); trial++) {
    chance s;
    cb_extremal *e;
    cb_conjugate c;
    draw(&seed, trial, &s);
    const cb_status status = cb_extremal_solve(&s.o, s.start, s.lambda, 0, &e);
    cb_gait_free(s.start);
    if (status) continue;
    if (e->panels <= 20) {
      check_ok(cb_conjugate_find(&s.o, e, 1, &c));
      check_at_most(c.skew, 1e-10);
      assert_int_equal(c.count, index_of(&s.o, e));
      seen++;
      saddles += c.count > 0;
    }
    cb_extremal_free(e);
  }
  print_message("%d extremals, %d saddles\n", seen, saddles);
  assert_true(CHECK_SANITIZED || (seen > 15 && saddles > 3));
}

/* Conjugate times must not depend on how far the search for them continues. The test uses a circle of the rolling ball,
 * along which the momentum p is 0. */
static void times_do_not_depend_on_how_far_is_looked(void **state) {
  const double origin[2] = {0, 0}, turned[3] = {-M_PI, 0, -2 * M_PI};
  const ellipse rolled = {{-.5, 0}, {.52, 0}, {0, .5}, {0, 0, 3}};
  cb_bundle *b = model("rolling_ball", "");
  cb_optimum_problem o = {.bundle = b, .start_shape = origin, .target = {.kind = CB_GAIT_ELEMENT}};
  b->group->exp(b->group, turned, o.target.element);
  b->group->inverse(b->group, o.target.element, o.target.element);
  cb_extremal *e = extremal(&o, &rolled, 0);
  cb_conjugate c[2];
  for (int k = 0; k < 2; k++) check_ok(cb_conjugate_find(&o, e, k ? 3 : 2.2, &c[k]));
  assert_int_equal(c[0].count, index_of(&o, e));
  assert_int_equal(c[1].count, c[0].count);
  check_near(c[1].time[1], c[0].time[1], 1e-10);
  assert_true(c[0].time[1] < 2.2);
  cb_extremal_free(e);
  cb_bundle_free(b);
}

static void a_free_base_has_no_conjugate_times(void **state) {
  cb_bundle *b = model("purcell", "links 3");
  const cb_optimum_problem o = {.bundle = b, .target = {.kind = CB_GAIT_MOVE, .value = purcell_row[1][0]}};
  const ellipse from = purcell_near(purcell_row[1]);
  cb_extremal *e = extremal(&o, &from, 0);
  cb_conjugate c;
  assert_int_equal(cb_conjugate_find(&o, e, 2, &c), CB_ERROR_UNSUPPORTED);
  cb_extremal_free(e);
  cb_bundle_free(b);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(didos_circles_are_conjugate_after_whole_turns),
      cmocka_unit_test(a_double_time_counts_twice),
      cmocka_unit_test(a_free_number_of_the_group_changes_nothing),
      cmocka_unit_test(the_swimmer_on_the_sphere_has_a_minimum_and_a_saddle),
      cmocka_unit_test(the_number_of_times_is_the_index),
      cmocka_unit_test(so_it_is_for_random_bundles_of_any_group),
      cmocka_unit_test(times_do_not_depend_on_how_far_is_looked),
      cmocka_unit_test(a_free_base_has_no_conjugate_times),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
