#!/bin/sh
# Fills in the Homebrew formula and the Scoop manifest for the archives in a directory.
#
# usage: dist/manifests.sh URL [DIRECTORY]
#   URL        where the archives will be: URL/tract-VERSION-TARGET.tar.gz
#   DIRECTORY  with the archives and SHA256SUMS; without it, target/dist-archives. tract.rb and tract.json are
#              written there.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
url=${1:?usage: dist/manifests.sh URL [DIRECTORY]}
dir=${2:-$here/../target/dist-archives}
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)

sum_of() { # TARGET
    sed -n "s/^\([0-9a-f]*\)  tract-$version-$1\.tar\.gz\$/\1/p" "$dir/SHA256SUMS"
}

blocks=$(mktemp)
trap 'rm -f "$blocks"' EXIT
for system in apple-darwin:on_macos unknown-linux-gnu:on_linux; do
    for machine in aarch64:on_arm x86_64:on_intel; do
        target=${machine%%:*}-${system%%:*}
        sum=$(sum_of "$target")
        [ -n "$sum" ] || continue
        printf '  %s do\n    %s do\n      url "%s/tract-%s-%s.tar.gz"\n      sha256 "%s"\n    end\n  end\n' \
            "${system#*:}" "${machine#*:}" "$url" "$version" "$target" "$sum" >> "$blocks"
    done
done
if [ -s "$blocks" ]; then
    sed -e "s|@VERSION@|$version|g" -e "s|@URL@|$url|g" -e "/@ARCHIVES@/{
r $blocks
d
}" "$here/tract.rb.in" > "$dir/tract.rb"
    echo "$dir/tract.rb"
else
    echo 'no archive for macOS or Linux: no formula' >&2
fi

sum=$(sum_of x86_64-pc-windows-msvc)
if [ -n "$sum" ]; then
    sed -e "s|@VERSION@|$version|g" -e "s|@URL@|$url|g" -e "s|@SHA256@|$sum|g" "$here/tract.json.in" > "$dir/tract.json"
    echo "$dir/tract.json"
else
    echo 'no archive for Windows: no manifest' >&2
fi
