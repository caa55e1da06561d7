import type { Redis } from "ioredis";

export type Claim = { readonly name: string; readonly ms: number };

/** Rights to do something that only one process of the installation may have at a time. */
export type Claims = Disposable & {
  /**
   * Claims all names, each for so many milliseconds; resolves whether one of them was free. Of several processes that claim
   * the same names, one gets them. Rejects when Redis does not respond within ten seconds.
   */
  readonly claim: (names: readonly Claim[]) => Promise<boolean>;
};

/**
 * No request waits for a claim, so the timeout is long. A claim that fails in a short pause of Redis would be granted
 * to several processes.
 */
const CLAIM_TIMEOUT_MS = 10_000;

/** All at once: two processes that claim several names one by one could each get one of them. */
const CLAIM_ALL = `
  local free = 0
  for index, name in ipairs(KEYS) do
    if redis.call('set', name, '1', 'PX', ARGV[index], 'NX') then free = free + 1 end
  end
  return free`;

export function createClaims(redis: Redis, onError: (error: unknown) => void): Claims {
  const patient = redis.duplicate({ commandTimeout: CLAIM_TIMEOUT_MS });
  patient.on("error", onError);
  return {
    async claim(names) {
      const keys = names.map(({ name }) => name);
      const times = names.map(({ ms }) => Math.ceil(ms));
      return Number(await patient.eval(CLAIM_ALL, keys.length, ...keys, ...times)) > 0;
    },
    [Symbol.dispose]: () => patient.disconnect(),
  };
}
