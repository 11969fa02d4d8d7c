//! What a process that compiles gives up before it reads the first byte of a unit.
//!
//! A flaw in the compiler would be one of whoever runs the server. So the process that compiles has
//! no environment, may open no file, begins no connection and runs no other program: it reads its
//! standard input, computes, and writes its standard output.

use std::collections::BTreeMap;
use std::{io, process};

use landlock::{ABI, Access as _, AccessFs, AccessNet, Ruleset, RulesetAttr as _, Scope};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter_all_threads,
};

/// All kinds of access that this version of Landlock knows are taken away. An older kernel takes
/// away those that it knows.
const KNOWN: ABI = ABI::V6;

/// The system calls that remain: for threads, memory, time, and files that are open already. All
/// others fail with EPERM, as if the user had no right to them.
const ALLOWED: &[i64] = &[
    libc::SYS_brk,
    libc::SYS_clock_getres,
    libc::SYS_clock_gettime,
    libc::SYS_clock_nanosleep,
    libc::SYS_clone,
    libc::SYS_clone3,
    libc::SYS_close,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_fcntl,
    libc::SYS_fstat,
    libc::SYS_futex,
    libc::SYS_getcpu,
    libc::SYS_getpid,
    libc::SYS_getrandom,
    libc::SYS_getrusage,
    libc::SYS_gettid,
    libc::SYS_lseek,
    libc::SYS_madvise,
    libc::SYS_membarrier,
    libc::SYS_mmap,
    libc::SYS_mprotect,
    libc::SYS_mremap,
    libc::SYS_munmap,
    libc::SYS_nanosleep,
    libc::SYS_ppoll,
    libc::SYS_prctl,
    libc::SYS_read,
    libc::SYS_readv,
    libc::SYS_restart_syscall,
    libc::SYS_rseq,
    libc::SYS_rt_sigaction,
    libc::SYS_rt_sigprocmask,
    libc::SYS_rt_sigreturn,
    libc::SYS_sched_getaffinity,
    libc::SYS_sched_yield,
    libc::SYS_set_robust_list,
    libc::SYS_sigaltstack,
    libc::SYS_write,
    libc::SYS_writev,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_poll,
];

/// Give up files, the network, other programs and other processes, as far as the system knows how to.
///
/// # Errors
/// If the kernel refuses one of the two; the other one is in force then, unless it was refused, too.
pub(super) fn give_up() -> io::Result<()> {
    // Where one of them cannot be had, the other one holds all the same.
    let files = files_and_network();
    calls().and(files)
}

/// Landlock: no path can be opened and no connection begun, whatever call is used.
fn files_and_network() -> io::Result<()> {
    let ruleset = Ruleset::default()
        .handle_access(AccessFs::from_all(KNOWN))
        .and_then(|it| it.handle_access(AccessNet::from_all(KNOWN)))
        .and_then(|it| it.scope(Scope::from_all(KNOWN)))
        .and_then(Ruleset::create)
        .map_err(io::Error::other)?;
    ruleset.restrict_self().map_err(io::Error::other)?;
    Ok(())
}

/// Seccomp: of the calls of the system, those that computing needs.
fn calls() -> io::Result<()> {
    let Ok(architecture) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Ok(());
    };
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        ALLOWED.iter().map(|call| (*call, Vec::new())).collect();
    // A process that aborts does so by a signal to itself.
    let (own, dword) = (u64::from(process::id()), SeccompCmpArgLen::Dword);
    let to_itself = SeccompCondition::new(0, dword, SeccompCmpOp::Eq, own)
        .and_then(|it| SeccompRule::new(vec![it]))
        .map_err(io::Error::other)?;
    rules.insert(libc::SYS_tgkill, vec![to_itself]);
    let filter = SeccompFilter::new(
        rules,
        SeccompAction::Errno(libc::EPERM.unsigned_abs()),
        SeccompAction::Allow,
        architecture,
    );
    let program: BpfProgram = filter
        .and_then(TryInto::try_into)
        .map_err(io::Error::other)?;
    apply_filter_all_threads(&program).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::net::{TcpListener, TcpStream, UdpSocket};
    use std::os::unix::net::UnixStream;
    use std::process::{Command, exit};
    use std::thread;

    use super::*;

    /// Set in the process that is confined; the folder that it tries to write to.
    const INSIDE: &str = "PLACEWRIGHT_CONFINED";

    /// What it tries, and whether that went well.
    fn tried(folder: &str) -> Vec<(&'static str, bool)> {
        vec![
            ("read a file", File::open("/etc/passwd").is_ok()),
            (
                "write a file",
                fs::write(format!("{folder}/new"), "x").is_ok(),
            ),
            (
                "remove a file",
                fs::remove_file(format!("{folder}/old")).is_ok(),
            ),
            ("list a folder", fs::read_dir("/").is_ok()),
            ("read its memory map", fs::read("/proc/self/maps").is_ok()),
            ("listen", TcpListener::bind("127.0.0.1:0").is_ok()),
            (
                "connect",
                TcpStream::connect("127.0.0.1:9").map_or_else(
                    |error| error.kind() == io::ErrorKind::ConnectionRefused,
                    |_| true,
                ),
            ),
            ("send datagrams", UdpSocket::bind("127.0.0.1:0").is_ok()),
            ("make a pair of sockets", UnixStream::pair().is_ok()),
            ("run a program", Command::new("/bin/true").status().is_ok()),
            (
                "run itself",
                Command::new("/proc/self/exe")
                    .arg("--help")
                    .status()
                    .is_ok(),
            ),
        ]
    }

    #[test]
    fn a_confined_process_computes_and_does_nothing_else() {
        if let Ok(folder) = std::env::var(INSIDE) {
            let before: Vec<bool> = tried(&folder).into_iter().map(|(_, went)| went).collect();
            assert!(before.iter().all(|went| *went), "{before:?}");
            fs::write(format!("{folder}/old"), "x").unwrap();
            fs::remove_file(format!("{folder}/new")).unwrap();
            give_up().unwrap();
            let went = tried(&folder).into_iter().filter(|(_, went)| *went);
            let went: Vec<&str> = went.map(|(what, _)| what).collect();
            let sums = (0..4_u64).map(|it| {
                let sum = move || (0..1_000_000).map(|n| n ^ it).sum::<u64>();
                thread::spawn(sum)
            });
            let sums: Vec<_> = sums.collect();
            let computed = sums.into_iter().all(|it| it.join().is_ok());
            println!("computed: {computed}; it could: {went:?}");
            exit(0);
        }
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("old"), "x").unwrap();
        let name = thread::current().name().unwrap().to_owned();
        let inside = Command::new(std::env::current_exe().unwrap())
            .args([&name, "--exact", "--nocapture"])
            .env(INSIDE, folder.path())
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&inside.stdout);
        let seen = format!("{told}{}", String::from_utf8_lossy(&inside.stderr));
        assert!(told.contains("computed: true; it could: []"), "{seen}");
        assert!(folder.path().join("old").exists());
    }
}
