#!/bin/sh
# Makes all that a release has for this platform: the archive, the wheel and npm's packages, and says what is missing for others.
# Exit status 1 if something that could be made here was not.
#
# usage: dist/all.sh [--binary FILE] [--url URL] [OUT]
#   --binary FILE  take this program instead of building one
#   --url URL      where the archives will be; with it, the Homebrew formula and the Scoop manifest are written
#   OUT            the directory to write to; without it, target/release-files
set -eu
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/.."
binary= url= out=
while [ $# -gt 0 ]; do
    case $1 in
        --binary) binary=$2; shift 2 ;;
        --url) url=$2; shift 2 ;;
        -*) echo "dist/all.sh: unknown option $1" >&2; exit 2 ;;
        *) out=$1; shift ;;
    esac
done
out=${out:-target/release-files}
mkdir -p "$out"
if [ -n "$binary" ]; then
    archive=$("$here/build.sh" --binary "$binary" "$out")
else
    archive=$("$here/build.sh" "$out")
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tar -C "$work" -xzf "$archive"
file=tract
case $archive in *windows*) file=tract.exe ;; esac
program=$work/$(basename "$archive" .tar.gz)/$file
failed=0
"$here/wheel.sh" --program "$program" "$out" || {
    # Without maturin there is none, and the table says so.
    [ $? = 77 ] || failed=1
    echo 'no wheel was made' >&2
}
if command -v npm >/dev/null; then
    "$here/npm.sh" "$out" "$(node -p '`${process.platform}-${process.arch}`')=$program"
else
    echo 'npm is not installed: its packages were not made' >&2
fi
[ -z "$url" ] || "$here/manifests.sh" "$url" "$out"

printf '\n%-28s %-8s %-6s %-4s\n' platform archive wheel npm
has() { for found in "$out"/$1; do [ ! -e "$found" ] || { echo yes; return; }; done; echo -; }
while read -r target wheel npm; do
    printf '%-28s %-8s %-6s %-4s\n' "$target" "$(has "tract-*-$target.tar.gz")" "$(has "tract_context-*$wheel*.whl")" "$(has "tract-context-$npm-*.tgz")"
done <<'TABLE'
x86_64-unknown-linux-gnu linux_*x86_64 linux-x64
aarch64-unknown-linux-gnu linux_*aarch64 linux-arm64
aarch64-apple-darwin macosx_*arm64 darwin-arm64
x86_64-apple-darwin macosx_*x86_64 darwin-x64
x86_64-pc-windows-msvc win_amd64 win32-x64
TABLE
echo 'What is missing is made by the same script on a machine of that platform. For another Linux, dist/build.sh and dist/wheel.sh'
echo 'make it here with --target, and dist/npm.sh takes the program.'
exit $failed
