import { describe, expect, test } from "vitest";

import {
  type CodeGuessingOptions,
  type CodeRequest,
  createCodeGuessing,
  type GuesserNotice,
  type SharedGuessing,
} from "./code-guessing.ts";

const MINUTE_MS = 60_000;

const request = (change: Partial<CodeRequest> = {}): CodeRequest => ({
  projectId: "proj_1",
  keyId: "app_1",
  callerId: "app_1",
  requestId: "v-1",
  side: "client",
  address: "192.0.2.1",
  customer: undefined,
  session: undefined,
  ...change,
});

function start(options: Partial<CodeGuessingOptions> = {}) {
  const clock = { now: 1_000 };
  const log: string[] = [];
  const guessing = createCodeGuessing({
    settings: { codeMisses: 20, serverCodeMisses: 300, keyCodeMisses: 3_000 },
    reports: {
      misses: () => {},
      blocked: ({ address }, { seconds }) => log.push(`blocked ${address} ${seconds}`),
      hitAfterMisses: (_, misses) => log.push(`hit after ${misses}`),
      alarm: (projectId, { misses, codes }) => log.push(`alarm ${projectId} ${misses}/${codes}`),
    },
    now: () => clock.now,
    ...options,
  });
  const miss = (from: CodeRequest, times: number): void => {
    for (let i = 0; i < times; i += 1) void guessing.count(from, 1);
  };
  return { ...guessing, miss, clock, log };
}

describe("code guessing", () => {
  test("blocks a client-side address after 20 misses, until five minutes later", () => {
    const { miss, blockedFor, clock } = start();
    miss(request(), 19);
    expect(blockedFor(request())).toBe(0);
    miss(request(), 1);
    expect(blockedFor(request())).toBe(5 * MINUTE_MS);
    for (const other of [{ address: "192.0.2.2" }, { keyId: "app_2" }]) {
      expect(blockedFor(request(other))).toBe(0);
    }
    clock.now += 5 * MINUTE_MS - 1;
    expect(blockedFor(request())).toBe(1);
    clock.now += 1;
    expect(blockedFor(request())).toBe(0);
  });

  test("counts each unknown code of a request, and forgets misses after five minutes", () => {
    const { count, miss, blockedFor, clock } = start();
    miss(request(), 19);
    clock.now += 5 * MINUTE_MS;
    miss(request(), 19);
    expect(blockedFor(request())).toBe(0);
    void count(request({ address: "192.0.2.2" }), 30);
    expect(blockedFor(request({ address: "192.0.2.2" }))).toBeGreaterThan(0);
  });

  test("doubles the time of repeated blocks up to an hour, and starts anew after a quiet hour", () => {
    const { miss, blockedFor, clock } = start();
    const minutes = [];
    for (let i = 0; i < 6; i += 1) {
      miss(request(), 20);
      minutes.push(blockedFor(request()) / MINUTE_MS);
      clock.now += blockedFor(request());
    }
    expect(minutes).toEqual([5, 10, 20, 40, 60, 60]);
    clock.now += 60 * MINUTE_MS + 1;
    miss(request(), 20);
    expect(blockedFor(request())).toBe(5 * MINUTE_MS);
  });

  test("counts misses of a customer and of a session from all addresses", () => {
    for (const caller of [{ customer: "ada" }, { session: "ssn_1" }]) {
      const { miss, blockedFor } = start();
      for (let i = 0; i < 20; i += 1) miss(request({ ...caller, address: `192.0.2.${i}` }), 1);
      expect(blockedFor(request({ ...caller, address: "198.51.100.1" }))).toBeGreaterThan(0);
      expect(blockedFor(request({ address: "198.51.100.1" }))).toBe(0);
      expect(blockedFor(request({ ...caller, keyId: "app_2" }))).toBe(0);
    }
  });

  test("blocks one customer of a server, not the server", () => {
    const { miss, blockedFor } = start();
    const server = request({ side: "server" });
    miss({ ...server, customer: "ada" }, 50);
    expect(blockedFor({ ...server, customer: "ada" })).toBeGreaterThan(0);
    expect(blockedFor({ ...server, customer: "bob" })).toBe(0);
    expect(blockedFor(server)).toBe(0);
  });

  test("blocks a server after 300 misses, but only if most of its codes do not exist", () => {
    const { miss, count, blockedFor } = start();
    const busy = request({ side: "server" });
    const guessing = request({ side: "server", address: "192.0.2.2" });
    for (let i = 0; i < 1_000; i += 1) void count(busy, i % 3 === 0 ? 1 : 0);
    expect(blockedFor(busy)).toBe(0);
    miss(guessing, 299);
    expect(blockedFor(guessing)).toBe(0);
    miss(guessing, 1);
    expect(blockedFor(guessing)).toBe(5 * MINUTE_MS);
  });

  test("blocks a key after 3,000 misses from many addresses, but only if most of its codes do not exist", () => {
    for (const side of ["server", "client"] as const) {
      const { count, miss, blockedFor } = start();
      const from = (address: number): CodeRequest =>
        request({ side, address: `2001:db8::${address}` });
      const guess = (times: number): void => {
        for (let i = 0; i < times; i += 1) miss(from(i), 1);
      };
      guess(2_999);
      expect(blockedFor(from(9_999))).toBe(0);
      guess(1);
      expect(blockedFor(from(9_999))).toBe(5 * MINUTE_MS);
      expect(blockedFor({ ...from(9_999), keyId: "app_2" })).toBe(0);

      const busy = { keyId: "app_busy", address: "192.0.2.1" };
      miss({ ...from(0), ...busy }, 1);
      for (let i = 0; i < 3_100; i += 1) {
        for (const misses of [0, 0, 1]) void count({ ...from(i), keyId: busy.keyId }, misses);
      }
      expect(blockedFor({ ...from(9_999), keyId: busy.keyId })).toBe(0);
    }
  });

  test("counts nothing when a limit is 0", () => {
    const { miss, blockedFor } = start({
      settings: { codeMisses: 0, serverCodeMisses: 0, keyCodeMisses: 0 },
    });
    const callers = [request({ customer: "ada" }), request({ side: "server", session: "s" })];
    for (const caller of callers) {
      miss(caller, 5_000);
      expect(blockedFor(caller)).toBe(0);
    }
  });

  test("reports a found code after ten misses once per window, and alarms once per minute", () => {
    const { miss, count, alarms, log, clock } = start();
    miss(request(), 9);
    void count(request(), 0);
    expect(log).toEqual([]);
    miss(request(), 1);
    void count(request(), 0);
    void count(request(), 0);
    expect(log).toEqual(["hit after 10"]);

    log.length = 0;
    for (let i = 0; i < 150; i += 1) miss(request({ address: `198.51.100.${i}` }), 1);
    expect(log).toEqual(["alarm proj_1 101/104"]);
    expect(alarms()).toBe(1);
    clock.now += MINUTE_MS;
    expect(alarms()).toBe(0);
  });

  test("reports a request with a found code once, with the most misses that it is counted against", () => {
    const { miss, count, log } = start();
    const ada = request({ customer: "ada", session: "ssn_1" });
    miss(ada, 12);
    miss(request({ customer: "ada", address: "192.0.2.2" }), 3);
    void count(ada, 0);
    void count(ada, 0);
    expect(log).toEqual(["hit after 15"]);
  });

  test("blocks in all replicas when their misses together reach the limit, and at half of it without Redis", async () => {
    const { shared, counts } = createReplicas();
    const [one, two] = [start({ shared }), start({ shared })];
    one.miss(request(), 15);
    two.miss(request(), 4);
    expect(two.blockedFor(request())).toBe(0);
    await two.count(request(), 1);
    for (const { blockedFor } of [one, two]) expect(blockedFor(request())).toBe(5 * MINUTE_MS);
    expect([one.log, two.log]).toEqual([[], ["blocked 192.0.2.1 300"]]);
    // The next block is the second one in each of them.
    for (const { clock } of [one, two]) clock.now += 5 * MINUTE_MS;
    counts.clear();
    one.miss(request(), 19);
    await one.count(request(), 1);
    for (const { blockedFor } of [one, two]) expect(blockedFor(request())).toBe(10 * MINUTE_MS);

    const alone = start({
      shared: { addMisses: async () => undefined, claimReport: async () => true },
    });
    alone.miss(request(), 8);
    await alone.count(request(), 1);
    expect(alone.blockedFor(request())).toBe(0);
    await alone.count(request(), 1);
    expect(alone.blockedFor(request())).toBeGreaterThan(0);
  });

  test("reports a found code once after ten misses in all replicas together, whichever of them finds it", async () => {
    const { shared, clock } = createReplicas();
    const now = (): number => clock.now;
    const replicas = [start({ shared, now }), start({ shared, now }), start({ shared, now })];
    const [one, two, three] = replicas as [Replica, Replica, Replica];
    const log = () => replicas.flatMap((each) => each.log);
    await one.count(request(), 4);
    await two.count(request(), 5);
    for (const replica of replicas) void replica.count(request(), 0);
    await settled();
    expect(log()).toEqual([]);

    await two.count(request(), 2);
    for (const replica of [three, one, two, three]) void replica.count(request(), 0);
    await settled();
    expect(log()).toEqual(["hit after 11"]);

    clock.now += 5 * MINUTE_MS;
    for (const replica of replicas) void replica.count(request(), 0);
    await settled();
    expect(log()).toEqual(["hit after 11"]);
  });

  test("reports a found code in each window of all replicas, wherever those of a replica begin", async () => {
    const { shared, clock } = createReplicas();
    const now = (): number => clock.now;
    const [one, two] = [start({ shared, now }), start({ shared, now })];
    const findIn = async (replica: Replica): Promise<readonly string[]> => {
      void replica.count(request(), 0);
      await settled();
      return [...one.log.splice(0), ...two.log.splice(0)];
    };
    await one.count(request(), 12);
    clock.now += 4 * MINUTE_MS;
    // The window of this replica begins later.
    await two.count(request(), 1);
    expect(await findIn(two)).toEqual(["hit after 13"]);
    expect(await findIn(one)).toEqual([]);
    clock.now += 1.1 * MINUTE_MS;
    await one.count(request(), 12);
    expect(await findIn(two)).toEqual(["hit after 12"]);
    expect(await findIn(one)).toEqual([]);
    // The end of the window of a replica changes nothing.
    clock.now += 4.5 * MINUTE_MS;
    await one.count(request(), 1);
    expect(await findIn(two)).toEqual([]);
  });
});

type Replica = ReturnType<typeof start>;

/** Replicas that count in windows of five minutes, as Redis does, and learn of notices without delay. */
function createReplicas() {
  const clock = { now: 1_000 };
  const counts = new Map<string, { misses: number; endsAt: number }>();
  const claimedUntil = new Map<string, number>();
  const applyInAll: ((notice: GuesserNotice) => void)[] = [];
  const shared: SharedGuessing = {
    addMisses: async (name, misses) => {
      const known = counts.get(name);
      const window =
        known !== undefined && clock.now < known.endsAt
          ? known
          : { misses: 0, endsAt: clock.now + 5 * MINUTE_MS };
      window.misses += misses;
      counts.set(name, window);
      return { misses: window.misses, windowMs: window.endsAt - clock.now };
    },
    claimReport: async (claims) => {
      const free = claims.filter(({ name }) => (claimedUntil.get(name) ?? 0) <= clock.now);
      for (const { name, ms } of free) claimedUntil.set(name, clock.now + ms);
      return free.length > 0;
    },
    notices: {
      follow: (apply) => void applyInAll.push(apply),
      announce: async (notice) => {
        for (const apply of applyInAll) apply(notice);
      },
    },
  };
  return { shared, counts, clock };
}

/** Resolves after what was started has ended: nothing here waits for more than promises. */
const settled = () => new Promise((resolve) => setImmediate(resolve));
