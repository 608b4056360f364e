//! What killick, its supervisors and their stages say to one another over a Unix socket.
//!
//! A message is its length in four bytes, then JSON; open files go with the length. A side that goes away
//! ends the stream, and that is a message too. Nothing here decides what is said.

use std::ffi::{OsStr, OsString};
use std::io::{self, IoSlice, IoSliceMut, Read as _, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::confine::{Confinement, Enforced};

/// The most open files that go with a message.
const MOST_FILES: usize = 3;

/// The most bytes of a message; a command has at most 128 KiB, six times that in JSON.
const MOST_BYTES: usize = 16 << 20;

/// What a supervisor is told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Order {
    /// Start this; standard input, output and error go with it.
    Start(Box<Program>),
    /// Say how many processes run.
    Count,
    /// End everything that was started.
    End,
}

/// A program to start.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Program {
    /// Its name, looked up on the path, or its path.
    pub(super) name: String,
    /// Where it was found, if it was looked for.
    pub(super) found: Option<String>,
    /// What follows the name.
    pub(super) arguments: Vec<String>,
    /// The folder that it begins in.
    pub(super) directory: Raw,
    /// Its whole environment. killick's own processes run with none: a variable of the dynamic linker would
    /// have them run somebody else's code before any bounds are put on.
    pub(super) environment: Vec<(Raw, Raw)>,
    /// How many files it may hold open, where that is not what killick may.
    pub(super) max_files: Option<u64>,
    /// What it is held to; nothing where it is the user's own.
    pub(super) confinement: Option<Confinement>,
}

/// A word of the system: text where it is UTF-8, else its bytes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub(super) enum Raw {
    /// UTF-8.
    Text(String),
    /// Anything else.
    Bytes(Vec<u8>),
}

impl From<&OsStr> for Raw {
    fn from(word: &OsStr) -> Self {
        match word.to_str() {
            Some(text) => Self::Text(text.to_owned()),
            None => Self::Bytes(word.as_bytes().to_vec()),
        }
    }
}

impl From<&Raw> for OsString {
    fn from(word: &Raw) -> Self {
        match word {
            Raw::Text(text) => text.into(),
            Raw::Bytes(bytes) => Self::from_vec(bytes.clone()),
        }
    }
}

/// What a stage tells before it becomes the program; its silence then says that it has.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Staged {
    /// It is confined.
    Confined(Enforced),
    /// It cannot be confined, or cannot become the program.
    Failed(Refused),
}

/// What a supervisor tells.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Report {
    /// The program runs, held to this.
    Started(Option<Enforced>),
    /// The program cannot be started.
    Failed(Refused),
    /// The program has ended, and so many processes that it started have not.
    Exited(Exit, usize),
    /// So many processes run.
    Counted(usize),
    /// Nothing that was started is left.
    Gone,
}

/// Why a program was not started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// What stands in the way.
    pub cause: Cause,
    /// What was seen, in words.
    pub words: String,
}

/// What stands in the way of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// There is no such program.
    Missing,
    /// It cannot be held to its bounds.
    Unconfined,
    /// The system refused.
    System,
}

impl Refused {
    /// Returns what the system said about starting a program.
    pub(super) fn by_system(error: &io::Error) -> Self {
        let cause = match error.kind() {
            io::ErrorKind::NotFound => Cause::Missing,
            _ => Cause::System,
        };
        Self { cause, words: error.to_string() }
    }
}

/// How a program ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// Sends a message, and open files with it.
pub(super) fn send<T: Serialize>(
    mut socket: &UnixStream,
    message: &T,
    files: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let body = serde_json::to_vec(message)?;
    let len = u32::try_from(body.len()).map_err(io::Error::other)?;
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    if !files.is_empty() && !control.push(SendAncillaryMessage::ScmRights(files)) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let head = len.to_le_bytes();
    let sent = rustix::net::sendmsg(
        socket.as_fd(),
        &[IoSlice::new(&head)],
        &mut control,
        SendFlags::NOSIGNAL,
    )?;
    socket.write_all(head.get(sent..).unwrap_or_default())?;
    socket.write_all(&body)
}

/// Waits for a message and the files that go with it; nothing once the other side has gone.
pub(super) fn receive<T: DeserializeOwned>(
    mut socket: &UnixStream,
) -> io::Result<Option<(T, Vec<OwnedFd>)>> {
    let mut head = [0; 4];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let received = rustix::io::retry_on_intr(|| {
        rustix::net::recvmsg(
            socket.as_fd(),
            &mut [IoSliceMut::new(&mut head)],
            &mut control,
            RecvFlags::CMSG_CLOEXEC,
        )
    })?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let mut files = Vec::new();
    for message in control.drain() {
        if let RecvAncillaryMessage::ScmRights(sent) = message {
            files.extend(sent);
        }
    }
    if let Some(rest) = head.get_mut(received.bytes..) {
        socket.read_exact(rest)?;
    }
    let len = usize::try_from(u32::from_le_bytes(head)).unwrap_or(usize::MAX);
    if len > MOST_BYTES {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let mut body = vec![0; len];
    socket.read_exact(&mut body)?;
    Ok(Some((serde_json::from_slice(&body)?, files)))
}

/// Returns standard input as the socket that killick gave to a process of its own.
pub(super) fn own_socket() -> io::Result<UnixStream> {
    Ok(UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_whole_in_order_with_their_files() {
        let (near, far) = UnixStream::pair().unwrap();
        let long = Program {
            name: "sh".to_owned(),
            found: None,
            arguments: vec!["é".repeat(100_000)],
            directory: OsStr::from_bytes(b"/a\xffb").into(),
            environment: vec![(Raw::Text("A".to_owned()), Raw::Bytes(vec![255]))],
            max_files: Some(300),
            confinement: None,
        };
        let order = Order::Start(Box::new(long.clone()));
        let sender = std::thread::spawn(move || {
            let (read, _write) = rustix::pipe::pipe().unwrap();
            send(&near, &order, &[read.as_fd()]).unwrap();
            send(&near, &Order::End, &[]).unwrap();
        });
        let (first, files): (Order, _) = receive(&far).unwrap().unwrap();
        assert_eq!((first, files.len()), (Order::Start(Box::new(long)), 1));
        let (second, files): (Order, _) = receive(&far).unwrap().unwrap();
        assert_eq!((second, files.len()), (Order::End, 0));
        assert!(receive::<Order>(&far).unwrap().is_none());
        sender.join().unwrap();
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        for bytes in [&[1][..], &[255, 255, 255, 255], &[2, 0, 0, 0, b'{', b'x']] {
            let (near, far) = UnixStream::pair().unwrap();
            (&near).write_all(bytes).unwrap();
            drop(near);
            assert!(receive::<Order>(&far).is_err(), "{bytes:?}");
        }
    }
}
