import { setTimeout as sleep } from "node:timers/promises";

import type { Api, ApiResponse, Json } from "./api.ts";

/** Seconds until a job must have ended. */
const PATIENCE = 90;

/** Sends a file as the field `file`. */
export async function uploadTo(
  { url, api }: { readonly url: string; readonly api: Api },
  path: string,
  {
    csv,
    headers,
    webhooks = false,
  }: {
    readonly csv: string | Uint8Array<ArrayBuffer> | undefined;
    readonly headers: Record<string, string>;
    readonly webhooks?: boolean;
  },
): Promise<ApiResponse> {
  const form = new FormData();
  form.set("webhooks_enable", String(webhooks));
  if (csv !== undefined) form.set("file", new Blob([csv], { type: "text/csv" }), "import.csv");
  const response = await fetch(url + path, {
    method: "POST",
    headers: { ...api.headers, ...headers },
    body: form,
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: JSON.parse(text) as Json,
  };
}

/** The async action of a response, when it has ended. */
export async function untilFinished(api: Api, started: ApiResponse): Promise<Json> {
  const path = `/v1/async-actions/${started.body["async_action_id"]}`;
  const deadline = Date.now() + PATIENCE * 1_000;
  let last: ApiResponse | undefined;
  while (Date.now() < deadline) {
    last = await api.get(path).catch(() => undefined);
    if (last?.body["status"] === "DONE" || last?.body["status"] === "FAILED") return last.body;
    await sleep(50);
  }
  throw new Error(`not finished: ${started.text} ${last?.text}`);
}
