-- Version 1. A version that was released is not edited; what changes goes into the
-- next file. Rows of a cluster carry its number, not its name, to keep keys short.

CREATE TABLE clusters (
    number INTEGER PRIMARY KEY,
    name   TEXT NOT NULL UNIQUE,
    body   TEXT NOT NULL
) STRICT;

-- Apart from the cluster, since it changes with every decision and the body is large.
CREATE TABLE counters (
    cluster       INTEGER PRIMARY KEY,
    next_decision INTEGER NOT NULL,
    clock         INTEGER NOT NULL
) STRICT;

CREATE TABLE hosts (
    cluster  INTEGER NOT NULL,
    id       TEXT NOT NULL,
    position INTEGER NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (cluster, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE vms (
    cluster INTEGER NOT NULL,
    id      TEXT NOT NULL,
    pending INTEGER NOT NULL,
    body    TEXT NOT NULL,
    -- Pending rows come and go, and so stand together on few pages.
    PRIMARY KEY (cluster, pending, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tenants (
    cluster INTEGER NOT NULL,
    id      TEXT NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (cluster, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE vm_groups (
    cluster  INTEGER NOT NULL,
    id       TEXT NOT NULL,
    position INTEGER NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (cluster, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE decisions (
    cluster INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (cluster, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE answers (
    cluster INTEGER NOT NULL,
    key     TEXT NOT NULL,
    at      INTEGER NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (cluster, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX answers_by_time ON answers (cluster, at);

CREATE TABLE policies (
    name     TEXT NOT NULL,
    revision INTEGER NOT NULL,
    at       INTEGER NOT NULL,
    author   TEXT NOT NULL,
    body     TEXT NOT NULL,
    PRIMARY KEY (name, revision)
) STRICT;

CREATE TABLE artifacts (
    digest TEXT NOT NULL PRIMARY KEY,
    name   TEXT NOT NULL,
    bytes  BLOB NOT NULL
) STRICT;

CREATE TABLE units (
    name    TEXT NOT NULL PRIMARY KEY,
    digest  TEXT,
    enabled INTEGER NOT NULL,
    body    TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE unit_events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name   TEXT NOT NULL,
    digest TEXT,
    at     INTEGER NOT NULL,
    what   TEXT NOT NULL,
    body   TEXT NOT NULL
) STRICT;

CREATE INDEX unit_events_by_name ON unit_events (name, number);

CREATE TABLE settings (
    key  TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
