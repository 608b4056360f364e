//! The network, and sockets that lead to the user's other programs.

use super::world::Free::{Says, Untried};
use super::world::{Hold, Scope, World, holds, ways};

ways! {
    // The filter of system calls: no socket is made at all.
    no_tcp_connection_is_made: Src, "bash -c 'exec 3<>/dev/tcp/127.0.0.1/9'", Says("refused"),
        ["denied"];
    no_datagram_is_sent: Src, "perl -e 'use Socket; print socket(S, AF_INET, SOCK_DGRAM, 0) ? \"made\" : \"socket: $!\"'",
        Says("made"), ["denied"];
    no_connection_of_version_6_is_made: Src,
        "perl -e 'use Socket; print socket(S, AF_INET6, SOCK_STREAM, 0) ? \"made\" : \"socket: $!\"'", Untried,
        ["denied"];
    no_socket_with_a_path_is_reached: Src,
        "perl -e 'use Socket; print socket(S, AF_UNIX, SOCK_STREAM, 0) ? \"made\" : \"socket: $!\"'",
        Says("made"), ["denied"];
    no_socket_without_a_path_is_reached: Src,
        "perl -e 'use Socket; print socket(S, AF_UNIX, SOCK_DGRAM, 0) ? \"made\" : \"socket: $!\"'",
        Says("made"), ["denied"];
    the_kernel_is_not_asked_over_netlink: Src,
        "perl -e 'print socket(S, 16, 3, 0) ? \"made\" : \"socket: $!\"'", Says("made"), ["denied"];
    no_packet_is_seen: Src, "perl -e 'print socket(S, 17, 3, 0) ? \"made\" : \"socket: $!\"'", Untried,
        ["denied"];
    no_machine_around_is_reached: Src, "perl -e 'print socket(S, 40, 1, 0) ? \"made\" : \"socket: $!\"'",
        Untried, ["denied"];
    // A pair of datagram sockets could be led away from its partner.
    no_loose_pair_is_made: Src,
        "perl -e 'use Socket; print socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0) ? \"made\" : \"pair: $!\"'",
        Says("made"), ["denied"];
    no_pair_is_led_away: Src, "perl -e 'use Socket; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die; \
        print connect(A, sockaddr_un(\"/run/x\")) ? \"led away\" : \"connect: $!\"'", Untried, ["denied"];
}

const MAKE: &str = "perl -e 'use Socket; for (@ARGV) { my ($f, $t, $p) = split /,/; \
    print \"$_ \", socket(S, $f, $t, $p) ? \"made\" : \"$!\", \"\\n\" }' ";

#[test]
fn a_connected_pair_works() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    let world = World::new(Scope::Src);
    let run = world.held(
        Hold::Mounts,
        "perl -e 'use Socket; socketpair(A, B, AF_UNIX, SOCK_STREAM, 0) or die \"$!\"; syswrite(A, \"over\"); \
         sysread(B, my $got, 4); print $got'",
    );
    assert_eq!(run.out, "over", "{run:?}");
}

#[test]
fn with_the_network_there_are_internet_sockets_and_no_unix_ones() {
    if !holds().contains(&Hold::Mounts) {
        return;
    }
    let world = World::new(Scope::Src).with("process/network");
    // IPv4, a Unix socket, routes, another netlink, packets.
    let run = world
        .held(Hold::Mounts, &format!("{MAKE} 2,1,0 2,2,0 1,1,0 1,2,0 16,3,0 16,3,9 17,3,0"));
    let denied: Vec<_> = run.out.lines().filter(|line| !line.ends_with("made")).collect();
    let made: Vec<_> = run.out.lines().filter(|line| line.ends_with("made")).collect();
    assert_eq!(made, ["2,1,0 made", "2,2,0 made", "16,3,0 made"], "{run:?}");
    assert_eq!(denied.len(), 4, "{run:?}");
    let tcp = world.held(Hold::Mounts, "bash -c 'exec 3<>/dev/tcp/127.0.0.1/9'");
    assert!(tcp.err.contains("refused"), "{tcp:?}");
}
