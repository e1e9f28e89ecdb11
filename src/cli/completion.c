/* curvebody --completion: the completion of bash, from the tables that read the command line.
 *
 * Options of a command are those that its run() gives to cb_options_take; classes are those of the registry. What
 * follows an option with a value, and words that no table has, are completed as files. */
#include "cli/cli.h"
#include "core/isa.h"

#include <curvebody/fluid_model.h>
#include <stdio.h>

static void print_word(const char *word) { printf(" %s", word); }

static void print_option(const cb_option *option) {
  printf(" %s", option->name);
  if (option->letter) printf(" %s", option->letter);
}

static void print_valued(const cb_option *option) {
  if (option->has_value) print_option(option);
}

/* A bash array `name[command]` of what print gives. */
static void print_table(const char *name, const cb_command *const *commands, size_t n,
                        void (*print)(const cb_command *)) {
  printf("  local -A %s=(\n", name);
  for (size_t i = 0; i < n; i++) {
    printf("    [%s]=\"", commands[i]->name);
    print(commands[i]);
    puts("\"");
  }
  puts("  )");
}

static void options_of(const cb_command *c) {
  cb_options_each(c, print_option);
  print_word("--help");
}
static void valued_of(const cb_command *c) { cb_options_each(c, print_valued); }
static void words_of(const cb_command *c) {
  if (c->words) c->words(print_word);
}

#define PRINT_NAMES(variable, classes)                                                      \
  do {                                                                                      \
    printf("  local %s=\"", variable);                                                      \
    for (size_t i = 0; (classes)[i]; i++) printf("%s%s", i ? " " : "", (classes)[i]->name); \
    puts("\"");                                                                             \
  } while (0)

static const char body[] =
    "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= i files=1 choice=\n"
    "  COMPREPLY=()\n"
    "  # bash parts words at `=`: --set integrator.name=rk4 is three of them\n"
    "  local key=$before\n"
    "  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then key=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
    "  [[ ${COMP_WORDS[COMP_CWORD]} == = || $before == = ]] && before==\n"
    "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "    case ${COMP_WORDS[i]} in\n"
    "      --isa | --threads | --plugin) ((i++)) ;;\n"
    "      -*) ;;\n"
    "      *) command=${COMP_WORDS[i]}; break ;;\n"
    "    esac\n"
    "  done\n"
    "  if [[ -z $command ]]; then\n"
    "    case $before in\n"
    "      --isa) choice=\"" CB_ISA_NAMES
    "\" files= ;;\n"
    "      --threads) return ;;\n"
    "      --plugin) ;;\n"
    "      *) choice=\"${!options[*]} --isa --threads --plugin --help --version\" files= ;;\n"
    "    esac\n"
    "  elif [[ $before == = ]]; then\n"
    "    case $key in\n"
    "      integrator.name) choice=$integrators files= ;;\n"
    "      space | space.name | bundle.space | bundle.space.name) choice=$spaces files= ;;\n"
    "      fluid.model | fluid.model.name | fluid.added_mass | fluid.added_mass.name) choice=$models files= ;;\n"
    "      *.shape | *.shape.name) choice=$shapes files= ;;\n"
    "    esac\n"
    "  elif [[ \" ${valued[$command]} \" == *\" $before \"* ]]; then\n"
    "    case $before in\n"
    "      --space) choice=$spaces files= ;;\n"
    "      --added-mass) choice=\"none $models\" files= ;;\n"
    "      --fluid) choice=\"water air none\" files= ;;\n"
    "      --set) choice=\"integrator. space. fluid. bundle. bodies.0. gait. start. time. record.\" files=\n"
    "        compopt -o nospace 2>/dev/null ;;\n"
    "    esac\n"
    "  elif [[ $word == -* ]]; then\n"
    "    choice=${options[$command]} files=\n"
    "  else\n"
    "    choice=${words[$command]}\n"
    "    [[ $command == list ]] && files=\n"
    "    [[ $command == space || $command == geodesic ]] && choice=$spaces\n"
    "    [[ $command == inertia ]] && choice=$shapes\n"
    "  fi\n"
    "  COMPREPLY=($(compgen -W \"$choice\" -- \"$word\"))\n"
    "  if [[ $files ]]; then\n"
    "    local IFS=$'\\n'\n"
    "    COMPREPLY+=($(compgen -f -- \"$word\"))\n"
    "    compopt -o filenames 2>/dev/null\n"
    "  fi\n"
    "  return 0\n"
    "}\n"
    "complete -F _curvebody curvebody\n";

void cb_print_completion(const cb_command *const *commands, size_t n) {
  puts("# bash completion of curvebody, made by `curvebody --completion`\n_curvebody() {");
  print_table("options", commands, n, options_of);
  print_table("valued", commands, n, valued_of);
  print_table("words", commands, n, words_of);
  PRINT_NAMES("spaces", cb_geometry_classes);
  PRINT_NAMES("shapes", cb_shape_classes);
  PRINT_NAMES("models", cb_fluid_model_classes);
  PRINT_NAMES("integrators", cb_integrator_classes);
  fputs(body, stdout);
}
