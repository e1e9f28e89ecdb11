/* The data of a scenario, shared by the files that read and describe it. This header also has functions for scenarios
 * that are not read from files: scenarios of records, and members of a sweep, which are parsed once and then opened
 * with other values in memory. */
#pragma once

#include "core/failure.h"
#include "yaml/yaml.h"
#include <curvebody/configuration.h>
#include <curvebody/constraint.h>
#include <curvebody/contact.h>
#include <curvebody/joint.h>
#include <curvebody/param.h>

enum { CB_SCENARIO_ATTRIBUTES = 48, CB_SCENARIO_DIGEST = 65 };

/* Named numbers that expressions may use: the value of a key `parameters`, in the scenario's arena. */
typedef struct cb_named_numbers {
  size_t n;
  const char **name;
  double *value; /* nan if the number could not be read */
  bool lost;     /* a name or a number could not be read */
} cb_named_numbers;

struct cb_scenario {
  cb_arena *arena;
  cb_tree *tree;
  const cb_configuration *class;
  void *own;                    /* the data of the class */
  const char *title, *resolved; /* resolved: the scenario with all defaults, as text */
  const char **warned;          /* [warnings]: the warnings that were given while the scenario was read */
  size_t warnings;
  const char *notes; /* YAML comments at the beginning of the resolved scenario, about keys that --set removed */
  cb_space *space;
  cb_builder
      *builder; /* gets the particles, forces, constraints and contacts that are read; NULL: they are only checked */
  cb_integrator *integrator;
  cb_run *run;
  const cb_node *bodies; /* the list of bodies */
  bool *failed;          /* [bodies]: the body could not be read, so references to this body are not checked */
  char inputs[CB_SCENARIO_DIGEST]; /* digest of the input files; "" if there are none */
  cb_status unread;                /* the status of the first input file that could not be read; CB_OK: none */
  const char **file;               /* [files]: the files that were read */
  size_t files;
  bool plain;                            /* whether the resolved text is not needed */
  struct cb_scenario_controls *controls; /* scenario/scenario_controls.c; NULL: there are none */
  cb_named_numbers parameters;           /* the parameters of the class, which laws of controls may use */
  cb_record_options record;              /* how the record is written */
  const char *attributes[CB_SCENARIO_ATTRIBUTES];
  char source_digest[CB_SCENARIO_DIGEST], hdf5[64], sundials[64], moved[32],
      turned[32]; /* attributes of the record: digest of the scenario, versions, corrections at the start */
};

/* Returns the value of a key of a scenario, or of a misspelt form of this key, so that errors inside the value are
 * reported in any case. NULL: there is no such key. */
const cb_node *cb_scenario_section(const cb_node *root, const char *key);

/* These functions read the parts of a scenario, each from its node (NULL if the key is absent), and report all errors.
 * If there is no builder, because the space could not be read, they report the errors that do not depend on the
 * space. */
cb_status cb_space_read(const cb_node *node, cb_space **out); /* a space given by name or by metric */
cb_status cb_scenario_read_space(cb_scenario *s, const cb_node *node);
/* `system`, which some scenarios have in place of `space` and `bodies` */
cb_status cb_scenario_read_system(cb_scenario *s, const cb_node *node);
extern const cb_param cb_scenario_system_table[]; /* the keys of a system that a metric does not have */
cb_status cb_scenario_read_forces(cb_scenario *s, const cb_node *potentials, const cb_node *interactions,
                                  const cb_node *forces);
struct cb_pair_potential_class;
/* Returns the class of the pair potential in an item of `potentials`, and sets *at to the node that names the class.
 * NULL: there is no pair potential, or the item is wrong. */
const struct cb_pair_potential_class *cb_scenario_pair_potential_of(const cb_node *item, const cb_node **at);
/* Warns if nothing can touch, because there is no wall and no body has a size. surface: the words of the message for
 * what a body needs in order to touch, such as "a surface". */
void cb_scenario_warn_of_contacts(const cb_scenario *s, const char *surface);
cb_status cb_scenario_read_contacts(cb_scenario *s, const cb_node *contacts, const cb_node *walls,
                                    const cb_node *events);
/* Reads the contacts of a system (`system:`). A system is one point, which can touch only walls. */
cb_status cb_scenario_read_system_contacts(cb_scenario *s, const cb_node *contacts, const cb_node *walls,
                                           const cb_node *events);
extern const cb_param cb_scenario_contacts_table[], cb_scenario_body_contacts_table[],
    cb_scenario_wall_contacts_table[];
/* Writes the parameter rows of a class of walls or events: the rows of the class, the rows that all walls or all events
 * have, and a last row with a NULL name. */
enum { CB_GAP_ROWS = 64, CB_JOINT_ROWS = 64 };
void cb_scenario_gap_rows(const cb_gap_class *class, bool event, cb_param rows[CB_GAP_ROWS]);
/* Writes the parameter rows of a class of joints: the rows that all joints have, the rows of the class, and a last row
 * with a NULL name. */
void cb_scenario_joint_rows(const cb_joint_class *class, cb_param rows[CB_JOINT_ROWS]);
cb_status cb_scenario_read_constraints(cb_scenario *s, const cb_node *node);
/* Lets a class of constraints read its map, which is the value of a key of `item`. */
cb_status cb_scenario_read_entry(cb_scenario *s, const cb_constraint_class *class, const cb_node *map,
                                 const cb_node *item);
extern const cb_param cb_scenario_start_table[];
/* Reads the map `integrator` at node, and makes the integrator without a run. */
cb_status cb_scenario_read_integrator(cb_scenario *s, const cb_node *root, const cb_node *node,
                                      cb_step_parameters *step);

/* Reads a map of names and numbers; if map is NULL, *out has none. */
cb_status cb_scenario_read_named(cb_scenario *s, const cb_node *map, cb_named_numbers *out);

/* --- `controls` (scenario/scenario_controls.c) --- */
/* Reads the names of the controls and their values at the start; map NULL: there are no controls. Until the call of
 * cb_scenario_controls_read, the error about an expression that may not use controls lists the places where controls
 * are allowed. */
cb_status cb_scenario_read_controls(cb_scenario *s, const cb_node *map);
void cb_scenario_controls_read(const cb_scenario *s);
/* Adds the controls to the names of an expression of forces. */
void cb_scenario_add_controls(const cb_scenario *s, cb_expression_scope *scope);
/* Makes the scenario's builder, with the controls for its forces. */
cb_status cb_scenario_make_builder(cb_scenario *s, const cb_space *space);
/* Returns the controls for the options of the run; NULL: there are none. */
const cb_run_controls *cb_scenario_run_controls(const cb_scenario *s);
/* Reads the laws of the controls. The run of the scenario must exist. */
cb_status cb_scenario_read_laws(cb_scenario *s);
void cb_scenario_free_controls(const cb_scenario *s);
extern const cb_param cb_control_table[];

/* Calls `read` for every item of a list, the value of the key `key`; does nothing if list is NULL or empty. */
cb_status cb_scenario_for_items(cb_scenario *s, const cb_node *list, const char *key,
                                cb_status (*read)(cb_scenario *, const cb_node *));
/* Calls `add` for every body that the node `bodies` names: one name, a list of names, or, if bodies is NULL, all
 * bodies. Failures are reported at the node `at`. expression: the text of `at` is an expression; an error in it is
 * reported with its position in this text. */
cb_status cb_scenario_for_bodies(cb_scenario *s, const cb_node *bodies, const cb_node *at, bool expression,
                                 cb_status (*add)(cb_builder *, int body, const void *what), const void *what);
/* Finds the index of the body whose name is the text of node. */
cb_status cb_scenario_find_body(const cb_scenario *s, const cb_node *node, int *body);
/* Finds the index of the body that a force, a wall or a constraint names in the text of node. A body of tracers is an
 * error, because only the flow moves tracers. */
cb_status cb_scenario_find_moved_body(const cb_scenario *s, const cb_node *node, int *body);
/* Reads a point: a particle, given as [body, number], or a point of a rigid body. *index becomes its index in the
 * builder. Fails for a tracer. */
cb_status cb_scenario_read_moved_particle(cb_scenario *s, const cb_node *node, int *index);
/* Reads a point of a rigid body, {body: NAME, at: [x, y, z]} in the frame of the body. *index becomes its index in the
 * builder. */
cb_status cb_scenario_read_body_point(cb_scenario *s, const cb_node *node, int *index);
/* The key `start`. project: the start is projected onto the constraints; tolerance: as start_tolerance of
 * cb_run_options. */
typedef struct cb_start {
  bool project;
  double tolerance;
} cb_start;
cb_status cb_scenario_read_start(cb_scenario *s, const cb_node *node, cb_start *out);
/* Adds the position of node to the message of a failure that has no position. expression: the text of node is an
 * expression, and a failure in it gets the position in this text. Returns the status. */
cb_status cb_scenario_placed(const cb_scenario *s, cb_status status, const cb_node *node, bool expression);

/* If --set has replaced the class that a map names by another class, removes the keys of the map that only the replaced
 * class has. was: the root of the tree before --set was applied. */
cb_status cb_scenario_change_classes(cb_scenario *s, const cb_node *was);
/* Fails if map has a misspelt form of the key that names its class; an absent key is no failure. path: as for
 * cb_scenario_check_map. */
cb_status cb_scenario_check_class(const char *path, const cb_node *map);
/* Checks the parameters in a map that names a class. This function is used if no object of the class can be made,
 * because values on which the object depends could not be read. path: the path of the map in a scenario: "integrator",
 * "bodies.*" ... */
cb_status cb_scenario_check_map(const char *path, const cb_node *map);
/* Computes the SHA-256 of data[n], in hexadecimal digits. */
void cb_scenario_sha256(const void *data, size_t n, char hex[CB_SCENARIO_DIGEST]);
/* Sets *path to the path of the file that node names, in the scenario's arena, and adds the file to the files of the
 * scenario. */
cb_status cb_scenario_file(cb_scenario *s, const cb_node *node, const char **path);
cb_status cb_scenario_add_file(cb_scenario *s, const char *path);
/* Adds data[n] to the digest s->inputs. */
void cb_scenario_add_data(cb_scenario *s, const void *data, size_t n);

/* Returns the node at which an error is reported if particles or bodies cannot start: the value of `time`, `start` or
 * `bodies`. */
const cb_node *cb_scenario_blame_start(const cb_node *root, cb_status status);

/* Return an item of `bodies` with its defaults: the first function for particles, the second for bodies in a fluid.
 * Both return NULL if memory runs out, or if a file cannot be read (s->unread). */
const cb_node *cb_scenario_resolve_body(cb_scenario *s, const cb_node *node);
const cb_node *cb_scenario_resolve_immersed(cb_scenario *s, const cb_node *node);
/* Return the values of `fluid` and of `bundle` with their defaults; NULL if memory runs out or a file cannot be
 * read. */
const cb_node *cb_scenario_resolve_fluid(cb_scenario *s, const cb_node *node);
const cb_node *cb_scenario_resolve_bundle(cb_scenario *s, const cb_node *node);
/* Writes the complete tree with its defaults, as text, to s->resolved. */
cb_status cb_scenario_resolve(cb_scenario *s, const cb_node *root);

/* --- maps of a scenario that name no class, and the tables that read them --- */

/* A map, for `curvebody list maps`; the list ends at a NULL name. */
typedef struct cb_map_doc {
  const char *name, *title,
      *doc; /* name: its path, where `*` means any item of a list; title: the scenarios that have it */
  const cb_param *params;
} cb_map_doc;
extern const cb_map_doc cb_map_docs[];

extern const cb_param cb_cycle_time_table[], cb_cycle_step_table[], cb_place_table[], cb_motion_table[],
    cb_repeat_table[], cb_part_table[], cb_wrench_table[], cb_sequence_table[], cb_inertial_table[], cb_piece_table[],
    cb_interaction_table[], cb_central_table[], cb_harmonic_table[], cb_field_table[], cb_spring_table[],
    cb_force_table[], cb_value_table[], cb_joint_table[];

/* --- the class of a scenario --- */

/* Returns the class that the keys of a scenario determine. If no key does, misspelt keys count, too. NULL: no key
 * determines a class. */
const cb_configuration *cb_scenario_class_of(const cb_node *root);
/* Returns the default class, for a scenario whose keys do not determine a class. */
const cb_configuration *cb_scenario_usual_class(void);
/* Returns the parameter table of the section `key` in a scenario of this class; NULL: there is no table. */
const cb_param *cb_scenario_table(const cb_scenario *s, const char *key);

/* --- scenarios that are not read from files --- */

/* A key as in --set (the text of a scalar), and its value. */
typedef struct cb_member_value {
  const cb_node *key, *value;
} cb_member_value;

/* Reads the text of a scenario from a record, like cb_scenario_open_text; keys may have their former names. */
cb_status cb_scenario_open_record(const char *name, const char *text, const char *const *sets, size_t n,
                                  cb_scenario **out);

/* Finds the class of configuration space of a record; *out becomes NULL if no key of its scenario determines a
 * class. */
cb_status cb_scenario_class_of_record(cb_reader *reader, const char *path, const cb_configuration **out);

/* Reads the scenario at `root` of a tree with values[n] set for their keys, like cb_scenario_open or, if only_bundle is
 * true, like cb_scenario_open_bundle. The scenario has no resolved text. The tree and the values are borrowed until the
 * scenario is freed; scenarios in several threads may share them. */
cb_status cb_scenario_open_member(const cb_tree *tree, const cb_node *root, const cb_member_value *values, size_t n,
                                  bool only_bundle, cb_scenario **out);
