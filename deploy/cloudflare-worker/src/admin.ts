import type { Env } from "./env";
import type { Registry, Row } from "./registry";
import type { Container, Ran, Sandbox } from "./sandbox";

/** Where the admin API is. */
export const prefix = "/api/sandbox";

/** An id is the name of the Durable Object, which the SDK wants to fit into a host name. */
const idForm = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const paths = new Set(["stats", "list", "cleanup", "audit"]);

const most = 64 * 1024; // characters of one answer of a command

/** A Refusal is an answer that is no success, in the contract's form. */
class Refusal extends Error {
  constructor(readonly status: number, readonly code: string, words: string) {
    super(words);
  }
}

const json = (status: number, body: unknown) => Response.json(body, { status });

/** handle answers a call of the admin API. Nothing is answered without the token. */
export async function handle(request: Request, env: Env): Promise<Response> {
  try {
    if (!(await known(request, env))) throw new Refusal(401, "unauthorized", "a bearer token is needed");
    return await route(request, env);
  } catch (err) {
    if (err instanceof Refusal) return json(err.status, { error: err.message, code: err.code });
    console.error("admin call failed", err);
    return json(500, { error: err instanceof Error ? err.message : String(err), code: "internal" });
  }
}

/** known compares digests, which have one length, in a time that tells nothing. */
async function known(request: Request, env: Env): Promise<boolean> {
  if (!env.ADMIN_TOKEN) return false;
  const digest = (text: string) => crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  const [got, want] = await Promise.all([
    digest(request.headers.get("Authorization") ?? ""), digest(`Bearer ${env.ADMIN_TOKEN}`),
  ]);
  return crypto.subtle.timingSafeEqual(got, want);
}

async function route(request: Request, env: Env): Promise<Response> {
  const url = new URL(request.url);
  const [first = "", second = "", ...more] = url.pathname.slice(prefix.length + 1).split("/");
  const call = `${request.method} ${first}${second ? `/${second}` : ""}`;
  const whole = new Map<string, () => Promise<Response>>([
    ["GET stats", async () => json(200, await registry(env).counts())],
    ["GET list", () => list(env, url)],
    ["GET audit", () => audit(env)],
    ["POST cleanup", () => cleanup(env)],
    ["POST cleanup/emergency", () => emergency(env)],
    ["POST ", () => create(env, request)],
  ]).get(call);
  if (whole && more.length === 0) return await whole();
  if (more.length > 0 || paths.has(first)) throw new Refusal(404, "no_route", "no such path");
  const one = new Map<string, (env: Env, found: Row, request: Request) => Promise<Response>>([
    ["GET ", async (env, found) => json(200, await shown(env, found))],
    ["DELETE ", terminate],
    ["GET logs", logs],
    ["GET resources", resources],
    ["POST exec", exec],
    ["GET files", files],
  ]).get(`${request.method} ${second}`);
  if (!one) throw new Refusal(404, "no_route", "no such path");
  return await one(env, await recorded(env, first), request);
}

const registry = (env: Env): DurableObjectStub<Registry> => env.REGISTRY.get(env.REGISTRY.idFromName("registry"));
const sandbox = (env: Env, id: string): DurableObjectStub<Sandbox> => env.SANDBOX.get(env.SANDBOX.idFromName(id));

/** recorded finds a row. The object of an id that has none is never asked: asking makes it. */
async function recorded(env: Env, id: string): Promise<Row> {
  const found = idForm.test(id) ? ((await registry(env).get(id)) as Row | null) : null;
  if (!found) throw new Refusal(404, "not_found", `sandbox ${id.slice(0, 80)} not found`);
  return found;
}

/** inspect never fails: what does not answer is unknown, which is not missing. */
async function inspect(env: Env, id: string): Promise<Container | "unknown"> {
  const late = new Promise<"unknown">((resolve) => setTimeout(() => resolve("unknown"), 5000));
  try {
    return await Promise.race([sandbox(env, id).inspect() as Promise<Container>, late]);
  } catch {
    return "unknown";
  }
}

/** shown is a row in the contract's form, with what the runtime says of its container. */
async function shown(env: Env, found: Row) {
  const { operations: _, ending: __, ...rest } = found;
  return {
    ...rest, container: await inspect(env, found.id),
    age_minutes: (Date.now() - Date.parse(found.created_at)) / 60_000,
  };
}

/** inTurn does something for each, a few at a time: a Worker has only so many connections. */
async function inTurn<T, R>(all: T[], act: (one: T) => Promise<R>): Promise<R[]> {
  const out: R[] = [];
  for (let i = 0; i < all.length; i += 25) out.push(...(await Promise.all(all.slice(i, i + 25).map(act))));
  return out;
}

async function list(env: Env, url: URL): Promise<Response> {
  const wanted = Number(url.searchParams.get("limit") ?? 100);
  if (!Number.isInteger(wanted) || wanted < 1) throw new Refusal(400, "invalid_request", "limit must be a number from 1 on");
  // Each row is a call to its object, of which one request may make only so many.
  const page = await registry(env).list(Math.min(wanted, 200), url.searchParams.get("cursor") ?? "");
  return json(200, { sandboxes: await inTurn(page.rows as Row[], (r) => shown(env, r)), next_cursor: page.next });
}

async function everyRow(env: Env): Promise<Row[]> {
  const all: Row[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const page: { rows: Row[]; next: string | null } = await registry(env).list(500, cursor);
    all.push(...page.rows);
    cursor = page.next;
  }
  return all;
}

/** audit looks both ways. Containers without a record are looked for among those ended lately. */
async function audit(env: Env): Promise<Response> {
  const rows = (await everyRow(env)).filter((r) => r.status === "running");
  const behind = await inTurn(rows, (r) => inspect(env, r.id));
  const ended = await registry(env).ended();
  const left = await inTurn(ended, (id) => inspect(env, id));
  return json(200, {
    orphaned_records: rows.filter((_, i) => behind[i] === "missing").map((r) => r.id),
    orphaned_actual: ended.filter((_, i) => left[i] === "running"),
  });
}

/** create is the platform's own call: it starts a sandbox and registers it first. */
async function create(env: Env, request: Request): Promise<Response> {
  const wish = (await request.json().catch(() => null)) as {
    id?: unknown; task_id?: unknown; agent_type?: unknown; labels?: unknown;
  } | null;
  const text = (v: unknown) => (typeof v === "string" && v !== "" ? v : null);
  const id = text(wish?.id) ?? crypto.randomUUID();
  if (!wish || !idForm.test(id) || paths.has(id)) {
    throw new Refusal(400, "invalid_request", "id must be of small letters, digits and hyphens, at most 63");
  }
  const labels = Object.fromEntries(
    Object.entries((wish.labels ?? {}) as Record<string, unknown>).filter((e): e is [string, string] => typeof e[1] === "string"));
  const made = await registry(env).add({
    id, task_id: text(wish.task_id), agent_type: text(wish.agent_type), labels,
    actor_id: env.SANDBOX.idFromName(id).toString(),
  });
  if (!made) throw new Refusal(409, "exists", `sandbox ${id} is there already`);
  let wanted: boolean;
  try {
    await sandbox(env, id).exec("true"); // starts the container
    wanted = await registry(env).settle(id, "running");
  } catch (err) {
    await registry(env).settle(id, "failed");
    throw err;
  }
  if (!wanted) { // its end came before its start
    await sandbox(env, id).kill();
    throw new Refusal(409, "terminating", `sandbox ${id} was ended while it started`);
  }
  return json(201, await shown(env, await recorded(env, id)));
}

/** end kills a container and makes sure of it; only then the record goes. */
async function end(env: Env, id: string): Promise<"gone" | "under way"> {
  const how = await registry(env).begin(id);
  if (how === "under way") return how;
  if (how === "unknown") return "gone";
  try {
    await sandbox(env, id).kill();
    const left = await inspect(env, id);
    if (left === "running") throw new Error("its container runs on after it was killed");
    if (left === "unknown") throw new Error("whether its container is gone is not known");
    await registry(env).remove(id);
    return "gone";
  } catch (err) {
    await registry(env).release(id);
    throw err;
  }
}

async function terminate(env: Env, found: Row): Promise<Response> {
  if ((await end(env, found.id)) === "under way") throw new Refusal(409, "terminating", "it is being terminated already");
  return json(200, { id: found.id, status: "terminated" });
}

/** sweep ends many, and goes on where one fails. */
async function sweep(env: Env, rows: Row[]): Promise<Response> {
  const failed: { id: string; error: string }[] = [];
  await inTurn(rows, async (r) => {
    try {
      await end(env, r.id);
    } catch (err) {
      failed.push({ id: r.id, error: err instanceof Error ? err.message : String(err) });
    }
  });
  return json(200, { cleaned: rows.length - failed.length, failed });
}

/** cleanup ends what is older than MAX_AGE_MINUTES. Sandkeeper never calls it. */
async function cleanup(env: Env): Promise<Response> {
  const minutes = Number(env.MAX_AGE_MINUTES ?? 60);
  if (!(minutes >= 1)) throw new Refusal(500, "misconfigured", "MAX_AGE_MINUTES must be at least 1");
  const before = Date.now() - minutes * 60_000;
  return await sweep(env, (await everyRow(env)).filter((r) => Date.parse(r.created_at) < before));
}

/** emergency ends all but what is labeled critical=true. Sandkeeper never calls it. */
async function emergency(env: Env): Promise<Response> {
  return await sweep(env, (await everyRow(env)).filter((r) => r.labels["critical"] !== "true"));
}

/** ran turns what a command came to into its result, or refuses in the contract's words. */
function ran(got: Ran) {
  switch (got.outcome) {
    case "ran":
      return got;
    case "not_running":
      throw new Refusal(409, "not_running", "its container does not run");
    case "timeout":
      throw new Refusal(504, "timeout", "the command did not end in time");
    case "failed":
      throw new Refusal(502, "exec_transport_error", `the container did not take the command: ${got.why.slice(0, 200)}`);
  }
}

/** quote makes one word of a text for sh. */
const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** place makes one word of a path for a command, which must not read it as an option. */
const place = (path: string) => quote(path.startsWith("/") ? path : `./${path}`);

async function exec(env: Env, found: Row, request: Request): Promise<Response> {
  const wish = (await request.json().catch(() => null)) as { command?: unknown; timeout_ms?: unknown } | null;
  const command = wish?.command;
  if (!Array.isArray(command) || command.length === 0 || command.some((word) => typeof word !== "string")) {
    throw new Refusal(400, "invalid_request", "command must be a list of texts");
  }
  const limit = typeof wish?.timeout_ms === "number" && wish.timeout_ms > 0 ? Math.min(wish.timeout_ms, 60_000) : 10_000;
  const got = ran((await sandbox(env, found.id).execQuietly((command as string[]).map(quote).join(" "), limit)) as Ran);
  return json(200, { exit_code: got.exitCode, stdout: got.stdout.slice(0, most), stderr: got.stderr.slice(0, most) });
}

const kinds: Record<string, string> = { f: "file", d: "dir", l: "symlink" };

async function files(env: Env, found: Row, request: Request): Promise<Response> {
  const path = new URL(request.url).searchParams.get("path");
  if (!path) throw new Refusal(400, "invalid_request", "path is needed");
  const find = `find ${place(path)} -maxdepth 1 -mindepth 1 -printf '%y\\t%s\\t%f\\n' | head -n 1000; test -e ${place(path)}`;
  const got = ran((await sandbox(env, found.id).execQuietly(find, 10_000)) as Ran);
  if (got.exitCode !== 0) throw new Refusal(404, "no_such_path", got.stderr.trim().slice(0, 200) || "no such path");
  const entries = got.stdout.split("\n").filter((line) => line.includes("\t")).map((line) => {
    const [kind = "", size = "0", ...name] = line.split("\t");
    return { name: name.join("\t"), type: kinds[kind] ?? "other", size: Number(size) };
  });
  return json(200, { entries });
}

async function logs(env: Env, found: Row, request: Request): Promise<Response> {
  const tail = Number(new URL(request.url).searchParams.get("tail") ?? 200);
  const lines = Number.isInteger(tail) && tail > 0 ? Math.min(tail, 1000) : 200;
  const read = `tail -n ${lines} ${place(env.LOG_FILE ?? "/workspace/agent.log")} 2>/dev/null || true`;
  const got = ran((await sandbox(env, found.id).execQuietly(read, 10_000)) as Ran);
  return new Response(got.stdout.slice(-most), { headers: { "Content-Type": "text/plain; charset=utf-8" } });
}

/** measure reads the machine's own counters twice, a quarter of a second apart. */
const measure = "head -n 1 /proc/stat; sleep 0.25; head -n 1 /proc/stat; grep -E '^(MemTotal|MemAvailable):' /proc/meminfo";

async function resources(env: Env, found: Row): Promise<Response> {
  const got = ran((await sandbox(env, found.id).execQuietly(measure, 10_000)) as Ran);
  const cpu = [...got.stdout.matchAll(/^cpu +(.*)$/gm)].map((m) => (m[1] ?? "").split(" ").map(Number));
  const kib = (name: string) => Number(new RegExp(`${name}: +(\\d+)`).exec(got.stdout)?.[1] ?? Number.NaN);
  const [before, after] = cpu;
  const used = kib("MemTotal") - kib("MemAvailable");
  if (!before || !after || Number.isNaN(used)) throw new Refusal(502, "not_measured", "the container told no counters");
  const spent = after.map((n, i) => n - (before[i] ?? 0));
  const all = spent.slice(0, 8).reduce((sum, n) => sum + n, 0);
  const idle = (spent[3] ?? 0) + (spent[4] ?? 0);
  return json(200, {
    cpu_percent: all > 0 ? Math.round((1000 * (all - idle)) / all) / 10 : 0, memory_mb: used / 1024,
    duration_ms: Date.now() - Date.parse(found.created_at), operations: found.operations,
  });
}
