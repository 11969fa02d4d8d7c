use super::*;

fn need(gpus: Option<i64>, share: Option<i64>, gib: Option<i64>, keep_free: bool) -> Need {
    let vm = Vm {
        gpus,
        share,
        memory: gib.map(Bytes::gib),
    };
    GpuMemory::prepare(&vm, &Settings { keep_free }).expect("nothing is refused")
}

fn host(gib: Option<i64>, free: &[i64]) -> Host {
    Host {
        memory: gib.map(Bytes::gib),
        gpus: free.iter().map(|free| Gpu { free: *free }).collect(),
    }
}

/// In GiB.
fn cost(need: &Need, host: &Host) -> f64 {
    GpuMemory::cost(need, host) / Bytes::gib(1).0 as f64
}

#[test]
fn a_share_of_a_gpu_has_the_same_share_of_its_memory() {
    let half = need(Some(1), Some(500), Some(20), true);
    assert_eq!(GpuMemory::keep(&half, &host(Some(40), &[])), Verdict::Keep);
    assert_eq!(
        GpuMemory::keep(&half, &host(Some(39), &[])),
        Verdict::Remove(Reason::TooLittleMemory)
    );
    assert_eq!(
        GpuMemory::keep(&half, &host(None, &[])),
        Verdict::Remove(Reason::UnknownMemory)
    );
}

#[test]
fn who_says_nothing_of_memory_takes_any_gpu() {
    let any = need(Some(1), None, None, true);
    assert_eq!(GpuMemory::keep(&any, &host(None, &[])), Verdict::Keep);
    assert_eq!(cost(&any, &host(Some(80), &[1000])), 0.0);
}

#[test]
fn what_is_given_and_not_needed_is_wasted_on_every_gpu() {
    let two = need(Some(2), None, Some(10), true);
    assert_eq!(cost(&two, &host(Some(16), &[])), 12.0);
    assert_eq!(cost(&two, &host(Some(8), &[])), 0.0);
}

#[test]
fn vms_without_gpus_keep_off_free_ones_unless_told_otherwise() {
    let gpus = host(Some(16), &[1000, 500, -200]);
    assert_eq!(cost(&need(None, None, None, true), &gpus), 24.0);
    assert_eq!(cost(&need(Some(0), None, None, false), &gpus), 0.0);
    assert_eq!(cost(&need(None, None, None, true), &host(None, &[])), 0.0);
}
