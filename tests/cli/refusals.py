"""Shared code of the tests of wrong input: the message names the place and the expected value, the exit code is 2 (3 for a
file that cannot be read), and no record is written.

In the pieces of scenarios `@` marks the place that the message must name; it is removed before the file is written.
"""
import os

from command import Case, ROD

FORCE = "integrator: {name: l"  # pieces are inserted before this line


def with_mesh(text):
    return (FORCE, "  - kind: network\n    mesh: " + text + "\n" + FORCE)


def taken(text):
    """The text without its mark, and the line and column of the mark, counted from 1."""
    at = text.index("@")
    line = text.count("\n", 0, at) + 1
    return text[:at] + text[at + 1:], line, at - (text.rfind("\n", 0, at) + 1) + 1


class Refusals(Case):
    def refused(self, words, code, begins, expected):
        done = self.call(*words)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertTrue(done.stderr.startswith(begins), f"{done.stderr!r} does not begin with {begins!r}")
        for word in expected:
            self.assertIn(word, done.stderr)
        missing = sum(word.startswith("missing key") for word in expected)
        self.assertEqual(done.stderr.count("\n"), max(missing, 1), "one error is one line")
        self.assertEqual([name for name in os.listdir(self.folder) if ".h5" in name], [])

    def check_cases(self, start, cases):
        """cases: claim, edits of a scenario (old, new with @), expected words."""
        self.write("good.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n")
        for claim, (edits, expected) in cases.items():
            with self.subTest(claim):
                text = start
                for old, new in edits:
                    self.assertIn(old, text)
                    text = text.replace(old, new, 1)
                text, line, column = taken(text)
                self.write("bad.yaml", text)
                for words in ["run", "bad.yaml", "-o", "out.h5"], ["check", "bad.yaml"]:
                    self.refused(words, 2, f"bad.yaml:{line}:{column}: error: ", expected)
