/** Smaller differences are ignored, because the latency of the network may have caused them. */
const TOLERANCE_MS = 50;

/** The time at which `performance.now()` was 0. */
let origin = performance.timeOrigin;

/**
 * The time in milliseconds since 1970. It follows the clock that `adjustClock` reads, so that all
 * processes decide at the same time. Between readings it advances steadily, also when somebody
 * changes the clock of the machine.
 */
export const currentTime = (): number => Math.floor(origin + performance.now());

/** The time of a project, whose sandbox may have a clock of its own. */
export const projectTime = (project: SandboxClock | undefined): number =>
  project?.sandboxNow ?? currentTime();

type SandboxClock = { readonly sandboxNow?: number | null | undefined };

/** Reads another clock, in milliseconds since 1970, and adopts its time if this one is wrong. */
export async function adjustClock(read: () => Promise<number>): Promise<void> {
  const sentAt = performance.now();
  const time = await read();
  const receivedAt = performance.now();
  // The other clock was read at an unknown time between sending and receiving.
  const uncertainty = (receivedAt - sentAt) / 2;
  const measured = time + uncertainty - receivedAt;
  if (Math.abs(measured - origin) > uncertainty + TOLERANCE_MS) origin = measured;
}

/**
 * Milliseconds until work that repeats every `everyMs` runs next, after at least half of that. The times are the same for all
 * such work of a process, which then wakes once for it.
 */
export function untilSharedTick(everyMs: number, now = performance.now()): number {
  return Math.ceil(Math.ceil(now / everyMs + 0.5) * everyMs - now);
}
