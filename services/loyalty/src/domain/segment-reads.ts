/** What decisions load of a customer beside the profile, because filters of segments read it. */
export type ActivityReads = {
  /** Points on cards. */
  readonly points: boolean;
  /**
   * Custom events by name, each with the number up to which they are counted: one more than the largest operand, so
   * that every larger count meets the same conditions.
   */
  readonly events: ReadonlyMap<string, bigint>;
};

export const NO_READS: ActivityReads = { points: false, events: new Map() };

/** The data that the filter of a segment reads. */
export function activityReads(filter: object): ActivityReads {
  return {
    points: Object.keys(filter).some((field) => POINTS.some((prefix) => field.startsWith(prefix))),
    events: new Map(
      Object.entries(filter).flatMap(([field, tree]): [string, bigint][] => {
        if (!field.startsWith(EVENTS)) return [];
        const name = nameBefore(".count", field.slice(EVENTS.length));
        return name === undefined ? [] : [[name, countLimit(operandsOf(tree))]];
      }),
    ),
  };
}

const POINTS = ["loyalty.", "loyalty_points.", "summary.redemptions.loyalty_card."] as const;
const EVENTS = "events.";

/** The data that any of several filters read. */
export function mergedReads(reads: readonly ActivityReads[]): ActivityReads {
  const events = new Map<string, bigint>();
  for (const [name, limit] of reads.flatMap((each) => [...each.events])) {
    if (limit > (events.get(name) ?? 0n)) events.set(name, limit);
  }
  return { points: reads.some(({ points }) => points), events };
}

/** The middle of a field such as `events.<name>.count`, after its prefix; undefined without its end. */
export const nameBefore = (end: string, key: string): string | undefined =>
  key.endsWith(end) && key.length > end.length ? key.slice(0, -end.length) : undefined;

function countLimit(operands: readonly unknown[]): bigint {
  const numbers = operands.map(Number).filter((one) => one < Number.MAX_SAFE_INTEGER);
  // An operand that is too large for this is larger than any count.
  return BigInt(Math.ceil(Math.max(0, ...numbers))) + 1n;
}

/** Ids of the segments that a filter names: its customers are in them, or are not. */
export const segmentsNamedIn = (filter: object): readonly string[] => [
  ...new Set(operandsOf((filter as { readonly segments?: unknown }).segments).map(String)),
];

function operandsOf(tree: unknown): readonly unknown[] {
  const { conditions } = (tree ?? {}) as { readonly conditions?: object };
  return Object.values(conditions ?? {}).flat();
}
