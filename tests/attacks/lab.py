"""A server of our own on 127.0.0.1, what it takes of the machine, and callers to measure it by.

Nothing here talks to another address than 127.0.0.1, and everything ends: each request has a
time limit, each thread a number of requests or an end.
"""

import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

CLUSTER = """
name = "{name}"
[[hosts]]
id = "h1"
cpu.cores = 40
memory.total = "512 GiB"
[[hosts]]
id = "h2"
cpu.cores = 40
memory.total = "512 GiB"
"""

# Secrets of the tokens that a lab's server knows: name, role, clusters.
TOKENS = {
    "admin": ("admin", None),
    "viewer": ("viewer", ["north"]),
    "operator": ("operator", ["big"]),
    "author": ("policy-author", ["alpha"]),
    "bystander": ("operator", ["bystander"]),
    # One person with two tokens, or two monitors that leak.
    "viewer-2": ("viewer", ["north"]),
    "operator-2": ("operator", ["big"]),
}


class Answer:
    """What a server answered; status 0 if it did not in time."""

    def __init__(self, status, body=b"", headers=None, seconds=0.0):
        self.status, self.body, self.headers, self.seconds = status, body, headers or {}, seconds

    def json(self):
        try:
            return json.loads(self.body)
        except ValueError:
            return {}

    def __str__(self):
        return f"{self.status or 'no answer'} in {self.seconds:.1f} s, {len(self.body)} bytes"


class Server:
    """A server in a folder of its own. `limit` is the most memory that it may map, as a net for
    this machine: a server that needs more ends, which the lab tells as such."""

    def __init__(self, program, cache, words=(), tokens=True, data=None, environment=None, limit=6 << 30):
        self.program, self.words, self.environment = program, list(words), environment or {}
        self.folder = tempfile.TemporaryDirectory(prefix="placewright-lab-")
        self.base = Path(self.folder.name)
        self.data = Path(data) if data else self.base / "data"
        self.cache, self.limit, self.process = cache, limit, None
        self.config = self.base / "placewright.toml"
        self.log = self.base / "log"
        self.configure(tokens)

    def configure(self, tokens=True, more=""):
        lines = [more]
        for name, (role, clusters) in TOKENS.items() if tokens else ():
            digest = hashlib.sha256(secret(name).encode()).hexdigest()
            lines += ["[[tokens]]", f'name = "{name}"', f'role = "{role}"', f'sha256 = "{digest}"']
            if clusters:
                lines.append(f"clusters = {json.dumps(clusters)}")
        self.config.write_text("\n".join(lines) + "\n")

    def start(self, wait=300):
        """Start it and wait until it is ready: at first the units of the program are compiled. True if
        it is."""
        command = [self.program, "serve", "--listen", "127.0.0.1:0", "--log-format", "json"]
        command += ["--config", self.config, "--data", self.data, "--cache", self.cache, *self.words]
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PLACEWRIGHT_")}
        environment.update(self.environment)
        begin = self.log.stat().st_size if self.log.exists() else 0
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(
                [str(word) for word in command], stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )
        self.port = None
        end = time.monotonic() + wait
        while time.monotonic() < end and self.process.poll() is None:
            if self.port is None:
                self.port = self._port(begin)
            elif self.ask("GET", "/v1/ready", token=None, limit=2).status == 200:
                return True
            time.sleep(0.05)
        return False

    def _port(self, begin):
        with open(self.log, "rb") as log:
            log.seek(begin)
            for line in log:
                try:
                    told = json.loads(line)
                except ValueError:
                    continue
                if told.get("message") == "serving":
                    return int(told["url"].rsplit(":", 1)[1])
        return None

    def alive(self):
        return self.process is not None and self.process.poll() is None

    def kill(self):
        if self.alive():
            self.process.kill()
        if self.process:
            self.process.wait()

    def stop(self, wait=60):
        """Ask it to end. Seconds that it took; None if it did not."""
        if not self.alive():
            return 0.0
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(wait)
            return time.monotonic() - begin
        except subprocess.TimeoutExpired:
            return None

    def close(self):
        self.kill()
        self.folder.cleanup()

    def ask(self, method, path, body=None, token="admin", limit=10, headers=None, kind="application/json"):
        """One request on a connection of its own."""
        sent = {"Host": "localhost", **(headers or {})}
        if token:
            sent["Authorization"] = f"Bearer {secret(token)}"
        if body is not None:
            sent.setdefault("Content-Type", kind)
            body = body if isinstance(body, (bytes, str)) else json.dumps(body)
        begin = time.monotonic()
        try:
            connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=limit)
            connection.request(method, path, body, sent)
            got = connection.getresponse()
            return Answer(got.status, got.read(), dict(got.getheaders()), time.monotonic() - begin)
        except (OSError, http.client.HTTPException):
            return Answer(0, seconds=time.monotonic() - begin)
        finally:
            connection.close()

    def make_cluster(self, name, document=None, policy="best-fit"):
        document = document or CLUSTER.format(name=name)
        kind = "application/json" if isinstance(document, dict) else "application/toml"
        got = self.ask("POST", f"/v1/clusters?policy={policy}", document, kind=kind, limit=120)
        assert got.status in (200, 201), (name, got, got.body[:300])

    def socket(self, receive=None):
        connection = socket.socket()
        if receive:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive)
        connection.settimeout(5)
        connection.connect(("127.0.0.1", self.port))
        return connection

    # What it takes, as the kernel counts it.

    def status(self, key):
        try:
            for line in open(f"/proc/{self.process.pid}/status"):
                if line.startswith(key + ":"):
                    return int(line.split()[1])
        except OSError:
            pass
        return 0

    def memory(self):
        """MiB that are resident."""
        return self.status("VmRSS") / 1024

    def peak(self):
        """MiB that were resident at most, since the peak was forgotten."""
        return self.status("VmHWM") / 1024

    def forget_peak(self):
        with open(f"/proc/{self.process.pid}/clear_refs", "w") as file:
            file.write("5")

    def threads(self):
        return self.status("Threads")

    def files(self):
        try:
            return len(os.listdir(f"/proc/{self.process.pid}/fd"))
        except OSError:
            return 0

    def cpu_seconds(self):
        try:
            fields = open(f"/proc/{self.process.pid}/stat").read().rsplit(")", 1)[1].split()
            return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
        except OSError:
            return 0.0

    def load(self, seconds=3):
        """Cores that it keeps busy."""
        before = self.cpu_seconds()
        time.sleep(seconds)
        return (self.cpu_seconds() - before) / seconds

    def stored(self):
        """MiB of the data folder."""
        files = [path for path in self.data.rglob("*") if path.is_file() and not path.is_symlink()]
        return sum(path.stat().st_size for path in files) / (1 << 20)

    def drop(self, name, content):
        """Put a unit into the folder, as a copying program would."""
        folder = self.data / "units"
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f".{name}.part"
        part.write_bytes(content)
        part.rename(folder / f"{name}.wasm")


def secret(name):
    """Secrets for the lab alone."""
    return f"pw_{hashlib.sha256(name.encode()).hexdigest()}"


class Watch(threading.Thread):
    """Watches a server's memory, and ends the server before it takes the machine's."""

    def __init__(self, server, most):
        super().__init__(daemon=True)
        self.server, self.most, self.peak, self.ended, self._end = server, most, 0.0, False, threading.Event()
        self.start()

    def run(self):
        while not self._end.wait(0.02):
            memory = self.server.memory()
            self.peak = max(self.peak, memory, self.server.peak())
            if memory > self.most and not self.ended:
                self.ended = True
                self.server.kill()

    def end(self):
        self._end.set()
        self.join()
        return self.peak


class Bystander:
    """Somebody else, in a program of his own (`bystander.py`): what the attack's program does takes
    nothing from him. Only what the server does, and the processors that both share."""

    def __init__(self, server, pause=0.02):
        self.times, self.failures = [], 0
        command = [sys.executable, Path(__file__).with_name("bystander.py"), server.port, secret("bystander"), pause]
        self._process = subprocess.Popen([str(word) for word in command], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._process.stdout.readline()

    def end(self):
        """Have him end. May be asked again."""
        if self._process:
            told, _ = self._process.communicate(timeout=60)
            told, self._process = json.loads(told), None
            self.times, self.failures = told["times"], told["failures"]
        return self


def percentile(times, share):
    """The time below which that share of them lies, in milliseconds."""
    if not times:
        return float("inf")
    times = sorted(times)
    return 1000 * times[min(len(times) - 1, int(len(times) * share))]


def aside(work):
    """Do it on a thread that the machine prefers others to, and so do those that it begins: an attack comes
    from another machine, and takes no processor from the server. Gives what it raised, or none."""
    raised = []

    def begin():
        os.nice(5)  # Of this thread alone, on Linux.
        try:
            work()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=begin, daemon=True)
    thread.start()
    thread.join()
    return raised[0] if raised else None


def together(count, work):
    """Do `work(n)` for n below count, each on a thread."""
    threads = [threading.Thread(target=work, args=(n,), daemon=True) for n in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)


def waits_for(condition, limit=30):
    """Whether it comes true in time."""
    end = time.monotonic() + limit
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.1)
    return False
