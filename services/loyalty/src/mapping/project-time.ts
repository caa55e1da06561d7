import { timestampMs, type Timestamp } from "@bufbuild/protobuf/wkt";

/** The current time of the item's project: a batch can include projects with different sandbox clocks. */
export function projectTimeFromProto(item: { readonly now?: Timestamp | undefined }): number {
  if (item.now === undefined) throw new Error("the contract requires .now");
  return timestampMs(item.now);
}
