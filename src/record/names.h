/* The names that datasets had in records of older versions. Internal. */
#pragma once

#include "core/arena.h"
#include <curvebody/sink.h>
#include <hdf5.h>

/* Returns the present name of a dataset with the old name `old`; NULL if `old` is not an old name. */
const char *cb_record_renamed(const char *old);

/* Returns whether the file has the old names. Either all files of a record have them or none. */
bool cb_record_has_old_names(hid_t file);

/* Returns the name of a dataset in a record with old names, or in one without. */
const char *cb_record_name(const char *name, bool old);

/* Gives the layout the old names: a record that is resumed keeps its names. */
cb_status cb_record_use_old_names(cb_arena *arena, cb_record_layout *layout);
