// Daytona's client. VENDOR_URL is the API's address, VENDOR_KEY the key.
import { Daytona } from '@daytonaio/sdk';
import { serve } from './serve.mjs';

const daytona = new Daytona({
  apiKey: process.env.VENDOR_KEY,
  apiUrl: process.env.VENDOR_URL + '/api',
  target: 'us',
  useDeprecatedPolling: true, // states are asked for, not pushed
});

const shown = (s) => ({ id: s.id, state: s.state, labels: s.labels });

await serve({
  async create({ name, labels }) {
    return shown(await daytona.create({ name, labels, snapshot: 'ready', autoStopInterval: 15, ttlMinutes: 60 }));
  },
  async list({ labels }) {
    const found = [];
    for await (const s of daytona.list({ labels, limit: 2, sort: 'createdAt', order: 'asc' })) found.push(shown(s));
    return found;
  },
  async look({ id }) {
    return shown(await daytona.get(id));
  },
  async exec({ id, command }) {
    const s = await daytona.get(id);
    const r = await s.process.executeCommand(command, '/tmp', { WHO: 'vendor' }, 5);
    return { exit: r.exitCode, output: r.result };
  },
  async write({ id, path, text }) {
    const s = await daytona.get(id);
    await s.fs.uploadFile(Buffer.from(text), path);
  },
  async read({ id, path }) {
    const s = await daytona.get(id);
    return (await s.fs.downloadFile(path)).toString();
  },
  async files({ id, path }) {
    const s = await daytona.get(id);
    return (await s.fs.listFiles(path)).map((f) => f.name);
  },
  async label({ id, labels }) {
    const s = await daytona.get(id);
    return await s.setLabels(labels);
  },
  async stop({ id }) {
    const s = await daytona.get(id);
    await s.stop(10);
    return shown(s);
  },
  async start({ id }) {
    const s = await daytona.get(id);
    await s.start(10);
    return shown(s);
  },
  async delete({ id }) {
    const s = await daytona.get(id);
    await s.delete(10, true);
  },
});
