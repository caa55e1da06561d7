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

import { readAnswer } from "../commit/build-outcomes.ts";
import type { Deps } from "../deps.ts";
import { createSessionLocks, type SessionLocks } from "../domain/session-locks.ts";
import { rowKey, type VoucherUsage } from "../domain/usage.ts";
import { gatherLocks } from "../loading/session-locks.ts";
import { composeVoucher, templateOf, type VoucherTemplate } from "../mapping/voucher.ts";
import { findAnswers, type StoredAnswer } from "../store/idempotency.ts";
import { findUsages } from "../store/usages.ts";
import { findVouchers, type VoucherName } from "../store/vouchers.ts";

/**
 * Reads what decisions need, for a whole batch at once. Of a voucher that was seen before only the
 * narrow usage row is read; its definition is the cached one while the row says that it still counts.
 */
export const loadVouchers =
  (deps: Deps): Handler<typeof RedemptionService.method.loadVouchers> =>
  async ({ queries }) => {
    const [vouchers, answers] = await Promise.all([
      gather(deps, queries),
      findAnswers(deps.db, keysOf(queries)),
    ]);
    const locks = await locksFor(deps, queries, vouchers);
    return {
      $typeName: "scrip.voucher.v1.LoadVouchersResponse",
      results: queries.map((query) => toAnswer(query, { vouchers, answers, locks })),
    };
  };

type Found = {
  readonly usage: VoucherUsage;
  readonly message: Voucher;
  readonly template: VoucherTemplate;
};

/** By project and what was sent. */
type Gathered = ReadonlyMap<string, Found>;

/** What sessions hold is read for those who say when they ask, of vouchers that are marked. */
async function locksFor(
  { db }: Deps,
  queries: readonly VoucherQuery[],
  vouchers: Gathered,
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
  const asking = usages.size === 0 ? [] : callers;
  return createSessionLocks(await gatherLocks(db, usages, asking));
}

const keysOf = (queries: readonly VoucherQuery[]) =>
  queries.flatMap(({ projectId, idempotency }) =>
    idempotency === undefined ? [] : { projectId, key: idempotency.key },
  );

function toAnswer(
  { projectId, codes, idempotency, sessionKey, now }: VoucherQuery,
  {
    vouchers,
    answers,
    locks,
  }: {
    readonly vouchers: Gathered;
    readonly answers: ReadonlyMap<string, StoredAnswer>;
    readonly locks: SessionLocks;
  },
): VoucherResult {
  const find = (code: string): LoadedVoucher => {
    const found = vouchers.get(rowKey(projectId, code));
    if (found === undefined) return NOTHING;
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
      // JSON that came through the contract's Struct and was stored as JSON.
      publicationMetadata: (template.definition.publicationMetadata ?? undefined) as
        | JsonObject
        | undefined,
    };
  };
  return {
    $typeName: "scrip.voucher.v1.VoucherResult",
    vouchers: codes.map(find),
    storedOutcome:
      idempotency && findEarlier(idempotency, answers.get(rowKey(projectId, idempotency.key))),
  };
}

/** Another hash under the key is for the commit to refuse, in whose transaction keys belong. */
function findEarlier(
  { requestHash }: IdempotencyKey,
  stored: StoredAnswer | undefined,
): CommitOutcome | undefined {
  if (stored === undefined || Buffer.compare(stored.requestHash, requestHash) !== 0) {
    return undefined;
  }
  return readAnswer(stored);
}

const NOTHING: LoadedVoucher = {
  $typeName: "scrip.voucher.v1.LoadedVoucher",
  definitionVersion: 0n,
  lockedQuantity: 0n,
  lockedCredits: 0n,
};

const NOT_LOCKED = { quantity: 0n, credits: 0n };

async function gather(deps: Deps, queries: readonly VoucherQuery[]): Promise<Gathered> {
  const gathered = new Map<string, Found>();
  const names = namesOf(queries);
  const usages = await findKnownUsages(deps, names);
  const unknown: VoucherName[] = [];
  for (const name of names) {
    const template = deps.templates.byCode(name.projectId, name.code);
    const usage = template && usages.get(rowKey(name.projectId, template.definition.id));
    if (template !== undefined && usage !== undefined && isCurrent(usage, template)) {
      // Kept by id too, for the commit that follows.
      deps.templates.remember(template);
      gathered.set(rowKey(name.projectId, name.code), {
        usage,
        message: composeVoucher(template, usage),
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
    const template = templateOf(voucher.definition);
    deps.templates.remember(template, code);
    const { usage } = voucher;
    gathered.set(rowKey(projectId, code), {
      usage,
      message: composeVoucher(template, usage),
      template,
    });
  }
  return gathered;
}

const isCurrent = (usage: VoucherUsage, { definition }: VoucherTemplate): boolean =>
  !usage.deleted && usage.definitionVersion === definition.version;

/** Each name once, however many queries ask for it. */
function namesOf(queries: readonly VoucherQuery[]): VoucherName[] {
  const names = new Map<string, VoucherName>();
  for (const { projectId, codes } of queries) {
    for (const code of codes) names.set(rowKey(projectId, code), { projectId, code });
  }
  return [...names.values()];
}

async function findKnownUsages(
  { db, templates }: Deps,
  names: readonly VoucherName[],
): Promise<ReadonlyMap<string, VoucherUsage>> {
  const known = names.flatMap(({ projectId, code }) => {
    const template = templates.byCode(projectId, code);
    return template === undefined ? [] : { projectId, voucherId: template.definition.id };
  });
  const usages = await findUsages(db, known);
  return new Map(usages.map((usage) => [rowKey(usage.projectId, usage.voucherId), usage]));
}
