/* An arena hands out memory piece by piece and frees all of it at once.
 *
 * An object keeps everything that it owns in one arena: creating it then has a single check for memory, and freeing it
 * is one call. Arenas are for building objects; a time step does not allocate.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct cb_arena cb_arena;

enum { CB_CACHE_LINE = 64 };

/* Returns a new, empty arena; NULL if memory runs out. */
cb_arena *cb_arena_create(void);

/* Frees the arena and every piece taken from it. NULL is allowed. */
void cb_arena_free(cb_arena *arena);

/* Returns count elements of size bytes each, zeroed and aligned for any C type. A count of 0 gives a valid pointer,
 * too. NULL if memory runs out, count * size overflows, or arena is NULL. */
void *cb_arena_alloc(cb_arena *arena, size_t count, size_t size);

/* Does the same as cb_arena_alloc, but the memory is aligned to `alignment` bytes. Returns NULL if `alignment` is not a
 * power of two. Use CB_CACHE_LINE for vectors. */
void *cb_arena_alloc_aligned(cb_arena *arena, size_t count, size_t size, size_t alignment);

/* Returns a zeroed object of size bytes in a new arena. The first member of the object must be a pointer to its arena;
 * this function sets it. NULL, with the failure "no memory for WHAT", if memory runs out. */
void *cb_arena_object(size_t size, const char *what);

/* Sets each of the given variables of type `double *`, whose addresses are the arguments, to a new array of count
 * numbers that is aligned to a cache line. A variable is set to NULL if memory runs out. */
#define cb_arena_doubles(arena, count, ...) cb_arena_doubles_for(arena, count, (double **[]){__VA_ARGS__, NULL})
void cb_arena_doubles_for(cb_arena *arena, size_t count, double **const *to);

/* Returns whether any request to the arena has failed (true for NULL): one check after many requests is enough. */
bool cb_arena_lost(const cb_arena *arena);

/* These functions return a copy of a zero-terminated text, or of its first n bytes with a zero added. NULL if memory
 * runs out. */
char *cb_arena_strdup(cb_arena *arena, const char *text);
char *cb_arena_strndup(cb_arena *arena, const char *text, size_t n);
