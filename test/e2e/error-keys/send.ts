import type { Binding } from "@scrip/contract";

import { type ApiResponse, type Json } from "../../stack/api.ts";
import type { CaseRequest } from "./error-case.ts";
import type { Shop } from "./shop.ts";

/** Sends the request to the binding, with the credentials that it needs. */
export async function send(
  url: string,
  shop: Shop,
  binding: Binding,
  { params = {}, query = {}, body, file, headers = {} }: CaseRequest,
): Promise<ApiResponse> {
  const { httpMethod, access } = binding;
  const path = binding.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? (name === "project_id" ? shop.projectId : "none")),
  );
  const fields = new URLSearchParams(flatten(query)).toString();
  const hasBody = httpMethod === "POST" || httpMethod === "PUT";
  const response = await fetch(`${url}${path}${fields === "" ? "" : `?${fields}`}`, {
    method: httpMethod,
    headers: {
      ...credentials(shop, binding),
      ...(hasBody && !access.form && !access.upload && { "content-type": "application/json" }),
      ...headers,
    },
    ...(hasBody && {
      body: access.upload ? upload(file) : bodyOf(access.form, body ?? {}),
    }),
  });
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith("{") ? (JSON.parse(text) as Json) : {},
  };
}

function credentials(shop: Shop, { side }: Binding): Readonly<Record<string, string>> {
  switch (side) {
    case "server":
      return shop.api.headers;
    case "client":
      return shop.client.headers;
    case "management":
      return shop.management.headers;
    case "key_only":
      return shop.keyHeaders;
    case "anyone":
      return {};
    default:
      return side satisfies never;
  }
}

const bodyOf = (isForm: boolean, body: Json): URLSearchParams | string =>
  isForm ? new URLSearchParams(flatten(body)) : JSON.stringify(body);

function upload(content = "Code\nA-CODE\n"): FormData {
  const form = new FormData();
  form.set("file", new Blob([content], { type: "text/csv" }), "rows.csv");
  return form;
}

/** `order[items][0][price]`, as query strings nest objects and lists. */
function flatten(value: object, prefix = ""): [string, string][] {
  return Object.entries(value).flatMap(([key, field]: [string, unknown]): [string, string][] => {
    const name = prefix === "" ? key : `${prefix}[${key}]`;
    if (field === undefined) return [];
    if (typeof field === "object" && field !== null) return flatten(field, name);
    return [[name, typeof field === "string" ? field : JSON.stringify(field)]];
  });
}

/** The error keys inside a successful response. */
export function errorKeysIn(value: unknown): readonly string[] {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, field]: [string, unknown]) => [
    ...(name === "error" && typeof (field as Json | null)?.["key"] === "string"
      ? [(field as Json)["key"] as string]
      : []),
    ...errorKeysIn(field),
  ]);
}
