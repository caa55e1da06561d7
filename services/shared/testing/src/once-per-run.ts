type Shared = { readonly started: Promise<AsyncDisposable>; users: number };

/** Vitest loads the global setup of each project separately, so only this object is common to them. */
const run = globalThis as { scripTestRun?: Map<string, Shared> };

/** Starts something for all projects of a test run; it ends when the last project disposes of it. */
export async function oncePerRun<T extends AsyncDisposable>(
  name: string,
  start: () => Promise<T>,
): Promise<T> {
  run.scripTestRun ??= new Map();
  const shared: Shared = run.scripTestRun.get(name) ?? { started: start(), users: 0 };
  run.scripTestRun.set(name, shared);
  shared.users += 1;
  const started = (await shared.started) as T;
  return {
    ...started,
    async [Symbol.asyncDispose]() {
      shared.users -= 1;
      if (shared.users > 0) return;
      run.scripTestRun?.delete(name);
      await started[Symbol.asyncDispose]();
    },
  };
}
