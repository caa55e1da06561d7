import { type Binding, rejectionKeysOf } from "@scrip/contract";
import { catalogue, type ErrorKey, errorToProto } from "@scrip/errors";
import { ErrorSchema } from "@scrip/proto/scrip/common/v1/error_pb";
import { AsyncActionStartedSchema } from "@scrip/proto/scrip/export/v1/async_actions_pb";

import { createTranscoder } from "../transcode/index.ts";
import { endpointErrorsOf, keysByStatus } from "./error-keys.ts";
import type { JsonSchema } from "./json-schema.ts";
import { takesIdempotencyKey } from "./parameters.ts";
import type { Schemas } from "./schemas.ts";

export type Example = { readonly summary: string; readonly value: unknown };
type Ref = { readonly $ref: string };

export type Response =
  | Ref
  | {
      readonly description: string;
      readonly headers?: Readonly<Record<string, Ref>>;
      readonly content?: Readonly<
        Record<
          string,
          { readonly schema: JsonSchema; readonly examples?: Readonly<Record<string, Ref>> }
        >
      >;
    };

/** Collects the error responses and examples that endpoints share. */
export type Responses = {
  /** The success response of an endpoint, and one response for each status of its error keys. */
  readonly of: (binding: Binding) => Record<string, Response>;
  readonly components: Readonly<Record<string, Response>>;
  readonly examples: Readonly<Record<string, Example>>;
};

export function createResponses(schemas: Schemas): Responses {
  const error = schemas.reference(ErrorSchema, "response");
  const components: Record<string, Response> = {};
  const examples: Record<string, Example> = {};

  const errorResponse = (status: number, keys: readonly ErrorKey[]): Response => {
    for (const key of keys) examples[key] ??= exampleOf(key);
    return {
      description: keys.map((key) => `- ${describe(key)}`).join("\n"),
      headers: headerReferences([...EVERY_RESPONSE, ...(ERROR_HEADERS[status] ?? [])]),
      content: {
        "application/json": {
          schema: error,
          examples: Object.fromEntries(
            keys.map((key) => [key, { $ref: `#/components/examples/${key}` }]),
          ),
        },
      },
    };
  };
  const shared = (status: number, keys: readonly ErrorKey[]): Ref => {
    const name = keys.map(pascalCase).join("Or");
    components[name] ??= errorResponse(status, keys);
    return { $ref: `#/components/responses/${name}` };
  };
  return {
    of(binding) {
      const { general, own } = endpointErrorsOf(binding);
      const errors = [...keysByStatus([...own, ...general])].map(([status, keys]) => {
        const isGeneral = keys.every((key) => general.includes(key));
        return [String(status), isGeneral ? shared(status, keys) : errorResponse(status, keys)];
      });
      return { ...successOf(binding, schemas), ...Object.fromEntries(errors) };
    },
    components,
    examples,
  };
}

/** The catalogue's text, with a link to cause and remedy. */
const describe = (key: ErrorKey): string =>
  `[\`${key}\`](/docs/errors#${key}): ${catalogue[key].message}`;

const pascalCase = (key: string): string =>
  key.replaceAll(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());

const encodeError = createTranscoder().encoderOf(ErrorSchema);

function exampleOf(key: ErrorKey): Example {
  const error = errorToProto({ key, options: {} }, "v-0f1e2d3c4b5a69788f");
  return { summary: catalogue[key].message, value: JSON.parse(encodeError(error)) };
}

function successOf(binding: Binding, schemas: Schemas): Record<string, Response> {
  const { access, method } = binding;
  const isEmpty = method.output.typeName === "google.protobuf.Empty";
  const status = access.status || (isEmpty ? 204 : 200);
  const rejections = rejectionKeysOf(method).map((key) => `\`${key}\``);
  const outcome = isEmpty ? "Success. The response has no body." : "Success.";
  return {
    [String(status)]: {
      description:
        rejections.length === 0
          ? outcome
          : `${outcome} Parts of the response may be rejected with ${rejections.join(", ")}.`,
      headers: headerReferences([
        ...EVERY_RESPONSE,
        ...(takesIdempotencyKey(binding) ? (["Idempotent-Replayed"] as const) : []),
      ]),
      ...(!isEmpty && { content: contentOf(binding, schemas) }),
    },
    ...(access.bulkCount !== "" && { "202": startedOf(access.bulkCount, schemas) }),
  };
}

/** The response when the count is above 1. */
const startedOf = (bulkCount: string, schemas: Schemas): Response => ({
  description: `An async action was started, because \`${bulkCount}\` is above 1.`,
  headers: headerReferences(EVERY_RESPONSE),
  content: {
    "application/json": { schema: schemas.reference(AsyncActionStartedSchema, "response") },
  },
});

function contentOf(
  { method, responseBody }: Binding,
  schemas: Schemas,
): Record<string, { readonly schema: JsonSchema }> {
  if (method.output.typeName === "google.api.HttpBody") {
    return {
      "image/png": { schema: { type: "string", format: "binary" } },
      "image/svg+xml": { schema: { type: "string" } },
    };
  }
  const items = responseBody?.message && schemas.reference(responseBody.message, "response");
  const schema = items && { type: "array", items };
  return { "application/json": { schema: schema ?? schemas.reference(method.output, "response") } };
}

function headerReferences(names: readonly (keyof typeof headers)[]): Record<string, Ref> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export const headers = {
  "X-Request-Id": header("Identifies the request in logs and error responses.", { type: "string" }),
  "X-Rate-Limit-Limit": header("Calls that the rate limit window allows.", { type: "integer" }),
  "X-Rate-Limit-Remaining": header("Calls remaining in the window.", { type: "integer" }),
  "X-Rate-Limit-Retry": header("Time of the next allowed call, in Unix seconds.", {
    type: "integer",
  }),
  "X-Rate-Limit-Type": header("The limit that was exceeded: `api_calls` or `bulk_api_calls`.", {
    type: "string",
  }),
  RateLimit: header(
    "Remaining calls and seconds until the window resets (draft-ietf-httpapi-ratelimit-headers).",
    { type: "string" },
  ),
  "RateLimit-Policy": header(
    "The limit and its window in seconds (draft-ietf-httpapi-ratelimit-headers).",
    { type: "string" },
  ),
  "Retry-After": header("Seconds to wait before the next attempt.", { type: "integer" }),
  "Idempotent-Replayed": header("`true` when this is the stored response of an earlier request.", {
    type: "string",
  }),
} as const;

function header(description: string, schema: JsonSchema) {
  return { description, schema };
}

const EVERY_RESPONSE = [
  "X-Request-Id",
  "X-Rate-Limit-Limit",
  "X-Rate-Limit-Remaining",
  "X-Rate-Limit-Retry",
  "RateLimit",
  "RateLimit-Policy",
] as const;

/** Headers that responses of a status carry in addition. */
const ERROR_HEADERS: Readonly<Record<number, readonly (keyof typeof headers)[]>> = {
  429: ["X-Rate-Limit-Type", "Retry-After"],
  503: ["Retry-After"],
};
