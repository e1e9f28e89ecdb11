/* The columns of results, and the boxes that runs of members are on the axes. */
#include "sweep/store_private.h"

#include <string.h>

static const char *const letter[] = {"letter"};

size_t cb_store_columns(const cb_store_layout *layout) { return CB_STORE_OWN + layout->n_fields; }

static cb_store_column own_column(size_t c) {
  static const struct {
    const char *name, *doc;
    bool is_text;
  } own[CB_STORE_OWN] = {{"status", "how a member ended", false},
                         {"failure", "why a member failed", true},
                         {"warned", "how often a member was warned of", false},
                         {"warning", "the first warning of a member", true}};
  cb_store_column out = {.name = own[c].name, .doc = own[c].doc, .is_text = own[c].is_text};
  out.file_type = out.is_text ? H5T_C_S1 : H5T_STD_I32LE;
  out.memory_type = out.is_text ? H5T_C_S1 : H5T_NATIVE_INT32;
  out.bytes = out.is_text ? CB_STORE_WORDS : sizeof(int32_t);
  if (out.is_text) out.rank = 1, out.shape[0] = CB_STORE_WORDS, out.dims = letter;
  return out;
}

cb_store_column cb_store_column_of(const cb_store_layout *layout, size_t c) {
  if (c < CB_STORE_OWN) return own_column(c);
  const cb_store_field *f = &layout->fields[c - CB_STORE_OWN];
  cb_store_column out = {.name = f->name,
                         .file_type = cb_hdf5_file_type(f->type),
                         .memory_type = cb_hdf5_memory_type(f->type),
                         .rank = f->rank,
                         .dims = f->dims,
                         .units = f->units,
                         .doc = f->doc,
                         .bytes = cb_store_field_count(f) * cb_hdf5_type_size(f->type),
                         .is_real = f->type == CB_FIELD_DOUBLE};
  for (int d = 0; d < f->rank; d++) out.shape[d] = f->shape[d];
  return out;
}

size_t cb_store_field_count(const cb_store_field *field) {
  size_t count = 1;
  for (int d = 0; d < field->rank; d++) count *= field->shape[d];
  return count;
}

size_t cb_store_bytes(const cb_store_layout *layout) {
  size_t bytes = 0;
  for (size_t c = 0; c < cb_store_columns(layout); c++) bytes += cb_store_column_of(layout, c).bytes;
  return bytes;
}

void cb_store_words(const char *text, char words[CB_STORE_WORDS]) {
  size_t n = strlen(text);
  if (n > CB_STORE_WORDS)
    for (n = CB_STORE_WORDS; n && ((unsigned char)text[n] & 0xc0) == 0x80;) n--;
  memset(words, 0, CB_STORE_WORDS);
  memcpy(words, text, n);
}

bool cb_store_boxes(const cb_store_layout *l, int64_t m, int64_t end, cb_store_box visit, void *context) {
  const int axes = (int)l->n_axes;
  bool good = true;
  while (m < end && good) {
    hsize_t start[CB_STORE_AXES] = {0}, count[CB_STORE_AXES];
    int64_t rest = m, whole = 1;
    for (int d = axes; d-- > 0;) {
      start[d] = (hsize_t)(rest % (int64_t)l->axes[d].count);
      rest /= (int64_t)l->axes[d].count;
      count[d] = 1;
    }
    int along = axes - 1; /* the first axis whose later ones are whole */
    while (along > 0 && start[along] == 0 && whole * (int64_t)l->axes[along].count <= end - m)
      whole *= (int64_t)l->axes[along--].count;
    const int64_t most = (int64_t)(l->axes[along].count - start[along]);
    int64_t fit = (end - m) / whole;
    if (fit > most) fit = most;
    for (int d = along + 1; d < axes; d++) count[d] = l->axes[d].count;
    count[along] = (hsize_t)fit;
    good = visit(context, start, count, m, (size_t)(fit * whole));
    m += fit * whole;
  }
  return good;
}
