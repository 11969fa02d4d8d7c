//! The resources that a VM is made of, from the cluster down to its first NIC.

/// Where a key stands. The column `level` numbers them from 0, high to low; of
/// disks and NICs, only the first is a level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The cluster that the VM is placed in.
    Cluster,
    /// The billing entity of its customer.
    BillingEntity,
    /// The product offer of the customer.
    CustomerOffer,
    /// The customer that owns it.
    Customer,
    /// The product offer of its image.
    ImageOffer,
    /// The image that it was made from.
    Image,
    /// The product offer of its virtual data centre.
    VdcOffer,
    /// Its virtual data centre.
    Vdc,
    /// The product offer of the server.
    ServerOffer,
    /// The server, which is the VM itself.
    Server,
    /// The product offer of its first disk.
    DiskOffer,
    /// Its first disk.
    Disk,
    /// The product offer of the network of its first NIC.
    NetworkOffer,
    /// The network of its first NIC.
    Network,
    /// The product offer of its first NIC.
    NicOffer,
    /// Its first NIC.
    Nic,
}

impl Level {
    /// From high to low.
    pub const ALL: [Self; 16] = [
        Self::Cluster,
        Self::BillingEntity,
        Self::CustomerOffer,
        Self::Customer,
        Self::ImageOffer,
        Self::Image,
        Self::VdcOffer,
        Self::Vdc,
        Self::ServerOffer,
        Self::Server,
        Self::DiskOffer,
        Self::Disk,
        Self::NetworkOffer,
        Self::Network,
        Self::NicOffer,
        Self::Nic,
    ];

    /// The level of this number.
    pub fn of(number: i64) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    /// Its number in the column `level`.
    pub const fn number(self) -> i64 {
        self as i64
    }

    /// May end users own such a resource, and so set keys on it?
    pub(crate) fn is_end_users(self) -> bool {
        use Level::{Disk, Image, Network, Nic, Server};
        matches!(self, Image | Server | Disk | Network | Nic)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_numbered_from_high_to_low() {
        assert!(Level::ALL.is_sorted());
        for (number, level) in (0..).zip(Level::ALL) {
            assert_eq!((Level::of(number), level.number()), (Some(level), number));
        }
        assert_eq!((Level::of(-1), Level::of(16)), (None, None));
    }
}
