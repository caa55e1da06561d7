import { setTimeout as sleep } from "node:timers/promises";

import { type Json, managementApi, type StackAccess } from "../../stack/api.ts";
import { ok } from "../../stack/rule-builders.ts";
import type { Tenant } from "./tenant.ts";

export type Sent = {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: unknown;
};

export type Received = { readonly status: number; readonly text: string };

type Side = "server" | "client";

const RETRY_MS = 50;

/** An import waits for the one before, and a busy machine rejects requests before it does anything. */
const isLater = (status: number, text: string): boolean =>
  (text.includes('"key":"resource_in_use"') && text.includes("is running")) ||
  (status === 503 && text.includes("Too many concurrent requests"));

/** Sends requests of a project. A key that sent many unknown codes is blocked, so another one takes its place. */
export function createSender(
  stack: StackAccess,
  tenant: Pick<Tenant, "projectId">,
): (request: Sent) => Promise<Received> {
  const newer = new Map<Side, Readonly<Record<string, string>>>();
  const send = async (request: Sent): Promise<Received> => {
    const { method, path, headers, body } = request;
    const side = sideOf(headers);
    const response = await fetch(stack.url + path, {
      method,
      headers: {
        ...headers,
        ...(side && newer.get(side)),
        ...(body !== undefined && { "content-type": "application/json" }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (side !== undefined && response.status === 429 && text.includes("unknown codes")) {
      newer.set(side, await newKey(stack, tenant, side));
      return send(request);
    }
    if (isLater(response.status, text)) {
      await sleep(RETRY_MS);
      return send(request);
    }
    return { status: response.status, text };
  };
  return send;
}

function sideOf(headers: Readonly<Record<string, string>>): Side | undefined {
  if (headers["x-client-token"] !== undefined) return "client";
  return headers["x-app-token"] === undefined ? undefined : "server";
}

async function newKey(
  stack: StackAccess,
  { projectId }: Pick<Tenant, "projectId">,
  side: Side,
): Promise<Record<string, string>> {
  const path = `/management/v1/projects/${projectId}/api-keys`;
  const key = await ok(managementApi(stack).post(path, { name: "another", kind: side }));
  const credentials = { "x-app-id": key["app_id"], "x-app-token": key["app_token"] };
  const scope = side === "server" ? "api" : "client_api";
  const response = await fetch(`${stack.url}/v1/oauth/token`, {
    method: "POST",
    headers: credentials,
    body: new URLSearchParams({ grant_type: "client_credentials", scope }),
  });
  const token = (await response.json()) as Json;
  const authorization = `Bearer ${token["access_token"]}`;
  if (side === "server") return { ...credentials, authorization };
  return {
    "x-client-application-id": key["app_id"],
    "x-client-token": key["app_token"],
    authorization,
  };
}
