import { keyOf } from "./key.ts";

export type SegmentMember = {
  readonly projectId: string;
  readonly segmentId: string;
  readonly customerId: string;
};

/** Who entered and who left segments, by the known members and those that match now. */
export function membershipChanges(
  known: readonly SegmentMember[],
  matching: readonly SegmentMember[],
): { readonly entered: readonly SegmentMember[]; readonly left: readonly SegmentMember[] } {
  return { entered: without(matching, known), left: without(known, matching) };
}

function without(
  members: readonly SegmentMember[],
  others: readonly SegmentMember[],
): readonly SegmentMember[] {
  const keys = new Set(others.map(memberKey));
  return members.filter((member) => !keys.has(memberKey(member)));
}

const memberKey = ({ projectId, segmentId, customerId }: SegmentMember): string =>
  keyOf(projectId, segmentId, customerId);
