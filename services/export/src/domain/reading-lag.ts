/** PostgreSQL shows up to five seconds where nothing waits, the time between two heartbeats; Kafka counts single events. */
const LATE_SECONDS = 5;
const LATE_EVENTS = 1_000;

/** What a broker knows of the events that a group has not handled: the age of the oldest one, or their number. */
export type ReadingLag = {
  readonly seconds?: number | undefined;
  readonly events?: number | undefined;
};

/** Whether bulk work should wait before it causes more events. */
export const isFarBehind = ({ seconds = 0, events = 0 }: ReadingLag): boolean =>
  seconds > LATE_SECONDS || events > LATE_EVENTS;
