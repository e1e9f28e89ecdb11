/* A number in as few digits as read back the same. */
#include "core/number.h"
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void cb_export_number(char text[32], double value) {
  if (isnan(value)) {
    strcpy(text, "nan");
    return;
  }
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, 32, "%.*g", digits, value);
    if (digits == 17 || strtod(text, NULL) == value) return;
  }
}
