import type { TestGateway } from "./deps.ts";
import { MANAGEMENT } from "./deps.ts";

export type Answer = {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // Tests look into bodies of every shape.
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
): Promise<Answer> {
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
): Promise<Answer> =>
  send(`${url}/management/v1${path}`, method, {
    headers: { "X-Management-Id": MANAGEMENT.id, "X-Management-Token": MANAGEMENT.token },
    ...(body !== undefined && { body }),
  });

/** Sets what pages may do in the one project of a test. */
export async function allowPages(
  gateway: Pick<TestGateway, "url">,
  features: Readonly<Record<string, boolean>>,
): Promise<void> {
  const { json } = await management(gateway, "GET", "/projects");
  const { status, text } = await management(
    gateway,
    "PUT",
    `/projects/${json.projects[0].id}`,
    features,
  );
  if (status !== 200) throw new Error(`not allowed: ${status} ${text}`);
}

export type KeyPair = { readonly appId: string; readonly appToken: string };

/** POST to a token endpoint with a form. */
export const tokenCall = (
  { url }: Pick<TestGateway, "url">,
  endpoint: "token" | "introspect" | "token/revoke",
  key: KeyPair,
  form: Record<string, string>,
): Promise<Answer> =>
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
