/* States: arrays of one shape in one block. */
#include "core/arena.h"
#include "geometry/origin.h"
#include <curvebody/system.h>
#include <string.h>

/* A state as it is made: the arena keeps the arrays and the struct itself. */
typedef struct owned_state {
  cb_state state;
  cb_arena *arena;
} owned_state;

cb_status cb_state_create(const cb_system *system, cb_state **out) {
  cb_arena *arena = cb_arena_create();
  owned_state *s = cb_arena_alloc(arena, 1, sizeof *s);
  if (!s) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a state");
  }
  s->arena = arena;
  s->state.n = cb_system_particles(system);
  s->state.k = cb_system_space(system)->k;
  s->state.n_components = cb_system_components(system);
  size_t count = (size_t)s->state.n * (size_t)s->state.k;
  double **array[4] = {&s->state.x, &s->state.x_low, &s->state.p, &s->state.p_low};
  for (int i = 0; i < 4; i++) *array[i] = cb_arena_alloc_aligned(arena, count, sizeof(double), CB_CACHE_LINE);
  s->state.origin = cb_arena_alloc(arena, (size_t)s->state.n_components, sizeof(cb_origin));
  if (!s->state.x || !s->state.x_low || !s->state.p || !s->state.p_low || !s->state.origin) {
    cb_arena_free(arena);
    return cb_fail(CB_ERROR_MEMORY, "no memory for a state of %zu coordinates", count);
  }
  for (int c = 0; c < s->state.n_components; c++) cb_origin_identity(cb_system_space(system), &s->state.origin[c]);
  *out = &s->state;
  return CB_OK;
}

void cb_state_free(cb_state *state) {
  if (state) cb_arena_free(((owned_state *)state)->arena);
}

void cb_state_copy(cb_state *to, const cb_state *from) {
  size_t bytes = (size_t)from->n * (size_t)from->k * sizeof(double);
  to->t = from->t;
  to->t_low = from->t_low;
  to->step = from->step;
  memcpy(to->x, from->x, bytes);
  memcpy(to->x_low, from->x_low, bytes);
  memcpy(to->p, from->p, bytes);
  memcpy(to->p_low, from->p_low, bytes);
  memcpy(to->origin, from->origin, (size_t)from->n_components * sizeof(cb_origin));
}
