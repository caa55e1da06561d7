/** Imported by a process before its main file: its event loop does nothing else for a part of each period. */
const EVERY_MS = 2_000;
const BLOCKED_MS = 500;

setInterval(() => {
  const endsAt = performance.now() + BLOCKED_MS;
  while (performance.now() < endsAt);
}, EVERY_MS).unref();
