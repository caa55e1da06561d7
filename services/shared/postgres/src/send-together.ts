import type { PoolClient } from "pg";

/**
 * Sends this connection what it is given until the running function pauses in one system call, such as the beginning of a
 * transaction, its settings and its first statement.
 */
export function sendTogether({ connection: { stream } }: PoolClient): void {
  stream.cork();
  queueMicrotask(() => stream.uncork());
}
