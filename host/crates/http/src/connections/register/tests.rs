use super::super::known::GUARANTEED;
use super::*;

fn register() -> Arc<Register> {
    Arc::new(Register::new(&ApiLimits {
        connections: 8,
        connections_per_address: 4,
        connections_per_token: 3,
        ..ApiLimits::default()
    }))
}

fn address(last: u8) -> Address {
    Address::of(std::net::Ipv4Addr::new(192, 0, 2, last).into())
}

/// A register for tokens that have many connections: 28 known ones, two of them for admins.
fn shared() -> Arc<Register> {
    Arc::new(Register::new(&ApiLimits {
        connections: 32,
        connections_per_address: 32,
        connections_per_token: 24,
        ..ApiLimits::default()
    }))
}

fn caller(name: &str) -> Caller {
    Caller {
        name: name.into(),
        role: match name {
            "admin" => Role::Admin,
            _ => Role::Viewer,
        },
        clusters: None,
        expires: None,
        sha256: None,
        session: None,
        authority: crate::access::Authority::default(),
    }
}

fn is_needed(place: &Place) -> bool {
    place.is_needed(Waker::noop())
}

fn needed(places: &[Arc<Place>]) -> Vec<bool> {
    places.iter().map(|place| is_needed(place)).collect()
}

fn admit(register: &Arc<Register>, last: u8) -> Option<Arc<Place>> {
    register.admit(address(last)).map(Arc::new)
}

/// So many connections that have shown that token.
fn known(register: &Arc<Register>, name: &str, count: usize) -> Vec<Arc<Place>> {
    let places = (0..count).map(|_| admit(register, 1).unwrap());
    places
        .inspect(|place| drop(place.is_of(&caller(name)).unwrap()))
        .collect()
}

#[test]
fn the_oldest_connection_of_an_address_goes_if_it_has_too_many() {
    let register = register();
    let other = admit(&register, 2).unwrap();
    let places: Vec<_> = (0..5).filter_map(|_| admit(&register, 1)).collect();
    assert_eq!(needed(&places), [true, false, false, false, false]);
    assert!(!is_needed(&other));
}

#[test]
fn places_are_left_for_callers_that_show_a_token() {
    let register = register();
    // Six of eight places are for connections that have shown none.
    let places: Vec<_> = (1..=7).filter_map(|it| admit(&register, it)).collect();
    assert_eq!(places.len(), 7);
    assert_eq!(
        needed(&places),
        [true, false, false, false, false, false, false]
    );
    // One that shows a token has its place for good, however many come.
    places[6].is_of(&caller("a")).unwrap();
    let more: Vec<_> = (10..30).filter_map(|it| admit(&register, it)).collect();
    assert_eq!(more.len(), 20);
    assert!(!is_needed(&places[6]));
    assert_eq!(more.iter().filter(|it| !is_needed(it)).count(), 6);
}

#[test]
fn a_token_has_so_many_connections_and_those_of_another_one_go_before_it_has_none() {
    let register = register();
    let mut places = known(&register, "a", 3);
    places.extend(known(&register, "b", 3));
    places.extend(known(&register, "c", 1));
    // Of those that show tokens there are as many as may be: the last place is for a
    // connection that is to show one.
    let place = admit(&register, 1).unwrap();
    let refused = place.is_of(&caller("a")).unwrap_err();
    assert_eq!(refused.code(), Code::TooManyRequests);
    drop(place.is_of(&caller("d")).unwrap());
    assert_eq!(
        needed(&places),
        [true, false, false, false, false, false, false]
    );
    // Nobody has so many more than "c" that it would have to give one.
    let next = admit(&register, 1).unwrap();
    drop(next.is_of(&caller("c")).unwrap());
    assert_eq!(places.iter().filter(|it| is_needed(it)).count(), 2);
    let last = admit(&register, 1).unwrap();
    assert!(last.is_of(&caller("c")).is_err());
}

#[test]
fn two_tokens_that_take_all_places_keep_out_neither_another_token_nor_an_admin() {
    let register = shared();
    let mut held = known(&register, "a", 14);
    held.extend(known(&register, "b", 12));
    // All places are taken but those of admins.
    for (name, count) in [("c", 8), ("admin", 8)] {
        let places = known(&register, name, count);
        assert!(!places.iter().any(|place| is_needed(place)), "{name}");
    }
}

#[test]
fn places_for_admins_are_taken_by_nobody_else() {
    let register = shared();
    let held = known(&register, "a", 24);
    let more = known(&register, "b", 10);
    // The 26 of those that are no admins.
    let open = |places: &[Arc<Place>]| places.iter().filter(|it| !is_needed(it)).count();
    assert_eq!((open(&held), open(&more)), (16, 10));
    let admins = known(&register, "admin", 2);
    assert_eq!((open(&held), open(&more), open(&admins)), (16, 10, 2));
}

#[test]
fn the_connection_that_is_idle_for_the_longest_time_goes_and_one_in_use_last() {
    let register = shared();
    let held = known(&register, "a", 24);
    let _two = known(&register, "b", 2);
    let in_work = held[0].is_of(&caller("a")).unwrap();
    held[1].moves();
    let other = known(&register, "c", 2);
    let gone: Vec<usize> = (0..held.len()).filter(|it| is_needed(&held[*it])).collect();
    assert_eq!(gone, [2, 3]);
    drop((in_work, other));
}

#[test]
fn a_token_with_few_connections_takes_a_place_from_one_that_has_all_its_own_in_use() {
    let register = shared();
    let held = known(&register, "a", 24);
    let in_work: Vec<_> = held
        .iter()
        .map(|it| it.is_of(&caller("a")).unwrap())
        .collect();
    let others = known(&register, "b", GUARANTEED);
    assert!(!others.iter().any(|place| is_needed(place)));
    // Beyond what is guaranteed nothing in use is closed.
    let next = admit(&register, 1).unwrap();
    assert!(next.is_of(&caller("b")).is_err());
    drop(in_work);
    drop(next.is_of(&caller("b")).unwrap());
}

#[test]
fn a_token_that_was_taken_away_holds_no_place_of_known_ones() {
    let register = register();
    let places = known(&register, "a", 3);
    places[0].is_of_nobody();
    let open = register.open.lock().unwrap();
    assert_eq!((open.known.count(), open.unknown.len()), (2, 1));
}

#[test]
fn nothing_is_left_of_connections_that_ended() {
    let register = register();
    for number in 0..100 {
        let place = admit(&register, 1).unwrap();
        if number % 2 == 0 {
            drop(place.is_of(&caller("a")).unwrap());
            drop(place.is_of(&caller("b")).unwrap());
        }
        if number % 4 == 0 {
            place.is_of_nobody();
        }
    }
    let open = register.open.lock().unwrap();
    assert!(open.known.is_empty() && open.unknown.is_empty());
    assert!(open.by_address.is_empty());
}
