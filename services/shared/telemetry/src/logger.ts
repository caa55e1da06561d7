import { pino } from "pino";

import { scrub, scrubText } from "./scrub.ts";
import { activeSpan, currentTracing } from "./tracing.ts";

/** Structured log lines. `scrub` removes secrets from them. */
export type Logger = {
  /**
   * For the line of every request: scrubbing it would cost more than writing it. The caller must
   * create all fields itself; none may come from outside.
   */
  readonly plain: (fields: PlainFields, message: string) => void;
  readonly debug: (fields: object, message: string) => void;
  readonly info: (fields: object, message: string) => void;
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
  /** A logger that adds these fields to its lines, such as the id of a request. */
  readonly child: (fields: object) => Logger;
};

export type PlainFields = Readonly<Record<string, string | number | boolean | undefined>>;

export type LoggerOptions = {
  /** The `name` of every line. */
  readonly service: string;
  /** Minimum level: debug, info, warn, error, or silent. */
  readonly level: string;
  /** Default: standard output. */
  readonly destination?: { readonly write: (line: string) => void };
};

export function createLogger({ service, level, destination }: LoggerOptions): Logger {
  const options = {
    name: service,
    level,
    timestamp: pino.stdTimeFunctions.isoTime,
    // Errors are plain fields already; the built-in serializer would rewrite them.
    serializers: { err: (fields: unknown) => fields },
    formatters: { level: (label: string) => ({ level: label }) },
    ...(currentTracing() !== undefined && { mixin: traceFields }),
  };
  if (destination !== undefined) return wrap(pino(options, destination), () => {});
  const output = bufferedOutput();
  return wrap(pino(options, output), () => output.flush());
}

function traceFields(): { readonly trace_id?: string } {
  const span = activeSpan();
  return span === undefined ? {} : { trace_id: span.traceId };
}

const BUFFER_BYTES = 8 * 1024;
/** A slow reader loses lines, which must not fill the memory. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
const FLUSH_MS = 1_000;

/** Buffered standard output; pino writes the rest when the process exits. */
function bufferedOutput(): ReturnType<typeof pino.destination> {
  const output = pino.destination({
    dest: 1,
    sync: false,
    minLength: BUFFER_BYTES,
    maxLength: MAX_WAITING_BYTES,
  });
  const timer = setInterval(() => output.flush(), FLUSH_MS).unref();
  output.on("close", () => clearInterval(timer));
  return output;
}

type Level = "debug" | "info" | "warn" | "error";

function wrap(lines: pino.Logger, flush: () => void): Logger {
  const writer = (level: Level) => (fields: object, message: string) => {
    // Checked first: most lines of lower levels are dropped, and must be cheap.
    if (!lines.isLevelEnabled(level)) return;
    lines[level](cleaned(fields), scrubText(message));
    // Warnings and errors must not wait for the buffer to fill.
    if (level === "warn" || level === "error") flush();
  };
  return {
    plain: (fields, message) => lines.info(fields, message),
    debug: writer("debug"),
    info: writer("info"),
    warn: writer("warn"),
    error: writer("error"),
    child: (fields) => wrap(lines.child(cleaned(fields)), flush),
  };
}

function cleaned(fields: object): object {
  // A bare error would overwrite the message of the line.
  const clean = scrub(fields instanceof Error ? { err: fields } : fields);
  return typeof clean === "object" && clean !== null ? clean : {};
}
