"""What a unit has not."""

import subprocess
import sys
import unittest

PROGRAM = """
from placewright import sealing
sealing.prepare()
import os, random, time
from datetime import datetime
from time import monotonic
assert time.time() > 0 and random.random() < 1 and datetime.now().year > 2000
open(os.devnull).close()
sealing.seal()
tried = {
    "time.time": time.time, "time.monotonic": monotonic, "datetime.now": datetime.now, "random.random": random.random,
    "os.urandom": lambda: os.urandom(4), "builtins.open": lambda: open(os.devnull),
}
for name, function in tried.items():
    try:
        function()
    except sealing.Forbidden as error:
        assert str(error).removeprefix("builtins.").startswith(name.removeprefix("builtins.")), error
    else:
        raise AssertionError(name)
assert random.Random(3).random() == random.Random(3).random()
assert isinstance(datetime(2026, 1, 2), datetime)
"""


class Sealing(unittest.TestCase):
    def test_clock_chance_and_files_are_there_until_the_component_is_sealed(self) -> None:
        # In a process of its own, since it changes modules of Python.
        done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)


if __name__ == "__main__":
    unittest.main()
