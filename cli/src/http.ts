import { CliError } from "./cli-error.ts";
import type { Settings } from "./settings.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

type Request = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
  /** Default: longer than the server's own limit for a request. */
  readonly timeoutMs?: number;
};

const TIMEOUT_MS = 35_000;

/** A request that failed; without a status, nothing responded. */
export class HttpError extends CliError {
  readonly status: number | undefined;
  /** Key of the API's error. */
  readonly key: unknown;
  /** Whether an earlier request with the same idempotency key was rejected, and this one was not carried out. */
  readonly isReplay: boolean;

  constructor(
    message: string,
    options: { status?: number; key?: unknown; isReplay?: boolean; cause?: unknown } = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "HttpError";
    this.status = options.status;
    this.key = options.key;
    this.isReplay = options.isReplay ?? false;
  }
}

/** Calls the installation at SCRIP_BASE_URL and returns its JSON; API errors become CLI errors. */
export async function callHttp(settings: Settings, request: Request): Promise<JsonObject> {
  const base = settings.need("SCRIP_BASE_URL").replace(/\/+$/, "");
  const { method, path, headers, body, timeoutMs = TIMEOUT_MS } = request;
  const noResponse = (cause: unknown): never => {
    throw new HttpError(
      `${base} does not respond (${reasonOf(cause)}); check SCRIP_BASE_URL and that Scrip is running`,
      { cause },
    );
  };
  const response = await fetch(`${base}${path}`, {
    method,
    headers: { ...headers },
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(timeoutMs),
  }).catch(noResponse);
  const text = await response.text().catch(noResponse);
  const result = parseObject(text);
  if (!response.ok) {
    const { status, headers: received } = response;
    const isReplay = received.get("Idempotent-Replayed") === "true";
    const error = describeError(status, result);
    throw new HttpError(`${method} ${path}: ${error}`, {
      status,
      key: result?.["key"],
      isReplay,
    });
  }
  if (result === undefined && text !== "") {
    throw new CliError(`${base} did not respond with JSON; check SCRIP_BASE_URL`);
  }
  return result ?? {};
}

/** Calls the management API with the credentials of the installation. */
export async function callManagement(
  settings: Settings,
  method: string,
  path: string,
  body?: JsonObject,
): Promise<JsonObject> {
  return callHttp(settings, {
    method,
    path: `/management/v1/projects${path}`,
    headers: {
      "X-Management-Id": settings.need("SCRIP_MANAGEMENT_ID"),
      "X-Management-Token": settings.need("SCRIP_MANAGEMENT_TOKEN"),
      ...(body !== undefined && { "Content-Type": "application/json" }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** Requests an access token for the key of one side of the API. */
export async function requestToken(
  settings: Settings,
  { client = false, scope }: { readonly client?: boolean; readonly scope: string },
): Promise<JsonObject> {
  return callHttp(settings, {
    method: "POST",
    path: "/v1/oauth/token",
    headers: {
      "X-App-Id": settings.need(client ? "SCRIP_CLIENT_APP_ID" : "SCRIP_APP_ID"),
      "X-App-Token": settings.need(client ? "SCRIP_CLIENT_TOKEN" : "SCRIP_APP_TOKEN"),
      "Content-Type": "application/x-www-form-urlencoded",
    },
    body: new URLSearchParams({ grant_type: "client_credentials", scope }).toString(),
  });
}

const PAGE_SIZE = 100;
/** The API has at most 100 pages of 100. */
const MAX_PAGES = 100;

/** All rows of a list, page by page; `list` requests it with the query of a page. */
export async function listAll(
  list: (query: string) => Promise<JsonObject>,
): Promise<readonly JsonObject[]> {
  const rows: JsonObject[] = [];
  for (let page = 1; page <= MAX_PAGES; page += 1) {
    const found = rowsOf(await list(`?limit=${PAGE_SIZE}&page=${page}`));
    rows.push(...found);
    if (found.length < PAGE_SIZE) return rows;
  }
  throw new CliError(`the list has more than ${MAX_PAGES * PAGE_SIZE} entries`);
}

/** The rows of a list; its `data_ref` names the array. */
export const rowsOf = (list: JsonObject): JsonObject[] =>
  list[String(list["data_ref"])] as JsonObject[];

export const isJsonObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parseObject(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

function describeError(status: number, error: JsonObject | undefined): string {
  const { key, message, details, request_id: requestId } = error ?? {};
  const parts = [key, message, details].filter((part) => typeof part === "string");
  const trace = typeof requestId === "string" ? ` (request ${requestId})` : "";
  return `${status} ${parts.join(": ")}${trace}`.trim();
}

/** fetch hides the reason in the cause of its error. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message || error.name;
}
