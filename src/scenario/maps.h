/* Maps of a scenario that belong to no class, with the tables that read them. Internal. */
#pragma once

#include <curvebody/param.h>

/* For `curvebody list maps`; ended by a NULL name. */
typedef struct cb_map_doc {
  const char *name, *title, *doc; /* name: its path, `*` any item of a list; title: of which scenarios */
  const cb_param *params;
} cb_map_doc;
extern const cb_map_doc cb_map_docs[];

extern const cb_param cb_cycle_time_table[], cb_cycle_step_table[], cb_place_table[], cb_motion_table[],
    cb_repeat_table[], cb_part_table[], cb_wrench_table[], cb_vortex_table[], cb_sequence_table[], cb_inertial_table[],
    cb_piece_table[], cb_interaction_table[], cb_central_table[], cb_harmonic_table[], cb_field_table[];
