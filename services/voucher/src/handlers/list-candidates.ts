import type { JsonObject } from "@bufbuild/protobuf";
import { invalidPayload } from "@scrip/errors";
import { compileFilters } from "@scrip/filters";
import { instantFromProto, enumName, instantToProto } from "@scrip/mapping";
import type {
  Candidate,
  CandidateResult,
  CandidateQuery,
  CandidateService,
} from "@scrip/proto/scrip/voucher/v1/candidates_pb";
import { VoucherType } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { createSessionLocks, type SessionLocks } from "../domain/session-locks.ts";
import { rowKey } from "../domain/usage.ts";
import { loadSessionLocks } from "../loading/session-locks.ts";
import { voucherToProto } from "../mapping/voucher.ts";
import { candidateFilters } from "../store/candidate-filters.ts";
import {
  type CandidateSearch,
  findCandidates,
  type FoundCandidates,
  searchValues,
} from "../store/candidates.ts";
import type { StoredVoucher } from "../store/voucher-rows.ts";

export const listCandidates =
  (deps: Deps): Handler<typeof CandidateService.method.listCandidates> =>
  async ({ queries }) => ({
    $typeName: "scrip.voucher.v1.ListCandidatesResponse",
    results: await Promise.all(queries.map((query) => loadCandidates(deps, query))),
  });

async function loadCandidates(deps: Deps, query: CandidateQuery): Promise<CandidateResult> {
  const now = query.now === undefined ? 0 : instantFromProto(query.now);
  const found = await findCandidates(deps.db, searchOf(query, now));
  const locks = await locksOf(deps, query, now, found);
  return {
    $typeName: "scrip.voucher.v1.CandidateResult",
    candidates: found.vouchers.map((voucher) => candidateOf(voucher, query, locks)),
    ...(found.next !== null && {
      next: {
        $typeName: "scrip.voucher.v1.CandidateCursor",
        createdAt: instantToProto(found.next.createdAt),
        ...(found.next.id !== null && { id: found.next.id }),
      },
    }),
  };
}

function searchOf(query: CandidateQuery, now: number): CandidateSearch {
  const { projectId, holderId, publicCampaignIds, after, codes, filters } = query;
  const search = {
    projectId,
    holderId: holderId ?? null,
    standaloneTypes: query.standaloneTypes.flatMap((type) => enumName(VoucherType, type) ?? []),
    publicCampaignIds,
    after:
      after?.createdAt === undefined
        ? null
        : { createdAt: instantFromProto(after.createdAt), id: after.id ?? null },
    codes,
    limit: Number(query.limit),
  };
  const values = searchValues(search, now);
  const { timeZone, firstWeekday } = query;
  const context = { fields: candidateFilters, now, timeZone, firstWeekday, values };
  const filter = compileFilters(filters ?? {}, context);
  if (filter.kind === "violation") throw invalidPayload(filter.text);
  return { ...search, filter: filter.text, values };
}

function locksOf(
  { db }: Deps,
  { projectId, sessionKey }: CandidateQuery,
  now: number,
  { vouchers }: FoundCandidates,
): Promise<SessionLocks> {
  const reserved = vouchers.flatMap(({ usage }) => (usage.reserved ? [usage] : []));
  const usages = new Map(reserved.map((usage) => [rowKey(projectId, usage.voucherId), usage]));
  const callers = usages.size === 0 ? [] : [{ projectId, sessionKey: sessionKey ?? null, at: now }];
  return loadSessionLocks(db, usages, callers).then(createSessionLocks);
}

function candidateOf(
  voucher: StoredVoucher,
  { projectId, sessionKey }: CandidateQuery,
  locks: SessionLocks,
): Candidate {
  const { definition, usage } = voucher;
  const others = locks.ofOthers(projectId, definition.id, sessionKey ?? null);
  return {
    $typeName: "scrip.voucher.v1.Candidate",
    voucher: {
      $typeName: "scrip.voucher.v1.LoadedVoucher",
      voucher: voucherToProto(voucher),
      definitionVersion: usage.definitionVersion,
      lockedQuantity: others.quantity,
      lockedCredits: others.credits,
      // Was a Struct when it was received, so it is JSON.
      publicationMetadata: (definition.publicationMetadata ?? undefined) as JsonObject | undefined,
    },
    ...(definition.campaignType !== null && { campaignType: definition.campaignType }),
  };
}
