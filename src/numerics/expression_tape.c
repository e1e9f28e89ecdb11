/* This file builds the tape: it computes operations on constants, shares common subexpressions, and assigns slots to
 * jets. */
#include "numerics/elementary.h"
#include "numerics/expression_private.h"
#include <stdlib.h>
#include <string.h>

int cb_opcode_operands(cb_opcode op) {
  switch (op) {
    case CB_OP_SIGN:
    case CB_OP_FLOOR:
    case CB_OP_STEP:
    case CB_OP_LESS:
    case CB_OP_LESS_EQUAL:
    case CB_OP_GREATER:
    case CB_OP_GREATER_EQUAL:
    case CB_OP_EQUAL:
    case CB_OP_NOT_EQUAL:
    case CB_OP_CONSTANT:
    case CB_OP_CONTROL:
    case CB_OP_VARIABLE: return 0;
    case CB_OP_POW:
    case CB_OP_ATAN2:
    case CB_OP_MIN:
    case CB_OP_MAX:
    case CB_OP_HYPOT:
    case CB_OP_IF:
    case CB_OP_ADD:
    case CB_OP_SUBTRACT:
    case CB_OP_MULTIPLY:
    case CB_OP_DIVIDE: return 2;
    default: return 1;
  }
}

/* Appends a node, or returns the ref of an equal node. Constants are equal if their bits are equal: 0 and -0 differ,
 * and a NaN equals itself. */
static int append(cb_tape *t, cb_tape_node node) {
  for (int i = 0; i < t->count; i++) {
    const cb_tape_node *old = &t->node[i];
    if (old->o.op == node.o.op && old->o.a == node.o.a && old->o.b == node.o.b && old->o.c == node.o.c &&
        old->o.k == node.o.k && old->control == node.control &&
        memcmp(&old->value, &node.value, sizeof node.value) == 0)
      return i;
  }
  if (t->count == CB_TAPE_MAX) return -1;
  t->node[t->count] = node;
  return t->count++;
}

int cb_tape_constant(cb_tape *t, double value) {
  return append(t, (cb_tape_node){.o.op = CB_OP_CONSTANT, .value = value});
}

int cb_tape_control(cb_tape *t, const double *control) {
  return append(t, (cb_tape_node){.o.op = CB_OP_CONTROL, .control = control});
}

int cb_tape_variable(cb_tape *t, int i) {
  return append(t, (cb_tape_node){.o.op = CB_OP_VARIABLE, .o.a = (uint16_t)i});
}

static int is_constant(const cb_tape *t, int ref) { return t->node[ref].o.op == CB_OP_CONSTANT; }

/* Chooses the best opcode for a^b. Returns the ref of the result if no operation is needed, otherwise -1. */
static int choose_power(cb_tape *t, cb_operation *o) {
  o->op = CB_OP_POW;
  if (!is_constant(t, o->b)) return -1;
  double c = t->node[o->b].value;
  if (c == 1) return o->a;
  if (c == 0.5) {
    o->op = CB_OP_SQRT;
    o->b = o->a;
  } else if (c == 2) {
    o->op = CB_OP_MULTIPLY;
    o->b = o->a;
  } else if (fabs(c) <= CB_POWER_MULTIPLY_MAX && c == floor(c)) {
    o->op = CB_OP_POWER_INTEGER;
    o->k = (int16_t)c;
    o->b = o->a;
  } else {
    o->op = CB_OP_POWER_CONSTANT;
  }
  return -1;
}

/* An operation with fewer than three operands repeats its last operand, so that all refs are valid. */
int cb_tape_operation(cb_tape *t, cb_opcode op, int a, int b, int c) {
  cb_operation o = {.op = (uint8_t)op, .a = (uint16_t)a, .b = (uint16_t)b, .c = (uint16_t)c};
  if ((op == CB_OP_ADD || op == CB_OP_MULTIPLY) && a > b) {
    o.a = (uint16_t)b;
    o.b = (uint16_t)a;
    o.c = o.b;
  }
  if (op == CB_OP_POW) {
    int same = choose_power(t, &o);
    if (same >= 0) return same;
    o.c = o.b;
  }
  o.operands = (uint8_t)cb_opcode_operands(o.op);
  if (is_constant(t, o.a) && is_constant(t, o.b) && is_constant(t, o.c)) {
    double v[3] = {t->node[o.a].value, t->node[o.b].value, t->node[o.c].value};
    o.a = 0;
    o.b = 1;
    o.c = 2;
    return cb_tape_constant(t, cb_operation_value(&o, v));
  }
  return append(t, (cb_tape_node){.o = o});
}

static int operand(const cb_operation *o, int i) { return i == 0 ? o->a : i == 1 ? o->b : o->c; }
static int is_leaf(const cb_tape_node *node) {
  return node->o.op == CB_OP_CONSTANT || node->o.op == CB_OP_CONTROL || node->o.op == CB_OP_VARIABLE;
}

/* Allocates one block: the struct, then the arrays in the order of decreasing alignment. */
static cb_expression *allocate(int variables, int constants, int controls, int operations) {
  int refs = variables + constants + controls + operations;
  size_t doubles = (size_t)constants * sizeof(double), addresses = (size_t)controls * sizeof(double *),
         tape = (size_t)operations * sizeof(cb_operation);
  char *block = malloc(sizeof(cb_expression) + doubles + addresses + tape + (size_t)variables + 2 * (size_t)refs);
  if (!block) return NULL;
  cb_expression *e = (cb_expression *)block;
  e->variables = variables;
  e->constants = constants;
  e->controls = controls;
  e->operations = operations;
  e->constant = (void *)(block + sizeof *e);
  e->control = (void *)(block + sizeof *e + doubles);
  e->operation = (void *)(block + sizeof *e + doubles + addresses);
  e->variable = (uint8_t *)(block + sizeof *e + doubles + addresses + tape);
  e->lowest = e->variable + variables;
  e->slot = e->lowest + refs;
  return e;
}

/* Copies the nodes that are used: first the leaves, then the operations in their order. place[i] is the new ref of node
 * i. */
static cb_expression *copy_used(const cb_tape *t, int result) {
  uint8_t used[CB_TAPE_MAX] = {0};
  int variables = 0, constants = 0, controls = 0, operations = 0;
  used[result] = 1;
  for (int i = result; i >= 0; i--) {
    if (!used[i]) continue;
    const cb_tape_node *node = &t->node[i];
    variables += node->o.op == CB_OP_VARIABLE;
    constants += node->o.op == CB_OP_CONSTANT;
    controls += node->o.op == CB_OP_CONTROL;
    operations += !is_leaf(node);
    for (int k = 0; k < 3 && !is_leaf(node); k++) used[operand(&node->o, k)] = 1;
  }
  cb_expression *e = allocate(variables, constants, controls, operations);
  if (!e) return NULL;
  uint16_t place[CB_TAPE_MAX] = {0};
  int variable = 0, constant = variables, control = variables + constants, operation = cb_expression_leaves(e);
  for (int i = 0; i <= result; i++) {
    if (!used[i]) continue;
    const cb_tape_node *node = &t->node[i];
    if (node->o.op == CB_OP_VARIABLE) {
      e->variable[variable] = (uint8_t)node->o.a;
      e->lowest[variable] = (uint8_t)node->o.a;
      place[i] = (uint16_t)variable++;
    } else if (node->o.op == CB_OP_CONSTANT) {
      e->constant[constant - variables] = node->value;
      e->lowest[constant] = CB_PASSIVE;
      place[i] = (uint16_t)constant++;
    } else if (node->o.op == CB_OP_CONTROL) {
      e->control[control - variables - constants] = node->control;
      e->lowest[control] = CB_PASSIVE;
      place[i] = (uint16_t)control++;
    } else {
      cb_operation *o = &e->operation[operation - cb_expression_leaves(e)];
      *o = node->o;
      o->a = place[o->a];
      o->b = place[o->b];
      o->c = place[o->c];
      uint8_t lowest = CB_PASSIVE;
      for (int k = 0; k < o->operands; k++)
        if (e->lowest[operand(o, k)] < lowest) lowest = e->lowest[operand(o, k)];
      e->lowest[operation] = lowest;
      place[i] = (uint16_t)operation++;
    }
  }
  e->result = place[result];
  return e;
}

/* Marks quantities as having no derivative (CB_PASSIVE) if they reach the result only through conditions and jumps. */
static void drop_needless_derivatives(cb_expression *e) {
  uint8_t needed[CB_TAPE_MAX] = {0};
  int first = cb_expression_leaves(e);
  needed[e->result] = 1;
  for (int i = e->operations - 1; i >= 0; i--)
    for (int k = 0; needed[first + i] && k < e->operation[i].operands; k++) needed[operand(&e->operation[i], k)] = 1;
  for (int ref = 0; ref < first + e->operations; ref++)
    if (!needed[ref]) e->lowest[ref] = CB_PASSIVE;
}

/* Assigns a slot to each ref that can have a jet. Returns 0 if more than CB_SLOT_MAX slots are needed at once. A result
 * gets its slot before its operands release theirs, because the kernels require different slots. */
static int assign_slots(cb_expression *e) {
  int first = cb_expression_leaves(e), refs = first + e->operations;
  int last_use[CB_TAPE_MAX] = {0};
  for (int i = 0; i < e->operations; i++)
    for (int k = 0; k < e->operation[i].operands; k++) last_use[operand(&e->operation[i], k)] = first + i;
  last_use[e->result] = refs;
  uint64_t taken = 0;
  for (int ref = 0; ref < refs; ref++) {
    e->slot[ref] = CB_PASSIVE;
    if (e->lowest[ref] < CB_JET_MAX) {
      if (taken == UINT64_MAX) return 0;
      int slot = 0;
      while (taken >> slot & 1) slot++;
      taken |= UINT64_C(1) << slot;
      e->slot[ref] = (uint8_t)slot;
    }
    if (ref < first) continue;
    const cb_operation *o = &e->operation[ref - first];
    for (int k = 0; k < o->operands; k++) {
      int used = operand(o, k);
      if (last_use[used] == ref && e->slot[used] != CB_PASSIVE) taken &= ~(UINT64_C(1) << e->slot[used]);
    }
  }
  return 1;
}

cb_status cb_tape_finish(const cb_tape *t, int result, cb_expression **out) {
  cb_expression *e = copy_used(t, result);
  if (!e) return cb_fail(CB_ERROR_MEMORY, "no memory for an expression of %d operations", t->count);
  drop_needless_derivatives(e);
  if (!assign_slots(e)) {
    free(e);
    return cb_fail(CB_ERROR_INPUT, "the expression needs too many intermediate results at once: expected at most %d",
                   CB_SLOT_MAX);
  }
  *out = e;
  return CB_OK;
}

void cb_expression_free(cb_expression *e) { free(e); }

cb_status cb_expression_copy(const cb_expression *e, cb_expression **out) {
  cb_expression *copy = allocate(e->variables, e->constants, e->controls, e->operations);
  if (!copy) return cb_fail(CB_ERROR_MEMORY, "no memory for an expression of %d operations", e->operations);
  const size_t refs = (size_t)(cb_expression_leaves(e) + e->operations);
  copy->result = e->result;
  memcpy(copy->constant, e->constant, (size_t)e->constants * sizeof *e->constant);
  memcpy(copy->control, e->control, (size_t)e->controls * sizeof *e->control);
  memcpy(copy->operation, e->operation, (size_t)e->operations * sizeof *e->operation);
  memcpy(copy->variable, e->variable, (size_t)e->variables);
  memcpy(copy->lowest, e->lowest, refs);
  memcpy(copy->slot, e->slot, refs);
  *out = copy;
  return CB_OK;
}

int cb_expression_uses(const cb_expression *e, size_t i) {
  for (int k = 0; k < e->variables; k++)
    if (e->variable[k] == i) return 1;
  return 0;
}

bool cb_expression_uses_control(const cb_expression *e) { return e->controls > 0; }
