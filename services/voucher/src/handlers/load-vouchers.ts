import type { JsonObject } from "@bufbuild/protobuf";
import { instantFromProto } from "@scrip/mapping";
import type {
  CommitOutcome,
  LoadedVoucher,
  IdempotencyKey,
  RedemptionService,
  VoucherResult,
  VoucherQuery,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Voucher } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Handler } from "@scrip/rpc";

import { outcomeFromStored } from "../commit/build-outcomes.ts";
import type { Deps } from "../deps.ts";
import { createSessionLocks, type SessionLocks } from "../domain/session-locks.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { loadSessionLocks } from "../loading/session-locks.ts";
import {
  cachedVoucherToProto,
  toCachedDefinition,
  type CachedDefinition,
} from "../mapping/voucher.ts";
import { addRewardVouchers } from "../reward/describe-rewards.ts";
import { findStoredResponses, type StoredResponse } from "../store/idempotency.ts";
import { findUsages } from "../store/usages.ts";
import { findVouchers, type VoucherLookup } from "../store/vouchers.ts";

/**
 * Loads what decisions need, for a whole batch together. For a cached voucher only the narrow usage row is read; the
 * cached definition is used while the row has its version.
 */
export const loadVouchers =
  (deps: Deps): Handler<typeof RedemptionService.method.loadVouchers> =>
  async ({ queries }) => {
    const [vouchers, storedResponses] = await Promise.all([
      load(deps, queries),
      findStoredResponses(deps.db, keysOf(queries)),
    ]);
    const locks = await loadLocks(deps, queries, vouchers);
    const results = queries.map((query) => toResult(query, { vouchers, storedResponses, locks }));
    return {
      $typeName: "scrip.voucher.v1.LoadVouchersResponse",
      results:
        storedResponses.size === 0 ? results : await withRewardVouchers(deps, queries, results),
    };
  };

async function withRewardVouchers(
  { db }: Deps,
  queries: readonly VoucherQuery[],
  results: readonly VoucherResult[],
): Promise<VoucherResult[]> {
  const stored = results.flatMap(({ storedOutcome: outcome }, index) =>
    outcome === undefined ? [] : [{ index, projectId: queries[index]?.projectId ?? "", outcome }],
  );
  const shown = await addRewardVouchers(db, stored);
  const byIndex = new Map(stored.map(({ index }, at) => [index, shown[at]]));
  return results.map((result, index) => ({
    ...result,
    storedOutcome: byIndex.get(index) ?? result.storedOutcome,
  }));
}

type Loaded = {
  readonly usage: VoucherUsage;
  readonly message: Voucher;
  readonly template: CachedDefinition;
};

/** By `rowKey` of project and requested code. */
type LoadedVouchers = ReadonlyMap<string, Loaded>;

/** Session locks are read for queries that carry their time, and for vouchers that are marked as reserved. */
async function loadLocks(
  { db }: Deps,
  queries: readonly VoucherQuery[],
  vouchers: LoadedVouchers,
): Promise<SessionLocks> {
  const callers = queries.flatMap(({ projectId, sessionKey, now }) =>
    now === undefined
      ? []
      : [{ projectId, sessionKey: sessionKey ?? null, at: instantFromProto(now) }],
  );
  const usages = new Map<string, VoucherUsage>();
  if (callers.length > 0) {
    for (const { usage } of vouchers.values()) {
      if (usage.reserved) usages.set(rowKey(usage.projectId, usage.voucherId), usage);
    }
  }
  const callersWithLocks = usages.size === 0 ? [] : callers;
  return createSessionLocks(await loadSessionLocks(db, usages, callersWithLocks));
}

const keysOf = (queries: readonly VoucherQuery[]) =>
  queries.flatMap(({ projectId, idempotency }) =>
    idempotency === undefined ? [] : { projectId, key: idempotency.key },
  );

function toResult(
  { projectId, codes, idempotency, sessionKey, now }: VoucherQuery,
  {
    vouchers,
    storedResponses,
    locks,
  }: {
    readonly vouchers: LoadedVouchers;
    readonly storedResponses: ReadonlyMap<string, StoredResponse>;
    readonly locks: SessionLocks;
  },
): VoucherResult {
  const find = (code: string): LoadedVoucher => {
    const found = vouchers.get(rowKey(projectId, code));
    if (found === undefined) return NOT_FOUND;
    const { usage, message, template } = found;
    const others =
      usage.reserved && now !== undefined
        ? locks.ofOthers(projectId, usage.voucherId, sessionKey ?? null)
        : NOT_LOCKED;
    return {
      $typeName: "scrip.voucher.v1.LoadedVoucher",
      voucher: message,
      definitionVersion: usage.definitionVersion,
      lockedQuantity: others.quantity,
      lockedCredits: others.credits,
      // Was a Struct when it was received, so it is JSON.
      publicationMetadata: (template.definition.publicationMetadata ?? undefined) as
        | JsonObject
        | undefined,
    };
  };
  return {
    $typeName: "scrip.voucher.v1.VoucherResult",
    vouchers: codes.map(find),
    storedOutcome:
      idempotency &&
      findStoredOutcome(idempotency, storedResponses.get(rowKey(projectId, idempotency.key))),
  };
}

/** The commit rejects another hash under the key: keys belong to its transaction. */
function findStoredOutcome(
  { requestHash }: IdempotencyKey,
  stored: StoredResponse | undefined,
): CommitOutcome | undefined {
  if (stored === undefined || Buffer.compare(stored.requestHash, requestHash) !== 0) {
    return undefined;
  }
  return outcomeFromStored(stored);
}

const NOT_FOUND: LoadedVoucher = {
  $typeName: "scrip.voucher.v1.LoadedVoucher",
  definitionVersion: 0n,
  lockedQuantity: 0n,
  lockedCredits: 0n,
};

const NOT_LOCKED = { quantity: 0n, credits: 0n };

async function load(deps: Deps, queries: readonly VoucherQuery[]): Promise<LoadedVouchers> {
  const loaded = new Map<string, Loaded>();
  const names = namesOf(queries);
  const usages = await findKnownUsages(deps, names);
  const unknown: VoucherLookup[] = [];
  for (const name of names) {
    const template = deps.definitions.byCode(name.projectId, name.code);
    const usage = template && usages.get(rowKey(name.projectId, template.definition.id));
    if (template !== undefined && usage !== undefined && isCurrent(usage, template)) {
      // Cached by id too, for the commit that follows.
      deps.definitions.add(template);
      deps.recentUsages.record(usage);
      loaded.set(rowKey(name.projectId, name.code), {
        usage,
        message: cachedVoucherToProto(template, usage),
        template,
      });
    } else {
      unknown.push(name);
    }
  }
  const found = await findVouchers(deps.db, unknown);
  for (const [index, { projectId, code }] of unknown.entries()) {
    const voucher = found[index];
    if (voucher === undefined) continue;
    const template = toCachedDefinition(voucher.definition);
    deps.definitions.add(template, code);
    const { usage } = voucher;
    deps.recentUsages.record(usage);
    loaded.set(rowKey(projectId, code), {
      usage,
      message: cachedVoucherToProto(template, usage),
      template,
    });
  }
  return loaded;
}

const isCurrent = (usage: VoucherUsage, { definition }: CachedDefinition): boolean =>
  !usage.deleted && usage.definitionVersion === definition.version;

/** Each code once, however many queries request it. */
function namesOf(queries: readonly VoucherQuery[]): VoucherLookup[] {
  const names = new Map<string, VoucherLookup>();
  for (const { projectId, codes } of queries) {
    for (const code of codes) names.set(rowKey(projectId, code), { projectId, code });
  }
  return [...names.values()];
}

async function findKnownUsages(
  { db, definitions }: Deps,
  names: readonly VoucherLookup[],
): Promise<ReadonlyMap<string, VoucherUsage>> {
  const known = names.flatMap(({ projectId, code }) => {
    const template = definitions.byCode(projectId, code);
    return template === undefined ? [] : { projectId, voucherId: template.definition.id };
  });
  const usages = await findUsages(db, known);
  return new Map(usages.map((usage) => [rowKey(usage.projectId, usage.voucherId), usage]));
}
