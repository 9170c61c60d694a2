#!/bin/sh
# Tries the wheel and npm's packages: each is made, installed into a clean place and run there. Not part of .ci/run.
#
# usage: dist/packages_test.sh --program FILE [--profile NAME]
#   --program FILE  the program that goes into both
#   --profile NAME  cargo's profile for the extension module; without it, release
# Exit status: 0 all hold, 1 one does not, 77 pip or npm cannot be had: skipped, and said so.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
program= profile=release
while [ $# -gt 0 ]; do
    case $1 in
        --program) program=$2; shift 2 ;;
        --profile) profile=$2; shift 2 ;;
        *) echo "dist/packages_test.sh: unknown option $1" >&2; exit 2 ;;
    esac
done
[ -f "$program" ] || { echo 'dist/packages_test.sh: --program FILE names the program' >&2; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
version=$(sed -n 's/^version = "\(.*\)"/\1/p' "$here/../Cargo.toml" | head -n 1)

step() { printf '%s ... ' "$1"; }
ok() { echo ok; }
fail() { echo "failed: $1"; exit 1; }
skip() { echo "skipped: $1"; exit 77; }

# A conversation is kept and read back by the command that is given.
talks() {
    talk=$(mktemp -d "$work/talk.XXXXXX")
    (cd "$talk" && HOME=$work "$@" -q init && HOME=$work "$@" -q commit -r user -m hello >/dev/null &&
        HOME=$work "$@" log | grep -q hello) || fail 'a commit'
    [ "$(HOME=$work "$@" --version)" = "tract $version" ] || fail "$("$@" --version)"
}

step 'the wheel is made'
python3 -m venv "$work/plain" 2>/dev/null || skip 'Python has no venv'
wheel=$("$here/wheel.sh" --program "$program" --profile "$profile" "$work/wheels") || {
    [ $? = 77 ] || fail 'it cannot be built'
    skip 'maturin cannot be had'
}
ok

step "it installs, and the program is a command (${wheel##*/})"
"$work/plain/bin/pip" install -q --disable-pip-version-check --no-index "$wheel"
talks "$work/plain/bin/tract"
"$work/plain/bin/python" -c '
import tract
repo = tract.ephemeral()
repo.commit(role="user", message="hello")
assert len(repo.log()["commits"]) == 1' || fail 'the module'
"$work/plain/bin/pip" uninstall -q -y tract-context
[ ! -e "$work/plain/bin/tract" ] || fail 'it is there after pip uninstall'
ok

step 'uv runs it from the wheel'
if "$work/plain/bin/pip" install -q --disable-pip-version-check uv 2>/dev/null; then
    export UV_CACHE_DIR="$work/uv" UV_TOOL_DIR="$work/tools" UV_PYTHON="$work/plain/bin/python" UV_NO_PROGRESS=1
    talks "$work/plain/bin/uvx" -q --no-index --from "$wheel" tract
    ok
else
    echo 'skipped: pip has no uv'
fi

step "npm's packages are made"
command -v npm >/dev/null || skip 'npm is not installed'
platform=$(node -p '`${process.platform}-${process.arch}`')
"$here/npm.sh" "$work/npm" "$platform=$program" >/dev/null
ok

step 'they install, and npx runs the program'
mkdir "$work/app"
(cd "$work/app" && npm init -y >/dev/null &&
    npm install --silent --no-audit --no-fund --offline "$work/npm/tract-context-$platform-$version.tgz" "$work/npm/tract-context-$version.tgz")
PATH=$work/app/node_modules/.bin:$PATH talks "$work/app/node_modules/.bin/tract"
(cd "$work/app" && [ "$(npx --offline tract --version)" = "tract $version" ]) || fail 'npx'
ok

step 'a platform without a package is said to have none'
rm -rf "$work/app/node_modules/tract-context-$platform"
if (cd "$work/app" && npx --offline tract --version) >/dev/null 2>"$work/said"; then fail 'it ran'; fi
grep -q '^hint: ' "$work/said" || fail "$(cat "$work/said")"
ok
