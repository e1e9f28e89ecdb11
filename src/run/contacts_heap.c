/* The heap of what is expected in a step: see contacts_private.h. */
#include "run/contacts_private.h"

#include <stdlib.h>

cb_status cb_contacts_grow(void **array, int count, int *room, size_t size) {
  if (count < *room) return CB_OK;
  const int next = *room ? 2 * *room : 64;
  void *more = realloc(*array, (size_t)next * size);
  if (!more) return cb_fail(CB_ERROR_MEMORY, "no memory for %d contacts", next);
  *array = more;
  *room = next;
  return CB_OK;
}

static bool before(const cb_contacts_entry *a, const cb_contacts_entry *b) {
  if (a->tau != b->tau) return a->tau < b->tau;
  for (int i = 0; i < CB_GAP_PARTICLES && i < a->what.gap.n && i < b->what.gap.n; i++)
    if (a->what.gap.particle[i] != b->what.gap.particle[i]) return a->what.gap.particle[i] < b->what.gap.particle[i];
  if (a->what.gap.kind != b->what.gap.kind) return a->what.gap.kind < b->what.gap.kind;
  return a->what.gap.index < b->what.gap.index;
}

cb_status cb_contacts_push(cb_contacts *c, cb_contacts_entry e) {
  cb_status status = cb_contacts_grow((void **)&c->heap, c->entries, &c->room_entries, sizeof *c->heap);
  if (status) return status;
  int i = c->entries++;
  for (; i > 0 && before(&e, &c->heap[(i - 1) / 2]); i = (i - 1) / 2) c->heap[i] = c->heap[(i - 1) / 2];
  c->heap[i] = e;
  return CB_OK;
}

cb_contacts_entry cb_contacts_pop(cb_contacts *c) {
  const cb_contacts_entry first = c->heap[0], last = c->heap[--c->entries];
  int i = 0;
  for (;;) {
    int child = 2 * i + 1;
    if (child >= c->entries) break;
    if (child + 1 < c->entries && before(&c->heap[child + 1], &c->heap[child])) child++;
    if (!before(&c->heap[child], &last)) break;
    c->heap[i] = c->heap[child];
    i = child;
  }
  c->heap[i] = last;
  return first;
}
