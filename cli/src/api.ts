import { openAsBlob } from "node:fs";
import { access, constants, open } from "node:fs/promises";
import path from "node:path";

import { unreadable } from "./files.ts";
import { callHttp, HttpError, type JsonObject, listAll, requestToken } from "./http.ts";
import type { Settings } from "./settings.ts";

/** The API with the server-side key; tokens are renewed when they expire. */
export type Api = {
  call(
    method: string,
    path: string,
    body?: JsonObject | readonly JsonObject[],
  ): Promise<JsonObject>;
  /** A POST that takes effect once, however often it is sent with the key. */
  post(path: string, body: JsonObject, idempotencyKey: string): Promise<JsonObject>;
  /** All pages of a list. */
  listAll(path: string): Promise<readonly JsonObject[]>;
  /** Sends a file as the field `file`, without loading it into memory. */
  upload(path: string, file: string): Promise<JsonObject>;
};

/** Files of gigabytes over a slow line. */
const UPLOAD_TIMEOUT_MS = 6 * 3600 * 1000;

type Content = {
  readonly body?: string | FormData;
  readonly timeoutMs?: number;
  readonly idempotencyKey?: string;
};

export async function openApi(settings: Settings): Promise<Api> {
  const credentials = {
    "X-App-Id": settings.need("SCRIP_APP_ID"),
    "X-App-Token": settings.need("SCRIP_APP_TOKEN"),
  };
  const newToken = async () =>
    String((await requestToken(settings, { scope: "api" }))["access_token"]);
  let token = await newToken();
  const send = (
    method: string,
    path_: string,
    { idempotencyKey, ...content }: Content,
  ): Promise<JsonObject> =>
    callHttp(settings, {
      method,
      path: path_,
      headers: {
        ...credentials,
        Authorization: `Bearer ${token}`,
        ...(typeof content.body === "string" && { "Content-Type": "application/json" }),
        ...(idempotencyKey !== undefined && { "Idempotency-Key": idempotencyKey }),
      },
      ...content,
    });
  const sendRenewed: typeof send = async (...request) => {
    try {
      return await send(...request);
    } catch (error) {
      if (!(error instanceof HttpError) || error.status !== 401) throw error;
      token = await newToken();
      return send(...request);
    }
  };
  const call: Api["call"] = (method, path_, body) =>
    sendRenewed(method, path_, body === undefined ? {} : { body: JSON.stringify(body) });
  return {
    call,
    post: (path_, body, idempotencyKey) =>
      sendRenewed("POST", path_, { body: JSON.stringify(body), idempotencyKey }),
    listAll: (path_) => listAll((query) => call("GET", path_ + query)),
    upload: async (path_, file) => {
      const body = new FormData();
      body.append("file", await blobOf(file), path.basename(file));
      return sendRenewed("POST", path_, { body, timeoutMs: UPLOAD_TIMEOUT_MS });
    },
  };
}

async function blobOf(file: string): Promise<Blob> {
  try {
    // openAsBlob throws synchronously, and without the reason.
    await access(file, constants.R_OK);
    return await openAsBlob(file, { type: "text/csv" });
  } catch (error) {
    throw unreadable(file, error as Error);
  }
}

/**
 * Downloads a link, whose token is its only credential, to a file. The host is that of
 * SCRIP_BASE_URL: the one in the link may not be reachable from here.
 */
export async function download(settings: Settings, url: string, file: string): Promise<void> {
  const base = settings.need("SCRIP_BASE_URL");
  const { pathname, search } = new URL(url, base);
  const response = await fetch(new URL(pathname + search, base)).catch((cause: unknown) => {
    throw new HttpError(`the file cannot be downloaded from ${base}`, { cause });
  });
  if (!response.ok || response.body === null) {
    throw new HttpError(`the file cannot be downloaded: ${response.status}`, {
      status: response.status,
    });
  }
  await using handle = await open(file, "w");
  for await (const chunk of response.body) await handle.write(chunk as Uint8Array);
}
