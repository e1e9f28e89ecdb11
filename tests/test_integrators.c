/* What must hold for every integrator in every space: order, symplecticity, reversibility, isometry momenta, restart,
 * determinism, and a state left as it was by a step that fails. Methods say by `properties` what is claimed of them.
 * timeout: 300
 * labels: medium */
#include "integrate.h"
#include "reference_gsl.h"

enum { PARTICLES = 3, NUMBERS = PARTICLES * CB_COORD_MAX };

/* Every class of the registry has at least one row here: `all_methods_are_here` sees to it. */
static const char *const methods[] = {
    "lobatto {stages: 2}",
    "lobatto {stages: 3}",
    "lobatto {stages: 4}",
    "lobatto {stages: 5}",
    "gauss {stages: 1}",
    "gauss {stages: 2}",
    "gauss {stages: 3}",
    "gauss {stages: 2, symmetric: false}",
    "gauss {stages: 2, balance: false}",
    "gauss {stages: 2, form: velocity}",
    "rk4",
    "radau_iia {stages: 1}",
    "radau_iia {stages: 2}",
    "radau_iia {stages: 3}",
    "radau_iia {stages: 4}",
    "radau_iia {stages: 3, solver: newton}",
    "ida {rtol: 1e-9, atol: 1e-11}",
    "ida {max_order: 2, solver: klu, rtol: 1e-6}",
};
static const char *const spaces[] = {"e3",
                                     "s3",
                                     "h3",
                                     "s3 {curvature: 2.3}",
                                     "h3 {curvature: -0.4}",
                                     "e2",
                                     "s2",
                                     "h2",
                                     "h2xe",
                                     "exs2",
                                     "s3 {chart: polar}",
                                     "h3 {chart: polar}",
                                     "e3 {chart: polar}"};
enum { METHODS = sizeof methods / sizeof *methods, SPACES = sizeof spaces / sizeof *spaces };

typedef struct claim {
  int order;
  bool symplectic, symmetric;
} claim;

/* Three unequal masses on springs at the corners of an uneven triangle, slowly tumbling so that none comes near
 * another; in a chart away from the base point, where polar coordinates are singular. */
static void open_body(body_case *c, const char *space, uint64_t *seed) {
  static const double corner[PARTICLES][CB_DIM_MAX] = {{0.5, 0.1, 0.2}, {-0.4, 0.4, -0.1}, {-0.2, -0.5, 0.1}};
  open_space(c, space);
  const cb_geometry *g = c->g;
  double base[CB_COORD_MAX], frame[CB_DIM_MAX * CB_COORD_MAX], x[PARTICLES][CB_COORD_MAX], v[CB_COORD_MAX];
  const double aside[CB_DIM_MAX] = {1.2, 0.3, 0.2};
  cb_isometry move;
  cb_geometry_base_point(g, base);
  cb_geometry_frame(g, base, frame);
  double shift[CB_COORD_MAX] = {0}, there[CB_COORD_MAX];
  for (int i = 0; i < g->dim; i++)
    for (int e = 0; e < g->embedding; e++) shift[e] += (g->chart ? aside[i] : 0) * frame[i * g->embedding + e];
  cb_exp(g, base, shift, there, NULL);
  cb_isometry_to(g, there, &move);
  for (int a = 0; a < PARTICLES; a++) {
    double tangent[CB_COORD_MAX] = {0}, near[CB_COORD_MAX];
    for (int i = 0; i < g->dim; i++) {
      const double offset = corner[a][i] + check_uniform(seed, -0.05, 0.05);
      for (int e = 0; e < g->embedding; e++) tangent[e] += offset * frame[i * g->embedding + e];
    }
    cb_exp(g, base, tangent, near, NULL);
    cb_isometry_point(g, &move, near, x[a]);
    check_random_tangent(g, seed, x[a], 0.3, v);
    add_particle(c, check_uniform(seed, 0.6, 2.5), x[a], v);
  }
  for (int a = 0; a < PARTICLES; a++) {
    const int b = (a + 1) % PARTICLES;
    check_ok(cb_builder_spring(c->builder, a, b, check_uniform(seed, 0.6, 1.8),
                               cb_distance(g, x[a], x[b]) * check_uniform(seed, 0.9, 1.1), 0));
  }
  finish_system(c);
}

/* The body with a method; false if the method does not take the space. */
static bool open_case(body_case *c, const char *space, const char *method, uint64_t *seed, claim *out) {
  open_body(c, space, seed);
  cb_tree *tree = strchr(method, '{') ? read_text(strchr(method, '{')) : NULL;
  char name[32];
  sscanf(method, "%31s", name);
  const cb_status status = cb_integrator_create(name, tree ? cb_tree_root(tree) : NULL, c->system, &c->integrator);
  cb_tree_free(tree);
  if (status == CB_ERROR_UNSUPPORTED || status == CB_ERROR_INPUT) return close_case(c), false;
  check_ok(status);
  check_ok(cb_forces_set_origins(c->integrator->forces, c->state->origin));
  c->integrator->class->properties(c->integrator, &out->order, &out->symplectic, &out->symmetric);
  return true;
}

static void each(void (*test)(body_case *c, const claim *claimed, const char *where)) {
  uint64_t seed = check_seed();
  for (int i = 0; i < SPACES; i++)
    for (int j = 0; j < METHODS; j++) {
      body_case c;
      claim claimed;
      uint64_t own = seed + (uint64_t)i; /* the same body for every method */
      if (!open_case(&c, spaces[i], methods[j], &own, &claimed)) continue;
      char where[128];
      snprintf(where, sizeof where, "%s in %s", methods[j], spaces[i]);
      test(&c, &claimed, where);
      close_case(&c);
    }
}

static void steps(body_case *c, int n, double h) {
  for (int i = 0; i < n; i++) check_ok(cb_integrator_step(c->integrator, c->state, h));
}

static void all_methods_are_here(void **unused) {
  (void)unused;
  for (size_t i = 0; cb_integrator_classes[i]; i++) {
    if (!cb_integrator_classes[i]->step) continue; /* for bodies in a fluid: test_rigid_step.c */
    bool found = false;
    for (int j = 0; j < METHODS; j++)
      found = found || !strncmp(methods[j], cb_integrator_classes[i]->name, strlen(cb_integrator_classes[i]->name));
    if (!found) print_error("no row for the integrator %s\n", cb_integrator_classes[i]->name);
    assert_true(found);
  }
}

/* Positions and momenta in the embedding, whatever the state is in. */
static void embedded(const body_case *c, double *x, double *p) {
  const cb_geometry *g = c->g;
  for (int a = 0; a < PARTICLES; a++) {
    const double *q = c->state->x + a * c->state->k, *m = c->state->p + a * c->state->k;
    if (!g->chart) {
      memcpy(x + a * g->k, q, (size_t)g->k * sizeof *x);
      memcpy(p + a * g->k, m, (size_t)g->k * sizeof *p);
      continue;
    }
    double u[CB_DIM_MAX];
    check_ok(cb_geometry_raise(g, q, m, u));
    check_ok(cb_chart_push(g, g->chart, q, u, x + a * g->embedding, p + a * g->embedding));
  }
}

static void check_order(body_case *c, const claim *claimed, const char *where) {
  if (c->integrator->class->adaptive) return; /* by tolerances, not by h */
  double x[NUMBERS], p[NUMBERS], y[NUMBERS], m[NUMBERS], error[4];
  cb_state *start = clone_state(c);
  const double end = 2;
  if (c->g->chart) { /* by the embedding's own system */
    body_case e;
    char space[64];
    snprintf(space, sizeof space, "%s", c->g->class->name);
    open_space(&e, space);
    embedded(c, x, p);
    for (int a = 0; a < PARTICLES; a++) {
      const double mass = cb_system_masses(c->system)[a];
      double v[CB_COORD_MAX];
      for (int k = 0; k < e.g->k; k++) v[k] = p[a * e.g->k + k] / mass;
      add_particle(&e, mass, x + a * e.g->k, v);
    }
    for (int b = 0; b < cb_system_bonds(c->system); b++) {
      int i, j;
      double stiffness, rest, damping;
      cb_system_bond(c->system, b, &i, &j);
      cb_system_spring(c->system, b, &stiffness, &rest, &damping);
      check_ok(cb_builder_spring(e.builder, cb_system_index(c->system, i), cb_system_index(c->system, j), stiffness,
                                 rest, damping));
    }
    finish_system(&e);
    for (int a = 0; a < PARTICLES; a++) { /* its particles may stand in another order */
      memcpy(y + cb_system_index(e.system, a) * e.g->k, x + a * e.g->k, (size_t)e.g->k * sizeof *x);
      memcpy(m + cb_system_index(e.system, a) * e.g->k, p + a * e.g->k, (size_t)e.g->k * sizeof *p);
    }
    reference_advance(e.system, e.forces, 0, end, y, m);
    for (int a = 0; a < PARTICLES; a++) {
      memcpy(x + a * e.g->k, y + cb_system_index(e.system, a) * e.g->k, (size_t)e.g->k * sizeof *x);
      memcpy(p + a * e.g->k, m + cb_system_index(e.system, a) * e.g->k, (size_t)e.g->k * sizeof *p);
    }
    close_case(&e);
  } else {
    embedded(c, x, p);
    reference_advance(c->system, c->forces, 0, end, x, p);
  }
  const int first = claimed->order >= 9 ? 4 : claimed->order >= 6 ? 6 : 16;
  /* the last doubling that stands clear of round-off; high orders fall to it within two */
  double fit = NAN, clear = claimed->order >= 9 ? 1e-14 : 2e-13;
  for (int level = 0; level < 4; level++) {
    const int n = first << level;
    cb_state_copy(c->state, start);
    cb_integrator_reset(c->integrator);
    steps(c, n, end / n);
    embedded(c, y, m);
    error[level] = fmax(check_distance_max(PARTICLES * c->g->embedding, x, y),
                        check_distance_max(PARTICLES * c->g->embedding, p, m));
    if (level > 0 && (error[level] > clear || level == 1)) fit = log2(error[level - 1] / error[level]);
  }
  cb_state_free(start);
  const bool right = fabs(fit - claimed->order) <= 0.5;
  if (!right || getenv("CB_TEST_VERBOSE"))
    print_error("%s: order %.2f by fit, %d claimed (errors %g %g %g %g)\n", where, fit, claimed->order, error[0],
                error[1], error[2], error[3]);
  assert_true(right);
}

static void order_by_fit_is_the_order_claimed(void **unused) {
  (void)unused;
  each(check_order);
}

/* omega(d1, d2) = sum <dx1, dp2> - <dx2, dp1>, with the form in the embedding and plainly in a chart. */
static double omega(const cb_geometry *g, const double *d1, const double *d2, int n) {
  double sum = 0;
  for (int a = 0; a < n; a++)
    for (int e = 0; e < g->k; e++) {
      const double form = g->chart ? 1 : g->form[e];
      const int x = a * g->k + e, p = n * g->k + x;
      sum += form * (d1[x] * d2[p] - d2[x] * d1[p]);
    }
  return sum;
}

/* Largest entry of M^T J M - J of one step, on tangent vectors of the phase space, by differences of fourth order. */
static double symplectic_defect(body_case *c, double h) {
  const cb_geometry *g = c->g;
  const int n = PARTICLES, k = g->k, d = g->dim, size = 2 * n * d;
  static double basis[2 * NUMBERS][2 * NUMBERS], image[2 * NUMBERS][2 * NUMBERS];
  memset(basis, 0, sizeof basis);
  memset(image, 0, sizeof image);
  cb_state *start = clone_state(c);
  for (int a = 0; a < n; a++) {
    double frame[CB_DIM_MAX * CB_COORD_MAX] = {0};
    if (g->chart)
      for (int i = 0; i < d; i++) frame[i * k + i] = 1;
    else
      cb_geometry_frame(g, start->x + a * k, frame);
    for (int i = 0; i < d; i++) {
      double *dx = basis[2 * (a * d + i)], *dp = basis[2 * (a * d + i) + 1];
      memcpy(dx + a * k, frame + i * k, (size_t)k * sizeof(double));
      memcpy(dp + (n + a) * k, frame + i * k, (size_t)k * sizeof(double));
      for (int f = 0; !g->chart && f < g->n_factors; f++) { /* <p,dx> + <x,dp> = 0 */
        const cb_factor *c_ = &g->factor[f];
        double along = 0;
        for (int e = c_->offset; e < c_->offset + c_->count; e++)
          along += g->form[e] * start->p[a * k + e] * frame[i * k + e];
        for (int e = c_->offset; e < c_->offset + c_->count; e++)
          dx[(n + a) * k + e] = -c_->curvature * along * start->x[a * k + e];
      }
    }
  }
  const double eps = 2e-3, weight[4] = {1, -8, 8, -1}, at[4] = {-2, -1, 1, 2};
  for (int b = 0; b < size; b++)
    for (int q = 0; q < 4; q++) {
      cb_state_copy(c->state, start);
      for (int a = 0; a < n * k; a++) {
        c->state->x[a] += at[q] * eps * basis[b][a];
        c->state->p[a] += at[q] * eps * basis[b][n * k + a];
      }
      for (int a = 0; !g->chart && a < n; a++) {
        cb_geometry_project_point(g, c->state->x + a * k);
        cb_geometry_project_tangent(g, c->state->x + a * k, c->state->p + a * k);
      }
      cb_integrator_reset(c->integrator);
      check_ok(cb_integrator_step(c->integrator, c->state, h));
      for (int a = 0; a < n * k; a++) {
        image[b][a] += weight[q] * c->state->x[a] / (12 * eps);
        image[b][n * k + a] += weight[q] * c->state->p[a] / (12 * eps);
      }
    }
  double worst = 0;
  for (int a = 0; a < size; a++)
    for (int b = 0; b < size; b++) {
      const double defect = fabs(omega(g, image[a], image[b], n) - omega(g, basis[a], basis[b], n));
      worst = defect <= worst ? worst : defect;
    }
  cb_state_copy(c->state, start);
  cb_state_free(start);
  return worst;
}

static void check_symplectic(body_case *c, const claim *claimed, const char *where) {
  if (!claimed->symplectic) return;
  /* differences: the projection of a displaced state bends the curve, an error of order eps^4 = 2e-11 times
   * derivatives */
  const double defect = symplectic_defect(c, 0.1);
  if (!(defect <= 1e-9)) print_error("%s: |M^T J M - J| = %g\n", where, defect);
  check_at_most(defect, 1e-9);
}

static void symplectic_methods_keep_the_symplectic_form(void **unused) {
  (void)unused;
  each(check_symplectic);
}

static void the_check_of_symplecticity_sees_a_method_that_is_not(void **unused) {
  (void)unused;
  static const char *const not [][2] = {{"s3", "rk4"},
                                        {"h3 {chart: polar}", "gauss {stages: 1, form: velocity}"},
                                        {"s3", "gauss {stages: 1, balance: false, symmetric: false}"},
                                        {"h3", "gauss {stages: 1, balance: false, symmetric: false}"}};
  uint64_t seed = check_seed();
  for (size_t i = 0; i < sizeof not / sizeof *not ; i++) {
    body_case c;
    claim claimed;
    assert_true(open_case(&c, not [i][0], not [i][1], &seed, &claimed));
    assert_false(claimed.symplectic);
    check_at_least(symplectic_defect(&c, 0.1), 1e-8);
    close_case(&c);
  }
}

static void check_reversible(body_case *c, const claim *claimed, const char *where) {
  if (!claimed->symmetric || claimed->order < 2) return;
  cb_state *start = clone_state(c);
  steps(c, 400, 0.02);
  cb_integrator_reset(c->integrator);
  steps(c, 400, -0.02);
  const int count = PARTICLES * c->g->k;
  const double error =
      fmax(check_distance_max(count, start->x, c->state->x), check_distance_max(count, start->p, c->state->p));
  /* 800 steps of compensated sums; the rest is the conditioning of the motion */
  if (!(error <= 1e-12)) print_error("%s: 400 steps there and back miss by %g\n", where, error);
  check_at_most(error, 1e-12);
  cb_state_free(start);
}

static void symmetric_methods_run_backwards_to_the_start(void **unused) {
  (void)unused;
  each(check_reversible);
}

static void check_momenta(body_case *c, const claim *claimed, const char *where) {
  if (!claimed->symplectic || c->g->chart) return;
  double before[CB_KILLING_MAX] = {0}, after[CB_KILLING_MAX] = {0}, size = 0;
  const int k = c->g->k;
  for (int a = 0; a < PARTICLES; a++) cb_killing_momentum_add(c->g, c->state->x + a * k, c->state->p + a * k, before);
  steps(c, 200, 0.05);
  for (int a = 0; a < PARTICLES; a++) {
    cb_killing_momentum_add(c->g, c->state->x + a * k, c->state->p + a * k, after);
    for (int e = 0; e < k; e++) size = fmax(size, fabs(c->state->x[a * k + e]) * (1 + fabs(c->state->p[a * k + e])));
  }
  const double error = check_distance_max(c->g->n_killing, before, after);
  /* round-off of the products x p, which grow as a body leaves the origin of H3 */
  if (!(error <= 1e-13 * size * size))
    print_error("%s: Killing momenta drift by %g (numbers of size %g)\n", where, error, size);
  check_at_most(error, 1e-13 * size * size);
}

static void isometry_momenta_are_kept_to_round_off(void **unused) {
  (void)unused;
  each(check_momenta);
}

static void check_restart(body_case *c, const claim *claimed, const char *where) {
  (void)claimed;
  steps(c, 5, 0.03);
  cb_integrator_reset(c->integrator);
  cb_state *middle = clone_state(c);
  steps(c, 5, 0.03);
  cb_state *end = clone_state(c);
  steps(c, 3, 0.07); /* something else in between */
  cb_state_copy(c->state, middle);
  cb_integrator_reset(c->integrator);
  steps(c, 5, 0.03);
  const size_t bytes = (size_t)PARTICLES * c->g->k * sizeof(double);
  const bool same = !memcmp(end->x, c->state->x, bytes) && !memcmp(end->p, c->state->p, bytes) &&
                    !memcmp(end->x_low, c->state->x_low, bytes) && !memcmp(end->p_low, c->state->p_low, bytes) &&
                    end->t == c->state->t;
  if (!same) print_error("%s: a restart does not repeat the bytes\n", where);
  assert_true(same);
  cb_state_free(middle);
  cb_state_free(end);
}

static void a_restart_repeats_the_bytes(void **unused) {
  (void)unused;
  each(check_restart);
}

static void check_failure(body_case *c, const claim *claimed, const char *where) {
  (void)claimed;
  cb_state *start = clone_state(c);
  const size_t bytes = (size_t)PARTICLES * c->g->k * sizeof(double);
  start->p[0] = c->state->p[0] = NAN;
  const cb_status status = cb_integrator_step(c->integrator, c->state, 0.1);
  const bool same = !memcmp(start->x, c->state->x, bytes) && !memcmp(start->x_low, c->state->x_low, bytes) &&
                    !memcmp(start->p, c->state->p, bytes) && start->t == c->state->t;
  if (status <= 0 || !same)
    print_error("%s: a state that is not finite gives status %d, state kept: %d\n", where, (int)status, same);
  assert_true(status > 0);
  assert_true(same);
  cb_state_free(start);
}

static void a_failed_step_leaves_the_state(void **unused) {
  (void)unused;
  each(check_failure);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(all_methods_are_here),
      cmocka_unit_test(order_by_fit_is_the_order_claimed),
      cmocka_unit_test(symplectic_methods_keep_the_symplectic_form),
      cmocka_unit_test(the_check_of_symplecticity_sees_a_method_that_is_not),
      cmocka_unit_test(symmetric_methods_run_backwards_to_the_start),
      cmocka_unit_test(isometry_momenta_are_kept_to_round_off),
      cmocka_unit_test(a_restart_repeats_the_bytes),
      cmocka_unit_test(a_failed_step_leaves_the_state),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
