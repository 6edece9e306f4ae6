// What must be the same in two places is.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const read = (name) => readFileSync(new URL(`../${name}`, import.meta.url), "utf8");

test("the image is that of the SDK", () => {
  const wanted = JSON.parse(read("package.json")).dependencies["@cloudflare/sandbox"];
  assert.equal(/^FROM .*cloudflare\/sandbox:(.*)$/m.exec(read("Dockerfile"))[1], wanted);
});

test("versions are pinned, and the lockfile names no registry", () => {
  const { dependencies, devDependencies } = JSON.parse(read("package.json"));
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    assert.match(version, /^\d+\.\d+\.\d+$/, name);
  }
  const lock = read("package-lock.json");
  assert.ok(!lock.includes('"resolved"') && lock.includes('"integrity"'));
});
