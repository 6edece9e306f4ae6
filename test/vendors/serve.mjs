// serve carries out commands with one vendor's client: it reads them from stdin, one JSON
// object {do, ...} a line, and answers each with one line, {ok} or {error}.
import { createInterface } from 'node:readline';

export async function serve(commands) {
  console.log = console.error; // some clients print; stdout is for answers
  for await (const line of createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await carryOut(commands, JSON.parse(line))) + '\n');
  }
  process.exit(0); // whatever a client keeps open
}

async function carryOut(commands, { do: name, ...args }) {
  try {
    return { ok: (await commands[name](args)) ?? null };
  } catch (e) {
    return { error: { name: e.name ?? 'Error', message: String(e.message ?? e) } };
  }
}

// bytes collects what a stream yields into one text.
export async function text(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}
