/* Tests random reductions of random expressions. They are compared with a separate evaluation that uses all values at
 * once and long double for sums. */
#include "reduce_rows.h"

/* A term of a formula in postfix notation. An inner formula has a value at each row; the outer formula has one value,
 * which uses reductions of inner formulas over all rows. */
typedef struct term {
  char op; /* + - *, m: minimum, q: square root of the absolute value, n: number, f: field, r: reduction */
  double number;
  int field, kind; /* the number of a field, or the kind of a reduction */
  int from, to;    /* for a reduction: its terms in `inner` */
} term;

typedef struct formula {
  char text[4000];
  term inner[400], outer[100];
  int inners, outers, reductions;
  uint64_t *seed;
} formula;

static int below(formula *f, int n) { return (int)check_uniform(f->seed, 0, n); }

static void say(formula *f, const char *text) {
  assert_true(strlen(f->text) + strlen(text) < sizeof f->text);
  strcat(f->text, text);
}

static const char *const field_text[] = {"time", "step", "x[0,0]", "x[tip, z]", "energy", "regime[1]", "gap", "x[2,1]"};
static double field_value(const row *r, int field) {
  const double value[] = {r->time,   (double)r->step,      r->x[0][0], r->x[1][2],
                          r->energy, (double)r->regime[1], r->gap,     r->x[2][1]};
  return value[field];
}

static const char *const reduction_text[] = {"first", "last", "min", "max", "mean", "rms", "argmin", "argmax", "count"};

static void write_tree(formula *f, int depth, bool outer);

static void write_leaf(formula *f, bool outer) {
  char text[40];
  term t = {.op = 'n'};
  if (below(f, 4) == 0) {
    snprintf(text, sizeof text, "%.17g", t.number = check_uniform(f->seed, 0, 2));
    say(f, text);
  } else if (!outer) {
    t.op = 'f';
    t.field = below(f, 8);
    say(f, field_text[t.field]);
  } else {
    t.op = 'r';
    t.kind = below(f, 9);
    t.from = f->inners;
    f->reductions++;
    say(f, reduction_text[t.kind]);
    say(f, "(0*time + ");
    write_tree(f, 3, false);
    say(f, ")");
    t.to = f->inners;
  }
  if (outer)
    f->outer[f->outers++] = t;
  else
    f->inner[f->inners++] = t;
}

static void write_tree(formula *f, int depth, bool outer) {
  const int which = depth ? below(f, 6) : 5;
  if (which == 5) {
    write_leaf(f, outer);
    return;
  }
  static const char *const before[] = {"(", "(", "(", "min(", "sqrt(abs("},
                           *const between[] = {" + ", " - ", "*", ", "}, *const after[] = {")", ")", ")", ")", "))"};
  say(f, before[which]);
  write_tree(f, depth - 1, outer);
  if (which < 4) {
    say(f, between[which]);
    write_tree(f, depth - 1, outer);
  }
  say(f, after[which]);
  const term t = {.op = "+-*mq"[which]};
  if (outer)
    f->outer[f->outers++] = t;
  else
    f->inner[f->inners++] = t;
}

/* Returns the value of the terms from `from` to `to` - 1. `leaf` returns the value of a field or of a reduction. */
static double value_of(const term *t, int from, int to, double (*leaf)(const term *t, const void *of), const void *of) {
  double stack[100];
  int n = 0;
  for (int k = from; k < to; k++) {
    double *b = &stack[n - 1], *a = &stack[n - 2];
    switch (t[k].op) {
      case 'n': stack[n++] = t[k].number; break;
      case '+':
        *a += *b;
        n--;
        break;
      case '-':
        *a -= *b;
        n--;
        break;
      case '*':
        *a *= *b;
        n--;
        break;
      case 'm':
        *a = fmin(*a, *b);
        n--;
        break;
      case 'q': *b = sqrt(fabs(*b)); break;
      default: stack[n++] = leaf(&t[k], of);
    }
  }
  assert_int_equal(n, 1);
  return stack[0];
}

static double leaf_of_row(const term *t, const void *row) { return field_value(row, t->field); }

/* Evaluates a reduction directly from all values, with sums in long double. */
static double leaf_of_formula(const term *t, const void *of) {
  const formula *f = of;
  enum { N = 200 };
  double x[N], time[N];
  int least = 0, most = 0, count = 0;
  long double sum = 0, squares = 0;
  for (int k = 0; k < N; k++) {
    row now;
    fill(&now, k);
    time[k] = now.time;
    x[k] = value_of(f->inner, t->from, t->to, leaf_of_row, &now);
    if (x[k] < x[least]) least = k;
    if (x[k] > x[most]) most = k;
    count += x[k] != 0;
    sum += x[k];
    squares += (long double)x[k] * x[k];
  }
  const double values[] = {x[0],        x[N - 1],   x[least], x[most], (double)(sum / N), (double)sqrtl(squares / N),
                           time[least], time[most], count};
  return values[t->kind];
}

static void random_expressions_are_what_they_say(void **unused) {
  uint64_t seed = check_seed();
  static formula f;
  int finite = 0;
  for (int k = 0; k < 300; k++) {
    f = (formula){.seed = &seed};
    do {
      f = (formula){.seed = &seed};
      write_tree(&f, 3, true);
    } while (!f.reductions);
    const double value = reduce(f.text, 200, NULL, 0), expected = value_of(f.outer, 0, f.outers, leaf_of_formula, &f);
    /* Terms that are much larger than their sum lose digits; the bound allows for this. */
    const double tolerance = 1e-9 * (1 + fabs(expected));
    finite += isfinite(expected);
    if (fabs(value - expected) > tolerance) print_error("%s\n", f.text);
    check_near(value, expected, tolerance);
  }
  assert_int_equal(finite, 300);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(random_expressions_are_what_they_say)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
