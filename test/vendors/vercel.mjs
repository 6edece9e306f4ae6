// Vercel's client, which knows one address only: its requests are sent to VENDOR_URL
// instead. VENDOR_KEY is the token.
import { Sandbox } from '@vercel/sandbox';
import { serve, text as whole } from './serve.mjs';

const cloud = 'https://vercel.com/api';
const account = {
  token: process.env.VENDOR_KEY,
  teamId: 'team_1',
  projectId: 'prj_1',
  fetch(url, { dispatcher, ...rest } = {}) {
    if (!String(url).startsWith(cloud + '/')) throw new Error(`a call to somebody else: ${url}`);
    return fetch(process.env.VENDOR_URL + String(url).slice(cloud.length), rest);
  },
};

const shown = (s) => ({ id: s.name, state: s.status, labels: s.tags });
const known = (name) => Sandbox.get({ ...account, name, resume: false });

await serve({
  async create({ name, labels }) {
    const s = await Sandbox.create({ ...account, name, tags: labels, timeout: 3_600_000 });
    return { ...shown(s), session: s.currentSession().sessionId };
  },
  async list({ name }) {
    const found = [];
    const all = await Sandbox.list({ ...account, namePrefix: name, sortBy: 'name', limit: 2 });
    for await (const s of all) found.push(shown(s));
    return found;
  },
  async look({ id }) {
    const s = await known(id);
    return { ...shown(s), session: s.currentSession().sessionId };
  },
  async exec({ id, command }) {
    const s = await known(id);
    const [name, ...words] = command.split(' ');
    const r = await s.runCommand(name, words);
    return { exit: r.exitCode, output: await r.output('both') };
  },
  async write({ id, path, text }) {
    const s = await known(id);
    await s.writeFiles([{ path, content: Buffer.from(text) }]);
  },
  async read({ id, path }) {
    const s = await known(id);
    const stream = await s.readFile({ path });
    if (stream === null) throw new Error(`no file ${path}`);
    return await whole(stream);
  },
  async files({ id, path }) {
    const s = await known(id);
    return await s.fs.readdir(path);
  },
  async label({ id, labels }) {
    const s = await known(id);
    await s.update({ tags: labels });
    return shown(s);
  },
  async extend({ id }) {
    const s = await known(id);
    await s.extendTimeout(60_000);
  },
  async stop({ id }) {
    const s = await known(id);
    await s.stop();
    return shown(await known(id));
  },
  async start({ id }) {
    const s = await known(id);
    await s.runCommand('true'); // the client hears 410, resumes by itself, and runs it in a new session
    return shown(s);
  },
  async delete({ id }) {
    const s = await known(id);
    await s.delete();
  },
});
