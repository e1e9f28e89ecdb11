/* Tests of networks of many springs. They compare forces with a plain sum over the springs, check that results are
 * identical for any number of threads, and test the renumbering of particles. */
#include "check_springs.h"
#include "dynamics/springs.h"

enum { K = CB_COORD_MAX };

/* A triangulated square of side x side particles at perturbed positions. The numbers of the particles and the order of
 * the edges are random. Edge e joins i[e] and j[e], and plane[a] is the position of particle a. */
typedef struct network {
  int n;
  size_t m;
  int *i, *j;
  double (*plane)[2];
} network;

static void join(network *g, int a, int b) {
  g->i[g->m] = a;
  g->j[g->m++] = b;
}

static void swap(int *a, int *b) {
  int c = *a;
  *a = *b;
  *b = c;
}

static network mesh(uint64_t *seed, int side) {
  int n = side * side, *number = malloc((size_t)n * sizeof *number);
  network g = {.n = n};
  g.i = malloc(3 * (size_t)n * sizeof *g.i);
  g.j = malloc(3 * (size_t)n * sizeof *g.j);
  g.plane = malloc((size_t)n * sizeof *g.plane);
  for (int a = 0; a < n; a++) number[a] = a;
  for (int a = n - 1; a > 0; a--) swap(&number[a], &number[(int)check_uniform(seed, 0, a + 1)]);
  for (int r = 0; r < side; r++)
    for (int c = 0; c < side; c++) {
      int at = r * side + c;
      g.plane[number[at]][0] = (c + check_uniform(seed, 0, 0.3)) / side - 0.5;
      g.plane[number[at]][1] = (r + check_uniform(seed, 0, 0.3)) / side - 0.5;
      if (c + 1 < side) join(&g, number[at], number[at + 1]);
      if (r + 1 < side) join(&g, number[at], number[at + side]);
      if (r + 1 < side && c + 1 < side) join(&g, number[at], number[at + side + 1]);
    }
  for (size_t e = g.m - 1; e > 0; e--) {
    size_t other = (size_t)check_uniform(seed, 0, (double)(e + 1));
    swap(&g.i[e], &g.i[other]);
    swap(&g.j[e], &g.j[other]);
  }
  free(number);
  return g;
}

static void network_free(network g) {
  free(g.i);
  free(g.j);
  free(g.plane);
}

/* Writes the positions x in the space, random velocities v and the springs. Particle a of the result is particle
 * order[a] of the network. */
static void place(const cb_space *g, uint64_t *seed, const network *net, const int *order, double damping, double *x,
                  double *v, cb_spring *spring) {
  int k = g->embedding, *rank = malloc((size_t)net->n * sizeof *rank);
  for (int a = 0; a < net->n; a++) {
    double *at = x + a * k, *plane = net->plane[order[a]], curvature = g->factor[0].curvature;
    rank[order[a]] = a;
    for (int b = 0; b < k; b++) {
      at[b] = b < 2 ? plane[b] : 0;
      v[a * k + b] = check_uniform(seed, -1, 1);
    }
    int last = g->factor[0].count - 1;
    double square = plane[0] * plane[0] + plane[1] * plane[1];
    if (curvature != 0) at[last] = sqrt(fabs(1 / curvature - square));
  }
  for (size_t e = 0; e < net->m; e++)
    spring[e] = (cb_spring){rank[net->i[e]], rank[net->j[e]], check_uniform(seed, 0.5, 2), check_uniform(seed, 0, 0.02),
                            damping};
  free(rank);
}

/* A network in a space, and arrays for results: forces f and other, and two lengths d for each spring. */
typedef struct sample {
  network net;
  int *order;
  double *x, *v, *f, *other, *d;
  cb_spring *spring;
} sample;

static sample sample_create(const cb_space *g, uint64_t *seed, int side, int local, double damping) {
  sample s = {.net = mesh(seed, side)};
  size_t n = (size_t)s.net.n, size = n * K;
  s.order = malloc(n * sizeof *s.order);
  s.x = malloc(size * sizeof *s.x);
  s.v = malloc(size * sizeof *s.v);
  s.f = malloc(size * sizeof *s.f);
  s.other = malloc(size * sizeof *s.other);
  s.d = malloc(2 * s.net.m * sizeof *s.d);
  s.spring = malloc(s.net.m * sizeof *s.spring);
  if (local)
    check_ok(cb_reorder(s.net.n, s.net.m, s.net.i, s.net.j, s.order));
  else
    for (int a = 0; a < s.net.n; a++) s.order[a] = a;
  place(g, seed, &s.net, s.order, damping, s.x, s.v, s.spring);
  return s;
}

static void sample_free(sample s) {
  network_free(s.net);
  free(s.order);
  free(s.x);
  free(s.v);
  free(s.f);
  free(s.other);
  free(s.d);
  free(s.spring);
}

static void blocks_sum_what_each_spring_gives(void **state) {
  uint64_t seed = check_seed();
  double worst = 0;
  for (int space = 0; space < CHECK_SPACES; space++)
    for (int local = 0; local < 2; local++) {
      cb_space g = check_space(space);
      int k = g.embedding;
      double damping = space % 2 ? 0.1 : 0;
      sample s = sample_create(&g, &seed, 100, local, damping);
      size_t size = (size_t)(s.net.n * k);
      long double *sum = calloc(size, sizeof *sum), potential = 0;
      for (size_t e = 0; e < s.net.m; e++) {
        int i = s.spring[e].i * k, j = s.spring[e].j * k;
        long double gradient[K], rate = 0;
        double condition;
        long double d = check_spring_distance(&g, s.x + i, s.x + j, gradient, &condition),
                    stretch = d - s.spring[e].rest;
        s.d[e] = (double)d;
        potential += s.spring[e].stiffness * stretch * stretch / 2;
        for (int a = 0; a < k; a++) rate += gradient[a] * ((long double)s.v[i + a] - s.v[j + a]);
        long double pull = s.spring[e].stiffness * stretch + damping * rate;
        for (int a = 0; a < k; a++) {
          sum[i + a] -= pull * g.form[a] * gradient[a];
          sum[j + a] += pull * g.form[a] * gradient[a];
        }
      }
      for (int isa = 0; isa < 3; isa++) {
        if (cb_isa_set(check_isa[isa])) continue;
        check_plan p = check_plan_create(&g, s.net.n, s.net.m, s.spring, 1);
        check_force(p, s.x, s.v, s.f);
        for (size_t a = 0; a < size; a++) worst = fmax(worst, fabs((double)(s.f[a] - sum[a])));
        check_relative(cb_springs_potential(p.work, s.x), (double)potential,
                       1e-14); /* length minus rest length loses two digits */
        double *d = s.d + s.net.m;
        cb_springs_separation(p.work, s.x, d);
        for (size_t e = 0; e < s.net.m; e++)
          check_relative(d[e], s.d[e], 1e-13); /* round-off: lengths of about 0.01 are differences of numbers near 1 */
        check_plan_free(p);
      }
      cb_isa_set("auto");
      free(sum);
      sample_free(s);
    }
  print_message("largest error of a force %.2g\n", worst);
  /* The tolerance is for round-off: a force is a sum over six springs, and a spring changes its length by about 100
   * lengths per unit of time. */
  check_at_most(worst, 2e-14);
}

/* These networks are large enough for several threads. */
static void bytes_do_not_depend_on_threads(void **state) {
  uint64_t seed = check_seed();
  static const int spaces[] = {1, 5, 8};
  for (int which = 0; which < 3; which++) {
    int space = spaces[which];
    cb_space g = check_space(space);
    sample s = sample_create(&g, &seed, 330, space != 1, space % 2);
    size_t bytes = (size_t)(s.net.n * g.embedding) * sizeof(double), length = s.net.m * sizeof(double);
    check_plan one = check_plan_create(&g, s.net.n, s.net.m, s.spring, 1);
    check_force(one, s.x, s.v, s.f);
    double potential = cb_springs_potential(one.work, s.x);
    cb_springs_separation(one.work, s.x, s.d);
    for (int threads = 2; threads < 5; threads++) {
      check_plan many = check_plan_create(&g, s.net.n, s.net.m, s.spring, threads);
      memset(s.other, 0xff, bytes);
      check_force(many, s.x, s.v, s.other);
      assert_memory_equal(s.f, s.other, bytes);
      assert_true(potential == cb_springs_potential(many.work, s.x));
      cb_springs_separation(many.work, s.x, s.d + s.net.m);
      assert_memory_equal(s.d, s.d + s.net.m, length);
      check_plan_free(many);
    }
    check_plan_free(one);
    sample_free(s);
  }
}

static void stages_at_once_are_stages_one_by_one(void **state) {
  uint64_t seed = check_seed();
  enum { STAGES = 5, SIDES = 3 };
  static const int side[SIDES] = {2, 4, 70};
  for (int space = 0; space < CHECK_SPACES; space++)
    for (int n = 0; n < SIDES; n++) {
      cb_space g = check_space(space);
      sample s[STAGES];
      const double *x[STAGES], *v[STAGES];
      double *f[STAGES];
      for (int q = 0; q < STAGES; q++) {
        s[q] = sample_create(&g, &seed, side[n], 1, space % 2);
        x[q] = s[q].x;
        v[q] = s[q].v;
        f[q] = s[q].f;
      }
      check_plan p = check_plan_create(&g, s->net.n, s->net.m, s->spring, 2);
      cb_springs_force(p.work, STAGES, x, v, f);
      for (int q = 0; q < STAGES; q++) {
        check_force(p, x[q], v[q], s[q].other);
        assert_memory_equal(f[q], s[q].other, (size_t)(s->net.n * g.embedding) * sizeof(double));
      }
      check_plan_free(p);
      for (int q = 0; q < STAGES; q++) sample_free(s[q]);
    }
}

/* If the addresses of positions and forces nearly agree in their low 20 bits, the forces are first summed in a copy. */
static void bytes_do_not_depend_on_addresses(void **state) {
  uint64_t seed = check_seed();
  cb_space g = check_space(5);
  sample s = sample_create(&g, &seed, 90, 1, 0);
  size_t size = (size_t)(s.net.n * K), period = (1 << 20) / sizeof(double);
  double *room = malloc((size + 2 * period) * sizeof *room);
  check_plan p = check_plan_create(&g, s.net.n, s.net.m, s.spring, 1);
  check_force(p, s.x, NULL, s.f);
  double *x = room, *near = room + period;
  assert_true(size < period);
  memcpy(x, s.x, size * sizeof *x);
  for (int shift = 0; shift < 100; shift += 4) {
    check_force(p, x, NULL, near + shift);
    assert_memory_equal(near + shift, s.f, size * sizeof *x);
  }
  check_plan_free(p);
  free(room);
  sample_free(s);
}

static void instruction_sets_agree_to_round_off(void **state) {
  uint64_t seed = check_seed();
  for (int space = 0; space < CHECK_SPACES; space++) {
    cb_space g = check_space(space);
    sample s = sample_create(&g, &seed, 40, 1, 0);
    check_ok(cb_isa_set(CB_ISA_BASE));
    check_plan p = check_plan_create(&g, s.net.n, s.net.m, s.spring, 1);
    check_force(p, s.x, NULL, s.f);
    check_plan_free(p);
    for (int isa = 1; isa < 3; isa++) {
      if (cb_isa_set(check_isa[isa])) continue;
      p = check_plan_create(&g, s.net.n, s.net.m, s.spring, 1);
      check_force(p, s.x, NULL, s.other);
      /* A force is a sum of up to six terms. The error of each term is the round-off of coordinates near 1, times the
       * stiffness. */
      for (int a = 0; a < s.net.n * g.embedding; a++) check_near(s.other[a], s.f[a], 64 * DBL_EPSILON * 0.1);
      check_plan_free(p);
    }
    cb_isa_set("auto");
    sample_free(s);
  }
}

static void reordering_is_a_permutation_that_makes_numbers_local(void **state) {
  uint64_t seed = check_seed();
  network g = mesh(&seed, 200);
  int *order = malloc((size_t)g.n * sizeof *order), *rank = malloc((size_t)g.n * sizeof *rank);
  check_ok(cb_reorder(g.n, g.m, g.i, g.j, order));
  for (int a = 0; a < g.n; a++) rank[a] = -1;
  for (int a = 0; a < g.n; a++) {
    assert_in_range(order[a], 0, g.n - 1);
    assert_int_equal(rank[order[a]], -1);
    rank[order[a]] = a;
  }
  double before = 0, after = 0;
  int leaving = 0;
  for (size_t e = 0; e < g.m; e++) {
    before += abs(g.i[e] - g.j[e]);
    after += abs(rank[g.i[e]] - rank[g.j[e]]);
    leaving += rank[g.i[e]] / CB_REORDER_REGION != rank[g.j[e]] / CB_REORDER_REGION;
  }
  print_message("mean distance of neighbours %.0f -> %.0f of %d; %.1f %% of the springs leave their region\n",
                before / g.m, after / g.m, g.n, 100.0 * leaving / g.m);
  check_at_most(after / g.m, 0.02 * before / g.m);
  /* If regions were squares of 64 x 64 particles, 3 x 2 x 64 / 2 of the 3 x 64^2 springs of a region would lead to
   * another region. This is 1.6 %. */
  check_at_most(leaving, 0.05 * (double)g.m);
  free(order);
  free(rank);
  network_free(g);
}

/* In a cube of SIDE^3 particles, a plain breadth-first search would visit layers of up to 3 SIDE^2/4 particles. Regions
 * made from such layers would be wide and thin. */
static void regions_of_a_lattice_are_compact(void **state) {
  enum { SIDE = 48, N = SIDE * SIDE * SIDE };
  uint64_t seed = check_seed();
  int *number = malloc(N * sizeof *number), *order = malloc(N * sizeof *order), *rank = malloc(N * sizeof *rank);
  network g = {.n = N, .i = malloc(3 * N * sizeof(int)), .j = malloc(3 * N * sizeof(int))};
  for (int a = 0; a < N; a++) number[a] = a;
  for (int a = N - 1; a > 0; a--) swap(&number[a], &number[(int)check_uniform(&seed, 0, a + 1)]);
  for (int a = 0; a < N; a++) {
    if (a % SIDE + 1 < SIDE) join(&g, number[a], number[a + 1]);
    if (a / SIDE % SIDE + 1 < SIDE) join(&g, number[a], number[a + SIDE]);
    if (a / SIDE / SIDE + 1 < SIDE) join(&g, number[a], number[a + SIDE * SIDE]);
  }
  check_ok(cb_reorder(g.n, g.m, g.i, g.j, order));
  for (int a = 0; a < N; a++) rank[order[a]] = a;
  int leaving = 0;
  for (size_t e = 0; e < g.m; e++) leaving += rank[g.i[e]] / CB_REORDER_REGION != rank[g.j[e]] / CB_REORDER_REGION;
  print_message("%.1f %% of the springs leave their region\n", 100.0 * leaving / (double)g.m);
  check_at_most(leaving, 0.13 * (double)g.m); /* this fraction would be 1/16 if regions were cubes of 16^3 particles */
  free(number);
  free(order);
  free(rank);
  network_free(g);
}

static void reordering_keeps_components_together(void **state) {
  const int i[] = {0, 2, 7, 1, 5, 5, 7}, j[] = {4, 4, 3, 5, 5, 1, 3};
  int order[9];
  check_ok(cb_reorder(9, 7, i, j, order));
  static const int component[] = {0, 1, 0, 2, 0, 1, 3, 2, 4};
  int last = 0, sizes[5] = {0};
  for (int a = 0; a < 9; a++) {
    assert_in_range(component[order[a]], last, 4);
    last = component[order[a]];
    sizes[last]++;
  }
  static const int expected[] = {3, 2, 2, 1, 1};
  assert_memory_equal(sizes, expected, sizeof sizes);
  assert_int_equal(cb_reorder(3, 1, (int[]){0}, (int[]){3}, order), CB_ERROR_ARGUMENT);
  check_ok(cb_reorder(0, 0, i, j, order));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(blocks_sum_what_each_spring_gives),
      cmocka_unit_test(bytes_do_not_depend_on_threads),
      cmocka_unit_test(stages_at_once_are_stages_one_by_one),
      cmocka_unit_test(bytes_do_not_depend_on_addresses),
      cmocka_unit_test(instruction_sets_agree_to_round_off),
      cmocka_unit_test(reordering_is_a_permutation_that_makes_numbers_local),
      cmocka_unit_test(regions_of_a_lattice_are_compact),
      cmocka_unit_test(reordering_keeps_components_together),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
