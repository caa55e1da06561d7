import { pino } from "pino";

import { scrub, scrubText } from "./scrub.ts";

/** Structured lines, one for each call. What is secret never reaches them: see `scrub`. */
export type Logger = {
  readonly debug: (fields: object, message: string) => void;
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
  /** A logger whose lines carry these fields as well, such as the id of a request. */
  readonly child: (fields: object) => Logger;
};

export type LoggerOptions = {
  /** Who speaks: the `name` of every line. */
  readonly service: string;
  /** The least severe lines that are written: debug, info, warn, error, or silent. */
  readonly level: string;
  /** Standard output when absent. */
  readonly destination?: { readonly write: (line: string) => void };
};

export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  const options = {
    name: service,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Errors are plain fields by then; the built-in serializer would rewrite them.
    serializers: { err: (fields: unknown) => fields },
    formatters: { level: (label: string) => ({ level: label }) },
  };
  return wrap(destination === undefined ? pino(options) : pino(options, destination));
}

type Level = "debug" | "info" | "warn" | "error";

function wrap(lines: pino.Logger): Logger {
  const writer = (level: Level) => (fields: object, message: string) => {
    // Asked first: most lines of the lower levels are not written, and must cost next to nothing.
    if (lines.isLevelEnabled(level)) lines[level](cleaned(fields), scrubText(message));
  };
  return {
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
    child: (fields) => wrap(lines.child(cleaned(fields))),
  };
}

function cleaned(fields: object): object {
  // A bare error would have its message mixed up with the line's.
  const clean = scrub(fields instanceof Error ? { err: fields } : fields);
  return typeof clean === "object" && clean !== null ? clean : {};
}
