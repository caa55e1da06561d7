import type { Call } from "@scrip/rpc";

import { MANAGEMENT, type RecordingGateway, type TestGateway } from "./deps.ts";

export type Response = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Bodies differ between endpoints.
  // oxlint-disable-next-line typescript/no-explicit-any
  readonly json: any;
};

export async function send(
  url: string,
  method: string,
  options: {
    readonly headers?: Record<string, string>;
    readonly body?: string | Uint8Array | object;
  } = {},
): Promise<Response> {
  const { body } = options;
  const plain = typeof body === "object" && body !== null && isPlain(body);
  const response = await fetch(url, {
    method,
    headers: { ...(plain && { "content-type": "application/json" }), ...options.headers },
    ...(body !== undefined && {
      body: plain ? JSON.stringify(body) : (body as NonNullable<RequestInit["body"]>),
    }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

const isPlain = (body: object): boolean =>
  Array.isArray(body) || Object.getPrototypeOf(body) === Object.prototype;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export const management = (
  { url }: Pick<TestGateway, "url">,
  method: string,
  path: string,
  body?: object,
): Promise<Response> =>
  send(`${url}/management/v1${path}`, method, {
    headers: { "X-Management-Id": MANAGEMENT.id, "X-Management-Token": MANAGEMENT.token },
    ...(body !== undefined && { body }),
  });

/** Enables features for client-side callers in the only project of a test. */
export async function enableClientFeatures(
  gateway: Pick<TestGateway, "url">,
  features: Readonly<Record<string, boolean>>,
): Promise<void> {
  const { json } = await management(gateway, "GET", "/projects");
  const { status, text } = await management(
    gateway,
    "PUT",
    `/projects/${json.data[0].id}`,
    features,
  );
  if (status !== 200) throw new Error(`features were not enabled: ${status} ${text}`);
}

export type KeyPair = { readonly appId: string; readonly appToken: string };

/** POST to a token endpoint with a form. */
export const tokenCall = (
  { url }: Pick<TestGateway, "url">,
  endpoint: "token" | "introspect" | "token/revoke",
  key: KeyPair,
  form: Record<string, string>,
): Promise<Response> =>
  send(`${url}/v1/oauth/${endpoint}`, "POST", {
    headers: { "X-App-Id": key.appId, "X-App-Token": key.appToken },
    body: new URLSearchParams(form),
  });

export async function newToken(
  gateway: Pick<TestGateway, "url">,
  key: KeyPair,
  scope: string,
): Promise<string> {
  const { status, text, json } = await tokenCall(gateway, "token", key, {
    grant_type: "client_credentials",
    scope,
  });
  if (status !== 200) throw new Error(`no token: ${status} ${text}`);
  return json.access_token;
}

export const serverHeaders = (key: KeyPair, token: string): Record<string, string> => ({
  "X-App-Id": key.appId,
  "X-App-Token": key.appToken,
  Authorization: `Bearer ${token}`,
});

export const clientHeaders = (
  key: KeyPair,
  token: string,
  origin = "https://shop.example",
): Record<string, string> => ({
  "X-Client-Application-Id": key.appId,
  "X-Client-Token": key.appToken,
  Authorization: `Bearer ${token}`,
  Origin: origin,
});

export type NewProject = {
  readonly id: string;
  readonly json: any;
  readonly server: KeyPair;
  readonly client: KeyPair;
};

export async function createProject(
  gateway: Pick<TestGateway, "url">,
  body: object,
): Promise<NewProject> {
  const { status, text, json } = await management(gateway, "POST", "/projects", body);
  if (status !== 200) throw new Error(`no project: ${status} ${text}`);
  return {
    id: json.id,
    json,
    server: { appId: json.server_side_key.app_id, appToken: json.server_side_key.app_token },
    client: { appId: json.client_side_key.app_id, appToken: json.client_side_key.app_token },
  };
}

/** Sends a request with the key and returns the call that the service received. */
export async function callOf(gateway: RecordingGateway, key: KeyPair): Promise<Call> {
  const headers = serverHeaders(key, await newToken(gateway, key, "api"));
  const before = gateway.calls.length;
  await send(`${gateway.url}/v1/vouchers/x`, "GET", { headers });
  const call = gateway.calls[before];
  if (call === undefined) throw new Error("the request was not passed on");
  return call;
}
