//! Lines between the streams and the protocol: a line that is no JSON is answered, never swallowed.
//!
//! A client that sends what cannot be parsed (a lone surrogate, bytes that are no UTF-8, nesting without
//! end) would otherwise wait for ever, because nobody knows which request it was. The request's number is
//! fished out of the line where that can be done. Whole lines are written, so that answers never mix.

use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader,
    DuplexStream, duplex,
};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::task::JoinHandle;

/// The longest message that is taken.
pub(super) const MAX_LINE_BYTES: usize = 256 << 20;

/// How much waits between the streams and the protocol.
const PIPE_BYTES: usize = 64 << 10;

/// How many answers wait to be written.
const WAITING_LINES: usize = 64;

/// How long the last answers may take to be written.
const LAST_WORDS: Duration = Duration::from_secs(10);

/// The tasks that carry lines; they end with the streams.
#[derive(Debug)]
pub(super) struct Framing {
    reader: JoinHandle<()>,
    writer: JoinHandle<()>,
}

impl Framing {
    /// Puts itself between the streams and the returned pair, which carries parsable lines only.
    pub(super) fn start(
        input: impl AsyncRead + Send + Unpin + 'static,
        output: impl AsyncWrite + Send + Unpin + 'static,
    ) -> (Self, DuplexStream, DuplexStream) {
        let (to_service, service_in) = duplex(PIPE_BYTES);
        let (service_out, from_service) = duplex(PIPE_BYTES);
        let (lines, waiting) = channel(WAITING_LINES);
        let reader = tokio::spawn(read(BufReader::new(input), to_service, lines.clone()));
        // Ends when the protocol closes its side.
        drop(tokio::spawn(collect(BufReader::new(from_service), lines)));
        let writer = tokio::spawn(write(output, waiting));
        (Self { reader, writer }, service_in, service_out)
    }

    /// Waits until every answer has been written.
    pub(super) async fn finish(self) {
        self.reader.abort();
        let abort = self.writer.abort_handle();
        if tokio::time::timeout(LAST_WORDS, self.writer).await.is_err() {
            abort.abort();
        }
    }
}

/// Passes lines on to the protocol, and answers those that it could not read.
async fn read(
    mut input: impl AsyncBufRead + Unpin,
    mut service: DuplexStream,
    answers: Sender<Vec<u8>>,
) {
    let mut line = Vec::new();
    while let Some(end) = next_line(&mut input, &mut line).await {
        let answer = match end {
            LineEnd::Whole => refusal(&line),
            LineEnd::TooLong => Some(answer(&line, "the message is over 256 MiB")),
        };
        let passed = match answer {
            None => service.write_all(&line).await.is_ok(),
            Some(answer) => answers.send(answer).await.is_ok(),
        };
        if !passed {
            return;
        }
    }
}

/// How a line ended.
enum LineEnd {
    /// With its newline, or with the stream.
    Whole,
    /// It was longer than is taken; its start was kept.
    TooLong,
}

/// Reads the next line with its newline; nothing at the end of the stream.
async fn next_line(
    input: &mut (impl AsyncBufRead + Unpin),
    line: &mut Vec<u8>,
) -> Option<LineEnd> {
    line.clear();
    let mut end = LineEnd::Whole;
    loop {
        let available = input.fill_buf().await.ok()?;
        if available.is_empty() {
            return (!line.is_empty()).then_some(end);
        }
        let newline = memchr::memchr(b'\n', available);
        let taken = newline.map_or(available.len(), |at| at + 1);
        if line.len() + taken <= MAX_LINE_BYTES {
            line.extend_from_slice(available.get(..taken).unwrap_or_default());
        } else {
            end = LineEnd::TooLong;
        }
        input.consume(taken);
        if newline.is_some() {
            return Some(end);
        }
    }
}

/// Returns the answer to a line that is no JSON; nothing for one that is, or that is blank.
fn refusal(line: &[u8]) -> Option<Vec<u8>> {
    if line.iter().all(u8::is_ascii_whitespace) {
        return None;
    }
    match serde_json::from_slice::<Value>(line) {
        Ok(_) => None,
        Err(error) => Some(answer(line, &format!("the message is no JSON: {error}"))),
    }
}

/// The request's number, whatever the rest of the line holds.
#[derive(Debug, Deserialize)]
struct Head {
    id: Option<Value>,
}

fn answer(line: &[u8], message: &str) -> Vec<u8> {
    let id = serde_json::from_slice::<Head>(line).ok().and_then(|head| head.id);
    let error = json!({"code": -32700, "message": message});
    let mut answer =
        json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string().into_bytes();
    answer.push(b'\n');
    answer
}

/// Takes the protocol's answers, a line at a time.
async fn collect(mut service: impl AsyncBufRead + Unpin, answers: Sender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        match service.read_until(b'\n', &mut line).await {
            Ok(n) if n > 0 && answers.send(line).await.is_ok() => {}
            Ok(_) | Err(_) => return,
        }
    }
}

async fn write(mut output: impl AsyncWrite + Unpin, mut answers: Receiver<Vec<u8>>) {
    while let Some(answer) = answers.recv().await {
        let written = output.write_all(&answer).await;
        if written.is_err() || output.flush().await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(line: &[u8]) -> Option<Value> {
        refusal(line).map(|answer| serde_json::from_slice(&answer).unwrap())
    }

    #[test]
    fn a_line_that_cannot_be_read_is_answered_by_its_number() {
        assert_eq!(refused(b"{\"id\": 1}\n"), None);
        assert_eq!(refused(b" \n"), None);
        let surrogate = refused(br#"{"id": 7, "params": {"x": "\ud800"}}"#).unwrap();
        assert_eq!(
            (&surrogate["id"], &surrogate["error"]["code"]),
            (&json!(7), &json!(-32700))
        );
        let bytes = refused(b"{\"id\": \"a\", \"x\": \"\xFF\"}").unwrap();
        assert_eq!(bytes["id"], "a");
        let deep =
            [b"{\"id\": 9, \"x\": ".as_slice(), &b"[".repeat(3000), &b"]".repeat(3000), b"}"];
        assert_eq!(refused(&deep.concat()).unwrap()["id"], 9);
        assert_eq!(refused(b"hello\n").unwrap()["id"], Value::Null);
    }

    #[tokio::test]
    async fn what_can_be_read_is_passed_on_as_it_is() {
        let input: &[u8] = b"{\"id\":1}\nnonsense\n{\"id\":2}";
        let (output, mut seen) = duplex(1 << 16);
        let (framing, mut service_in, service_out) = Framing::start(input, output);
        let mut passed = Vec::new();
        tokio::io::AsyncReadExt::read_to_end(&mut service_in, &mut passed).await.unwrap();
        assert_eq!(passed, b"{\"id\":1}\n{\"id\":2}");
        drop(service_out);
        framing.finish().await;
        let mut answers = String::new();
        tokio::io::AsyncReadExt::read_to_string(&mut seen, &mut answers).await.unwrap();
        assert_eq!(answers.lines().count(), 1);
        assert!(answers.contains("-32700"));
    }
}
