import { create } from "@bufbuild/protobuf";
import { instantToProto } from "@scrip/mapping";
import {
  type BinEntry as BinEntryMessage,
  BinEntrySchema,
} from "@scrip/proto/scrip/campaign/v1/trash_bin_pb";

import type { BinEntry } from "../store/bin-entries.ts";

export const binEntryToProto = (entry: BinEntry): BinEntryMessage =>
  create(BinEntrySchema, {
    id: entry.id,
    createdAt: instantToProto(entry.createdAt),
    resourceId: entry.resourceId,
    resourceType: entry.resourceType,
    resourceName: entry.resourceName ?? undefined,
    resourceParentId: entry.parentId ?? undefined,
    object: entry.resourceType,
  });
