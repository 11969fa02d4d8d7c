//! Two files that are the same policy by their names.

use super::*;

/// Renamed into its place: nobody sees a part of it.
fn written(folder: &Path, file: &str, text: &str) {
    let new = folder.join("new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(new, folder.join(file)).unwrap();
}

#[test]
fn of_two_files_of_one_policy_the_first_counts_until_it_is_gone() {
    let (data, policies) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let world = start(data.path(), &units());
    let deployment = &world.deployment;
    let options = watch::Options {
        settle: Duration::ZERO,
        ..watch::Options::policies(1 << 20)
    };
    let folder = PolicyFolder::watch(deployment, policies.path(), options).unwrap();
    written(policies.path(), "mine.toml", POLICY);
    folder.settle();
    let other = r#"{"filters": [], "costs": [{"unit": "worst-fit"}]}"#;
    written(policies.path(), "mine.json", other);
    folder.settle();
    folder.settle();
    let record = deployment.policy("mine").unwrap();
    assert_eq!((&*record.text, record.revision), (POLICY, 1));
    let events = deployment.events().listen(Some(0)).missed;
    let refused: Vec<_> = events
        .iter()
        .filter(|event| event.kind == EventKind::PolicyRefused)
        .collect();
    assert_eq!(refused.len(), 1, "it is told once");
    assert!(refused[0].kind.is_warning());
    let message = &refused[0].message;
    assert!(
        message.contains("it is the policy \"mine\", as "),
        "{message}"
    );
    assert!(
        message.contains("mine.toml is: rename or remove"),
        "{message}"
    );
    // The same after a restart, in which the files are seen in the other order.
    drop(folder);
    world.deployment.stop();
    drop(world);
    let world = start(data.path(), &units());
    let deployment = &world.deployment;
    let options = watch::Options {
        settle: Duration::ZERO,
        ..watch::Options::policies(1 << 20)
    };
    let folder = PolicyFolder::watch(deployment, policies.path(), options).unwrap();
    folder.settle();
    assert_eq!(&*deployment.policy("mine").unwrap().text, POLICY);
    std::fs::remove_file(policies.path().join("mine.toml")).unwrap();
    folder.settle();
    folder.settle();
    assert_eq!(&*deployment.policy("mine").unwrap().text, other);
}
