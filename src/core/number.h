/* Numbers in exported texts. Internal. */
#ifndef CB_CORE_NUMBER_H
#define CB_CORE_NUMBER_H

/* The fewest digits that read back as the same number; nan, inf, -inf for the others. */
void cb_export_number(char text[32], double value);

#endif
