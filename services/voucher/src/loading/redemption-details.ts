import { fromBinary } from "@bufbuild/protobuf";
import { OrderSchema } from "@scrip/proto/scrip/common/v1/order_pb";

import type { Deps } from "../deps.ts";
import { findRedemptions, type StoredRedemption } from "../store/redemptions.ts";

type Cause = {
  readonly projectId: string;
  readonly redemptionId?: string | null | undefined;
};

/** The redemptions of transactions, by their id. */
export async function redemptionsOf(
  { db }: Pick<Deps, "db">,
  causes: readonly Cause[],
): Promise<ReadonlyMap<string, StoredRedemption>> {
  const keys = new Map(
    causes.flatMap(({ projectId, redemptionId }) =>
      typeof redemptionId === "string"
        ? [[`${projectId}\n${redemptionId}`, { projectId, id: redemptionId }] as const]
        : [],
    ),
  );
  const found = await findRedemptions(db, [...keys.values()]);
  return new Map(found.map((one) => [one.id, one]));
}

/** What the redemption of a transaction adds to its details, in listings and in exports. */
export function redemptionDetails(origin: Origin, redemption: StoredRedemption | undefined) {
  const reward = redemption?.points?.reward ?? null;
  const order = redemption && orderOf(redemption);
  return {
    operationType: operationTypeOf(origin, redemption),
    ...(order !== undefined && { order }),
    ...(reward !== null && {
      reward: { id: reward.id, ...(reward.name !== null && { name: reward.name }) },
    }),
  };
}

type Origin = {
  readonly source?: string | null | undefined;
  readonly rollbackId?: string | null | undefined;
};

/** Rollbacks are requested, also those of automatic redemptions. */
function operationTypeOf(
  { source, rollbackId }: Origin,
  redemption: StoredRedemption | undefined,
): "MANUAL" | "AUTOMATIC" {
  const isAutomatic = redemption?.channelType === "AUTO_REDEEM" && (rollbackId ?? null) === null;
  return source === "Automation" || isAutomatic ? "AUTOMATIC" : "MANUAL";
}

function orderOf({ order }: StoredRedemption) {
  if (order === null) return undefined;
  const { id, sourceId } = fromBinary(OrderSchema, order);
  return id === undefined ? undefined : { id, ...(sourceId !== undefined && { sourceId }) };
}
