// Agentuity's client. VENDOR_URL is the address of a region, VENDOR_KEY the key.
import { SandboxClient } from '@agentuity/server';
import { serve, text as whole } from './serve.mjs';

const client = new SandboxClient({ apiKey: process.env.VENDOR_KEY, url: process.env.VENDOR_URL, orgId: 'org_1' });

const shown = (s) => ({ id: s.sandboxId, name: s.name, state: s.status, labels: s.metadata });

await serve({
  async create({ name, labels }) {
    const timeout = { idle: '1h', paused: '24h' };
    const s = await client.create({ projectId: labels.project, name, metadata: labels, timeout });
    return { id: s.id, state: s.status };
  },
  async list({ labels }) {
    const found = [];
    for (let offset = 0; ; offset = found.length) {
      const order = { sort: 'created', direction: 'asc' };
      const page = await client.list({ projectId: labels.project, limit: 2, offset, ...order });
      found.push(...page.sandboxes.map(shown));
      if (page.sandboxes.length === 0 || found.length >= page.total) return found;
    }
  },
  async look({ id }) {
    return shown(await client.get(id));
  },
  async exec({ id, command }) {
    const s = await client.connect(id);
    const r = await s.execute({ command: command.split(' '), timeout: '10s' });
    const out = r.stdoutStreamUrl ? await (await fetch(r.stdoutStreamUrl)).text() : '';
    return { exit: r.exitCode, output: out, state: r.status };
  },
  async write({ id, path, text }) {
    return await client.writeFiles(id, [{ path, content: Buffer.from(text) }]);
  },
  async read({ id, path }) {
    return await whole(await client.readFile(id, path));
  },
  async files({ id, path }) {
    const s = await client.connect(id);
    return (await s.listFiles(path)).map((f) => f.path);
  },
  async jobs({ id, command }) {
    const job = await client.createJob(id, { command: command.split(' ') });
    return (await client.listJobs(id)).jobs.filter((j) => j.jobId === job.id).map((j) => j.status);
  },
  async stop({ id }) {
    await client.pause(id);
    return shown(await client.get(id));
  },
  async start({ id }) {
    await client.resume(id);
    return shown(await client.get(id));
  },
  async delete({ id }) {
    await client.destroy(id);
  },
});
