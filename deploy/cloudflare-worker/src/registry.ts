import { DurableObject } from "cloudflare:workers";
import type { Env } from "./env";

/** A Row is one sandbox in the registry. */
export interface Row {
  id: string;
  status: "provisioning" | "running" | "failed" | "terminating";
  created_at: string;
  agent_type: string | null;
  task_id: string | null;
  labels: Record<string, string>;
  actor_id: string;
  last_activity_at: string;
  operations: number;
  /** since when it is being ended; 0: it is not, or that failed */
  ending: number;
}

/** What makes a row. */
export type Wish = Pick<Row, "id" | "agent_type" | "task_id" | "labels" | "actor_id">;

/** What the registry counts. */
export interface Counts {
  active: number;
  provisioning: number;
  terminating: number;
  total_created: number;
  total_destroyed: number;
}

/** For how long an ended sandbox is looked at again by the audit. */
const remembered = 24 * 60 * 60 * 1000;

/** After so long a termination that nobody finished may be begun again. */
const endingFor = 60 * 1000;

type Stored = Omit<Row, "labels"> & { labels: string };

/**
 * Registry holds one row for each sandbox, in one object, so that a list is one consistent
 * look. The SDK has no list of its own.
 */
export class Registry extends DurableObject<Env> {
  private readonly sql: SqlStorage;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.sql = ctx.storage.sql;
    this.sql.exec(`
      CREATE TABLE IF NOT EXISTS sandboxes (
        id TEXT PRIMARY KEY, status TEXT NOT NULL, created_at TEXT NOT NULL, agent_type TEXT, task_id TEXT,
        labels TEXT NOT NULL, actor_id TEXT NOT NULL, last_activity_at TEXT NOT NULL,
        operations INTEGER NOT NULL DEFAULT 0, ending INTEGER NOT NULL DEFAULT 0) STRICT;
      CREATE TABLE IF NOT EXISTS ended (id TEXT PRIMARY KEY, at INTEGER NOT NULL) STRICT;
      CREATE TABLE IF NOT EXISTS totals (name TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT;`);
  }

  /** add makes a row, or returns null where there is one. */
  add(wish: Wish): Row | null {
    if (this.get(wish.id)) return null;
    const now = new Date().toISOString();
    this.sql.exec(
      `INSERT INTO sandboxes (id, status, created_at, agent_type, task_id, labels, actor_id, last_activity_at)
       VALUES (?, 'provisioning', ?, ?, ?, ?, ?, ?)`,
      wish.id, now, wish.agent_type, wish.task_id, JSON.stringify(wish.labels), wish.actor_id, now);
    this.sql.exec("DELETE FROM ended WHERE id = ?", wish.id);
    this.count("created");
    return this.get(wish.id);
  }

  get(id: string): Row | null {
    const found = this.sql.exec<Stored & Record<string, SqlStorageValue>>("SELECT * FROM sandboxes WHERE id = ?", id).toArray();
    return found[0] ? row(found[0]) : null;
  }

  /** list is one page in the order of creation, after the row that the cursor names. */
  list(limit: number, cursor: string): { rows: Row[]; next: string | null } {
    const [created = "", id = ""] = cursor ? cursor.split("/") : [];
    const found = this.sql
      .exec<Stored & Record<string, SqlStorageValue>>(
        `SELECT * FROM sandboxes WHERE (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`,
        created, id, limit + 1)
      .toArray();
    const rows = found.slice(0, limit).map(row);
    const last = rows.at(-1);
    return { rows, next: found.length > limit && last ? `${last.created_at}/${last.id}` : null };
  }

  /** settle says what became of a start, or false where it was ended meanwhile and stays that. */
  settle(id: string, status: "running" | "failed"): boolean {
    return this.sql.exec("UPDATE sandboxes SET status = ? WHERE id = ? AND status <> 'terminating'", status, id).rowsWritten > 0;
  }

  /** touch counts work that the platform did in the sandbox. */
  touch(id: string): void {
    this.sql.exec("UPDATE sandboxes SET last_activity_at = ?, operations = operations + 1 WHERE id = ?",
      new Date().toISOString(), id);
  }

  /** begin claims the termination of a sandbox: one at a time, for a minute. */
  begin(id: string): "begun" | "under way" | "unknown" {
    const found = this.get(id);
    if (!found) return "unknown";
    if (found.status === "terminating" && Date.now() - found.ending < endingFor) return "under way";
    this.sql.exec("UPDATE sandboxes SET status = 'terminating', ending = ? WHERE id = ?", Date.now(), id);
    return "begun";
  }

  /** release lets a termination that failed be begun again at once. The row stays. */
  release(id: string): void {
    this.sql.exec("UPDATE sandboxes SET ending = 0 WHERE id = ?", id);
  }

  /** remove forgets the row of what is gone. */
  remove(id: string): void {
    this.sql.exec("DELETE FROM sandboxes WHERE id = ?", id);
    this.sql.exec("INSERT OR REPLACE INTO ended (id, at) VALUES (?, ?)", id, Date.now());
    this.sql.exec("DELETE FROM ended WHERE at < ?", Date.now() - remembered);
    this.count("destroyed");
  }

  /** ended are the sandboxes that were ended lately. */
  ended(): string[] {
    return this.sql.exec<{ id: string }>("SELECT id FROM ended ORDER BY at DESC LIMIT 500").toArray().map((e) => e.id);
  }

  counts(): Counts {
    const n = (where: string) =>
      this.sql.exec<{ n: number }>(`SELECT count(*) AS n FROM sandboxes WHERE ${where}`).one().n;
    const total = (name: string) =>
      this.sql.exec<{ n: number }>("SELECT coalesce(sum(n), 0) AS n FROM totals WHERE name = ?", name).one().n;
    return {
      active: n("status IN ('running', 'failed')"), provisioning: n("status = 'provisioning'"),
      terminating: n("status = 'terminating'"), total_created: total("created"), total_destroyed: total("destroyed"),
    };
  }

  private count(name: string): void {
    this.sql.exec("INSERT INTO totals (name, n) VALUES (?, 1) ON CONFLICT (name) DO UPDATE SET n = n + 1", name);
  }
}

function row(stored: Stored): Row {
  return { ...stored, labels: JSON.parse(stored.labels) as Record<string, string> };
}
