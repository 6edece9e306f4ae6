import type { Registry } from "./registry";
import type { Sandbox } from "./sandbox";

/** Env is what wrangler.jsonc binds, and the secret ADMIN_TOKEN. */
export interface Env {
  SANDBOX: DurableObjectNamespace<Sandbox>;
  REGISTRY: DurableObjectNamespace<Registry>;
  ADMIN_TOKEN?: string;
  MAX_AGE_MINUTES?: string;
  LOG_FILE?: string;
}
