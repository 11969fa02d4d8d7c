//! What is kept up to a bound: decisions, revisions of policies, events of units.

use rusqlite::Connection;

use super::history::OVERHEAD;
use super::{Applied, Apply, limit, run};
use crate::change::UnitEvent;

/// The oldest decisions or events are removed when this part of the bound has come in.
const BATCHES: usize = 16;

impl Apply {
    pub(super) fn record(
        &mut self,
        base: &Connection,
        cluster: i64,
        number: i64,
        at: i64,
        body: &str,
    ) -> Applied {
        run(
            base,
            "REPLACE INTO decisions (cluster, number, at, body) VALUES (?1, ?2, ?3, ?4)",
            (cluster, number, at, body),
        )?;
        let bytes = OVERHEAD + body.len() as u64;
        self.histories.decided(base, cluster, (number, bytes))?;
        let of_records = self.options.decision_bytes;
        if let Some(last) = self.histories.beyond(base, cluster, of_records)? {
            run(
                base,
                "DELETE FROM decisions WHERE cluster = ?1 AND number <= ?2",
                (cluster, last),
            )?;
            self.histories.forget_before(base, cluster, last + 1)?;
        }
        let bound = self.options.decisions;
        // The first one since the start removes what was left then.
        let untrimmed = self.untrimmed.entry(cluster).or_insert(bound);
        *untrimmed = untrimmed.saturating_add(1);
        if *untrimmed <= bound / BATCHES {
            return Ok(());
        }
        *untrimmed = 0;
        run(
            base,
            "DELETE FROM decisions WHERE cluster = ?1 AND number <= (
                 SELECT number FROM decisions WHERE cluster = ?1
                 ORDER BY number DESC LIMIT 1 OFFSET ?2)",
            (cluster, limit(bound)),
        )?;
        const OLDEST: &str = "SELECT min(number) FROM decisions WHERE cluster = ?1";
        let oldest: Option<i64> = base
            .prepare_cached(OLDEST)?
            .query_row((cluster,), |row| row.get(0))?;
        match oldest {
            Some(oldest) => self.histories.forget_before(base, cluster, oldest),
            None => Ok(()),
        }
    }

    pub(super) fn trim_revisions(&self, base: &Connection, name: &str) -> Applied {
        run(
            base,
            "DELETE FROM policies WHERE name = ?1 AND revision <= (
                 SELECT revision FROM policies WHERE name = ?1
                 ORDER BY revision DESC LIMIT 1 OFFSET ?2)",
            // The one in force is always kept.
            (name, limit(self.options.revisions.max(1))),
        )?;
        let mut earlier = base.prepare_cached(
            "SELECT revision, octet_length(body) FROM policies
             WHERE name = ?1 ORDER BY revision DESC LIMIT -1 OFFSET 1",
        )?;
        let mut rows = earlier.query((name,))?;
        let mut bytes = 0;
        while let Some(row) = rows.next()? {
            let (revision, length): (i64, i64) = (row.get(0)?, row.get(1)?);
            bytes += u64::try_from(length).unwrap_or(0);
            if bytes > self.options.revision_bytes {
                const SQL: &str = "DELETE FROM policies WHERE name = ?1 AND revision <= ?2";
                return run(base, SQL, (name, revision));
            }
        }
        Ok(())
    }

    pub(super) fn unit_event(&mut self, base: &Connection, event: &UnitEvent) -> Applied {
        run(
            base,
            "INSERT INTO unit_events (name, digest, at, what, body) VALUES (?1, ?2, ?3, ?4, ?5)",
            (
                &event.name,
                &event.digest,
                event.at,
                &event.what,
                &event.body,
            ),
        )?;
        let bound = self.options.unit_events;
        self.events_untrimmed = self.events_untrimmed.saturating_add(1);
        if self.events_untrimmed <= bound / BATCHES {
            return Ok(());
        }
        self.events_untrimmed = 0;
        run(
            base,
            "DELETE FROM unit_events WHERE number <= (SELECT max(number) FROM unit_events) - ?1",
            (limit(bound),),
        )
    }
}
