import {
  type CompiledPredicate,
  compilePredicate,
  memberOf,
  type TimeContext,
  type Predicate,
  type RecordFields,
} from "@scrip/filters";

import {
  ADDRESS_FIELDS,
  averageOf,
  type CustomerActivity,
  type CustomerChange,
  type CustomerCounts,
  type CustomerField,
  type CustomerProfile,
} from "./customer.ts";
import { type ActivityReads, nameBefore } from "./segment-reads.ts";

/** A customer whose segments are evaluated: stored, or known only from a request. */
export type SegmentSubject = {
  readonly id: string | null;
  readonly sourceId: string | null;
  readonly fields: Partial<Readonly<Record<CustomerField, string | null>>>;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** Epoch milliseconds. */
  readonly createdAt: number | null;
  readonly updatedAt: number | null;
  readonly summary: CustomerCounts;
  /** What filters read of it. */
  readonly activity: CustomerActivity;
  /** Segments of the customer that filters may name. */
  readonly segmentIds: readonly string[];
};

const NO_ACTIVITY: CustomerActivity = {
  points: 0n,
  redeemedPoints: 0n,
  pointsByProgram: new Map(),
  events: new Map(),
};

const NO_COUNTS: CustomerCounts = {
  redemptions: 0n,
  failed: 0n,
  rolledBack: 0n,
  rollbacksRejected: 0n,
  giftAmount: 0n,
  orders: 0n,
  ordersAmount: 0n,
  lastOrder: null,
};

export const UNKNOWN_CUSTOMER: SegmentSubject = {
  id: null,
  sourceId: null,
  fields: {},
  metadata: {},
  createdAt: null,
  updatedAt: null,
  summary: NO_COUNTS,
  activity: NO_ACTIVITY,
  segmentIds: [],
};

export const subjectFromProfile = (
  profile: CustomerProfile,
  activity = NO_ACTIVITY,
): Omit<SegmentSubject, "segmentIds"> => ({
  id: profile.id,
  sourceId: profile.sourceId,
  fields: profile,
  metadata: profile.metadata,
  createdAt: profile.createdAt.getTime(),
  updatedAt: profile.updatedAt?.getTime() ?? null,
  summary: profile.summary,
  activity,
});

/** The customer after an upsert of the request's data, without storing it. */
export const withInput = (
  subject: SegmentSubject,
  input: CustomerChange & { readonly sourceId: string | null },
): SegmentSubject => ({
  ...subject,
  sourceId: subject.sourceId ?? input.sourceId,
  fields: { ...subject.fields, ...input.fields },
  metadata: { ...subject.metadata, ...input.metadata },
});

/** A segment whose members are the customers that match its filter. */
export type DynamicSegment = {
  readonly id: string;
  readonly name: string;
  readonly matches: Predicate<SegmentSubject>;
  readonly reads: ActivityReads;
  /** Whether the filter names segments, none of whose filters does. */
  readonly namesSegments: boolean;
};

/** The dynamic segments of a customer whose static ones are known. */
export function matchingSegments(
  subject: SegmentSubject,
  segments: readonly DynamicSegment[],
  time: TimeContext,
): readonly DynamicSegment[] {
  const plain = segments.filter((each) => !each.namesSegments && each.matches(subject, time));
  if (plain.length === segments.length) return plain;
  const segmentIds = [...subject.segmentIds, ...plain.map(({ id }) => id)];
  const inSegments = { ...subject, segmentIds };
  return [
    ...plain,
    ...segments.filter((each) => each.namesSegments && each.matches(inSegments, time)),
  ];
}

const TEXTS = ["name", "description", "email", "phone"] as const;

const textField = (field: CustomerField) => ({
  type: "text" as const,
  read: ({ fields: known }: SegmentSubject) => known[field] ?? null,
});

const activityOf =
  (end: string, amounts: (activity: CustomerActivity) => ReadonlyMap<string, bigint>) =>
  (key: string) => {
    const name = nameBefore(end, key);
    return name === undefined
      ? undefined
      : {
          type: "number" as const,
          read: ({ activity }: SegmentSubject) => amounts(activity).get(name) ?? 0n,
        };
  };

const count = (read: (summary: CustomerCounts) => bigint) => ({
  type: "number" as const,
  read: ({ summary }: SegmentSubject) => read(summary),
});

const POINTS = {
  type: "number" as const,
  read: ({ activity }: SegmentSubject) => activity.points,
};

/** Fields of segment filters. Keep them equal to their SQL in store/segment-filters.ts. */
const fields: RecordFields<SegmentSubject> = {
  named: {
    id: { type: "text", read: ({ id }) => id },
    source_id: { type: "text", read: ({ sourceId }) => sourceId },
    ...Object.fromEntries(TEXTS.map((field) => [field, textField(field)])),
    ...Object.fromEntries(ADDRESS_FIELDS.map((field) => [`address.${field}`, textField(field)])),
    birthdate: { type: "day", read: ({ fields: known }) => known.birthdate ?? null },
    birthday: { type: "day", read: ({ fields: known }) => known.birthdate ?? null },
    created_at: { type: "date", read: ({ createdAt }) => createdAt },
    updated_at: { type: "date", read: ({ updatedAt }) => updatedAt },
    "summary.redemptions.total_redeemed": count(({ redemptions }) => redemptions),
    "summary.redemptions.total_succeeded": count(({ redemptions }) => redemptions),
    "summary.redemptions.total_failed": count(({ failed }) => failed),
    "summary.redemptions.total_rolled_back": count(({ rolledBack }) => rolledBack),
    "summary.redemptions.total_rollback_succeeded": count(({ rolledBack }) => rolledBack),
    "summary.redemptions.total_rollback_failed": count(
      ({ rollbacksRejected }) => rollbacksRejected,
    ),
    "summary.redemptions.gift.redeemed_amount": count(({ giftAmount }) => giftAmount),
    "summary.redemptions.loyalty_card.redeemed_points": {
      type: "number",
      read: ({ activity }) => activity.redeemedPoints,
    },
    "summary.redemptions.loyalty_card.points_to_go": POINTS,
    "summary.orders.total_amount": count(({ ordersAmount }) => ordersAmount),
    "summary.orders.total_count": count(({ orders }) => orders),
    "summary.orders.average_amount": count(({ ordersAmount, orders }) =>
      averageOf(ordersAmount, orders),
    ),
    "summary.orders.last_order_amount": count(({ lastOrder }) => lastOrder?.amount ?? 0n),
    "summary.orders.last_order_date": {
      type: "date",
      read: ({ summary }) => summary.lastOrder?.at.getTime() ?? null,
    },
    "loyalty.points": POINTS,
    segments: { type: "array", read: ({ segmentIds }) => segmentIds },
  },
  prefixed: {
    "loyalty_points.campaigns.": activityOf(".points", ({ pointsByProgram }) => pointsByProgram),
    "events.": activityOf(".count", ({ events }) => events),
    "metadata.": (key) => ({ type: "json", read: ({ metadata }) => memberOf(metadata, key) }),
  },
};

/** Parses the filter of a segment; requests and the database use the same JSON. */
export function parseSegmentFilter(filter: unknown): CompiledPredicate<SegmentSubject> {
  const compiled = compilePredicate(filter, fields);
  if (compiled.kind === "violation") return compiled;
  const { segments } = filter as { readonly segments?: { readonly conditions: object } };
  const other = Object.keys(segments?.conditions ?? {}).find((each) => !NAMING.has(each));
  return other === undefined
    ? compiled
    : { kind: "violation", text: `Operator ${other} cannot be used on filter segments` };
}

/** Operators on `segments` that name the segments to evaluate. */
const NAMING: ReadonlySet<string> = new Set([
  "$is",
  "$in",
  "$contains",
  "$is_not",
  "$not_in",
  "$not_contain",
]);
