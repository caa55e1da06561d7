import { hash } from "node:crypto";

/** Activities of one time in causal order: points follow what they are granted for, and tiers follow points. */
const STEPS = ["cause", "points", "tier"] as const;
export type CausalStep = (typeof STEPS)[number];

type ActivityOrigin = {
  readonly eventId: string;
  /** Time of the activity on the project's clock. */
  readonly createdAt: number;
  /** Real time of its event. */
  readonly occurredAt: number;
  readonly step: CausalStep;
  /** Position among the activities of the event, up to 3. */
  readonly index: number;
};

const PREFIX = "evcus_";
/** A larger difference is that of a sandbox clock, or of an outage. */
const USUAL_DELAY_MS = 60_000;
const COUNTER_MASK = 0x3_ff_ff;
const EVENT_ID = /^event_([0-9a-f]{18})$/;
const DIGITS = 18;

/**
 * The id of an activity, the same at each delivery of its event. Like other ids, it begins with 48 bits of
 * milliseconds, followed by bytes that make it unique. Ids sort by `createdAt`; those of one millisecond by step, then
 * by event. In a sandbox project whose clock was set, any number of events share a millisecond, so the last 3 bytes are
 * replaced by 10 that sort by event.
 */
export function activityId({
  eventId,
  createdAt,
  occurredAt,
  step,
  index,
}: ActivityOrigin): string {
  const time = createdAt.toString(16).padStart(12, "0");
  const event = EVENT_ID.exec(eventId)?.[1] ?? hash("sha256", eventId).slice(0, DIGITS);
  const delay = occurredAt - createdAt;
  if (Math.abs(delay) > USUAL_DELAY_MS) {
    return `${PREFIX}${time}${delay < 0 ? "0" : "f"}${event}${index}`;
  }
  const counter = Number.parseInt(event.slice(-6), 16) & COUNTER_MASK;
  const rest = (1 << 22) | (STEPS.indexOf(step) << 20) | (counter << 2) | index;
  return `${PREFIX}${time}${rest.toString(16).padStart(6, "0")}`;
}

const ACTIVITY_ID = /^evcus_(?:[0-9a-f]{18}|[0-9a-f]{32})$/;

export const isActivityId = (id: string | undefined): id is string =>
  id !== undefined && ACTIVITY_ID.test(id);
