import { Session } from "node:inspector/promises";

/**
 * Collects all garbage and returns its memory to the system. Loading the modules leaves a large young generation and
 * much garbage, which V8 keeps as long as the process is idle. Blocks for about 0.3 s of processor time: call it before there
 * are connections, which would time out on a busy machine.
 */
export async function releaseMemory(): Promise<void> {
  const session = new Session();
  session.connect();
  await session.post("HeapProfiler.collectGarbage");
  session.disconnect();
}
