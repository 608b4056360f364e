//! seccomp: the system calls that a confined process has no business with.
//!
//! A list of what is denied, not of what is allowed: files are Landlock's matter, and a shell may run any
//! program. Denied is what reaches other processes, the kernel itself, or sockets; and what would let a
//! process look at system calls in a way that this filter does not. Programs of another architecture are
//! killed at their first system call; those of x32 see a kernel without it.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter, sock_filter,
};

use crate::process::confine::{ConfineError, Sockets};

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// Never permitted, whatever the arguments.
const DENIED: &[i64] = &[
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_getfd,
    // Ways past a filter or past the path that Landlock looks at.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_open_by_handle_at,
    libc::SYS_userfaultfd,
    libc::SYS_perf_event_open,
    libc::SYS_bpf,
    libc::SYS_fanotify_init,
    // Name spaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    // Keys, which outlive the process and are shared with the user's others.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // The machine.
    libc::SYS_kexec_load,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_quotactl_fd,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_sethostname,
    libc::SYS_setdomainname,
    libc::SYS_syslog,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    libc::SYS_kexec_file_load,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_modify_ldt,
];

/// Of Linux 6.15, with one number on every architecture.
const OPEN_TREE_ATTR: i64 = 467;

/// What makes a socket useful; connected pairs need none of these.
const OF_SOCKETS: &[i64] = &[
    libc::SYS_socket,
    libc::SYS_connect,
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
];

/// Shared memory, semaphores and queues by number, which all of the user's processes share.
const BY_NUMBER: &[i64] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// Whose shared memory and queues by number a process sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Queues {
    /// Those of its own name space.
    Own,
    /// None, since they would be the user's.
    None,
}

/// The flags of `clone` that make name spaces.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// Requests that put characters into a terminal as if they had been typed there.
const TYPING: [u64; 2] = [0x5412 /* TIOCSTI */, 0x541c /* TIOCLINUX */];

/// `personality` that asks and changes nothing.
const ASK_PERSONALITY: u64 = 0xffff_ffff;

/// Puts the filters on; every one holds from then on, and the strictest answer counts.
pub(super) fn install(sockets: Sockets, queues: Queues) -> Result<(), ConfineError> {
    for program in programs(sockets, queues)? {
        apply_filter(&program).map_err(|error| ConfineError::Seccomp(Box::new(error)))?;
    }
    Ok(())
}

fn programs(sockets: Sockets, queues: Queues) -> Result<Vec<BpfProgram>, ConfineError> {
    let mut programs = vec![
        program(denied(queues)?, libc::EPERM)?,
        program(of_sockets(sockets)?, libc::EACCES)?,
        // Its flags lie in memory, where no filter can look; libraries then do with `clone`.
        program([(libc::SYS_clone3, Vec::new())].into(), libc::ENOSYS)?,
    ];
    if cfg!(target_arch = "x86_64") {
        programs.push(without_x32());
    }
    Ok(programs)
}

fn program(rules: Rules, errno: libc::c_int) -> Result<BpfProgram, ConfineError> {
    let Ok(arch) = TargetArch::try_from(std::env::consts::ARCH) else {
        return Err(ConfineError::OtherSystem);
    };
    let deny = SeccompAction::Errno(errno.unsigned_abs());
    SeccompFilter::new(rules, SeccompAction::Allow, deny, arch)
        .and_then(TryInto::try_into)
        .map_err(wrong)
}

fn wrong(error: seccompiler::BackendError) -> ConfineError {
    ConfineError::Seccomp(Box::new(error))
}

fn denied(queues: Queues) -> Result<Rules, ConfineError> {
    let by_number = match queues {
        Queues::Own => &[],
        Queues::None => BY_NUMBER,
    };
    let always = DENIED.iter().chain(by_number);
    let mut rules: Rules = always.map(|&number| (number, Vec::new())).collect();
    let namespaces = NAMESPACES.iter().map(|&flag| {
        let flag = u64::from(flag.cast_unsigned());
        rule(&[int(0, SeccompCmpOp::MaskedEq(flag), flag)?])
    });
    rules.insert(libc::SYS_clone, namespaces.collect::<Result<_, _>>()?);
    let typing = TYPING.iter().map(|&request| rule(&[int(1, SeccompCmpOp::Eq, request)?]));
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);
    let other = [int(0, SeccompCmpOp::Ne, 0)?, int(0, SeccompCmpOp::Ne, ASK_PERSONALITY)?];
    rules.insert(libc::SYS_personality, vec![rule(&other)?]);
    // New limits for a process that is not the caller.
    let limits = [int(0, SeccompCmpOp::Ne, 0)?, long(2, SeccompCmpOp::Ne, 0)?];
    rules.insert(libc::SYS_prlimit64, vec![rule(&limits)?]);
    Ok(rules)
}

fn of_sockets(sockets: Sockets) -> Result<Rules, ConfineError> {
    let mut rules: Rules = match sockets {
        Sockets::Pairs => OF_SOCKETS.iter().map(|&number| (number, Vec::new())).collect(),
        Sockets::Internet => [(libc::SYS_socket, beyond_internet()?)].into(),
    };
    // A pair of these can be led away from its partner to any socket that has a name.
    let loose = [libc::SOCK_DGRAM, libc::SOCK_RAW].map(|kind| {
        let kind = u64::from(kind.cast_unsigned());
        rule(&[int(1, SeccompCmpOp::MaskedEq(0xf), kind)?])
    });
    rules.insert(libc::SYS_socketpair, loose.into_iter().collect::<Result<_, _>>()?);
    Ok(rules)
}

/// Returns the rules for sockets that are neither of the internet protocols nor ask about its routes.
fn beyond_internet() -> Result<Vec<SeccompRule>, ConfineError> {
    let family = |family: libc::c_int| u64::from(family.cast_unsigned());
    let [v4, v6, netlink] = [libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK].map(family);
    let other = [v4, v6, netlink].map(|family| int(0, SeccompCmpOp::Ne, family));
    let other = other.into_iter().collect::<Result<Vec<_>, _>>()?;
    let routes = family(libc::NETLINK_ROUTE);
    let unrouted = [int(0, SeccompCmpOp::Eq, netlink)?, int(2, SeccompCmpOp::Ne, routes)?];
    Ok(vec![rule(&other)?, rule(&unrouted)?])
}

/// Returns the filter under which the numbers of x32 name nothing.
fn without_x32() -> BpfProgram {
    const X32_BIT: u32 = 0x4000_0000;
    let load_number = (libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0);
    let is_x32 = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
    let answer = libc::BPF_RET | libc::BPF_K;
    let nothing = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.unsigned_abs();
    vec![
        instruction(load_number.0, 0, 0, load_number.1),
        instruction(is_x32, 0, 1, X32_BIT),
        instruction(answer, 0, 0, nothing),
        instruction(answer, 0, 0, libc::SECCOMP_RET_ALLOW),
    ]
}

fn instruction(code: u32, if_true: u8, if_false: u8, operand: u32) -> sock_filter {
    let code = u16::try_from(code).unwrap_or_default();
    sock_filter { code, jt: if_true, jf: if_false, k: operand }
}

fn rule(conditions: &[SeccompCondition]) -> Result<SeccompRule, ConfineError> {
    SeccompRule::new(conditions.to_vec()).map_err(wrong)
}

/// Compares an argument of 32 bits; the kernel looks at no more of it.
fn int(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, ConfineError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value).map_err(wrong)
}

fn long(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, ConfineError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Qword, operator, value).map_err(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_compile_and_are_short_enough_for_the_kernel() {
        for sockets in [Sockets::Pairs, Sockets::Internet] {
            for program in programs(sockets, Queues::None).unwrap() {
                assert!(program.len() < 1000, "{}", program.len());
            }
        }
    }

    #[test]
    fn no_number_is_denied_twice() {
        let rules = denied(Queues::None).unwrap();
        assert_eq!(rules.len(), DENIED.len() + BY_NUMBER.len() + 4);
    }
}
