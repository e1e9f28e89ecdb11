"""Builds the wheel and the source archive of curvebody for pip (PEP 517), with cmake and without other Python packages.

The wheel contains what `cmake --install` installs: the Python package, with the library in curvebody/lib and the
program in curvebody/bin, a script that starts the program, the man pages and the completions of shells.

    python3 -m pip install .
    python3 -m pip install . --config-settings=build=FOLDER        takes the files from a folder that cmake has built
    python3 -m pip install . --config-settings=cmake=-DCURVEBODY_HMAT=OFF
"""
import base64
import glob
import hashlib
import io
import os
import re
import shlex
import stat
import subprocess
import sys
import sysconfig
import tarfile
import tempfile
import tomllib
import zipfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# The script `curvebody` in the folder of programs; pip replaces its first line. It finds the package without importing
# it, so that the program starts at once, and also without numpy.
SCRIPT = b"""#!python
import importlib.util
import os
import sys

package = importlib.util.find_spec("curvebody")
if package is None:
    sys.exit("curvebody: error: the Python package curvebody is not installed for " + sys.executable)
program = os.path.join(os.path.dirname(package.origin), "bin", "curvebody")
os.execv(program, [program, *sys.argv[1:]])
"""


def _read(*path):
    with open(os.path.join(ROOT, *path), "rb") as file:
        return file.read()


def _project():
    return tomllib.loads(_read("pyproject.toml").decode())["project"]


def _stem():
    """curvebody-VERSION, with which the names of the archives and of their folders begin."""
    return "curvebody-" + re.search(rb'#define CB_VERSION "(.*)"', _read("src", "curvebody", "api.h"))[1].decode()


def _metadata():
    project = _project()
    extras = [(extra, name) for extra, names in project["optional-dependencies"].items() for name in names]
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {_stem().split('-')[1]}",
             f"Summary: {project['description']}", f"License: {project['license']}",
             f"Requires-Python: {project['requires-python']}",
             *(f"Requires-Dist: {name}" for name in project["dependencies"]),
             *(f"Provides-Extra: {extra}" for extra in project["optional-dependencies"]),
             *(f'Requires-Dist: {name}; extra == "{extra}"' for extra, name in extras),
             "Description-Content-Type: text/markdown", "", ""]
    return "\n".join(lines).encode() + _read(project["readme"])


def _tag():
    """The wheel is for this kind of machine, and for any version of Python 3, because ctypes calls the library."""
    return "py3-none-" + re.sub(r"[-.]", "_", sysconfig.get_platform())


def _information():
    """The files of the folder curvebody-VERSION.dist-info, without RECORD."""
    wheel = f"Wheel-Version: 1.0\nGenerator: curvebody\nRoot-Is-Purelib: false\nTag: {_tag()}\n"
    return {"METADATA": _metadata(), "WHEEL": wheel.encode(), "LICENSE": _read("LICENSE")}


def _run(*words):
    """Runs a command. pip shows its output with -v, and if it fails."""
    done = subprocess.run(words, stdout=sys.stderr)
    if done.returncode:
        sys.exit(f"error: `{shlex.join(words)}` failed; a build needs the packages of `./tests/packages build`")


def _installed(settings, folder):
    """Installs into a folder, from the build of the settings or from a new build."""
    for name in settings.keys() - {"build", "cmake"}:
        sys.exit(f"error: --config-settings={name}: expected build=FOLDER or cmake=OPTIONS, found {name}={settings[name]}")
    build = os.path.join(ROOT, settings["build"]) if "build" in settings else None
    if build and not os.path.exists(os.path.join(build, "cmake_install.cmake")):
        sys.exit(f"error: --config-settings=build: expected a folder that cmake has built, found {build}")
    if not build:
        build = os.path.join(folder, "build")
        jobs = os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or str(os.cpu_count() or 1)
        options = settings.get("cmake", [])
        options = shlex.split(options) if isinstance(options, str) else options
        _run("cmake", "-S", ROOT, "-B", build, "-DCMAKE_BUILD_TYPE=Release", "-DCURVEBODY_TESTS=OFF",
             "-DCMAKE_INSTALL_LIBDIR=lib", *options)
        _run("cmake", "--build", build, "--parallel", jobs)
    prefix = os.path.join(folder, "prefix")
    mpi = ["mpi"] if os.path.exists(os.path.join(build, "curvebody-mpi.so")) else []
    for component in ["program", "library", *mpi]:
        _run("cmake", "--install", build, "--prefix", prefix, "--component", component, "--strip")
    return prefix


def _files(prefix):
    """The files of the wheel: names and paths. The library has its soname as its name: a wheel has no links."""
    python = os.path.join(ROOT, "src", "python")
    for path in sorted(glob.glob(os.path.join(python, "curvebody", "**", "*"), recursive=True)):
        if os.path.isfile(path) and "__pycache__" not in path:
            yield os.path.relpath(path, python), path
    yield "curvebody/bin/curvebody", os.path.join(prefix, "bin", "curvebody")
    (library,) = glob.glob(os.path.join(prefix, "lib*", "**", "libcurvebody.so.?*.?*.?*"), recursive=True)
    yield "curvebody/lib/" + os.path.basename(library).rpartition(".")[0], library
    for path in glob.glob(os.path.join(prefix, "lib*", "**", "curvebody-mpi.so"), recursive=True):
        yield "curvebody/lib/curvebody/curvebody-mpi.so", path
    for path in sorted(glob.glob(os.path.join(prefix, "share", "**", "*"), recursive=True)):
        name = os.path.relpath(path, prefix)
        if os.path.isdir(path):
            continue
        if "/manual/" in name:
            yield "curvebody/" + name, path  # its place relative to the program is the same for all installations
        elif not name.startswith("share/doc/"):  # without the changelogs of the Debian packages
            yield f"{_stem()}.data/data/{name}", path


class _Wheel:
    """A wheel that is written. Its bytes depend only on the bytes of its files."""

    def __init__(self, path):
        self.file, self.record = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED), []

    def add(self, name, content, mode=0o644):
        entry = zipfile.ZipInfo(name)  # of 1 January 1980
        entry.external_attr = (stat.S_IFREG | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.file.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        self.record.append(f"{name},sha256={digest},{len(content)}\n")

    def close(self, folder):
        name = f"{folder}/RECORD"
        self.add(name, "".join([*self.record, f"{name},,\n"]).encode())
        self.file.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    name = f"{_stem()}-{_tag()}.whl"
    with tempfile.TemporaryDirectory() as folder:
        wheel = _Wheel(os.path.join(wheel_directory, name))
        for target, path in _files(_installed(config_settings or {}, folder)):
            with open(path, "rb") as file:
                wheel.add(target, file.read(), 0o755 if os.access(path, os.X_OK) else 0o644)
        wheel.add(f"{_stem()}.data/scripts/curvebody", SCRIPT, 0o755)
        for entry, content in _information().items():
            wheel.add(f"{_stem()}.dist-info/{entry}", content)
        wheel.close(f"{_stem()}.dist-info")
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = f"{_stem()}.dist-info"
    os.makedirs(os.path.join(metadata_directory, folder))
    for name, content in _information().items():
        with open(os.path.join(metadata_directory, folder, name), "wb") as file:
            file.write(content)
    return folder


def build_sdist(sdist_directory, config_settings=None):
    """The files that git knows; without git, all files of the tree but those that were built."""
    files = []
    if os.path.exists(os.path.join(ROOT, ".git")):
        known = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], capture_output=True, text=True)
        files = known.stdout.split("\0")[:-1]
    if not files:
        files = [os.path.relpath(path, ROOT) for path in glob.glob(os.path.join(ROOT, "**", "*"), recursive=True)]
        files = [path for path in files if not path.startswith("build" + os.sep) and "__pycache__" not in path]
    name = _stem() + ".tar.gz"
    with tarfile.open(os.path.join(sdist_directory, name), "w:gz", format=tarfile.PAX_FORMAT) as archive:
        for path in sorted(files):
            if os.path.isfile(os.path.join(ROOT, path)):
                archive.add(os.path.join(ROOT, path), f"{_stem()}/{path}", recursive=False)
        information = tarfile.TarInfo(f"{_stem()}/PKG-INFO")
        information.size = len(_metadata())
        archive.addfile(information, io.BytesIO(_metadata()))
    return name
