//! Components that were built before, by this test run or an earlier one, from the same sources.
//! Building one takes seconds, and test binaries run one after the other.

use std::fs;

use crate::sources::Record;
use crate::units::build_folder;

/// The component `name` of sources with that digest: as it was built before, or as `build` makes
/// it now; none if that gives none.
///
/// # Panics
/// If the folder of components cannot be written.
pub fn component(
    name: &str,
    sources: String,
    build: impl FnOnce() -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let file = build_folder().join("components").join(name);
    let file = file.with_added_extension("wasm");
    let beside = file.with_added_extension("sources");
    let record = fs::read_to_string(&beside).unwrap_or_default();
    if let (Some(record), Ok(bytes)) = (Record::parse(&record), fs::read(&file))
        && record == Record::of(sources.clone(), &bytes)
    {
        return Some(bytes);
    }
    let bytes = build()?;
    let record = Record::of(sources, &bytes).to_string();
    fs::create_dir_all(file.parent().unwrap_or(&file)).expect("the folder can be made");
    // A reader in between finds digests of other bytes, and builds by itself.
    fs::write(&file, &bytes).expect("the component can be written");
    fs::write(&beside, record).expect("the digests can be written");
    Some(bytes)
}
