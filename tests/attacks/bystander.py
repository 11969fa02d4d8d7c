"""Places a VM in a cluster of its own again and again, changing nothing, and takes the times.

A program of its own, so that it waits for nothing that the attack's program does. It ends when its
input does. It prints a line once it has begun, and in the end the seconds that each answer took and how many
requests failed.

    bystander.py PORT SECRET PAUSE
"""

import http.client
import json
import select
import sys
import time


def place(port, secret, number):
    """One placement on a connection of its own: the seconds it took; None if it failed."""
    vm = {"id": f"b{number}", "cpu": 1, "memory": 1 << 30, "dry-run": True}
    sent = {"Host": "localhost", "Authorization": f"Bearer {secret}", "Content-Type": "application/json"}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    begin = time.monotonic()
    try:
        connection.request("POST", "/v1/clusters/bystander/place", json.dumps(vm), sent)
        got = connection.getresponse()
        got.read()
        return time.monotonic() - begin if got.status == 200 else None
    except (OSError, http.client.HTTPException):
        return None
    finally:
        connection.close()


def main():
    port, secret, pause = int(sys.argv[1]), sys.argv[2], float(sys.argv[3])
    times, failures, number = [], 0, 0
    place(port, secret, number)
    print(flush=True)
    while not select.select([sys.stdin], [], [], pause)[0]:
        number += 1
        took = place(port, secret, number)
        if took is None:
            failures += 1
        else:
            times.append(took)
    json.dump({"times": times, "failures": failures}, sys.stdout)


if __name__ == "__main__":
    main()
