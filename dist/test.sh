#!/bin/sh
# Tries the way to a release: archive, checksum, installation, manifests. Not part of .ci/run.
#
# usage: dist/test.sh [--binary FILE]
#   --binary FILE  try it with this program; without it, one of the profile `dist` is built
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

step() { printf '%s ... ' "$1"; }
ok() { echo ok; }
fail() { echo "failed: $1"; exit 1; }
has() { [ -s "$1" ] || fail "no ${1#"$work/"}"; }

step 'an archive is made'
archive=$("$here/build.sh" "$@" "$work/out")
has "$archive"; ok

step 'its checksum is right'
if command -v sha256sum >/dev/null; then sum='sha256sum'; else sum='shasum -a 256'; fi
(cd "$work/out" && $sum -c SHA256SUMS >/dev/null) || fail 'SHA256SUMS'
ok

step 'it installs'
"$here/install.sh" "$archive" "$work/prefix" >/dev/null
tract=$work/prefix/bin/tract
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)
[ "$("$tract" --version)" = "tract $version" ] || fail "$("$tract" --version)"
ok

step 'it works'
mkdir "$work/talk"
(cd "$work/talk" && HOME=$work "$tract" -q init && HOME=$work "$tract" -q commit -r user -m hello >/dev/null &&
    HOME=$work "$tract" compile --format text | grep -q hello) || fail 'a commit'
ok

step 'every command has a manual page'
has "$work/prefix/share/man/man1/tract.1"
"$tract" help --all | sed -n 's/^  \([a-z][a-z-]*\)  *[A-Z].*/\1/p' > "$work/commands"
[ "$(wc -l < "$work/commands")" -gt 30 ] || fail 'too few commands are listed'
while read -r command; do has "$work/prefix/share/man/man1/tract-$command.1"; done < "$work/commands"
if command -v man >/dev/null; then
    man -l "$work/prefix/share/man/man1/tract-log.1" 2>/dev/null | grep -q 'tract' || fail 'man cannot show it'
fi
ok

step 'completions name the program, not a path'
for file in bash-completion/completions/tract zsh/site-functions/_tract fish/vendor_completions.d/tract.fish; do
    has "$work/prefix/share/$file"
    ! grep -q '/tract"\{0,1\} ' "$work/prefix/share/$file" || fail "$file names a path"
done
if command -v bash >/dev/null; then
    PATH=$work/prefix/bin:$PATH bash -c '
        source "$1" && COMP_WORDS=(tract trunc) COMP_CWORD=1 COMP_TYPE=9 && _clap_complete_tract tract trunc tract &&
            [[ ${COMPREPLY[*]} == *truncate* ]]' - "$work/prefix/share/bash-completion/completions/tract" ||
        fail 'bash completes nothing'
fi
ok

step 'a directory installs as well, again over itself'
tar -C "$work" -xzf "$archive"
dir=$work/$(basename "$archive" .tar.gz)
"$dir/install.sh" "$dir" "$work/prefix" >/dev/null
[ "$("$tract" --version)" = "tract $version" ] || fail 'the second time'
ok

step 'it installs from an address'
if command -v curl >/dev/null; then
    "$here/install.sh" "file://$work/out" "$work/fetched" >/dev/null
    [ "$("$work/fetched/bin/tract" --version)" = "tract $version" ] || fail 'another version'
    if "$here/install.sh" "file://$work/nowhere" "$work/none" >/dev/null 2>&1; then fail 'it came from nowhere'; fi
    ok
else
    echo 'skipped: curl is not installed'
fi

step 'a damaged archive is refused'
printf x >> "$archive"
if "$here/install.sh" "$archive" "$work/none" >/dev/null 2>&1; then fail 'it was installed'; fi
[ ! -e "$work/none" ] || fail 'something was written'
ok

step 'manifests are filled in'
# The program is this machine's; only the names are those of other platforms.
for target in x86_64-unknown-linux-gnu aarch64-apple-darwin x86_64-pc-windows-msvc; do
    "$here/build.sh" --binary "$tract" --target $target "$work/all" >/dev/null
done
"$here/manifests.sh" https://downloads.example/tract "$work/all" >/dev/null
for file in tract.rb tract.json; do
    has "$work/all/$file"
    ! grep -q '@' "$work/all/$file" || fail "$file has places that are not filled in"
done
[ "$(grep -c sha256 "$work/all/tract.rb")" = 2 ] || fail 'the formula has not both archives'
if command -v python3 >/dev/null; then python3 -m json.tool "$work/all/tract.json" >/dev/null || fail 'no JSON'; fi
if command -v ruby >/dev/null; then
    ruby -c "$work/all/tract.rb" >/dev/null || fail 'no Ruby'
elif command -v npm >/dev/null && mkdir "$work/prism" && (cd "$work/prism" && npm install --silent --no-audit --no-fund @ruby/prism >/dev/null 2>&1); then
    # Without Ruby, its parser tells as much.
    (cd "$work/prism" && node --no-warnings --input-type=module -e '
        import { loadPrism } from "@ruby/prism";
        import { readFileSync } from "node:fs";
        const parse = await loadPrism();
        for (const error of parse(readFileSync(process.argv[1], "utf8")).errors) throw new Error(error.message);
    ' "$work/all/tract.rb") || fail 'no Ruby'
else
    printf '(the formula is not parsed: neither ruby nor npm) '
fi
ok
