/* curvebody gait SCENARIO family --move A:B --turn A:B --grid N1xN2: steering, gaits that move by x and turn by theta.
 * What it writes is told in sweep/families_grid.c. */
#include "cli/gait.h"

#include "core/arena.h"

#include <stdlib.h>
#include <string.h>

enum { USUAL = 21, MOST = 1000 };

static const char *const option[2] = {"--move", "--turn"};

cb_status cb_gait_take_grid(cb_gait_asked *asked, struct cb_arena *arena, cb_gait_job *job) {
  if (!asked->move || !asked->turn || !strchr(asked->move, ':') || !strchr(asked->turn, ':')) return CB_OK;
  const size_t move = strcspn(asked->move, ":"), turn = strcspn(asked->turn, ":");
  const size_t size = strlen(asked->move) + strlen(asked->turn) + sizeof "x=,theta=";
  char *parts = cb_arena_alloc(arena, size, 1);
  if (!parts) return cb_fail(CB_ERROR_MEMORY, "no memory for options");
  /* a corner of the grid, for the scenario; not the identity */
  snprintf(parts, size, "x=%s,theta=%.*s", asked->move + move + 1, (int)turn, asked->turn);
  job->move = asked->move, job->turn = asked->turn;
  asked->parts = parts, asked->move = asked->turn = NULL;
  return CB_OK;
}

static cb_status read_range(const char *name, const char *text, double *from, double *to) {
  const char *colon = strchr(text, ':');
  char low[128];
  snprintf(low, sizeof low, "%.*s", (int)(colon - text), text);
  cb_status status = cb_gait_numbers(name, low, 1, from);
  if (!status) status = cb_gait_numbers(name, colon + 1, 1, to);
  return !status && *from == *to
             ? cb_fail(CB_ERROR_INPUT, "%s: error: expected LO:HI, two numbers, found %g:%g", name, *from, *to)
             : status;
}

static cb_status read_axes(const cb_gait_job *job, cb_families_axes *s) {
  static const char *const number[2] = {"x", "theta"};
  const cb_group *G = job->bundle->group;
  s->count[0] = s->count[1] = USUAL;
  if (job->grid) {
    char *end, *last = NULL;
    const long one = strtol(job->grid, &end, 10), two = *end == 'x' ? strtol(end + 1, &last, 10) : 0;
    if (*end != 'x' || *last || one < 2 || two < 2 || one > MOST || two > MOST)
      return cb_fail(CB_ERROR_INPUT, "--grid: error: expected two numbers from 2 to %d, N1xN2, found '%.40s'", MOST,
                     job->grid);
    s->count[0] = (int)one, s->count[1] = (int)two;
  }
  for (int i = 0; i < 2; i++) {
    const cb_status status = read_range(option[i], i ? job->turn : job->move, &s->from[i], &s->to[i]);
    if (status) return status;
    for (s->number[i] = 0; s->number[i] < G->size && strcmp(G->number[s->number[i]], number[i]); s->number[i]++)
      ;
    if (s->number[i] == G->size)
      return cb_fail(CB_ERROR_INPUT,
                     "%s: error: with %s beside it expected a group with a number `%s`, such as se2, found %s",
                     option[i], option[1 - i], number[i], G->name);
  }
  return CB_OK;
}

cb_status cb_gait_steering(const cb_gait_job *job) {
  const cb_optimum_problem *p = NULL;
  const cb_families_job asked = cb_gait_families_job(job);
  cb_families_axes axes;
  int found = 0;
  cb_status status = read_axes(job, &axes);
  if (!status) status = cb_gait_asked_of(job, &p);
  if (!status) status = cb_families_grid(&asked, p, &axes, &found);
  if (!status && job->json) {
    cb_gait_begin_json(job);
    printf("\"output\": ");
    cb_json_text(stdout, job->output);
    printf(", \"grid\": [%d, %d], \"found\": %d}\n", axes.count[0], axes.count[1], found);
  } else if (!status) {
    printf("%d gaits of %d\n", found, axes.count[0] * axes.count[1]);
  }
  return p ? cb_gait_placed_search(job->motion, status) : status;
}
