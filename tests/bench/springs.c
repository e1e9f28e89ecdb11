/* Measures networks of 10^3 to 10^6 particles on one and two threads. The times are nanoseconds per spring for forces,
 * and nanoseconds per particle and step for complete steps.
 *
 * There are about three springs per particle, and the particles are numbered at random. One thread is measured in CPU
 * time, two threads in wall-clock time; the results of both must be identical.
 */
#include "bench.h"
#include "core/threads.h"
#include "networks.h"
#include <curvebody/integrator.h>

enum { SIZES = 4, THREADS = 2 };
static const double sizes[SIZES] = {1e3, 1e4, 1e5, 1e6};

typedef struct evaluation {
  const network *net;
  cb_forces *forces;
  double *force;
  int repetitions;
} evaluation;

static void evaluate(void *self) {
  evaluation *e = self;
  for (int i = 0; i < e->repetitions; i++) check_ok(cb_forces_eval(e->forces, 0, e->net->start->x, NULL, e->force));
}

static evaluation open_evaluation(const network *net, int threads) {
  evaluation e = {.net = net, .repetitions = (int)(3e5 / (double)net->m) + 1};
  check_ok(cb_forces_create(net->system, &e.forces));
  check_ok(cb_forces_set_threads(e.forces, threads));
  e.force = aligned_alloc(64, (4 * net->n * sizeof(double) + 63) / 64 * 64);
  return e;
}

static void close_evaluation(evaluation *e) {
  cb_forces_free(e->forces);
  free(e->force);
}

static void springs(bench *b, const char *space, network_kind kind, int most) {
  network net[SIZES];
  evaluation of[SIZES][THREADS];
  b->n = 0;
  for (int i = 0; i < most; i++) {
    net[i] = network_open(space, kind, sizes[i]);
    for (int t = 0; t < THREADS; t++) {
      of[i][t] = open_evaluation(&net[i], t + 1);
      bench_add(b, space, evaluate, &of[i][t], (double)of[i][t].repetitions * (double)net[i].m);
    }
  }
  bench_go(b, 40);

  double least = INFINITY, slowest = 0, slower = 0, speedup = INFINITY;
  bool same = true;
  for (int i = 0; i < most; i++) {
    const bench_subject *one = &b->subject[THREADS * i], *two = one + 1;
    const double ns = 1e9 * one->cpu, gain = one->wall / two->wall;
    same = same && !memcmp(of[i][0].force, of[i][1].force, 4 * net[i].n * sizeof(double));
    printf("  %-4s %-20s %9zu %9zu %10.2f %10.2f %9.2f\n", space, network_names[kind], net[i].n, net[i].m, ns,
           1e9 * two->wall, gain);
    least = fmin(least, ns);
    slowest = fmax(slowest, ns);
    if (net[i].n < 100000)
      slower = fmax(slower, 1 / gain);
    else
      speedup = fmin(speedup, gain);
  }
  char what[128];
  snprintf(what, sizeof what, "springs, %s, %s", network_names[kind], space);
  char line[160];
  if (kind != NETWORK_RANDOM) {
    snprintf(line, sizeof line, "%s: slowest size", what);
    bench_judge(b, line, slowest, "<=", 15, "ns a spring");
    snprintf(line, sizeof line, "%s: slowest/fastest size", what);
    bench_judge(b, line, slowest / least, "<=", 1.5, "");
    snprintf(line, sizeof line, "%s: two threads from 10^5", what);
    bench_judge(b, line, speedup, ">=", 1.8, "times faster");
    snprintf(line, sizeof line, "%s: two threads below", what);
    bench_judge(b, line, slower, "<=", 1.05, "times the time");
  }
  snprintf(line, sizeof line, "%s: same bytes on two threads", what);
  bench_judge(b, line, same, ">=", 1, "");
  for (int i = 0; i < most; i++) {
    for (int t = 0; t < THREADS; t++) close_evaluation(&of[i][t]);
    network_close(&net[i]);
  }
}

typedef struct stepping {
  cb_integrator *integrator;
  cb_state *state;
  int steps;
} stepping;

static const double h = 0.01;

static void steps(void *self) {
  stepping *s = self;
  for (int i = 0; i < s->steps; i++) check_ok(cb_integrator_step(s->integrator, s->state, h));
}

static stepping open_stepping(const network *net, int threads) {
  stepping s = {.steps = (int)(3e4 / (double)net->n) + 1};
  cb_threads_set(threads);
  check_ok(cb_integrator_create("lobatto", NULL, net->system, &s.integrator));
  check_ok(cb_state_create(net->system, &s.state));
  cb_state_copy(s.state, net->start);
  return s;
}

static void whole_steps(bench *b, const char *space, network_kind kind, int most) {
  for (int i = 0; i < most; i++) {
    network net = network_open(space, kind, sizes[i]);
    stepping of[THREADS];
    b->n = 0;
    for (int t = 0; t < THREADS; t++) {
      of[t] = open_stepping(&net, t + 1);
      bench_add(b, space, steps, &of[t], (double)of[t].steps * (double)net.n);
    }
    bench_go(b, sizes[i] > 1e5 ? 10 : 25);
    const bench_subject *one = &b->subject[0], *two = one + 1;
    const bool same = !memcmp(of[0].state->x, of[1].state->x, 4 * net.n * sizeof(double)) &&
                      !memcmp(of[0].state->p, of[1].state->p, 4 * net.n * sizeof(double));
    printf("  %-4s %-20s %9zu %9zu %10.1f %10.1f %9.2f %11d\n", space, network_names[kind], net.n, net.m,
           1e9 * one->cpu, 1e9 * two->wall, one->wall / two->wall, of[0].integrator->iterations);
    char line[128];
    snprintf(line, sizeof line, "steps, %s, %zu particles: same bytes on two threads", space, net.n);
    bench_judge(b, line, same, ">=", 1, "");
    for (int t = 0; t < THREADS; t++) {
      cb_integrator_free(of[t].integrator);
      cb_state_free(of[t].state);
    }
    network_close(&net);
  }
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv,
                        "springs: nanoseconds a spring evaluation, one and two threads, three springs a particle");
  const int most = b.quick ? 2 : SIZES;
  printf("       %-20s %9s %9s %10s %10s %9s\n", "", "particles", "springs", "1 thread", "2 threads", "speed-up");
  static const char *const spaces[] = {"s3", "h3"};
  for (int i = 0; i < 2; i++)
    for (int kind = 0; kind < NETWORK_KINDS; kind++) springs(&b, spaces[i], kind, most);
  printf("\nsteps: nanoseconds a particle and step, lobatto with 4 stages, h = 0.01, stiffness 1, mass 1\n");
  printf("       %-20s %9s %9s %10s %10s %9s %11s\n", "", "particles", "springs", "1 thread", "2 threads", "speed-up",
         "iterations");
  for (int i = 0; i < 2; i++) whole_steps(&b, spaces[i], NETWORK_MESH, most);
  return b.missed > 0;
}
