#!/usr/bin/python3
"""`curvebody --completion`, in bash: what it offers is what the command knows."""
import json
import re
import subprocess
import unittest

from command import Case


class Completion(Case):
    def offered(self, *words):
        """For the last of the words, as bash has them: parted at `=`."""
        script = self.write("completion", self.good("--completion").stdout)
        done = subprocess.run(["bash", "--norc", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); '
                               'complete -p curvebody >/dev/null && _curvebody && printf "%s\\n" "${COMPREPLY[@]}"',
                               script, "curvebody", *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split("\n")[:-1]

    def test_every_command_and_option_of_the_help_is_offered(self):
        usage = self.good("--help").stdout
        commands = sorted(set(re.findall(r"^ +curvebody (\w+) ", usage, re.M)))
        self.assertLessEqual(set(commands), set(self.offered("")))
        for option in re.findall(r"--[a-z-]+", usage[usage.index("  curvebody --help"):]):
            if option != "--completion":
                self.assertIn(option, self.offered("--"))
        for command in commands:
            offered = self.offered(command, "--")
            own = self.good(command, "--help").stdout.split("\n")
            for option in re.findall(r"(?<![\w-])--[a-z][a-z-]*", "\n".join(own)):
                self.assertIn(option, offered, command)
            for option in offered:  # and no other: each is one that the command takes
                refused = self.call(command, option, stdin=subprocess.DEVNULL)
                self.assertNotIn("no option", refused.stderr)

    def test_classes_are_those_of_the_registry(self):
        known = {kind: [entry["name"] for entry in entries]
                 for kind, entries in json.loads(self.good("list", "--json").stdout).items()}
        self.assertEqual(sorted(self.offered("list", "")), sorted(known))
        self.assertEqual(self.offered("list", "int"), ["integrators"])
        spaces = sorted(set(known["spaces"]) - {"metric"})  # which is given by its text
        self.assertEqual(sorted(self.offered("space", "")[:len(spaces)]), spaces)
        self.assertEqual(sorted(self.offered("inertia", "a.obj", "--space", "")), spaces)
        self.assertEqual(sorted(self.offered("run", "a.yaml", "--set", "integrator.name", "=", "")),
                         sorted(known["integrators"]))
        self.assertEqual(self.offered("run", "a.yaml", "--set", "integrator.name", "=", "rk"),
                         [name for name in known["integrators"] if name.startswith("rk")])
        self.assertEqual(self.offered("--threads", "2", "gait", "a.yaml", "hol"), ["holonomy"])
        self.assertEqual(sorted(self.offered("--isa", "avx")), ["avx2", "avx512"])

    def test_files_are_offered_where_they_are_read(self):
        self.write("a rod.yaml", "")
        self.assertEqual(self.offered("run", "a"), ["a rod.yaml"])
        self.assertEqual(self.offered("run", "x.yaml", "-o", "a"), ["a rod.yaml"])


if __name__ == "__main__":
    unittest.main()
