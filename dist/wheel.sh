#!/bin/sh
# Makes the wheel of the Python package for this platform, with the program inside.
#
# usage: dist/wheel.sh --program FILE [--profile NAME] [--target NAME] [OUT]
#   --program FILE  the program to put inside: dist/build.sh makes one that needs no C library
#   --profile NAME  cargo's profile for the extension module; without it, release
#   --target NAME   the platform of the program; without it, this machine's. Another one: rustup target add NAME
#   OUT             the directory to write to; without it, target/dist-wheels
# On Linux the extension module is linked by zig against an old C library (manylinux2014: glibc 2.17), where pip has zig for
# this machine; without it the wheel is for systems as new as this one, and its name says so.
# Exit status: 77 if pip cannot have maturin; another one that is not 0 if the wheel cannot be made.
set -eu
cd "$(dirname "$0")/.."

program= profile=release target= out=
while [ $# -gt 0 ]; do
    case $1 in
        --program) program=$2; shift 2 ;;
        --profile) profile=$2; shift 2 ;;
        --target) target=$2; shift 2 ;;
        -*) echo "dist/wheel.sh: unknown option $1" >&2; exit 2 ;;
        *) out=$1; shift ;;
    esac
done
[ -f "$program" ] || { echo 'dist/wheel.sh: --program FILE names the program to put inside' >&2; exit 2; }
out=${out:-target/dist-wheels}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" install -q --disable-pip-version-check 'maturin>=1.9,<2' || exit 77
set -- build -q --locked --profile "$profile" -m python/Cargo.toml -o "$work/bare"
[ -z "$target" ] || set -- "$@" --target "$target"
if [ "$(uname -s)" = Linux ]; then
    if "$work/env/bin/pip" install -q --disable-pip-version-check ziglang 2>/dev/null; then
        set -- "$@" --zig --compatibility manylinux2014
    else
        echo 'dist/wheel.sh: pip has no zig for this machine: the wheel is for systems as new as this one' >&2
    fi
fi
# The name of the wheel is all that this script says; maturin talks on both outputs.
PATH=$work/env/bin:$PATH maturin "$@" >&2
python3 dist/program_in_wheel.py "$work"/bare/*.whl "$program" "$out"
