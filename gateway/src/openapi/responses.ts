import type { Binding } from "@scrip/contract";

import { commentOf } from "./comments.ts";
import type { JsonSchema } from "./json-schema.ts";
import { takesIdempotencyKey } from "./parameters.ts";
import type { Schemas } from "./schemas.ts";

export type Response =
  | { readonly $ref: string }
  | {
      readonly description: string;
      readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
      readonly content?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
    };

/** Success, and the refusals that a request to the binding may meet. */
export function responsesOf(binding: Binding, schemas: Schemas): Record<string, Response> {
  const { output } = binding.method;
  const isEmpty = output.typeName === "google.protobuf.Empty";
  const status = binding.access.status || (isEmpty ? 204 : 200);
  const refusals = refusalsOf(binding).map((code) => [
    String(code),
    { $ref: `#/components/responses/${NAMES[code]}` },
  ]);
  return {
    [String(status)]: {
      description: isEmpty ? "Done; the answer has no body." : "Success.",
      headers: successHeaders(binding),
      ...(!isEmpty && { content: contentOf(binding, schemas) }),
    },
    ...(Object.fromEntries(refusals) as Record<string, Response>),
  };
}

function contentOf(
  { method }: Binding,
  schemas: Schemas,
): Record<string, { readonly schema: JsonSchema }> {
  if (method.output.typeName === "google.api.HttpBody") {
    return {
      "image/png": { schema: { type: "string", format: "binary" } },
      "image/svg+xml": { schema: { type: "string" } },
    };
  }
  return { "application/json": { schema: schemas.reference(method.output, "answer") } };
}

const NAMES = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  413: "PayloadTooLarge",
  415: "UnsupportedMediaType",
  422: "IdempotencyKeyReused",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
} as const;

type Status = keyof typeof NAMES;

function refusalsOf(binding: Binding): Status[] {
  const { method, side, segments, body } = binding;
  const comment = commentOf(`${method.parent.typeName}.${method.name}`) ?? "";
  const isNamed = segments.some(({ kind }) => kind === "field");
  const isScoped = side === "server" || side === "client";
  return [
    400,
    ...when(side !== "anyone", 401),
    ...when(isScoped || side === "key_only" || comment.includes("`forbidden`"), 403),
    ...when(isNamed || (isScoped && body !== "none") || comment.includes("404"), 404),
    ...when(takesIdempotencyKey(binding) || comment.includes("`duplicate_found`"), 409),
    ...when(body !== "none", 413, 415),
    ...when(takesIdempotencyKey(binding), 422),
    429,
    500,
    503,
  ];
}

const when = (condition: boolean, ...statuses: Status[]): Status[] => (condition ? statuses : []);

function successHeaders(binding: Binding): Record<string, { readonly $ref: string }> {
  const names = [
    ...EVERY_ANSWER,
    ...(takesIdempotencyKey(binding) ? (["Idempotent-Replayed"] as const) : []),
  ];
  return references(names);
}

function references(names: readonly (keyof typeof headers)[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

export const headers = {
  "X-Request-Id": header("Names the request in logs and in errors.", { type: "string" }),
  "X-Rate-Limit-Limit": header("Calls that the window allows.", { type: "integer" }),
  "X-Rate-Limit-Remaining": header("Calls that are left in the window.", { type: "integer" }),
  "X-Rate-Limit-Retry": header("When the next call is allowed, in Unix seconds.", {
    type: "integer",
  }),
  "X-Rate-Limit-Type": header("Which limit was met.", { type: "string" }),
  RateLimit: header("What is left, as in draft-ietf-httpapi-ratelimit-headers.", {
    type: "string",
  }),
  "RateLimit-Policy": header("The limit, as in draft-ietf-httpapi-ratelimit-headers.", {
    type: "string",
  }),
  "Retry-After": header("Seconds to wait before the next try.", { type: "integer" }),
  "Idempotent-Replayed": header("`true` when this is the answer of an earlier request.", {
    type: "string",
  }),
} as const;

function header(description: string, schema: JsonSchema) {
  return { description, schema };
}

const EVERY_ANSWER = [
  "X-Request-Id",
  "X-Rate-Limit-Limit",
  "X-Rate-Limit-Remaining",
  "X-Rate-Limit-Retry",
  "RateLimit",
  "RateLimit-Policy",
] as const;

const DESCRIPTIONS: Readonly<Record<Status, string>> = {
  400: "The request cannot be met as it is; `key` and `details` say why.",
  401: "A credential is missing, wrong, expired or revoked.",
  403: "The credentials are good but do not open this operation, or not from this origin.",
  404: "Something that the request names does not exist.",
  409: "The resource exists already, or a request with this Idempotency-Key is in progress.",
  413: "The body is too large.",
  415: "The body has another media type than the operation takes.",
  422: "The Idempotency-Key was used for another request.",
  429: "Too many calls; see Retry-After.",
  500: "Something broke on this side.",
  503: "A part of the installation does not answer; the request may be repeated.",
};

/** The refusals, all of one shape. */
export function errorResponses(error: JsonSchema): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(NAMES).map(([status, name]) => {
      const code = Number(status) as Status;
      const extra = code === 429 ? (["X-Rate-Limit-Type", "Retry-After"] as const) : [];
      const response: Response = {
        description: DESCRIPTIONS[code],
        headers: references([
          ...EVERY_ANSWER,
          ...extra,
          ...(code === 503 ? (["Retry-After"] as const) : []),
        ]),
        content: { "application/json": { schema: error } },
      };
      return [name, response];
    }),
  );
}
