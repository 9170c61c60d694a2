#!/bin/sh
# Makes npm's packages from programs that are built: one for each platform, and the one that people install.
#
# usage: dist/npm.sh OUT PLATFORM=PROGRAM...
#   OUT               the directory to write the packages to, as `npm pack` makes them
#   PLATFORM=PROGRAM  a platform as Node.js names it, and the program for it: linux-x64=target/…/tract
# tract-context depends on the platforms that are given. All of one version are published together, the platforms first.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:?usage: dist/npm.sh OUT PLATFORM=PROGRAM...}
shift
[ $# -gt 0 ] || { echo 'dist/npm.sh: no platform is given' >&2; exit 2; }
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)
mkdir -p "$out"
out=$(cd "$out" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

pack() { (cd "$1" && npm pack --silent --pack-destination "$out"); }

names=
for pair in "$@"; do
    platform=${pair%%=*} program=${pair#*=}
    file=tract
    case $platform in win32-*) file=tract.exe ;; esac
    mkdir -p "$work/$platform/bin"
    cp "$program" "$work/$platform/bin/$file"
    chmod 755 "$work/$platform/bin/$file"
    sed -e "s|@VERSION@|$version|g" -e "s|@PLATFORM@|$platform|g" -e "s|@OS@|${platform%%-*}|g" \
        -e "s|@CPU@|${platform#*-}|g" "$here/npm/platform.json.in" > "$work/$platform/package.json"
    cp "$here/../LICENSE" "$work/$platform/"
    pack "$work/$platform"
    names="$names${names:+,
}        \"tract-context-$platform\": \"$version\""
done
mkdir "$work/main"
printf '%s\n' "$names" > "$work/names"
sed -e "s|@VERSION@|$version|g" -e "/@PLATFORMS@/{
r $work/names
d
}" "$here/npm/package.json.in" > "$work/main/package.json"
cp "$here/npm/tract.js" "$here/../README.md" "$here/../LICENSE" "$work/main/"
pack "$work/main"
