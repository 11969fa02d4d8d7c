-- Rows as version 3 holds them, for the test that opens files of every version.

INSERT INTO clusters (number, name, body) VALUES (1, 'old', '{"policy":"spread"}'), (2, 'empty', '{}');
INSERT INTO counters (cluster, next_decision, clock, next_plan, version, revision) VALUES (1, 42, 1700000000, 3, 4096, 7);
INSERT INTO plans (cluster, number, body) VALUES (1, 2, '{"p":2}');
INSERT INTO ended_reservations (cluster, vm, body) VALUES (1, 'v-2', '{"e":1}');
INSERT INTO hosts (cluster, id, position, body) VALUES (1, 'h-2', 0, '{"h":2}'), (1, 'h-1', 1, '{"h":1}');
INSERT INTO vms (cluster, id, pending, body) VALUES (1, 'v-1', 0, '{"v":1}'), (1, 'v-1', 1, '{"v":2}');
INSERT INTO tenants (cluster, id, body) VALUES (1, 't-1', '{"t":1}');
INSERT INTO vm_groups (cluster, id, position, body) VALUES (1, 'g-1', 0, '{"g":1}');
INSERT INTO decisions (cluster, number, at, body) VALUES (1, 40, 1699999990, '{"d":40}'), (1, 41, 1699999995, '{"d":41}');
INSERT INTO answers (cluster, key, at, body) VALUES (1, 'k-1', 1699999995, '{"a":1}');
INSERT INTO policies (name, revision, at, author, body) VALUES ('spread', 1, 10, 'ada', '{"p":1}'), ('spread', 2, 20, 'bob', '{"p":2}');
INSERT INTO artifacts (digest, name, bytes) VALUES ('sha256:00', 'memory', x'0061736d');
INSERT INTO units (name, digest, enabled, body) VALUES ('memory', 'sha256:00', 1, '{"u":1}'), ('gone', NULL, 0, '{}');
INSERT INTO unit_events (name, digest, at, what, body) VALUES ('memory', 'sha256:00', 30, 'in-force', '{}'), ('gone', NULL, 31, 'removed', '{}');
INSERT INTO settings (key, body) VALUES ('tokens', '[]');
INSERT INTO measured (cluster, id, body) VALUES (1, 'h-1', '{"m":1}');
INSERT INTO chains (cluster, body) VALUES (1, '{"c":1}');
INSERT INTO history (cluster, decision, kind, id, position, body) VALUES (1, 41, 3, 'v-1', 0, NULL), (1, 41, 1, 'h-1', 1, '{"h":0}');
INSERT INTO history_starts (cluster, decision, why) VALUES (1, 41, 'bytes');
