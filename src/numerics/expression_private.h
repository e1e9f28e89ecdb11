/* The tape of a parsed expression.
 *
 * Every quantity has a place in one array of values: first the variables in use, then the constants, then the controls,
 * then the result of each operation in order. The number of a place is called a ref. The refs of operands are smaller
 * than the ref of the result.
 * Jets (value, gradient and Hessian) are stored in slots. A slot is reused when its result is no longer needed, so that
 * evaluation works on the C stack.
 */
#pragma once

#include <curvebody/expression.h>
#include <stdbool.h>
#include <stdint.h>

#define CB_TEXT_MAX 65536 /* maximum bytes of text */
#define CB_DEPTH_MAX 200  /* maximum number of nested parentheses, calls, signs and powers */
#define CB_TAPE_MAX 2048  /* maximum number of refs: 16 kB for each array of doubles on the stack */
#define CB_SLOT_MAX 64    /* maximum number of jets in use at the same time: at most 54 kB */
#define CB_PASSIVE 255    /* value of `lowest` and `slot` for a ref without derivative */

/* Functions come first, in the order of cb_expression_functions. */
typedef enum cb_opcode {
  CB_OP_SQRT,
  CB_OP_EXP,
  CB_OP_LOG,
  CB_OP_LOG10,
  CB_OP_POW,
  CB_OP_SIN,
  CB_OP_COS,
  CB_OP_TAN,
  CB_OP_COT,
  CB_OP_ASIN,
  CB_OP_ACOS,
  CB_OP_ATAN,
  CB_OP_ATAN2,
  CB_OP_SINH,
  CB_OP_COSH,
  CB_OP_TANH,
  CB_OP_COTH,
  CB_OP_ASINH,
  CB_OP_ACOSH,
  CB_OP_ATANH,
  CB_OP_ABS,
  CB_OP_SIGN,
  CB_OP_FLOOR,
  CB_OP_STEP,
  CB_OP_MIN,
  CB_OP_MAX,
  CB_OP_HYPOT,
  CB_OP_IF,
  CB_FUNCTION_COUNT,
  CB_OP_NEGATE = CB_FUNCTION_COUNT,
  CB_OP_ADD,
  CB_OP_SUBTRACT,
  CB_OP_MULTIPLY,
  CB_OP_DIVIDE,
  CB_OP_POWER_CONSTANT, /* a^b with a constant b */
  CB_OP_POWER_INTEGER,  /* a^k with an integer k */
  CB_OP_LESS,
  CB_OP_LESS_EQUAL,
  CB_OP_GREATER,
  CB_OP_GREATER_EQUAL,
  CB_OP_EQUAL,
  CB_OP_NOT_EQUAL,
  CB_OP_CONSTANT,
  CB_OP_CONTROL,
  CB_OP_VARIABLE /* CB_OP_CONSTANT, CB_OP_CONTROL and CB_OP_VARIABLE are leaves, which exist only while parsing */
} cb_opcode;

/* An operation on the refs a, b and c. An operation if(condition, then, else) has `then`, `else` and `condition` in a,
 * b and c. */
typedef struct cb_operation {
  uint8_t op;
  uint8_t operands; /* number of operands through which derivatives pass: a, or a and b */
  int16_t k;        /* exponent of CB_OP_POWER_INTEGER */
  uint16_t a, b, c;
} cb_operation;

struct cb_expression {
  int variables, constants, controls, operations; /* numbers of variables in use, constants, controls and operations */
  int result;                                     /* ref of the result */
  double *constant;
  const double **control; /* [controls]: addresses of the values, borrowed */
  cb_operation *operation;
  uint8_t *variable; /* [ref] for variables: the index of the variable in the array x of values */
  uint8_t *lowest;   /* [ref] the first variable with respect to which the quantity has a derivative, or CB_PASSIVE */
  uint8_t *slot;     /* [ref] the slot of the quantity's jet, or CB_PASSIVE */
};

/* Returns the number of refs that are not results of operations. */
static inline int cb_expression_leaves(const cb_expression *e) { return e->variables + e->constants + e->controls; }

/* Returns the value of one operation on the array of values v. */
double cb_operation_value(const cb_operation *o, const double *v);

/* A branch of an expression, owned by the caller. */
typedef struct cb_expression_branch {
  cb_expression *value;
  /* the branch is valid where the guard is >= 0; NULL: it is valid everywhere (an operand of a minimum) */
  cb_expression *guard;
  /* the branch is a tangent plane at the tip of a cone; its guard depends on how deep the body is in the wall there */
  bool plane;
  int tip; /* operations before this one may still have tips of cones that have not been examined */
} cb_expression_branch;

/* Finds the branches of an expression that is the minimum of several expressions near its hollow kinks, such as y -
 * abs(x). Makes at most `maximum` branches; other kinks stay in the branches. Variables from `fixed` on are properties
 * of the body that touches the wall and do not change. The caller frees the value and the guard of each branch. */
cb_status cb_expression_branches(const cb_expression *e, int fixed, int maximum, cb_expression_branch *branch,
                                 int *count);

/* Returns the margin of a condition:
 *   a - b for a > b and a >= b,  -|a - b| for a == b,  |a - b| for a != b
 *   the minimum for operands of a product or of min, the maximum for operands of a sum or of max
 *   |a| for any other expression a
 * The margin is continuous where a and b are. It is not negative where a condition of comparisons is true, and negative
 * or 0 where the condition is false (0 for a > b at a = b, for example). An exception is a sum of numbers that cancel:
 * the sum is false, but its margin is above 0. */
double cb_expression_margin(const cb_expression *e, const double *x);

/* Returns the number of operands through which derivatives pass. */
int cb_opcode_operands(cb_opcode op);

/* cb_function_find returns the index of a function, or -1 if no function has this name. cb_constant_find sets *value
 * and returns 1 for the name of a constant, and returns 0 otherwise. */
int cb_function_find(const char *name, size_t length);
int cb_constant_find(const char *name, size_t length, double *value);
extern const char *const cb_constant_names[]; /* the list ends with NULL */

/* Sets names[n] that have a meaning, but not in every expression. They are used until the next call in this thread. If
 * an expression uses such a name where it is unknown, the message of the error contains `where`, a text that says where
 * the name may be used. If the names are the controls of a scope, used[i] (used may be NULL) becomes true when an
 * expression uses control i. Returns what was set before. The texts are borrowed. */
typedef struct cb_expression_elsewhere {
  const char *const *names;
  size_t n;
  const char *where;
  bool *used;
} cb_expression_elsewhere;
cb_expression_elsewhere cb_expression_explain(cb_expression_elsewhere names);

/* Finds the next name in the text of an expression, from *at on: a letter or _, then letters, digits, _ and dots.
 * *name becomes its beginning, and *at its end. Returns its length; 0 if there is no further name. */
size_t cb_expression_next_name(const char **at, const char **name);

/* A letter that other texts use (`name`, in UTF-8), and its replacement in an expression (`text`).
 * cb_expression_letter_at returns the letter with which a text begins, or NULL. */
typedef struct cb_expression_letter {
  const char *name, *text;
} cb_expression_letter;
const cb_expression_letter *cb_expression_letter_at(const char *text);

/* The tape under construction. Each cb_tape_ function returns a ref of the tape, the same for equal subexpressions, or
 * -1 if the tape is full. Operations on constants are computed immediately. */
typedef struct cb_tape_node {
  cb_operation o;
  double value;          /* the value of a constant */
  const double *control; /* the address of a control's value */
} cb_tape_node;

typedef struct cb_tape {
  int count;
  cb_tape_node node[CB_TAPE_MAX];
} cb_tape;

int cb_tape_constant(cb_tape *t, double value);
int cb_tape_control(cb_tape *t, const double *control);
int cb_tape_variable(cb_tape *t, int i);
int cb_tape_operation(cb_tape *t, cb_opcode op, int a, int b, int c);

/* Makes the expression whose result is the ref `result`, without unused nodes. Returns CB_ERROR_INPUT if it needs too
 * many slots. The caller frees *out. */
cb_status cb_tape_finish(const cb_tape *t, int result, cb_expression **out);

/* Returns whether the expression is affine in the variables first .. first + count - 1. It then equals a0 + sum a_i x_i
 * with coefficients a_i that depend only on the other variables. Returns false if the operations do not show this, as
 * in X*X/X. */
bool cb_expression_is_affine(const cb_expression *e, int first, int count);
