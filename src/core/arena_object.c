/* Objects with arenas of their own, and several arrays at once: see arena.h. */
#include "core/arena.h"

#include "core/failure.h"

void cb_arena_doubles_for(cb_arena *arena, size_t count, double **const *to) {
  for (; *to; to++) **to = cb_arena_alloc_aligned(arena, count, sizeof(double), CB_CACHE_LINE);
}

void *cb_arena_object(size_t size, const char *what) {
  cb_arena *arena = cb_arena_create();
  cb_arena **object = cb_arena_alloc(arena, 1, size);
  if (!object) return cb_arena_free(arena), cb_fail(CB_ERROR_MEMORY, "no memory for %s", what), NULL;
  *object = arena;
  return object;
}
