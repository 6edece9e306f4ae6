// Not known is not gone.
import assert from "node:assert/strict";
import { test } from "node:test";
import { World } from "./world.mjs";

test("the record stays while nobody knows whether the container is gone", async () => {
  const w = await new World().open({ entry: "test/mute.ts" });
  try {
    await w.make("mute");
    assert.equal((await w.call("DELETE", "/mute")).status, 500);
    const { status, body } = await w.call("GET", "/mute");
    assert.deepEqual([status, body.status, body.container], [200, "terminating", "unknown"]);
    assert.equal((await w.call("GET", "/stats")).body.total_destroyed, 0);
  } finally {
    await w.close();
  }
});
