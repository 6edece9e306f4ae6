// The Worker with sandboxes that tell nothing of themselves once they were killed.
import type { Container } from "../src/sandbox";
import { Sandbox as Real } from "../src/sandbox";

export { ContainerProxy, Registry } from "../src/index";
export { default } from "../src/index";

export class Sandbox extends Real {
  override async inspect(): Promise<Container> {
    if (await this.ctx.storage.get<boolean>("mute")) throw new Error("the object does not answer");
    return await super.inspect();
  }

  override async kill(): Promise<void> {
    await super.kill();
    await this.ctx.storage.put("mute", true);
  }
}
