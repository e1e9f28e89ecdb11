/* What an event does: bodies are reflected off one another or a wall, a condition of the user's ends the run or is
 * marked in the record, a step that failed is tried again in smaller ones, something in the run is to be doubted. The
 * numbers are those of /event's `kind`.
 * For users.
 */
#ifndef CURVEBODY_EVENT_H
#define CURVEBODY_EVENT_H

typedef enum cb_event_action {
  CB_EVENT_REFLECT,
  CB_EVENT_STOP,
  CB_EVENT_MARK,
  CB_EVENT_RETRY,
  CB_EVENT_WARN
} cb_event_action;

#endif
