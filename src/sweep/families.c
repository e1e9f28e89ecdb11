/* Families of optimal gaits over the amount of a target, in branches, and the file that records a family:
 *
 *   /target[member] /cost /efficiency /multiplier /tail /index /flat /branch /cheapest /group[member, number]
 *   /shape[member, T, n] /rate[member, T, n]  of each member, /time[T]: T times of a cycle, n shape variables
 *   /event_kind[event] /event_target /event_cost /event_branch /event_other, /event_name[kind]
 *
 * /tail is the size of the last coefficients of a gait divided by the largest. /index and /flat are the numbers of
 * negative and zero directions of the second variation of the cost. The file has the attributes of
 * cb_families_attributes and four others: `request` contains the command, in lines of comments, and the text of the
 * scenario; `complete` is 1; `target` is the kind of the target, and `branches` the number of branches.
 *
 * A family takes long to compute. While branches are traced, the file is written from time to time with complete: 0.
 * Its members are then the steps of the branches so far, which are not evenly spaced. The same command with the same
 * file continues from /state[member, states], and the result is the same as without an interruption. The search for
 * starts is complete when the file is first written; events and the members of the complete family are computed again.
 */
#include "sweep/families.h"

#include "core/arena.h"
#include "core/text.h"
#include "record/arrays.h"
#include "record/folder.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { TIMES = 129 };

const char *const cb_families_targets[] = {"move", "turn", "element", "parts"};

void cb_families_attributes(const cb_families_job *job, cb_arrays *a) {
  cb_arrays_text(a, "Conventions", "CF-1.10");
  cb_arrays_text(a, "title", job->title);
  cb_arrays_text(a, "curvebody_version", CB_VERSION);
  cb_arrays_text(a, "bundle", cb_bundle_scenario_name(job->motion));
  cb_arrays_text(a, "group", job->bundle->group->name);
  cb_arrays_text(a, "warnings", job->warnings);
}

enum { TARGET, COST, EFFICIENCY, MULTIPLIER, TAIL, NUMBERS };
enum { INDEX, FLAT, BRANCH, CHEAPEST, INTEGERS };

typedef struct family_file {
  const cb_families_job *job;
  const cb_optimum_problem *problem;
  cb_segments folder; /* its lock is held, so no other process writes the file */
  char *request;      /* the request that this file answers */
  struct timespec written, begun;
  double took;           /* the duration of the last write in s */
  cb_family_watch watch; /* contains the results of an interrupted command */
} family_file;

typedef struct columns {
  cb_arena *arena;
  double time[TIMES], *number, *shape, *rate, *group, *event, *state;
  int states;
  int *integer, *event_integer;
} columns;

static cb_status make_columns(const cb_bundle *b, const cb_family *f, columns *c) {
  int states = 0;
  for (int m = 0; m < f->members; m++)
    if (f->member[m].states > states) states = f->member[m].states;
  const size_t members = (size_t)f->members, events = (size_t)f->events + 1, way = members * TIMES * (size_t)b->n;
  cb_arena *arena = cb_arena_create();
  *c = (columns){.arena = arena, .states = states};
  cb_arena_doubles(arena, way, &c->shape, &c->rate);
  c->number = cb_arena_alloc(arena, members * NUMBERS, sizeof *c->number);
  c->group = cb_arena_alloc(arena, members * (size_t)b->group->size, sizeof *c->group);
  c->event = cb_arena_alloc(arena, events * 2, sizeof *c->event);
  c->state = cb_arena_alloc(arena, members * (size_t)states, sizeof *c->state);
  c->integer = cb_arena_alloc(arena, members * INTEGERS, sizeof *c->integer);
  c->event_integer = cb_arena_alloc(arena, events * 3, sizeof *c->event_integer);
  for (int k = 0; k < TIMES; k++) c->time[k] = (double)k / (TIMES - 1);
  return cb_arena_lost(arena) ? cb_fail(CB_ERROR_MEMORY, "no memory for a family of %d gaits", f->members) : CB_OK;
}

static cb_status fill(const cb_bundle *b, const cb_family *f, columns *c) {
  const int M = f->members, E = f->events;
  cb_status status = CB_OK;
  for (int m = 0; m < M && !status; m++) {
    const cb_family_member *o = &f->member[m];
    const double numbers[NUMBERS] = {o->amount, o->cost, o->amount * o->amount / o->cost, o->multiplier, o->tail};
    const int integers[INTEGERS] = {o->index, o->flat, o->branch, o->cheapest};
    for (int i = 0; i < NUMBERS; i++) c->number[i * M + m] = numbers[i];
    for (int i = 0; i < INTEGERS; i++) c->integer[i * M + m] = integers[i];
    for (int k = 0; k < TIMES; k++)
      cb_gait_at(o->gait, c->time[k], c->shape + (m * TIMES + k) * b->n, c->rate + (m * TIMES + k) * b->n);
    for (int i = 0; i < o->states; i++) c->state[(size_t)m * (size_t)c->states + (size_t)i] = o->state[i];
    status = cb_holonomy(b, o->gait, 0, c->group + m * b->group->size, NULL, NULL);
  }
  for (int e = 0; e < E; e++) {
    const cb_family_event *o = &f->event[e];
    c->event[e] = o->amount;
    c->event[E + e] = o->cost;
    c->event_integer[e] = o->kind;
    c->event_integer[E + e] = o->branch;
    c->event_integer[2 * E + e] = o->other;
  }
  return status;
}

static void put_members(const cb_bundle *b, const cb_family *f, const columns *c, bool complete, cb_arrays *a) {
  static const char *const on[] = {"member"}, *const group[] = {"member", "number"},
                           *const state[] = {"member", "states"}, *const way[] = {"member", "time", "variable"};
  static const struct {
    const char *name, *doc;
  } numbers[NUMBERS] = {{"target", "amount of the target"},
                        {"cost", "int r'Mr' dt"},
                        {"efficiency", "target^2/cost"},
                        {"multiplier", "lambda: d cost/d target = 2 lambda"},
                        {"tail",
                         "last Fourier coefficients divided by the largest one; the square of this is about the "
                         "relative error of the cost; nan: at constraints"}},
    integers[INTEGERS] = {{"index", "number of negative directions of the second variation"},
                          {"flat", "zero eigenvalues of the second variation, not counting the shift of time"},
                          {"branch", "branch of the member; -1: a start, on no branch"},
                          {"cheapest", "1: no branch is cheaper at this target"}};
  cb_arrays_dimension(
      a, &(cb_dimension){"member", (size_t)f->members, NULL, NULL, "member of the family, one branch after another"},
      NULL);
  cb_arrays_dimension(a, &(cb_dimension){"time", TIMES, c->time, NULL, "time as a fraction of the cycle, 0 to 1"},
                      NULL);
  cb_arrays_dimension(a, &(cb_dimension){"variable", (size_t)b->n, NULL, b->shape, "shape variable"}, NULL);
  cb_arrays_dimension(
      a, &(cb_dimension){"number", (size_t)b->group->size, NULL, b->group->number, "number of a group element"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"states", (size_t)c->states, NULL, NULL, "index in the state of a member"},
                      NULL);
  for (int i = 0; i < NUMBERS; i++)
    cb_arrays_put(a, numbers[i].name, 1, on, c->number + i * f->members, NULL, numbers[i].doc);
  for (int i = 0; i < (complete ? INTEGERS : CHEAPEST); i++)
    cb_arrays_put_integers(a, integers[i].name, 1, on, c->integer + i * f->members, integers[i].doc);
  cb_arrays_put(a, "group", 2, group, c->group, NULL, "holonomy of the gait");
  cb_arrays_put(a, "shape", 3, way, c->shape, NULL, "r");
  cb_arrays_put(a, "rate", 3, way, c->rate, NULL, "r'");
  if (c->states) cb_arrays_put(a, "state", 2, state, c->state, NULL, "state from which the command continues");
}

static void put_events(const cb_family *f, const columns *c, cb_arrays *a) {
  static const char *const on[] = {"event"};
  cb_arrays_dimension(a,
                      &(cb_dimension){"event_name", CB_FAMILY_EVENTS, NULL, cb_family_event_names,
                                      "name of an event, indexed by /event_kind"},
                      NULL);
  cb_arrays_dimension(a, &(cb_dimension){"event", (size_t)f->events, NULL, NULL, "event on a branch"}, NULL);
  cb_arrays_put_integers(a, "event_kind", 1, on, c->event_integer, "index of /event_name");
  cb_arrays_put(a, "event_target", 1, on, c->event, NULL, "amount of the target at the event");
  cb_arrays_put(a, "event_cost", 1, on, c->event + f->events, NULL, "int r'Mr' dt at the event");
  cb_arrays_put_integers(a, "event_branch", 1, on, c->event_integer + f->events, "branch of the event");
  cb_arrays_put_integers(
      a, "event_other", 1, on, c->event_integer + 2 * f->events,
      "for a `bound`: index of the shape variable; for `cheaper`: index of the other branch; otherwise -1");
}

static cb_status write_file(family_file *file, const cb_family *f, bool complete) {
  const cb_optimum_problem *p = file->problem;
  columns c;
  cb_arrays *a;
  cb_status status = make_columns(p->bundle, f, &c);
  if (!status) status = fill(p->bundle, f, &c);
  if (!status) status = cb_arrays_create(file->job->output, true, &a);
  if (!status) {
    cb_families_attributes(file->job, a);
    cb_arrays_text(a, "request", file->request);
    cb_arrays_number(a, "complete", complete);
    cb_arrays_text(a, "target", cb_families_targets[p->target.kind]);
    cb_arrays_number(a, "branches", f->branches);
    put_members(p->bundle, f, &c, complete, a);
    put_events(f, &c, a);
    status = cb_arrays_close(a, CB_OK);
  }
  cb_arena_free(c.arena);
  return status;
}

/* --- writing from time to time, and reading an incomplete file --- */

/* The minimum time between two writes: in seconds, and in multiples of the duration of a write. */
static const double seldom = 1, share = 20;

static double since(const struct timespec *then, struct timespec *now) {
  clock_gettime(CLOCK_MONOTONIC, now);
  return (double)(now->tv_sec - then->tv_sec) + 1e-9 * (double)(now->tv_nsec - then->tv_nsec);
}

static cb_status report(void *context, const cb_family *so_far) {
  family_file *file = context;
  if (since(&file->written, &file->begun) < fmax(seldom, share * file->took)) return CB_OK;
  const cb_status status = write_file(file, so_far, false);
  file->took = since(&file->begun, &file->written);
  return status;
}

/* Makes the text of a request: the version and the command on one line, each option and the digest of the files on a
 * line of its own, then the scenario. */
static cb_status make_request(const cb_families_job *job, const char *what, char **out) {
  cb_text text = {0};
  cb_text_puts(&text, "# curvebody " CB_VERSION ": family ");
  cb_text_puts(&text, what);
  for (size_t k = 0; k < job->sets; k++) {
    cb_text_puts(&text, "\n# --set ");
    cb_text_puts(&text, job->set[k]);
  }
  cb_text_puts(&text, "\n# files of SHA-256 ");
  cb_text_puts(&text, cb_scenario_inputs(job->read));
  cb_text_puts(&text, "\n");
  cb_text_puts(&text, cb_scenario_source(job->read));
  *out = text.data;
  return text.failed ? cb_fail(CB_ERROR_MEMORY, "no memory for the scenario's text") : CB_OK;
}

/* Fails because the file was written for another request. If the first lines of both requests agree, the commands
 * differ only in the scenario or the options. */
static cb_status of_another(const cb_families_job *job, const char *request, const char *found) {
  const size_t mine = strcspn(request, "\n"), its = strcspn(found, "\n");
  const bool same = mine == its && !strncmp(request, found, its);
  return cb_fail(
      CB_ERROR_INPUT,
      "%s: error: this file was left by a different interrupted command (%.*s%s), so this command cannot continue it: "
      "remove it, or give another output",
      job->output, (int)(its < 300 ? its : 300), found, same ? ", with another scenario or other options" : "");
}

/* Reads /state and /branch of an incomplete file into *w. If one of them cannot be read, *w gets neither. */
static void read_rows(const cb_hdf5_source *s, cb_family_watch *w) {
  const cb_hdf5_expected expected[2] = {{H5T_FLOAT, 2, 2, 0, "of a family"}, {H5T_INTEGER, 1, 1, 0, "of a family"}};
  cb_hdf5_array state = {0}, branch = {0};
  int *of = NULL;
  const bool good = !cb_hdf5_read_array(s, "state", &expected[0], &state) &&
                    !cb_hdf5_read_array(s, "branch", &expected[1], &branch) && state.dims[0] == branch.dims[0] &&
                    (of = calloc((size_t)branch.dims[0], sizeof *of));
  for (int k = 0; good && k < branch.dims[0]; k++) of[k] = (int)branch.value[k];
  if (good) {
    w->known = branch.dims[0];
    w->states = state.dims[1];
    w->branch = of;
    w->state = state.value;
  }
  if (!good) free(state.value);
  free(branch.value);
}

/* Locks the output file, and reads it if it is an incomplete file of the same family. Fails with CB_ERROR_FILE if
 * another process has the lock, and with CB_ERROR_INPUT if the file is an incomplete file of another request. `end`
 * always frees the memory that this allocates. out->watch refers to *out, which must not be moved. */
static cb_status begin(const cb_families_job *job, const cb_optimum_problem *problem, const cb_family_range *range,
                       family_file *out) {
  cb_hdf5_source s;
  double complete = 1;
  char what[96];
  *out = (family_file){
      .job = job, .problem = problem, .watch = {.report = report, .context = out}, .folder = {.lock = -1}};
  clock_gettime(CLOCK_MONOTONIC, &out->written);
  snprintf(what, sizeof what, "from %.17g to %.17g of %d members", range->from, range->to, range->members);
  cb_status status = make_request(job, what, &out->request);
  if (!status) status = cb_segments_name(job->output, &out->folder);
  if (!status) status = cb_segments_take(&out->folder);
  if (status) return status;
  if ((status = cb_hdf5_source_open(job->output, &s))) return status == CB_ERROR_MEMORY ? status : CB_OK;
  char *found = cb_hdf5_get_text_attribute(s.file, "request");
  if (found && cb_hdf5_get_numbers(s.file, ".", "complete", H5T_FLOAT, H5T_NATIVE_DOUBLE, 1, &complete) && !complete) {
    if (strcmp(found, out->request))
      status = of_another(job, out->request, found);
    else
      read_rows(&s, &out->watch);
  }
  free(found);
  return cb_hdf5_source_close(&s, status);
}

static void end(family_file *file) {
  cb_segments_leave(&file->folder, false);
  free(file->request);
  free((void *)file->watch.branch);
  free((void *)file->watch.state);
}

/* --- the complete command --- */

static cb_status follow(family_file *file, const cb_optimum_problem *p, const cb_family_range *range, cb_family **out) {
  cb_optima *all = NULL;
  cb_status status = file->watch.known ? CB_OK : cb_optimum_find(p, &all);
  const int count = all ? all->count : 0;
  const cb_gait **start = status ? NULL : calloc((size_t)count + 1, sizeof *start);
  if (!status && !start) status = cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", count);
  int starts = 0;
  for (int k = 0; !status && k < count; k++)
    if (k == 0 || all->item[k].index == 0) start[starts++] = all->item[k].gait;
  if (!status) status = cb_family_follow(p, starts, start, range, &file->watch, out);
  free(start);
  cb_optima_free(all);
  return cb_gait_placed_search(file->job->motion, status);
}

cb_status cb_families_branches(const cb_families_job *job, const cb_optimum_problem *p, const cb_family_range *range,
                               cb_family **out) {
  family_file file;
  cb_status status = begin(job, p, range, &file);
  if (!status) status = follow(&file, p, range, out);
  if (!status) status = write_file(&file, *out, true);
  end(&file);
  return status;
}
