//! Judges: several VMs, gates, reads and their order, until, whole tables.

use placewright_sdk::contract::{Answers, Evaluation, Judgement, Tables};
use placewright_sdk::native::{Call, NativeUnit};
use placewright_sdk::prelude::*;

const BOTH: Answers = Answers {
    verdicts: true,
    costs: true,
};

fn integers(rows: Vec<u32>, integers: Vec<i64>) -> Tables {
    Tables {
        rows,
        integers,
        numbers: vec![],
        absent_integers: vec![],
        absent_numbers: vec![],
        texts: vec![],
    }
}

fn judge(unit: &dyn NativeUnit, tables: Tables) -> Result<Judgement, Problem> {
    unit.judge(BOTH, &Call::new(tables))
}

/// Each table with its columns, `?` = may be absent, `!` = gate.
fn reads(unit: &dyn NativeUnit) -> Vec<String> {
    let reads = unit.describe().judge.expect("it has a judge").reads;
    let table = |read: placewright_sdk::contract::TableRead| {
        let columns = read.columns.iter().map(|it| {
            let optional = if it.required { "" } else { "?" };
            let gate = if it.gate { "!" } else { "" };
            format!(" {}{optional}{gate}", it.column)
        });
        format!("{}:{}", read.table, columns.collect::<String>())
    };
    reads.into_iter().map(table).collect()
}

mod several_vms {
    use super::*;

    #[derive(Row)]
    struct Vm {
        memory: Bytes,
        cpu: Millicores,
    }

    #[derive(Row)]
    struct Host {
        memory: Bytes,
        cpu: Millicores,
    }

    #[derive(Reason)]
    enum Reason {
        /// has too little memory
        Memory,
        /// has too little CPU
        /// while others are pending
        #[reason(passing)]
        Cpu,
    }

    struct Fits;

    impl RowWise for Fits {
        type Request = Vm;
        type Host = Host;
        type Settings = ();
        type Reason = Reason;
        type Need = (Bytes, Millicores);

        fn prepare(vm: &Vm, (): &()) -> Result<(Bytes, Millicores), Problem> {
            if vm.memory == Bytes(0) {
                return Err(Problem::refused("a VM needs memory"));
            }
            Ok((vm.memory, vm.cpu))
        }
    }

    impl RowFilter for Fits {
        fn keep(&(memory, cpu): &(Bytes, Millicores), host: &Host) -> Verdict<Reason> {
            Verdict::keep_if(host.memory >= memory, Reason::Memory)
                .and(|| Verdict::keep_if(host.cpu >= cpu, Reason::Cpu))
        }
    }

    impl RowCost for Fits {
        const RANGE: Option<(f64, f64)> = Some((0.0, 9.0));

        fn cost(&(memory, _): &(Bytes, Millicores), host: &Host) -> f64 {
            (host.memory - memory).0 as f64
        }
    }

    placewright_sdk::export!(Fits: filter, cost_function, name = "fits", aliases = ["Fit", "f-1"]);

    /// Two VMs: memory 4 and 8, CPU 2 and 1.
    fn tables() -> Tables {
        integers(vec![2, 4], vec![4, 8, 2, 1, 9, 9, 6, 3, 5, 1, 1, 5])
    }

    #[test]
    fn first_reason_wins_and_costs_are_added() {
        let judgement = judge(native_unit(), tables()).expect("it fits");
        assert_eq!(judgement.verdicts, [0, 2, 2, 1]);
        assert_eq!(judgement.costs, [6.0, 6.0, 0.0, -6.0]);
        assert!(judgement.until.is_empty());
    }

    #[test]
    fn only_what_is_wanted_is_answered() {
        let call = Call::new(tables());
        let ask = |verdicts, costs| {
            let want = Answers { verdicts, costs };
            native_unit().judge(want, &call).expect("it fits")
        };
        let both = ask(true, true);
        assert_eq!(ask(true, false).verdicts, both.verdicts);
        assert!(ask(true, false).costs.is_empty());
        assert_eq!(ask(false, true).costs, both.costs);
        assert!(ask(false, true).verdicts.is_empty());
    }

    #[test]
    fn a_refusal_reaches_the_caller() {
        let refused = judge(native_unit(), integers(vec![1, 0], vec![0, 1]));
        assert_eq!(refused, Err(Problem::refused("a VM needs memory")));
    }

    #[test]
    fn is_described() {
        let described = native_unit().describe();
        assert_eq!(described.name, "fits");
        assert_eq!(described.version, env!("CARGO_PKG_VERSION"));
        assert_eq!(described.aliases, ["Fit", "f-1"]);
        assert!(described.settings.is_empty());
        let judge = described.judge.expect("it has a judge");
        assert_eq!(judge.cost_range, Some((0.0, 9.0)));
        assert_eq!(judge.evaluation, Evaluation::RowWise);
        let reasons: Vec<_> = (judge.reasons.iter())
            .map(|reason| (reason.text.as_str(), reason.passing))
            .collect();
        let cpu = "has too little CPU while others are pending";
        assert_eq!(reasons, [("has too little memory", false), (cpu, true)]);
    }
}

mod many_tables {
    use super::*;

    #[derive(Row)]
    struct Vm {
        #[column("memory-need")]
        need: i64,
        #[column(gate)]
        pinning: bool,
    }

    #[derive(Row)]
    struct Shape {
        huge_pages: Option<i64>,
        #[column("memory-need")]
        need: Option<i64>,
    }

    #[derive(Row)]
    struct Tenant {
        quota: i64,
    }

    #[derive(Row)]
    struct Nic {
        network: i64,
    }

    #[derive(Row)]
    struct Host {
        size: i64,
    }

    #[derive(Request)]
    struct Request {
        #[table("members/nics")]
        nics: Rows<Nic>,
        #[table("members")]
        vms: Rows<Vm>,
        #[table("members")]
        shapes: Rows<Shape>,
        tenant: Option<Tenant>,
        #[table("cluster")]
        sizes: Host,
    }

    #[derive(Row)]
    struct Limit {
        /// Above it nothing is placed.
        limit: i64,
    }

    #[derive(Settings)]
    struct Settings {
        /// Counted for every VM.
        #[setting(default = 3)]
        extra: i64,
        /// What is allowed.
        limits: Rows<Limit>,
    }

    struct Many;

    impl RowWise for Many {
        type Request = Request;
        type Host = Host;
        type Settings = Settings;
        type Reason = ();
        type Need = i64;

        fn prepare(request: &Request, settings: &Settings) -> Result<i64, Problem> {
            let vms: i64 = request.vms.iter().map(|vm| vm.need + settings.extra).sum();
            let shapes = request.shapes.iter();
            let shapes: i64 = shapes
                .filter_map(|shape| Some(shape.huge_pages? * shape.need?))
                .sum();
            let pinned = request.vms.iter().filter(|vm| vm.pinning).count() as i64;
            let nics: i64 = request.nics.iter().map(|nic| nic.network).sum();
            let quota = request.tenant.as_ref().map_or(0, |tenant| tenant.quota);
            let limits: i64 = settings.limits.iter().map(|it| it.limit).sum();
            Ok(vms + shapes + pinned + nics + quota + limits + request.sizes.size)
        }
    }

    impl RowCost for Many {
        fn cost(need: &i64, host: &Host) -> f64 {
            (need * host.size) as f64
        }
    }

    placewright_sdk::export!(Many: cost_function);

    #[test]
    fn are_declared_once_parents_first_settings_last() {
        assert_eq!(
            reads(native_unit()),
            [
                "members: memory-need pinning! huge-pages?",
                "members/nics: network",
                "tenant: quota",
                "cluster: size",
                "hosts: size",
                "settings: extra",
                "settings/limits: limit",
            ]
        );
    }

    fn tables(tenants: u32) -> Tables {
        let quota: &[i64] = if tenants == 0 { &[] } else { &[1000] };
        let parts: [&[i64]; 8] = [
            &[10, 20, 1, 0, 2, 0], // members
            &[0, 1, 2, 100, 200],  // members/nics
            quota,
            &[5],               // cluster
            &[1, 2],            // hosts
            &[3],               // settings
            &[0, 2],            // settings/limits: offsets
            &[10_000, 100_000], // settings/limits
        ];
        let mut tables = integers(vec![2, 2, tenants, 1, 2, 1, 2], parts.concat());
        tables.absent_integers = vec![5];
        tables
    }

    #[test]
    fn are_read_each_by_its_own_type() {
        let need = 13.0 + 23.0 + 20.0 + 1.0 + 300.0 + 5.0 + 110_000.0;
        let without_tenant = judge(native_unit(), tables(0)).expect("it fits");
        assert_eq!(without_tenant.costs, [need, 2.0 * need]);
        let with_tenant = judge(native_unit(), tables(1)).expect("it fits");
        assert_eq!(with_tenant.costs[0], need + 1000.0);
    }

    #[test]
    fn a_row_that_must_be_there_refuses() {
        let mut tables = tables(0);
        tables.rows[3] = 0;
        tables.integers.remove(11);
        assert!(matches!(
            judge(native_unit(), tables),
            Err(Problem::Refused(_))
        ));
    }
}

mod time {
    use super::*;

    #[derive(Row)]
    struct Now {
        now: Seconds,
    }

    #[derive(Row)]
    struct Vm {
        memory: i64,
    }

    #[derive(Request)]
    struct Request {
        #[table("members")]
        vm: Vm,
        request: Now,
    }

    #[derive(Row)]
    struct Host {
        closes: Option<Seconds>,
    }

    #[derive(Reason)]
    enum Reason {
        /// is closed
        Closed,
    }

    struct Hours;

    impl RowWise for Hours {
        type Request = Request;
        type Host = Host;
        type Settings = ();
        type Reason = Reason;
        type Need = Seconds;

        fn prepare(request: &Request, (): &()) -> Result<Seconds, Problem> {
            Ok(request.request.now + Seconds(request.vm.memory))
        }

        fn until(need: &Seconds, host: &Host) -> i64 {
            match host.closes {
                Some(closes) if closes >= *need => closes.0,
                _ => FOR_GOOD,
            }
        }
    }

    impl RowFilter for Hours {
        fn keep(need: &Seconds, host: &Host) -> Verdict<Reason> {
            let open = host.closes.is_none_or(|closes| closes >= *need);
            Verdict::keep_if(open, Reason::Closed)
        }
    }

    placewright_sdk::export!(Hours: filter);

    #[test]
    fn until_is_the_least_of_all_vms() {
        // Two VMs, so needed until 101 and 150; three hosts, the last never closes.
        let mut tables = integers(vec![2, 1, 3], vec![1, 50, 100, 120, 50, 0]);
        tables.absent_integers = vec![5];
        let judgement = judge(native_unit(), tables).expect("it fits");
        assert_eq!(judgement.verdicts, [1, 1, 0]);
        assert_eq!(judgement.until, [120, FOR_GOOD, FOR_GOOD]);
        assert!(judgement.costs.is_empty());
    }

    #[test]
    fn until_is_empty_where_all_holds_for_good() {
        let tables = integers(vec![1, 1, 1], vec![1, 100, 50]);
        let judgement = judge(native_unit(), tables).expect("it fits");
        assert_eq!(judgement.verdicts, [1]);
        assert!(judgement.until.is_empty());
    }
}

mod no_hosts {
    use super::*;

    #[derive(Row)]
    struct Vm {
        count: i64,
    }

    struct Priced;

    impl RowWise for Priced {
        type Request = Vm;
        type Host = ();
        type Settings = ();
        type Reason = ();
        type Need = f64;

        fn prepare(vm: &Vm, (): &()) -> Result<f64, Problem> {
            Ok(vm.count as f64)
        }
    }

    impl RowCost for Priced {
        fn cost(need: &f64, (): &()) -> f64 {
            *need
        }
    }

    placewright_sdk::export!(Priced: cost_function);

    #[test]
    fn one_answer_holds_for_all() {
        assert_eq!(reads(native_unit()), ["members: count"]);
        let judgement = judge(native_unit(), integers(vec![2], vec![4, 5])).expect("it fits");
        assert_eq!(judgement.costs, [9.0]);
    }
}

mod whole_table {
    use super::*;

    #[derive(Row)]
    struct Now {
        now: Option<Seconds>,
    }

    #[derive(Request)]
    struct Request {
        request: Now,
    }

    #[derive(Row)]
    struct Host {
        vms: i64,
    }

    #[derive(Reason)]
    enum Reason {
        /// runs more VMs than any other
        Fullest,
    }

    struct Even;

    impl WholeTable for Even {
        type Request = Request;
        type Host = Host;
        type Settings = ();
        type Reason = Reason;
    }

    impl TableFilter for Even {
        fn keep(_: &Request, hosts: &Rows<Host>, (): &()) -> Result<Vec<Verdict<Reason>>, Problem> {
            let most = hosts.iter().map(|host| host.vms).max();
            let verdict = |host: Host| Verdict::keep_if(Some(host.vms) != most, Reason::Fullest);
            Ok(hosts.iter().map(verdict).collect())
        }
    }

    impl TableCost for Even {
        fn cost(request: &Request, hosts: &Rows<Host>, (): &()) -> Result<Vec<f64>, Problem> {
            let shown = if request.request.now == Some(Seconds(13)) {
                1
            } else {
                hosts.len()
            };
            Ok(hosts
                .iter()
                .take(shown)
                .map(|host| host.vms as f64)
                .collect())
        }
    }

    placewright_sdk::export!(Even: table_filter, table_cost_function);

    #[test]
    fn all_hosts_are_seen_at_once() {
        let tables = integers(vec![1, 3], vec![7, 2, 5, 1]);
        let judgement = judge(native_unit(), tables).expect("it fits");
        assert_eq!(judgement.verdicts, [0, 1, 0]);
        assert_eq!(judgement.costs, [2.0, 5.0, 1.0]);
        assert_eq!(judgement.until, [7, 7, 7]);
        let judge = native_unit().describe().judge.expect("it has a judge");
        assert_eq!(judge.evaluation, Evaluation::WholeTable);
    }

    #[test]
    fn an_answer_too_short_fails() {
        let tables = integers(vec![1, 3], vec![13, 2, 5, 1]);
        assert!(matches!(
            judge(native_unit(), tables),
            Err(Problem::Failed(_))
        ));
    }

    #[test]
    fn an_unknown_time_is_no_time() {
        let mut tables = integers(vec![1, 1], vec![0, 2]);
        tables.absent_integers = vec![0];
        let judgement = judge(native_unit(), tables).expect("it fits");
        assert!(judgement.until.is_empty());
    }
}

mod hosts_together {
    use super::*;

    #[derive(Row)]
    struct Port {
        speed: i64,
    }

    #[derive(Row)]
    struct Host {
        #[table("ports")]
        ports: Rows<Port>,
    }

    #[derive(Reason)]
    enum Reason {
        /// was looked at alone
        Alone,
        /// was looked at with the others
        Together,
    }

    /// Looks at hosts together where all have as many ports; forgets one if it is told to.
    struct Ports;

    impl RowWise for Ports {
        type Request = Vm;
        type Host = Host;
        type Settings = ();
        type Reason = Reason;
        type Need = i64;

        fn prepare(vm: &Vm, (): &()) -> Result<i64, Problem> {
            Ok(vm.speed)
        }
    }

    #[derive(Row)]
    struct Vm {
        speed: i64,
    }

    impl RowFilter for Ports {
        fn keep(need: &i64, host: &Host) -> Verdict<Reason> {
            let fits = host.ports.iter().all(|port| port.speed >= *need);
            Verdict::keep_if(fits, Reason::Alone)
        }

        fn keep_all(need: &i64, hosts: &Rows<Host>) -> Option<Vec<Verdict<Reason>>> {
            let (ports,) = hosts.columns()?;
            let (speeds,) = ports.columns();
            let ports = speeds.chunks(ports.width()?.max(1));
            let fits = |ports: &[i64]| ports.iter().all(|speed| speed >= need);
            let verdicts = ports.map(|ports| Verdict::keep_if(fits(ports), Reason::Together));
            Some(verdicts.skip(usize::from(*need == 99)).collect())
        }
    }

    placewright_sdk::export!(Ports: filter);

    /// The verdicts for VMs that need these speeds.
    fn verdicts(needs: &[i64], ports: &[&[i64]]) -> Result<Vec<u8>, Problem> {
        let speeds = ports.concat();
        let ends = ports.iter().scan(0, |end, host| {
            *end += host.len() as i64;
            Some(*end)
        });
        let ends: Vec<i64> = ends.collect();
        let rows = [needs.len(), ports.len(), speeds.len()].map(|rows| rows as u32);
        let integers = [needs, &[0], &ends, &speeds].concat();
        let want = Answers {
            verdicts: true,
            costs: false,
        };
        let tables = super::integers(rows.to_vec(), integers);
        Ok(native_unit().judge(want, &Call::new(tables))?.verdicts)
    }

    #[test]
    fn are_judged_so_if_the_rule_can() {
        let alike: [&[i64]; 3] = [&[1, 2], &[2, 2], &[3, 3]];
        assert_eq!(verdicts(&[2], &alike), Ok(vec![2, 0, 0]));
        let mixed: [&[i64]; 3] = [&[1, 2], &[2], &[]];
        assert_eq!(verdicts(&[2], &mixed), Ok(vec![1, 0, 0]));
        assert_eq!(verdicts(&[2], &[]), Ok(vec![]));
    }

    #[test]
    fn stay_if_every_vm_lets_them_stay() {
        let hosts: [&[i64]; 3] = [&[1], &[2], &[3]];
        assert_eq!(verdicts(&[3, 2], &hosts), Ok(vec![2, 2, 0]));
    }

    #[test]
    fn have_one_verdict_each() {
        let few = verdicts(&[99], &[&[1], &[2]]);
        assert_eq!(few, Err(Problem::failed("gave 1 verdicts for 2 hosts")));
    }
}
