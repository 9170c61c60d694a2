#!/bin/sh
# Makes an archive of tract for this platform, with its checksum in SHA256SUMS beside it:
# the program, manual pages, completions, README, CHANGELOG, LICENSE and the installer.
#
# usage: dist/build.sh [--binary FILE] [--target NAME] [--runs FILE] [OUT]
#   --binary FILE  pack this program instead of building one (the profile `dist` takes minutes)
#   --target NAME  the platform, and its name in the archive's name; without it, what rustc says of this machine. Another Linux is
#                  built with zig: rustup target add NAME, pip install cargo-zigbuild ziglang
#   --runs FILE    a program of the same version that runs here and writes the pages and completions of one that does not
#   OUT            the directory to write to; without it, target/dist-archives
set -eu
cd "$(dirname "$0")/.."

binary= target= runs= out=
while [ $# -gt 0 ]; do
    case $1 in
        --binary) binary=$2; shift 2 ;;
        --target) target=$2; shift 2 ;;
        --runs) runs=$2; shift 2 ;;
        -*) echo "dist/build.sh: unknown option $1" >&2; exit 2 ;;
        *) out=$1; shift ;;
    esac
done

version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
target=${target:-$(rustc -vV | sed -n 's/^host: //p')}
out=${out:-target/dist-archives}
case $target in *windows*) suffix=.exe ;; *) suffix= ;; esac

if [ -z "$binary" ]; then
    host=$(rustc -vV | sed -n 's/^host: //p')
    case $host=$target in
        "$host=$host") build=$host ;;
        *-linux-gnu=*-linux-gnu) build=zig ;;
        *) echo "dist/build.sh: $target is not built on $host" >&2; exit 2 ;;
    esac
    case $build in
        zig)
            # Against a C library as old as that of the wheel.
            cargo zigbuild --locked --profile dist --bin tract --target "$target.2.17"
            binary=${CARGO_TARGET_DIR:-target}/$target/dist/tract ;;
        *-linux-gnu)
            # With the C library inside (`libc.a`) and at a fixed place: a start takes half of its time then. Cargo needs
            # --target for it, or it would build its own helpers so, too. Never with the features postgres and s3: names of
            # hosts would be looked up by parts of the C library that have to be the same where the program runs.
            cargo build --locked --profile dist --bin tract --target "$host" --config \
                "target.$host.rustflags = ['-C', 'target-feature=+crt-static', '-C', 'relocation-model=static']"
            binary=${CARGO_TARGET_DIR:-target}/$host/dist/tract ;;
        *)
            cargo build --locked --profile dist --bin tract
            binary=${CARGO_TARGET_DIR:-target}/dist/tract$suffix ;;
    esac
fi
# The completions name the program by its path, which is another one where it is installed.
binary=$(cd "$(dirname "$binary")" && pwd)/$(basename "$binary")
runs=${runs:-$binary}

name=tract-$version-$target
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
mkdir -p "$out" "$stage/$name/completions"
cp "$binary" "$stage/$name/tract$suffix"
chmod 755 "$stage/$name/tract$suffix"
"$runs" --quiet man "$stage/$name/man/man1"
"$runs" completions bash | sed "s|$runs|tract|g" > "$stage/$name/completions/tract.bash"
"$runs" completions zsh | sed "s|$runs|tract|g" > "$stage/$name/completions/_tract"
"$runs" completions fish | sed "s|$runs|tract|g" > "$stage/$name/completions/tract.fish"
cp README.md CHANGELOG.md LICENSE dist/install.sh "$stage/$name/"

tar -C "$stage" -czf "$out/$name.tar.gz" "$name"

# One line for each archive in the directory.
if command -v sha256sum >/dev/null; then sum='sha256sum'; else sum='shasum -a 256'; fi
(cd "$out" && $sum tract-*.tar.gz > SHA256SUMS)
echo "$out/$name.tar.gz"
