// The Worker with sandboxes that take long to start.
import { Sandbox as Real } from "../src/sandbox";

export { ContainerProxy, Registry } from "../src/index";
export { default } from "../src/index";

export class Sandbox extends Real {
  override async exec(...args: Parameters<Real["exec"]>) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    return await super.exec(...args);
  }
}
