// A container never outlives its record.
import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { World } from "./world.mjs";

test("what is ended before it started does not run on without a record", async () => {
  const w = await new World().open({ entry: "test/slow.ts" });
  try {
    const made = w.call("POST", "", { id: "slow" });
    let row = await w.call("GET", "/slow");
    for (let i = 0; i < 50 && row.status !== 200; i++) {
      await sleep(10);
      row = await w.call("GET", "/slow");
    }
    assert.equal(row.body.status, "provisioning");
    assert.equal((await w.call("DELETE", "/slow")).status, 200);
    assert.deepEqual([(await made).status, (await made).body.code], [409, "terminating"]);
    assert.equal(w.engine.started.length, 1);
    assert.equal(w.engine.running(row.body.actor_id), false);
  } finally {
    await w.close();
  }
});
