// Looking keeps nobody awake.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { World } from "./world.mjs";

test("a sandbox falls asleep although it is probed, and a probe does not wake it", async () => {
  const w = await new World().open({ entry: "test/sleepy.ts" });
  try {
    const { actor_id } = await w.make("drowsy");
    let probes = 0;
    for (; w.engine.running(actor_id) && probes < 100; probes++) {
      const got = await w.call("POST", "/drowsy/exec", { command: ["true"] });
      assert.ok(got.status === 200 || got.status === 409, `exec = ${got.status}`);
      await sleep(200);
    }
    assert.ok(probes > 3 && probes < 100, `it slept after ${probes} probes`);
    for (let i = 0; i < 50 && (await w.call("GET", "/drowsy")).body.container !== "stopped"; i++) await sleep(100);
    const { body } = await w.call("GET", "/drowsy");
    assert.deepEqual([body.status, body.container], ["running", "stopped"]);
    assert.equal((await w.call("POST", "/drowsy/exec", { command: ["true"] })).status, 409);
    assert.equal(w.engine.started.length, 1);
    assert.deepEqual((await w.call("GET", "/audit")).body.orphaned_records, []);
  } finally {
    await w.close();
  }
});
