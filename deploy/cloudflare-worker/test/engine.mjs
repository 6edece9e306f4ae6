// A stand-in for the container engine: as much of Docker's API as the Workers runtime asks
// for, on a unix socket. Its containers are small HTTP servers that speak the protocol of
// the SDK's container and run commands for real, in a folder of their own.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";

const sdkVersion = "0.12.10";

export class Engine {
  #containers = new Map();
  #server = createServer((req, res) => this.#docker(req, res));
  #folder = mkdtempSync(join(tmpdir(), "engine-"));
  /** every container that was started, sidecars apart, by name */
  started = [];
  /** kills are refused */
  immortal = false;

  get socket() {
    return join(this.#folder, "docker.sock");
  }

  async open() {
    await new Promise((resolve) => this.#server.listen(this.socket, resolve));
    return this;
  }

  async close() {
    for (const name of [...this.#containers.keys()]) await this.#end(name, 0, true);
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** running tells whether an object's container runs. */
  running(object) {
    return this.#of(object)?.running ?? false;
  }

  /** kill ends an object's container behind its back. */
  async kill(object, exitCode = 137) {
    await this.#end(this.#of(object)?.name, exitCode);
    await this.#end(`${this.#of(object)?.name}-proxy`, exitCode);
  }

  /** drop makes all containers vanish without a word, as a machine that is lost does. */
  async drop() {
    for (const name of [...this.#containers.keys()]) await this.#end(name, 0, true);
  }

  /** trouble makes the inside of an object's container misbehave: hang, break, or "" for well. */
  trouble(object, kind) {
    this.#of(object).trouble = kind;
  }

  /** folder is the working folder of an object's container. */
  folder(object) {
    return this.#of(object).folder;
  }

  /** objects are the ids of all objects that have a container, and whether it runs. */
  objects() {
    return [...this.#containers.values()].filter((c) => !c.name.endsWith("-proxy"))
      .map((c) => ({ id: c.name.slice(-64), running: c.running, exitCode: c.exitCode, since: c.since }));
  }

  #of(object) {
    return [...this.#containers.values()].find((c) => c.name.endsWith(`-${object}`));
  }

  async #end(name, exitCode, remove = false) {
    const c = this.#containers.get(name);
    if (!c) return;
    c.running = false;
    c.exitCode = exitCode;
    c.inside?.closeAllConnections();
    for (const socket of c.sockets) socket.destroy();
    await new Promise((resolve) => (c.inside ? c.inside.close(resolve) : resolve()));
    c.inside = undefined;
    for (const tell of c.waiting.splice(0)) tell();
    if (remove) {
      this.#containers.delete(name);
      for (const tell of c.removal.splice(0)) tell();
    }
  }

  async #docker(req, res) {
    const url = new URL(req.url, "http://engine");
    const path = url.pathname.replace(/^\/v[0-9.]+/, "");
    await text(req);
    const send = (status, value) => {
      res.writeHead(status, { "Content-Type": "application/json" });
      res.end(value === undefined ? "" : JSON.stringify(value));
    };
    if (path === "/volumes") return send(200, { Volumes: [], Warnings: [] });
    if (path.startsWith("/networks/")) {
      return send(200, { Name: "bridge", IPAM: { Config: [{ Subnet: "127.0.0.0/8", Gateway: "127.0.0.1" }] } });
    }
    if (path === "/containers/create") {
      const name = url.searchParams.get("name");
      if (this.#containers.has(name)) return send(409, { message: "the name is in use" });
      this.#containers.set(name, {
        name, running: false, exitCode: 0, trouble: "", waiting: [], removal: [], sockets: new Set(),
        folder: mkdtempSync(join(this.#folder, "c-")), since: new Date().toISOString(),
      });
      return send(201, { Id: name, Warnings: [] });
    }
    const [, , name, verb] = path.split("/");
    const c = this.#containers.get(decodeURIComponent(name ?? ""));
    if (!c) return send(404, { message: `No such container: ${name}` });
    switch (`${req.method} ${verb ?? ""}`) {
      case "GET json":
        return send(200, {
          Id: c.name, Name: `/${c.name}`, State: { Status: c.running ? "running" : "exited", Running: c.running, ExitCode: c.exitCode },
          NetworkSettings: { Ports: c.running ? { "39001/tcp": [at(c.port)], "3000/tcp": [at(c.port)] } : {} },
        });
      case "POST start":
        await this.#start(c);
        return send(204);
      case "POST wait": {
        const removed = url.searchParams.get("condition") === "removed";
        if (removed || c.running) await new Promise((tell) => (removed ? c.removal : c.waiting).push(tell));
        return send(200, { StatusCode: c.exitCode });
      }
      case "POST kill": {
        if (this.immortal) return send(500, { message: "cannot kill container" });
        const signal = url.searchParams.get("signal") ?? "SIGKILL";
        await this.#end(c.name, /9|KILL/.test(signal) ? 137 : 143);
        return send(204);
      }
      case "DELETE ":
        if (this.immortal) return send(500, { message: "cannot remove container" });
        await this.#end(c.name, 137, true);
        return send(204);
    }
    return send(200, {});
  }

  async #start(c) {
    if (c.running) return;
    if (!c.name.endsWith("-proxy")) this.started.push(c.name);
    c.inside = createServer((req, res) => this.#inside(c, req, res));
    c.inside.on("connect", (_req, socket) => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      c.inside.emit("connection", socket);
    });
    c.inside.on("connection", (socket) => {
      c.sockets.add(socket);
      socket.on("close", () => c.sockets.delete(socket));
      socket.on("error", () => {});
    });
    await new Promise((resolve) => c.inside.listen(0, "127.0.0.1", resolve));
    c.port = c.inside.address().port;
    c.running = true;
    c.since = new Date().toISOString();
  }

  async #inside(sidecar, req, res) {
    const body = await text(req);
    const c = this.#containers.get(sidecar.name.replace(/-proxy$/, "")) ?? sidecar;
    const send = (status, value) => {
      res.writeHead(status, { "Content-Type": "application/json" });
      res.end(JSON.stringify(value));
    };
    const timestamp = new Date().toISOString();
    switch (new URL(req.url, "http://inside").pathname) {
      case "/api/version":
        return send(200, { success: true, version: sdkVersion, timestamp });
      case "/api/session/create": {
        return send(200, { success: true, id: JSON.parse(body || "{}").id, message: "created", timestamp });
      }
      case "/api/execute": {
        if (c.trouble === "hang") return;
        if (c.trouble === "break") return send(500, { code: "INTERNAL_ERROR", message: "cannot fork", httpStatus: 500, timestamp });
        const { command, timeoutMs } = JSON.parse(body);
        const got = await sh(command, { cwd: c.folder, timeout: timeoutMs ?? 10_000 });
        return send(200, { success: got.exitCode === 0, ...got, command, timestamp });
      }
    }
    return send(200, { success: true, timestamp });
  }
}

const at = (port) => ({ HostIp: "127.0.0.1", HostPort: String(port) });

function text(req) {
  return new Promise((resolve) => {
    let all = "";
    req.on("data", (chunk) => (all += chunk));
    req.on("end", () => resolve(all));
    req.on("error", () => resolve(all));
  });
}

function sh(command, options) {
  return new Promise((resolve) => {
    let stdout = "";
    let stderr = "";
    const child = spawn("sh", ["-c", command], { cwd: options.cwd, timeout: options.timeout });
    child.stdout.on("data", (chunk) => (stdout += chunk));
    child.stderr.on("data", (chunk) => (stderr += chunk));
    child.on("close", (code) => resolve({ exitCode: code ?? 124, stdout, stderr }));
  });
}
