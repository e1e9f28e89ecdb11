/* The program's prober: see probe.h. */
#include "record/probe.h"

#include <stddef.h>

static const cb_prober *prober;

void cb_probe_by(const cb_prober *p) { prober = p; }
cb_status cb_probe(const char *path) { return prober ? prober->look(path) : CB_OK; }

void cb_probe_trust(const char *path) {
  if (prober) prober->trust(path);
}
