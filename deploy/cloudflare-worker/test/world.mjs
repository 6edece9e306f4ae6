// The Worker as it is, in the real Workers runtime, with the real SDK; only the engine that
// would run its containers is a stand-in.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Miniflare } from "miniflare";
import { Engine } from "./engine.mjs";

export const token = "worker-secret-key";
/** The runtime and the SDK log every call. */
const silent = (out, err) => (process.env.WORKER_LOG ? (out.pipe(process.stdout), err.pipe(process.stderr)) : (out.resume(), err.resume()));

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** config is wrangler.jsonc, so that the tests run what is deployed. */
export const config = JSON.parse(readFileSync(join(root, "wrangler.jsonc"), "utf8").replaceAll(/\/\/.*$/gm, ""));

async function bundle(entry) {
  const made = await build({
    entryPoints: [join(root, entry)], bundle: true, format: "esm", target: "es2022", platform: "neutral",
    mainFields: ["module", "main"], conditions: ["workerd", "worker", "import"], write: false, logLevel: "error",
    external: ["cloudflare:*", "node:*"],
  });
  return made.outputFiles[0].text;
}

/** World is a Worker that can be restarted, and its containers lost. */
export class World {
  #kept = mkdtempSync(join(tmpdir(), "worker-"));
  engine = new Engine();

  async open({ entry = config.main } = {}) {
    await this.engine.open();
    this.script = await bundle(entry);
    await this.#run(0);
    return this;
  }

  async #run(port) {
    this.runtime = new Miniflare({
      modules: true, handleRuntimeStdio: silent, script: this.script, port, host: "127.0.0.1",
      compatibilityDate: config.compatibility_date, compatibilityFlags: config.compatibility_flags,
      bindings: { ...config.vars, ADMIN_TOKEN: token, LOG_FILE: "agent.log" },
      durableObjects: Object.fromEntries(config.durable_objects.bindings.map(({ name, class_name: className }) => [name, {
        className, useSQLite: config.migrations.some((m) => m.new_sqlite_classes.includes(className)),
        ...(config.containers.some((c) => c.class_name === className) && { container: { imageName: "sandbox" } }),
      }])),
      durableObjectsPersist: this.#kept,
      containerEngine: { localDocker: { socketPath: `unix:${this.engine.socket}`, containerEgressInterceptorImage: "none" } },
    });
    this.url = (await this.runtime.ready).href.replace(/\/$/, "");
  }

  /** restart ends the runtime and starts it again; with lose, its containers vanish meanwhile. */
  async restart({ lose = false } = {}) {
    const port = Number(new URL(this.url).port);
    await this.runtime.dispose();
    if (lose) await this.engine.drop();
    await this.#run(port);
  }

  async close() {
    await this.runtime?.dispose();
    await this.engine.close();
    rmSync(this.#kept, { recursive: true, force: true });
  }

  /** call makes a call of the admin API. */
  async call(method, path, body, headers = { Authorization: `Bearer ${token}` }) {
    const res = await fetch(`${this.url}/api/sandbox${path}`, {
      method, headers, body: body === undefined ? undefined : JSON.stringify(body),
    });
    const text = await res.text();
    let value = text;
    try {
      value = JSON.parse(text);
    } catch {
      // a log is no JSON
    }
    return { status: res.status, body: value };
  }

  /** make starts a sandbox. */
  async make(id, more = {}) {
    const made = await this.call("POST", "", { id, ...more });
    if (made.status !== 201) throw new Error(`create ${id}: ${made.status} ${JSON.stringify(made.body)}`);
    return made.body;
  }
}
