/**
 * Preloaded into each process that tests start: ends it when its parent has ended, even if the parent
 * was killed.
 */
const parent = process.ppid;
const CHECK_INTERVAL_MS = 1_000;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
}, CHECK_INTERVAL_MS).unref();
