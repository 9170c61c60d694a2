#!/usr/bin/env node
// Starts the program that the package of this platform holds.
"use strict";
const { spawnSync } = require("node:child_process");

const platform = `${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "tract.exe" : "tract";
let program;
try {
    program = require.resolve(`tract-context-${platform}/bin/${file}`);
} catch {
    console.error(`error: there is no package of tract for ${platform}, or npm left it out`);
    console.error("hint: install without --omit=optional; elsewhere: cargo install tract-context");
    process.exit(2);
}
// A signal of the terminal reaches the program, too, which decides what becomes of it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});
const done = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (done.error) {
    console.error(`error: ${program} cannot be started: ${done.error.message}`);
    process.exit(1);
}
process.exit(done.signal ? 128 + require("node:os").constants.signals[done.signal] : done.status);
