import type { Transport } from "@connectrpc/connect";
import {
  type ResolvedUnit,
  ProductService,
  type UnitsQuery,
} from "@scrip/proto/scrip/validation/v1/products_pb";
import { chunksOf, clientOf, createCoalescer, serviceCall } from "@scrip/rpc";

/** Products and SKUs of unit discounts; lookups of concurrent requests are sent together. */
export type Units = {
  /** Keyed by the requested ids and source ids; unknown ones are left out. */
  find(projectId: string, names: readonly string[]): Promise<ReadonlyMap<string, ResolvedUnit>>;
};

const BATCH = { lanes: 2, maxBatch: 500, maxWaiting: 10_000 };

const MAX_NAMES = 200;

export function createUnitsClient(transport: Transport): Units {
  const client = clientOf(ProductService, transport);
  const lookUp = createCoalescer<UnitsQuery, readonly ResolvedUnit[]>({
    ...BATCH,
    async send(queries) {
      const request = {
        $typeName: "scrip.validation.v1.ResolveUnitsRequest" as const,
        queries: [...queries],
      };
      const { results } = await client.resolveUnits(request, serviceCall());
      return results.map(({ units }) => units);
    },
  });
  return {
    async find(projectId, names) {
      const lookups = chunksOf(names, MAX_NAMES).map((some) =>
        lookUp({ $typeName: "scrip.validation.v1.UnitsQuery", projectId, names: some }),
      );
      const found = (await Promise.all(lookups)).flat();
      return new Map(found.map((unit) => [unit.name, unit]));
    },
  };
}
