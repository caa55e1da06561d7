/**
 * Loaded into each process that tests start: it ends with the one that started it, also when that was
 * killed and could tell nobody.
 */
const parent = process.ppid;
const CHECK_INTERVAL_MS = 1_000;

setInterval(() => {
  if (process.ppid !== parent) process.kill(process.pid, "SIGKILL");
}, CHECK_INTERVAL_MS).unref();
