/* An arena: memory that is handed out piece by piece and given back all at once.
 *
 * An object keeps everything it owns in one arena, so creating it is one path of failure and freeing it one call.
 * Not for a step: allocate when an object is built.
 */
#pragma once

#include <stdbool.h>
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

/* An object of size bytes, zeroed, in an arena of its own, a pointer to which is its first member. NULL, with the
 * failure noted, if there is no memory for `what`. */
void *cb_arena_object(size_t size, const char *what);

/* count numbers on cache lines for each of the pointers whose addresses are given. */
#define cb_arena_doubles(arena, count, ...) cb_arena_doubles_for(arena, count, (double **[]){__VA_ARGS__, NULL})
void cb_arena_doubles_for(cb_arena *arena, size_t count, double **const *to);

/* Whether anything that was asked of the arena could not be had, so that many pieces need one check. */
bool cb_arena_lost(const cb_arena *arena);

/* A copy of a zero-terminated text, and of its first n bytes (with a zero added). NULL if there is no memory. */
char *cb_arena_strdup(cb_arena *arena, const char *text);
char *cb_arena_strndup(cb_arena *arena, const char *text, size_t n);
