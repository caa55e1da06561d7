import type { JsonObject } from "@bufbuild/protobuf";
import { instantFromProto, instantToProto } from "@scrip/mapping";
import { type CampaignResult, CampaignKind } from "@scrip/proto/scrip/campaign/v1/campaigns_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { cursorOf, voucherFilters, requestedVouchers } from "../domain/qualification/candidate.ts";
import {
  compareNewest,
  isAfterCursor,
  type PageCursor,
} from "../domain/qualification/page-cursor.ts";
import type { QualificationScenario } from "../domain/qualification/qualification-scenario.ts";
import {
  type LoadedCandidate,
  candidateFromVoucher,
  candidateFromTier,
  candidateFromStack,
} from "../mapping/candidate.ts";
import { type Promotions, promotionsFromProto } from "../mapping/promotions.ts";

/** The sources of candidates, each sorted newest first. */
export type CandidateSource = {
  readonly promotions: Promotions;
  /** All promotion tiers or stacks; they are cached. */
  readonly promotionCandidates: readonly LoadedCandidate[];
  /** Query for vouchers; null when the scenario has none. */
  readonly voucherQuery: VoucherQuery | null;
};

type VoucherQuery = {
  readonly holderId: string | undefined;
  readonly standaloneTypes: VoucherType[];
  readonly publicCampaignIds: string[];
  readonly codes: string[];
  readonly filters: JsonObject;
  readonly sessionKey: string | undefined;
};

export type CandidateQuery = {
  readonly candidates: QualificationScenario["candidates"];
  readonly filters: JsonObject;
  readonly holderId: string | undefined;
  readonly sessionKey: string | undefined;
};

/** Number of candidates that are loaded and evaluated together. */
export const WINDOW = 100;

/**
 * A gift code can be spent by anyone who knows it, so client-side callers see only those of their
 * customer.
 */
const PUBLIC_TYPES = {
  server: [VoucherType.DISCOUNT_VOUCHER, VoucherType.GIFT_VOUCHER],
  client: [VoucherType.DISCOUNT_VOUCHER],
} as const;

export async function openCandidateSource(
  { clients }: Pick<Deps, "clients">,
  call: Call,
  { candidates, filters, holderId, sessionKey }: CandidateQuery,
): Promise<CandidateSource> {
  const isEverything = candidates === "everything";
  const isStacks = candidates === "promotion_stacks";
  const hasPublicVouchers = isEverything || candidates === "vouchers";
  const result = await clients.resolveCampaigns(
    {
      projectId: call.project.id,
      allActiveTiers: isEverything,
      allActiveStacks: isStacks,
      allActiveStandalone: hasPublicVouchers,
    },
    call,
  );
  const promotions = promotionsFromProto(result);
  const requestedCodes = requestedVouchers(filters);
  const voucherQuery = {
    holderId,
    standaloneTypes: hasPublicVouchers ? [...publicTypes(call)] : [],
    publicCampaignIds: hasPublicVouchers ? standaloneCampaignIds(result) : [],
    codes: [...(requestedCodes ?? [])],
    filters: voucherFilters(filters) as JsonObject,
    sessionKey,
  };
  const hasVouchers = hasPublicVouchers || (!isStacks && holderId !== undefined);
  const promotionCandidates = isStacks
    ? result.stacks.map((stack) => candidateFromStack(stack, promotions))
    : isEverything
      ? result.tiers.map((tier) => candidateFromTier(tier, promotions))
      : [];
  return {
    promotions,
    promotionCandidates: promotionCandidates.toSorted((a, b) =>
      compareNewest(cursorOf(a.candidate), cursorOf(b.candidate)),
    ),
    voucherQuery: hasVouchers ? voucherQuery : null,
  };
}

const publicTypes = ({ caller }: Call): readonly VoucherType[] =>
  PUBLIC_TYPES[caller.side === "client" ? "client" : "server"];

const standaloneCampaignIds = ({ campaigns }: CampaignResult): string[] =>
  campaigns.flatMap(({ id, type }) => (type === CampaignKind.STANDALONE ? [id] : []));

export type CandidateWindow = {
  readonly found: readonly LoadedCandidate[];
  /** Cursor of the next window; null after the last one. */
  readonly next: PageCursor | null;
};

/**
 * The next candidates behind a cursor, at most one window. A window can be empty although more
 * follow.
 */
export async function loadNextCandidates(
  deps: Pick<Deps, "clients">,
  call: Call,
  { promotionCandidates, voucherQuery }: CandidateSource,
  after: PageCursor | null,
): Promise<CandidateWindow> {
  const { vouchers, next } =
    voucherQuery === null ? NO_VOUCHERS : await searchVouchers(deps, call, voucherQuery, after);
  // Behind the last voucher found, an unread voucher may be newer than a tier.
  const tiers = promotionCandidates.filter(({ candidate }) => {
    const place = cursorOf(candidate);
    const isDue = after === null || isAfterCursor(place, after);
    return isDue && (next === null || !isAfterCursor(place, next));
  });
  const merged = [...tiers, ...vouchers].toSorted((a, b) =>
    compareNewest(cursorOf(a.candidate), cursorOf(b.candidate)),
  );
  const found = merged.slice(0, WINDOW);
  const last = found.at(-1);
  return merged.length > found.length && last !== undefined
    ? { found, next: cursorOf(last.candidate) }
    : { found, next };
}

const NO_VOUCHERS = { vouchers: [], next: null } as const;

async function searchVouchers(
  { clients }: Pick<Deps, "clients">,
  call: Call,
  { holderId, sessionKey, ...voucherQuery }: VoucherQuery,
  after: PageCursor | null,
): Promise<{ readonly vouchers: readonly LoadedCandidate[]; readonly next: PageCursor | null }> {
  const { firstWeekday } = call.project;
  const result = await clients.listCandidates(
    {
      projectId: call.project.id,
      now: instantToProto(call.now),
      timeZone: call.project.timeZone,
      ...(firstWeekday !== undefined && { firstWeekday }),
      limit: BigInt(WINDOW),
      ...voucherQuery,
      ...(holderId !== undefined && { holderId }),
      ...(sessionKey !== undefined && { sessionKey }),
      ...(after !== null && {
        after: {
          createdAt: instantToProto(after.createdAt),
          ...(after.idSuffix !== null && { id: `v_${after.idSuffix}` }),
        },
      }),
    },
    call,
  );
  const { createdAt, id } = result.next ?? {};
  return {
    vouchers: result.candidates.flatMap(candidateFromVoucher),
    next:
      createdAt === undefined
        ? null
        : { createdAt: instantFromProto(createdAt), idSuffix: id?.slice("v_".length) ?? null },
  };
}
