//! To which CPUs vCPUs are pinned, as oVirt writes it.

/// More CPUs than this has no host: a range beyond is a mistake, and would fill memory.
const MOST_CPUS: i64 = 1 << 16;

/// Each vCPU of `vcpu#cpus_vcpu#cpus...` with each of its CPUs. CPUs are numbers and
/// ranges; a `^` takes one out again: `1#3-5,^4_2#0`.
///
/// # Errors
/// If the text is none of these.
pub(super) fn read(text: &str) -> Result<Vec<(i64, i64)>, String> {
    let pins = text.split('_').map(|pin| {
        let (vcpu, cpus) = pin.split_once('#')?;
        let vcpu: i64 = vcpu.parse().ok()?;
        Some(cpus_of(cpus)?.into_iter().map(move |cpu| (vcpu, cpu)))
    });
    let pins: Option<Vec<_>> = pins.collect();
    let pins = pins.map(|pins| pins.into_iter().flatten().collect());
    pins.ok_or_else(|| format!("\"{text}\" does not say how vCPUs are pinned"))
}

fn cpus_of(text: &str) -> Option<Vec<i64>> {
    let (mut cpus, mut without) = (Vec::new(), Vec::new());
    for part in text.split(',') {
        if let Some(cpu) = part.strip_prefix('^') {
            without.push(cpu.parse().ok()?);
        } else if let Some((first, last)) = part.split_once('-') {
            let (first, last) = (first.parse::<i64>().ok()?, last.parse().ok()?);
            if first < 0 || !(first..MOST_CPUS).contains(&last) {
                return None;
            }
            cpus.extend(first..=last);
        } else {
            cpus.push(part.parse().ok()?);
        }
    }
    cpus.retain(|cpu| !without.contains(cpu));
    Some(cpus)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_cpu_of_a_vcpu_is_a_pin() {
        assert_eq!(read("1#3-5,^4_2#0"), Ok(vec![(1, 3), (1, 5), (2, 0)]));
        assert!(read("1-3").is_err());
        assert!(read("1#x").is_err());
        assert!(read("1#5-3").is_err());
        assert!(read("1#0-9999999999999").is_err());
        assert!(read("").is_err());
    }
}
