import type { JsonObject } from "@bufbuild/protobuf";
import {
  type Count,
  type CountGuard,
  CountMeasure,
} from "@scrip/proto/scrip/voucher/v1/redemptions_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { type CountName, countKey, UNSTORED_CUSTOMER } from "../domain/counts/counts.ts";
import type { Guard } from "../domain/decision/decision.ts";
import { rejectionToProto } from "../mapping/error.ts";
import { toTimestamp } from "./timestamps.ts";

/** As many as one query may name. */
const MAX_COUNTS = 1_000;

/** What was redeemed before, by `countKey`. */
export async function loadCounts(
  deps: Pick<Deps, "clients">,
  call: Call,
  names: readonly CountName[],
): Promise<ReadonlyMap<string, bigint>> {
  const distinct = [...new Map(names.map((name) => [countKey(name), name])).entries()];
  const parts = await Promise.all(
    chunks(distinct, MAX_COUNTS).map(async (chunk) => {
      const { values } = await deps.clients.countRedemptions({
        $typeName: "scrip.voucher.v1.CountQuery",
        projectId: call.project.id,
        counts: chunk.map(([, name]) => countToProto(name)),
      });
      return chunk.map(([key], index) => [key, values[index] ?? 0n] as const);
    }),
  );
  return new Map(parts.flat());
}

export const NOTHING_COUNTED: ReadonlyMap<string, bigint> = new Map();

function chunks<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  const count = Math.ceil(items.length / size);
  return Array.from({ length: count }, (_, index) => items.slice(index * size, (index + 1) * size));
}

/** What the commit checks again under its locks, of the customer as the redemption has stored him. */
export const countGuardToProto = (
  { count, add, conditions, refusal }: Extract<Guard, { kind: "count" }>,
  {
    requestId,
    customerId,
  }: { readonly requestId: string; readonly customerId: string | undefined },
): CountGuard => ({
  $typeName: "scrip.voucher.v1.CountGuard",
  count: countToProto(
    count.customerId === UNSTORED_CUSTOMER ? { ...count, customerId: idOf(customerId) } : count,
  ),
  add,
  conditions: conditions as JsonObject,
  ...(refusal !== null && { rejection: rejectionToProto(refusal, requestId) }),
});

function idOf(customerId: string | undefined): string {
  if (customerId === undefined) throw new Error("a count of a customer who was not stored");
  return customerId;
}

const countToProto = (name: CountName): Count => ({
  $typeName: "scrip.voucher.v1.Count",
  scope: { case: SCOPES[name.scope.kind], value: name.scope.id },
  measure: CountMeasure[name.measure],
  ...(name.customerId !== null && { customerId: name.customerId }),
  ...(name.channelId !== null && { channelId: name.channelId }),
  ...(name.since !== null && { since: toTimestamp(name.since) }),
  ...(name.productId !== null && { productId: name.productId }),
});

const SCOPES = {
  voucher: "voucherId",
  promotion_tier: "promotionTierId",
  campaign: "campaignId",
} as const;
