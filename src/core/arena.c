/* An arena is a list of blocks. Pieces are taken from the newest block. Each new block is twice as large as the block
 * before it, up to 1 MiB. A piece that needs at least the size of the next block gets a block of its own. */
#include "core/arena.h"
#include "core/failure.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) && !defined(__SANITIZE_ADDRESS__)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif

/* With the address sanitizer, a gap separates each piece from the next, and an access outside the pieces is
 * reported. */
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
enum { GAP = 16 };
#else
enum { GAP = 0 };
#define ASAN_POISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#define ASAN_UNPOISON_MEMORY_REGION(at, size) ((void)(at), (void)(size))
#endif

static const size_t smallest_block = 4096, largest_block = (size_t)1 << 20;

typedef struct block block;
struct block {
  block *next;
  size_t used, size; /* bytes of `data` that are in use, and all bytes of `data`; unused bytes are 0 */
  alignas(max_align_t) unsigned char data[];
};

struct cb_arena {
  block *newest;
  size_t next_size;
  bool lost;
};

cb_arena *cb_arena_create(void) {
  cb_arena *arena = malloc(sizeof *arena);
  if (arena) *arena = (cb_arena){.newest = NULL, .next_size = smallest_block};
  return arena;
}

void cb_arena_free(cb_arena *arena) {
  if (!arena) return;
  for (block *b = arena->newest, *next; b; b = next) {
    next = b->next;
    ASAN_UNPOISON_MEMORY_REGION(b->data, b->size);
    free(b);
  }
  free(arena);
}

/* Returns the offset in the data of b at which the next piece with this alignment can begin. */
static size_t aligned_offset(const block *b, size_t alignment) {
  uintptr_t at = (uintptr_t)(b->data + b->used);
  return b->used + (size_t)(-at & (alignment - 1));
}

static void *take(block *b, size_t bytes, size_t alignment) {
  size_t offset = aligned_offset(b, alignment);
  if (offset > b->size || b->size - offset < bytes + GAP) return NULL;
  b->used = offset + bytes + GAP;
  ASAN_UNPOISON_MEMORY_REGION(b->data + offset, bytes);
  return b->data + offset;
}

static void *get(cb_arena *arena, size_t count, size_t size, size_t alignment) {
  if (!arena || alignment == 0 || (alignment & (alignment - 1)) != 0) return NULL;
  if (size != 0 && count > SIZE_MAX / size) return NULL;
  size_t bytes = count * size;
  if (bytes == 0) bytes = 1;

  /* calloc aligns to max_align_t. For a stricter alignment the piece may start up to `alignment` bytes later. */
  size_t slack = (alignment > alignof(max_align_t) ? alignment : 0) + GAP;
  if (bytes > SIZE_MAX - sizeof(block) - slack) return NULL;
  void *piece = arena->newest ? take(arena->newest, bytes, alignment) : NULL;
  if (piece) return piece;
  size_t block_size = bytes + slack < arena->next_size ? arena->next_size : bytes + slack;
  block *b = calloc(1, sizeof *b + block_size);
  if (!b) return NULL;
  b->size = block_size;
  ASAN_POISON_MEMORY_REGION(b->data, b->size);

  /* A large piece gets a block of its own, placed after the newest block, which continues to serve small requests. */
  if (arena->newest && bytes + slack >= arena->next_size) {
    b->next = arena->newest->next;
    arena->newest->next = b;
  } else {
    b->next = arena->newest;
    arena->newest = b;
    if (arena->next_size < largest_block) arena->next_size *= 2;
  }
  return take(b, bytes, alignment);
}

void *cb_arena_alloc_aligned(cb_arena *arena, size_t count, size_t size, size_t alignment) {
  void *piece = get(arena, count, size, alignment);
  if (arena && !piece) arena->lost = true;
  return piece;
}

bool cb_arena_lost(const cb_arena *arena) { return !arena || arena->lost; }

void *cb_arena_alloc(cb_arena *arena, size_t count, size_t size) {
  return cb_arena_alloc_aligned(arena, count, size, alignof(max_align_t));
}

char *cb_arena_strndup(cb_arena *arena, const char *text, size_t n) {
  char *copy = n == SIZE_MAX ? NULL : cb_arena_alloc_aligned(arena, n + 1, 1, 1);
  if (copy && n) memcpy(copy, text, n);
  return copy;
}

char *cb_arena_strdup(cb_arena *arena, const char *text) { return cb_arena_strndup(arena, text, strlen(text)); }

void cb_arena_doubles_for(cb_arena *arena, size_t count, double **const *to) {
  for (; *to; to++) **to = cb_arena_alloc_aligned(arena, count, sizeof(double), CB_CACHE_LINE);
}

void *cb_arena_object(size_t size, const char *what) {
  cb_arena *arena = cb_arena_create();
  cb_arena **object = cb_arena_alloc(arena, 1, size);
  if (!object) {
    cb_arena_free(arena);
    cb_fail(CB_ERROR_MEMORY, "no memory for %s", what);
    return NULL;
  }
  *object = arena;
  return object;
}
