import { fork } from "node:child_process";

import type { LoadResult, LoadSpec } from "./load-client.ts";

export type LoadClient = Disposable & { run(spec: LoadSpec): Promise<LoadResult> };

type LoadReply = { readonly result?: LoadResult; readonly error?: string };

/** Longer than any run: a server that hangs fails the benchmark instead of blocking it. */
const GRACE_MS = 30_000;

export function startLoadClient(): LoadClient {
  const child = fork(new URL("load-process.ts", import.meta.url));
  return {
    run: (spec) =>
      new Promise<LoadResult>((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error("the load client did not finish: requests hang")),
          spec.seconds * 1000 + GRACE_MS,
        );
        const ended = (): void => reject(new Error("the load client ended early"));
        child.once("exit", ended);
        child.once("message", ({ result, error }: LoadReply) => {
          clearTimeout(timer);
          child.off("exit", ended);
          if (result === undefined) reject(new Error(error));
          else resolve(result);
        });
        child.send(spec);
      }),
    [Symbol.dispose]: () => void child.kill(),
  };
}
