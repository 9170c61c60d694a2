#!/bin/sh
# Installs tract from an archive that dist/build.sh made, from the directory that such an archive unpacks to, or from
# an address where the archives and SHA256SUMS are.
#
# usage: install.sh [ARCHIVE|DIRECTORY|ADDRESS] [PREFIX]
#   ARCHIVE|DIRECTORY  without it, the directory that this script is in
#   ADDRESS            https://…, http://… or file://…: the archive of this platform is fetched, and checked
#   PREFIX             without it, ~/.local
set -eu

from=${1:-$(dirname "$0")}
prefix=${2:-$HOME/.local}

fetched= unpacked=
trap 'rm -rf "$fetched" "$unpacked"' EXIT

get() { # ADDRESS FILE
    if command -v curl >/dev/null; then curl -fsSL -o "$2" "$1"; else wget -q -O "$2" "$1"; fi ||
        { echo "install.sh: $1 cannot be fetched" >&2; exit 1; }
}

case $from in
    https://* | http://* | file://*)
        case $(uname -s) in
            Linux) system=unknown-linux-gnu ;;
            Darwin) system=apple-darwin ;;
            *) echo "install.sh: no archive is made for $(uname -s); cargo install tract-context builds it" >&2; exit 1 ;;
        esac
        case $(uname -m) in
            x86_64 | amd64) machine=x86_64 ;;
            aarch64 | arm64) machine=aarch64 ;;
            *) echo "install.sh: no archive is made for $(uname -m); cargo install tract-context builds it" >&2; exit 1 ;;
        esac
        fetched=$(mktemp -d)
        get "${from%/}/SHA256SUMS" "$fetched/SHA256SUMS"
        archive=$(sed -n "s/^[0-9a-f]*  \(tract-.*-$machine-$system\.tar\.gz\)\$/\1/p" "$fetched/SHA256SUMS" | tail -n 1)
        [ -n "$archive" ] || { echo "install.sh: there is no archive for $machine-$system at $from" >&2; exit 1; }
        get "${from%/}/$archive" "$fetched/$archive"
        from=$fetched/$archive ;;
esac
if [ -f "$from" ]; then
    dir=$(cd "$(dirname "$from")" && pwd) archive=$(basename "$from")
    if [ -f "$dir/SHA256SUMS" ]; then
        if command -v sha256sum >/dev/null; then sum='sha256sum'; else sum='shasum -a 256'; fi
        line=$(grep "  $archive\$" "$dir/SHA256SUMS") || { echo "install.sh: $archive is not in SHA256SUMS" >&2; exit 1; }
        (cd "$dir" && echo "$line" | $sum -c - >/dev/null) || { echo "install.sh: $archive is damaged: its checksum differs" >&2; exit 1; }
    fi
    unpacked=$(mktemp -d)
    tar -C "$unpacked" -xzf "$from"
    from=$unpacked/${archive%.tar.gz}
fi
program=tract
[ -f "$from/tract.exe" ] && program=tract.exe
[ -f "$from/$program" ] || { echo "install.sh: there is no tract in $from" >&2; exit 1; }

put() { # FILE DIRECTORY [NAME]
    mkdir -p "$prefix/$2"
    # A program that runs keeps its own file.
    rm -f "$prefix/$2/${3:-$(basename "$1")}"
    cp "$1" "$prefix/$2/${3:-$(basename "$1")}"
}
put "$from/$program" bin
chmod 755 "$prefix/bin/$program"
for page in "$from"/man/man1/*.1; do put "$page" share/man/man1; done
put "$from/completions/tract.bash" share/bash-completion/completions tract
put "$from/completions/_tract" share/zsh/site-functions
put "$from/completions/tract.fish" share/fish/vendor_completions.d
for page in README.md CHANGELOG.md LICENSE; do put "$from/$page" share/doc/tract; done

echo "Installed $("$prefix/bin/$program" --version) in $prefix"
case :$PATH: in
    *":$prefix/bin:"*) ;;
    *) echo "$prefix/bin is not in PATH: add it in your shell's startup file" ;;
esac
