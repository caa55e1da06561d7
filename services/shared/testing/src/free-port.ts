import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * Below those that systems hand out for connections: one of these could be taken by anybody between
 * its choice and its use, or while a process that crashed is away.
 */
const FIRST_PORT = 12_000;
const LAST_PORT = 32_000;

const given = new Set<number>();

/** A port that nobody listens on, for processes that must be known before they start. Each is given once. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  try {
    await once(server, "listening");
  } catch {
    return false;
  }
  server.close();
  await once(server, "close");
  return true;
}
