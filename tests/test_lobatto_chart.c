/* Lobatto IIIA-IIIB in fixed charts, free and with rods: order, the symplectic form on the manifold of the constraints,
 * the way back, energy, rods at round-off, the same motion as in the embedding, and two solvers that agree.
 * timeout: 300
 * labels: medium */
#include "dynamics/gram.h"
#include "integrate.h"
#include "integrators/lobatto_chart_private.h"
#include "reference_gsl.h"

enum { N = 4, NUMBERS = N * CB_COORD_MAX, ROWS = 4 };

/* Every dimension, curvature and chart there is. */
static const char *const spaces[] = {"e3 {chart: polar}",
                                     "s3 {chart: polar}",
                                     "h3 {chart: polar}",
                                     "e2 {chart: polar}",
                                     "s2 {chart: polar}",
                                     "h2 {chart: polar}",
                                     "s3 {chart: polar, curvature: 2.3}",
                                     "h3 {chart: polar, curvature: -0.4}",
                                     "s3 {chart: stereographic}",
                                     "h3 {chart: poincare}",
                                     "s2 {chart: translation}",
                                     "h3 {chart: translation}"};
enum { SPACES = sizeof spaces / sizeof *spaces };

/* Four unequal masses: a triangle of rods, a fourth particle on a rod and two springs, all away from the base point.
 * Free bodies have springs in the place of rods. */
typedef struct frame {
  bool rods;
  double damping, stiffness;
  bool stretched; /* the fourth rod's length goes with time */
  double well;    /* stiffness of springs to a fixed point near the body */
} frame;

static cb_status add_rod(body_case *c, int i, int j, double length, bool stretched) {
  char law[96];
  snprintf(law, sizeof law, "%.17g*(1 + 0.2*sin(1.7*t))", length);
  return cb_builder_rod(c->builder, NULL, i, j, (cb_target){NAN, stretched ? law : NULL});
}

static void open_frame(body_case *c, const char *space, frame f, uint64_t *seed) {
  static const double corner[N][CB_DIM_MAX] = {
      {0.5, 0.1, 0.2}, {-0.4, 0.4, -0.1}, {-0.2, -0.5, 0.1}, {0.35, 0.6, -0.5}};
  static const int rod[ROWS][2] = {{0, 1}, {1, 2}, {2, 0}, {2, 3}}, spring[2][2] = {{0, 3}, {1, 3}};
  const double aside[CB_DIM_MAX] = {1.2, 0.3, 0.2};
  open_space(c, space);
  const cb_geometry *g = c->g;
  double base[CB_COORD_MAX], axes[CB_DIM_MAX * CB_COORD_MAX], x[N][CB_COORD_MAX], v[CB_COORD_MAX],
      shift[CB_COORD_MAX] = {0}, there[CB_COORD_MAX];
  cb_isometry move;
  cb_geometry_base_point(g, base);
  cb_geometry_frame(g, base, axes);
  for (int i = 0; i < g->dim; i++)
    for (int e = 0; e < g->embedding; e++) shift[e] += aside[i] * axes[i * g->embedding + e];
  cb_exp(g, base, shift, there, NULL);
  cb_isometry_to(g, there, &move);
  for (int a = 0; a < N; a++) {
    double tangent[CB_COORD_MAX] = {0}, near[CB_COORD_MAX];
    for (int i = 0; i < g->dim; i++) {
      const double offset = 0.7 * corner[a][i] + check_uniform(seed, -0.05, 0.05);
      for (int e = 0; e < g->embedding; e++) tangent[e] += offset * axes[i * g->embedding + e];
    }
    cb_exp(g, base, tangent, near, NULL);
    cb_isometry_point(g, &move, near, x[a]);
    check_random_tangent(g, seed, x[a], 0.3, v);
    add_particle(c, check_uniform(seed, 0.6, 2.5), x[a], v);
  }
  for (int b = 0; b < ROWS + 2; b++) {
    const int i = b < ROWS ? rod[b][0] : spring[b - ROWS][0], j = b < ROWS ? rod[b][1] : spring[b - ROWS][1];
    const double k = f.stiffness * check_uniform(seed, 0.6, 1.8), rest = check_uniform(seed, 0.9, 1.1);
    if (b < ROWS && f.rods)
      check_ok(add_rod(c, i, j, cb_distance(g, x[i], x[j]), f.stretched && b == ROWS - 1));
    else
      check_ok(cb_builder_spring(c->builder, i, j, k, rest * cb_distance(g, x[i], x[j]), f.damping));
  }
  if (f.well > 0) {
    double q[CB_COORD_MAX];
    check_ok(g->chart->from_point(g, there, q));
    check_ok(cb_builder_central(c->builder, -1, CB_LAW_HARMONIC, f.well, 0, NULL, q));
  }
  finish_system(c);
}

/* Velocities of the coordinates, or of the embedding. */
static void velocities(const body_case *c, const cb_state *s, double *v) {
  const double *mass = cb_system_masses(c->system);
  for (int a = 0; a < N; a++) {
    check_ok(cb_geometry_raise(c->g, s->x + a * s->k, s->p + a * s->k, v + a * s->k));
    for (int e = 0; e < s->k; e++) v[a * s->k + e] /= mass[a];
  }
}

static void set_velocities(const body_case *c, cb_state *s, const double *v) {
  const double *mass = cb_system_masses(c->system);
  const int k = s->k;
  for (int a = 0; a < N; a++) {
    double g[CB_DIM_MAX * CB_DIM_MAX];
    if (c->g->chart) check_ok(c->g->chart->metric(c->g, s->x + a * k, g, NULL, NULL));
    for (int i = 0; i < k; i++) {
      double sum = 0;
      for (int j = 0; j < k; j++) sum += (c->g->chart ? g[i * k + j] : i == j) * v[a * k + j];
      s->p[a * k + i] = mass[a] * sum;
    }
  }
}

/* Brings a state to the manifold of the constraints, positions and velocities. */
static void to_manifold(const body_case *c, cb_state *s) {
  cb_constraints *rows = cb_forces_constraints(c->forces);
  if (!rows) return;
  double v[NUMBERS], moved, turned;
  cb_gram *gram;
  velocities(c, s, v);
  check_ok(cb_gram_create(c->forces, rows, &gram));
  check_ok(cb_gram_project(gram, s->t, s->x, v, 0, &moved, &turned, NULL));
  cb_gram_free(gram);
  set_velocities(c, s, v);
}

/* Largest |g| and |rate| of all rows. */
static double off_manifold(const body_case *c) {
  cb_constraints *rows = cb_forces_constraints(c->forces);
  double g[ROWS] = {0}, rate[ROWS] = {0}, v[NUMBERS], worst = 0;
  velocities(c, c->state, v);
  check_ok(cb_constraints_eval(rows, c->state->t, c->state->x, g, NULL));
  check_ok(cb_constraints_rate(rows, c->state->t, c->state->x, v, rate, NULL));
  for (int r = 0; r < cb_system_constraints(c->system); r++) worst = fmax(worst, fmax(fabs(g[r]), fabs(rate[r])));
  return worst;
}

static void open_case(body_case *c, const char *space, frame f, const char *method, uint64_t *seed) {
  open_frame(c, space, f, seed);
  to_manifold(c, c->state);
  use_method(c, method);
  check_ok(cb_forces_set_origins(c->integrator->forces, c->state->origin));
}

static void steps(body_case *c, int n, double h) {
  for (int i = 0; i < n; i++) check_ok(cb_integrator_step(c->integrator, c->state, h));
}

static const char *method_of(int stages, const char *solver) {
  static char text[96];
  snprintf(text, sizeof text, "lobatto {stages: %d, solver: %s}", stages, solver);
  return text;
}

/* --- order, against another method in another representation --- */

/* The same body in the embedding, at the same state. */
static void open_embedded(const body_case *c, bool stretched, body_case *e) {
  double x[N][CB_COORD_MAX], p[N][CB_COORD_MAX];
  char space[96], name[16];
  const double K = c->g->factor[0].curvature;
  snprintf(name, sizeof name, "%s", c->g->class->name);
  if (K != 0)
    snprintf(space, sizeof space, "%s {curvature: %.17g}", name, K);
  else
    snprintf(space, sizeof space, "%s", name);
  open_space(e, space);
  for (int i = 0; i < N; i++) {
    const int a = cb_system_index(c->system, i);
    double u[CB_DIM_MAX];
    const double mass = cb_system_masses(c->system)[a], *q = c->state->x + a * c->state->k;
    check_ok(cb_geometry_raise(c->g, q, c->state->p + a * c->state->k, u));
    check_ok(cb_chart_push(c->g, c->g->chart, q, u, x[i], p[i]));
    double v[CB_COORD_MAX];
    for (int k = 0; k < e->g->k; k++) v[k] = p[i][k] / mass;
    add_particle(e, mass, x[i], v);
  }
  for (int b = 0; b < cb_system_springs(c->system); b++) {
    int i, j;
    double stiffness, rest, damping;
    cb_system_bond(c->system, b, &i, &j);
    cb_system_spring(c->system, b, &stiffness, &rest, &damping);
    check_ok(cb_builder_spring(e->builder, i, j, stiffness, rest, damping));
  }
  for (int r = 0; r < cb_system_constraints(c->system); r++) {
    int i, j;
    assert_true(cb_system_constraint_is_rod(c->system, r, &i, &j));
    check_ok(add_rod(e, i, j, cb_distance(e->g, x[i], x[j]), stretched && r == ROWS - 1));
  }
  finish_system(e);
}

/* x and v of the particles as they were added, in the embedding. */
static void picture(const body_case *c, double *x, double *v) {
  const int k = c->g->embedding;
  for (int i = 0; i < N; i++) {
    const int a = cb_system_index(c->system, i);
    const double *q = c->state->x + a * c->state->k, *p = c->state->p + a * c->state->k;
    double u[CB_COORD_MAX];
    check_ok(cb_geometry_raise(c->g, q, p, u));
    if (c->g->chart) {
      check_ok(cb_chart_push(c->g, c->g->chart, q, u, x + i * k, v + i * k));
    } else {
      memcpy(x + i * k, q, (size_t)k * sizeof *x);
      memcpy(v + i * k, u, (size_t)k * sizeof *v);
    }
    for (int e = 0; e < k; e++) v[i * k + e] /= cb_system_masses(c->system)[a];
  }
}

typedef struct constrained_problem {
  cb_gram *gram;
  int count;
} constrained_problem;

/* x'' by the multipliers with which all rows stay satisfied: differential equations without constraints. */
static int constrained_rhs(double t, const double *z, double *dz, void *user) {
  const constrained_problem *r = user;
  double lambda[ROWS];
  memcpy(dz, z + r->count, (size_t)r->count * sizeof *dz);
  return cb_gram_multipliers(r->gram, t, z, z + r->count, lambda, dz + r->count) ? GSL_EBADFUNC : GSL_SUCCESS;
}

/* The state of the embedded body after time t by GSL's Dormand-Prince 8(7). */
static void reference(body_case *e, double t) {
  if (!cb_system_constraints(e->system)) {
    reference_advance(e->system, e->forces, 0, t, e->state->x, e->state->p);
    return;
  }
  constrained_problem problem = {.count = N * e->g->k};
  double z[2 * NUMBERS], time = 0;
  const size_t bytes = (size_t)problem.count * sizeof(double);
  check_ok(cb_gram_create(e->forces, cb_forces_constraints(e->forces), &problem.gram));
  memcpy(z, e->state->x, bytes);
  velocities(e, e->state, z + problem.count);
  gsl_odeiv2_system ode = {constrained_rhs, NULL, (size_t)(2 * problem.count), &problem};
  gsl_odeiv2_driver *driver = gsl_odeiv2_driver_alloc_y_new(&ode, gsl_odeiv2_step_rk8pd, 1e-3, 1e-14, 1e-14);
  assert_int_equal(gsl_odeiv2_driver_apply(driver, &time, t, z), GSL_SUCCESS);
  gsl_odeiv2_driver_free(driver);
  cb_gram_free(problem.gram);
  memcpy(e->state->x, z, bytes);
  set_velocities(e, e->state, z + problem.count);
}

static void check_order(const char *space, frame f, uint64_t seed) {
  body_case c, e;
  double x[NUMBERS], v[NUMBERS], y[NUMBERS], w[NUMBERS];
  open_case(&c, space, f, "lobatto", &seed);
  open_embedded(&c, f.stretched, &e);
  const double end = 2;
  reference(&e, end);
  picture(&e, x, v);
  cb_state *start = clone_state(&c);
  for (int s = 2; s <= 5; s++) {
    /* closer to one another the higher the order: few stand between the first terms of the series and round-off */
    enum { LEVELS = 6 };
    static const int count[][LEVELS] = {{24, 48, 96, 192}, {24, 48, 96, 192}, {12, 18, 27, 40}, {4, 6, 9, 12, 16, 22}};
    double error[LEVELS] = {0}, fit = NAN; /* of the last two that stand clear of round-off */
    use_method(&c, method_of(s, "auto"));
    for (int level = 0; level < LEVELS && count[s - 2][level]; level++) {
      const int n = count[s - 2][level];
      cb_state_copy(c.state, start);
      cb_integrator_reset(c.integrator);
      steps(&c, n, end / n);
      picture(&c, y, w);
      error[level] = fmax(check_distance_max(N * c.g->embedding, x, y), check_distance_max(N * c.g->embedding, v, w));
      if (level > 1 && error[level] < (s == 5 ? 3e-14 : 2e-13)) break;
      if (level > 0) fit = log(error[level - 1] / error[level]) / log((double)n / count[s - 2][level - 1]);
    }
    const bool right = fabs(fit - (2 * s - 2)) <= (s == 5 ? 1 : 0.5);
    if (!right || getenv("CB_TEST_VERBOSE"))
      print_error("%s, rods %d, damping %g, %d stages: order %.2f by fit (errors %g %g %g %g)\n", space, f.rods,
                  f.damping, s, fit, error[0], error[1], error[2], error[3]);
    assert_true(right);
  }
  cb_state_free(start);
  close_case(&c);
  close_case(&e);
}

static void order_by_fit_is_two_stages_less_two(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++) {
    check_order(spaces[i], (frame){false, 0, 1, false, 0}, seed);
    check_order(spaces[i], (frame){true, 0, 1, false, 0}, seed);
  }
}

static void damped_motion_has_the_same_order(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++) {
    check_order(spaces[i], (frame){false, 0.4, 1, false, 0}, seed);
    check_order(spaces[i], (frame){true, 0.4, 1, false, 0}, seed);
  }
}

static void rods_whose_length_goes_with_time_have_the_same_order(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i += 2) check_order(spaces[i], (frame){true, 0, 1, true, 0}, seed);
}

/* In the chart and in the embedding the method is not the same, but both tend to the motion: their difference falls
 * with the order. */
static void the_difference_to_the_embedding_falls_with_the_order(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  static const char *const some[] = {"e3 {chart: polar}", "s3 {chart: polar}", "h3 {chart: polar}"};
  for (int i = 0; i < 3; i++)
    for (int s = 2; s <= 4; s++) {
      double x[NUMBERS], v[NUMBERS], y[NUMBERS], w[NUMBERS], difference[2];
      for (int level = 0; level < 2; level++) {
        body_case c, e;
        uint64_t own = seed;
        const int n = (s == 4 ? 8 : 20) << level;
        open_case(&c, some[i], (frame){true, 0, 1, false, 0}, method_of(s, "auto"), &own);
        open_embedded(&c, false, &e);
        use_method(&e, method_of(s, "auto"));
        steps(&c, n, 1.0 / n);
        steps(&e, n, 1.0 / n);
        picture(&c, x, v);
        picture(&e, y, w);
        const int count = N * c.g->embedding;
        difference[level] = fmax(check_distance_max(count, x, y), check_distance_max(count, v, w));
        close_case(&c);
        close_case(&e);
      }
      const double fit = log2(difference[0] / difference[1]);
      if (!(fabs(fit - (2 * s - 2)) <= 0.5) || getenv("CB_TEST_VERBOSE"))
        print_error("%s, %d stages: differences %g %g, order %.2f\n", some[i], s, difference[0], difference[1], fit);
      check_near(fit, 2 * s - 2, 0.5);
    }
}

/* --- geometry of the motion --- */

/* Largest entry of M^T J M - J of one step on vectors tangent to the manifold of the constraints: of curves on it and
 * their images, both by differences of fourth order. */
static double symplectic_defect(body_case *c, double h) {
  enum { SIZE = 2 * N * CB_DIM_MAX };
  static double basis[SIZE][SIZE], image[SIZE][SIZE];
  const int count = N * c->g->k;
  const double eps = 4e-4, weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
  cb_state *start = clone_state(c);
  memset(basis, 0, sizeof basis);
  memset(image, 0, sizeof image);
  for (int b = 0; b < 2 * count; b++)
    for (int q = 0; q < 4; q++) {
      cb_state_copy(c->state, start);
      (b < count ? c->state->x : c->state->p)[b % count] += at[q] * eps;
      to_manifold(c, c->state);
      for (int e = 0; e < count; e++) {
        basis[b][e] += weight[q] * c->state->x[e] / (12 * eps);
        basis[b][count + e] += weight[q] * c->state->p[e] / (12 * eps);
      }
      cb_integrator_reset(c->integrator);
      steps(c, 1, h);
      for (int e = 0; e < count; e++) {
        image[b][e] += weight[q] * c->state->x[e] / (12 * eps);
        image[b][count + e] += weight[q] * c->state->p[e] / (12 * eps);
      }
    }
  double worst = 0;
  for (int a = 0; a < 2 * count; a++)
    for (int b = 0; b < 2 * count; b++) {
      double before = 0, after = 0;
      for (int e = 0; e < count; e++) {
        before += basis[a][e] * basis[b][count + e] - basis[b][e] * basis[a][count + e];
        after += image[a][e] * image[b][count + e] - image[b][e] * image[a][count + e];
      }
      const double defect = fabs(after - before);
      worst = defect <= worst ? worst : defect;
    }
  cb_state_copy(c->state, start);
  cb_state_free(start);
  return worst;
}

static void the_symplectic_form_is_kept_on_the_manifold(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int s = 2; s <= 5; s++)
      for (int rods = 0; rods < 2; rods++) {
        body_case c;
        uint64_t own = seed + (uint64_t)i;
        open_case(&c, spaces[i], (frame){rods, 0, 1, false, 0}, method_of(s, "auto"), &own);
        /* differences: eps^4 = 3e-14 times fifth derivatives of the projection */
        const double defect = symplectic_defect(&c, 0.1);
        if (!(defect <= 1e-9) || getenv("CB_TEST_VERBOSE"))
          print_error("%s, %d stages, rods %d: |M^T J M - J| = %g\n", spaces[i], s, rods, defect);
        check_at_most(defect, 1e-9);
        close_case(&c);
      }
  body_case c; /* the check sees what is not symplectic */
  open_case(&c, "h3 {chart: polar}", (frame){true, 0.1, 1, false, 0}, "lobatto", &seed);
  check_at_least(symplectic_defect(&c, 0.1), 1e-6);
  close_case(&c);
}

static void the_way_back_leads_to_the_start(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int s = 2; s <= 5; s++)
      for (int rods = 0; rods < 2; rods++) {
        body_case c;
        uint64_t own = seed + (uint64_t)i;
        open_case(&c, spaces[i], (frame){rods, 0, 1, false, 0}, method_of(s, "auto"), &own);
        cb_state *start = clone_state(&c);
        steps(&c, 100, 0.02);
        cb_integrator_reset(c.integrator);
        steps(&c, 100, -0.02);
        const int count = N * c.g->k;
        const double error =
            fmax(check_distance_max(count, start->x, c.state->x), check_distance_max(count, start->p, c.state->p));
        /* round-off of 200 steps times the conditioning of the motion */
        if (!(error <= 1e-12) || getenv("CB_TEST_VERBOSE"))
          print_error("%s, %d stages, rods %d: there and back miss by %g\n", spaces[i], s, rods, error);
        check_at_most(error, 1e-12);
        cb_state_free(start);
        close_case(&c);
      }
}

static void rods_and_their_rates_stay_at_round_off(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int newton = 0; newton < 2; newton++) {
      body_case c;
      uint64_t own = seed + (uint64_t)i;
      open_case(&c, spaces[i], (frame){true, 0, 1, false, 0}, method_of(4, newton ? "newton" : "fixed-point"), &own);
      double worst = 0;
      for (int k = 0; k < 500; k++) {
        steps(&c, 1, 0.01);
        worst = fmax(worst, off_manifold(&c));
      }
      if (!(worst <= 1e-14) || getenv("CB_TEST_VERBOSE"))
        print_error("%s, newton %d: rods off by %g\n", spaces[i], newton, worst);
      check_at_most(worst, 1e-14);
      close_case(&c);
    }
}

static void energy_does_not_drift(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  static const char *const some[] = {"e3 {chart: polar}", "s3 {chart: polar}", "h3 {chart: poincare}"};
  enum { STEPS = 40000 };
  for (int i = 0; i < 3; i++)
    for (int s = 2; s <= 3; s++) {
      body_case c;
      uint64_t own = seed + (uint64_t)i;
      open_case(&c, some[i], (frame){true, 0, 1, false, 3}, method_of(s, "auto"), &own);
      const double start = energy(&c);
      double first = 0, last = 0, worst = 0, rods = 0; /* means, and maxima */
      for (int k = 0; k < STEPS; k++) {
        steps(&c, 1, 0.1);
        const double error = fabs(energy(&c) / start - 1);
        worst = fmax(worst, error);
        if (k < STEPS / 2) first += error / (STEPS / 2);
        if (k >= STEPS - STEPS / 10) last += error / (STEPS / 10);
        if (k % 100 == 0) rods = fmax(rods, off_manifold(&c));
      }
      if (getenv("CB_TEST_VERBOSE"))
        print_error(
            "%s, %d stages: energy error %g in the first half, %g in the last tenth, at most %g; rods off by %g\n",
            some[i], s, first, last, worst, rods);
      /* a drift in proportion to time would make it 3.8 times as large; the motion is chaotic, means vary */
      check_at_most(last, 1.25 * first);
      check_at_most(worst, s == 2 ? 0.05 : 1e-3);
      check_at_most(rods, 1e-14);
      close_case(&c);
    }
}

/* The rod of figures 2.16: it moves along a Killing field across it, the pull is (m/2) sinh 1 in H3, -(m/2) sin 1 in
 * S3, and none in E3. */
static void a_rigid_rod_moves_along_the_killing_flow(void **unused) {
  (void)unused;
  static const char *const some[] = {"h3 {chart: polar}", "s3 {chart: polar}"};
  for (int i = 0; i < 2; i++) {
    body_case c;
    const double q[2][2][3] = {{{0.5, M_PI / 2, M_PI / 2}, {0.5, M_PI / 2, 3 * M_PI / 2}},
                               {{(M_PI - 1) / 2, M_PI / 2, 0}, {(M_PI + 1) / 2, M_PI / 2, 0}}};
    open_space(&c, some[i]);
    for (int a = 0; a < 2; a++) {
      const double u[3] = {0, 0, i ? 1 : (a ? 1 : -1) / tanh(0.5)};
      check_ok(cb_builder_particle(c.builder, NULL, 1, 0, 0, q[i][a], u, NULL));
    }
    check_ok(cb_builder_rod(c.builder, NULL, 0, 1, (cb_target){1, NULL}));
    finish_system(&c);
    use_method(&c, "lobatto {stages: 4}");
    cb_gram *gram;
    check_ok(cb_gram_create(c.forces, cb_forces_constraints(c.forces), &gram));
    const double exact = i ? -sin(1) / 2 : sinh(1) / 2;
    double position = 0, pull = 0;
    for (int k = 1; k <= 200; k++) {
      steps(&c, 1, 0.01);
      double u[2][3], lambda;
      for (int a = 0; a < 2; a++) check_ok(cb_geometry_raise(c.g, c.state->x + 3 * a, c.state->p + 3 * a, u[a]));
      check_ok(cb_gram_multipliers(gram, c.state->t, c.state->x, u[0], &lambda, NULL));
      pull = fmax(pull, fabs(lambda - exact));
      const double t = c.state->t;
      for (int a = 0; a < 2; a++)
        position =
            fmax(position, i ? fabs(c.state->x[3 * a + 2] - t) : fabs(c.state->x[3 * a] - acosh(cosh(0.5) * cosh(t))));
    }
    if (getenv("CB_TEST_VERBOSE")) print_error("%s: position %g, pull %g\n", some[i], position, pull);
    check_at_most(position, 1e-12);
    check_at_most(pull, 1e-11);
    cb_gram_free(gram);
    close_case(&c);
  }
}

/* --- solvers --- */

static void both_solvers_find_the_same_step(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int kind = 0; kind < 4; kind++)
      for (int s = 2; s <= 5; s++) {
        body_case c;
        const frame f = {kind % 2, kind > 1 ? 0.4 : 0, 1, kind == 1, 0};
        double x[2][NUMBERS], p[2][NUMBERS];
        int iterations = 0;
        for (int newton = 0; newton < 2; newton++) {
          uint64_t own = seed + (uint64_t)i;
          open_case(&c, spaces[i], f, method_of(s, newton ? "newton" : "fixed-point"), &own);
          for (int k = 0; k < 10; k++) {
            steps(&c, 1, 0.05);
            if (newton && k > 0)
              iterations = c.integrator->iterations > iterations ? c.integrator->iterations : iterations;
          }
          assert_string_equal(c.integrator->solver, newton ? "newton" : "fixed-point");
          memcpy(x[newton], c.state->x, (size_t)(N * c.g->k) * sizeof(double));
          memcpy(p[newton], c.state->p, (size_t)(N * c.g->k) * sizeof(double));
          if (!newton) close_case(&c);
        }
        const double error =
            fmax(check_distance_max(N * c.g->k, x[0], x[1]), check_distance_max(N * c.g->k, p[0], p[1]));
        if (!(error <= 1e-13) || iterations > 6 || getenv("CB_TEST_VERBOSE"))
          print_error("%s, kind %d, %d stages: solvers differ by %g, %d Newton iterations\n", spaces[i], kind, s, error,
                      iterations);
        /* round-off of ten steps, in numbers of order one */
        check_at_most(error, 1e-13);
        /* quadratic convergence, and one or two passes more with old factors */
        assert_true(iterations <= 6);
        close_case(&c);
      }
}

/* More unknowns than a dense matrix is kept for: sparse factors, with multipliers. */
static void both_solvers_find_the_same_step_of_a_chain(void **unused) {
  (void)unused;
  enum { LINKS = 24, STEPS = 10 };
  double x[2][3 * (LINKS + 1)];
  body_case c;
  for (int newton = 0; newton < 2; newton++) {
    open_space(&c, "h3 {chart: polar}");
    const double rest[3] = {0}, centre[3] = {1.5, 1, 0.3};
    for (int a = 0; a <= LINKS; a++) {
      const double q[3] = {0.8 + 0.03 * a, 1.2 + 0.2 * sin(a), 0.1 * a};
      check_ok(cb_builder_particle(c.builder, NULL, 1 + 0.5 * cos(a), 0, 0, q, rest, NULL));
      if (a) check_ok(cb_builder_rod(c.builder, NULL, a - 1, a, (cb_target){NAN, NULL}));
    }
    check_ok(cb_builder_central(c.builder, -1, CB_LAW_HARMONIC, 2, 0, NULL, centre));
    finish_system(&c);
    use_method(&c, method_of(3, newton ? "newton" : "fixed-point"));
    steps(&c, STEPS, 0.02);
    memcpy(x[newton], c.state->x, sizeof x[newton]);
    if (!newton) close_case(&c);
  }
  const double error = check_distance_max(3 * (LINKS + 1), x[0], x[1]);
  double d[LINKS], off = 0;
  check_ok(cb_constraints_eval(cb_forces_constraints(c.forces), c.state->t, c.state->x, d, NULL));
  for (int r = 0; r < LINKS; r++) off = fmax(off, fabs(d[r]));
  if (getenv("CB_TEST_VERBOSE"))
    print_error("chain: solvers differ by %g, rods off by %g, %d Newton iterations\n", error, off,
                c.integrator->iterations);
  check_at_most(error, 1e-13);
  check_at_most(off, 1e-14);
  close_case(&c);
}

/* The unknowns y + eps d and y - eps d give dR = (R(y + eps d) - R(y - eps d))/(2 eps), and M^-1 dR must be d. */
static void check_matrix(const char *space, frame f, int stages, uint64_t *seed) {
  body_case c;
  open_case(&c, space, f, "lobatto", seed);
  const cb_lobatto_chart_options options = {stages, CB_SOLVER_NEWTON, 100, 0, true};
  cb_lobatto_chart *m;
  check_ok(cb_lobatto_chart_create(c.integrator, &options, &m));
  check_ok(cb_lobatto_chart_step(m, c.state, 0.1)); /* leaves forces and gradients at the start of the next one */
  m->h = 0.2;
  for (int i = 0; i < stages; i++) /* somewhere beside the solution */
    for (size_t e = 0; e < m->count; e++)
      m->z[(size_t)i * m->count + e] = m->h * ((i ? m->tableau.c[i] : 1) * m->u[e] + check_uniform(seed, -0.05, 0.05));
  for (int k = 0; k < stages - 1; k++)
    for (int r = 0; r < m->rows; r++) cb_lobatto_chart_multipliers(m, k)[r] += check_uniform(seed, -0.3, 0.3);
  const int unknowns = cb_lobatto_chart_newton_unknowns(m->newton);
  double *d = calloc((size_t)unknowns, sizeof *d), *by = calloc((size_t)unknowns, sizeof *by), *r[2], size, position;
  for (int i = 0; i < unknowns; i++) d[i] = check_uniform(seed, -1, 1);
  const double eps = 1e-5, move[3] = {-eps, 2 * eps, -eps};
  for (int side = 0; side < 3; side++) {
    for (int i = 0; i < unknowns; i++) by[i] = move[side] * d[i];
    cb_lobatto_chart_newton_correct(m, by, &size, &position);
    if (side < 2) {
      r[side] = calloc((size_t)unknowns, sizeof *r[side]);
      check_ok(cb_lobatto_chart_newton_residual(m->newton, m, false, r[side]));
    }
  }
  for (int i = 0; i < unknowns; i++) by[i] = (r[0][i] - r[1][i]) / (2 * eps);
  check_ok(cb_lobatto_chart_newton_residual(m->newton, m, true, r[0]));
  check_ok(cb_lobatto_chart_newton_factor(m->newton, m));
  cb_lobatto_chart_newton_apply(m->newton, by);
  const double error = check_distance_max(unknowns, by, d);
  if (!(error <= 1e-5) || getenv("CB_TEST_VERBOSE"))
    print_error("%s, %d stages, rods %d, damping %g: %d unknowns, matrix off by %g\n", space, stages, f.rods, f.damping,
                unknowns, error);
  /* the differences have errors of eps^2 and of round-off/eps, times the inverse of the matrix */
  check_at_most(error, 1e-5);
  for (int side = 0; side < 2; side++) free(r[side]);
  free(d);
  free(by);
  cb_lobatto_chart_free(m);
  close_case(&c);
}

static void the_newton_matrix_is_that_of_differences(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int s = 2; s <= 5; s++)
      for (int kind = 0; kind < 4; kind++)
        check_matrix(spaces[i], (frame){kind % 2, kind > 1 ? 0.7 : 0, 3, kind == 3, 2}, s, &seed);
}

static void auto_goes_over_to_newton_where_the_iteration_is_slow(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  body_case c;
  open_random(&c, "s3 {chart: polar}", N, 0.6, 0.1, 300, 0, &seed);
  use_method(&c, "lobatto {stages: 3, iterations: 10}");
  steps(&c, 3, 0.05);
  assert_string_equal(c.integrator->solver, "newton");
  close_case(&c);
  open_case(&c, "s3 {chart: polar}", (frame){true, 0, 1, false, 0}, "lobatto {iterations: 6}", &seed);
  steps(&c, 3, 0.2);
  assert_string_equal(c.integrator->solver, "newton");
  check_at_most(off_manifold(&c), 1e-14);
  close_case(&c);
}

/* --- restart and failure --- */

static void a_restart_repeats_the_bytes(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int kind = 0; kind < 4; kind++) {
    const bool newton = kind % 2;
    body_case c;
    open_case(&c, "h3 {chart: polar}", (frame){true, kind > 1 ? 0.1 : 0, 1, true, 0},
              method_of(4, newton ? "newton" : "fixed-point"), &seed);
    steps(&c, 5, 0.03);
    cb_integrator_reset(c.integrator);
    cb_state *middle = clone_state(&c);
    steps(&c, 5, 0.03);
    cb_state *end = clone_state(&c);
    steps(&c, 3, 0.07);
    cb_state_copy(c.state, middle);
    cb_integrator_reset(c.integrator);
    steps(&c, 5, 0.03);
    const size_t bytes = (size_t)(N * c.g->k) * sizeof(double);
    assert_memory_equal(end->x, c.state->x, bytes);
    assert_memory_equal(end->p, c.state->p, bytes);
    assert_memory_equal(end->x_low, c.state->x_low, bytes);
    assert_memory_equal(end->p_low, c.state->p_low, bytes);
    cb_state_free(middle);
    cb_state_free(end);
    close_case(&c);
  }
}

static void a_failed_step_leaves_the_state_and_a_smaller_one_works(void **unused) {
  (void)unused;
  uint64_t seed = check_seed();
  for (int newton = 0; newton < 2; newton++)
    for (int rods = 0; rods < 2; rods++) {
      body_case c;
      open_case(&c, "h3 {chart: poincare}", (frame){rods, 0, 1, false, 0},
                method_of(3, newton ? "newton" : "fixed-point"), &seed);
      steps(&c, 3, 0.03);
      cb_state *start = clone_state(&c);
      const size_t bytes = (size_t)(N * c.g->k) * sizeof(double);
      const cb_status status = cb_integrator_step(c.integrator, c.state, 1e4);
      assert_true(status > 0);
      assert_memory_equal(start->x, c.state->x, bytes);
      assert_memory_equal(start->p, c.state->p, bytes);
      assert_memory_equal(start->x_low, c.state->x_low, bytes);
      assert_true(start->t == c.state->t);
      steps(&c, 3, 0.03);
      if (rods) check_at_most(off_manifold(&c), 1e-14);
      cb_state_free(start);
      close_case(&c);
    }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(order_by_fit_is_two_stages_less_two),
      cmocka_unit_test(damped_motion_has_the_same_order),
      cmocka_unit_test(the_symplectic_form_is_kept_on_the_manifold),
      cmocka_unit_test(the_way_back_leads_to_the_start),
      cmocka_unit_test(rods_and_their_rates_stay_at_round_off),
      cmocka_unit_test(rods_whose_length_goes_with_time_have_the_same_order),
      cmocka_unit_test(the_difference_to_the_embedding_falls_with_the_order),
      cmocka_unit_test(energy_does_not_drift),
      cmocka_unit_test(a_rigid_rod_moves_along_the_killing_flow),
      cmocka_unit_test(both_solvers_find_the_same_step),
      cmocka_unit_test(both_solvers_find_the_same_step_of_a_chain),
      cmocka_unit_test(the_newton_matrix_is_that_of_differences),
      cmocka_unit_test(auto_goes_over_to_newton_where_the_iteration_is_slow),
      cmocka_unit_test(a_restart_repeats_the_bytes),
      cmocka_unit_test(a_failed_step_leaves_the_state_and_a_smaller_one_works),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
