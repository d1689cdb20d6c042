/** What decides order, scale and cut, without a browser: `node --test units.mjs`. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { createServer } from "vite";

let server;
const load = (name) => server.ssrLoadModule(`/src/lib/${name}.ts`);
before(async () => {
  const quiet = { middlewareMode: true, ws: false, watch: null };
  server = await createServer({ server: quiet, appType: "custom", logLevel: "error" });
});
after(() => server.close());

const NOW = Date.parse("2026-11-19T12:00:00Z");
const window = (more) => ({
  zone: "green",
  ops_left: null,
  ops_left_low: null,
  ops_left_high: null,
  minutes_left: null,
  used_ratio: 0.2,
  compacting: false,
  updated_at: new Date(NOW - 60_000).toISOString(),
  ...more,
});
const steps = (low, high, more = {}) =>
  window({ ops_left: (low + high) / 2, ops_left_low: low, ops_left_high: high, ...more });

test("red and orange come first, then the fewest steps that are shown", async () => {
  const { compactsNext } = await load("windows");
  const rows = {
    unknown: window({ used_ratio: 0.7 }),
    soon: steps(3, 9),
    later: steps(30, 44),
    orange: steps(60, 90, { zone: "orange" }),
    red: steps(80, 99, { zone: "red" }),
    compacting: steps(0, 1, { compacting: true, used_ratio: 0.1 }),
  };
  const order = Object.entries(rows).sort(([, one], [, other]) => compactsNext(one, other));
  assert.deepEqual(
    order.map(([name]) => name),
    ["red", "orange", "soon", "later", "unknown", "compacting"],
  );
});

test("windows far from full are ordered by their steps, too", async () => {
  const { compactsNext, stepsLeft } = await load("windows");
  const rows = [360, 316, 621, 63, 142].map((left) => steps(left - 10, left + 10));
  const order = rows.sort(compactsNext).map((one) => one.ops_left);
  assert.deepEqual(order, [63, 142, 316, 360, 621]);
  assert.notEqual(stepsLeft(rows[0]), stepsLeft(rows[1]));
});

test("a red window says how many steps are left, however wide the range", async () => {
  const { forecast, timeLeft } = await load("windows");
  const red = window({ zone: "red", ops_left: 6, ops_left_low: 0, ops_left_high: 15 });
  assert.equal(forecast(red), "about 6 steps left");
  assert.equal(timeLeft({ ...red, pace_ms: 30_000 }, false, NOW), "3 min");
});

test("large numbers change their unit where their digits do", async () => {
  const { short } = await load("format");
  assert.deepEqual([1_446_860_000, 999_999, 12_340_000, 999_999_999, 9_400].map(short), [
    "1.45B",
    "1.00M",
    "12.34M",
    "1.00B",
    "9.4K",
  ]);
});

test("the same number is shown as in the terminal", async () => {
  const { duration, stepsLeft, timeLeft } = await load("windows");
  assert.equal(stepsLeft(steps(9, 17)), "about 13 steps");
  assert.equal(stepsLeft(steps(49, 151)), "about 100 steps");
  assert.equal(stepsLeft(window({})), "unknown");
  assert.equal(stepsLeft(steps(0, 0)), "less than one step");
  assert.equal(duration(50_000), "under a minute");
  assert.equal(duration(11.4 * 60_000), "11 min");
  assert.equal(duration(2 * 3_600_000), "2 h");
  assert.equal(timeLeft(steps(9, 17, { pace_ms: 30_000 }), false, NOW), "6 min");
  assert.equal(timeLeft(steps(9, 17, { pace_ms: 30_000 }), true, NOW), "blocked");
});

test("a window under five minutes is near, unless nobody uses it", async () => {
  const { isNear } = await load("windows");
  assert.equal(isNear(window({ minutes_left: 4.9 }), 5, NOW), true);
  assert.equal(isNear(window({ minutes_left: 5.1 }), 5, NOW), false);
  const idle = new Date(NOW - 6 * 60_000).toISOString();
  assert.equal(isNear(window({ minutes_left: 1, updated_at: idle }), 5, NOW), false);
});

test("on the clock a long pause takes half a minute, and marks stand at their reading", async () => {
  const { scaleOf } = await load("chart");
  const readings = { step: [1, 2, 3], at_ms: [0, 60_000, 60_000 + 3_600_000] };
  const clock = scaleOf(readings, "clock");
  assert.deepEqual(clock.values, [0, 60_000, 90_000]);
  assert.equal(clock.place(2, 0), 60_000);
  assert.equal(clock.place(null, 61_000), 60_000);
  assert.equal(clock.stepAt(89_999), 2);
  assert.equal(scaleOf(readings, "steps").place(3, 0), 3);
});

test("compactions cut the turns where they happened, also inside the newest turn", async () => {
  const { cut, joined } = await load("turns");
  const passed = [1, 2, 3].map((number) => ({ number }));
  const numbers = (newer, older) => cut(passed, newer, older).map((one) => one.number);
  assert.deepEqual(numbers(3, 1), [2, 1]);
  assert.deepEqual(numbers(2, 2), []);
  assert.deepEqual(numbers(Infinity, 3), [3]);
  assert.deepEqual(numbers(null, 1), []);
  const page = (...known) => known.map((number) => ({ number }));
  assert.deepEqual(joined(page(5, 4), page(4, 3)), page(5, 4, 3));
});

test("a short answer shows what it answers, without Markdown", async () => {
  const { asked } = await load("windows");
  const of = {
    is_main: true,
    title: "Write the tide tables",
    answers: "**Which** one: `a` or `b`?",
  };
  assert.equal(asked({ ...of, asked: "1" }), "1 (to “Which one: a or b?”)");
  assert.equal(asked({ ...of, asked: "Now the legend", answers: null }), "Now the legend");
  assert.equal(asked({ ...of, asked: "Write the tide tables" }), "");
});

test("what was under way in a session that is over is unfinished", async () => {
  const { workState } = await load("windows");
  const words = ["running", "active", "completed", "pending"];
  assert.deepEqual(
    words.map((one) => workState(one, false)),
    ["unfinished", "unfinished", "completed", "pending"],
  );
  assert.equal(workState("running", true), "running");
});

test("joiners of other scripts stay, what turns the direction of text is shown", async () => {
  const { counted, plain } = await load("format");
  assert.equal(
    plain("\u0646\u200c\u0645 \u{1F468}\u200d\u{1F469}"),
    "\u0646\u200c\u0645 \u{1F468}\u200d\u{1F469}",
  );
  assert.equal(plain("a\u202eb"), "a⟨202E⟩b");
  assert.deepEqual(
    [counted(null, false), counted(null, true), counted(0, true)],
    ["not read", "no summary", "0"],
  );
});

test("a chart of costs has one unit, and opens where there is something to see", async () => {
  const { rangeWith, shares } = await load("costs");
  const day = (cost, input) => ({ cost, input, output: 0, cache_read: 0, cache_written: 0 });
  const days = [day(2, 10), day(null, 9_000_000), day(1, 40)];
  assert.deepEqual(shares(days, true), [1, 0, 0.5]);
  assert.equal(shares(days, false)[1], 1);
  assert.deepEqual(
    ["2026-11-18", "2026-10-01", "2024-05-05", ""].map((last) => rangeWith(last, NOW)),
    ["30", "366", "all", "30"],
  );
});

test("a date of another year has its year, and hours have their minutes", async () => {
  const { bytes, span, when } = await load("format");
  assert.match(when("2026-03-02T10:00:00Z", NOW), /^2 Mar \d\d:00$/);
  assert.match(when("2025-03-02T10:00:00Z", NOW), /^2 Mar 2025 /);
  assert.deepEqual(
    [178, 59.7, 60, 59.4, 1439].map((minutes) => span(minutes * 60_000)),
    ["2 h 58", "1 h 00", "1 h 00", "59 min", "23 h 59"],
  );
  assert.deepEqual([900, 1_048_576, 2e9].map(bytes), ["1 KB", "1.0 MB", "2.0 GB"]);
});

test("two projects of one name are told apart by the folder above them", async () => {
  const { projectNames } = await load("windows");
  const at = (id, path) => ({ id, path, name: path.split("/").at(-1) });
  const names = projectNames([at("1", "/a/work/cli"), at("2", "/b/home/cli"), at("3", "/a/web")]);
  assert.deepEqual([...names.values()], ["work/cli", "home/cli", "web"]);
});

test("titles and requests are shown without Markdown and tags", async () => {
  const { asked, title } = await load("windows");
  const of = {
    is_main: true,
    title: "## **Fix** the `pump`",
    asked: "<command-name>/goal</command-name>\n- Keep Vec<String> as it is",
  };
  assert.equal(title(of), "Fix the pump");
  assert.equal(asked(of), "/goal Keep Vec<String> as it is");
});
