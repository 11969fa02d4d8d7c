"""Clusters for the console to show, made by the API alone: the same ones each time.

Used by the tests in a browser and by the script that makes the pictures.
"""

import json
import urllib.error
import urllib.request
import zlib


class Api:
    """The API of a server, with a token if there is one."""

    def __init__(self, url, token=None):
        self.url, self.token = url, token

    def ask(self, method, path, body=None, kind="application/json", headers=None):
        """Status, body and headers of an answer."""
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, method=method)
        if data is not None:
            request.add_header("Content-Type", kind)
        if self.token:
            request.add_header("Authorization", f"Bearer {self.token}")
        for name, value in (headers or {}).items():
            request.add_header(name, value)
        try:
            with urllib.request.urlopen(request) as answer:
                status, text, headers = answer.status, answer.read().decode(), answer.headers
        except urllib.error.HTTPError as error:
            status, text, headers = error.code, error.read().decode(), error.headers
        try:
            return status, json.loads(text) if text else None, headers
        except json.JSONDecodeError:
            return status, text, headers

    def must(self, method, path, body=None, **more):
        """The body of an answer that is a success."""
        status, answer, _ = self.ask(method, path, body, **more)
        assert status < 300, f"{method} {path}: {status} {answer}"
        return answer


HOUSE = """
name = "house"
description = "General checks; spreads load, keeps memory balanced, honours wishes first"
tie-rule = ["fewest-vms", "id"]

[[filters]]
unit = "memory"

[[filters]]
unit = "cpu"
settings = { overcommit = 2 }

[[filters]]
unit = "affinity"

[[filters]]
unit = "pin-to-host"

[[filters]]
unit = "availability-zone"

[[costs]]
unit = "even-distribution"
scaling = "min-max"
factor = 2

[[costs]]
unit = "memory"
scaling = "min-max"

[[costs]]
unit = "cpu"
scaling = "min-max"
"""


def mixed(number, of):
    """Numbers that look drawn and are the same each time."""
    return zlib.crc32(str(number).encode()) % of


def host(number, racks, zones):
    """A host of a fleet, by its number from 0."""
    rack = number % racks
    cores = (32, 40, 48)[rack % 3]
    return {
        "id": f"n{rack + 1}-{number // racks + 1:02}",
        "zone": f"z{rack % zones + 1}",
        "attribute.rack": f"r{rack + 1:02}",
        "cpu.sockets": 2,
        "cpu.cores": cores,
        "cpu.threads": cores * 2,
        "cpu.usage": round(0.15 + mixed(number, 60) / 100, 2),
        "memory.total": f"{(256, 512, 384)[rack % 3]} GiB",
        "memory.reserved": "8 GiB",
    }


SHAPES = [(2, 8), (1, 4), (4, 16), (2, 16), (8, 32), (4, 32), (16, 96), (2, 8)]


def vm(number, hosts, name="web"):
    """A VM that runs somewhere."""
    cpu, memory = SHAPES[mixed(number, len(SHAPES))]
    # Some hosts are fuller than others.
    place = mixed(number, len(hosts))
    if mixed(number + 7, 4) == 0:
        place = mixed(number, len(hosts) // 2)
    return {"id": f"{name}-{number}", "host": hosts[place]["id"], "cpu": cpu, "memory": f"{memory} GiB"}


def north(api, hosts=60, vms=430):
    """A cluster with everything that wants to be looked at."""
    fleet = [host(number, 6, 3) for number in range(hosts)]
    fleet[8]["state"] = "maintenance"
    fleet[21]["state"] = "down"
    # Nothing is measured of a host that is down.
    del fleet[21]["cpu.usage"]
    names = ["web", "db", "cache", "build", "api"]
    running = [vm(number, fleet, names[number % 5]) for number in range(vms)]
    running = [it for it in running if it["host"] != fleet[21]["id"]]
    running += [
        {"id": "auth-1", "host": "n1-03", "cpu": 2, "memory": "4 GiB"},
        {"id": "auth-2", "host": "n1-03", "cpu": 2, "memory": "4 GiB"},
        {"id": "ledger-1", "host": "n2-04", "cpu": 2, "memory": "8 GiB"},
        {"id": "ledger-2", "host": "n3-04", "cpu": 2, "memory": "8 GiB"},
    ]
    document = {
        "name": "north",
        "attributes": {"hosts": {"rack": {"kind": "text", "meaning": "Where the host stands"}}},
        "hosts": fleet,
        "vms": running,
        "groups": [
            {"id": "auth-apart", "vms": ["auth-1", "auth-2"], "rule": "negative", "hard": True},
            {"id": "ledger-apart", "vms": ["ledger-1", "ledger-2", "ledger-3"], "rule": "negative", "hard": True},
            {"id": "web-near", "vms": ["web-0", "web-5", "web-10"], "rule": "positive", "hard": False},
        ],
    }
    api.must("PUT", "/v1/policies/house", HOUSE.encode(), kind="application/toml", headers={"If-None-Match": "*"})
    api.must("POST", "/v1/clusters?policy=house", document)


def decisions(api, count=160):
    """Decisions of the cluster north, the last one without a host."""
    path = "/v1/clusters/north"
    confirmed = []
    for number in range(count):
        cpu, memory = SHAPES[mixed(number + 5, len(SHAPES))]
        wanted = {"id": f"job-{900 + number}", "cpu": cpu, "memory": f"{memory} GiB", "reserve-for": 7200}
        placed = api.must("POST", f"{path}/place", wanted)
        if placed["host"] and number % 4:
            confirmed.append(wanted["id"])
    api.must("POST", f"{path}/confirm", {"vms": confirmed})
    api.must("POST", f"{path}/place", {"id": "ledger-3", "cpu": 2, "memory": "8 GiB"})
    api.must("POST", f"{path}/place", {"id": "etl-big-3", "cpu": 64, "memory": "1100 GiB"})


def plan(api):
    """A plan of which some moves are begun; gives its number."""
    path = "/v1/clusters/north/plans"
    made = api.must("POST", path, {"moves": 12})
    number = made["number"]
    api.must("POST", f"{path}/{number}/begin", {"moves": [1, 2]})
    api.must("POST", "/v1/clusters/north/confirm", {"vms": [made["moves"][0]["vm"]]})
    return number


def west(api, hosts=2000):
    """A large cluster."""
    fleet = [host(number, 50, 4) for number in range(hosts)]
    for number in (14, 402, 900, 1411):
        fleet[number]["state"] = "maintenance"
    for number in (77, 1203):
        fleet[number]["state"] = "down"
    lost = {fleet[number]["id"] for number in (77, 1203)}
    running = [vm(number, fleet, "v") for number in range(hosts * 7)]
    document = {
        "name": "west",
        "attributes": {"hosts": {"rack": {"kind": "text", "meaning": "Where the host stands"}}},
        "hosts": fleet,
        "vms": [it for it in running if it["host"] not in lost],
    }
    api.must("POST", "/v1/clusters?policy=best-fit", document)


def burst(api):
    """Accounts of providers, chosen by chance."""
    accounts = [("ec2-eu", 120, 71), ("ec2-us", 60, 28), ("rhev", 30, 26), ("vsphere", 10, 3)]
    document = {
        "name": "burst",
        "attributes": {"hosts": {
            "account": {"kind": "text", "meaning": "The account at the provider"},
            "quota": {"kind": "integer", "meaning": "How many instances it may run"},
            "running": {"kind": "integer", "meaning": "How many it runs that are not known here"},
        }},
        "hosts": [
            {"id": name, "cpu.cores": 400, "memory.total": "4 TiB", "attribute.account": name,
             "attribute.quota": quota, "attribute.running": running}
            for name, quota, running in accounts
        ],
    }
    api.must("POST", "/v1/clusters?policy=aeolus-least-used", document)
    for number in range(40):
        api.must("POST", "/v1/clusters/burst/place", {"id": f"run-{number}", "cpu": 1, "memory": "2 GiB"})


def all_of_it(api, large=True):
    """Everything; gives the number of the plan."""
    north(api)
    decisions(api)
    burst(api)
    if large:
        west(api)
    return plan(api)
