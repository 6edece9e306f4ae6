// The Worker with sandboxes that sleep soon.
import { Sandbox as Real } from "../src/sandbox";

export { ContainerProxy, Registry } from "../src/index";
export { default } from "../src/index";

export class Sandbox extends Real {
  override sleepAfter = "2s";
}
