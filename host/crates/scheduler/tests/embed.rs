//! The example for who embeds the scheduler does what it shows.

#[expect(
    unreachable_pub,
    reason = "its main is public, so that it can be called"
)]
#[path = "../examples/embed.rs"]
mod embed;

#[test]
fn the_example_places_all_vms_and_explains_the_last() {
    embed::main().unwrap();
}
