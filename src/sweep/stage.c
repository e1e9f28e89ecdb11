#include "sweep/stage.h"

#include <stdlib.h>

enum { MEMBERS = 64, BYTES = 1 << 20 };

cb_status cb_stage_create(const cb_store_layout *l, size_t least, cb_stage *out) {
  cb_stage s = {.layout = l,
                .values = calloc(l->n_fields + 1, sizeof *s.values),
                .bytes = calloc(l->n_fields + 1, sizeof *s.bytes)};
  size_t all = 1;
  bool good = s.values && s.bytes;
  for (size_t f = 0; f < l->n_fields && good; f++)
    all += s.bytes[f] = cb_store_field_count(&l->fields[f]) * (l->fields[f].type == CB_FIELD_INT32 ? 4 : 8);
  s.room = all * MEMBERS <= BYTES ? MEMBERS : BYTES / all;
  if (s.room < least) s.room = least;
  s.number = calloc(s.room, sizeof *s.number);
  s.status = calloc(s.room, sizeof *s.status);
  s.seconds = calloc(s.room, sizeof *s.seconds);
  s.words = calloc(s.room, sizeof *s.words);
  s.warned = calloc(s.room, sizeof *s.warned);
  s.warning = calloc(s.room, sizeof *s.warning);
  good = good && s.warned && s.warning && s.number && s.status && s.seconds && s.words;
  for (size_t f = 0; f < l->n_fields && good; f++) good = (s.values[f] = malloc(s.room * s.bytes[f] + 1)) != NULL;
  *out = s;
  if (good) return CB_OK;
  cb_stage_free(out);
  return cb_fail(CB_ERROR_MEMORY, "no memory for the results of %zu members", s.room);
}

void cb_stage_free(cb_stage *s) {
  for (size_t f = 0; s->values && f < s->layout->n_fields; f++) free(s->values[f]);
  free(s->values);
  free(s->bytes);
  free(s->number);
  free(s->status);
  free(s->seconds);
  free(s->words);
  free(s->warned);
  free(s->warning);
  *s = (cb_stage){0};
}

size_t cb_stage_add(cb_stage *s, int64_t number, cb_member_status status, const char *words, double seconds) {
  const size_t i = s->count++;
  s->number[i] = number;
  s->status[i] = status;
  s->seconds[i] = seconds;
  cb_store_words(words, s->words[i]);
  return i;
}

cb_status cb_stage_flush(cb_stage *s, cb_store *store) {
  const cb_store_results results = {s->count,   s->number,
                                    s->status,  (const char(*)[CB_STORE_WORDS])s->words,
                                    s->seconds, (const unsigned char *const *)s->values};
  const size_t count = s->count;
  s->count = 0;
  if (!count || !store) return CB_OK;
  const cb_status status =
      cb_store_put_warnings(store, count, s->number, s->warned, (const char(*)[CB_STORE_WORDS])s->warning);
  return status ? status : cb_store_put(store, &results);
}
