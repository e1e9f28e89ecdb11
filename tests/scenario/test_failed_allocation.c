/* Tests lack of memory: wherever memory runs out while a scenario is opened and run, either the result is the same or
 * the failure is reported. There is no crash, no leak and no different result. The test uses a seeded sample of the
 * allocations; with CB_TEST_ALL it uses all. */
#include "fail_allocations.h"
#include "hdf5_file.h"
#include "memory_sink.h"

#include "core/text.h"
#include <unistd.h>

#define CORPUS CB_TESTS_DIR "/fuzz/corpus/"
#define NETWORK                                                                                                        \
  "curvebody: 1\nspace: e3\nbodies: [{kind: network, mesh: {file: cube.obj}}]\nintegrator: {step: 0.05}\ntime: {end: " \
  "0.05}\n"

typedef struct test_case {
  const char *scenario; /* a file of the corpus, or a text of several lines */
  const char *set[5];
} test_case;

/* The results of a run that are compared. */
typedef struct outcome {
  cb_text text; /* the scenario, and attributes of the record */
  memory_sink rows;
} outcome;

static void free_outcome(outcome *o) {
  cb_text_free(&o->text);
  memory_free(&o->rows);
  *o = (outcome){0};
}

/* Allocations of this sink neither count nor fail. */
static cb_status put_row(void *self, const void *const *data) {
  allocations.counts = false;
  const cb_status status = memory_row(self, data);
  allocations.counts = true;
  return status;
}

static cb_status put_checkpoint(void *self, const cb_blob *state, size_t n) {
  allocations.counts = false;
  const cb_status status = memory_checkpoint(self, state, n);
  allocations.counts = true;
  return status;
}

/* Appends the text with which a record describes the scenario. */
static void put_layout(cb_text *text, const cb_record_layout *layout) {
  cb_text_puts(text, layout->scenario_resolved);
  for (size_t i = 0; layout->attributes[i]; i += 2) {
    cb_text_puts(text, layout->attributes[i]);
    cb_text_puts(text, layout->attributes[i + 1] ? layout->attributes[i + 1] : "(null)");
  }
}

/* Opens a scenario, runs it to the end and closes it. Allocation number `at` fails; if `stays` is set, all later ones
 * fail, too. *requests receives the number of allocations. */
static cb_status open_and_run(const test_case *c, size_t at, bool stays, outcome *o, size_t *requests) {
  cb_scenario *s = NULL;
  size_t sets = 0;
  while (sets < 5 && c->set[sets]) sets++;
  *o = (outcome){0};
  fail_allocation(at, stays);
  cb_status status;
  if (strchr(c->scenario, '\n')) {
    status = cb_scenario_open_text(CORPUS "mesh/text", c->scenario, c->set, sets, &s);
  } else {
    char path[1024];
    snprintf(path, sizeof path, CORPUS "scenario/%s.yaml", c->scenario);
    status = cb_scenario_open(path, c->set, sets, &s);
  }
  if (status) {
    *requests = end_failing();
    if (s) fail_msg("%s: a failure leaves a scenario", c->scenario);
    return status;
  }
  const cb_record_layout *layout = cb_scenario_layout(s);
  cb_sink sink = memory_open(&o->rows, cb_scenario_run(s));
  sink.row = put_row;
  sink.checkpoint = put_checkpoint;
  status = cb_run_go(cb_scenario_run(s), &sink, NULL, NULL, NULL);
  allocations.counts = false;
  put_layout(&o->text, layout);
  allocations.counts = true;
  cb_scenario_free(s);
  *requests = end_failing();
  return status;
}

static bool same_outcome(const outcome *a, const outcome *b) {
  if (strcmp(a->text.data, b->text.data) || a->rows.row_bytes != b->rows.row_bytes ||
      a->rows.n_rows != b->rows.n_rows || a->rows.n_events != b->rows.n_events)
    return false;
  for (size_t r = 0; r < a->rows.n_rows; r++)
    if (memcmp(a->rows.rows[r], b->rows.rows[r], a->rows.row_bytes)) return false;
  return true;
}

/* Runs the scenario while allocation `at` fails. If the result is wrong, prints the reason and the addresses of the
 * caller for addr2line, and returns 1; otherwise returns 0. */
static size_t failures_of(const test_case *c, size_t at, bool stays, const outcome *good) {
  outcome o;
  size_t requests;
  const cb_status status = open_and_run(c, at, stays, &o, &requests);
  const char *wrong = status && status != CB_ERROR_MEMORY               ? "another error"
                      : status && !strstr(cb_error_text(), "no memory") ? "a text that does not say so"
                      : !status && !same_outcome(&o, good)              ? "another outcome"
                      : allocations.kept                                ? "a leak"
                                                                        : NULL;
  free_outcome(&o);
  if (!wrong) return 0;
  print_error("%s %s %s: request %zu%s: %s: %s, `%s`, %ld pieces kept\n", c->scenario, c->set[0] ? c->set[0] : "",
              c->set[1] ? c->set[1] : "", at, stays ? " and all after" : "", wrong, cb_status_name(status),
              status ? cb_error_text() : "", (long)allocations.kept);
  print_failed_allocation();
  return 1;
}

static size_t check_case(const test_case *c, uint64_t *seed) {
  const size_t most = CHECK_SANITIZED ? 20 : 500;
  outcome good, again;
  size_t all, requests, wrong = 0, tried = 0;
  check_ok(open_and_run(c, 0, false, &good, &requests));
  check_ok(open_and_run(c, 0, false, &again, &all));
  if (!same_outcome(&good, &again)) fail_msg("%s: another outcome the second time", c->scenario);
  if (allocations.kept) fail_msg("%s: a leak of %ld pieces", c->scenario, (long)allocations.kept);
  const double stride = getenv("CB_TEST_ALL") || all <= most ? 1 : (double)all / (double)most;
  for (double at = stride == 1 ? 1 : check_uniform(seed, 0, stride) + 1; at < (double)all + 1; at += stride)
    for (int stays = 0; stays < 2; stays++, tried++) wrong += failures_of(c, (size_t)at, stays, &good);
  print_message("%.20s %s: %zu rows, %zu requests, %zu failures tried\n", c->scenario, c->set[0] ? c->set[0] : "",
                good.rows.n_rows, all, tried);
  free_outcome(&good);
  free_outcome(&again);
  return wrong;
}

static void check_cases(const test_case *cases) {
  uint64_t seed = check_seed();
  size_t wrong = 0;
  for (const test_case *c = cases; c->scenario; c++) wrong += check_case(c, &seed);
  assert_int_equal(wrong, 0);
}

static void particles_without_memory_say_so(void **unused) {
  check_cases((const test_case[]){
      {"rod", {"time.end=0.02", "record.observables=[separation, energy, killing_momentum, karcher_mean]"}},
      {"rod", {"integrator={name: lobatto, solver: newton, step: 0.01}", "time.end=0.02"}},
      {"rod", {"integrator={name: gauss, step: 0.01}", "time.end=0.02"}},
      {"rod", {"integrator={name: gauss, solver: newton, step: 0.01}", "time.end=0.02"}},
      {"rod", {"integrator={name: radau_iia, step: 0.01}", "time.end=0.02"}},
      {"rod", {"integrator={name: ida, step: 0.01}", "time.end=0.02"}},
      {"rod", {"integrator={name: rk4, step: 0.01}", "time.end=0.02"}},
      {"rod", {"space={name: h3, chart: polar}", "bodies.0.motion=null", "time.end=0.02"}},
      {"chart", {"time.end=0.2"}},
      {"chart", {"integrator={name: lobatto, step: 0.1}", "time.end=0.2"}},
      {"chart", {"integrator={name: rk4, step: 0.1}", "time.end=0.2"}},
      {"plane", {"time.end=0.3"}},
      {"sphere", {"time.end=0.3"}},
      {"forces", {"time.end=1.02", "record.every=1"}},
      {"curvebody: 1\nspace: schwarzschild\nbodies:\n"
       "  - {kind: triangle, link: rod, place: {at: {point: [5, 1, 0]}, tangent: [[0.5, 0, 0], [-0.2, 0.5, 0], "
       "[-0.2, -0.5, 0]]}}\nintegrator: {step: 0.05}\ntime: {end: 0.1}\n",
       {NULL}},
      {"curvebody: 1\nspace: {metric: [[1], [0, sin(a)^2]], coordinates: [a, b], periodic: [0, 2*pi], base: [1, "
       "1]}\nbodies:\n"
       "  - {kind: rod, name: a, place: {points: [[1, 1], [1.1, 2]]}}\n"
       "integrator: {name: gauss, step: 0.05}\ntime: {end: 0.1}\n",
       {NULL}},
      {"curvebody: 1\nspace: e3\nbodies:\n"
       "  - {kind: network, name: m, mesh: {file: cube.obj, scale: 0.5}, link: rod, springs: [[0, 6]], density: 2}\n"
       "integrator: {step: 0.05}\ntime: {end: 0.1}\n",
       {NULL}},
      {NETWORK, {"bodies.0.mesh.file=" CORPUS "mesh/ascii.ply"}},
      {NETWORK, {"bodies.0.mesh.file=" CORPUS "mesh/little.ply"}},
      {NETWORK, {"bodies.0.mesh.file=" CORPUS "mesh/text.stl"}},
      {NETWORK, {"bodies.0.mesh.file=" CORPUS "mesh/binary.stl"}},
      {NETWORK, {"bodies.0.mesh.file=" CORPUS "mesh/colours.off"}},
      {NULL, {NULL}}});
}

static void constraints_and_contacts_without_memory_say_so(void **unused) {
  check_cases((const test_case[]){
      {"constraints", {"time.end=0.02"}},
      {"constraints", {"integrator={name: lobatto, solver: newton, step: 0.01}", "time.end=0.02"}},
      {"constraints", {"integrator={name: radau_iia, solver: newton, step: 0.01}", "time.end=0.02"}},
      {"constraints", {"integrator={name: ida, step: 0.01}", "time.end=0.02"}},
      {"contacts", {"time.end=0.02"}},
      {"curvebody: 1\nspace: e3\nbodies:\n  - {kind: gas, name: g, count: 20, seed: 3, container_radius: 1.5, radius: "
       "0.2, speed: "
       "2}\n"
       "contacts: {within: [g], broad_phase: cells}\nintegrator: {step: 0.05}\ntime: {end: 0.3}\n",
       {NULL}},
      {"contacts", {"integrator={name: gauss, step: 0.01}", "bodies.2.link={spring: {}}", "time.end=0.02"}},
      {NULL, {NULL}}});
}

static void systems_without_memory_say_so(void **unused) {
  check_cases((const test_case[]){
      {"system", {NULL}},
      {"system", {"integrator={name: ida, step: 0.1}"}},
      {"curvebody: 1\nsystem:\n  coordinates: [a, b, c]\n  metric: [[2], [cos(a - b), 1], [0, 0, 2 + cos(b)]]\n"
       "  potential: -9*cos(a) - 4*cos(b)\n  constraints: [a + sin(c) - 1]\n  position: [1, 0.2, 0]\n"
       "integrator: {name: lobatto, step: 0.01}\ntime: {end: 0.02}\n",
       {NULL}},
      {NULL, {NULL}}});
}

/* Assignments for --set. They name the files that make_files writes: an HDF5 file with a flow and with poses, and one
 * mesh per pose. */
static char flow_of_file[128], poses_of_file[128], poses_of_files[128];
enum { POSES = 3, GRID = 4 };

static int make_files(void **unused) {
  if (make_path(unused)) return 1;
  static const double cube[8][3] = {{0, 0, 0}, {1, 0, 0}, {1, 1, 0},   {0, 1, 0},
                                    {0, 0, 1}, {1, 0, 1}, {1, 1.5, 1}, {0, 1, 1}};
  static double pose[POSES][8][3], velocity[GRID][GRID][GRID][3];
  const double axis[GRID] = {-30, -10, 10, 30};
  for (int p = 0; p < POSES; p++)
    for (int v = 0; v < 8; v++)
      for (int k = 0; k < 3; k++) pose[p][v][k] = cube[v][k] * (1 + 0.1 * p * k);
  for (int i = 0; i < GRID * GRID * GRID * 3; i++) ((double *)velocity)[i] = sin(i);
  hid_t file = create();
  put(file, "poses", H5T_IEEE_F64LE, 3, (const hsize_t[]){POSES, 8, 3}, H5T_NATIVE_DOUBLE, pose);
  put(file, "velocity", H5T_IEEE_F64LE, 4, (const hsize_t[]){GRID, GRID, GRID, 3}, H5T_NATIVE_DOUBLE, velocity);
  for (int k = 0; k < 3; k++)
    put(file, (const char *[]){"x", "y", "z"}[k], H5T_IEEE_F64LE, 1, (const hsize_t[]){GRID}, H5T_NATIVE_DOUBLE, axis);
  H5Fclose(file);
  for (int p = 0; p < POSES; p++) {
    char name[64];
    snprintf(name, sizeof name, "%s-%d.obj", path, p);
    FILE *mesh = fopen(name, "w"), *of = fopen(CORPUS "mesh/cube.obj", "r");
    for (char line[256]; fgets(line, sizeof line, of);) {
      double x[3];
      if (sscanf(line, "v %lf %lf %lf", x, x + 1, x + 2) < 3)
        fputs(line, mesh);
      else
        fprintf(mesh, "v %.70f %.70f %.70f\n", x[0], x[1], x[2]); /* too long to be parsed without an allocation */
    }
    fclose(mesh);
    fclose(of);
  }
  snprintf(flow_of_file, sizeof flow_of_file, "fluid.flow.grid=%s", path);
  snprintf(poses_of_file, sizeof poses_of_file, "bodies.0.poses={sequence: %s, step: 1}", path);
  snprintf(poses_of_files, sizeof poses_of_files, "bodies.0.poses={files: '%s-#.obj', step: 1}", path);
  return 0;
}

static int remove_files(void **unused) {
  for (int p = 0; p < POSES; p++) {
    char name[64];
    snprintf(name, sizeof name, "%s-%d.obj", path, p);
    unlink(name);
  }
  return remove_path(unused);
}

static void bodies_in_a_fluid_without_memory_say_so(void **unused) {
  check_cases((const test_case[]){
      {"immersed", {"fluid.floor.height=-2", "time.end=0.02"}},
      {"immersed", {"integrator={name: rkmk4, step: 0.01}", "fluid.floor={kind: stiff, height: -2}", "time.end=0.02"}},
      {"curvebody: 1\nfluid: {medium: 1000 - 10*z, parameters: {k: 2}, flow: {velocity: [y, k*x, sin(t)]}}\nbodies:\n"
       "  - {shape: {name: leaf, resolution: 8}, thickness: 0.01, repeat: {count: 2, seed: 7}, linear_drag: {normal: "
       "2, tangential: 1}, place: {position: [i, r1, 0]}, points: [{mass: 1, vertex: 1}]}\n"
       "  - {mesh: cube.obj, mass: 3, mass_model: vertices}\n"
       "integrator: {name: hamilton_pontryagin, map: exponential, step: 0.01}\ntime: {end: 0.02}\n"
       "record: {observables: [energy, wrenches, momentum, inertia, centre, removed_normal_velocity]}\n",
       {NULL}},
      {"curvebody: 1\nfluid: {medium: {layers: [{below: 1, density: 9}, {density: 1}]}}\nbodies:\n  - {mesh: "
       "cube.obj}\n"
       "integrator: {step: 0.01}\ntime: {end: 0.02}\n",
       {flow_of_file, poses_of_file}},
      {"curvebody: 1\nfluid: {medium: none, floor: {kind: reflecting}}\nbodies:\n  - {shape: box, density: 300, place: "
       "{position: [0, 0, 0.51]}, motion: {velocity: [0, 0, -1], spin: [1, 2, 3]}, repeat: {count: 3}}\n"
       "integrator: {step: 0.01}\ntime: {end: 0.05}\n",
       {NULL}},
      {"curvebody: 1\nfluid: {medium: 5*2}\nbodies:\n  - {mesh: cube.obj}\nintegrator: {step: 0.01}\n"
       "time: {end: 0.02}\n",
       {poses_of_files}},
      {"curvebody: 1\nfluid: {medium: water, flow: {shear: {velocity: [1, 0, 0], gradient: [[0, 0, 1], [0, 0, 0], [0, "
       "0, "
       "0]]}}}\nbodies:\n  - {mesh: cube.obj, poses: {parts: [{part: cube, x: X*(1 + t)}]}, parts: {cube: {density: "
       "3}}}\nintegrator: {step: 0.01}\ntime: {end: 0.02}\n",
       {NULL}},
      {"curvebody: 1\nfluid: {medium: none}\nbodies:\n"
       "  - {name: a, shape: {name: ball, resolution: 8}}\n"
       "  - {name: b, shape: {name: ball, resolution: 8}, repeat: {count: 2}, place: {position: [2 + 3*i, 0, 0]},\n"
       "     wrenches: [{name: pull, force: ['a.x - x', 'b.1.spin_z', 0]}]}\n"
       "integrator: {step: 0.01}\ntime: {end: 0.02}\n",
       {NULL}},
      {NULL, {NULL}}});
}

static void gaits_in_bundles_without_memory_say_so(void **unused) {
  check_cases((const test_case[]){
      {"bundle", {NULL}},
      {"gait", {NULL}},
      {"curvebody: 1\nbundle: {name: links, shape: [a, b], links: [{length: 1}, {length: 1, parent: 0, at: 1, angle: "
       "a}, "
       "{length: 1, parent: 1, at: 1, angle: b}]}\n"
       "gait: {polygon: {corners: [[1, 1], [-1, 1], [-1, -1], [1, -1]]}}\nintegrator: {name: magnus, step: 0.5}\n"
       "record: {observables: [connection, momentum, power]}\n",
       {NULL}},
      {"curvebody: 1\nbundle: {name: points, space: h2, chart: polar, shape: [l, a], points: [{mass: 1, at: [0, 0]}, "
       "{mass: 1, at: [l, a]}, {mass: 1, at: [l, -a]}], lines: [[0, 1], [0, 2]], group: [shift_x]}\n"
       "gait: {polygon: {corners: [[0.3, 0.4], [1, 0.4], [1, 1.2], [0.3, 1.2]]}}\n"
       "integrator: {name: magnus, step: 0.5}\n",
       {NULL}},
      {"curvebody: 1\nbundle: {name: surface_drag, shape: {name: plate, length: 1, width: 0.1, resolution: 8}, "
       "poses: {x: X, y: s*sin(2*pi*(X + t)), z: Y}, parameters: {s: 0.06}}\n"
       "gait: {loop: phase}\nintegrator: {name: magnus, step: 0.5}\n",
       {NULL}},
      {"curvebody: 1\nbundle: {name: immersed, mesh: cube.obj, density: 1000, fluid: {density: 1000}, variables: [a], "
       "motion: {x: X*(1 + a), y: Y, z: Z - a}}\n"
       "gait: {fourier: {mean: [0.5], cosine: [[-0.5]]}}\nintegrator: {name: magnus, step: 0.5}\n",
       {NULL}},
      {"curvebody: 1\nbundle: {name: perfect_fish, bodies: [{ellipse: [1, 0.5]}, {joukowski: [1, 0.2, 0.2]}], hinges: "
       "0.5, "
       "nodes: 16}\ngait: {fourier: {mean: [0.5], cosine: [[-0.5]]}}\nintegrator: {name: magnus, step: 0.5}\n",
       {NULL}},
      {NULL, {NULL}}});
}

int main(void) {
  gsl_set_error_handler_off();
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_allocation_asked_for_fails),
                                     cmocka_unit_test(particles_without_memory_say_so),
                                     cmocka_unit_test(constraints_and_contacts_without_memory_say_so),
                                     cmocka_unit_test(systems_without_memory_say_so),
                                     cmocka_unit_test(bodies_in_a_fluid_without_memory_say_so),
                                     cmocka_unit_test(gaits_in_bundles_without_memory_say_so)};
  return cmocka_run_group_tests_name("failed_allocation", tests, make_files, remove_files);
}
