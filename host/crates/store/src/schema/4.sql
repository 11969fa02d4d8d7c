-- Version 4: what the copies differed by on which batches were decided that are dry runs,
-- planned from nothing, searched, or all or nothing; and what speaks for the
-- bytes of a unit.

-- A row as it was on the copy, from a decision of the batch on. No body: there was no such
-- row. All belong to the last decision of their batch, and go with it. The kinds are those
-- of the history.
CREATE TABLE copies (
    cluster  INTEGER NOT NULL,
    last     INTEGER NOT NULL,
    decision INTEGER NOT NULL,
    kind     INTEGER NOT NULL,
    id       TEXT NOT NULL,
    position INTEGER NOT NULL,
    body     TEXT,
    PRIMARY KEY (cluster, last, decision, kind, id)
) STRICT, WITHOUT ROWID;

-- The signature that it came with.
ALTER TABLE artifacts ADD COLUMN signature BLOB;
-- The trusted key that had made it, by its name then.
ALTER TABLE artifacts ADD COLUMN signer TEXT;

-- The chains by which recorded decisions were made: few among all rows of the past.
CREATE INDEX history_chains ON history (cluster) WHERE kind = 7;
