/* Which class of configuration space (curvebody/configuration.h) a scenario has. */
#pragma once

#include "scenario/private.h"

/* Finds the class by its keys, or by misspelt keys if there is no other; NULL: no key determines it. */
const cb_configuration *cb_scenario_class_of(const cb_node *root);
/* The class of a scenario that no key determines. */
const cb_configuration *cb_scenario_usual_class(void);
/* The parameter table of a section in a scenario of this class; NULL: there is no table. */
const cb_param *cb_scenario_table(const cb_scenario *s, const char *key);
