import { countToProto } from "@scrip/mapping";
import type { Call } from "@scrip/rpc";
import { type Count, countKey } from "@scrip/rules";

import type { Deps } from "../deps.ts";

/** Maximum number of counts per query of the voucher service. */
const MAX_COUNTS = 1_000;

/** Redemption counts and sums, by `countKey`. */
export async function loadCounts(
  deps: Pick<Deps, "clients">,
  call: Call,
  names: readonly Count[],
): Promise<ReadonlyMap<string, bigint>> {
  const distinct = [...new Map(names.map((name) => [countKey(name), name])).entries()];
  const parts = await Promise.all(
    chunks(distinct, MAX_COUNTS).map(async (chunk) => {
      const { values } = await deps.clients.countRedemptions(
        {
          $typeName: "scrip.voucher.v1.CountQuery",
          projectId: call.project.id,
          counts: chunk.map(([, name]) => countToProto(name)),
        },
        call,
      );
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
