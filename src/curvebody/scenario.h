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

/* Reads and validates a scenario, with sets[n] of the form KEY=VALUE applied to it, and makes its space, system,
 * integrator and run. All errors of the scenario are found here, and cb_error_text() has all of them. CB_ERROR_FILE if
 * it (or a mesh it names) cannot be read, CB_ERROR_INPUT if its content is wrong. The caller frees. */
cb_status cb_scenario_open(const char *path, const char *const *sets, size_t n, cb_scenario **out);
/* As cb_scenario_open, for a text; name is used as file name in messages, and its folder is the base of files named in
 * the scenario. */
cb_status cb_scenario_open_text(const char *name, const char *text, const char *const *sets, size_t n,
                                cb_scenario **out);
/* As cb_scenario_open, for a file with `bundle`: reads only bundle, gait, start and optimum, if they are there, and
 * makes no run. */
cb_status cb_scenario_open_bundle(const char *path, const char *const *sets, size_t n, cb_scenario **out);
/* Makes only a space, from YAML as in a scenario after `space:`; name is used as file name in messages. The caller
 * frees it with cb_space_free. */
cb_status cb_space_open_text(const char *name, const char *text, cb_space **out);
void cb_scenario_free(cb_scenario *scenario);

/* All results are borrowed. A scenario of bodies in a fluid, or of a gait in a bundle, has neither space nor system:
 * NULL. */
const char *cb_scenario_title(const cb_scenario *scenario);
const char *cb_scenario_source(const cb_scenario *scenario); /* the text as it was read */
const char *cb_scenario_resolved(
    const cb_scenario *scenario); /* the YAML text with sets and defaults; it gives the same scenario */
const cb_space *cb_scenario_space(const cb_scenario *scenario);
const cb_system *cb_scenario_system(const cb_scenario *scenario);
cb_integrator *cb_scenario_integrator(cb_scenario *scenario);
cb_run *cb_scenario_run(cb_scenario *scenario);
/* SHA-256 of the content of the files that the scenario names (meshes, poses, grids), one after another; "" if it names
 * none. */
const char *cb_scenario_inputs(const cb_scenario *scenario);
/* Returns the files that were read for the scenario: the file itself, unless it is a text, and the files that it
 * names. */
cb_files cb_scenario_files(const cb_scenario *scenario);
/* Returns the options of the scenario's record, which do not allow replacing a file. */
cb_record_options cb_scenario_record(const cb_scenario *scenario);

/* For a scenario with a bundle, all borrowed: the bundle, a cycle of its gait, and the problem of `optimum`; NULL if it
 * has none. */
const cb_bundle *cb_scenario_bundle(const cb_scenario *scenario);
const cb_gait *cb_scenario_gait(const cb_scenario *scenario);
const cb_optimum_problem *cb_scenario_optimum(const cb_scenario *scenario);

/* For a scenario of bodies in a fluid: the number of bodies (0: it is of particles), and name and data of body i
 * (curvebody/immersed.h). */
struct cb_immersed;
int cb_scenario_bodies(const cb_scenario *scenario);
const char *cb_scenario_body_name(const cb_scenario *scenario, int i);
const struct cb_immersed *cb_scenario_body(const cb_scenario *scenario, int i);

/* Maps in a scenario of bodies in a fluid, for `curvebody list fluids`; ended by a NULL name. */
typedef struct cb_fluid_doc {
  const char *name, *title, *doc;
  const cb_param *params;
} cb_fluid_doc;
extern const cb_fluid_doc cb_fluid_docs[];

/* Returns the layout of the run's record with title, texts and attributes filled in; owned by the scenario. */
const cb_record_layout *cb_scenario_layout(cb_scenario *scenario);

CB_API_END
#endif
