/* Measures the time of steps of shape variables that move by themselves, and of parts of these steps: a form with its
 * derivatives, and a connection and a metric with theirs.
 *
 * Shapes with inertia are the floating snake and the perfect fish on springs, by hamilton_pontryagin of order 2 and 4.
 * The snake is also computed by rk4 of the same equations with the exponential of the group:
 *   (mu, p) = G u,  mu' = ad*_xi mu,  p' = <d_r G u, u>/2 - k (r - r_0),  r' = v,  g' = g xi,  u = (xi, v)
 * A shape with drag is an elastic Purcell swimmer, by gauss and radau_iia. bundle/shape_motion.h defines the symbols.
 */
#include "bench.h"
#include "integrators/shapes.h"
#include "numerics/small.h"
#include "shape_reference.h"

enum { N_MAX = REFERENCE };

typedef struct motion {
  moving_shape m;
  cb_integrator *in;
  cb_shape_state s;
  double step;
  int steps;
  long long solves, made;
} motion;

static void motion_begin(motion *o, const shape_case *c, bool drag, const char *integrator, double step, int steps) {
  static const cb_problem *const inertia[] = {&cb_problem_shapes_with_inertia, NULL}, *const with_drag[] = {
                                                                                          &cb_problem_shapes_with_drag,
                                                                                          NULL};
  cb_tree *tree;
  memset(o, 0, sizeof *o);
  shape_open(c, drag, &o->m);
  check_ok(cb_yaml_read_text("bench", integrator, strlen(integrator), &tree));
  const cb_node *root = cb_tree_root(tree);
  check_ok(cb_integrator_create_for(cb_node_get(root, "name")->text, root, drag ? with_drag : inertia, &o->m.problem,
                                    &o->in));
  cb_tree_free(tree);
  o->s = o->m.start;
  o->step = step;
  o->steps = steps;
}

static void motion_end(motion *o) {
  cb_integrator_free(o->in);
  shape_close(&o->m);
}

static void make_steps(void *self) {
  motion *o = self;
  for (int i = 0; i < o->steps; i++) {
    check_ok(cb_integrator_step(o->in, &o->s, o->step));
    o->solves += o->in->iterations;
    o->made++;
  }
}

/* Computes a shape near the start, which differs from call to call, so that results of earlier calls are of no use. */
static void next_shape(const motion *o, int k, double *r) {
  for (int i = 0; i < o->m.bundle->n; i++) r[i] = o->m.start.r[i] + 1e-3 * (k % 100) * (i + 1);
}

static void evaluate_forms(void *self) {
  const motion *o = self;
  const cb_bundle *b = o->m.bundle;
  double r[CB_SHAPE_MAX], G[N_MAX * N_MAX], dG[CB_SHAPE_MAX * N_MAX * N_MAX];
  for (int k = 0; k < o->steps; k++) {
    next_shape(o, k, r);
    check_ok(b->class_->form(b, r, G, dG));
  }
}

static void evaluate_connections(void *self) {
  const motion *o = self;
  double r[CB_SHAPE_MAX], A[CB_GROUP_DIM * CB_SHAPE_MAX], M[CB_SHAPE_MAX * CB_SHAPE_MAX],
      dM[CB_SHAPE_MAX * CB_SHAPE_MAX * CB_SHAPE_MAX];
  for (int k = 0; k < o->steps; k++) {
    next_shape(o, k, r);
    check_ok(cb_bundle_connection(o->m.bundle, r, A, NULL, M, dM));
  }
}

/* --- rk4 of a shape with inertia and springs: y = (mu, p, r) --- */

static void rate_of(const moving_shape *m, const double *y, double *dy, double *xi) {
  const cb_bundle *b = m->bundle;
  const int dim = b->group->dim, n = b->n, N = dim + n;
  const double *r = y + N;
  double G[N_MAX * N_MAX], dG[CB_SHAPE_MAX * N_MAX * N_MAX], u[N_MAX];
  check_ok(b->class_->form(b, r, G, dG));
  memcpy(u, y, (size_t)N * sizeof *u);
  if (!cb_cholesky(N, G, 1e-15, G)) fail_msg("the form is singular");
  cb_cholesky_solve(N, G, u);
  cb_group_ad_dual(b->group, u, y, dy);
  for (int i = 0; i < n; i++) {
    double sum = 0;
    for (int k = 0; k < N; k++) sum += cb_dot(N, dG + (i * N + k) * N, u) * u[k];
    dy[dim + i] = sum / 2 - m->variable[i].stiffness * (r[i] - m->variable[i].rest);
    dy[N + i] = u[dim + i];
  }
  memcpy(xi, u, (size_t)dim * sizeof *xi);
}

static void make_rk4_steps(void *self) {
  static const double place[4] = {0, .5, .5, 1}, weight[4] = {1. / 6, 1. / 3, 1. / 3, 1. / 6};
  motion *o = self;
  const cb_group *group = o->m.bundle->group;
  const int dim = group->dim, n = o->m.bundle->n, all = dim + 2 * n;
  const double h = o->step;
  double y[N_MAX + CB_SHAPE_MAX], k[4][N_MAX + CB_SHAPE_MAX] = {{0}}, at[N_MAX + CB_SHAPE_MAX], xi[4][CB_GROUP_DIM];
  memcpy(y, o->s.mu, (size_t)dim * sizeof *y);
  memcpy(y + dim, o->s.p, (size_t)n * sizeof *y);
  memcpy(y + dim + n, o->s.r, (size_t)n * sizeof *y);
  for (int i = 0; i < o->steps; i++) {
    double turn[CB_GROUP_DIM], bracket[CB_GROUP_DIM], moved[CB_GROUP_SIZE];
    for (int s = 0; s < 4; s++) {
      for (int a = 0; a < all; a++) at[a] = y[a] + h * place[s] * (s ? k[s - 1][a] : 0);
      rate_of(&o->m, at, k[s], xi[s]);
    }
    for (int s = 0; s < 4; s++)
      for (int a = 0; a < all; a++) y[a] += h * weight[s] * k[s][a];
    group->bracket(group, xi[0], xi[3], bracket);
    for (int a = 0; a < dim; a++) {
      turn[a] = h * h / 12 * bracket[a];
      for (int s = 0; s < 4; s++) turn[a] += h * weight[s] * xi[s][a];
    }
    group->exp(group, turn, moved);
    group->multiply(group, o->s.g, moved, o->s.g);
  }
  memcpy(o->s.mu, y, (size_t)dim * sizeof *y);
  memcpy(o->s.p, y + dim, (size_t)n * sizeof *y);
  memcpy(o->s.r, y + dim + n, (size_t)n * sizeof *y);
}

/* --- the rows --- */

typedef struct row {
  const char *name;
  void (*run)(void *self);
  const char *integrator; /* the integrator, if `run` is make_steps */
} row;

/* Measures and prints the rows of a shape. Returns the CPU time of one step of the first row. *part becomes the CPU
 * time of one call of the last row, and *solves the mean number of linear systems that a step of the first row
 * solves. */
static double compare(const bench *b, const char *title, const shape_case *c, bool drag, double step, int steps,
                      const row *rows, double *part, double *solves) {
  static motion of[8];
  bench own = *b;
  int n = 0;
  own.n = 0;
  for (; rows[n].name; n++) {
    const char *text = rows[n].integrator ? rows[n].integrator : drag ? "{name: gauss}" : "{name: hamilton_pontryagin}";
    motion_begin(&of[n], c, drag, text, step, b->quick ? 3 : steps);
    bench_add(&own, rows[n].name, rows[n].run, &of[n], of[n].steps);
  }
  bench_go(&own, 40);
  printf("\n%s, step %g\n  %-36s %10s %8s %10s\n", title, step, "", "us", "times", "solves");
  for (int i = 0; i < n; i++) {
    printf("  %-36s %10.3f %8.2f", own.subject[i].name, 1e6 * own.subject[i].cpu,
           own.subject[i].cpu / own.subject[n - 1].cpu);
    if (of[i].made) printf(" %10.2f", (double)of[i].solves / (double)of[i].made);
    printf("\n");
  }
  *part = own.subject[n - 1].cpu;
  *solves = (double)of[0].solves / (double)of[0].made;
  for (int i = 0; i < n; i++) motion_end(&of[i]);
  return own.subject[0].cpu;
}

static const shape_case snake = {"floating_snake", "{links: 3}", {NULL},   {NULL}, NULL, {0},
                                 {0, .5},          {0},          {.2, .3}, {0}},
                        fish = {"perfect_fish", "{}", {NULL}, {NULL}, NULL, {0}, {.8, -.5}, {0}, {.5, .3}, {0}},
                        purcell = {"purcell", "{links: 3}", {NULL}, {".2*sin(t)", NULL}, NULL,
                                   {0},       {0},          {0},    {0, .0073},          {0}};

int main(int argc, char **argv) {
  static const row inertia[] = {{"hamilton_pontryagin, order 2", make_steps, "{name: hamilton_pontryagin}"},
                                {"hamilton_pontryagin, order 4", make_steps, "{name: hamilton_pontryagin, order: 4}"},
                                {"rk4", make_rk4_steps, NULL},
                                {"connection and metric, derivatives", evaluate_connections, NULL},
                                {"form and derivatives", evaluate_forms, NULL},
                                {0}},
                   drag[] = {{"gauss, 3 stages", make_steps, "{name: gauss, stages: 3}"},
                             {"radau_iia, 3 stages", make_steps, "{name: radau_iia, stages: 3}"},
                             {"connection and metric, derivatives", evaluate_connections, NULL},
                             {0}};
  bench b = bench_begin(argc, argv, "steps of shape variables that move by themselves, one thread");
  double part, solves, took = compare(&b, "floating snake", &snake, false, .01, 20000, inertia, &part, &solves);
  bench_judge(&b, "shapes: a step of the floating snake", 1e6 * took, "<=", .5, "us");
  took = compare(&b, "perfect fish", &fish, false, .1, 20, inertia, &part, &solves);
  bench_judge(&b, "shapes: a step of the fish to its evaluations", took / (solves * part), "<=", 1.2, "times");
  took = compare(&b, "elastic Purcell", &purcell, true, .0314, 2000, drag, &part, &solves);
  bench_judge(&b, "shapes: a step of gauss of the elastic Purcell", 1e6 * took, "<=", 4, "us");
  return b.missed > 0;
}
