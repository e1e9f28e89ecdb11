#!/usr/bin/python3
"""Help, completion and man pages list the same commands and options, and the program accepts all of them."""
import json
import os
import re
import shutil
import subprocess
import unittest

from command import Case

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../analysis/docs/commands.md")


def options_of(text):
    """Names of the options in a help text."""
    return re.findall(r"^  (?:-\w, |    )--([a-z-]+)", text, re.M)


class Completion(Case):
    def offered(self, *words):
        """Completions for the last of the words, which bash splits at `=`."""
        script = self.write("completion", self.good("completion", "bash").stdout)
        done = subprocess.run(["bash", "--norc", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                               'complete -p curvebody >/dev/null && _curvebody && printf "%s\\n" "${COMPREPLY[@]}"',
                               script, "curvebody", *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split("\n")[:-1]

    def commands(self):
        listed = self.good("--help").stdout.split("Commands:\n")[1].split("\n\n")[0]
        return re.findall(r"^  (\w+) ", listed, re.M)

    def test_every_command_and_option_of_the_help_is_offered(self):
        commands = self.commands()
        self.assertGreater(len(commands), 14)
        self.assertEqual(sorted(self.offered("")[:len(commands)]), sorted(commands))
        program = options_of(self.good("--help").stdout)
        self.assertLessEqual({"isa", "threads", "plugin", "help"}, set(program))
        for name in program:
            self.assertIn("--" + name, self.offered("--"))
        for command in commands:
            offered = self.offered(command, "--")
            own = options_of(self.good(command, "--help").stdout)
            self.assertEqual(sorted(offered), sorted("--" + name for name in own), command)
            self.assertEqual(len(own), len(set(own)), command)
            for option in offered:  # the command accepts each of them
                refused = self.call(command, option, stdin=subprocess.DEVNULL)
                self.assertNotIn("no option", refused.stderr)

    def test_classes_are_those_of_the_registry(self):
        known = {kind: [entry["name"] for entry in entries]
                 for kind, entries in json.loads(self.good("list", "--json").stdout).items()}
        self.assertEqual(sorted(self.offered("list", "")), sorted(known))
        self.assertEqual(self.offered("list", "int"), ["integrators"])
        spaces = sorted(set(known["spaces"]) - {"metric"})  # `metric` is a key of `space`, not a name
        self.assertEqual(sorted(self.offered("space", "")[:len(spaces)]), spaces)
        self.assertEqual(sorted(self.offered("inertia", "a.obj", "--space", "")), spaces)
        self.assertEqual(sorted(self.offered("inertia", "a.obj", "--space", "=", "")), spaces)
        self.assertEqual(sorted(self.offered("run", "a.yaml", "--set", "integrator.name", "=", "")),
                         sorted(known["integrators"]))
        self.assertEqual(self.offered("run", "a.yaml", "--set", "integrator.name", "=", "rk"),
                         [name for name in known["integrators"] if name.startswith("rk")])
        self.assertEqual(self.offered("--threads", "2", "gait", "a.yaml", "hol"), ["holonomy"])
        self.assertEqual(self.offered("--threads", "=", "2", "gait", "a.yaml", "hol"), ["holonomy"])
        for words in ("--isa", "avx"), ("run", "--isa", "avx"), ("run", "--isa", "=", "avx"):
            self.assertEqual(sorted(self.offered(*words)), ["avx2", "avx512"])
        self.assertEqual(self.offered("completion", ""), ["bash", "zsh", "fish"])

    def test_files_are_offered_where_they_are_read(self):
        self.write("a rod.yaml", "")
        self.assertEqual(self.offered("run", "a"), ["a rod.yaml"])
        self.assertEqual(self.offered("run", "x.yaml", "-o", "a"), ["a rod.yaml"])

    def test_zsh_and_fish_have_every_option(self):
        zsh, fish = self.good("completion", "zsh").stdout, self.good("completion", "fish").stdout
        self.assertEqual(zsh.split("\n")[0], "#compdef curvebody")
        for command in self.commands():
            own = set(options_of(self.good(command, "--help").stdout)) - set(options_of(self.good("--help").stdout))
            block = re.search(rf"^    {command}\) own=\((.*?)^    \) ;;", zsh, re.M | re.S).group(1)
            self.assertEqual(set(re.findall(r"^    '\*?--([a-z-]+)", block, re.M)), own)
            lines = re.findall(rf"-n '__fish_seen_subcommand_from {command}' -l ([a-z-]+)", fish)
            self.assertEqual(set(lines), own)
        for shell, text in ("zsh", zsh), ("fish", fish):
            if shutil.which(shell):
                done = subprocess.run([shell, "-n", self.write("script", text)], capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_man_pages_have_every_option(self):
        for command in [None, *self.commands()]:
            words = [command] if command else []
            page = self.good(*words, "--man").stdout
            for heading in "NAME", "SYNOPSIS", "OPTIONS", "EXAMPLES", "EXIT STATUS":
                self.assertEqual(page.count(f"\n.SH {heading}\n"), 1, command)
            for name in options_of(self.good(*words, "--help").stdout):
                self.assertIn("\\fB\\-\\-" + name.replace("-", "\\-") + "\\fR", page)
            if shutil.which("groff"):
                done = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-z"], input=page, capture_output=True, text=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_page_has_every_option_with_its_default(self):
        with open(PAGE, encoding="utf-8") as file:
            text = file.read()
        sections = dict(re.findall(r"^### `(\w+)`: [^\n]*\n(.*?)(?=^##)", text, re.M | re.S))
        sections["--help"] = re.search(r"^## Options of every command\n(.*?)^## ", text, re.M | re.S).group(1)
        for command in [*set(self.commands()) - {"completion"}, "--help"]:
            help_text = self.good(*([command, "--help"] if command != "--help" else [command])).stdout
            own = re.split(r"^Options:\n" if command != "--help" else r"^Options of every command.*\n", help_text, flags=re.M)
            own = own[1].split("\nOptions of every command")[0].split("\nExamples:")[0] if len(own) > 1 else ""
            wanted = [(name, default and re.sub(r"\s+", " ", default))
                      for name, rest in re.findall(r"^  (?:-\w, |    )--([a-z-]+)(.*?)(?=^  (?:-\w,|    --)|^$|\Z)", own, re.M | re.S)
                      for default in re.findall(r"\(default:\s+(.*?)\)$", rest.rstrip(), re.S) or [None]]
            rows = re.findall(r"^\| `--([a-z-]+)[^|]*(?:\\\|[^|]*)*\|((?:[^|\\]|\\.)*)\|((?:[^|\\]|\\.)*)\|((?:[^|\\]|\\.)*)\|$",
                              sections.get(command, ""), re.M)
            self.assertEqual([row[0] for row in rows], [name for name, _ in wanted], command)
            for (name, default), row in zip(wanted, rows):
                self.assertIn(row[2].strip().replace("\\|", "|"), [default] if default else ["none", "off"], f"{command} --{name}")
                self.assertTrue(row[3].strip(), f"{command} --{name} has no example")

    def test_examples_have_options_that_are_known(self):
        for command in self.commands():
            text = self.good(command, "--help").stdout
            examples = re.search(r"^Examples:\n(.*?)\n\n", text, re.M | re.S).group(1)
            lines = re.findall(rf"^  \S.*curvebody {command} .*$", examples, re.M)
            lines += re.findall(rf"^  curvebody {command} .*$", examples, re.M)
            self.assertTrue(lines, command)
            for line in lines:
                self.assertLessEqual(set(re.findall(r" --([a-z-]+)", line)), set(options_of(text)), line)


if __name__ == "__main__":
    unittest.main()
