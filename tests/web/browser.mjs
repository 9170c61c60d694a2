#!/usr/bin/env node
// The pages of `tract web` in a real browser: what somebody does with them, at two widths, light and dark, by keyboard alone,
// and what a page must never do. Needs Node 20, npm, and Chromium in the path; exit 77 says that one of them is not to be had.
//
//     node tests/web/browser.mjs --tract target/release/tract
//     node tests/web/browser.mjs --tract BINARY --sessions 1000 --messages 10000 --long 100000 --prefix DIR --pictures DIR
//
// `--prefix` keeps what comes from npm, `--pictures` what was seen. The figures that it prints are of this machine.

import {
  Session, QUIET, asked, audit, browserPath, check, chromium, clear, createServer, faults, figure, fill, firstPaint, home, kept, picture, run,
  serve, watched, work,
} from "./harness.mjs";
import { idOf } from "./sessions.mjs";

const SECRET = "ochre walrus";
const SUMMARY = "This session is being continued from a previous one. We looked at the parser.";

// What is there: many small sessions, a compacted one, a long one, and one that no repository holds.
fill(home, Number(asked.sessions) - 2);
const compacted = new Session(home, 900_001, "/home/user/compacted");
for (let turn = 0; turn < 6; turn += 1) compacted.turn(turn === 2 ? `Remember the ${SECRET}.` : undefined);
compacted.compact(SUMMARY);
for (let turn = 0; turn < 3; turn += 1) compacted.turn();
compacted.write();
const long = new Session(home, 900_002, "/home/user/long");
for (let turn = 0; turn < Number(asked.messages) / 4; turn += 1) long.turn();
long.write();
run("init", home);
run("import", "--all");

const browser = await chromium.launch({ executablePath: browserPath(), args: QUIET });
const open = (options) => browser.newContext({ viewport: { width: 1280, height: 800 }, ...options });
const hash = (rev) => run("rev-parse", rev).trim();
const session = (which) => `s/claude-code/${which.id}/`;
const visible = (page, text) => page.getByText(text).first().waitFor({ timeout: 4_000 });

async function paints() {
  const server = await serve();
  const context = await open();
  const empty = createServer((_, answer) => answer.setHeader("content-type", "text/html").end("<!doctype html><title>nothing</title><p>Nothing."));
  await new Promise((done) => empty.listen(0, "127.0.0.1", done));
  figure("first paint, a page of one word", await firstPaint(context, `http://127.0.0.1:${empty.address().port}/`));
  const [list, conversation] = [server.address, server.address + session(long)];
  const [ofList, ofConversation] = [`a list of ${asked.sessions} sessions`, `a session of ${asked.messages} messages`];
  figure(`first paint, ${ofList}, from elsewhere`, await firstPaint(context, list));
  figure(`first paint, ${ofConversation}, from elsewhere`, await firstPaint(context, conversation));
  figure(`first paint, ${ofList}, from a session`, await firstPaint(context, list, conversation));
  figure(`first paint, ${ofConversation}, from the list`, await firstPaint(context, conversation, list));
  empty.close();
  await context.close();
  server.end();
}

// The keyboard alone: finds the session by what was said in it, opens it, goes to before the compaction, reads what that hid.
async function journey(width, colorScheme) {
  const what = `${width} ${colorScheme}`;
  const server = await serve();
  const context = await open({ viewport: { width, height: 800 }, colorScheme });
  const page = watched(await context.newPage());
  await page.goto(server.address);
  await picture(page, `list-${width}-${colorScheme}`);
  await audit(page, `the list, ${what}`);
  await page.keyboard.press("/");
  await page.keyboard.type(SECRET, { delay: 20 });
  const hit = page.locator("main mark").first();
  await hit.waitFor({ timeout: 4_000 });
  await picture(page, `search-${width}-${colorScheme}`);
  await audit(page, `what was found, ${what}`);
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname.includes("/s/"));
  await page.waitForLoadState("load");
  check(await page.evaluate(() => document.querySelector(":target") !== null), `a hit leads to its message, ${what}`);
  await picture(page, `session-${width}-${colorScheme}`);
  await audit(page, `a session, ${what}`);
  const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  check(sideways <= 0, `nothing is wider than the window, ${what}: ${sideways} px`);

  const slider = page.locator("input[type=range]");
  await slider.focus();
  await page.keyboard.press("Home");
  for (let step = 0; step < 8; step += 1) await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.search.includes("at="));
  await visible(page, `Remember the ${SECRET}.`);
  check((await page.locator("main .mark").count()) === 0, `before the compaction there is none, ${what}`);
  await picture(page, `moment-${width}-${colorScheme}`);
  await audit(page, `a moment, ${what}`);

  await page.goto(server.address + session(compacted));
  const hidden = page.locator('a[href*="hidden?by="]').first();
  await hidden.focus();
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname.endsWith("/hidden"));
  await page.waitForLoadState("load");
  await picture(page, `hidden-${width}-${colorScheme}`);
  await page.locator("main .hid").getByText(`Remember the ${SECRET}.`).waitFor({ timeout: 4_000 });
  await page.locator("main .stands").getByText("We looked at the parser.").waitFor({ timeout: 4_000 });
  await audit(page, `what a compaction hid, ${what}`);
  await context.close();
  server.end();
}

// A session that no repository holds, while it is written.
async function live() {
  const server = await serve();
  const context = await open();
  const page = watched(await context.newPage());
  const grown = new Session(home, 900_003, "/home/user/live");
  grown.turn("What goes on?").write();
  await page.goto(server.address + session(grown));
  await visible(page, "What goes on?");
  await page.waitForTimeout(1500);
  const waits = [];
  for (let turn = 0; turn < 12; turn += 1) {
    const said = `News number ${turn} of the session`;
    const seen = page.evaluate(
      (text) =>
        new Promise((done) => {
          const until = Date.now() + 5000;
          const look = () => {
            const is = document.querySelector("main").textContent.includes(text);
            if (is || Date.now() > until) done(is ? Date.now() : Infinity);
            else requestAnimationFrame(look);
          };
          look();
        }),
      said,
    );
    await page.waitForTimeout(150);
    const from = Date.now();
    grown.says(said).reply([{ type: "text", text: `Answer ${turn}` }]).write();
    waits.push((await seen) - from);
    await page.waitForTimeout(300);
  }
  waits.sort((one, other) => one - other);
  check(waits[11] < 5000, "all that is written comes to the page");
  figure("a record on a live page, median and most of 12", `${waits[6]} and ${waits[11]} ms`);
  const order = () => page.evaluate(() => [...document.querySelectorAll("main .b")].map((node) => `${node.className.split(" ")[1]} ${node.textContent.slice(0, 80)}`));
  const grownOrder = await order();
  // Facts, curve and prompts follow.
  await page.waitForTimeout(2500);
  const around = () => page.evaluate(() => [...document.querySelectorAll("header .facts, header .chart, nav#prompts li")].map((node) => node.textContent.trim()).join("|"));
  const grownAround = await around();
  check(grownAround.includes("News number 11"), "the list of prompts grows");
  await page.reload();
  check(grownAround === await around(), "facts, curve and prompts of a page that has grown are those that are read anew");
  check(JSON.stringify(grownOrder) === JSON.stringify(await order()), "a page that has grown is the page that is read anew");
  await picture(page, "live");
  const before = run("reflog");
  check(before === run("reflog"), "nothing was written");
  await context.close();
  server.end();
}

// Two contexts beside each other, then a truncation from the page and back.
async function acts() {
  const server = await serve("--write");
  const context = await open();
  const page = watched(await context.newPage());
  const tip = hash("HEAD");
  await page.goto(`${server.address}compare?a=${hash("HEAD~3")}&b=${tip}`);
  await picture(page, "compare");
  await audit(page, "two contexts");
  check((await page.locator("main").textContent()).length > 100, "two contexts are compared");
  const branch = /^\* (\S+)/m.exec(run("branch"))?.[1];
  await page.goto(`${server.address}act?id=${encodeURI(branch)}`);
  await picture(page, "choices");
  await audit(page, "what can be done");
  await page.locator("form", { hasText: /hide the oldest/i }).first().locator("button").first().press("Enter");
  await visible(page, "Nothing is changed yet");
  await picture(page, "foretold");
  check(hash("HEAD") === tip, "a dry run changes nothing");
  await page.locator("main form button").first().press("Enter");
  await visible(page, "Done.");
  check(hash("HEAD") !== tip, "the deed is a commit");
  await page.goto(`${server.address}reflog`);
  await picture(page, "reflog");
  await audit(page, "what was done");
  await page.locator("form", { hasText: /undo/i }).first().locator("button").first().press("Enter");
  await visible(page, "Nothing is changed yet");
  await picture(page, "foretold-undo");
  await page.locator("main form button").first().press("Enter");
  await visible(page, "Done.");
  check(hash("HEAD") === tip, "undo takes it back");
  await page.goto(`${server.address}cost`);
  await picture(page, "cost");
  await audit(page, "what it cost");
  await context.close();
  server.end();
}

// What was done and what it cost, at this width.
async function sums(width, colorScheme) {
  const server = await serve();
  const context = await open({ viewport: { width, height: 800 }, colorScheme });
  const page = watched(await context.newPage());
  for (const address of ["activity", "activity?by=day", "activity?by=hour", "activity?by=tool", "activity?by=file", "activity?by=edits", "cost", "cost?by=tool", `s/claude-code/${compacted.id}/tree`]) {
    await page.goto(server.address + address);
    const what = `${address}, ${width} ${colorScheme}`;
    await picture(page, `${address.replace("?by=", "-").replace(/.*\//, "")}-${width}-${colorScheme}`);
    await audit(page, what);
    const has = (await page.locator("main ul.sessions").count()) > 0 || (await page.locator("main table").count()) > 0 || (await page.getByText("Nothing of the kind").count()) > 0;
    check(has, `there is a table or a list, or it is said why not: ${what}`);
    const sideways = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    check(sideways <= 0, `nothing is wider than the window, ${what}: ${sideways} px`);
  }
  await context.close();
  server.end();
}

// What a page of another origin can do: nothing.
async function strangers() {
  const server = await serve("--write");
  const tip = hash("HEAD");
  const other = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end(`<!doctype html><title>stranger</title><iframe src="${server.address}"></iframe>
      <form id="f" method="post" action="${server.address}act" target="_blank"><input name="deed" value="undo"></form>`);
  });
  await new Promise((done) => other.listen(0, "127.0.0.1", done));
  const context = await open();
  const page = await context.newPage();
  await page.goto(`http://127.0.0.1:${other.address().port}/`);
  const read = await page.evaluate(async (address) => {
    const tried = { read: "refused", blind: "", post: "refused" };
    try { tried.read = await (await fetch(address)).text(); } catch { /* as it should be */ }
    try { tried.blind = (await fetch(address, { mode: "no-cors" })).type; } catch { tried.blind = "refused"; }
    try { await fetch(`${address}act`, { method: "POST", mode: "no-cors", body: new URLSearchParams({ deed: "undo" }) }); } catch { /* likewise */ }
    return tried;
  }, server.address);
  check(read.read === "refused", "a page of another origin reads nothing");
  check(read.blind !== "basic" && read.blind !== "cors", "nor does it blindly");
  const frame = page.frames().find((one) => one !== page.mainFrame());
  const framed = await frame.content().catch(() => "");
  check(!framed.includes("<main"), "nor in a frame");
  const window = context.waitForEvent("page");
  const held = await page.evaluate(async (address) => {
    const opened = open(address, "_blank");
    await new Promise((done) => setTimeout(done, 1_000));
    try { return opened.document.body.textContent; } catch { return "refused"; }
  }, server.address);
  check(held === "refused", "nor in a window of its own");
  await (await window).close();
  const [opened] = await Promise.all([context.waitForEvent("page"), page.evaluate(() => document.getElementById("f").submit())]);
  await opened.waitForLoadState();
  check(/forbidden/i.test(await opened.textContent("body")), "a form of another origin is refused");
  check(hash("HEAD") === tip, "and nothing has changed");
  const wrong = await page.request.get(server.address.replace(/\/[^/]+\/$/, "/0000/"));
  check(wrong.status() === 403, "a wrong token is refused");
  await context.close();
  other.close();
  server.end();
}

// What was planted in sessions is text.
async function planted() {
  const server = await serve();
  const context = await open();
  const page = watched(await context.newPage());
  let dialogs = 0;
  page.on("dialog", (dialog) => { dialogs += 1; dialog.dismiss(); });
  await page.goto(`${server.address}?q=bracket`);
  await visible(page, "<script>document.title='ran'</script>");
  for (const number of [0, 1, 2, 3]) {
    await page.goto(`${server.address}s/claude-code/${idOf(number)}/`);
    await page.waitForLoadState("load");
    const ran = await page.evaluate(() => document.title === "ran" || document.querySelector('main a[href^="javascript:"], main svg[onload], main [onerror]') !== null);
    check(!ran, `what was planted in session ${number} is text`);
  }
  check(dialogs === 0, "no page asks anything");
  await context.close();
  server.end();
}

// From one end of a long session to the other: what the browser holds stays the same.
async function scrolled(messages) {
  const huge = new Session(home, 900_004, "/home/user/huge");
  for (let turn = 0; turn < messages / 4; turn += 1) {
    huge.turn();
    if (turn % 1000 === 999) huge.write();
  }
  huge.write();
  run("import", huge.path);
  const server = await serve();
  const context = await open();
  const page = watched(await context.newPage());
  const client = await context.newCDPSession(page);
  await client.send("Performance.enable");
  await page.goto(server.address + session(huge));
  const held = async () => {
    await client.send("HeapProfiler.collectGarbage");
    const { metrics } = await client.send("Performance.getMetrics");
    const of = (name) => metrics.find((one) => one.name === name).value;
    return { heap: of("JSHeapUsedSize") / 1e6, nodes: of("Nodes") };
  };
  const seen = [await held()];
  await page.keyboard.press("g");
  await page.waitForTimeout(1000);
  const parts = new Set();
  for (let step = 0; step < 1500; step += 1) {
    await page.mouse.wheel(0, 6000);
    await page.waitForTimeout(30);
    if (step % 100 === 99) seen.push(await held());
    parts.add(await page.evaluate(() => document.querySelector(".part:last-of-type")?.dataset.address));
  }
  const most = (name) => Math.max(...seen.map((one) => one[name]));
  figure(`held while scrolling ${messages} messages (${parts.size} parts came)`, `at most ${most("heap").toFixed(1)} MB of script's heap, ${most("nodes")} nodes`);
  await context.close();
  server.end();
}

const journeys = {
  paints,
  journeys: async () => {
    for (const width of [1280, 390]) for (const scheme of ["light", "dark"]) await journey(width, scheme);
  },
  sums: async () => {
    for (const width of [1280, 390]) for (const scheme of ["light", "dark"]) await sums(width, scheme);
  },
  live,
  acts,
  strangers,
  planted,
  scrolled: async () => Number(asked.long) && scrolled(Number(asked.long)),
};
try {
  for (const [name, go] of Object.entries(journeys)) {
    if (asked.only && asked.only !== name) continue;
    console.log(`\n== ${name}`);
    await go().catch((error) => check(false, `${name}: ${error.message.split("\n").slice(0, 3).join(" ")}`));
  }
} finally {
  await browser.close();
  kept.forEach((server) => server.end());
  clear(work);
}
console.log(faults.length ? `\n${faults.length} things are wrong` : "\nall good");
process.exit(faults.length ? 1 : 0);
