import { LRUCache } from "lru-cache";

import { createCodeAlarm, type RaiseAlarm } from "./code-alarm.ts";

/** A request that names codes, and everything that its misses are counted against. */
export type CodeRequest = {
  readonly projectId: string;
  readonly keyId: string;
  /** Id of the key, or name of the external service. */
  readonly callerId: string;
  readonly requestId: string;
  /** `service`: an external service that calls gRPC. */
  readonly side: "server" | "client" | "service";
  readonly address: string;
  /** Id or source id of the customer in the request. */
  readonly customer: string | undefined;
  /** Key of the session in the request. */
  readonly session: string | undefined;
};

export type CodeGuessingSettings = {
  /** Misses per five minutes of a client-side address, a customer or a session; 0: off. */
  readonly codeMisses: number;
  /** Misses per five minutes of a server-side key and address, or of a service and project; 0: off. */
  readonly serverCodeMisses: number;
  /** Misses per five minutes of a key from all addresses; 0: off. */
  readonly keyCodeMisses: number;
};

export type CodeGuessingReports = {
  readonly misses: (request: CodeRequest, count: number) => void;
  readonly blocked: (request: CodeRequest, block: Block) => void;
  /** A code was found by a caller with many misses: once per request, however many of them it is counted against. */
  readonly hitAfterMisses: (request: CodeRequest, misses: number) => void;
  readonly alarm: RaiseAlarm;
};

/** What a block applies to: requests with the key that share its address, customer or session, or all of the key. */
export type Scope = "address" | "customer" | "session" | "key";

export type Block = { readonly scope: Scope; readonly seconds: number };

/** State that the replicas share. Its functions never reject. */
export type SharedGuessing = {
  /** Counts misses; resolves to those of all replicas, or undefined when the store does not respond. */
  readonly addMisses: (name: string, misses: number) => Promise<SharedMisses | undefined>;
  /**
   * Resolves whether no replica has reported a code that one of these callers found, within the time for which it claims
   * the report; true when the store does not respond. Of replicas that claim the same callers, one gets them.
   */
  readonly claimReport: (claims: readonly ReportClaim[]) => Promise<boolean>;
  /** Tells the other replicas; absent where they cannot be reached. */
  readonly notices?: {
    readonly announce: (notice: GuesserNotice) => Promise<void>;
    readonly follow: (apply: (notice: GuesserNotice) => void) => void;
  };
};

/** Misses of all replicas in a window that ends in `windowMs`. */
export type SharedMisses = { readonly misses: number; readonly windowMs: number };

/** The right to report the callers with this name, for `ms` from now. */
export type ReportClaim = { readonly name: string; readonly ms: number };

/** The callers with this name are blocked for `ms` from now, or have missed so many codes. */
export type GuesserNotice =
  | { readonly name: string; readonly ms: number }
  | ({ readonly name: string } & SharedMisses);

export type CodeGuessing = {
  /** Milliseconds until the caller may name codes again; 0: now. */
  readonly blockedFor: (request: CodeRequest) => number;
  /**
   * Counts a request that named codes, of which `misses` do not exist. Where replicas count together, it resolves when
   * all of them know of the misses, and of a block that follows: the response waits for it.
   */
  readonly count: (request: CodeRequest, misses: number) => Promise<unknown> | undefined;
  /** Number of projects whose alarm was raised within the minute. */
  readonly alarms: () => number;
};

export type CodeGuessingOptions = {
  readonly settings: CodeGuessingSettings;
  readonly reports: CodeGuessingReports;
  /** Absent: one process. */
  readonly shared?: SharedGuessing | undefined;
  /** Milliseconds of a monotonic clock. */
  readonly now?: () => number;
};

const MINUTE_MS = 60_000;
const WINDOW_MS = 5 * MINUTE_MS;
const FIRST_BLOCK_MS = 5 * MINUTE_MS;
const MAX_BLOCK_MS = 60 * MINUTE_MS;
/** After this time without a block, the next block has the initial duration again. */
const FORGET_BLOCKS_MS = 60 * MINUTE_MS;
const MANY_MISSES = 10;
/** Beyond this number, those without requests for the longest time are forgotten. */
const MAX_GUESSERS = 50_000;

type Guesser = {
  misses: number;
  /** Misses of all replicas that this one knows of, until the end of their window. */
  sharedMisses: number;
  sharedUntil: number;
  /** Codes, counted since the first miss of the window. */
  tries: number;
  windowEndsAt: number;
  blocks: number;
  blockedUntil: number;
  /** Until then, codes that the caller finds are not reported again. */
  reportedUntil: number;
};

type Bucket = {
  readonly scope: Scope;
  readonly name: string;
  readonly limit: number;
  /** Keys and servers send the codes of many customers: they are blocked only if most do not exist. */
  readonly mostOnly: boolean;
};

type GuesserOf = { readonly guesser: Guesser; readonly bucket: Bucket };

/**
 * Throttles misses, not tries (docs/rate-limits.md#code-guessing). A caller without recent misses costs a
 * lookup.
 */
export function createCodeGuessing(options: CodeGuessingOptions): CodeGuessing {
  const { settings, reports, shared, now = () => performance.now() } = options;
  const guessers = new LRUCache<string, Guesser>({ max: MAX_GUESSERS });
  const alarm = createCodeAlarm(reports.alarm, now);

  const guesserOf = (name: string): Guesser => guessers.get(name) ?? addTo(guessers, name);

  const countMiss = createMissCounter(options, now);
  shared?.notices?.follow((notice) => {
    const guesser = guesserOf(notice.name);
    if ("ms" in notice) blockFor(guesser, now(), notice.ms);
    else recordSharedMisses(guesser, now(), notice);
  });

  return {
    blockedFor(request) {
      if (guessers.size === 0) return 0;
      let until = 0;
      for (const { name } of bucketsOf(request, settings)) {
        until = Math.max(until, guessers.get(name)?.blockedUntil ?? 0);
      }
      return Math.max(0, until - now());
    },
    count(request, misses) {
      if (misses > 0) reports.misses(request, misses);
      alarm.count(request.projectId, misses);
      if (misses === 0 && guessers.size === 0) return undefined;
      const counted: Promise<void>[] = [];
      const suspects: GuesserOf[] = [];
      for (const bucket of bucketsOf(request, settings)) {
        if (misses === 0 && !guessers.has(bucket.name)) continue;
        const guesser = guesserOf(bucket.name);
        startWindow(guesser, now());
        guesser.tries += Math.max(misses, 1);
        guesser.misses += misses;
        if (misses > 0) counted.push(countMiss({ guesser, bucket }, request, misses));
        else if (isSuspect(guesser, bucket, now())) suspects.push({ guesser, bucket });
      }
      // The response does not wait for the report.
      if (suspects.length > 0) void reportHit(options, request, { suspects, now: now() });
      return misses === 0 ? undefined : Promise.all(counted);
    },
    alarms: alarm.raised,
  };
}

const NOTHING = Promise.resolve();

/** Counts misses of a caller, in all replicas, and blocks it at the limit. */
function createMissCounter({ reports, shared }: CodeGuessingOptions, now: () => number) {
  const block = (guesser: Guesser, bucket: Bucket, request: CodeRequest): Promise<void> => {
    if (guesser.blockedUntil > now()) return NOTHING;
    const ms = Math.min(FIRST_BLOCK_MS * 2 ** guesser.blocks, MAX_BLOCK_MS);
    blockFor(guesser, now(), ms);
    reports.blocked(request, { scope: bucket.scope, seconds: ms / 1_000 });
    return shared?.notices?.announce({ name: bucket.name, ms }) ?? NOTHING;
  };
  return async (
    { guesser, bucket }: GuesserOf,
    request: CodeRequest,
    misses: number,
  ): Promise<void> => {
    if (exceeds(guesser, bucket, bucket.limit)) return block(guesser, bucket, request);
    if (shared === undefined) return;
    const total = await shared.addMisses(bucket.name, misses);
    if (total === undefined) {
      // Alone, a process knows only a part of the misses, so its limit is lower.
      if (exceeds(guesser, bucket, Math.ceil(bucket.limit / 2)))
        await block(guesser, bucket, request);
      return;
    }
    recordSharedMisses(guesser, now(), total);
    if (total.misses >= bucket.limit && isMost(guesser, bucket))
      return block(guesser, bucket, request);
    if (isReportable(bucket) && total.misses >= MANY_MISSES)
      await shared.notices?.announce({ name: bucket.name, ...total });
  };
}

/** Reports a hit after many misses, unless this or another replica has. */
async function reportHit(
  { reports, shared }: CodeGuessingOptions,
  request: CodeRequest,
  { suspects, now }: { readonly suspects: readonly GuesserOf[]; readonly now: number },
): Promise<void> {
  const misses = Math.max(...suspects.map(({ guesser }) => missesOf(guesser, now)));
  const claims: ReportClaim[] = [];
  for (const { guesser, bucket } of suspects) {
    guesser.reportedUntil = now < guesser.sharedUntil ? guesser.sharedUntil : guesser.windowEndsAt;
    claims.push({ name: bucket.name, ms: guesser.reportedUntil - now });
  }
  if (shared === undefined || (await shared.claimReport(claims)))
    reports.hitAfterMisses(request, misses);
}

/** All names begin with the key: with one key, nobody can block the customers of another. */
function bucketsOf(
  { keyId, side, address, customer, session }: CodeRequest,
  { codeMisses, serverCodeMisses, keyCodeMisses }: CodeGuessingSettings,
): readonly Bucket[] {
  const isServer = side !== "client";
  const buckets: Bucket[] = [];
  const limit = isServer ? serverCodeMisses : codeMisses;
  if (limit > 0)
    buckets.push({ scope: "address", name: `${keyId} ${address}`, limit, mostOnly: isServer });
  // Many addresses share it, so guessers must not block it while most of its codes exist.
  if (keyCodeMisses > 0)
    buckets.push({ scope: "key", name: keyId, limit: keyCodeMisses, mostOnly: true });
  if (codeMisses === 0) return buckets;
  const ofCaller = (scope: Scope, id: string): Bucket => ({
    scope,
    name: `${keyId} ${scope} ${id}`,
    limit: codeMisses,
    mostOnly: false,
  });
  if (customer !== undefined) buckets.push(ofCaller("customer", customer));
  if (session !== undefined) buckets.push(ofCaller("session", session));
  return buckets;
}

const missesOf = ({ misses, sharedMisses, sharedUntil }: Guesser, now: number): number =>
  now < sharedUntil ? Math.max(misses, sharedMisses) : misses;

/** A key has many callers: one finds a code, others miss. */
const isReportable = ({ scope }: Bucket): boolean => scope !== "key";

/** Whether a code that the caller finds is to be reported. */
const isSuspect = (guesser: Guesser, bucket: Bucket, now: number): boolean =>
  isReportable(bucket) && guesser.reportedUntil <= now && missesOf(guesser, now) >= MANY_MISSES;

const isMost = ({ misses, tries }: Guesser, { mostOnly }: Bucket): boolean =>
  !mostOnly || misses * 2 > tries;

const exceeds = (guesser: Guesser, bucket: Bucket, limit: number): boolean =>
  guesser.misses >= limit && isMost(guesser, bucket);

function addTo(guessers: LRUCache<string, Guesser>, name: string): Guesser {
  const guesser = newGuesser();
  guessers.set(name, guesser);
  return guesser;
}

function blockFor(guesser: Guesser, now: number, ms: number): void {
  if (guesser.blockedUntil > now) return;
  guesser.blocks += 1;
  guesser.blockedUntil = now + ms;
  guesser.windowEndsAt = guesser.blockedUntil;
}

/** Misses of all replicas: a count that arrives late is smaller, unless their window has begun anew. */
function recordSharedMisses(
  guesser: Guesser,
  now: number,
  { misses, windowMs }: SharedMisses,
): void {
  const isNew = now >= guesser.sharedUntil;
  guesser.sharedMisses = isNew ? misses : Math.max(guesser.sharedMisses, misses);
  guesser.sharedUntil = now + windowMs;
}

function startWindow(guesser: Guesser, now: number): void {
  if (now < guesser.windowEndsAt) return;
  guesser.misses = 0;
  guesser.tries = 0;
  guesser.windowEndsAt = now + WINDOW_MS;
  if (now - guesser.blockedUntil > FORGET_BLOCKS_MS) guesser.blocks = 0;
}

const newGuesser = (): Guesser => ({
  misses: 0,
  sharedMisses: 0,
  sharedUntil: 0,
  tries: 0,
  windowEndsAt: 0,
  blocks: 0,
  blockedUntil: 0,
  reportedUntil: 0,
});
