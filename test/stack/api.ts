import { setTimeout as sleep } from "node:timers/promises";

import type { Stack } from "./compositions.ts";
import { expectDeclaredError } from "./declared-errors.ts";

export type Json = { readonly [key: string]: any };

export type ApiResponse = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  readonly body: Json;
};

/** Address and credentials of a stack. */
export type StackAccess = Pick<Stack, "url" | "keys">;

/** An HTTP client with fixed credentials. */
export type Api = {
  readonly get: (path: string) => Promise<ApiResponse>;
  readonly post: (
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ) => Promise<ApiResponse>;
  readonly put: (path: string, body?: unknown) => Promise<ApiResponse>;
  readonly delete: (path: string) => Promise<ApiResponse>;
  readonly headers: Record<string, string>;
};

export async function serverApi(stack: StackAccess, scope = "api"): Promise<Api> {
  const key = { "x-app-id": stack.keys.appId, "x-app-token": stack.keys.appToken };
  return createApi(stack.url, {
    ...key,
    authorization: await requestBearerToken(stack.url, key, scope),
  });
}

export async function clientApi(stack: StackAccess, origin: string): Promise<Api> {
  const key = {
    "x-client-application-id": stack.keys.clientAppId,
    "x-client-token": stack.keys.clientToken,
  };
  const credentials = { "x-app-id": stack.keys.clientAppId, "x-app-token": stack.keys.clientToken };
  const authorization = await requestBearerToken(stack.url, credentials, "client_api");
  return createApi(stack.url, { ...key, authorization, origin });
}

/** Enables client-side redemptions, which a project forbids by default. */
export async function enableClientRedemptions(
  stack: StackAccess & { readonly projectId: string },
): Promise<void> {
  const path = `/management/v1/projects/${stack.projectId}`;
  const { status, text } = await managementApi(stack).put(path, { client_redeem_enabled: true });
  if (status !== 200) throw new Error(`cannot enable client-side redemptions: ${text}`);
}

export function managementApi(stack: StackAccess): Api {
  return createApi(stack.url, {
    "x-management-id": stack.keys.managementId,
    "x-management-token": stack.keys.managementToken,
  });
}

/** Creates a separate project and returns a server-side and a client-side client for it. */
export async function newProject(
  stack: StackAccess,
  settings: Json = {},
): Promise<{ readonly id: string; readonly api: Api; readonly clientSide: () => Promise<Api> }> {
  const created = await managementApi(stack).post("/management/v1/projects", {
    name: newCode("project"),
    ...settings,
  });
  if (created.status !== 200) throw new Error(`no project: ${created.text}`);
  const { app_id: appId, app_token: appToken } = created.body["server_side_key"];
  const api = await serverApi({ ...stack, keys: { ...stack.keys, appId, appToken } });
  const clientSide = (): Promise<Api> => {
    const { app_id: clientAppId, app_token: clientToken } = created.body["client_side_key"];
    const keys = { ...stack.keys, clientAppId, clientToken };
    return clientApi({ ...stack, keys }, "https://shop.example");
  };
  return { id: created.body["id"], api, clientSide };
}

export function createApi(url: string, headers: Record<string, string>): Api {
  const send = async (
    method: string,
    path: string,
    body?: unknown,
    extra: Record<string, string> = {},
  ): Promise<ApiResponse> => {
    const response = await fetch(url + path, {
      method,
      headers: {
        ...headers,
        ...(body !== undefined && { "content-type": "application/json" }),
        ...extra,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const parsed = parseJson(text);
    const { key } = parsed;
    if (!response.ok && typeof key === "string") expectDeclaredError(method, path, key);
    return { status: response.status, headers: response.headers, text, body: parsed };
  };
  return {
    headers,
    get: (path) => send("GET", path),
    post: (path, body = {}, extra = {}) => send("POST", path, body, extra),
    put: (path, body = {}) => send("PUT", path, body),
    delete: (path) => send("DELETE", path),
  };
}

async function requestBearerToken(
  url: string,
  key: Record<string, string>,
  scope: string,
): Promise<string> {
  const response = await fetch(`${url}/v1/oauth/token`, {
    method: "POST",
    headers: key,
    body: new URLSearchParams({ grant_type: "client_credentials", scope }),
  });
  const token = (await response.json()) as Json;
  if (!response.ok) throw new Error(`no token: ${JSON.stringify(token)}`);
  return `Bearer ${token["access_token"]}`;
}

function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return {};
  }
}

/** Repeats a request, as clients do, as long as the server rejects it because it has too many at the time. */
export async function untilAdmitted(request: () => Promise<ApiResponse>): Promise<ApiResponse> {
  for (;;) {
    const response = await request();
    if (response.status !== 429) return response;
    const retryAfter = Number(response.headers.get("retry-after"));
    await sleep(retryAfter * 1_000);
  }
}

/** Runs `work` over the items, at most `width` at a time. */
export async function inParallel<Item, Result>(
  items: readonly Item[],
  width: number,
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < items.length) {
      const index = next;
      next += 1;
      results[index] = await work(items[index] as Item);
    }
  };
  await Promise.all(Array.from({ length: width }, lane));
  return results;
}

let counter = 0;

/** A code that no other test uses. */
export function newCode(name: string): string {
  counter += 1;
  return `${name}-${process.pid}-${Date.now().toString(36)}-${counter}`;
}
