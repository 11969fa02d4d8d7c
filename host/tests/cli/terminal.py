"""Runs a program on a terminal of its own, and answers what it asks.

    terminal.py PROGRAM ARGUMENT... -- PROMPT KEYS PROMPT KEYS ...

Waits for each prompt in turn and then presses the keys, in which `down`, `space` and `enter`
stand for themselves. Prints what was on the terminal, and ends with the program's exit code.
"""

import os
import pty
import select
import sys
import time

KEYS = {"down": b"\x1b[B", "space": b" ", "enter": b"\r"}
PATIENCE = 60

divide = sys.argv.index("--")
command, script = sys.argv[1:divide], sys.argv[divide + 1 :]
questions = list(zip(script[0::2], script[1::2]))

child, terminal = pty.fork()
if child == 0:
    os.environ["TERM"] = "xterm"
    os.execv(command[0], command)

shown, unanswered = b"", b""
deadline = time.monotonic() + PATIENCE
while time.monotonic() < deadline:
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        read = os.read(terminal, 4096)
    except OSError:
        # The program has ended.
        break
    if not read:
        break
    shown += read
    unanswered += read
    while questions and questions[0][0].encode() in unanswered:
        _, keys = questions.pop(0)
        unanswered = b""
        for key in keys.split(" "):
            os.write(terminal, KEYS.get(key, key.encode()))
else:
    os.kill(child, 9)

sys.stdout.write(shown.decode(errors="replace"))
for prompt, _ in questions:
    print(f"never asked: {prompt}")
_, status = os.waitpid(child, 0)
sys.exit(os.waitstatus_to_exitcode(status) if not questions else 99)
