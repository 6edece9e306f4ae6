// What sandkeeper relies on, in the real Workers runtime.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { World } from "./world.mjs";

let w;
before(async () => {
  w = await new World().open();
});
after(async () => await w.close());

/** until waits for what becomes true within some seconds. */
async function until(what, is, seconds = 10) {
  for (let i = 0; i < seconds * 10; i++) {
    if (await is()) return;
    await sleep(100);
  }
  assert.fail(`${what} did not happen within ${seconds}s`);
}

const one = (id) => w.call("GET", `/${id}`);
const exec = (id, command, timeout_ms = 5000) => w.call("POST", `/${id}/exec`, { command, timeout_ms });

test("nothing is answered without the token", async () => {
  for (const [method, path] of [["GET", "/list"], ["GET", "/stats"], ["GET", "/audit"], ["GET", "/x"], ["DELETE", "/x"],
    ["POST", "/cleanup"], ["POST", "/cleanup/emergency"], ["POST", ""], ["POST", "/x/exec"]]) {
    for (const headers of [{}, { Authorization: "Bearer wrong" }, { Authorization: "worker-secret-key" }]) {
      const got = await w.call(method, path, method === "POST" ? {} : undefined, headers);
      assert.deepEqual([got.status, got.body.code], [401, "unauthorized"], `${method} ${path}`);
    }
  }
});

test("an unknown id is not found, and nothing comes to be", async () => {
  const before = w.engine.started.length;
  for (const [method, path, body] of [["GET", ""], ["DELETE", ""], ["GET", "/logs"], ["GET", "/resources"],
    ["GET", "/files?path=/"], ["POST", "/exec", { command: ["true"] }]]) {
    for (const id of ["nobody", "No-Body", "no_body", "a".repeat(64)]) {
      const got = await w.call(method, `/${id}${path}`, body);
      assert.deepEqual([got.status, got.body.code], [404, "not_found"], `${method} /${id}${path}`);
    }
  }
  assert.equal(w.engine.started.length, before);
});

test("a path that there is not is told from an unknown id", async () => {
  await w.make("paths");
  for (const [method, path] of [["GET", "/paths/nonsense"], ["PUT", "/paths"], ["DELETE", "/list"], ["GET", "/paths/logs/more"]]) {
    const got = await w.call(method, path);
    assert.deepEqual([got.status, got.body.code], [404, "no_route"], `${method} ${path}`);
  }
  assert.equal((await one("paths")).status, 200);
});

test("a row says what the contract asks for", async () => {
  const made = await w.make("row", { task_id: "t-1", agent_type: "coder", labels: { project: "mine" } });
  const { body } = await one("row");
  assert.deepEqual({ ...body, age_minutes: 0 }, { ...made, age_minutes: 0 });
  assert.match(body.actor_id, /^[0-9a-f]{64}$/);
  assert.deepEqual([body.id, body.status, body.container, body.task_id, body.agent_type, body.labels],
    ["row", "running", "running", "t-1", "coder", { project: "mine" }]);
  assert.ok(Math.abs(Date.now() - Date.parse(body.created_at)) < 60_000);
  assert.ok(w.engine.running(body.actor_id));
});

test("the list comes in pages, whole and in the order of creation", async () => {
  for (let i = 0; i < 5; i++) await w.make(`page-${i}`);
  const met = [];
  for (let cursor = "", pages = 0; cursor !== null; pages++) {
    assert.ok(pages < 20, "the pages end");
    const { status, body } = await w.call("GET", `/list?limit=2&cursor=${encodeURIComponent(cursor)}`);
    assert.equal(status, 200);
    met.push(...body.sandboxes.map((s) => s.id));
    cursor = body.next_cursor;
  }
  assert.deepEqual(met.filter((id) => id.startsWith("page-")), [0, 1, 2, 3, 4].map((i) => `page-${i}`));
  assert.equal(new Set(met).size, met.length);
  assert.equal((await w.call("GET", "/list?limit=0")).status, 400);
});

test("exec runs a command, word for word", async () => {
  await w.make("exec");
  const got = await exec("exec", ["printf", "%s|", "it's", "$HOME", "a b"]);
  assert.deepEqual([got.status, got.body.exit_code, got.body.stdout], [200, 0, "it's|$HOME|a b|"]);
  assert.equal((await exec("exec", ["sh", "-c", "exit 3"])).body.exit_code, 3);
  for (const command of [undefined, "true", [], [1]]) assert.equal((await exec("exec", command)).status, 400);
});

test("exec that hangs is 504, and one that breaks is 502", async () => {
  const { actor_id } = await w.make("sick");
  w.engine.trouble(actor_id, "hang");
  const hung = await exec("sick", ["true"], 300);
  assert.deepEqual([hung.status, hung.body.code], [504, "timeout"]);
  w.engine.trouble(actor_id, "break");
  const broken = await exec("sick", ["true"]);
  assert.deepEqual([broken.status, broken.body.code], [502, "exec_transport_error"]);
});

test("files are those of the container", async () => {
  const { actor_id } = await w.make("files");
  writeFileSync(join(w.engine.folder(actor_id), "a file"), "four");
  const got = await w.call("GET", `/files/files?path=${encodeURIComponent(w.engine.folder(actor_id))}`);
  assert.deepEqual([got.status, got.body.entries], [200, [{ name: "a file", type: "file", size: 4 }]]);
  const none = await w.call("GET", "/files/files?path=/nowhere");
  assert.deepEqual([none.status, none.body.code], [404, "no_such_path"]);
});

test("a path that looks like an option is a path", async () => {
  const { actor_id } = await w.make("dashes");
  const folder = w.engine.folder(actor_id);
  for (const name of ["-delete", "!", "("]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "kept"), "four");
    const got = await w.call("GET", `/dashes/files?path=${encodeURIComponent(name)}`);
    assert.deepEqual([got.status, got.body.entries], [200, [{ name: "kept", type: "file", size: 4 }]], name);
  }
  const none = await w.call("GET", "/dashes/files?path=-false");
  assert.deepEqual([none.status, none.body.code], [404, "no_such_path"]);
  assert.ok(existsSync(join(folder, "-delete", "kept")), "a listing deleted what it was to list");
});

test("logs are the end of the agent's log, and resources are measured", async () => {
  const { actor_id } = await w.make("seen");
  writeFileSync(join(w.engine.folder(actor_id), "agent.log"), "first\nlast\n");
  assert.equal((await w.call("GET", "/seen/logs?tail=1")).body, "last\n");
  const { status, body } = await w.call("GET", "/seen/resources");
  assert.equal(status, 200);
  assert.ok(body.cpu_percent >= 0 && body.cpu_percent <= 100 && body.memory_mb > 0 && body.duration_ms > 0, JSON.stringify(body));
});

test("delete ends the container and forgets the record", async () => {
  const { actor_id } = await w.make("end");
  const before = (await w.call("GET", "/stats")).body;
  assert.equal((await w.call("DELETE", "/end")).status, 200);
  assert.equal(w.engine.running(actor_id), false);
  assert.equal((await one("end")).status, 404);
  assert.equal((await w.call("DELETE", "/end")).status, 404);
  const stats = (await w.call("GET", "/stats")).body;
  assert.deepEqual([stats.active, stats.total_created, stats.total_destroyed],
    [before.active - 1, before.total_created, before.total_destroyed + 1]);
});

test("two deletes at once end it once", async () => {
  await w.make("twice");
  const before = (await w.call("GET", "/stats")).body.total_destroyed;
  const got = (await Promise.all([w.call("DELETE", "/twice"), w.call("DELETE", "/twice")])).map((r) => r.status).sort();
  assert.equal(got[0], 200);
  assert.ok(got[1] === 404 || got[1] === 409, `the other one is ${got[1]}`);
  assert.equal((await w.call("GET", "/stats")).body.total_destroyed, before + 1);
});

test("a kill that fails keeps the record, and may be tried again", async () => {
  const { actor_id } = await w.make("tough");
  w.engine.immortal = true;
  const got = await w.call("DELETE", "/tough");
  w.engine.immortal = false;
  assert.equal(got.status, 500);
  assert.equal((await one("tough")).body.status, "terminating");
  assert.equal((await w.call("DELETE", "/tough")).status, 200);
  assert.equal(w.engine.running(actor_id), false);
});

test("a container that was killed behind its object is missing, and nothing starts it", async () => {
  const { actor_id } = await w.make("crashed");
  await w.engine.kill(actor_id);
  await until("missing", async () => (await one("crashed")).body.container === "missing");
  const before = w.engine.started.length;
  for (const [method, path, body] of [["POST", "/exec", { command: ["true"] }], ["GET", "/files?path=/"], ["GET", "/logs"],
    ["GET", "/resources"]]) {
    const got = await w.call(method, `/crashed${path}`, body);
    assert.deepEqual([got.status, got.body.code], [409, "not_running"], path);
  }
  assert.deepEqual((await w.call("GET", "/audit")).body.orphaned_records, ["crashed"]);
  assert.equal((await w.call("DELETE", "/crashed")).status, 200);
  assert.equal((await one("crashed")).status, 404);
  assert.equal(w.engine.started.length, before);
});

test("what the runbook calls state corruption is seen and repaired", async () => {
  const { actor_id } = await w.make("lost");
  await w.restart({ lose: true });
  const { body } = await one("lost");
  assert.deepEqual([body.status, body.container], ["running", "missing"]);
  assert.ok((await w.call("GET", "/audit")).body.orphaned_records.includes("lost"));
  const before = w.engine.started.length;
  assert.equal((await w.call("DELETE", "/lost")).status, 200);
  assert.equal((await one("lost")).status, 404);
  assert.equal(w.engine.started.length, before);
  assert.equal(w.engine.running(actor_id), false);
});

test("the sweeps end what they say, and spare what is critical", async () => {
  await w.make("young");
  assert.deepEqual((await w.call("POST", "/cleanup")).body, { cleaned: 0, failed: [] });
  await w.make("vital", { labels: { critical: "true" } });
  const { body } = await w.call("POST", "/cleanup/emergency");
  assert.deepEqual(body.failed, []);
  const left = (await w.call("GET", "/list")).body.sandboxes.map((s) => s.id);
  assert.deepEqual(left, ["vital"]);
});
