const STARTS = 5;

/** Kills and restarts a process: on a busy machine it may not be ready in time, and is started again. */
export async function startedAgain(crash: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await crash();
      return;
    } catch (error) {
      if (attempt === STARTS) throw error;
    }
  }
}
