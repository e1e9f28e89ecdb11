/* Decides which runs can be lanes, and loads and stores their states and histories (lanes.h). */
#include "integrators/lanes.h"

#include "core/threads.h"
#include "dynamics/system_facts.h"
#include "dynamics/forces_private.h"
#include "dynamics/springs.h"
#include "numerics/dd.h"

#include <string.h>

extern const cb_integrator_class cb_integrator_lobatto, cb_integrator_rk4;

static const cb_lanes_kernel *kernel(void) {
#if defined(__x86_64__)
  if (cb_isa_get() == CB_ISA_AVX512) return &cb_lanes_kernel_avx512;
  if (cb_isa_get() == CB_ISA_AVX2) return &cb_lanes_kernel_avx2;
#endif
  return NULL;
}

size_t cb_lanes_width(void) {
  const cb_lanes_kernel *k = kernel();
  return k ? k->width : 1;
}

static const cb_springs *plan_of(const cb_integrator *in) {
  return in->forces->springs ? in->forces->springs->plan : NULL;
}

/* Returns whether there are no constraints, and no forces except those of one or two undamped springs. */
static bool simple_forces(const cb_integrator *in) {
  const cb_system *s = in->system;
  const cb_springs *plan = plan_of(in);
  if (s->n_constraints || s->damped) return false;
  if (!plan) return !s->n_springs && cb_system_springs_alone(s);
  return in->forces->springs_alone && plan->m <= CB_LANES_SPRINGS && !plan->damped && plan->n_blocks == 1;
}

static bool is_lobatto(const cb_integrator *in) { return in->class_ == &cb_integrator_lobatto; }

bool cb_lanes_serve(const cb_integrator *in) {
  if (!kernel() || (!is_lobatto(in) && in->class_ != &cb_integrator_rk4)) return false;
  const cb_space *g = cb_system_space(in->system);
  if (g->chart || g->intrinsic || g->n_factors != 1 || g->k > 4) return false;
  const bool flat = g->factor[0].curvature == 0;
  if (flat ? g->k != 2 && g->k != 3 : g->k != 3 && g->k != 4) return false;
  if (!simple_forces(in)) return false;
  const cb_lobatto *l = is_lobatto(in) ? in->self : NULL;
  return !l || (!l->rods && !l->V && l->threads <= 1 && !cb_solver_is_newton(&l->solver));
}

static bool same_springs(const cb_springs *a, const cb_springs *b) {
  if (!a || !b) return a == b;
  bool same = a->m == b->m;
  for (size_t e = 0; e < a->m && same; e++) same = a->a[e] == b->a[e] && a->near[e] == b->near[e];
  return same;
}

bool cb_lanes_agree(const cb_integrator *a, const cb_integrator *b) {
  const cb_space *g = cb_system_space(a->system), *h = cb_system_space(b->system);
  if (a->class_ != b->class_ || g->k != h->k || cb_system_particles(a->system) != cb_system_particles(b->system))
    return false;
  const double K = g->factor[0].curvature, L = h->factor[0].curvature;
  if ((K > 0) != (L > 0) || (K < 0) != (L < 0) || !same_springs(plan_of(a), plan_of(b))) return false;
  if (!is_lobatto(a)) return true;
  const cb_lobatto *l = a->self, *m = b->self;
  return l->s == m->s && l->compensated == m->compensated && !l->kernel == !m->kernel;
}

bool cb_lanes_ready(const cb_integrator *in, double h) {
  if (!is_lobatto(in)) return true;
  const cb_lobatto *l = in->self;
  return l->has_history && l->has_force && l->past_h == h && !cb_solver_is_newton(&l->solver);
}

/* --- a group --- */

static void describe(cb_lanes *l, const cb_integrator *in) {
  const cb_space *g = cb_system_space(in->system);
  const cb_lobatto *of = is_lobatto(in) ? in->self : NULL;
  const cb_springs *plan = plan_of(in);
  l->kernel = kernel();
  l->lobatto = of != NULL;
  l->compensated = of && of->compensated;
  l->moves = cb_origin_moves(g);
  l->shape = g->factor[0].curvature == 0 ? CB_LANES_FLAT : of && of->kernel ? CB_LANES_QUAD : CB_LANES_CURVED;
  l->n = cb_system_particles(in->system);
  l->k = g->k;
  l->s = of ? of->s : 1;
  l->m = plan ? (int)plan->m : 0;
  l->system = in->system;
  l->components = cb_system_components(in->system);
  l->start = cb_system_component_starts(in->system);
  for (int a = 0; a < g->k; a++) l->form[a] = g->form[a];
  for (int e = 0; plan && e < l->m; e++) {
    l->i[e] = (size_t)plan->a[e] / 4 * (size_t)g->k;
    l->j[e] = (size_t)plan->near[e] / 4 * (size_t)g->k;
  }
}

static cb_status make(const cb_integrator *in, cb_lanes **out) {
  cb_lanes *l = cb_arena_object(sizeof *l, "steps in lanes");
  if (!l) return CB_ERROR_MEMORY;
  describe(l, in);
  const size_t width = l->kernel->width, n = (size_t)l->n * width, count = n * (size_t)l->k;
  cb_arena_doubles(l->arena, n, &l->mass, &l->off);
  cb_arena_doubles(l->arena, CB_LANES_SPRINGS * width, &l->stiffness, &l->tension);
  cb_arena_doubles(l->arena, count, &l->x, &l->x_low, &l->p, &l->p_low);
  for (int i = 0; i < l->s; i++) cb_arena_doubles(l->arena, count, &l->X[i], &l->D[i], &l->F[i], &l->G[i], &l->old[i]);
  if (!l->lobatto) cb_arena_doubles(l->arena, count, &l->dx, &l->dp, &l->sum_x, &l->sum_p, &l->at_p);
  if (cb_arena_lost(l->arena)) {
    cb_lanes_free(l);
    return cb_fail(CB_ERROR_MEMORY, "no memory for steps in lanes");
  }
  *out = l;
  return CB_OK;
}

cb_status cb_lanes_prepare(cb_lanes **lanes, const cb_integrator *in) {
  const cb_lanes was = *lanes ? **lanes : (cb_lanes){0};
  if (*lanes) {
    describe(*lanes, in);
    const cb_lanes *l = *lanes;
    if (l->kernel == was.kernel && l->lobatto == was.lobatto && l->n == was.n && l->k == was.k && l->s == was.s)
      return CB_OK;
  }
  cb_lanes_free(*lanes);
  *lanes = NULL;
  return make(in, lanes);
}

void cb_lanes_free(cb_lanes *l) {
  if (l) cb_arena_free(l->arena);
}

static void spread(size_t width, size_t lane, size_t count, const double *from, double *to) {
  for (size_t e = 0; e < count; e++) to[e * width + lane] = from[e];
}
static void collect(size_t width, size_t lane, size_t count, const double *from, double *to) {
  for (size_t e = 0; e < count; e++) to[e] = from[e * width + lane];
}

static void take(cb_lanes *l, size_t lane, const cb_integrator *in, const cb_state *state, double h) {
  const size_t width = l->kernel->width, count = (size_t)(l->n * l->k);
  const cb_springs *plan = plan_of(in);
  l->h[lane] = h;
  l->K[lane] = cb_system_space(in->system)->factor[0].curvature;
  l->quarter[lane] = plan ? plan->space.quarter[0] : 0;
  l->t[lane] = state->t;
  l->t_low[lane] = state->t_low;
  spread(width, lane, (size_t)l->n, cb_system_masses(in->system), l->mass);
  for (int e = 0; plan && e < l->m; e++) {
    const double stiffness = plan->stiffness[plan->stiffness_step ? e : 0];
    l->stiffness[(size_t)e * width + lane] = stiffness;
    l->tension[(size_t)e * width + lane] = stiffness * plan->rest[plan->rest_step ? e : 0];
  }
  spread(width, lane, count, state->x, l->x);
  spread(width, lane, count, state->x_low, l->x_low);
  spread(width, lane, count, state->p, l->p);
  spread(width, lane, count, state->p_low, l->p_low);
  if (!l->lobatto) return;
  const cb_lobatto *of = in->self;
  if (lane == 0) l->tables = of;
  l->tolerance[lane] = of->tolerance;
  l->maximum[lane] = of->max_iterations;
  for (int i = 0; i < l->s; i++) spread(width, lane, count, of->G[i], l->G[i]);
  spread(width, lane, count, of->F[0], l->F[0]);
}

void cb_lanes_begin(cb_lanes *l, size_t n) { l->lanes = n; }

void cb_lanes_load(cb_lanes *l, size_t lane, const cb_integrator *in, const cb_state *state, double h) {
  take(l, lane, in, state, h);
  for (size_t other = l->lanes; lane == 0 && other < l->kernel->width; other++) take(l, other, in, state, h);
}

/* Returns the bits of the lanes in which a spring on a sphere is so long that steps must be checked
 * (dynamics/pair_potential.c). */
static unsigned near_antipodes(const cb_lanes *l) {
  const size_t width = l->kernel->width;
  unsigned found = 0;
  for (size_t lane = 0; lane < l->lanes && l->K[0] > 0; lane++)
    for (int e = 0; e < l->m; e++) {
      double sum = 0;
      for (int a = 0; a < l->k; a++)
        sum += l->x[(l->i[e] + (size_t)a) * width + lane] * l->x[(l->j[e] + (size_t)a) * width + lane];
      if (l->K[lane] * sum < cb_antipodes_cosine) found |= 1u << lane;
    }
  return found;
}

cb_lanes_step cb_lanes_go(cb_lanes *l) {
  cb_lanes_step step = {.failed = l->lobatto ? l->kernel->lobatto(l) : l->kernel->rk4(l)};
  for (size_t lane = 0; lane < l->lanes; lane++)
    if (!(step.failed >> lane & 1)) cb_compensated_add_one(&l->t[lane], &l->t_low[lane], l->h[lane]);
  for (size_t lane = 0; l->lobatto && lane < l->lanes; lane++)
    if (l->iterations[lane] > CB_SOLVER_PATIENCE_SMALL) step.leave |= 1u << lane;
  if (l->moves) step.drifted = l->kernel->drifted(l) & ~step.failed;
  step.leave |= step.failed | near_antipodes(l);
  return step;
}

void cb_lanes_store(cb_lanes *l, size_t lane, cb_integrator *in, cb_state *s, bool history, bool failed) {
  const size_t width = l->kernel->width, count = (size_t)(l->n * l->k);
  s->t = l->t[lane];
  s->t_low = l->t_low[lane];
  collect(width, lane, count, l->x, s->x);
  collect(width, lane, count, l->x_low, s->x_low);
  collect(width, lane, count, l->p, s->p);
  collect(width, lane, count, l->p_low, s->p_low);
  in->failed_particle = -1;
  if (!l->lobatto) return;
  cb_lobatto *of = in->self;
  if (!failed) {
    in->iterations = l->iterations[lane];
    in->residual = l->residual_of[lane];
    cb_solver_after(&of->solver, CB_OK, l->iterations[lane]);
    in->solver = cb_solver_name(&of->solver);
  }
  if (!history) return;
  for (int i = 0; i < l->s; i++) collect(width, lane, count, failed ? l->old[i] : l->G[i], of->G[i]);
  collect(width, lane, count, failed ? l->F[l->s - 1] : l->F[0], of->F[0]);
  of->has_history = of->has_force = true;
  of->past_h = l->h[lane];
}
