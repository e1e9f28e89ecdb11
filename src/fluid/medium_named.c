/* Media by their names: air at 15 degrees Celsius and one atmosphere, fresh water at 20 degrees. */
#include "fluid/medium.h"

#include <string.h>

const char *const cb_medium_names[CB_MEDIUM_NAMES] = {"air", "water", "none"};
static const double densities[CB_MEDIUM_NAMES] = {1.225, 998, 0}; /* kg/m^3 */

bool cb_medium_named(const char *name, double *density) {
  int i = 0;
  while (i < CB_MEDIUM_NAMES && strcmp(name, cb_medium_names[i])) i++;
  if (i == CB_MEDIUM_NAMES) return false;
  *density = densities[i];
  return true;
}
