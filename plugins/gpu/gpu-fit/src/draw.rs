//! Many draws out of one.

use gpu_room::Want;

/// Numbers that follow from the request's draw, which has decided on the host
/// already: SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable
/// pseudorandom number generators", OOPSLA 2014), seeded with its bits.
pub struct Draws(u64);

impl Draws {
    pub fn new(draw: f64) -> Self {
        Self(draw.to_bits())
    }

    /// A number below `count`, which is above 0.
    fn below(&mut self, count: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        let scaled = (u128::from(z) * count as u128) >> 64;
        scaled as usize
    }

    /// Any of the GPUs with room; none if they are too few.
    pub fn choose(&mut self, want: &Want, free: &[i64]) -> Option<Vec<usize>> {
        let mut places: Vec<usize> = (0..free.len())
            .filter(|place| free[*place] >= want.share)
            .collect();
        let mut chosen = Vec::new();
        for _ in 0..want.count {
            if places.is_empty() {
                return None;
            }
            chosen.push(places.swap_remove(self.below(places.len())));
        }
        Some(chosen)
    }
}
