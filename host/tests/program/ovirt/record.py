"""Runs a client of oVirt's with something between it and the server that writes down what both
say: record.py FILE PROGRAM ARGUMENT...

What differs from run to run is written as a word in capitals. An answer that was given before is
not written again."""

import http.client
import http.server
import os
import re
import subprocess
import sys
import threading
import urllib.parse

TARGET = urllib.parse.urlsplit(os.environ["URL"])

# What differs from run to run.
CHANGING = [
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", "TIME"),
    (r"pw_[0-9a-f]+", "SECRET"),
    (r"(<custom_id>)\d+", r"\1NUMBER"),
    (r"(<correlation_id>)[^<]+", r"\1ID"),
    (r"(<index>)\d+", r"\1NUMBER"),
    (r"(/events/)\d+", r"\1NUMBER"),
    (r'(<event [^>]*id=")\d+', r"\1NUMBER"),
    (r"(from=)\d+", r"\1NUMBER"),
    (r"(decision )\d+", r"\1NUMBER"),
    # How many kinds of events there are.
    (r"(<code>)\d+", r"\1NUMBER"),
    # The server listens anywhere.
    (r"127\.0\.0\.1:\d+", "SERVER"),
]

# What of lists comes with the program and is none of oVirt's: other versions have others.
OWN = r'  <{0} href="[^"]*" id="[0-9a-f]{{8}}-[0-9a-f]{{4}}-8[^"]*">\n(?:(?!  </{0}>).*\n)*?  </{0}>\n'


def normal(text):
    for pattern, word in CHANGING:
        text = re.sub(pattern, word, text)
    text = re.sub(OWN.format("scheduling_policy_unit"), "", text)
    is_own = lambda found: "" if "<locked>true</locked>" in found.group(0) else found.group(0)
    text = re.sub(OWN.format("scheduling_policy"), is_own, text)
    unit = r"(<scheduling_policy_unit [^>]*>\n *<name>[^<]*</name>\n *<description>)[^<]*"
    return re.sub(unit, r"\1TEXT", text)


class Recorder(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    lines = []
    answers = {}
    lock = threading.Lock()

    def answer(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        connection = http.client.HTTPConnection(TARGET.hostname, TARGET.port, timeout=300)
        headers = {
            name: value
            for name, value in self.headers.items()
            if name.lower() not in ("host", "connection", "accept-encoding", "content-length")
        }
        connection.request(self.command, self.path, body or None, headers)
        answer = connection.getresponse()
        told = answer.read()
        connection.close()
        self.note(body, answer, told)
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "content-length", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(told)))
        self.end_headers()
        self.wfile.write(told)

    do_GET = do_POST = do_PUT = do_DELETE = answer

    def note(self, body, answer, told):
        shown = [f"{self.command} {urllib.parse.unquote_plus(self.path)}"]
        for name in ["Accept", "Content-Type", "Version", "Prefer", "Filter"]:
            if self.headers.get(name):
                shown.append(f"{name}: {self.headers[name]}")
        kind = answer.getheader("Content-Type")
        text = normal(told.decode())
        with self.lock:
            number = self.answers.get(text) if len(text) > 400 else None
            self.answers.setdefault(text, len(self.answers) + 1)
            again = f"(answer {number} again)" if number else f"(answer {self.answers[text]})"
            body = urllib.parse.unquote_plus(body.decode()).rstrip()
            said = [*shown, *([body] if body else []), f"--> {answer.status} {kind} {again}"]
            if not number:
                said.append(text.rstrip())
            self.lines.append(normal("\n".join(said)) + "\n")

    def log_message(self, *_):
        pass


def main():
    out, *command = sys.argv[1:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://127.0.0.1:{server.server_address[1]}{TARGET.path}"
    done = subprocess.run(command, env={**os.environ, "URL": url}, check=False)
    with open(out, "w", encoding="utf-8") as file:
        file.write("\n".join(Recorder.lines))
    sys.exit(done.returncode)


main()
