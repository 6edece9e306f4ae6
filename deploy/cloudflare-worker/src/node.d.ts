// What the Workers runtime has of node:async_hooks under nodejs_compat, as far as it is used.
declare module "node:async_hooks" {
  export class AsyncLocalStorage<T> {
    run<R>(store: T, callback: () => R): R;
    getStore(): T | undefined;
  }
}
