//! Draws for requests that bring none: a function of seed and decision number.

/// The `number`th number of a seed, counted from 1, by SplitMix64 (G. L. Steele, D. Lea,
/// C. H. Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014). Written
/// out because recorded decisions and results must come out again whatever a library
/// does.
pub fn split_mix(seed: u64, number: u64) -> u64 {
    let mut z = seed.wrapping_add(number.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The draw of the decision of that number (from 1) where a request brings none: 0 or more
/// and less than 1, the upper 53 bits.
pub fn derive(seed: u64, number: u64) -> f64 {
    (split_mix(seed, number) >> 11) as f64 / (1u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_evenly_and_repeat() {
        let draws: Vec<f64> = (1..=10_000).map(|number| derive(7, number)).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        for tenth in 0..10 {
            let from = f64::from(tenth) / 10.0;
            let count = draws
                .iter()
                .filter(|draw| (from..from + 0.1).contains(*draw))
                .count();
            assert!((900..1100).contains(&count), "{count} in tenth {tenth}");
        }
        assert_eq!(derive(7, 3).to_bits(), draws[2].to_bits());
        assert_ne!(derive(8, 3).to_bits(), draws[2].to_bits());
    }
}
