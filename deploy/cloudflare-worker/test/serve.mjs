// A world for tests in other languages: prints one line of JSON with its addresses, then obeys
// POST /make, /kill, /lose, /trouble and GET /started on the address "control" until its input
// ends. Below "account" it answers as the vendor's control plane does for one application,
// with what the engine really runs.
import { createServer } from "node:http";
import { World, token } from "./world.mjs";

const account = "acct";
const application = "app";
const w = await new World().open();

const orders = {
  make: async (o) => await w.make(o.id, o),
  kill: async (o) => await w.engine.kill(o.actor),
  lose: async () => await w.restart({ lose: true }),
  trouble: async (o) => w.engine.trouble(o.actor, o.kind),
  started: async () => w.engine.started,
};

const envelope = (result) => ({ success: true, errors: [], messages: [], result, result_info: {} });
const refusal = (code, message) => ({ success: false, errors: [{ code, message }], messages: [], result: null });

const instance = (c) => ({
  id: c.id, application_id: application, image: "sandbox", started_at: c.since,
  status: { state: c.running ? "running" : "stopped", updated_at: c.since, exit_code: c.exitCode },
});

/** The control plane tells no names here: records are joined by the ids of their objects. */
function control(path) {
  const below = path.replace(`/accounts/${account}/containers/applications/${application}`, "");
  const all = w.engine.objects().map(instance);
  if (below === "") return [200, envelope({ id: application, name: "sandboxes", max_instances: 50, health: { instances: { active: 0, assigned: all.length } } })];
  if (below === "/instances-v2") return [200, envelope(all)];
  const one = all.find((i) => below === `/instances/${i.id}`);
  return one ? [200, envelope(one)] : [404, refusal(1000, "not found")];
}

const server = createServer(async (req, res) => {
  const { pathname } = new URL(req.url, "http://control");
  let body = "";
  for await (const chunk of req) body += chunk;
  let status = 200;
  let value;
  if (pathname.startsWith("/client/v4/")) {
    [status, value] = req.headers.authorization === "Bearer control-key" ? control(pathname.slice("/client/v4".length)) : [401, refusal(10000, "Authentication error")];
  } else {
    try {
      value = await orders[pathname.slice(1)](JSON.parse(body || "{}"));
    } catch (err) {
      [status, value] = [500, String(err)];
    }
  }
  res.writeHead(status, { "Content-Type": "application/json" });
  res.end(JSON.stringify(value ?? null));
});
await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));

const end = async () => {
  server.closeAllConnections();
  server.close();
  await w.close();
  process.exit(0);
};
process.stdin.on("end", end).resume();
process.on("SIGTERM", end);
const here = `http://127.0.0.1:${server.address().port}`;
console.log(JSON.stringify({ worker: `${w.url}/api/sandbox`, token, control: here, account: `${here}/client/v4` }));
