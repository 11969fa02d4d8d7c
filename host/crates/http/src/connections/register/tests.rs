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

fn caller(name: &str) -> Caller {
    Caller {
        name: name.into(),
        role: crate::Role::Viewer,
        clusters: None,
        sha256: None,
    }
}

fn is_needed(place: &Place) -> bool {
    place.is_needed(Waker::noop())
}

fn needed(places: &[Place]) -> Vec<bool> {
    places.iter().map(is_needed).collect()
}

#[test]
fn the_oldest_connection_of_an_address_goes_if_it_has_too_many() {
    let register = register();
    let other = register.admit(address(2)).unwrap();
    let places: Vec<Place> = (0..5).filter_map(|_| register.admit(address(1))).collect();
    assert_eq!(needed(&places), [true, false, false, false, false]);
    assert!(!is_needed(&other));
}

#[test]
fn places_are_left_for_callers_that_show_a_token() {
    let register = register();
    // Six of eight places are for connections that have shown none.
    let places: Vec<Place> = (1..=7)
        .filter_map(|it| register.admit(address(it)))
        .collect();
    assert_eq!(places.len(), 7);
    assert_eq!(
        needed(&places),
        [true, false, false, false, false, false, false]
    );
    // One that shows a token has its place for good, however many come.
    places[6].is_of(&caller("a")).unwrap();
    let more: Vec<Place> = (10..30)
        .filter_map(|it| register.admit(address(it)))
        .collect();
    assert_eq!(more.len(), 20);
    assert!(!is_needed(&places[6]));
    assert_eq!(more.iter().filter(|it| !is_needed(it)).count(), 6);
}

#[test]
fn a_token_has_so_many_connections_and_leaves_room_for_others() {
    let register = register();
    let mut places = Vec::new();
    for name in ["a", "a", "a", "b", "b", "b", "c"] {
        let place = register.admit(address(1)).unwrap();
        place.is_of(&caller(name)).unwrap();
        place.is_of(&caller(name)).unwrap();
        places.push(place);
    }
    // Of those that show tokens there are as many as may be: the last place is for a
    // connection that is to show one.
    let place = register.admit(address(1)).unwrap();
    for name in ["a", "d"] {
        let refused = place.is_of(&caller(name)).unwrap_err();
        assert_eq!(refused.code(), Code::TooManyRequests);
    }
    let next = register.admit(address(1)).unwrap();
    assert!(is_needed(&place) && !is_needed(&next));
    drop(places.pop());
    assert!(next.is_of(&caller("a")).is_err());
    next.is_of(&caller("d")).unwrap();
}

#[test]
fn nothing_is_left_of_connections_that_ended() {
    let register = register();
    for number in 0..100 {
        let place = register.admit(address(1)).unwrap();
        if number % 2 == 0 {
            place.is_of(&caller("a")).unwrap();
            place.is_of(&caller("b")).unwrap();
        }
    }
    let open = register.open.lock().unwrap();
    assert_eq!((open.known, open.unknown.len()), (0, 0));
    assert!(open.by_address.is_empty() && open.by_token.is_empty());
}
