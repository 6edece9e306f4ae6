import { AsyncLocalStorage } from "node:async_hooks";
import { Sandbox as Base } from "@cloudflare/sandbox";
import type { Env } from "./env";

/** What a sandbox says of its own container, without starting it. */
export type Container = "running" | "stopped" | "missing";

/** What a command in a sandbox came to. */
export type Ran =
  | { outcome: "ran"; exitCode: number; stdout: string; stderr: string }
  | { outcome: "not_running" }
  | { outcome: "timeout" }
  | { outcome: "failed"; why: string };

class NotRunning extends Error {}

/** Commands under way that must neither start the container nor keep it awake. */
const quiet = new AsyncLocalStorage<boolean>();

/** The SDK's own token for a command in a fresh process, outside of any shared shell. */
const noSession = "__DISABLE_SESSION__";

/**
 * Sandbox is the SDK's, with what an administrator asks of it. None of these calls starts a
 * container or puts its sleep off.
 */
export class Sandbox extends Base<Env> {
  /**
   * inspect goes by the runtime, not by getState: after a restart that state may say healthy
   * for ever. A container that was asked to stop (it went to sleep) is told from one that is
   * not there although nobody asked.
   */
  async inspect(): Promise<Container> {
    if (this.ctx.container?.running) return "running";
    return (await this.ctx.storage.get<boolean>("asleep")) ? "stopped" : "missing";
  }

  /**
   * kill ends the container. destroy alone leaves the state healthy where the container went
   * while the runtime was down; stop sets it right, and wakes nothing.
   */
  async kill(): Promise<void> {
    await this.destroy();
    await this.stop();
  }

  /** execQuietly runs a command, if the container runs. */
  async execQuietly(command: string, timeoutMs: number): Promise<Ran> {
    if (!this.ctx.container?.running) return { outcome: "not_running" };
    const late = new Promise<Ran>((resolve) => setTimeout(() => resolve({ outcome: "timeout" }), timeoutMs));
    return await Promise.race([late, this.attempt(command, timeoutMs)]);
  }

  private async attempt(command: string, timeoutMs: number): Promise<Ran> {
    try {
      const got = await quiet.run(true, () => this.execWithSessionToken(command, noSession, { timeout: timeoutMs }));
      return { outcome: "ran", exitCode: got.exitCode, stdout: got.stdout, stderr: got.stderr };
    } catch (err) {
      if (err instanceof NotRunning || !this.ctx.container?.running) return { outcome: "not_running" };
      const why = err instanceof Error ? err.message : String(err);
      return /time(d )?-?out/i.test(why) ? { outcome: "timeout" } : { outcome: "failed", why };
    }
  }

  /** A quiet call goes straight to the port: the SDK's way starts what does not run. */
  override async containerFetch(
    requestOrUrl: Request | string | URL,
    portOrInit?: number | RequestInit,
    portParam?: number,
  ): Promise<Response> {
    if (!quiet.getStore()) return await super.containerFetch(requestOrUrl, portOrInit, portParam);
    const container = this.ctx.container;
    if (!container?.running) throw new NotRunning("the container does not run");
    const init = typeof portOrInit === "object" ? portOrInit : undefined;
    const port = portParam ?? (typeof portOrInit === "number" ? portOrInit : undefined) ?? this.defaultPort ?? 3000;
    const request = new Request(requestOrUrl instanceof URL ? requestOrUrl.href : requestOrUrl, init);
    return await container.getTcpPort(port).fetch(request.url.replace("https:", "http:"), request);
  }

  override async onStart(): Promise<void> {
    await this.ctx.storage.delete("asleep");
    await super.onStart();
  }

  /** Whoever asks a container to stop, the SDK's timer above all, lets it sleep. */
  override async stop(signal?: Parameters<Base<Env>["stop"]>[0]): Promise<void> {
    if (this.ctx.container?.running) await this.ctx.storage.put("asleep", true);
    await super.stop(signal);
  }
}
