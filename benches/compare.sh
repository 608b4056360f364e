#!/bin/sh
# Whole commands against their peers, side by side in one run: needs hyperfine, rg and fd (fdfind).
# Prints medians and ratios. Usage: benches/compare.sh [FOLDER-FOR-TREES]
set -eu
cd "$(dirname "$0")/.."
top=${1:-/tmp/killick-bench}
fd=$(command -v fdfind || command -v fd)
cargo build --release --locked --quiet --bin killick --example make_tree
killick=$PWD/target/release/killick
mkdir -p "$top/home"
export HOME="$top/home"

# Prints the medians of both commands and their ratio.
pair() {
  name=$1
  shift
  hyperfine -N --warmup 5 --runs "${RUNS:-40}" --export-json "$top/out.json" "$@" >/dev/null 2>&1
  python3 - "$name" "$top/out.json" <<'PY'
import json, sys
ours, peer = json.load(open(sys.argv[2]))["results"]
print(f"| {sys.argv[1]} | {ours['median']*1e3:.1f} ms | {peer['median']*1e3:.1f} ms | {ours['median']/peer['median']:.2f} |")
PY
}

echo '| what | killick | peer | ratio |'
echo '|---|---|---|---|'
pair 'start to exit: `tools` / `rg --version`' "$killick tools" 'rg --version'
python3 -c "
for n in range(40000): print(f'  let value_{n:06} = compute(input, {n:>9}, st);')" > "$top/text.rs"
pair 'read one page of 2 MiB / `cat -n`' "$killick -C $top call read path=text.rs" "cat -n $top/text.rs"
for times in 1 4 16; do
  tree=$top/tree$times
  [ -d "$tree" ] || target/release/examples/make_tree "$tree" $((1250 * times)) $((13107200 * times))
  pair "find \`**/*.rs\`, $((1250 * times)) files / fd" \
    "$killick -C $tree call find pattern=**/*.rs" "$fd -H -t f --glob **/*.rs . $tree"
  pair "search a literal, $((12 * times)) MiB / rg" \
    "$killick -C $tree call search pattern=needle path=." "rg --hidden -n needle $tree"
  pair "search a regex, $((12 * times)) MiB / rg" \
    "$killick -C $tree call search pattern=need[a-z]*.*file path=." "rg --hidden -n need[a-z]*.*file $tree"
done
