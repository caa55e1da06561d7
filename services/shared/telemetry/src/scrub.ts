const REDACTED = "[redacted]";

/** Field names of credentials and personal data, in lower case without separators. */
const SECRET = /(token|secret|password|authorization|cookie|apikey|privatekey|email)$/;

/** Field names of voucher codes: anyone with the code can use the voucher. */
const VOUCHER_CODE = /^(voucher)?codes?$/;
const SHOWN_OF_A_CODE = 3;

/** Secrets in free text: credentials in headers and URLs, and e-mail addresses. */
const CREDENTIALS = /\b(Bearer|Basic)\s+[\w.~+/=-]+/gi;
const URL_PASSWORD = /(:\/\/[^\s:/@]{0,64}):[^\s/@]{1,128}@/g;
const EMAIL = /[^\s@"'<>:/]{1,64}@(?:[a-z0-9-]{1,63}\.){1,8}[a-z]{2,24}\b/gi;

const MAX_TEXT = 8_192;
const MAX_DEPTH = 6;
const MAX_ITEMS = 50;

/**
 * Copies log fields without secrets, e-mail addresses and full voucher codes, small enough for a
 * line. Errors become plain fields: the helpful ones, without what drivers and clients attach, such
 * as the row values of a constraint violation.
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
  // Few texts have an @, and the patterns that search for it are the slow ones.
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

/** Enough to recognise a known code, too little to use it. Numbers are status codes. */
function shorten(code: unknown): unknown {
  if (Array.isArray(code)) return code.slice(0, MAX_ITEMS).map(shorten);
  if (typeof code === "string") return `${code.slice(0, SHOWN_OF_A_CODE)}…`;
  return scrub(code, MAX_DEPTH);
}

/** Where a failure occurred: SQLSTATE or system code, and the database objects. */
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
