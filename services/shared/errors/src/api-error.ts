import { create } from "@bufbuild/protobuf";
import { ErrorSchema, type Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";

import { catalogue, type ErrorKey } from "./catalogue.ts";

export type ApiErrorOptions = {
  /** What exactly is wrong, for the reader of the response. */
  readonly details?: string | undefined;
  /** Replaces the message of the catalogue. */
  readonly message?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly resourceType?: string | undefined;
  /** The merchant's own message (`error.error.message`). */
  readonly customMessage?: string | undefined;
  /** The resources that refer to this one (`resource_in_use`). */
  readonly related?: RelatedObjects | undefined;
  readonly cause?: unknown;
};

export type RelatedObjects = {
  readonly type: string;
  readonly ids: readonly string[];
  /** Total number when `ids` lists only some. */
  readonly total: bigint;
};

/** An error that the API reports to the caller. Any other thrown error is a bug or an outage. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly key: ErrorKey;
  readonly options: ApiErrorOptions;

  constructor(key: ErrorKey, options: ApiErrorOptions = {}) {
    super(options.message ?? catalogue[key].message, { cause: options.cause });
    this.key = key;
    this.options = options;
  }
}

/** 404 `not_found` for a resource (docs/errors.md#not_found). */
export function notFound(resourceType: string, id: string): ApiError {
  return new ApiError("not_found", {
    details: `Cannot find ${resourceType} with id ${id}`,
    resourceId: id,
    resourceType,
  });
}

/** 409 `duplicate_found` for a resource (docs/errors.md#duplicate_found). */
export function duplicate(resourceType: string, property: "name" | "id", value: string): ApiError {
  return new ApiError("duplicate_found", {
    details: `Duplicated ${resourceType} exists with ${property} ${value}`,
    resourceId: value,
    resourceType,
  });
}

/** 400 `resource_in_use`: other resources refer to this one (docs/errors.md#resource_in_use). */
export function inUse(resourceType: string, id: string, related: RelatedObjects): ApiError {
  return new ApiError("resource_in_use", {
    details: `Resource ${resourceType} with id ${id} is in use by ${related.type}s with ids [${related.ids.join(", ")}]`,
    resourceId: id,
    resourceType,
    related,
  });
}

export function invalidPayload(details: string): ApiError {
  return new ApiError("invalid_payload", { details });
}

/** The Error message of an API error, also of one that was never thrown. */
export function errorToProto(
  { key, options }: Pick<ApiError, "key" | "options">,
  requestId: string,
): ErrorMessage {
  const { message, details, resourceId, resourceType, customMessage, related } = options;
  return create(ErrorSchema, {
    code: catalogue[key].http,
    key,
    message: shortened(message ?? catalogue[key].message),
    requestId,
    ...(details !== undefined && { details: shortened(details) }),
    ...(resourceId !== undefined && { resourceId: shortened(resourceId) }),
    ...(resourceType !== undefined && { resourceType }),
    ...(customMessage !== undefined && { error: { message: customMessage } }),
    ...(related !== undefined && {
      relatedObjectIds: [...related.ids],
      relatedObjectType: related.type,
      relatedObjectTotal: related.total,
    }),
  });
}

/** Services send errors in gRPC headers of at most 64 KiB, and these texts may quote what the caller sent. */
const MAX_TEXT_LENGTH = 2_000;

function shortened(text: string): string {
  if (text.length <= MAX_TEXT_LENGTH) return text;
  // The cut may leave half of a surrogate pair, which no message can contain.
  return `${text.slice(0, MAX_TEXT_LENGTH - 1).toWellFormed()}…`;
}
