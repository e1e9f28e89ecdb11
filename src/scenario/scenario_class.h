/* Finds the class of configuration space (curvebody/configuration.h) of a scenario. */
#pragma once

#include "scenario/private.h"

/* Returns the class that the keys of a scenario determine, or misspelt keys if there are no others; NULL: no key
 * determines a class. */
const cb_configuration *cb_scenario_class_of(const cb_node *root);
/* Returns the class of a scenario whose keys do not determine a class. */
const cb_configuration *cb_scenario_usual_class(void);
/* Returns the parameter table of the section `key` in a scenario of this class; NULL: there is no table. */
const cb_param *cb_scenario_table(const cb_scenario *s, const char *key);
