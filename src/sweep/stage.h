/* Results of members that have ended and are not yet in their store: some at a time are written at once. */
#ifndef CB_SWEEP_STAGE_H
#define CB_SWEEP_STAGE_H

#include "sweep/store.h"

typedef struct cb_stage {
  const cb_store_layout *layout;
  size_t count, room;
  int64_t *number;
  int32_t *status;
  double *seconds;
  char (*words)[CB_STORE_WORDS];
  int32_t *warned;
  char (*warning)[CB_STORE_WORDS];
  unsigned char **values; /* [fields]: of all of them */
  size_t *bytes;          /* [fields]: of a member */
} cb_stage;

/* Room for at least so many members, and for more where they are small. The layout is borrowed. */
cb_status cb_stage_create(const cb_store_layout *layout, size_t least, cb_stage *out);
void cb_stage_free(cb_stage *stage);
/* One more, whose values are then to be filled in; its place. There must be room. */
size_t cb_stage_add(cb_stage *stage, int64_t number, cb_member_status status, const char *words, double seconds);
/* Where the value of field f of a member goes. */
static inline unsigned char *cb_stage_value(const cb_stage *stage, size_t f, size_t i) {
  return stage->values[f] + i * stage->bytes[f];
}
/* To the store (NULL: nowhere): none is left. */
cb_status cb_stage_flush(cb_stage *stage, cb_store *store);

#endif
