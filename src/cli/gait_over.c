/* curvebody gait SCENARIO family --over KEY=LO:HI: the best gait as a number of the scenario changes, each searched
 * from the one before it; and where the best is best. What it writes is told in sweep/families_over.c. */
#include "cli/gait.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { USUAL = 21, MOST = 10000 };

static cb_status read_over(const cb_gait_job *job, cb_families_over *s) {
  const char *over = job->over, *equals = strchr(over, '='), *colon = equals ? strchr(equals, ':') : NULL;
  double members = USUAL;
  char low[128];
  if (!colon || (size_t)(equals - over) >= sizeof s->key || (size_t)(colon - equals) > sizeof low)
    return cb_fail(CB_ERROR_INPUT, "--over: error: expected KEY=LO:HI, such as bundle.shares.1=0.4:1.4, found '%.80s'",
                   over);
  snprintf(s->key, sizeof s->key, "%.*s", (int)(equals - over), over);
  snprintf(low, sizeof low, "%.*s", (int)(colon - equals - 1), equals + 1);
  cb_status status = cb_gait_numbers("--over", low, 1, &s->low);
  if (!status) status = cb_gait_numbers("--over", colon + 1, 1, &s->high);
  if (!status && job->members) status = cb_gait_numbers("--members", job->members, 1, &members);
  if (!status && !(members >= 2 && members <= MOST && members == floor(members)))
    status = cb_fail(CB_ERROR_INPUT, "--members: error: expected a whole number from 2 to %d, found %g", MOST, members);
  if (!status && !(s->low != s->high))
    status = cb_fail(CB_ERROR_INPUT, "--over: error: expected LO:HI, two numbers, found %g:%g", s->low, s->high);
  s->members = (int)members;
  return status;
}

static void print_best(const char *where, const cb_families_member *m) {
  printf("best at %s%.12g: cost %.12g, amount %.12g, efficiency %.12g\n", where, m->over, m->cost, m->amount,
         m->amount * m->amount / m->cost);
}

static void print_words(const cb_optimum_problem *p, const cb_families_over *s) {
  const cb_families_member *first = &s->member[0], *last = &s->member[s->members - 1];
  printf("%d gaits over %s\n", s->members, s->key);
  for (int e = 0; e < s->events; e++) print_best("", &s->event[e]);
  if (!s->events) print_best("an end, ", cb_families_sought(p, first) < cb_families_sought(p, last) ? first : last);
}

static void print_json(const cb_gait_job *job, const cb_families_over *s) {
  cb_gait_begin_json(job);
  printf("\"output\": ");
  cb_json_text(stdout, job->output);
  printf(", \"over\": ");
  cb_json_text(stdout, s->key);
  printf(", \"members\": %d,\n \"events\": [", s->members);
  for (int e = 0; e < s->events; e++) {
    printf("%s\n {\"kind\": \"best\", ", e ? "," : "");
    cb_gait_json("over", 0, NULL, &s->event[e].over, false);
    cb_gait_json("amount", 0, NULL, &s->event[e].amount, false);
    cb_gait_json("cost", 0, NULL, &s->event[e].cost, true);
  }
  printf("]}\n");
}

cb_status cb_gait_over(const cb_gait_job *job) {
  const cb_optimum_problem *p = NULL;
  cb_families_over s = {.members = 0};
  const cb_families_job asked = cb_gait_families_job(job);
  cb_status status = cb_gait_asked_of(job, &p);
  if (!status) status = read_over(job, &s);
  if (!status) status = cb_families_over_find(&asked, p, &s);
  if (!status && job->json) print_json(job, &s);
  if (!status && !job->json) print_words(p, &s);
  cb_families_over_free(&s);
  return cb_gait_placed_search(job->motion, status);
}
