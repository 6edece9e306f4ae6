import type { Env } from "./env";
import { handle, prefix } from "./admin";

export { ContainerProxy } from "@cloudflare/sandbox";
export { Registry } from "./registry";
export { Sandbox } from "./sandbox";

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === prefix || pathname.startsWith(`${prefix}/`)) return await handle(request, env);
    return Response.json({ error: "no such path", code: "no_route" }, { status: 404 });
  },
} satisfies ExportedHandler<Env>;
