# SPDX-License-Identifier: Apache-2.0
"""What the end-to-end tests share: running assay in a clean place, and reading what it says.

ASSAY_TEST_TREE is the build tree; ASSAY_TEST_TORCH is a LibTorch folder, and may be empty: tests that
need LibTorch are skipped then."""
import contextlib
import functools
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

try:
    import validate_results
except SystemExit:  # python3-jsonschema is missing
    validate_results = None

TREE = pathlib.Path(os.environ.get("ASSAY_TEST_TREE") or ".").resolve()
TORCH = os.environ.get("ASSAY_TEST_TORCH") or None
ASSAY = TREE / "bin" / "assay"
PLANTED = TREE / "tests" / "planted"
PLANTED_DIAGNOSTICS = TREE / "tests" / "planted_diagnostics"
BAD_PLUGINS = TREE / "tests" / "bad_plugins"
SIMULATED = TREE / "tests" / "simulated-rocm"
CEILINGS = TREE / "tests" / "ceilings"  # measured by ceilings_test.py before the others start

FOREIGN_VARIABLES = {"VIRTUAL_ENV", "XDG_CACHE_HOME", "XDG_DATA_HOME", "CONDA_PREFIX", "PYTHONPATH", "NO_COLOR", "SIMULATED_ROCM"}
PATIENCE = 600  # seconds for one run, on a slow machine under load

needs_torch = unittest.skipUnless(TORCH, "ASSAY_TEST_TORCH is not set: no LibTorch")


def python_with_torch():
    """(A Python that can import torch, ""), or (None, why there is none). ASSAY_TEST_PYTHON alone where
    it is set; else that of the active environment, those on PATH, and the one that runs this."""
    named = os.environ.get("ASSAY_TEST_PYTHON")
    active = [pathlib.Path(prefix) / "bin" / "python" for prefix in
              (os.environ.get("VIRTUAL_ENV"), os.environ.get("CONDA_PREFIX")) if prefix]
    found = [named] if named else [*active, shutil.which("python3"), shutil.which("python"),
                                   sys.executable]
    why = []
    for python in dict.fromkeys(str(one) for one in found if one):
        try:
            done = subprocess.run([python, "-c", "import torch"], capture_output=True, text=True,
                                  timeout=PATIENCE, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            why.append(f"{python}: {error}")
            continue
        if done.returncode == 0:
            return python, ""
        why.append(f"{python} cannot import torch: " + (done.stderr.strip().splitlines() or
                                                        [f"exit status {done.returncode}"])[-1])
    return None, "; ".join(why)


class Finished:
    """A run of assay that has ended."""

    def __init__(self, status, stdout, stderr, records):
        self.status = status
        self.stdout = stdout
        self.stderr = stderr
        self.records = records

    def __str__(self):
        return (f"status {self.status}\n--- stdout\n{shortened(self.stdout)}\n"
                f"--- stderr\n{shortened(self.stderr)}")

    def of_kind(self, kind):
        return [record for record in self.records if record["record"] == kind]

    def one(self, kind):
        found = self.of_kind(kind)
        assert len(found) == 1, f"{len(found)} {kind} records\n{self}"
        return found[0]

    @property
    def summary(self):
        return self.one("summary")

    @property
    def engine(self):
        return self.of_kind("engine")[0]

    @property
    def results(self):
        """Those that count: without the repeated ones."""
        return [result for result in self.of_kind("result") if result["repeat_of"] is None]

    @property
    def repeats(self):
        return [result for result in self.of_kind("result") if result["repeat_of"] is not None]

    def result(self, check, device=None):
        """The result of "category/name" or "category/name[dtype]"."""
        found = [result for result in self.results
                 if check in (result["id"], f"{result['category']}/{result['name']}")
                 and device in (None, result["device"])]
        assert len(found) == 1, f"{len(found)} results of {check}\n{self}"
        return found[0]

    def evidence(self, check, device=None):
        """The evidence line of "category/name" or "category/name[dtype]"."""
        found = [line for line in self.of_kind("evidence")
                 if check in (line["id"], line["id"].split("[")[0])
                 and device in (None, line["device"])]
        assert len(found) == 1, f"{len(found)} evidence lines of {check}\n{self}"
        return found[0]

    def links(self, check, device=None):
        """{link: state} of a check's verdict."""
        verdict = self.evidence(check, device)["verdict"]
        return {name: link["state"] for name, link in verdict["links"].items()}

    def plugin(self, file_name):
        found = [record for record in self.of_kind("plugin")
                 if pathlib.PurePath(record["file"]).name == file_name]
        assert len(found) == 1, f"{len(found)} plugin records of {file_name}\n{self}"
        return found[0]

    def row(self, id):
        """The table's row, with its gaps narrowed: "elementwise/add[float32] ok cpu 1.2 1.2 - 9"."""
        found = [" ".join(line.split()) for line in self.stdout.splitlines()
                 if line.startswith(id + " ")]
        found = [line for line in found if " on " not in line[:len(id) + 4]]
        assert len(found) == 1, f"{len(found)} rows of {id}\n{self}"
        return found[0]

    def details(self, id, device="cpu"):
        """What the report's section of warnings and errors says of a check; "" without a word."""
        lines = self.stdout.splitlines()
        title = f"{id} on {device}"
        if title not in lines:
            return ""
        begin = lines.index(title) + 1
        end = begin
        while end < len(lines) and lines[end].startswith("  "):
            end += 1
        return "\n".join(lines[begin:end])


def shortened(text, most=8000):
    return text if len(text) <= most else f"{text[:most // 2]}\n[...]\n{text[-most // 2:]}"


def read_records(text):
    """Of a file that may be cut off: its complete lines."""
    return [json.loads(line) for line in text.split("\n")[:-1]]


def clean_environment(home, changes=None):
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith("ASSAY_") and name not in FOREIGN_VARIABLES}
    environment["HOME"] = str(home)
    environment["XDG_CONFIG_HOME"] = str(home / ".config")
    for name, value in (changes or {}).items():
        if value is None:
            environment.pop(name, None)
        else:
            environment[name] = str(value)
    return environment


class SharedCeilings:
    """Tests whose runs find ceilings: those of ceilings_test.py, else what the first of them
    measures. Each class has a copy of its own."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.cache = tempfile.mkdtemp(prefix="assay-test-cache-")
        cls.addClassCleanup(shutil.rmtree, cls.cache, ignore_errors=True)
        if CEILINGS.is_dir():
            shutil.copytree(CEILINGS, cls.cache, dirs_exist_ok=True)

    def assay(self, *arguments, env=None, **more):
        return super().assay(*arguments, env={"XDG_CACHE_HOME": self.cache, **(env or {})}, **more)


class EndToEndTest(unittest.TestCase):
    """Each test has a `folder` of its own, which is assay's current folder, and an empty `home`."""

    maxDiff = None

    @classmethod
    def setUpClass(cls):
        if not ASSAY.exists():
            raise AssertionError(f"ASSAY_TEST_TREE: no bin/assay in {TREE}")

    def setUp(self):
        base = pathlib.Path(tempfile.mkdtemp(prefix="assay-test-"))
        self.addCleanup(shutil.rmtree, base, ignore_errors=True)
        self.folder = base / "here"
        self.home = base / "home"
        self.folder.mkdir()
        self.home.mkdir()
        self.runs = 0

    def assay(self, *arguments, env=None, cwd=None, timeout=PATIENCE, input=None,
              memory_mb=None):
        """Runs assay with these arguments alone. The records are those of a `--json FILE`.
        `memory_mb`: the address space that it may have."""
        limit = None if memory_mb is None else functools.partial(
            resource.setrlimit, resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
        arguments = [str(argument) for argument in arguments]
        done = subprocess.run([ASSAY, *arguments], cwd=cwd or self.folder, timeout=timeout,
                              env=clean_environment(self.home, env), input=input,
                              stdin=None if input is not None else subprocess.DEVNULL,
                              preexec_fn=limit, capture_output=True, text=True, errors="replace",
                              check=False)
        return Finished(done.returncode, done.stdout, done.stderr,
                        self.records_of(arguments, done.stdout, cwd or self.folder))

    def run_checks(self, *arguments, torch=TORCH, device=None, enable=(), planted=False,
                   evidence=False, **more):
        """`assay run` with a result file, which is validated; `torch=None` leaves --torch out.
        Without the chain of evidence, unless it is what the test is about."""
        run = self.assay(*self.run_arguments(*arguments, torch=torch, device=device, enable=enable,
                                             planted=planted, evidence=evidence), **more)
        if run.of_kind("summary"):
            self.assertEqual(run.stdout.splitlines()[-1:], [run.summary["text"]], run)
            self.assertEqual(run.status, run.summary["exit_status"], run)
        self.assertNotIn("internal error", run.stderr)
        return run

    def run_arguments(self, *arguments, torch=TORCH, device=None, enable=(), planted=False,
                      evidence=False):
        self.runs += 1
        command = ["run"] if evidence else ["run", "--no-evidence"]
        if "--json" not in arguments:
            command += ["--json", str(self.folder / f"run{self.runs}.jsonl")]
        if torch:
            command += ["--torch", str(torch)]
        if device:
            command += ["--device", device]
        if planted:
            command += ["--plugin-dir", str(PLANTED)]
        for glob in enable:
            command += ["--enable", glob]
        return command + [str(argument) for argument in arguments]

    @contextlib.contextmanager
    def started(self, *arguments, env=None, stdout=subprocess.PIPE, stderr=subprocess.PIPE):
        """assay at work, in a process group of its own; it and its workers are ended at the end."""
        process = subprocess.Popen([ASSAY, *(str(argument) for argument in arguments)],
                                   cwd=self.folder, env=clean_environment(self.home, env),
                                   stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                                   text=True, errors="replace", start_new_session=True)
        seen = set()
        process.workers = lambda: seen.update(workers_of(process.pid)) or sorted(seen)
        try:
            yield process
        finally:
            left = [worker for worker in process.workers() if is_alive(worker)]
            if process.poll() is None:
                process.kill()
            process.wait()
            for worker in left:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(worker[0], signal.SIGKILL)
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()

    def records_of(self, arguments, stdout="", cwd=None, unfinished=False):
        """The records of the result file that the arguments name, once it is found valid."""
        if "run" not in arguments[:1] or "--json" not in arguments:
            return []
        name = arguments[arguments.index("--json") + 1]
        file = pathlib.Path(cwd or self.folder) / name
        if name == "-":
            file = self.folder / "stdout.jsonl"
            file.write_text(stdout, encoding="utf-8")
        if not file.is_file():
            return []
        self.assert_valid(file, unfinished)
        return read_records(file.read_text(encoding="utf-8"))

    def assert_valid(self, file, unfinished=False):
        if validate_results is None:
            print("python3-jsonschema is missing: result files are not validated", file=sys.stderr)
            return
        schema = json.loads(validate_results.SCHEMA.read_text(encoding="utf-8"))
        if file.stat().st_size > 0:
            self.assertEqual(list(validate_results.problems(file, schema, unfinished)), [])

    def assert_counts(self, run, **counts):
        """The summary's counts; those that are not named are 0."""
        names = ("errors", "warnings", "crashes", "timeouts", "skipped", "not_run",
                 "refused_plugins")
        expected = {**dict.fromkeys(names, 0), **counts}
        self.assertEqual({name: run.summary[name] for name in expected}, expected, run)

    def assert_one_line(self, run, *parts):
        """One message on standard error, which begins with "assay: " and holds the parts."""
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 1, run)
        self.assertTrue(lines[0].startswith("assay: "), lines[0])
        for part in parts:
            self.assertIn(part, lines[0])

    def wait_until(self, condition, what, seconds=PATIENCE):
        """Waits for a condition, and returns its value."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            value = condition()
            if value:
                return value
            time.sleep(0.01)
        return self.fail(f"{what}: not within {seconds} s")

    def assert_gone(self, processes, seconds=3):
        self.wait_until(lambda: not any(is_alive(process) for process in processes),
                        f"the end of {processes}", seconds)


def process_facts(pid):
    """(state, parent, start time) of a process, or None."""
    try:
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text[text.rindex(")") + 2:].split()
    return fields[0], int(fields[1]), int(fields[19])


def workers_of(pid):
    """assay's worker processes as (pid, start time), which no other process ever has both."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        facts = process_facts(entry.name) if entry.name.isdigit() else None
        if facts and facts[1] == pid and facts[0] != "Z":
            found.append((int(entry.name), facts[2]))
    return found


def is_alive(process):
    facts = process_facts(process[0])
    return facts is not None and facts[2] == process[1] and facts[0] not in "ZX"


class OnePart(unittest.TestLoader):
    """Every n-th test, so that a long program runs as several at once: "2/3" is the second of
    three parts."""

    def __init__(self, part):
        super().__init__()
        self.number, self.parts = map(int, part.split("/"))
        self.seen = 0

    def getTestCaseNames(self, test_case):
        names = super().getTestCaseNames(test_case)
        first = self.seen
        self.seen += len(names)
        return [name for place, name in enumerate(names, first)
                if place % self.parts == self.number - 1]


def main():
    unittest.main(verbosity=2, testLoader=OnePart(os.environ.get("ASSAY_TEST_PART") or "1/1"))
