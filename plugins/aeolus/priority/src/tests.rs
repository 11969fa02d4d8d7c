use super::*;

/// The groups of candidates with these shares and priorities, as rows and shares.
fn refined(hosts: &[(f64, Option<i64>)], settings: &Settings) -> Vec<Vec<(u32, f64)>> {
    let request = Request {
        candidates: (hosts.iter())
            .map(|&(share, _)| Standing { group: 0, share })
            .collect(),
        hosts: (0..)
            .zip(hosts)
            .map(|(listed, &(_, priority))| Host { listed, priority })
            .collect(),
    };
    let groups = Priority::refine(&request, settings).expect("the settings are sound");
    let group = |group: &Vec<Share>| group.iter().map(|it| (it.candidate, it.share)).collect();
    groups.0.iter().map(group).collect()
}

fn defaults() -> Settings {
    Settings::defaults().expect("all have defaults")
}

#[test]
fn higher_priority_comes_first_and_none_last() {
    let hosts = [
        (0.25, None),
        (0.25, Some(5)),
        (0.25, Some(20)),
        (0.25, Some(5)),
    ];
    let groups = refined(&hosts, &defaults());
    let expected = [vec![(2, 1.0)], vec![(1, 0.5), (3, 0.5)], vec![(0, 1.0)]];
    assert_eq!(groups, expected);
}

#[test]
fn probabilistic_priority_moves_chances_and_keeps_the_group() {
    let settings = Settings {
        mode: "probabilistic".into(),
        percent: Some(20.0),
        ..defaults()
    };
    let hosts = [(0.5, Some(1)), (0.5, Some(9))];
    assert_eq!(refined(&hosts, &settings), [[(0, 0.4), (1, 0.6)]]);
}

#[test]
fn probabilistic_priority_needs_a_percentage() {
    let settings = Settings {
        mode: "probabilistic".into(),
        ..defaults()
    };
    assert!(Priority::check(&settings).is_err());
    assert!(Priority::check(&defaults()).is_ok());
}
