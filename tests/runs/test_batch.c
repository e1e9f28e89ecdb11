/* Tests that runs in vector lanes (several runs at once, one in each element of the processor's vectors) give the same
 * results as single runs, bit for bit: rows, events, checkpoints, statuses and messages. The spaces are E, S and H of
 * two and three dimensions; the integrators are lobatto and rk4. Every lane has different values. Some lanes fail, end
 * early or are resumed. */
#include "check.h"

#include "core/threads.h"
#include "integrators/lanes.h"
#include "numerics/random.h"
#include "run/run_shared.h"

#include <curvebody/scenario.h>

enum { LANES = 8, STATE = 4096 };

/* Data that a run has passed to its sink: the numbers of rows, events and checkpoints; a digest of the rows, the
 * checkpoints, and the time, kind and gap of the events; and the `bytes` bytes of the state of the second
 * checkpoint. */
typedef struct heard {
  cb_run *run;
  uint64_t digest;
  int64_t rows, events, checkpoints;
  unsigned char state[STATE];
  size_t bytes;
} heard;

static void mix(heard *h, const void *data, size_t n) {
  const unsigned char *c = data;
  for (size_t i = 0; i < n; i++) h->digest = (h->digest ^ c[i]) * UINT64_C(1099511628211); /* the hash FNV-1a */
}

static size_t bytes_of(const cb_record_layout *l, const cb_field *f) {
  size_t n = f->type == CB_FIELD_INT32 ? 4 : 8;
  for (int d = 0; d < f->rank; d++)
    for (size_t i = 0; i < l->n_dimensions; i++)
      if (!strcmp(l->dimensions[i].name, f->dims[d])) n *= l->dimensions[i].count;
  return n;
}

static cb_status row(void *self, const void *const *data) {
  heard *h = self;
  const cb_record_layout *l = cb_run_layout(h->run);
  for (size_t f = 0; f < l->n_fields; f++) mix(h, data[f], bytes_of(l, &l->fields[f]));
  h->rows++;
  return CB_OK;
}
static cb_status event(void *self, const cb_event_row *e) {
  heard *h = self;
  mix(h, &e->time, sizeof e->time);
  mix(h, &e->kind, sizeof e->kind);
  mix(h, &e->gap, sizeof e->gap);
  h->events++;
  return CB_OK;
}
static cb_status checkpoint(void *self, const cb_blob *state, size_t n) {
  heard *h = self;
  const bool keep = ++h->checkpoints == 2;
  for (size_t i = 0; i < n; i++) {
    const size_t bytes = state[i].count * 8;
    mix(h, state[i].data, bytes);
    if (!keep) continue;
    assert_true(h->bytes + bytes <= STATE);
    memcpy(h->state + h->bytes, state[i].data, bytes);
    h->bytes += bytes;
  }
  return CB_OK;
}

/* Sets a run to the checkpoint in from->state, so that it continues from there. */
static void restore(cb_run *run, const heard *from) {
  size_t n, at = 0;
  cb_blob *state = cb_run_state(run, &n);
  for (size_t i = 0; i < n; i++) {
    memcpy(state[i].data, from->state + at, state[i].count * 8);
    at += state[i].count * 8;
  }
  assert_int_equal(cb_run_restore(run), CB_OK);
}

static const char *const spaces[] = {"e2",
                                     "e3",
                                     "{name: s2, curvature: K}",
                                     "{name: s3, curvature: K}",
                                     "{name: h2, curvature: -K}",
                                     "{name: h3, curvature: -K}"};
static const char *const methods[] = {"name: lobatto, stages: 2", "name: lobatto, stages: 3, compensated: false",
                                      "name: lobatto, stages: 4", "name: lobatto, stages: 5, solver: fixed-point",
                                      "name: rk4"};
static const char *const bodies[] = {
    "{kind: rod, name: b, link: {spring: {stiffness: A, rest: B}}, masses: [C, 1], place: {chart: polar, points: [P, "
    "Q]}, motion: {killing: MOVE, speed: S}}",
    "{kind: chain, name: b, link: {spring: {stiffness: A, rest: B}}, masses: [C, 1, 2], place: {chart: polar, points: "
    "[P, Q, "
    "R]}, motion: {killing: MOVE, speed: S}}",
    "{kind: particles, name: b, masses: [C, 1], place: {chart: polar, points: [P, Q]}, motion: {killing: MOVE, speed: "
    "S}}",
    "{kind: particles, name: c, mass: 1, place: {chart: polar, points: [R]}}\n  - {kind: rod, name: b, link: {spring: "
    "{stiffness: A, rest: B}}, masses: [C, 1], place: {chart: polar, points: [P, Q]}, motion: {killing: MOVE, speed: "
    "S}}"};
static const char *const moves[] = {"translation_x", "translation_x", "rotation_wx",
                                    "rotation_wx",   "boost_x",       "boost_x"};
enum { SPACES = 6, METHODS = 5, BODIES = 4 };

/* Returns a copy of the text in which words[i][0], a word in capitals, is replaced by words[i][1], for all n words. The
 * caller frees it. */
static char *replaced(const char *text, const char *const (*words)[2], size_t n) {
  char *out = calloc(1, 8192), *to = out;
  while (*text) {
    size_t i = 0;
    const bool begins = to == out || !((to[-1] | 32) >= 'a' && (to[-1] | 32) <= 'z');
    while (i < n && strncmp(text, words[i][0], strlen(words[i][0]))) i++;
    const char after = i < n ? text[strlen(words[i][0])] : 0;
    if (i == n || !begins || ((after | 32) >= 'a' && (after | 32) <= 'z')) {
      *to++ = *text++;
      continue;
    }
    to += sprintf(to, "%s", words[i][1]);
    text += strlen(words[i][0]);
  }
  return out;
}

/* Returns the text of a random scenario for this space, integrator, body and lane. The caller frees it. */
static char *draw(uint64_t *seed, int space, int method, int body, int lane) {
  char number[16][96];
  const bool three = space & 1;
  for (int i = 0; i < 16; i++) snprintf(number[i], sizeof number[i], "%.17g", 0.5 + cb_uniform(seed));
  const char *const ends[] = {"0.4", "0.37", "0.11", "2.9"}, *const everies[] = {"1", "3", "5"};
  snprintf(number[14], sizeof number[14], "%s", ends[(int)(cb_uniform(seed) * 4)]);
  snprintf(number[15], sizeof number[15], "%s", everies[(int)(cb_uniform(seed) * 3)]);
  for (int p = 0; p < 3; p++) {
    const double r = 0.3 + 0.3 * p, u = 0.6 + cb_uniform(seed), w = 0.4 + 2 * p + cb_uniform(seed);
    snprintf(number[8 + p], sizeof number[0], three ? "[%.15g, %.15g, %.15g]" : "[%.15g, %.15g]", r, three ? u : w, w);
  }
  const char *fails = method == 1 || method > 2 || (lane != 3 && lane != 6) ? ""
                      : lane == 3 ? ", iterations: 3, solver: fixed-point, retries: 2"
                                  : ", iterations: 1, solver: fixed-point, retries: 1";
  const char *const words[][2] = {{"MOVE", moves[space]}, {"K", number[0]},  {"A", number[1]},
                                  {"B", number[2]},       {"C", number[3]},  {"P", number[8]},
                                  {"Q", number[9]},       {"R", number[10]}, {"S", number[4]}};
  char text[4096];
  snprintf(text, sizeof text,
           "curvebody: 1\nspace: %s\nbodies:\n  - %s\nintegrator: {%s%s, step: %s}\ntime: {end: %s}\n"
           "record: {every: %s, checkpoint: 4, observables: [energy, separation]}\n",
           spaces[space], bodies[body], methods[method], fails, lane & 1 ? "0.01" : "0.02", number[14], number[15]);
  return replaced(text, words, sizeof words / sizeof *words);
}

static cb_scenario *opened(const char *text) {
  cb_scenario *s = NULL;
  if (cb_scenario_open_text("drawn", text, NULL, 0, &s)) fail_msg("%s\n%s", cb_error_text(), text);
  return s;
}

/* numbers of retries, of failures, of starts from a checkpoint, and of runs whose origin has moved */
static int64_t retried, failures, resumed, moved;

static bool has_moved(const cb_run *run) {
  const cb_state *s = cb_run_current(run);
  static const cb_origin none;
  bool any = false;
  for (int c = 0; c < s->n_components; c++)
    any = any || memcmp(&s->origin[c].shift, &none.shift, sizeof none.shift) || s->origin[c].length != 0;
  return any;
}

/* Fails if the states of two runs differ in one bit. The part `watch` of the state is not compared. It contains maxima
 * over rows, which a run without a record does not compute. */
static void same_states(cb_run *a, cb_run *b, int lane, const char *text) {
  size_t n;
  const cb_blob *one = cb_run_checkpoint(a, &n), *other = cb_run_checkpoint(b, &n);
  for (size_t i = 0; i < n; i++) {
    const size_t size = one[i].type == CB_FIELD_INT32 ? 4 : 8;
    if (strcmp(one[i].name, "watch") && memcmp(one[i].data, other[i].data, one[i].count * size))
      fail_msg("lane %d: /%s differs after cb_runs_advance\n%s", lane, one[i].name, text);
  }
}

/* Advances the scenarios together by 1, 8, 15, .. steps, without records, and compares states, statuses and messages
 * with those of complete runs. */
static void advance_in_parts(char *const *text, const cb_batch_member *whole, const cb_status *status) {
  cb_scenario *s[LANES];
  cb_run *run[LANES];
  cb_status found[LANES], last[LANES] = {CB_OK};
  char words[LANES][CB_RUN_TEXT];
  bool going = true;
  for (int l = 0; l < LANES; l++) run[l] = cb_scenario_run(s[l] = opened(text[l]));
  for (int64_t steps = 1; going; steps += 7) {
    assert_int_equal(cb_runs_advance(run, LANES, steps, 2, found, words), CB_OK);
    going = false;
    for (int l = 0; l < LANES; l++) {
      if (found[l]) last[l] = found[l];
      going = going || !(cb_run_ended(run[l]) || found[l]);
    }
  }
  for (int l = 0; l < LANES; l++) {
    if (l == 5) continue; /* whole[5] started from a checkpoint, so its numbers are not those of a run from the start */
    assert_int_equal(last[l], status[l]);
    if (!status[l]) same_states(run[l], whole[l].run, l, text[l]);
  }
  for (int l = 0; l < LANES; l++) cb_scenario_free(s[l]);
}

/* Runs the scenarios in lanes and one by one, compares the digests, numbers, statuses and messages, and frees the
 * texts. Lane 5 starts from its second checkpoint. */
static void compare(char *const *text) {
  cb_batch *batch;
  cb_scenario *s[2][LANES];
  heard h[2][LANES], *before = calloc(LANES, sizeof *before);
  cb_sink sink[2][LANES];
  cb_batch_member of[LANES];
  cb_status status[LANES];
  char words[LANES][600];
  memset(h, 0, sizeof h);
  assert_int_equal(cb_batch_create(&batch), CB_OK);
  for (int l = 0; l < LANES; l++) {
    for (int k = 0; k < 2; k++) {
      s[k][l] = opened(text[l]);
      h[k][l].run = cb_scenario_run(s[k][l]);
      sink[k][l] = (cb_sink){&h[k][l], row, event, checkpoint, NULL};
    }
    if (l == 5) { /* this lane starts from its second checkpoint */
      cb_scenario *other = opened(text[l]);
      cb_sink to = {&before[l], row, event, checkpoint, NULL};
      before[l].run = cb_scenario_run(other);
      assert_int_equal(cb_run_go(before[l].run, &to, NULL, NULL, NULL), CB_OK);
      for (int k = 0; k < 2 && before[l].bytes; k++) restore(h[k][l].run, &before[l]);
      resumed += before[l].bytes > 0;
      cb_scenario_free(other);
    }
    of[l] = (cb_batch_member){.run = h[1][l].run, .sink = &sink[1][l]};
  }
  for (int l = 0; l < LANES; l++) {
    status[l] = cb_run_go(h[0][l].run, &sink[0][l], NULL, NULL, NULL);
    snprintf(words[l], sizeof words[l], "%s", status[l] ? cb_error_text() : "");
  }
  const size_t width = cb_batch_width(h[1][0].run);
  assert_int_equal(width, cb_lanes_width());
  for (size_t l = 0; l < LANES; l += width) cb_batch_run(batch, of + l, width, NULL);
  advance_in_parts(text, of, status);
  for (int l = 0; l < LANES; l++) {
    if (h[0][l].digest != h[1][l].digest || status[l] != of[l].status || h[0][l].rows != h[1][l].rows ||
        h[0][l].checkpoints != h[1][l].checkpoints || h[0][l].events != h[1][l].events ||
        (status[l] && strcmp(words[l], of[l].text)))
      fail_msg("lane %d differs: rows %lld %lld, checkpoints %lld %lld, events %lld %lld, status %d %d\n%s\n%s\n%s", l,
               (long long)h[0][l].rows, (long long)h[1][l].rows, (long long)h[0][l].checkpoints,
               (long long)h[1][l].checkpoints, (long long)h[0][l].events, (long long)h[1][l].events, status[l],
               of[l].status, words[l], of[l].text, text[l]);
    retried += h[1][l].events;
    failures += of[l].status != CB_OK;
    moved += has_moved(h[1][l].run);
    cb_scenario_free(s[0][l]);
    cb_scenario_free(s[1][l]);
    free(text[l]);
  }
  cb_batch_free(batch);
  free(before);
}

static void lanes_of(uint64_t seed, int space, int method, int body) {
  char *text[LANES];
  for (int l = 0; l < LANES; l++) text[l] = draw(&seed, space, method, body, l);
  compare(text);
}

/* In each lane a spring on a sphere joins two particles. They reach antipodal points at different times. In some lanes
 * they become exactly antipodal, which ends the run (dynamics/pair_potential.c). In the other lanes they are only
 * nearly antipodal. */
static void springs_that_turn_round_go_alone(void **unused) {
  static const char *const method[] = {"lobatto, stages: 4", "rk4"};
  failures = 0;
  for (int i = 0; i < 2; i++) {
    char *text[LANES];
    for (int l = 0; l < LANES; l++) {
      text[l] = malloc(1024);
      snprintf(text[l], 1024,
               "curvebody: 1\nspace: s3\nbodies:\n  - {kind: rod, name: b, link: {spring: {stiffness: 1, rest: 3}}, "
               "place: {chart: polar, points: [[%g, pi/2, 0], [0.9, pi/2, pi]]}, motion: {chart: polar, velocities: "
               "[[0.5, 0, %g], [0.4, 0, 0]]}}\nintegrator: {name: %s, step: 0.01}\ntime: {end: 1.5}\n"
               "record: {every: 10, checkpoint: 4, observables: [energy]}\n",
               1.5 + 0.07 * l, l % 3 ? 0.2 * l : 0, method[i]);
    }
    compare(text);
  }
  assert_true(failures >= 4);
}

static void all(uint64_t seed) {
  for (int space = 0; space < SPACES; space++)
    for (int method = 0; method < METHODS; method++)
      for (int body = 0; body < BODIES; body++)
        lanes_of(seed + (uint64_t)(space * 100 + method * 10 + body), space, method, body);
}

static void bytes_are_those_of_each_alone(void **unused) {
  static const char *const isas[] = {"avx2", "avx512", "auto"};
  const uint64_t seed = check_seed();
  for (size_t i = 0; i < 3; i++) {
    if (cb_isa_set(isas[i])) continue; /* the processor does not support this instruction set */
    print_message("%zu lanes\n", cb_lanes_width());
    all(seed + i);
  }
  print_message("%lld retried, %lld failed, %lld resumed, %lld moved\n", (long long)retried, (long long)failures,
                (long long)resumed, (long long)moved);
  assert_true(retried > 0 && failures > 0 && resumed > 0 && moved > 0);
}

/* Runs that vector lanes do not support are made one by one by the same call, cb_batch_run. */
static void others_go_alone(void **unused) {
  static const char *const kinds[] = {
      "{kind: chain, name: b, link: {spring: {stiffness: 1, damping: 0.1}}, place: {chart: polar, points: "
      "[[1,1,1],[1,1,2]]}}",
      "{kind: rod, name: b, link: rod, place: {chart: polar, points: [[1,1,1],[1,1,2]]}}",
      "{kind: truss, name: b, rods: [], springs: [[0,1],[1,2],[0,2]], place: {chart: polar, points: "
      "[[1,1,1],[1,1,2],[1,2,1]]}}"};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char text[2048];
    cb_batch *batch;
    snprintf(text, sizeof text,
             "curvebody: 1\nspace: h3\nbodies:\n  - %s\nintegrator: {name: lobatto, step: 0.01}\n"
             "time: {end: 0.1}\n",
             kinds[i]);
    cb_scenario *a = opened(text), *b = opened(text), *c = opened(text);
    heard h[3] = {{.run = cb_scenario_run(a)}, {.run = cb_scenario_run(b)}, {.run = cb_scenario_run(c)}};
    cb_sink sink[3];
    cb_batch_member of[2];
    for (int k = 0; k < 3; k++) sink[k] = (cb_sink){&h[k], row, event, checkpoint, NULL};
    for (int k = 0; k < 2; k++) of[k] = (cb_batch_member){.run = h[k + 1].run, .sink = &sink[k + 1]};
    assert_int_equal(cb_batch_width(h[0].run), 1);
    assert_int_equal(cb_batch_create(&batch), CB_OK);
    assert_int_equal(cb_run_go(h[0].run, &sink[0], NULL, NULL, NULL), CB_OK);
    cb_batch_run(batch, of, 2, NULL);
    for (int k = 0; k < 2; k++) {
      assert_int_equal(of[k].status, CB_OK);
      assert_true(h[k + 1].digest == h[0].digest);
    }
    cb_batch_free(batch);
    cb_scenario_free(a);
    cb_scenario_free(b);
    cb_scenario_free(c);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_are_those_of_each_alone),
                                     cmocka_unit_test(springs_that_turn_round_go_alone),
                                     cmocka_unit_test(others_go_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
