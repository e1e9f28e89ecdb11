/* What a text that is nearly a number should have been: units, products without a sign, letters of other alphabets. */
#ifndef CB_TREE_NUMBER_HINT_H
#define CB_TREE_NUMBER_HINT_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cb_number_hint {
  size_t at;      /* offset of what is wrong */
  char text[400]; /* what is wrong, and what to write */
} cb_number_hint;

/* Of text[n], which begins with a decimal number and goes on with a unit, a name or a bracket. own: the unit of the key, ""
 * for a dimensionless one, NULL where it is not known. What is told to be written has the value that the text means;
 * where that is not plain no text is proposed. False: the text is of another kind, and the parser says what is wrong. */
bool cb_number_hint_of(const char *text, size_t n, const char *own, cb_number_hint *out);

#endif
