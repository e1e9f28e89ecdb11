/* Compares the speed of a rod in built-in spaces with its speed in the same spaces given by a metric as text. The text
 * is parsed once and evaluated on second-order jets. */
#include "bench/bench.h"

#include <curvebody/scenario.h>

#define ROD(space, ...) ROD_AT(space, __VA_ARGS__)
#define ROD_AT(space, points, velocities)                                          \
  "curvebody: 1\nspace: " space                                                    \
  "\nbodies:\n  - kind: rod\n    link: {spring: {stiffness: 1}}\n    masses: [1, " \
  "2.7]\n    place: {points: " points "}\n    motion: {velocities: " velocities    \
  "}\n"                                                                            \
  "integrator: {name: gauss, stages: 2, step: 0.01}\ntime: {end: 1}\n"
#define POLAR "[[0.7, 1.4, 0.3], [0.9, 1.2, 1.1]]", "[[0.3, 0.2, 0.1], [0.1, 0.3, 0.5]]"
#define PLAIN "[[0.7, 0.4, 0.3], [0.9, -0.2, 0.1]]", "[[0.3, 0.2, 0.1], [0.1, 0.3, 0.5]]"
#define TUBE "[[0.7, 1.1, 0.3], [0.9, 0.3, 0.1]]", "[[0.3, 0.2, 0.1], [0.1, 0.3, 0.5]]"
#define TEXT(metric, base) "{metric: " metric ", coordinates: [a, b, g], base: " base "}"

static const struct pair {
  const char *name, *built_in, *text;
} pairs[] = {
    {"e3, polar", ROD("{name: e3, chart: polar}", POLAR),
     ROD(TEXT("[[1, 0, 0], [0, a^2, 0], [0, 0, 'a^2*sin(b)^2']]", "[1, 1, 1]"), POLAR)},
    {"s3, polar", ROD("{name: s3, chart: polar}", POLAR),
     ROD(TEXT("[[1, 0, 0], [0, 'sin(a)^2', 0], [0, 0, 'sin(a)^2*sin(b)^2']]", "[1, 1, 1]"), POLAR)},
    {"h3, polar", ROD("{name: h3, chart: polar}", POLAR),
     ROD(TEXT("[[1, 0, 0], [0, 'sinh(a)^2', 0], [0, 0, 'sinh(a)^2*sin(b)^2']]", "[1, 1, 1]"), POLAR)},
    {"h2xe, polar", ROD("{name: h2xe, chart: polar}", TUBE),
     ROD(TEXT("[[1, 0, 0], [0, 'sinh(a)^2', 0], [0, 0, 1]]", "[1, 1, 1]"), TUBE)},
    {"ih", ROD("ih", PLAIN),
     ROD(TEXT("[['a^2+b^2+g^2+2', 0, 0], [0, 'a^2+b^2+g^2+2', 0], [0, 0, 'a^2+b^2+g^2+2']]", "[0, 0, 0]"), PLAIN)},
};
enum { PAIRS = sizeof pairs / sizeof *pairs, STEPS = 50 };

typedef struct subject {
  cb_scenario *scenario;
  cb_state *state;
} subject;

static void steps(void *self) {
  subject *s = self;
  check_ok(cb_system_start(cb_scenario_system(s->scenario), s->state));
  cb_integrator_reset(cb_scenario_integrator(s->scenario));
  for (int i = 0; i < STEPS; i++) check_ok(cb_integrator_step(cb_scenario_integrator(s->scenario), s->state, 0.01));
}

static subject open_subject(const char *text) {
  subject s;
  check_ok(cb_scenario_open_text("bench", text, NULL, 0, &s.scenario));
  check_ok(cb_state_create(cb_scenario_system(s.scenario), &s.state));
  return s;
}

int main(int argc, char **argv) {
  bench b = bench_begin(argc, argv, "spaces: microseconds a step of an elastic rod, gauss with 2 stages, h = 0.01");
  subject of[PAIRS][2];
  for (int i = 0; i < PAIRS; i++)
    for (int text = 0; text < 2; text++) {
      of[i][text] = open_subject(text ? pairs[i].text : pairs[i].built_in);
      bench_add(&b, pairs[i].name, steps, &of[i][text], STEPS);
    }
  bench_go(&b, 20);
  printf("  %-12s %10s %10s %8s\n", "", "built in", "text", "ratio");
  for (int i = 0; i < PAIRS; i++) {
    const double built_in = 1e6 * b.subject[2 * i].cpu, text = 1e6 * b.subject[2 * i + 1].cpu;
    printf("  %-12s %10.2f %10.2f %8.1f\n", pairs[i].name, built_in, text, text / built_in);
    char what[64];
    snprintf(what, sizeof what, "spaces, %s: text over built in", pairs[i].name);
    bench_judge(&b, what, text / built_in, "<=", 40, "times the time");
    for (int t = 0; t < 2; t++) {
      cb_state_free(of[i][t].state);
      cb_scenario_free(of[i][t].scenario);
    }
  }
  return b.missed > 0;
}
