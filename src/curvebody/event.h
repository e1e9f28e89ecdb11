/* Kinds of events: bodies are reflected off each other or off a wall; a user's condition stops the run or is marked in
 * the record; a step failed and is repeated in smaller steps; the run gave a warning. The numbers are the values of
 * `kind` in /event.
 * For users.
 */
#ifndef CURVEBODY_EVENT_H
#define CURVEBODY_EVENT_H

#include <stdint.h>

typedef enum cb_event_action {
  CB_EVENT_REFLECT,
  CB_EVENT_STOP,
  CB_EVENT_MARK,
  CB_EVENT_RETRY,
  CB_EVENT_WARN
} cb_event_action;

/* An event, as it is recorded. */
typedef struct cb_event_row {
  double time;
  int32_t kind;            /* cb_event_action */
  int32_t particle, other; /* the particles, or bodies, that take part; -1: none */
  int32_t wall;            /* index of the wall, of the watched event or of the warning; -1: none */
  double gap, speed_before, speed_after, impulse;
} cb_event_row;

#endif
