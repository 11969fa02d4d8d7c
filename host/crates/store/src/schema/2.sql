-- Version 2: numbers that do not go back over a restart, plans of moves, and what came of
-- reservations.

ALTER TABLE counters ADD COLUMN next_plan INTEGER NOT NULL DEFAULT 0;
-- No version of the inventory that anybody was told of is above this one.
ALTER TABLE counters ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
ALTER TABLE counters ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;

CREATE TABLE plans (
    cluster INTEGER NOT NULL,
    number  INTEGER NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (cluster, number)
) STRICT, WITHOUT ROWID;

-- The last reservation of a VM, if it ended without the VM running.
CREATE TABLE ended_reservations (
    cluster INTEGER NOT NULL,
    vm      TEXT NOT NULL,
    body    TEXT NOT NULL,
    PRIMARY KEY (cluster, vm)
) STRICT, WITHOUT ROWID;
