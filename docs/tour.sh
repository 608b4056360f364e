#!/bin/sh
# Builds killick and shows its file surface at work on its own source. Everything is checked as it is shown.
# It writes in a scratch folder only, and keeps its state there.
set -eu
cd "$(dirname "$0")/.."
printf 'Building killick; the first time this takes some minutes.\n'
cargo build --release --locked --quiet
killick=$PWD/target/release/killick
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export XDG_STATE_HOME="$scratch/state" XDG_CONFIG_HOME="$scratch/config"

say() { printf '\n\033[1m%s\033[0m\n' "$*"; }

# Runs killick, shows what it says, and checks that it says $1.
expect() {
  wanted=$1
  shift
  printf '$ killick %s\n' "$*"
  out=$("$killick" "$@" 2>&1) || true
  printf '%s\n' "$out" | head -n 12
  case $out in
    *"$wanted"*) ;;
    *) printf 'tour: expected to see: %s\n' "$wanted" >&2; exit 1 ;;
  esac
}

say 'Which files are there?'
expect 'src/main.rs' call find 'pattern=src/*.rs'

say 'Where is it said? A match comes with its anchor, LINE:HH.'
expect 'src/main.rs' call search 'pattern=^fn main' path=src

say 'Read it: every line with its anchor.'
expect '|fn main()' call read path=src/main.rs

say 'A folder, folders first.'
expect 'main.rs' call list_dir path=src

say 'Edit in a scratch project, in a session that remembers what it has read.'
mkdir "$scratch/project"
printf 'one\ntwo\n' > "$scratch/project/notes.txt"
expect '2:' -C "$scratch/project" call --session tour read path=notes.txt
anchor=$("$killick" -C "$scratch/project" call --session tour read path=notes.txt | sed -n '2s/|.*//p')
expect 'Edited notes.txt (+1 -1)' -C "$scratch/project" call --session tour edit "input=@@ notes.txt
= $anchor..$anchor
~TWO"
say 'Somebody else changes that line: the edit is refused, and shows the line as it is now.'
anchor=$("$killick" -C "$scratch/project" call --session tour read path=notes.txt | sed -n '2s/|.*//p')
printf 'one\nzwei\n' > "$scratch/project/notes.txt"
expect 'line 2 changed since it was seen' -C "$scratch/project" call --session tour edit "input=@@ notes.txt
= $anchor..$anchor
~three"
printf 'one\ntwo\n' > "$scratch/project/notes.txt"

say 'Write a file whole.'
expect 'Wrote 4 characters to notes.txt.' -C "$scratch/project" call --session tour write path=notes.txt content=gone

say 'Take it back.'
expect 'restored notes.txt' -C "$scratch/project" call --session tour undo
[ "$(cat "$scratch/project/notes.txt")" = "$(printf 'one\ntwo')" ]

say 'A grant is exact: this one may write below src and nowhere else.'
expect 'capability_denied' -C "$scratch/project" --capabilities 'file/read,file/write(src/**)' \
  call write path=notes.txt content=x
expect 'Wrote' -C "$scratch/project" --capabilities 'file/read,file/write(src/**)' \
  call write path=src/new.txt content=x

say 'A link that leads out is no way out.'
ln -s /etc "$scratch/project/out"
expect 'path_escape' -C "$scratch/project" call read path=out/passwd

say 'The tour is over; everything it said was checked.'
