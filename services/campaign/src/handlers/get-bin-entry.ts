import { notFound } from "@scrip/errors";
import type { TrashBinService } from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";
import type { Handler } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { binEntryToProto } from "../mapping/bin-entry.ts";
import { findBinEntry } from "../store/bin-entries.ts";

export const getBinEntry =
  ({ db }: Deps): Handler<typeof TrashBinService.method.getBinEntry> =>
  async ({ binEntryId }, { project }) => {
    const entry = await findBinEntry(db, project.id, binEntryId);
    if (entry === undefined) throw notFound("bin_entry", binEntryId);
    return binEntryToProto(entry);
  };
