// E2B's client. VENDOR_URL is the address of the API and of the sandboxes, VENDOR_KEY the key.
import { Sandbox } from 'e2b';
import { serve } from './serve.mjs';

const account = {
  apiKey: process.env.VENDOR_KEY,
  apiUrl: process.env.VENDOR_URL,
  sandboxUrl: process.env.VENDOR_URL,
};

// made are the clients of the sandboxes that this process created. E2B's client reaches
// into others only by a connect, which wakes them.
const made = new Map();

const shown = (s) => ({ id: s.sandboxId, state: s.state, labels: s.metadata });

await serve({
  async create({ labels }) {
    const s = await Sandbox.create('ready', { ...account, metadata: labels, timeoutMs: 3_600_000 });
    made.set(s.sandboxId, s);
    return shown(await s.getInfo());
  },
  async list({ labels }) {
    const pages = Sandbox.list({ ...account, query: { metadata: labels, state: ['running', 'paused'] }, limit: 2 });
    const found = [];
    while (pages.hasNext) found.push(...(await pages.nextItems()).map(shown));
    return found;
  },
  async look({ id }) {
    return shown(await Sandbox.getInfo(id, account));
  },
  async exec({ id, command }) {
    const s = made.get(id);
    try {
      const r = await s.commands.run(command, { cwd: '/tmp', timeoutMs: 5_000 });
      return { exit: r.exitCode, output: r.stdout + r.stderr };
    } catch (e) {
      if (e.name !== 'CommandExitError') throw e; // it throws for an exit code, too
      return { exit: e.exitCode, output: e.stdout + e.stderr };
    }
  },
  async write({ id, path, text }) {
    await made.get(id).files.write(path, text);
  },
  async read({ id, path }) {
    return await made.get(id).files.read(path);
  },
  async files({ id, path }) {
    return (await made.get(id).files.list(path)).map((f) => f.name);
  },
  async answers({ id }) {
    return await made.get(id).isRunning();
  },
  async extend({ id }) {
    await Sandbox.setTimeout(id, 7_200_000, account);
  },
  async stop({ id }) {
    await Sandbox.pause(id, account);
    return shown(await Sandbox.getInfo(id, account));
  },
  async start({ id }) {
    made.set(id, await Sandbox.connect(id, account));
    return shown(await Sandbox.getInfo(id, account));
  },
  async delete({ id }) {
    return await Sandbox.kill(id, account);
  },
});
