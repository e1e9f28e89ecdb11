/* An arena: memory that is handed out piece by piece and given back all at once.
 *
 * An object keeps everything it owns in one arena, so creating it is one path of failure and freeing it one call.
 * Not for a step: allocate when an object is built.
 */
#ifndef CB_CORE_ARENA_H
#define CB_CORE_ARENA_H

#include <stddef.h>

typedef struct cb_arena cb_arena;

enum { CB_CACHE_LINE = 64 };

/* A new, empty arena; NULL if there is no memory. */
cb_arena *cb_arena_create(void);

/* Gives back the arena with all that was taken from it. NULL is allowed. */
void cb_arena_free(cb_arena *arena);

/* count elements of size bytes each, zeroed and aligned for any C type; never NULL for a count of 0. NULL if there is
 * no memory or count * size overflows (or arena is NULL). */
void *cb_arena_alloc(cb_arena *arena, size_t count, size_t size);

/* The same, aligned to `alignment` bytes, a power of two (CB_CACHE_LINE for vectors). */
void *cb_arena_alloc_aligned(cb_arena *arena, size_t count, size_t size, size_t alignment);

/* A copy of a zero-terminated text, and of its first n bytes (with a zero added). NULL if there is no memory. */
char *cb_arena_strdup(cb_arena *arena, const char *text);
char *cb_arena_strndup(cb_arena *arena, const char *text, size_t n);

#endif
