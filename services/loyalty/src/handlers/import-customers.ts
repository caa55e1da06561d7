import { ApiError, errorToProto } from "@scrip/errors";
import { itemOutcome, rejectedItem } from "@scrip/mapping";
import { ItemResult } from "@scrip/proto/scrip/common/v1/items_pb";
import type { CustomerImportService } from "@scrip/proto/scrip/loyalty/v1/customer_imports_pb";
import type { Handler } from "@scrip/rpc";

import { importCustomers as importAll } from "../customer/import-customers.ts";
import type { Deps } from "../deps.ts";
import { customerChangeOf } from "../domain/customer.ts";

export const importCustomers =
  (deps: Deps): Handler<typeof CustomerImportService.method.importCustomers> =>
  async ({ items }, { project, now, requestId }) => {
    const imports = items.flatMap((item) =>
      item.sourceId === undefined
        ? []
        : [{ sourceId: item.sourceId, change: customerChangeOf(item, item.updateMask?.paths) }],
    );
    const batch = { projectId: project.id, at: new Date(now), imports };
    const created = await deps.db.transaction((tx) => importAll(tx, deps, batch));
    const seen = new Set<string>();
    const outcomes = items.map(({ sourceId }) => {
      if (sourceId === undefined) return rejectedItem(errorToProto(MISSING, requestId));
      const isNew = created.has(sourceId) && !seen.has(sourceId);
      seen.add(sourceId);
      return itemOutcome(isNew ? ItemResult.CREATED : ItemResult.UPDATED);
    });
    return { $typeName: "scrip.loyalty.v1.ImportCustomersResponse", outcomes };
  };

const MISSING = new ApiError("missing_param", { details: "Property .source_id is required" });
