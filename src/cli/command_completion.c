/* curvebody completion SHELL: the completion of bash, zsh or fish, from the tables that read the command line.
 *
 * Options and operands come from the tables of the commands, names of classes from the registries, including those of
 * plugins that are loaded with --plugin. */
#include "cli/cli.h"

#include <curvebody/fluid_model.h>
#include <string.h>

/* --- Values --- */

/* Defines a function that calls `each` with every name of a registry. It works for all types of classes, because each
 * type has a member `name`. */
#define EACH_NAME(classes)                                          \
  static void each_of_##classes(void (*each)(const char *)) {       \
    for (size_t i = 0; (classes)[i]; i++) each((classes)[i]->name); \
  }
EACH_NAME(cb_space_classes)
EACH_NAME(cb_shape_classes)
EACH_NAME(cb_fluid_model_classes)
EACH_NAME(cb_integrator_classes)

static const struct {
  const char *word;
  void (*list)(void (*each)(const char *));
} registries[] = {{"@spaces", each_of_cb_space_classes},
                  {"@shapes", each_of_cb_shape_classes},
                  {"@models", each_of_cb_fluid_model_classes},
                  {"@integrators", each_of_cb_integrator_classes}};
enum { REGISTRIES = sizeof registries / sizeof *registries };

void cli_choices_each(const char *choices, void (*each)(const char *)) {
  for (const char *at = choices; at && *at; at += strspn(at, " ")) {
    char word[64];
    const size_t length = strcspn(at, " ");
    snprintf(word, sizeof word, "%.*s", (int)length, at);
    for (int i = 0; i < REGISTRIES; i++)
      if (!strcmp(registries[i].word, word)) registries[i].list(each);
    if (*word != '@') each(word);
    at += length;
  }
}

static bool takes_files(const char *choices) { return choices && strstr(choices, "@files"); }

static void print_word(const char *word) { printf(" %s", word); }
static void print_listed(const char *name, const char *doc) {
  (void)doc;
  print_word(name);
}

/* Prints the values separated by spaces, with @files if files are among them. */
static void print_choices(const char *choices) {
  if (takes_files(choices)) fputs(" @files", stdout);
  cli_choices_each(choices, print_word);
}

static void print_operands(const cli_command *command) {
  for (const cli_operand *operand = command->operands; operand->name; operand++) {
    print_choices(operand->choices);
    if (operand->list) operand->list(print_listed);
  }
}

/* --- bash --- */

static void bash_names(const cli_option *row) {
  for (; row->doc; row++) {
    if (!row->name) continue;
    printf(" --%s", row->name);
    if (row->letter) printf(" -%c", row->letter);
  }
}

/* Prints, for each option of the command with a required value, the entry ["COMMAND --name"] of a bash array, with the
 * words for completion. */
static void bash_values(const char *command, const cli_option *row) {
  for (; row->doc; row++) {
    if (!row->name || row->form == CLI_FLAG || row->form == CLI_OPTIONAL) continue;
    printf("    [\"%s --%s\"]=\"", command, row->name);
    print_choices(row->choices);
    puts("\"");
    if (!row->letter) continue;
    printf("    [\"%s -%c\"]=\"", command, row->letter);
    print_choices(row->choices);
    puts("\"");
  }
}

static const char bash_body[] =
    "  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= i choice= key\n"
    "  COMPREPLY=()\n"
    "  # bash splits words at `=`: --set integrator.name=rk4 is three of them\n"
    "  key=$before\n"
    "  if [[ $word == = ]]; then word=; elif [[ $before == = ]]; then key=${COMP_WORDS[COMP_CWORD - 2]}; fi\n"
    "  [[ ${COMP_WORDS[COMP_CWORD]} == = || $before == = ]] && before==\n"
    "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "    case ${COMP_WORDS[i]} in\n"
    "      --isa | --threads | --plugin) [[ ${COMP_WORDS[i + 1]} == = ]] && ((i++)); ((i++)) ;;\n"
    "      -*) ;;\n"
    "      *) command=${COMP_WORDS[i]}; break ;;\n"
    "    esac\n"
    "  done\n"
    "  if [[ $before == = && -n ${values[\"$command $key\"]+x} ]]; then before=$key; fi\n"
    "  if [[ $before == = && -n ${values[\" $key\"]+x} ]]; then before=$key; fi\n"
    "  if [[ -n ${values[\"$command $before\"]+x} ]]; then\n"
    "    choice=${values[\"$command $before\"]}\n"
    "  elif [[ -n ${values[\" $before\"]+x} ]]; then\n"
    "    choice=${values[\" $before\"]}\n"
    "  elif [[ $before == = ]]; then\n"
    "    case $key in\n"
    "      integrator.name) choice=$integrators ;;\n"
    "      space | space.name | bundle.space | bundle.space.name) choice=$spaces ;;\n"
    "      fluid.model | fluid.model.name | fluid.added_mass | fluid.added_mass.name) choice=$models ;;\n"
    "      *.shape | *.shape.name) choice=$shapes ;;\n"
    "      *) choice=@files ;;\n"
    "    esac\n"
    "  elif [[ -z $command ]]; then\n"
    "    choice=\"${!options[*]} ${program}\"\n"
    "  elif [[ $word == -* ]]; then\n"
    "    choice=\"${options[$command]} ${program}\"\n"
    "  else\n"
    "    choice=${operands[$command]}\n"
    "  fi\n"
    "  [[ $before == --set ]] && compopt -o nospace 2>/dev/null\n"
    "  COMPREPLY=($(compgen -W \"${choice//@files/}\" -- \"$word\"))\n"
    "  if [[ $choice == *@files* ]]; then\n"
    "    local IFS=$'\\n'\n"
    "    COMPREPLY+=($(compgen -f -- \"$word\"))\n"
    "    compopt -o filenames 2>/dev/null\n"
    "  fi\n"
    "  return 0\n"
    "}\n"
    "complete -F _curvebody curvebody\n";

static void print_bash(void) {
  puts("# bash completion of curvebody, made by `curvebody completion bash`\n_curvebody() {\n  local -A options=(");
  for (size_t i = 0; cli_commands[i]; i++) {
    printf("    [%s]=\"", cli_commands[i]->name);
    bash_names(cli_commands[i]->options);
    puts("\"");
  }
  puts("  )\n  local -A operands=(");
  for (size_t i = 0; cli_commands[i]; i++) {
    printf("    [%s]=\"", cli_commands[i]->name);
    print_operands(cli_commands[i]);
    puts("\"");
  }
  puts("  )\n  local -A values=(");
  for (size_t i = 0; cli_commands[i]; i++) bash_values(cli_commands[i]->name, cli_commands[i]->options);
  bash_values("", cli_program_options);
  fputs("  )\n  local program=\"", stdout);
  bash_names(cli_program_options);
  puts("\"");
  for (int i = 0; i < REGISTRIES; i++) {
    printf("  local %s=\"", registries[i].word + 1);
    registries[i].list(print_word);
    puts("\"");
  }
  fputs(bash_body, stdout);
}

/* --- zsh: specifications of _arguments, in single quotes --- */

/* Prints the first line of a text, escaped for single quotes of the shell and for the brackets and colons of
 * _arguments. */
static void zsh_text(const char *text) {
  for (; *text && *text != '\n'; text++) {
    if (*text == '\'') fputs("'\\'", stdout);
    if (strchr("[]:\\", *text)) putchar('\\');
    putchar(*text);
  }
}

/* Prints what zsh offers as values of an option or operand: words, file names, or both by the function
 * _curvebody_or_files. */
static void zsh_values(const char *choices) {
  const bool files = takes_files(choices);
  if (!choices || strcmp(choices, "@files") == 0) {
    fputs(files ? "_files" : " ", stdout);
    return;
  }
  fputs(files ? " _curvebody_or_files" : "(", stdout);
  cli_choices_each(choices, print_word);
  if (!files) putchar(')');
}

static void zsh_option(const cli_option *row, const char *name, const char *joined) {
  printf("    '%s%s%s[", row->form == CLI_LIST ? "*" : "", name, joined);
  zsh_text(row->doc);
  putchar(']');
  if (row->value) {
    printf("%s:", row->form == CLI_OPTIONAL ? ":" : "");
    zsh_text(row->value);
    putchar(':');
    zsh_values(row->choices);
  }
  puts("'");
}

static void zsh_options(const cli_option *row) {
  for (; row->doc; row++) {
    char name[64];
    if (!row->name) continue;
    snprintf(name, sizeof name, "--%s", row->name);
    zsh_option(row, name, row->form == CLI_FLAG ? "" : row->form == CLI_OPTIONAL ? "=-" : "=");
    if (!row->letter) continue;
    snprintf(name, sizeof name, "-%c", row->letter);
    zsh_option(row, name, row->form == CLI_FLAG ? "" : "+");
  }
}

static void zsh_operands(const cli_command *command) {
  for (const cli_operand *operand = command->operands; operand->name; operand++) {
    fputs("    ':", stdout);
    zsh_text(operand->name);
    putchar(':');
    if (operand->list) {
      putchar('(');
      operand->list(print_listed);
      putchar(')');
    } else {
      zsh_values(operand->choices);
    }
    puts("'");
  }
}

static void print_zsh(void) {
  puts(
      "#compdef curvebody\n# made by `curvebody completion zsh`\n"
      "_curvebody_or_files() {\n  compadd -- \"$@\"\n  _files\n}\n_curvebody() {\n"
      "  local curcontext=$curcontext state line\n  typeset -A opt_args\n  local -a program commands own\n  program=(");
  zsh_options(cli_program_options);
  puts("  )\n  commands=(");
  for (size_t i = 0; cli_commands[i]; i++) {
    printf("    '%s:", cli_commands[i]->name);
    zsh_text(cli_commands[i]->summary);
    puts("'");
  }
  puts(
      "  )\n  _arguments -C $program ':command:->command' '*:: :->rest' && return\n  case $state in\n"
      "    command) _describe command commands; return ;;\n  esac\n  case $words[1] in");
  for (size_t i = 0; cli_commands[i]; i++) {
    printf("    %s) own=(\n", cli_commands[i]->name);
    zsh_options(cli_commands[i]->options);
    zsh_operands(cli_commands[i]);
    puts("    ) ;;");
  }
  puts("    *) return 1 ;;\n  esac\n  _arguments $program $own\n}\n_curvebody \"$@\"");
}

/* --- fish: one line per option --- */

static void fish_text(const char *text) {
  putchar('\'');
  for (; *text; text++) {
    if (*text == '\'' || *text == '\\') putchar('\\');
    putchar(*text == '\n' ? ' ' : *text);
  }
  putchar('\'');
}

static void fish_values(const char *choices) {
  if (takes_files(choices)) fputs(" -F", stdout);
  if (!choices || strcmp(choices, "@files") == 0) return;
  fputs(" -a '", stdout);
  cli_choices_each(choices, print_word);
  putchar('\'');
}

static void fish_options(const char *condition, const cli_option *row) {
  for (; row->doc; row++) {
    if (!row->name) continue;
    printf("complete -c curvebody%s -l %s", condition, row->name);
    if (row->letter) printf(" -s %c", row->letter);
    if (row->value && row->form != CLI_OPTIONAL) fputs(takes_files(row->choices) ? " -r" : " -x", stdout);
    fish_values(row->choices);
    fputs(" -d ", stdout);
    fish_text(row->doc);
    putchar('\n');
  }
}

static void print_fish(void) {
  puts("# fish completion of curvebody, made by `curvebody completion fish`\ncomplete -c curvebody -f");
  fish_options("", cli_program_options);
  for (size_t i = 0; cli_commands[i]; i++) {
    const cli_command *command = cli_commands[i];
    char condition[96];
    printf("complete -c curvebody -n __fish_use_subcommand -a %s -d ", command->name);
    fish_text(command->summary);
    snprintf(condition, sizeof condition, " -n '__fish_seen_subcommand_from %s'", command->name);
    putchar('\n');
    fish_options(condition, command->options);
    for (const cli_operand *operand = command->operands; operand->name; operand++) {
      printf("complete -c curvebody%s", condition);
      fish_values(operand->choices);
      if (operand->list) {
        fputs(" -a '", stdout);
        operand->list(print_listed);
        putchar('\'');
      }
      putchar('\n');
    }
  }
}

/* --- The command --- */

static const struct {
  const char *name, *doc;
  void (*print)(void);
} shells[] = {{"bash", "bash: use it as `source <(curvebody completion bash)`", print_bash},
              {"zsh", "zsh: write it to a file _curvebody in a folder of $fpath", print_zsh},
              {"fish", "fish: use it as `curvebody completion fish | source`", print_fish}};
enum { SHELLS = sizeof shells / sizeof *shells };

static void list_shells(void (*each)(const char *name, const char *doc)) {
  for (int i = 0; i < SHELLS; i++) each(shells[i].name, shells[i].doc);
}

static int run(void *taken, char **operand) {
  const char *names[SHELLS];
  (void)taken;
  for (int i = 0; i < SHELLS; i++) {
    names[i] = shells[i].name;
    if (strcmp(shells[i].name, operand[0])) continue;
    shells[i].print();
    return CLI_EXIT_DONE;
  }
  return cli_unknown(&cli_command_completion, "no shell", operand[0], names, SHELLS);
}

static const cli_option options[] = {CLI_END};
static const cli_operand operands[] = {{"SHELL", NULL, "one of these:", list_shells}, {.name = NULL}};
static const cli_example examples[] = {
    {"source <(curvebody completion bash)", "Completes commands, options and names of classes in this bash."},
    {NULL, NULL}};

const cli_command cli_command_completion = {
    .name = "completion",
    .usage = "SHELL",
    .summary = "Prints a completion script for a shell.",
    .details = "An installation puts this script into the folder where the shell searches for it.",
    .options = options,
    .operands = operands,
    .required = 1,
    .examples = examples,
    .run = run,
};
