import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

import type { RedisClient } from "@scrip/redis";
import { LRUCache } from "lru-cache";

import type { Eviction } from "./eviction.ts";
import type { PrincipalSource } from "./principal.ts";

/** Credentials that one replica of the gateway has looked up, for the others. Nothing rejects. */
export type SharedCredentials = {
  /** Undefined: not stored, changed since, or Redis does not respond. */
  readonly find: (pair: PresentedPair) => Promise<SharedEntry | undefined>;
  readonly store: (pair: PresentedPair, entry: SharedEntry) => void;
  /** Sent immediately, before it returns. Resolves when no replica finds what was looked up before. */
  readonly evict: (eviction: Eviction) => Promise<void>;
  /**
   * From now on, this process ignores shared credentials of this token, key or project that were looked up before, even
   * if Redis has lost the mark of the change.
   */
  readonly note: (eviction: Eviction) => void;
};

/** A key and the hash of a token that were presented together. */
export type PresentedPair = { readonly keyId: string; readonly tokenPrint: string };

/** Credentials that are valid, and may be cached until then (epoch milliseconds). */
export type SharedEntry = { readonly source: PrincipalSource; readonly until: number };

export type SharedCredentialsOptions = {
  readonly redis: RedisClient;
  /** Known to all replicas of the gateway, and to no other process. Undefined: nothing is shared. */
  readonly secret: () => string | undefined;
  readonly clock: () => number;
  readonly onError: (error: unknown) => void;
};

/** Longer than entries live: an entry that was looked up before a change is never read without the mark of the change. */
const MARK_MS = 10_000;
const MAX_NOTES = 50_000;

/** How long Redis is not used after a failure, because each attempt delays a request. */
const PAUSE_MS = 1_000;

/**
 * Entries are encrypted and authenticated: reading Redis reveals nothing, and writing to it does not allow a login (services/decisions/0080-tokens-shared-through-redis.md).
 *
 * A change does not delete entries, since a replica may store what it looked up before the change. It leaves a mark
 * instead, and entries of a marked token, key or project do not count.
 */
export function createSharedCredentials(options: SharedCredentialsOptions): SharedCredentials {
  const { redis, clock, onError } = options;
  const seal = createSeal(options.secret);
  const notes = new LRUCache<string, number>({ max: MAX_NOTES });
  const isNoted = (eviction: Eviction): boolean => (notes.get(markName(eviction)) ?? 0) > clock();
  let pausedUntil = 0;
  const pause = (error: unknown): undefined => {
    pausedUntil = clock() + PAUSE_MS;
    onError(error);
  };
  const read = async (pair: PresentedPair): Promise<SharedEntry | undefined> => {
    const name = entryName(pair);
    const sealed = await redis.getBuffer(name);
    const entry = sealed === null ? undefined : decode(seal.open(name, sealed));
    if (entry === undefined || entry.until <= clock()) return undefined;
    const changes = changesOf(pair, entry.source);
    const marks = await redis.exists(...changes.map(markName));
    return marks === 0 && !changes.some(isNoted) ? entry : undefined;
  };
  return {
    find: async (pair) => (pausedUntil > clock() ? undefined : read(pair).catch(pause)),
    store(pair, { source, until }) {
      const now = clock();
      const end = Math.min(until, source.token?.expiresAt ?? until);
      if (end <= now || pausedUntil > now) return;
      const name = entryName(pair);
      const sealed = seal.close(name, encode({ source, until: end }));
      if (sealed === undefined) return;
      redis.set(name, sealed, "PX", Math.min(Math.ceil(end - now), MARK_MS)).catch(pause);
    },
    async evict(eviction) {
      await redis.set(markName(eviction), "", "PX", MARK_MS).catch(onError);
    },
    note: (eviction) => void notes.set(markName(eviction), clock() + MARK_MS),
  };
}

/** The number grows with each change of what an entry contains: releases read their own entries only. */
const entryName = ({ keyId, tokenPrint }: PresentedPair): string =>
  `scrip:credentials:3:${tokenPrint}:${keyId}`;

const markName = ({ kind, name }: Eviction): string => `scrip:evicted:${kind}:${name}`;

/** The changes that concern an entry. */
const changesOf = (
  { keyId, tokenPrint }: PresentedPair,
  { project, token }: PrincipalSource,
): readonly Eviction[] => [
  { kind: "token", name: tokenPrint },
  { kind: "key", name: keyId },
  { kind: "key", name: token?.keyId ?? keyId },
  { kind: "project", name: project.id },
];

function encode({ source: { key, project, token }, until }: SharedEntry): Buffer {
  const {
    id,
    version,
    timeZone,
    firstWeekday,
    caseSensitiveCodes,
    defaultCodeConfig,
    webhookEvents,
    hasEarningRules,
    cancelPendingPointsOnOrderCancel,
    sandboxNow,
    clientTrustedDomains,
    clientFeatures,
  } = project;
  const stored = {
    key: {
      id: key.id,
      kind: key.kind,
      name: key.name,
      allowedIps: key.allowedIps,
      secretHash: Buffer.from(key.secretHash).toString("base64"),
    },
    project: {
      id,
      version: String(version),
      timeZone,
      firstWeekday,
      caseSensitiveCodes,
      defaultCodeConfig,
      webhookEvents,
      hasEarningRules,
      cancelPendingPointsOnOrderCancel,
      sandboxNow,
      clientTrustedDomains,
      clientFeatures,
    },
    token,
    until,
  };
  return Buffer.from(JSON.stringify(stored));
}

/** Only a gateway can have written what the seal opens. */
function decode(text: Buffer | undefined): SharedEntry | undefined {
  if (text === undefined) return undefined;
  const { key, project, token, until } = JSON.parse(text.toString("utf8"));
  return {
    source: {
      key: { ...key, secretHash: Buffer.from(key.secretHash, "base64") },
      project: { ...project, version: BigInt(project.version) },
      token,
    },
    until,
  };
}

const CIPHER = "aes-256-gcm";
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts each value with a key of its own, made of the secret and the name under which it is stored. */
function createSeal(secret: () => string | undefined) {
  const keyOf = (name: string): Buffer | undefined => {
    const current = secret();
    if (current === undefined) return undefined;
    return Buffer.from(hkdfSync("sha256", current, name, "scrip shared credentials", KEY_BYTES));
  };
  return {
    close(name: string, text: Buffer): Buffer | undefined {
      const key = keyOf(name);
      if (key === undefined) return undefined;
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(CIPHER, key, nonce);
      const body = Buffer.concat([cipher.update(text), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    /** Undefined: another secret or name, or not a sealed value at all. */
    open(name: string, sealed: Buffer): Buffer | undefined {
      const key = keyOf(name);
      if (key === undefined || sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
      const nonce = sealed.subarray(0, NONCE_BYTES);
      const tag = sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES);
      const decipher = createDecipheriv(CIPHER, key, nonce).setAuthTag(tag);
      try {
        const body = sealed.subarray(NONCE_BYTES + TAG_BYTES);
        return Buffer.concat([decipher.update(body), decipher.final()]);
      } catch {
        return undefined;
      }
    },
  };
}
