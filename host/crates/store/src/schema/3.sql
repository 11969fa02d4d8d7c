-- Version 3: how the rows of a cluster were when its recorded decisions were made, so that
-- they can be made again and explained; what is measured; and what decides.

-- What is measured of a host, and noted of what is watched.
CREATE TABLE measured (
    cluster INTEGER NOT NULL,
    id      TEXT NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (cluster, id)
) STRICT, WITHOUT ROWID;

-- The chain that decides in a cluster.
CREATE TABLE chains (
    cluster INTEGER PRIMARY KEY,
    body    TEXT NOT NULL
) STRICT;

-- A row as it was when a decision was made, if it has changed before the next decision:
-- its first state alone. No body: there was no such row. The kinds are those of the
-- tables, in the order of their numbers in the program.
CREATE TABLE history (
    cluster  INTEGER NOT NULL,
    decision INTEGER NOT NULL,
    kind     INTEGER NOT NULL,
    id       TEXT NOT NULL,
    position INTEGER NOT NULL,
    body     TEXT,
    PRIMARY KEY (cluster, decision, kind, id)
) STRICT, WITHOUT ROWID;

-- From which decision on the history is whole, and why not from an earlier one.
CREATE TABLE history_starts (
    cluster  INTEGER PRIMARY KEY,
    decision INTEGER NOT NULL,
    why      TEXT NOT NULL
) STRICT;

INSERT INTO history_starts (cluster, decision, why)
    SELECT cluster, max(number) + 1, 'version' FROM decisions GROUP BY cluster;
