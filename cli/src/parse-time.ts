import { isDay } from "./is-day.ts";

const SHAPE = /^(\d{4}-\d{2}-\d{2})(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}:\d{2})?)?$/;

/** A day or a time in ISO 8601. Without an offset it is UTC, as in the API. Undefined for other text. */
export function parseTime(text: string): Date | undefined {
  const [, day = "", offset] = SHAPE.exec(text) ?? [];
  if (!isDay(day)) return undefined;
  const time = new Date(offset === undefined && text !== day ? `${text}Z` : text);
  return Number.isNaN(time.getTime()) ? undefined : time;
}
