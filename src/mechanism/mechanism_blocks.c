/* Joined bodies and hinges, four at a time: the blocks, and the choice of the loops (equations: mechanism_blocks.h). */
#include "mechanism/mechanism_blocks.h"
#include "core/threads.h"

static const struct cb_blocks_kernel *kernel(void) {
#if defined(__x86_64__)
  if (cb_isa_get() >= CB_ISA_AVX2) return &cb_blocks_kernel_avx2;
#endif
  return &cb_blocks_kernel_x86_64;
}

/* Puts a link into place `count` of a block. All places after it become copies of it, so that they hold valid numbers.
 */
static void put_link(int count, int link, int places[CB_BLOCK]) {
  for (int i = count; i < CB_BLOCK; i++) places[i] = link;
}

/* Returns whether the loops over blocks can treat the joint of the link. */
static bool is_hinge(const cb_mechanism *m, const cb_link *l) {
  extern const cb_joint_class cb_joint_hinge;
  const cb_joint *j = l->joint >= 0 ? &m->joint[l->joint] : NULL;
  return j && j->class_ == &cb_joint_hinge && !l->first_moves && !j->driven[0];
}

static void put_hinge(const cb_joint *j, int place, cb_hinge_block *B) {
  for (int side = 0; side < 2; side++) {
    double r[3][3];
    cb_quaternion_rotation(j->frame[side].q, r);
    for (int i = place; i < CB_BLOCK; i++) {
      for (int k = 0; k < 4; k++) B->q[side][k][i] = j->frame[side].q[k];
      for (int k = 0; k < 3; k++) {
        B->x[side][k][i] = j->frame[side].x[k];
        B->axis[side][k][i] = r[k][2];
      }
    }
  }
}

/* Allocates an array whose vectors do not cross cache lines. */
static void *allocate(cb_mechanism *m, size_t size) {
  return cb_arena_alloc_aligned(m->arena, (size_t)m->bodies / CB_BLOCK + 1, size, CB_CACHE_LINE);
}

cb_status cb_blocks_create(cb_mechanism *m) {
  cb_blocks *s = &m->blocks;
  s->kernel = kernel();
  s->body = allocate(m, sizeof *s->body);
  s->node = allocate(m, sizeof *s->node);
  s->hinge = allocate(m, sizeof *s->hinge);
  if (!s->body || !s->node || !s->hinge) return cb_fail(CB_ERROR_MEMORY, "no memory for %d bodies", m->bodies);
  int n = 0;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    l->hinge_in_block = m->curvature == 0 && is_hinge(m, l);
    if (!l->hinge_in_block) continue;
    cb_hinge_block *B = &s->hinge[n / CB_BLOCK];
    put_link(n % CB_BLOCK, i, B->link);
    put_hinge(&m->joint[l->joint], n % CB_BLOCK, B);
    B->count = ++n % CB_BLOCK ? n % CB_BLOCK : CB_BLOCK;
  }
  s->hinges = (n + CB_BLOCK - 1) / CB_BLOCK;
  return CB_OK;
}

static bool is_simple(const cb_rigid_problem *p) {
  return p->curvature == 0 && p->constant && !p->pose_dependent && !p->inertia_wrench && (!p->wrench || p->dead_load);
}

cb_status cb_blocks_take_bodies(cb_mechanism *m, const cb_mechanism_bodies *b, const cb_mechanism_step *step,
                                int *failed) {
  int n = 0;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    const cb_rigid_problem *p = l->trial.p = b->problem(b->self, l->body);
    const cb_rigid_state *s = &b->state[l->body];
    l->in_block = step->map == CB_SE3_CAYLEY && is_simple(p);
    if (!l->in_block) continue;
    cb_body_block *B = &m->blocks.body[n / CB_BLOCK];
    const int place = n % CB_BLOCK;
    double F[6] = {0};
    const cb_status status = p->wrench ? p->wrench(p->self, s->t + step->h / 2, &s->g, s->Y, F, NULL) : CB_OK;
    if (status) {
      *failed = l->body;
      return status;
    }
    put_link(place, i, B->link);
    B->coupled = (place && B->coupled) || !p->constant->diagonal;
    for (int k = place; k < CB_BLOCK; k++) {
      B->constant[k] = p->constant;
      for (int c = 0; c < 3; c++) B->f[c][k] = F[3 + c];
    }
    B->count = place + 1;
    n++;
  }
  m->blocks.bodies = (n + CB_BLOCK - 1) / CB_BLOCK;
  return CB_OK;
}

void cb_blocks_take_node(cb_mechanism *m, const cb_mechanism_bodies *b) {
  int n = 0;
  for (int i = 0; i < m->links; i++) {
    cb_link *l = &m->link[i];
    const cb_rigid_constant *own = m->curvature == 0 ? b->problem(b->self, l->body)->constant : NULL;
    l->node_in_block = own != NULL;
    if (!own) continue;
    cb_node_block *B = &m->blocks.node[n / CB_BLOCK];
    const int place = n % CB_BLOCK;
    put_link(place, i, B->link);
    B->coupled = (place && B->coupled) || !own->diagonal;
    for (int k = place; k < CB_BLOCK; k++) B->constant[k] = own;
    B->count = place + 1;
    n++;
  }
  m->blocks.nodes = (n + CB_BLOCK - 1) / CB_BLOCK;
}
