import type { TrashBinService } from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { deleteBinEntry } from "../store/bin-entries.ts";

export const removeBinEntry =
  ({ db }: Deps): Handler<typeof TrashBinService.method.removeBinEntry> =>
  async ({ binEntryId }, { project }) => {
    await deleteBinEntry(db, project.id, binEntryId);
    return { $typeName: "scrip.campaign.v1.RemoveBinEntryResponse" };
  };
