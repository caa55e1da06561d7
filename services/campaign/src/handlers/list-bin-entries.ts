import { filterCondition, timeRangeConditions } from "@scrip/filters";
import type { TrashBinService } from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { binEntryToProto } from "../mapping/bin-entry.ts";
import { binFilters, listBinEntries as list } from "../store/bin-entries.ts";

const DEFAULT_LIMIT = 10n;

export const listBinEntries =
  ({ db }: Deps): Handler<typeof TrashBinService.method.listBinEntries> =>
  async ({ limit = DEFAULT_LIMIT, order = "-id", startingAfterId, filters, createdAt }, call) => {
    const values: unknown[] = [call.project.id];
    const { entries, hasMore } = await list(db, {
      projectId: call.project.id,
      conditions: [
        filterCondition(filters, { fields: binFilters, call, values }),
        ...timeRangeConditions("b.created_at", createdAt, values),
      ],
      values,
      descending: order === "-id",
      after: startingAfterId,
      limit: Number(limit),
    });
    return {
      $typeName: "scrip.campaign.v1.ListBinEntriesResponse",
      data: entries.map(binEntryToProto),
      total: BigInt(entries.length),
      hasMore,
      moreStartingAfter: hasMore ? entries.at(-1)?.id : undefined,
    };
  };
