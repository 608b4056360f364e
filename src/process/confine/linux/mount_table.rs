//! The table of mounts that the kernel shows, as far as laying bounds needs it. Pure.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::mount::MountFlags;

/// File systems that may hang when their mount is looked at.
const REMOTE: [&str; 8] = ["autofs", "nfs", "nfs4", "cifs", "smb3", "smbfs", "ceph", "afs"];

/// One mount.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mount {
    /// Where it is mounted.
    pub(super) point: PathBuf,
    /// Its flags that a remount has to repeat, and whether it is read-only.
    pub(super) flags: MountFlags,
    /// Whether looking at it may hang.
    pub(super) is_remote: bool,
}

/// Reads `/proc/self/mountinfo`; lines that are not understood are left out.
pub(super) fn parse(table: &[u8]) -> Vec<Mount> {
    table.split(|&byte| byte == b'\n').filter_map(line).collect()
}

fn line(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|&byte| byte == b' ');
    let point = fields.nth(4)?;
    let options = std::str::from_utf8(fields.next()?).ok()?;
    let kind = fields.skip_while(|field| *field != b"-").nth(1)?;
    let kind = std::str::from_utf8(kind).ok()?;
    Some(Mount {
        point: PathBuf::from(OsString::from_vec(unescaped(point))),
        flags: options
            .split(',')
            .fold(MountFlags::empty(), |flags, option| flags | flag(option)),
        // Whoever runs at all does not hang on the root.
        is_remote: point != b"/" && REMOTE.contains(&kind),
    })
}

fn flag(option: &str) -> MountFlags {
    match option {
        "ro" => MountFlags::RDONLY,
        "nosuid" => MountFlags::NOSUID,
        "nodev" => MountFlags::NODEV,
        "noexec" => MountFlags::NOEXEC,
        _ => MountFlags::empty(),
    }
}

/// Puts back the bytes that stand as a backslash with three octal digits.
fn unescaped(text: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((&first, after)) = rest.split_first() {
        let octal = after.get(..3).filter(|_| first == b'\\').and_then(octal);
        bytes.push(octal.unwrap_or(first));
        rest = if octal.is_some() { after.get(3..).unwrap_or_default() } else { after };
    }
    bytes
}

fn octal(digits: &[u8]) -> Option<u8> {
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

/// Returns the mount that a path lies on.
pub(super) fn covering<'m>(mounts: &'m [Mount], path: &Path) -> Option<&'m Mount> {
    let above = mounts.iter().filter(|mount| path.starts_with(&mount.point));
    // Of several on one point the last is on top, which is what `max_by_key` returns.
    above.max_by_key(|mount| mount.point.components().count())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[u8] = b"27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n\
        28 27 0:25 / /a\\040b\\134c rw,nosuid,nodev,noatime shared:1 master:2 - tmpfs none ro\n\
        29 27 0:26 / /net ro,relatime - nfs4 host:/x rw\n\
        31 27 0:26 / / rw,relatime - nfs x rw\n\
        30 27 0:26 / /home/u/s rw,relatime - fuse.sshfs host:/x rw\n\
        nonsense\n";

    #[test]
    fn the_table_is_read_with_its_flags_and_escapes() {
        let mounts = parse(TABLE);
        let points: Vec<_> = mounts.iter().map(|mount| mount.point.to_str().unwrap()).collect();
        assert_eq!(points, ["/", "/a b\\c", "/net", "/", "/home/u/s"]);
        assert_eq!(mounts[1].flags, MountFlags::NOSUID | MountFlags::NODEV);
        assert_eq!(mounts[2].flags, MountFlags::RDONLY);
        let remote: Vec<_> = mounts.iter().map(|mount| mount.is_remote).collect();
        assert_eq!(remote, [false, false, true, false, false]);
    }

    #[test]
    fn a_path_lies_on_the_innermost_mount() {
        let mounts = parse(TABLE);
        let on = |path: &str| covering(&mounts, Path::new(path)).unwrap().point.clone();
        assert_eq!(on("/home/u/s/x"), Path::new("/home/u/s"));
        assert_eq!(on("/home/u/ss"), Path::new("/"));
    }
}
