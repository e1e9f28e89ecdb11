"""Finds the fenced blocks of a page of Markdown, runs them in order in one folder, and compares their output.

    ```yaml file=rod.yaml      a scenario or a sweep; any block with `file=` is written to that file in the folder
    ```yaml into=rod.yaml      a fragment: `curvebody check` reads rod.yaml with these top-level keys in place of its own;
                               parts between `---` are checked one by one
    ```console                 `$ command` (continued by lines with `> `) and its output; status=2: exit code of the last one
    ```sh                      commands that must succeed; their output is not compared
    ```sh installs             commands that install, as root: only their syntax, paths and options are checked
    ```python                  the blocks of a page share their names; a ```text right after one is its output
    ```c from=tests/x.c        an excerpt: its lines are lines of that file, in that order
    ```text                    anything else; nothing runs

The output must agree with each number of the page within one unit of the number's last digit, or within the relative
`tolerance=1e-3`. `...` matches any text in a line; on a line of its own it matches any number of lines. The folder has links
to `analysis` and `tests` of the source tree, because the commands of a page are written for the root of that tree.
"""
import json
import os
import re
import subprocess
import sys
from decimal import Decimal

NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?"
WANTED = re.compile(r"\.\.\.|\s+|(?<![\w.])" + NUMBER + r"(?!\w)")
RUNS = {"yaml", "console", "sh", "python", "c"}


class Failure(AssertionError):
    pass


class Block:
    def __init__(self, page, line, info, lines):
        words = info.split()
        self.place, self.kind, self.lines = f"{page}:{line}", words[0] if words else "", lines
        self.options = dict(word.partition("=")[::2] for word in words[1:])

    @property
    def text(self):
        return "".join(line + "\n" for line in self.lines)


def blocks(path):
    """Fenced blocks of a page, in order; `after` is the previous block if it ends directly above this one."""
    found, inside, last = [], None, 0
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file.read().splitlines(), 1):
            if inside is None and line.startswith("```"):
                inside = Block(os.path.basename(path), number, line[3:], [])
                inside.after = found[-1] if found and last >= number - 2 else None
            elif inside is not None and line == "```":
                found.append(inside)
                inside, last = None, number
            elif inside is not None:
                inside.lines.append(line)
            elif line.startswith("    ") and re.match(r"\s+(curvebody|import |#include|\$ )", line):
                raise Failure(f"{os.path.basename(path)}:{number}: an indented block is not run: put it between lines of ```")
    if inside is not None:
        raise Failure(f"{inside.place}: the block has no end: expected a line ```")
    return found


def unit(number):
    """The unit of the number's last digit."""
    return float(Decimal(1).scaleb(Decimal(number).as_tuple().exponent))


def line_matches(wanted, got, tolerance):
    pattern, numbers, at = "", [], 0
    wanted, got = wanted.strip(), got.strip()
    for part in WANTED.finditer(wanted):
        pattern += re.escape(wanted[at:part.start()])
        at = part.end()
        if part.group() == "...":
            pattern += ".*"
        elif part.group().isspace():
            pattern += r"\s+"
        else:
            pattern += rf"({NUMBER})"
            numbers.append(part.group())
    match = re.fullmatch(pattern + re.escape(wanted[at:]), got)
    if not match:
        return False
    for number, is_ in zip(numbers, match.groups()):
        allowed = abs(float(number)) * tolerance if tolerance else 1.001 * unit(number)
        if abs(float(number) - float(is_)) > allowed:
            return False
    return True


def matches(wanted, got, tolerance):
    if not wanted:
        return not got
    if wanted[0].strip() == "...":
        return any(matches(wanted[1:], got[i:], tolerance) for i in range(len(got) + 1))
    return bool(got) and line_matches(wanted[0], got[0], tolerance) and matches(wanted[1:], got[1:], tolerance)


def compare(block, what, wanted, got):
    lines = lambda text: [line for line in text if line.strip()]
    tolerance = float(block.options.get("tolerance", 0))
    if not matches(lines(wanted), lines(got.splitlines()), tolerance):
        raise Failure(f"{block.place}: {what}\n--- expected, from the page\n" + "\n".join(wanted) + "\n--- found\n" + got)


def commands(block):
    """Pairs of a command and the lines that it must print, from a `console` block."""
    found = []
    for line in block.lines:
        if line.startswith("$ "):
            found.append((line[2:], []))
        elif not found:
            raise Failure(f"{block.place}: a console block must begin with `$ `")
        elif line.startswith("> ") and not found[-1][1]:
            found[-1] = (found[-1][0] + "\n" + line[2:], [])
        else:
            found[-1][1].append(line)
    return found


def sections(text):
    """Top-level keys of a YAML map, each with its lines."""
    found = {}
    for line in text.splitlines(keepends=True):
        key = re.match(r"(\w+):", line)
        if key:
            name = key.group(1)
            found[name] = line
        elif found:
            found[name] += line
    return found


PYTHON = r"""
import contextlib, io, json, sys, traceback
names, out = {"__name__": "__main__"}, sys.stdout
for line in sys.stdin:
    said, failed = io.StringIO(), None
    with contextlib.redirect_stdout(said):
        try:
            exec(compile(json.loads(line), "block", "exec"), names)
        except BaseException:
            failed = traceback.format_exc()
    print(json.dumps([said.getvalue(), failed]), file=out, flush=True)
"""


class Page:
    """Runs the blocks of one page in a folder. source: root of the source tree; environment: PATH has the installed
    program."""

    def __init__(self, path, folder, source, environment):
        self.path, self.folder, self.source, self.environment = path, folder, source, environment
        self.python = None
        for name in "analysis", "tests":
            if not os.path.lexists(os.path.join(folder, name)):
                os.symlink(os.path.join(source, name), os.path.join(folder, name))

    def run(self):
        try:
            for block in blocks(self.path):
                self.run_block(block)
        finally:
            if self.python:
                self.python.stdin.close()
                self.python.stdout.close()
                self.python.wait()

    def run_block(self, block):
        if "file" in block.options:
            with open(os.path.join(self.folder, block.options["file"]), "w", encoding="utf-8") as file:
                file.write(block.text)
        elif block.kind == "text":
            if block.after is not None and block.after.kind == "python":
                compare(block, "output of the Python block above", block.lines, self.said)
        elif block.kind in RUNS:
            getattr(self, "run_" + block.kind)(block)
        else:
            raise Failure(f"{block.place}: unknown kind of block `{block.kind}`: expected text or one of {sorted(RUNS)}")

    def shell(self, command):
        done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=500)
        return done.returncode, done.stdout

    def run_console(self, block):
        status, listed = int(block.options.get("status", 0)), commands(block)
        for number, (command, wanted) in enumerate(listed):
            code, got = self.shell(command)
            if code != (status if number == len(listed) - 1 else 0):
                raise Failure(f"{block.place}: {command}: exit code {code}\n{got}")
            compare(block, command, wanted, got)

    def run_sh(self, block):
        if "installs" in block.options:
            return self.check_installation(block)
        code, got = self.shell(block.text)
        if code:
            raise Failure(f"{block.place}: exit code {code}\n{got}")

    def check_installation(self, block):
        subprocess.run(["bash", "-n", "-c", block.text], check=True)
        with open(os.path.join(self.source, "CMakeLists.txt")) as file:
            options = file.read()
        for word in re.findall(r"(?<!\S)\./(\S+)", block.text):
            if not os.path.exists(os.path.join(self.source, word)):
                raise Failure(f"{block.place}: the source tree has no file {word}")
        for word in re.findall(r"-D(CURVEBODY_\w+)", block.text):
            if word not in options:
                raise Failure(f"{block.place}: CMakeLists.txt has no option {word}")
        with open(os.path.join(self.source, "tests/packages")) as file:
            groups = re.findall(r"^  \[(\w+)\]=", file.read(), re.M)
        for words in re.findall(r"\./tests/packages((?: \w+)+)", block.text):
            for word in words.split():
                if word not in groups:
                    raise Failure(f"{block.place}: tests/packages has no group {word}")

    def run_yaml(self, block):
        if "into" not in block.options:
            raise Failure(f"{block.place}: a block of YAML needs `file=` or `into=`")
        with open(os.path.join(self.folder, block.options["into"]), encoding="utf-8") as file:
            base = sections(file.read())
        for part in re.split(r"(?m)^---\n", block.text):
            with open(os.path.join(self.folder, "fragment.yaml"), "w", encoding="utf-8") as file:
                file.writelines((base | sections(part)).values())
            code, got = self.shell("curvebody check fragment.yaml")
            if code:
                raise Failure(f"{block.place}: {got}\n{part}")

    def run_python(self, block):
        if not self.python:
            self.python = subprocess.Popen([sys.executable, "-c", PYTHON], cwd=self.folder, env=self.environment, text=True,
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.python.stdin.write(json.dumps(block.text) + "\n")
        self.python.stdin.flush()
        self.said, failed = json.loads(self.python.stdout.readline())
        if failed:
            raise Failure(f"{block.place}:\n{failed}")

    def run_c(self, block):
        if "from" not in block.options:
            raise Failure(f"{block.place}: a block of C needs `file=` or `from=`")
        with open(os.path.join(self.source, block.options["from"])) as file:
            there = [" ".join(line.split()) for line in file]
        at = 0
        for line in block.lines:
            words = " ".join(line.split())
            if words and words not in there[at:]:
                raise Failure(f"{block.place}: {block.options['from']} has no such line after line {at}: {words}")
            at = there.index(words, at) + 1 if words else at
