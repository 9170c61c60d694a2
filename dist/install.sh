#!/bin/sh
# Installs tract from an archive that dist/build.sh made, or from the directory that such an archive unpacks to.
#
# usage: install.sh [ARCHIVE|DIRECTORY] [PREFIX]
#   ARCHIVE|DIRECTORY  without it, the directory that this script is in
#   PREFIX             without it, ~/.local
set -eu

from=${1:-$(dirname "$0")}
prefix=${2:-$HOME/.local}

unpacked=
if [ -f "$from" ]; then
    dir=$(cd "$(dirname "$from")" && pwd) archive=$(basename "$from")
    if [ -f "$dir/SHA256SUMS" ]; then
        if command -v sha256sum >/dev/null; then sum='sha256sum'; else sum='shasum -a 256'; fi
        line=$(grep "  $archive\$" "$dir/SHA256SUMS") || { echo "install.sh: $archive is not in SHA256SUMS" >&2; exit 1; }
        (cd "$dir" && echo "$line" | $sum -c - >/dev/null) || { echo "install.sh: $archive is damaged: its checksum differs" >&2; exit 1; }
    fi
    unpacked=$(mktemp -d)
    trap 'rm -rf "$unpacked"' EXIT
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
