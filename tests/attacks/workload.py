"""Mixed work on a server, and what of it was acknowledged."""

import random
import threading
import time


class Workload:
    """Callers that place, confirm and end VMs, change inventories, ask questions and write policies in
    some of the clusters, each at a bounded rate. What is acknowledged is remembered: it must be
    there later, whatever happens to the server."""

    def __init__(self, server, clusters, callers=6, pause=0.01, seed=1):
        self.server, self.clusters, self.callers, self.pause, self.seed = server, clusters, callers, pause, seed
        self.lock = threading.Lock()
        # VMs that run for sure, by cluster; what a lost answer leaves open is in neither.
        self.runs = {name: set() for name in clusters}
        self.answers, self.lost, self.wrong = {}, 0, []
        self.number, self._end, self._threads = 0, threading.Event(), []

    def start(self):
        self._end.clear()
        self._threads = [threading.Thread(target=self._call, args=(n,), daemon=True) for n in range(self.callers)]
        for thread in self._threads:
            thread.start()

    def stop(self):
        self._end.set()
        for thread in self._threads:
            thread.join(60)

    def ask(self, method, path, body=None, **more):
        got = self.server.ask(method, path, body, limit=15, **more)
        with self.lock:
            self.answers[got.status] = self.answers.get(got.status, 0) + 1
            self.lost += got.status == 0
            if got.status == 500:
                self.wrong.append(f"{method} {path}: {got.body[:300]}")
        return got

    def _call(self, caller):
        choose = random.Random(self.seed * 1000 + caller)
        while not self._end.is_set():
            cluster = choose.choice(self.clusters)
            work = choose.choices(
                [self._place, self._end_vm, self._change, self._question, self._list, self._policy],
                [10, 5, 3, 2, 3, 1],
            )[0]
            work(cluster, choose)
            self._end.wait(self.pause)

    def _new(self):
        with self.lock:
            self.number += 1
            return f"vm-{self.seed}-{self.number}"

    def _place(self, cluster, choose):
        vm = self._new()
        got = self.ask("POST", f"/v1/clusters/{cluster}/place", {"id": vm, "cpu": 1, "memory": 1 << 28})
        if got.status != 200 or not got.json().get("host"):
            return
        if choose.random() < 0.2:
            return  # Nobody confirms it: the reservation ends by itself.
        got = self.ask("POST", f"/v1/clusters/{cluster}/confirm", {"vms": [vm]})
        if got.status in (200, 204):
            with self.lock:
                self.runs[cluster].add(vm)
        if len(self.runs[cluster]) > 20:
            self._end_vm(cluster, choose)

    def _end_vm(self, cluster, choose):
        with self.lock:
            if not self.runs[cluster]:
                return
            # From here on until the answer nobody knows.
            vm = self.runs[cluster].pop()
        gone = {"missing": "ignore", "gone": {"vms": [vm]}}
        self.ask("POST", f"/v1/clusters/{cluster}/inventory/changes", gone)

    def _change(self, cluster, choose):
        changes = {"statistics": [{"id": "h1", "cpu.usage": round(choose.random(), 3)}]}
        if choose.random() < 0.3:
            changes["hosts"] = [{"id": "h2", "memory.total": choose.choice([256, 512]) << 30}]
        self.ask("POST", f"/v1/clusters/{cluster}/inventory/changes", changes)

    def _question(self, cluster, choose):
        vm = {"id": "q", "cpu": 1, "memory": 1 << 30}
        route = choose.choice(["why?host=h1", "capacity?at-most=10", "what-if?without=h2"])
        self.ask("POST", f"/v1/clusters/{cluster}/{route}", vm)

    def _list(self, cluster, choose):
        route = choose.choice(["", "/hosts", "/vms?limit=10", "/decisions?limit=5", "/inventory", "/reservations"])
        self.ask("GET", f"/v1/clusters/{cluster}{route}")

    def _policy(self, cluster, choose):
        text = f"filters = []\n[[costs]]\nunit = 'best-fit'\nfactor = {choose.randint(1, 9)}\n"
        self.ask("PUT", "/v1/policies/soak", text, kind="application/toml", headers={"If-Match": "*"})

    def check(self):
        """What was acknowledged and is not there, by cluster. Nobody may be working."""
        missing = []
        for cluster in self.clusters:
            with self.lock:
                wanted = set(self.runs[cluster])
            if not wanted:
                continue
            got = self.server.ask("GET", f"/v1/clusters/{cluster}/inventory", limit=30)
            if got.status != 200:
                missing.append(f"{cluster}: {got}")
                continue
            document = got.json()
            there = {vm["id"] for vm in document.get("vms", [])}
            for host in document.get("hosts", []):
                there |= {vm["id"] for vm in host.get("vms", [])}
            missing += [f"{cluster}: {vm}" for vm in sorted(wanted - there)]
        return missing


class Replacing(threading.Thread):
    """Drops another build of a unit into the folder again and again."""

    def __init__(self, server, component, every=1.0):
        super().__init__(daemon=True)
        self.server, self.component, self.every, self.count, self._end = server, component, every, 0, threading.Event()
        self.start()

    def run(self):
        while not self._end.wait(self.every):
            self.count += 1
            # A section of its own makes it another file.
            try:
                self.server.drop("best-fit", self.component + b"\x00\x06\x01n" + b"%04x" % (self.count & 0xFFFF))
            except OSError:
                pass  # The disk is full.

    def end(self):
        self._end.set()
        self.join()


def seconds_until(server, wait=300):
    """How long a start takes until the server is ready; None if it is not."""
    begin = time.monotonic()
    return time.monotonic() - begin if server.start(wait) else None
