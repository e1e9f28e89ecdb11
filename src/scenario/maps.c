/* Which table reads which map of a scenario. */
#include "scenario/maps.h"

#include "bodies/link.h"
#include "scenario/bundle.h"
#include "scenario/kind.h"

#include <stddef.h>

/* Of particles: src/bodies/place.c and motion.c read these by hand, since their forms exclude one another. */
#define KEY(key, type, fallback, doc) \
  { key, CB_PARAM_##type, 0, fallback, "", "", NULL, doc }
#define END \
  { NULL, 0, 0, NULL, NULL, NULL, NULL, NULL }
static const cb_param place[] = {
    KEY("chart", STRING, "", "of `points`; absent: the embedding, or the chart the space is used in"),
    KEY("points", NODE, "", "list of points, one a particle"),
    KEY("at", NODE, "", "{chart: .., point: [..]}: where `tangent` begins, in place of `points`"),
    KEY("tangent", NODE, "", "list of vectors in the frame at `at`: exp_at of each is a particle"),
    KEY("move", NODE, "", "list of {killing: NAME, by: NUMBER}: isometries applied afterwards, in order"),
    END};
static const cb_param motion[] = {
    KEY("killing", STRING, "", "Killing field that all particles follow, with `speed`"),
    KEY("speed", REAL, "nan", "factor of the Killing field"),
    KEY("chart", STRING, "", "of `velocities`; absent: the embedding, or the chart the space is used in"),
    KEY("velocities", NODE, "", "list of velocities, one a particle; a list of such maps adds"), END};
static const cb_param link_rod[] = {{"length", CB_PARAM_NODE, 0, "", "units of length", "> 0", NULL,
                                     "a number or an expression of t; if absent, the distance at the start"},
                                    END};
static const cb_param link_spring[] = {CB_SPRING_ROWS(cb_link, spring), END};

const cb_map_doc cb_map_docs[] = {
    {"time", "of particles, systems and bodies in a fluid", "", cb_time_table},
    {"time", "of gaits", "", cb_cycle_time_table},
    {"integrator", "of all scenarios but gaits, beside the keys of its class", "", cb_step_table},
    {"integrator", "of gaits, beside the keys of its class", "", cb_cycle_step_table},
    {"record", "of all scenarios", "", cb_record_table},
    {"start", "of particles and systems with constraints", "", cb_scenario_start_table},
    {"start", "of gaits", "", cb_group_table},
    {"bodies.*.place", "of particles", "`points`, or `at` and `tangent`", place},
    {"bodies.*.motion", "of particles", "A map or a list of them, which add", motion},
    {"bodies.*.link.rod", "of particles", "", link_rod},
    {"bodies.*.link.spring", "of particles", "", link_spring},
    {"potentials.*.central", "of particles, and of bodies in a fluid of a curved space", "", cb_central_table},
    {"potentials.*.harmonic", "of particles", "", cb_harmonic_table},
    {"potentials.*.expression", "of particles, and of bodies in a fluid of a curved space", "", cb_field_table},
    {"interactions.*", "of particles", "", cb_interaction_table},
    {"bodies.*.place", "of bodies in a fluid", "", cb_place_table},
    {"bodies.*.motion", "of bodies in a fluid", "", cb_motion_table},
    {"bodies.*.repeat", "of bodies in a fluid", "", cb_repeat_table},
    {"bodies.*.parts.*", "of bodies in a fluid", "", cb_part_table},
    {"bodies.*.shape.*", "of bodies in a fluid", "Beside the keys of its class, where shapes are a list",
     cb_piece_table},
    {"bodies.*.inertial", "of bodies in a fluid", "", cb_inertial_table},
    {"bodies.*.wrenches.*", "of bodies in a fluid", "", cb_wrench_table},
    {"bodies.*.poses", "of bodies in a fluid", "A sequence of meshes", cb_sequence_table},
    {"fluid.flow.vortex", "of bodies in a fluid", "", cb_vortex_table},
    {NULL, NULL, NULL, NULL}};
