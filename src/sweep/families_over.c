/* curvebody gait SCENARIO family --over KEY=LO:HI: the best gait as a number of the scenario changes, each searched
 * from the one before it; and where the best is best.
 *
 *   /over[member] /cost /amount /efficiency /index /flat /group[member, number] /shape[member, T, n] /rate, /time[T]
 *   /event_over[event] /event_cost /event_amount /event_efficiency     where what is sought is stationary in the number
 * There its derivative is 0: by the secant method on central differences of order 8 of what is sought. From time
 * to time the gaits so far are written, with /state[member, states], from which the same command goes on. */
#include "sweep/families.h"

#include "bundle/gait_state.h"
#include "scenario/warnings.h"
#include "numerics/differences.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TIMES = 129, SECANTS = 12, MOST_SETS = 64 };

void cb_families_over_free(cb_families_over *s) {
  for (int k = 0; s->member && k < s->members; k++) cb_gait_free(s->member[k].gait);
  for (int k = 0; k < s->events; k++) cb_gait_free(s->event[k].gait);
  free(s->member);
  free(s->event);
  cb_families_unfinished_end(&s->unfinished);
}

/* --- the gaits --- */

/* Warnings of the scenario with a number, where neither it as it is written nor another number had them. */
typedef struct place {
  const cb_families_job *job;
  const cb_families_over *s;
  double over;
  cb_warning_taker before;
} place;

static void warn_at(void *context, const char *text) {
  const place *at = context;
  if (strstr(at->job->warnings, text)) return;
  const cb_warning_taker own = cb_warnings_to(at->before);
  cb_warn("%s = %.9g: %s", at->s->key, at->over, text);
  cb_warnings_to(own);
}

static cb_status warn_of(const cb_families_job *job, const cb_families_over *s, double over,
                         const cb_scenario *scenario) {
  place at = {job, s, over, cb_warnings_to((cb_warning_taker){.take = NULL})};
  cb_warnings_to((cb_warning_taker){.take = warn_at, .context = &at});
  cb_scenario_warn_again(scenario);
  const cb_status status = cb_scenario_warn_of_bundle(scenario);
  cb_warnings_to(at.before);
  return status;
}

/* Searched from a gait (NULL: from all starts). is_shown: its numbers are given. */
static cb_status solve(const cb_families_job *job, const cb_families_over *s, double over, const cb_gait *from,
                       bool is_shown, cb_families_member *out) {
  char set[224];
  const char *words[MOST_SETS + 1];
  size_t count = job->sets;
  cb_scenario *scenario = NULL;
  cb_optima *all = NULL;
  memcpy(words, job->set, count * sizeof *words);
  snprintf(set, sizeof set, "%s=%.17g", s->key, over);
  words[count++] = set;
  cb_status status = cb_scenario_open_bundle(job->scenario, words, count, &scenario);
  if (status) return status;
  cb_optimum_problem p = cb_bundle_scenario_of(scenario)->optimum->problem;
  if (from) p.start = from, p.starts = 0;
  if (is_shown) status = warn_of(job, s, over, scenario);
  if (!status) status = cb_optimum_find(&p, &all);
  if (!status) {
    cb_optimum *o = &all->item[0];
    *out = (cb_families_member){over, o->cost, o->amount, {0}, o->index, o->flat, o->gait};
    memcpy(out->g, o->g, sizeof out->g);
    o->gait = NULL;
  }
  cb_optima_free(all);
  cb_scenario_free(scenario);
  if (status <= 0) return status;
  return cb_fail(status, "%s = %.9g: %.1500s", s->key, over, cb_error_text());
}

double cb_families_sought(const cb_optimum_problem *p, const cb_families_member *m) {
  return p->seek == CB_SEEK_COST         ? m->cost
         : p->seek == CB_SEEK_EFFICIENCY ? -m->amount * m->amount / m->cost
                                         : -fabs(m->amount);
}

static cb_status derivative(const cb_families_job *job, const cb_families_over *s, const cb_optimum_problem *p,
                            double over, double h, const cb_gait *from, double *out) {
  cb_status status = CB_OK;
  *out = 0;
  for (int k = 1; k <= 4 && !status; k++)
    for (int side = -1; side <= 1 && !status; side += 2) {
      cb_families_member m = {.gait = NULL};
      status = solve(job, s, over + side * k * h, from, false, &m);
      if (!status) *out += side * cb_central_weight[k - 1] * cb_families_sought(p, &m) / h;
      cb_gait_free(m.gait);
    }
  return status;
}

/* Beside member k, which is better than its neighbours. */
static cb_status refine(const cb_families_job *job, const cb_families_over *s, const cb_optimum_problem *p, int k,
                        cb_families_member *out) {
  const cb_families_member *m = &s->member[k];
  const double step = (s->high - s->low) / (s->members - 1), h = step / 8;
  double x = m->over, y = x + step / 4, slope, other;
  cb_status status = derivative(job, s, p, x, h, m->gait, &slope);
  for (int turn = 0; turn < SECANTS && !status && fabs(y - x) > 1e-9 * fabs(step); turn++) {
    status = derivative(job, s, p, y, h, m->gait, &other);
    if (status || other == slope) break;
    const double next = y - other * (y - x) / (other - slope);
    x = y, slope = other;
    y = fmin(fmax(next, m->over - fabs(step)), m->over + fabs(step));
  }
  return status ? status : solve(job, s, y, m->gait, true, out);
}

/* --- what it goes on from --- */

enum { COST, AMOUNT, INDEX, FLAT, ELEMENT, HEAD = ELEMENT + CB_GROUP_SIZE };

/* Rows of the same length, which the caller frees; none where a gait is of a kind that is not kept. */
static cb_status make_state(const cb_families_over *s, int *states, double **out) {
  *states = 0;
  *out = NULL;
  for (int k = 0; k < s->members; k++) {
    const size_t size = cb_gait_state_size(s->member[k].gait);
    if (!size) return *states = 0, CB_OK;
    if (*states < (int)(HEAD + size)) *states = (int)(HEAD + size);
  }
  double *row = *out = calloc((size_t)s->members * (size_t)*states + 1, sizeof *row);
  if (!row) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", s->members);
  for (int k = 0; k < s->members; k++, row += *states) {
    const cb_families_member *m = &s->member[k];
    row[COST] = m->cost, row[AMOUNT] = m->amount, row[INDEX] = m->index, row[FLAT] = m->flat;
    memcpy(row + ELEMENT, m->g, sizeof m->g);
    cb_gait_state(m->gait, row + HEAD);
  }
  return CB_OK;
}

static double over_at(const cb_families_over *s, int k) { return s->low + (s->high - s->low) * k / (s->members - 1); }

/* The members before the first that is not as expected; *known: how many. */
static cb_status recall(cb_families_over *s, int n, const cb_hdf5_array *state, int *known) {
  cb_status status = CB_OK;
  for (*known = 0; state->value && *known < state->dims[0] && *known < s->members && !status; ++*known) {
    const double *row = state->value + (size_t)*known * (size_t)state->dims[1];
    cb_families_member *m = &s->member[*known];
    if (state->dims[1] < HEAD) break;
    status = cb_gait_from_state(n, (size_t)state->dims[1] - HEAD, row + HEAD, &m->gait);
    if (status || !m->gait) break;
    m->over = over_at(s, *known), m->cost = row[COST], m->amount = row[AMOUNT];
    m->index = (int)row[INDEX], m->flat = (int)row[FLAT];
    memcpy(m->g, row + ELEMENT, sizeof m->g);
  }
  return status;
}

/* --- the file --- */

enum { COLUMNS = 4 };

typedef struct columns {
  double *member, *event, *group, *shape, *rate, *time; /* [COLUMNS][members], [COLUMNS][events], .. */
  int *integer;                                         /* index and flat */
  double *state;                                        /* [members][states] */
  int states;
} columns;

static cb_status fill(const cb_families_over *s, size_t n, size_t size, columns *c) {
  const size_t M = (size_t)s->members, E = (size_t)s->events, way = M * TIMES * n;
  c->member = calloc(COLUMNS * (M + E) + M * size + 2 * way + TIMES, sizeof *c->member);
  c->integer = calloc(2 * M, sizeof *c->integer);
  if (!c->member || !c->integer) return cb_fail(CB_ERROR_MEMORY, "no memory for %zu gaits", M);
  c->event = c->member + COLUMNS * M, c->group = c->event + COLUMNS * E, c->shape = c->group + M * size;
  c->rate = c->shape + way, c->time = c->rate + way;
  for (size_t k = 0; k < M + E; k++) {
    const cb_families_member *m = k < M ? &s->member[k] : &s->event[k - M];
    double *out = k < M ? c->member + k : c->event + (k - M);
    const size_t stride = k < M ? M : E;
    const double numbers[COLUMNS] = {m->over, m->cost, m->amount, m->amount * m->amount / m->cost};
    for (size_t i = 0; i < COLUMNS; i++) out[i * stride] = numbers[i];
  }
  for (size_t t = 0; t < TIMES; t++) c->time[t] = (double)t / (TIMES - 1);
  for (size_t k = 0; k < M; k++) {
    const cb_families_member *m = &s->member[k];
    c->integer[k] = m->index, c->integer[M + k] = m->flat;
    memcpy(c->group + k * size, m->g, size * sizeof *c->group);
    for (size_t t = 0; t < TIMES; t++)
      cb_gait_at(m->gait, c->time[t], c->shape + (k * TIMES + t) * n, c->rate + (k * TIMES + t) * n);
  }
  return CB_OK;
}

static void free_columns(columns *c) {
  free(c->member);
  free(c->integer);
  free(c->state);
}

static void put(const cb_bundle *b, const cb_families_over *s, const columns *c, cb_arrays *a) {
  static const char *const on[] = {"member"}, *const group[] = {"member", "number"},
                           *const way[] = {"member", "time", "variable"}, *const event[] = {"event"},
                           *const state[] = {"member", "states"};
  static const struct {
    const char *name, *event, *doc;
  } column[COLUMNS] = {{"over", "event_over", "the number"},
                       {"cost", "event_cost", "int r'Mr' dt"},
                       {"amount", "event_amount", "of the target"},
                       {"efficiency", "event_efficiency", "amount^2/cost"}};
  const size_t M = (size_t)s->members, E = (size_t)s->events;
  cb_arrays_dimension(a, &(cb_dimension){"member", M, NULL, NULL, "in order of the number"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"time", TIMES, c->time, NULL, "part of the cycle"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"variable", (size_t)b->n, NULL, b->shape, "shape variable"}, NULL);
  cb_arrays_dimension(a, &(cb_dimension){"number", (size_t)b->group->size, NULL, b->group->number, "of an element"},
                      NULL);
  cb_arrays_dimension(a, &(cb_dimension){"event", E, NULL, NULL, "where what is sought is stationary"}, NULL);
  for (size_t i = 0; i < COLUMNS; i++) {
    cb_arrays_put(a, column[i].name, 1, on, c->member + i * M, NULL, column[i].doc);
    cb_arrays_put(a, column[i].event, 1, event, c->event + i * E, NULL, column[i].doc);
  }
  cb_arrays_put_integers(a, "index", 1, on, c->integer, "negative directions of the second variation");
  cb_arrays_put_integers(a, "flat", 1, on, c->integer + M, "directions without a second variation");
  cb_arrays_put(a, "group", 2, group, c->group, NULL, "the holonomy");
  cb_arrays_put(a, "shape", 3, way, c->shape, NULL, "r");
  cb_arrays_put(a, "rate", 3, way, c->rate, NULL, "r'");
  if (!c->states) return;
  cb_arrays_dimension(a, &(cb_dimension){"states", (size_t)c->states, NULL, NULL, "of a member"}, NULL);
  cb_arrays_put(a, "state", 2, state, c->state, NULL, "what the command goes on from");
}

static cb_status write_file(const cb_families_job *job, const cb_families_over *s, bool complete) {
  const cb_bundle *b = job->bundle;
  columns c = {.member = NULL};
  cb_arrays *a;
  cb_status status = fill(s, (size_t)b->n, (size_t)b->group->size, &c);
  if (!status && !complete) status = make_state(s, &c.states, &c.state);
  if (!status) status = cb_arrays_create(job->output, &a);
  if (!status) {
    cb_families_unfinished_attributes(&s->unfinished, complete, a);
    cb_arrays_text(a, "over", s->key);
    put(b, s, &c, a);
    status = cb_arrays_close(a, CB_OK);
  }
  free_columns(&c);
  return status;
}

/* --- all of it --- */

static cb_status follow(const cb_families_job *job, cb_families_over *s, const cb_optimum_problem *p) {
  s->member = calloc((size_t)s->members, sizeof *s->member);
  s->event = calloc((size_t)s->members, sizeof *s->event);
  if (!s->member || !s->event) return cb_fail(CB_ERROR_MEMORY, "no memory for %d gaits", s->members);
  cb_families_kept kept = {"state", 2, H5T_FLOAT, {0}};
  char what[320];
  int known = 0;
  snprintf(what, sizeof what, "over %s from %.17g to %.17g of %d members", s->key, s->low, s->high, s->members);
  cb_status status = cb_families_unfinished_begin(job, what, 1, &kept, &s->unfinished);
  if (!status) status = recall(s, p->bundle->n, &kept.array, &known);
  free(kept.array.value);
  for (int k = status ? 0 : known; k < s->members && !status; k++) {
    status = solve(job, s, over_at(s, k), k ? s->member[k - 1].gait : NULL, true, &s->member[k]);
    const bool ends = status && k > 0; /* what there is stays */
    if (!ends && (status || !cb_families_unfinished_due(&s->unfinished))) continue;
    cb_families_over so_far = *s;
    so_far.members = k + !ends;
    const cb_status written = write_file(job, &so_far, false);
    cb_families_unfinished_written(&s->unfinished);
    if (!status) status = written;
  }
  for (int k = 1; k + 1 < s->members && !status; k++) {
    const double here = cb_families_sought(p, &s->member[k]);
    if (here < cb_families_sought(p, &s->member[k - 1]) && here <= cb_families_sought(p, &s->member[k + 1])) {
      status = refine(job, s, p, k, &s->event[s->events]);
      s->events += !status;
    }
  }
  return status;
}

cb_status cb_families_over_find(const cb_families_job *job, const cb_optimum_problem *p, cb_families_over *s) {
  const cb_status status = follow(job, s, p);
  return status ? status : write_file(job, s, true);
}
