import { create } from "@bufbuild/protobuf";
import { ErrorSchema, type Error as ErrorMessage } from "@scrip/proto/scrip/common/v1/error_pb";

import { catalogue, type ErrorKey } from "./catalogue.ts";

export type ApiErrorOptions = {
  /** What exactly is wrong, for the person who reads the answer. */
  readonly details?: string | undefined;
  /** Instead of the catalogue's text. */
  readonly message?: string | undefined;
  readonly resourceId?: string | undefined;
  readonly resourceType?: string | undefined;
  /** The merchant's own words (`error.error.message`). */
  readonly customMessage?: string | undefined;
  /** What uses the resource. */
  readonly related?: RelatedObjects | undefined;
  readonly cause?: unknown;
};

export type RelatedObjects = {
  readonly type: string;
  readonly ids: readonly string[];
  /** How many there are, when `ids` names only some. */
  readonly total: bigint;
};

/** A refusal that the caller is meant to see. Anything else that is thrown is a bug or an outage. */
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

/** 404 in the words of spec/campaigns-loyalty-platform.md §0.3. */
export function notFound(resourceType: string, id: string): ApiError {
  return new ApiError("not_found", {
    details: `Cannot find ${resourceType} with id ${id}`,
    resourceId: id,
    resourceType,
  });
}

/** 409 in the words of spec/campaigns-loyalty-platform.md §0.3. */
export function duplicate(resourceType: string, property: "name" | "id", value: string): ApiError {
  return new ApiError("duplicate_found", {
    details: `Duplicated ${resourceType} exists with ${property} ${value}`,
    resourceId: value,
    resourceType,
  });
}

/** 400 in the words of spec/validation-and-redemption.md §10: the resource cannot go yet. */
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

/** The wire form of a refusal, also of one that was never thrown. */
export function errorToProto(
  { key, options }: Pick<ApiError, "key" | "options">,
  requestId: string,
): ErrorMessage {
  const { message, details, resourceId, resourceType, customMessage, related } = options;
  return create(ErrorSchema, {
    code: catalogue[key].http,
    key,
    message: message ?? catalogue[key].message,
    requestId,
    ...(details !== undefined && { details }),
    ...(resourceId !== undefined && { resourceId }),
    ...(resourceType !== undefined && { resourceType }),
    ...(customMessage !== undefined && { error: { message: customMessage } }),
    ...(related !== undefined && {
      relatedObjectIds: [...related.ids],
      relatedObjectType: related.type,
      relatedObjectTotal: related.total,
    }),
  });
}
