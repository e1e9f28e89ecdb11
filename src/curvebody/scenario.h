/* A scenario: the parsed, validated YAML and the objects that it describes, ready to run.
 * For users.
 */
#ifndef CURVEBODY_SCENARIO_H
#define CURVEBODY_SCENARIO_H

#include <curvebody/optimum.h>
#include <curvebody/record.h>
#include <curvebody/run.h>

CB_API_BEGIN

typedef struct cb_scenario cb_scenario;

/* Reads and checks the scenario in the file `path`, and makes its space, system, integrator and run. Before that, the
 * settings sets[n], texts of the form KEY=VALUE, change its keys. The caller frees *out with cb_scenario_free.
 *
 * The function does not stop at the first error of the scenario: cb_error_text() gives one line for each of at most
 * twenty errors. CB_ERROR_FILE if the file, or a file that the scenario names, cannot be read; CB_ERROR_INPUT if the
 * content is wrong; CB_ERROR_MEMORY. *out is unchanged on failure. */
cb_status cb_scenario_open(const char *path, const char *const *sets, size_t n, cb_scenario **out);
/* Does the same as cb_scenario_open, for the scenario in `text`. Messages use `name` as the name of the file, and files
 * that the scenario names are relative to the folder of `name`. Both texts are copied. */
cb_status cb_scenario_open_text(const char *name, const char *text, const char *const *sets, size_t n,
                                cb_scenario **out);
/* Does the same as cb_scenario_open, for a file with the key `bundle`. The keys bundle, gait, start and optimum are
 * read; only bundle is required. No integrator and no run are made, and cb_scenario_resolved is NULL. */
cb_status cb_scenario_open_bundle(const char *path, const char *const *sets, size_t n, cb_scenario **out);
/* Makes a space from a YAML text that has the form of the value of `space` in a scenario. Messages use `name` as the
 * name of the file. The caller frees the space with cb_space_free. CB_ERROR_INPUT if the text is wrong. */
cb_status cb_space_open_text(const char *name, const char *text, cb_space **out);
void cb_scenario_free(cb_scenario *scenario);

/* Return parts of a scenario, which are valid until it is freed. In a scenario of a gait in a bundle, space and system
 * are NULL. In a scenario of bodies in a fluid the system is NULL, and the space is NULL without the key `space`. */
const char *cb_scenario_title(const cb_scenario *scenario);
const char *cb_scenario_source(const cb_scenario *scenario); /* the text as it was read */
const char *cb_scenario_resolved(
    const cb_scenario *scenario); /* YAML text of the same scenario with all settings and defaults */
const cb_space *cb_scenario_space(const cb_scenario *scenario);
const cb_system *cb_scenario_system(const cb_scenario *scenario);
cb_integrator *cb_scenario_integrator(cb_scenario *scenario);
cb_run *cb_scenario_run(cb_scenario *scenario);
/* Returns the number of controls (the key `controls`), and sets *name and *value to their names and present values,
 * which are valid until the scenario is freed. The values may be changed between steps (cb_run_advance). */
size_t cb_scenario_controls(cb_scenario *scenario, const char *const **name, double **value);
/* Adds warnings about the scenario to the warnings of its run (cb_run_warnings): those that were given while it was
 * read, and those about its bodies. Call the function before the run begins or is restored. */
cb_status cb_scenario_warn(cb_scenario *scenario);
/* Returns a digest of the files that the scenario names (meshes, poses, grids), as hexadecimal text that is valid until
 * the scenario is freed; "" if it names none. The digest changes if the content of one of these files changes. For each
 * file in turn, the digest becomes the SHA-256 of a text, the previous digest followed by the SHA-256 of the file. */
const char *cb_scenario_inputs(const cb_scenario *scenario);
/* Returns the names of the files that were read for the scenario: its own file, unless it was given as a text, and the
 * files that it names. The names are valid until the scenario is freed. */
cb_files cb_scenario_files(const cb_scenario *scenario);
/* Returns the options of the scenario's record. The option `overwrite` is false: an existing file is not replaced. */
cb_record_options cb_scenario_record(const cb_scenario *scenario);
/* Returns CB_ERROR_FILE if the file is a record with results that the scenario's run would not have: it is unfinished
 * and has rows after the start, or it is longer. Segments of a killed run are found by cb_record_create; any other file
 * may be replaced. */
cb_status cb_scenario_check_replaced(const cb_scenario *scenario, const char *path);

/* Return the bundle, one cycle of the gait that all shape variables follow, and the problem of the key `optimum`. NULL
 * if the scenario has no such part. The results are valid until the scenario is freed. */
const cb_bundle *cb_scenario_bundle(const cb_scenario *scenario);
const cb_gait *cb_scenario_gait(const cb_scenario *scenario);
const cb_optimum_problem *cb_scenario_optimum(const cb_scenario *scenario);

/* For a scenario of bodies in a fluid: return the number of bodies, and the name and the data (curvebody/immersed.h) of
 * body i, counted from 0. These are valid until the scenario is freed. For other scenarios the number is 0. */
struct cb_immersed;
int cb_scenario_bodies(const cb_scenario *scenario);
const char *cb_scenario_body_name(const cb_scenario *scenario, int i);
const struct cb_immersed *cb_scenario_body(const cb_scenario *scenario, int i);

/* The keys whose values are maps in a scenario of bodies in a fluid, with the parameters of each map. `curvebody list
 * fluids` prints them. The list ends at a NULL name. */
typedef struct cb_fluid_doc {
  const char *name, *title, *doc;
  const cb_param *params;
} cb_fluid_doc;
extern const cb_fluid_doc cb_fluid_docs[];

/* Returns the layout of the run's record with title, texts and attributes filled in; owned by the scenario. */
const cb_record_layout *cb_scenario_layout(cb_scenario *scenario);

CB_API_END
#endif
