const REDACTED = "[redacted]";

/** Names of fields that carry credentials or people, written in lower case without separators. */
const SECRET = /(token|secret|password|authorization|cookie|apikey|privatekey|email)$/;

/** Names of fields that hold the code of a voucher: whoever has the code can use the voucher. */
const VOUCHER_CODE = /^(voucher)?codes?$/;
const SHOWN_OF_A_CODE = 3;

/** Secrets in free text: credentials of a header or a URL, and addresses of people. */
const CREDENTIALS = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi;
const URL_PASSWORD = /(:\/\/[^\s:/@]{0,64}):[^\s/@]{1,128}@/g;
const EMAIL = /[^\s@"'<>:/]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}\b/gi;

const MAX_TEXT = 8_192;
const MAX_DEPTH = 6;
const MAX_ITEMS = 50;

/**
 * A copy of what is to be logged, without secrets, e-mail addresses and full voucher codes, and
 * small enough for a line. Errors become plain fields: those that help, and not what a driver or a
 * client hangs on them, such as the values of the row that broke a constraint.
 */
export function scrub(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return scrubText(value);
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "[deep]";
  if (value instanceof Date) return value;
  if (value instanceof Error) return scrubError(value, depth);
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (Array.isArray(value)) {
    return value.slice(0, MAX_ITEMS).map((item) => scrub(item, depth + 1));
  }
  return scrubFields(value, depth);
}

export function scrubText(text: string): string {
  const short = text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text;
  const bare = short.replace(CREDENTIALS, `$1 ${REDACTED}`);
  // Few texts have an @, and the patterns that look for one are the slow ones.
  if (!bare.includes("@")) return bare;
  return bare.replace(URL_PASSWORD, `$1:${REDACTED}@`).replace(EMAIL, REDACTED);
}

function scrubFields(fields: object, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    const plain = name.replaceAll(/[-_]/g, "").toLowerCase();
    if (value === undefined) continue;
    if (SECRET.test(plain)) clean[name] = REDACTED;
    else if (VOUCHER_CODE.test(plain)) clean[name] = shorten(value);
    else clean[name] = scrub(value, depth + 1);
  }
  return clean;
}

/** Enough to recognise a code that one knows, too little to use it. Numbers are codes of a status. */
function shorten(code: unknown): unknown {
  if (Array.isArray(code)) return code.slice(0, MAX_ITEMS).map(shorten);
  if (typeof code === "string") return `${code.slice(0, SHOWN_OF_A_CODE)}…`;
  return scrub(code, MAX_DEPTH);
}

/** What names the place of a failure: SQLSTATE or system code, and the parts of the database. */
const ERROR_FIELDS: ReadonlySet<string> = new Set([
  "code",
  "schema",
  "table",
  "column",
  "constraint",
  "routine",
  "syscall",
  "key",
]);

function scrubError(error: Error, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {
    type: error.name,
    message: scrubText(error.message),
    stack: scrubText(error.stack ?? ""),
  };
  for (const [name, value] of Object.entries(error)) {
    const isShort = typeof value === "string" || typeof value === "number";
    if (isShort && ERROR_FIELDS.has(name)) clean[name] = value;
  }
  if (error.cause !== undefined) clean["cause"] = scrub(error.cause, depth + 1);
  if (error instanceof AggregateError) clean["errors"] = scrub(error.errors, depth + 1);
  return clean;
}
