import type {
  ResolvedUnit,
  ProductService,
  UnitsResult,
  UnitsQuery,
} from "@scrip/proto/scrip/validation/v1/products_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { loadCatalogueUnits } from "../loading/catalogue.ts";
import type { CatalogueUnit } from "../mapping/catalogue-line.ts";
import { productSummariesToProto } from "../mapping/product-summaries.ts";

export const resolveUnits =
  (deps: Deps): Handler<typeof ProductService.method.resolveUnits> =>
  async ({ queries }) => {
    const found = await loadUnitsByProject(deps, queries);
    return {
      $typeName: "scrip.validation.v1.ResolveUnitsResponse",
      results: queries.map(({ projectId, names }): UnitsResult => ({
        $typeName: "scrip.validation.v1.UnitsResult",
        units: [...new Set(names)].flatMap((name): ResolvedUnit[] => {
          const unit = found.get(projectId)?.get(name);
          return unit === undefined ? [] : [namedUnit(name, unit)];
        }),
      })),
    };
  };

type Found = ReadonlyMap<string, ReadonlyMap<string, CatalogueUnit>>;

/** One lookup per project. */
async function loadUnitsByProject(deps: Deps, queries: readonly UnitsQuery[]): Promise<Found> {
  const byProject = Map.groupBy(queries, ({ projectId }) => projectId);
  const found = await Promise.all(
    [...byProject].map(async ([projectId, own]) => {
      const names = own.flatMap((query) => query.names);
      return [projectId, await loadCatalogueUnits(deps, projectId, names)] as const;
    }),
  );
  return new Map(found);
}

const namedUnit = (name: string, unit: CatalogueUnit): ResolvedUnit => ({
  $typeName: "scrip.validation.v1.ResolvedUnit",
  name,
  ...productSummariesToProto({ ...unit, skuLabel: unit.sku }),
});
