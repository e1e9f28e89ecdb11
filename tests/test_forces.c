/* Forces of every kind in every space: against differences of the potential, by symmetry, through moving origins.
 * labels: medium */
#include "check_geometry.h"
#include "check_system.h"
#include "geometry/origin.h"
#include <curvebody/system.h>

enum { N = 5, K = CB_COORD_MAX };

static const char *const spaces[] = {
    "{name: e2}",
    "{name: e3}",
    "{name: s2}",
    "{name: s3}",
    "{name: h2}",
    "{name: h3}",
    "{name: s3, curvature: 0.3}",
    "{name: h3, curvature: -2.5}",
    "{name: e3, chart: polar}",
    "{name: s2, chart: polar}",
    "{name: s3, chart: polar}",
    "{name: h3, chart: polar}",
    "{name: h2, curvature: -1.7, chart: polar}",
    "{name: h3, chart: stereographic}",
    "{name: s3, curvature: 0.5, chart: stereographic}",
    "{name: h3, chart: translation}",
    "H2 x E",
    "S2 x E",
};
enum { SPACES = sizeof spaces / sizeof *spaces };

/* One kind of force at a time. */
/* clang-format off */
typedef enum kind {
  SPRINGS, DAMPED, GRAVITY, COULOMB, LENNARD_JONES, HARMONIC_PAIRS, PAIR_EXPRESSION, CENTRAL_GRAVITY, CENTRAL_HARMONIC,
  CENTRAL_EXPRESSION, FIELD_EMBEDDING, FIELD_POLAR, FIELD_STEREOGRAPHIC, TWO_BODIES, EVERYTHING, KINDS
} kind;

static const char *const kind_names[KINDS] = {
    "springs", "damped springs", "gravity", "coulomb", "lennard-jones", "harmonic pairs", "pair expression",
    "central gravity", "central harmonic", "central expression", "field in the embedding", "field in polar coordinates",
    "field in stereographic coordinates", "gravity between two bodies", "everything"};
/* clang-format on */

/* Random points in a ball of radius .5 about a point off the axes, in the embedding; no two closer than .2, where
 * differences of a potential that grows like d^-12 would say little. */
static void random_points(const cb_geometry *g, uint64_t *seed, double (*x)[K]) {
  double base[K], v[K] = {0}, frame[CB_DIM_MAX * K], middle[K];
  cb_geometry_base_point(g, base);
  cb_geometry_frame(g, base, frame);
  for (int a = 0; a < g->dim; a++)
    for (int b = 0; b < g->embedding; b++) v[b] += (0.55 + 0.1 * a) * frame[a * g->embedding + b];
  cb_exp(g, base, v, middle, NULL);
  for (int i = 0; i < N + 1;) {
    check_random_short_tangent(g, seed, middle, 0.5, v);
    cb_exp(g, middle, v, x[i], NULL);
    int j = 0;
    while (j < i && cb_distance(g, x[i], x[j]) > 0.2) j++;
    if (j == i) i++;
  }
}

static void to_space(const cb_geometry *g, const double *x, const double *v, double *q, double *u) {
  if (g->chart) {
    check_ok(cb_chart_pull(g, g->chart, x, v, q, u));
  } else {
    memcpy(q, x, (size_t)g->k * sizeof *q);
    memcpy(u, v, (size_t)g->k * sizeof *u);
  }
}

static void add_forces(cb_builder *b, const cb_geometry *g, kind which, const double *centre) {
  static const int ends[6][2] = {{0, 1}, {1, 2}, {2, 0}, {3, 4}, {1, 3}, {4, 0}};
  double damping = which == DAMPED || which == EVERYTHING ? 0.3 : 0;
  bool all = which == EVERYTHING;
  if (which == SPRINGS || which == DAMPED || all)
    for (int e = 0; e < 6; e++)
      check_ok(cb_builder_spring(b, ends[e][0], ends[e][1], 1 + 0.3 * e, e % 2 ? 0.2 * e : -1, e % 3 ? damping : 0));
  if (which == GRAVITY || all) check_ok(cb_builder_interaction(b, -1, -1, CB_LAW_GRAVITY, 0.7, 0, NULL));
  if (which == COULOMB || all) check_ok(cb_builder_interaction(b, 0, 0, CB_LAW_COULOMB, 0.4, 0, NULL));
  if (which == LENNARD_JONES) check_ok(cb_builder_interaction(b, -1, -1, CB_LAW_LENNARD_JONES, 0.01, 0.15, NULL));
  if (which == HARMONIC_PAIRS || all) check_ok(cb_builder_interaction(b, 0, 1, CB_LAW_HARMONIC, 0.4, 0.3, NULL));
  if (which == PAIR_EXPRESSION || all)
    check_ok(cb_builder_interaction(b, 0, 1, CB_LAW_EXPRESSION, 0, 0, "exp(-d)/d*m1*m2^2 + q1*q2*d^3*cos(t)"));
  if (which == TWO_BODIES) check_ok(cb_builder_interaction(b, 1, 0, CB_LAW_GRAVITY, 0.7, 0, NULL));
  if (which == CENTRAL_GRAVITY || all) check_ok(cb_builder_central(b, -1, CB_LAW_GRAVITY, 3, 0, NULL, centre));
  if (which == CENTRAL_HARMONIC || all) check_ok(cb_builder_central(b, 0, CB_LAW_HARMONIC, 2, 0.2, NULL, centre));
  if (which == CENTRAL_EXPRESSION)
    check_ok(cb_builder_central(b, 1, CB_LAW_EXPRESSION, 0, 0, "d^2*m + sin(d*t)*q", centre));
  if (which == FIELD_EMBEDDING || all)
    check_ok(cb_builder_potential(b, -1, NULL,
                                  g->dim == 2 ? "m*9.8*y + exp(x)*x*y*q" : "m*9.8*z + exp(x)*sin(y*z*t) + x^3*q"));
  if (which == FIELD_POLAR || all) {
    const cb_chart *chart = cb_chart_find(g, "polar");
    char text[200];
    snprintf(text, sizeof text, "m*%s^2 + cos(%s)*%s*t*q", chart->coordinates[0], chart->coordinates[1],
             chart->coordinates[0]);
    check_ok(cb_builder_potential(b, -1, "polar", text));
  }
  if (which == FIELD_STEREOGRAPHIC && cb_chart_find(g, "stereographic")) {
    const cb_chart *chart = cb_chart_find(g, "stereographic");
    char text[200];
    snprintf(text, sizeof text, "m*exp(%s)*%s + %s^2", chart->coordinates[0], chart->coordinates[1],
             chart->coordinates[1]);
    check_ok(cb_builder_potential(b, -1, "stereographic", text));
  }
}

typedef struct setup {
  cb_geometry *g;
  cb_system *s;
  cb_forces *f;
  cb_state *state;
  double v[N * K]; /* velocities in the state's order */
} setup;

/* Five particles of unequal masses and charges in two bodies. origin (NULL: none) is that of the particles. */
static setup make_at(cb_geometry *g, uint64_t *seed, kind which, const cb_origin *origin,
                     const double *centre_in_world) {
  setup t = {.g = g};
  double x[N + 1][K], centre[K], none[K] = {0}, q[N][K], u[N][K], unused[K];
  cb_builder *b;
  random_points(g, seed, x);
  to_space(g, x[N], none, centre, unused);
  check_ok(cb_builder_create(g, &b));
  if (origin) check_ok(cb_builder_origin(b, origin));
  for (int i = 0; i < N; i++) {
    double v[K];
    if (i == 0) check_ok(cb_builder_body(b, "a", NULL));
    if (i == 3) check_ok(cb_builder_body(b, "b", NULL));
    check_random_tangent(g, seed, x[i], 1, v);
    to_space(g, x[i], v, q[i], u[i]);
    check_ok(cb_builder_particle(b, NULL, 0.5 + 0.4 * i, 0.7 - 0.4 * i, 0, q[i], u[i], NULL));
  }
  add_forces(b, g, which, centre_in_world ? centre_in_world : centre);
  check_ok(cb_builder_finish(b, &t.s));
  cb_builder_free(b);
  check_ok(cb_forces_create(t.s, &t.f));
  check_ok(cb_state_create(t.s, &t.state));
  check_ok(cb_system_start(t.s, t.state));
  for (int i = 0; i < N; i++) memcpy(t.v + cb_system_index(t.s, i) * g->k, u[i], (size_t)g->k * sizeof(double));
  return t;
}

/* Products, which need not be in the registry. */
static cb_status init_h2_e(cb_geometry *g, const void *params) {
  (void)params;
  return cb_geometry_init_product(g, 2, (int[]){2, 1}, (double[]){-1, 0});
}

static cb_status init_s2_e(cb_geometry *g, const void *params) {
  (void)params;
  return cb_geometry_init_product(g, 2, (int[]){2, 1}, (double[]){0.8, 0});
}

static cb_geometry *space_of(const char *text) {
  static const cb_param none = {.name = NULL};
  static const cb_geometry_class products[2] = {
      {.name = "h2xe", .title = "H2 x E", .doc = "", .params = &none, .init = init_h2_e},
      {.name = "s2xe", .title = "S2 x E", .doc = "", .params = &none, .init = init_s2_e}};
  if (text[0] == '{') return check_space(text);
  cb_geometry *g;
  check_ok(cb_geometry_create_class(&products[text[0] == 'S'], NULL, &g));
  return g;
}

static setup make(const char *space, uint64_t *seed, kind which) {
  return make_at(space_of(space), seed, which, NULL, NULL);
}

static void drop(setup *t, bool space) {
  cb_state_free(t->state);
  cb_forces_free(t->f);
  cb_system_free(t->s);
  if (space) cb_geometry_free(t->g);
}

static double largest(int n, const double *x) {
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, fabs(x[i]));
  return most;
}

static const double time_now = 0.37;

static double potential_at(setup *t, const double *x) {
  double v;
  check_ok(cb_forces_potential(t->f, time_now, x, &v));
  return v;
}

static double raise_of(const cb_geometry *g, int a) { return g->chart ? 1 : 1 / g->form[a]; }

static void force_is_minus_the_raised_gradient(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  for (int n = 0; n < SPACES; n++)
    for (int which = 0; which < KINDS; which++) {
      setup t = make(spaces[n], &seed, (kind)which);
      int count = N * t.g->k;
      double force[N * K], rest[N * K] = {0}, expected[N * K], *x = t.state->x;
      /* At rest damping adds nothing. */
      check_ok(cb_forces_eval(t.f, time_now, x, rest, force));
      for (int a = 0; a < count; a++) {
        double old = x[a], h = 2e-4, value[4];
        for (int side = 0; side < 4; side++) {
          x[a] = old + h * (side < 2 ? side - 2 : side - 1);
          value[side] = potential_at(&t, x);
        }
        x[a] = old;
        expected[a] = -raise_of(t.g, a % t.g->k) * (value[0] - 8 * value[1] + 8 * value[2] - value[3]) / (12 * h);
      }
      /* Fourth-order differences: h^4 times fifth derivatives, which are large for close pairs. */
      double size = fmax(1, largest(count, force)), error = check_distance_max(count, force, expected) / size;
      if (!(error <= 2e-8)) print_error("%s, %s\n", spaces[n], kind_names[which]);
      check_at_most(error, 2e-8);
      drop(&t, true);
    }
}

/* The dense matrix of a block pattern. */
static void to_dense(const cb_pattern *p, const double *block, double *dense) {
  int k = p->block, n = p->n * k;
  for (int e = 0; e < n * n; e++) dense[e] = 0;
  for (int i = 0; i < p->n; i++)
    for (int c = p->start[i]; c < p->start[i + 1]; c++)
      for (int a = 0; a < k; a++)
        for (int b = 0; b < k; b++) dense[(i * k + a) * n + p->column[c] * k + b] = block[(c * k + a) * k + b];
}

/* Column by column: fourth-order differences of the force in x or v. */
static void differences_of_force(setup *t, double *argument, double *expected) {
  int n = N * t->g->k;
  for (int b = 0; b < n; b++) {
    double old = argument[b], h = 1e-4, force[4][N * K];
    for (int side = 0; side < 4; side++) {
      argument[b] = old + h * (side < 2 ? side - 2 : side - 1);
      check_ok(cb_forces_eval(t->f, time_now, t->state->x, t->v, force[side]));
    }
    argument[b] = old;
    for (int a = 0; a < n; a++)
      expected[a * n + b] = (force[0][a] - 8 * force[1][a] + 8 * force[2][a] - force[3][a]) / (12 * h);
  }
}

static void jacobian_is_that_of_the_force(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  enum { M = N * K };
  static double dx[M * M], dv[M * M], dense[M * M], expected[M * M];
  for (int n = 0; n < SPACES; n++)
    for (int which = 0; which < KINDS; which++) {
      setup t = make(spaces[n], &seed, (kind)which);
      const cb_pattern *pattern = cb_forces_pattern(t.f);
      int size = N * t.g->k;
      check_ok(cb_forces_jacobian(t.f, time_now, t.state->x, t.v, dx, dv));
      to_dense(pattern, dx, dense);
      differences_of_force(&t, t.state->x, expected);
      double scale = fmax(1, largest(size * size, expected)),
             error = check_distance_max(size * size, dense, expected) / scale;
      if (!(error <= 1e-7)) print_error("dF/dx: %s, %s\n", spaces[n], kind_names[which]);
      check_at_most(error, 1e-7);
      to_dense(pattern, dv, dense);
      if (cb_forces_uses_velocity(t.f))
        differences_of_force(&t, t.v, expected);
      else
        memset(expected, 0, sizeof expected);
      error = check_distance_max(size * size, dense, expected) / scale;
      if (!(error <= 1e-9)) print_error("dF/dv: %s, %s\n", spaces[n], kind_names[which]);
      check_at_most(error, 1e-9);
      drop(&t, true);
    }
}

/* In the embedding sum <X_i(x_a), F_a> is the rate of Killing momentum; forces between particles have none. */
static void forces_between_particles_keep_every_killing_momentum(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  static const kind between[] = {SPRINGS,       DAMPED,         GRAVITY,         COULOMB,
                                 LENNARD_JONES, HARMONIC_PAIRS, PAIR_EXPRESSION, TWO_BODIES};
  for (int n = 0; n < SPACES; n++)
    for (size_t w = 0; w < sizeof between / sizeof *between; w++) {
      setup t = make(spaces[n], &seed, between[w]);
      double force[N * K], rate[CB_KILLING_MAX] = {0};
      check_ok(cb_forces_eval(t.f, time_now, t.state->x, t.v, force));
      for (int i = 0; i < N && !t.g->chart; i++)
        cb_killing_momentum_add(t.g, t.state->x + i * t.g->k, force + i * t.g->k, rate);
      for (int i = 0; i < N && t.g->chart; i++) { /* the covector along X in coordinates */
        const double *q = t.state->x + i * t.g->k;
        for (int m = 0; m < t.g->n_killing; m++) {
          double x[K], X[K], unused[K], u[K];
          check_ok(t.g->chart->to_point(t.g, q, x, NULL));
          cb_killing_at(t.g, m, x, X);
          check_ok(cb_chart_pull(t.g, t.g->chart, x, X, unused, u));
          for (int a = 0; a < t.g->k; a++) rate[m] += u[a] * force[i * t.g->k + a];
        }
      }
      /* Round-off of ten pairs whose terms reach the largest force times the largest field. */
      double error = largest(t.g->n_killing, rate) / fmax(1, largest(N * t.g->k, force));
      if (!(error <= 2e-14)) print_error("%s, %s\n", spaces[n], kind_names[between[w]]);
      check_at_most(error, t.g->chart ? 1e-12 : 2e-14);
      drop(&t, true);
    }
}

static void damping_takes_energy_and_nothing_at_rest(void **state) {
  (void)state;
  uint64_t seed = check_seed();
  for (int n = 0; n < SPACES; n++) {
    setup t = make(spaces[n], &seed, DAMPED);
    double force[N * K], still[N * K], zero[N * K] = {0}, power = 0;
    assert_true(cb_forces_uses_velocity(t.f));
    check_ok(cb_forces_eval(t.f, 0, t.state->x, t.v, force));
    check_ok(cb_forces_eval(t.f, 0, t.state->x, zero, still));
    for (int a = 0; a < N * t.g->k; a++)
      power += (force[a] - still[a]) * t.v[a] * (t.g->chart ? 1 : t.g->form[a % t.g->k]);
    check_at_most(power, -1e-3);
    drop(&t, true);
  }
}

static void chart_forces_are_the_embedding_forces_pulled_back(void **state) {
  (void)state;
  uint64_t start = check_seed();
  for (int n = 8; spaces[n][0] == '{'; n++)
    for (int which = 0; which < KINDS; which++) {
      if (which == FIELD_STEREOGRAPHIC) continue;
      uint64_t seed = start, again = start;
      char plain[80];
      snprintf(plain, sizeof plain, "%s", spaces[n]);
      strcpy(strstr(plain, ", chart"), "}");
      setup c = make(spaces[n], &seed, (kind)which), e = make(plain, &again, (kind)which);
      double in_chart[N * K], in_embedding[N * K], v_c, v_e;
      check_ok(cb_forces_eval(c.f, time_now, c.state->x, c.v, in_chart));
      check_ok(cb_forces_eval(e.f, time_now, e.state->x, e.v, in_embedding));
      check_ok(cb_forces_potential(c.f, time_now, c.state->x, &v_c));
      check_ok(cb_forces_potential(e.f, time_now, e.state->x, &v_e));
      check_near(v_c, v_e, 1e-12 * fmax(1, fabs(v_e)));
      double size = fmax(1, largest(N * c.g->k, in_chart));
      for (int i = 0; i < N; i++) {
        double x[K], J[K * K];
        check_ok(c.g->chart->to_point(c.g, c.state->x + i * c.g->k, x, J));
        for (int a = 0; a < c.g->dim; a++) {
          double pulled = 0;
          for (int b = 0; b < e.g->k; b++) pulled += J[b * c.g->dim + a] * e.g->form[b] * in_embedding[i * e.g->k + b];
          if (!(fabs(pulled - in_chart[i * c.g->k + a]) <= 1e-11 * size))
            print_error("%s, %s\n", spaces[n], kind_names[which]);
          check_near(in_chart[i * c.g->k + a], pulled, 1e-11 * size);
        }
      }
      drop(&c, true);
      drop(&e, true);
    }
}

/* The tangential part of the forces on n particles: orthogonally, which is not how velocities are brought to H^n. */
static void tangential(const cb_geometry *g, int n, const double *x, double *force) {
  if (g->factor[0].curvature == 0) return;
  for (int i = 0; i < n; i++) {
    double normal = g->factor[0].curvature * cb_inner(g, x + i * g->k, force + i * g->k);
    for (int a = 0; a < g->k; a++) force[i * g->k + a] -= normal * x[i * g->k + a];
  }
}

/* One system at rest in the world, the same seen from an origin: centre and fields stay in the world. */
static void forces_through_a_moving_origin_are_those_of_the_moved_scenario(void **state) {
  (void)state;
  static const char *const moving[] = {"{name: e2}", "{name: e3}", "{name: h2}", "{name: h3}",
                                       "{name: h3, curvature: -0.4}"};
  static const kind fixed[] = {CENTRAL_GRAVITY, CENTRAL_HARMONIC, CENTRAL_EXPRESSION,
                               FIELD_EMBEDDING, FIELD_POLAR,      EVERYTHING};
  uint64_t seed = check_seed();
  for (size_t n = 0; n < sizeof moving / sizeof *moving; n++)
    for (size_t w = 0; w < sizeof fixed / sizeof *fixed; w++) {
      cb_geometry *g = check_space(moving[n]);
      cb_origin origin;
      cb_isometry world, local;
      double target[K], centre[K];
      uint64_t one = seed, two = seed;
      check_random_point(g, &seed, 1.5, target);
      check_random_point(g, &seed, 1, centre);
      cb_origin_at(g, target, &origin);
      cb_origin_isometry(g, &origin, &world);
      cb_isometry_inverse(g, &world, &local);
      setup a = make_at(g, &one, fixed[w], &origin, centre), b = make_at(g, &two, fixed[w], NULL, centre);
      double seen[N * K], plain[N * K], x[N * K], v[N * K], v_a, v_b;
      /* The start may have been brought to another origin: take positions as they are and move them to the world. */
      for (int i = 0; i < N; i++) {
        const cb_origin *o = &a.state->origin[cb_system_component(a.s, i)];
        cb_origin_isometry(g, o, &world);
        cb_isometry_point(g, &world, a.state->x + i * g->k, x + i * g->k);
        cb_isometry_vector(g, &world, a.v + i * g->k, v + i * g->k);
      }
      check_ok(cb_forces_set_origins(a.f, a.state->origin));
      cb_origin *identity = calloc(N, sizeof *identity);
      for (int c = 0; c < N; c++) cb_origin_identity(g, &identity[c]);
      check_ok(cb_forces_set_origins(b.f, identity));
      free(identity);
      check_ok(cb_forces_eval(a.f, time_now, a.state->x, a.v, seen));
      check_ok(cb_forces_eval(b.f, time_now, x, v, plain));
      check_ok(cb_forces_potential(a.f, time_now, a.state->x, &v_a));
      check_ok(cb_forces_potential(b.f, time_now, x, &v_b));
      check_near(v_a, v_b, 1e-10 * fmax(1, fabs(v_b)));
      tangential(g, N, a.state->x, seen);
      tangential(g, N, x, plain);
      double size = fmax(1, largest(N * g->k, plain));
      for (int i = 0; i < N; i++) {
        double back[K];
        cb_origin_isometry(g, &a.state->origin[cb_system_component(a.s, i)], &world);
        cb_isometry_vector(g, &world, seen + i * g->k, back);
        double error = check_distance_max(g->k, back, plain + i * g->k) / size;
        if (!(error <= 1e-10)) print_error("%s, %s\n", moving[n], kind_names[fixed[w]]);
        check_at_most(error, 1e-10);
      }
      drop(&a, false);
      drop(&b, false);
      cb_geometry_free(g);
    }
}

/* A particle 300 units out, at rest at its own origin, and a centre near the world's base point. */
static void a_centre_300_units_away_pulls_along_the_geodesic(void **state) {
  (void)state;
  cb_geometry *g = check_space("{name: h3}");
  cb_origin origin;
  cb_builder *b;
  cb_system *s;
  cb_forces *f;
  cb_state *start;
  double x[K], v[K] = {0}, force[K], potential, dx[K * K];
  check_ok(cb_origin_flow(g, cb_killing_find(g, "boost_x"), 300, &origin));
  cb_geometry_base_point(g, x);
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  check_ok(cb_builder_origin(b, &origin));
  check_ok(cb_builder_particle(b, NULL, 1, 0, 0, x, v, NULL));
  check_ok(cb_builder_central(b, -1, CB_LAW_HARMONIC, 2, 0, NULL, x));
  check_ok(cb_builder_central(b, -1, CB_LAW_GRAVITY, 5, 0, NULL, x));
  check_ok(cb_builder_finish(b, &s));
  check_ok(cb_forces_create(s, &f));
  check_ok(cb_state_create(s, &start));
  check_ok(cb_system_start(s, start));
  check_near(start->origin[0].length, 300, 1e-12);
  check_ok(cb_forces_potential(f, 0, start->x, &potential));
  check_relative(potential, 300. * 300. - 5, 1e-14);
  check_ok(cb_forces_eval(f, 0, start->x, NULL, force));
  tangential(g, 1, start->x, force);
  check_relative(sqrt(cb_inner(g, force, force)), 600., 1e-13);
  check_near(force[0], -600, 1e-10);
  assert_non_null(cb_forces_pattern(f));
  check_ok(cb_forces_jacobian(f, 0, start->x, NULL, dx, NULL));
  for (int a = 0; a < K * K; a++) assert_true(isfinite(dx[a]));
  cb_state_free(start);
  cb_forces_free(f);
  cb_system_free(s);
  cb_builder_free(b);
  cb_geometry_free(g);
}

static void stages_and_threads_give_the_same_bytes(void **state) {
  (void)state;
  enum { MANY = 400 };
  uint64_t seed = check_seed();
  cb_geometry *g = check_space("{name: s3}");
  cb_builder *b;
  cb_system *s;
  cb_forces *one, *two;
  static double x[MANY * K], y[MANY * K], f1[MANY * K], f2[MANY * K], f3[MANY * K];
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "a", NULL));
  for (int i = 0; i < MANY; i++) {
    double v[K];
    check_random_point(g, &seed, 1, x + i * K);
    check_random_tangent(g, &seed, x + i * K, 1, v);
    check_ok(cb_builder_particle(b, NULL, check_uniform(&seed, 1, 2), 1, 0, x + i * K, v, NULL));
    if (i > 0) check_ok(cb_builder_spring(b, i, (int)check_uniform(&seed, 0, i), 1, -1, 0));
  }
  check_ok(cb_builder_interaction(b, -1, -1, CB_LAW_GRAVITY, 1e-3, 0, NULL));
  check_ok(cb_builder_interaction(b, -1, -1, CB_LAW_LENNARD_JONES, 1e-6, 0.01, NULL));
  check_ok(cb_builder_finish(b, &s));
  check_ok(cb_forces_create(s, &one));
  check_ok(cb_forces_create(s, &two));
  check_ok(cb_forces_set_threads(two, 2));
  for (int i = 0; i < MANY * K; i++) y[i] = x[i] + check_uniform(&seed, -1e-3, 1e-3);
  check_ok(cb_forces_eval(one, 0, x, NULL, f1));
  check_ok(cb_forces_eval(two, 0, x, NULL, f2));
  assert_memory_equal(f1, f2, sizeof f1);
  check_ok(cb_forces_eval_stages(two, 2, (double[]){0, 0}, (const double *[]){y, x}, NULL, (double *[]){f3, f2}));
  assert_memory_equal(f1, f2, sizeof f1);
  check_ok(cb_forces_eval(one, 0, y, NULL, f1));
  assert_memory_equal(f1, f3, sizeof f1);
  cb_forces_free(one);
  cb_forces_free(two);
  cb_system_free(s);
  cb_builder_free(b);
  cb_geometry_free(g);
}

/* A chain in shuffled numbering: places differ from particles, what is told by particle does not. */
static void particles_keep_their_numbers_when_they_are_reordered(void **state) {
  (void)state;
  enum { MANY = 300 };
  uint64_t seed = check_seed();
  cb_geometry *g = check_space("{name: h3}");
  cb_builder *b;
  cb_system *s;
  cb_forces *f;
  cb_state *start;
  int number[MANY], ends[MANY][2];
  static double x[MANY][K], force[MANY * K], d[MANY], expected[MANY][K];
  check_ok(cb_builder_create(g, &b));
  check_ok(cb_builder_body(b, "chain", NULL));
  for (int i = 0; i < MANY; i++) number[i] = i;
  for (int i = MANY - 1; i > 0; i--) {
    int j = (int)check_uniform(&seed, 0, i + 1), old = number[i];
    number[i] = number[j];
    number[j] = old;
  }
  for (int i = 0; i < MANY; i++) {
    check_random_point(g, &seed, 1, x[i]);
    check_ok(cb_builder_particle(b, NULL, 1 + i, 2 * i, 0, x[i], NULL, NULL));
  }
  for (int e = 0; e + 2 < MANY; e++) { /* two interleaved chains */
    ends[e][0] = number[e];
    ends[e][1] = number[e + 2];
    check_ok(cb_builder_spring(b, ends[e][0], ends[e][1], 1 + e, 0.1, 0));
  }
  check_ok(cb_builder_finish(b, &s));
  check_ok(cb_forces_create(s, &f));
  check_ok(cb_state_create(s, &start));
  check_ok(cb_system_start(s, start));
  assert_int_equal(cb_system_components(s), 2);
  const int *first = cb_system_component_starts(s);
  assert_int_equal(first[0], 0);
  assert_int_equal(first[2], MANY);
  for (int i = 0; i < MANY; i++) {
    int place = cb_system_index(s, i);
    assert_int_equal(cb_system_particle(s, place), i);
    check_near(cb_system_masses(s)[place], 1 + i, 0);
    check_near(cb_system_charge(s, i), 2 * i, 0);
    check_near(check_distance_max(K, start->x + place * K, x[i]), 0, 1e-15);
    int c = cb_system_component(s, place);
    assert_true(first[c] <= place && place < first[c + 1]);
  }
  assert_string_equal(cb_system_particle_name(s, 17), "chain.17");
  check_ok(cb_forces_eval(f, 0, start->x, NULL, force));
  check_ok(cb_forces_separations(f, start->x, d));
  for (int e = 0; e + 2 < MANY; e++) { /* by cb_log: unit vector along the geodesic */
    int i, j;
    double to[K], length;
    cb_system_bond(s, e, &i, &j);
    assert_true((i == ends[e][0] && j == ends[e][1]) || (j == ends[e][0] && i == ends[e][1]));
    for (int way = 0; way < 2; way++) {
      check_ok(cb_log(g, x[ends[e][way]], x[ends[e][1 - way]], to));
      length = sqrt(cb_inner(g, to, to));
      for (int a = 0; a < K; a++) expected[ends[e][way]][a] += (1 + e) * (length - 0.1) * to[a] / length;
    }
    check_relative(d[e], length, 1e-12);
  }
  for (int i = 0; i < MANY; i++) {
    double *F = force + cb_system_index(s, i) * K;
    tangential(g, 1, x[i], F);
    check_near(check_distance_max(K, F, expected[i]), 0, 1e-11 * MANY);
  }
  cb_state_free(start);
  cb_forces_free(f);
  cb_system_free(s);
  cb_builder_free(b);
  cb_geometry_free(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(force_is_minus_the_raised_gradient),
      cmocka_unit_test(jacobian_is_that_of_the_force),
      cmocka_unit_test(forces_between_particles_keep_every_killing_momentum),
      cmocka_unit_test(damping_takes_energy_and_nothing_at_rest),
      cmocka_unit_test(chart_forces_are_the_embedding_forces_pulled_back),
      cmocka_unit_test(forces_through_a_moving_origin_are_those_of_the_moved_scenario),
      cmocka_unit_test(a_centre_300_units_away_pulls_along_the_geodesic),
      cmocka_unit_test(stages_and_threads_give_the_same_bytes),
      cmocka_unit_test(particles_keep_their_numbers_when_they_are_reordered),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
