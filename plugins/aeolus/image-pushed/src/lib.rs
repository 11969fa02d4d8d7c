//! Image pushed: leaves out the hosts to which the image was not pushed.

#![forbid(unsafe_code)]

use placewright_sdk::prelude::*;

/// What is read of a host.
#[derive(Row)]
struct Host {
    #[column("attribute.image-pushed")]
    image_pushed: Option<bool>,
}

#[derive(Reason, Debug, PartialEq)]
enum Reason {
    /// does not have the image
    NotPushed,
}

struct ImagePushed;

impl RowWise for ImagePushed {
    type Request = ();
    type Host = Host;
    type Settings = ();
    type Reason = Reason;
    type Need = ();

    fn prepare((): &(), (): &()) -> Result<(), Problem> {
        Ok(())
    }
}

impl RowFilter for ImagePushed {
    fn keep((): &(), host: &Host) -> Verdict<Reason> {
        Verdict::keep_if(host.image_pushed != Some(false), Reason::NotPushed)
    }
}

placewright_sdk::export!(ImagePushed: filter);

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(image_pushed: Option<bool>) -> bool {
        ImagePushed::keep(&(), &Host { image_pushed }) == Verdict::Keep
    }

    #[test]
    fn only_hosts_that_are_known_to_lack_the_image_are_left_out() {
        assert!(kept(Some(true)));
        assert!(kept(None));
        assert!(!kept(Some(false)));
    }
}
