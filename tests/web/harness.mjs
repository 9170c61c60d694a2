// What the journeys of `browser.mjs` stand on: a home, servers, a browser, and what was found.

import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Session, fill } from "./sessions.mjs";

const PACKAGES = ["playwright-core@1.65", "axe-core@4.14"];
const QUIET = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const { values: asked } = parseArgs({
  options: {
    tract: { type: "string", default: "target/release/tract" },
    sessions: { type: "string", default: "1000" },
    messages: { type: "string", default: "10000" },
    long: { type: "string", default: "0" },
    prefix: { type: "string" },
    pictures: { type: "string" },
    only: { type: "string" },
  },
});
const tract = resolve(asked.tract);

function skip(why) {
  console.log(`skipped: ${why}`);
  process.exit(77);
}

// What comes from npm.
function packages(prefix) {
  if (!existsSync(join(prefix, "node_modules/axe-core"))) {
    const done = spawnSync("npm", ["install", "--no-audit", "--no-fund", "--prefix", prefix, ...PACKAGES], { stdio: "ignore" });
    if (done.status !== 0) skip("npm gives no playwright-core and axe-core");
  }
  return createRequire(join(prefix, "node_modules/"));
}

function browserPath() {
  for (const name of ["chromium", "chromium-browser", "google-chrome"]) {
    const found = spawnSync("which", [name], { encoding: "utf8" });
    if (found.status === 0) return found.stdout.trim();
  }
  return skip("no Chromium");
}

const work = mkdtempSync(join(tmpdir(), "tract-web-"));
const prefix = asked.prefix ? resolve(asked.prefix) : join(work, "npm");
mkdirSync(prefix, { recursive: true });
const load = packages(prefix);
const { chromium } = load("playwright-core");
const axe = readFileSync(load.resolve("axe-core/axe.min.js"), "utf8");

const home = join(work, "home");
mkdirSync(home);
const env = { PATH: process.env.PATH, HOME: home, TZ: "UTC", LANG: "C.UTF-8" };
const run = (...words) => execFileSync(tract, words, { cwd: home, env, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] });

const kept = [];
// A server; its address, and how it ends.
function serve(...words) {
  const child = spawn(tract, ["web", "--no-open", ...words], { cwd: home, env, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((done, failed) => {
    let said = "";
    const end = () => child.kill("SIGTERM");
    kept.push({ end });
    child.on("error", failed);
    child.on("exit", (code) => failed(new Error(`the server ended: ${code}`)));
    child.stdout.on("data", (piece) => {
      said += piece;
      const address = /http:\/\/\S+/.exec(said)?.[0];
      if (address && said.includes("\n")) done({ address, end });
    });
  });
}

const faults = [];
function figure(what, value) {
  console.log(`${what}: ${value}`);
}
function check(holds, what) {
  console.log(`${holds ? "ok" : "FAILED"}  ${what}`);
  if (!holds) faults.push(what);
}

// What a page did that it must not.
function watched(page) {
  page.on("pageerror", (error) => check(false, `no error in a script: ${error.message}`));
  page.on("request", (request) => {
    const to = new URL(request.url());
    if (to.protocol.startsWith("http") && to.hostname !== "127.0.0.1") check(false, `no request to ${request.url()}`);
  });
  return page;
}

async function audit(page, what) {
  // The policy lets no script in, so axe comes by the debugger's own way.
  const client = await page.context().newCDPSession(page);
  await client.send("Runtime.evaluate", { expression: axe });
  const { result } = await client.send("Runtime.evaluate", {
    expression: "axe.run(document, { resultTypes: ['violations'] }).then(r => JSON.stringify(r.violations.map(v => [v.impact, v.id, v.nodes.length, v.nodes[0].html.slice(0, 120)])))",
    awaitPromise: true,
    returnByValue: true,
  });
  const serious = JSON.parse(result.value ?? "[]").filter(([impact]) => ["serious", "critical"].includes(impact));
  check(serious.length === 0, `axe finds nothing serious: ${what}${serious.map((one) => `\n      ${one.join(" · ")}`).join("")}`);
}

// How soon something is painted in a tab that is open: a browser that opens a window is busy with the window itself.
// It comes from another page, which has settled.
async function firstPaint(context, address, from = "about:blank") {
  const paints = [];
  const page = watched(await context.newPage());
  for (let time = 0; time < 9; time += 1) {
    await page.goto(from, { waitUntil: "load" });
    await page.waitForTimeout(500);
    await page.goto(address, { waitUntil: "load" });
    const paint = await page.evaluate(
      () =>
        new Promise((done) => {
          const seen = performance.getEntriesByName("first-contentful-paint")[0];
          if (seen) done(seen.startTime);
          new PerformanceObserver((list) => done(list.getEntries()[0].startTime)).observe({ type: "paint", buffered: true });
        }),
    );
    paints.push(Math.round(paint));
  }
  await page.close();
  paints.sort((one, other) => one - other);
  return `${paints[0]} ms at least, ${paints[4]} the median of 9`;
}

async function picture(page, name) {
  if (!asked.pictures) return;
  mkdirSync(asked.pictures, { recursive: true });
  await page.screenshot({ path: join(asked.pictures, `${name}.png`) });
}

// Takes away what was made.
function clear(folder) {
  rmSync(folder, { recursive: true, force: true });
}

export {
  Session, QUIET, asked, audit, browserPath, check, chromium, clear, createServer, faults, figure, fill, firstPaint, home, kept, picture, run,
  serve, watched, work,
};
