export { ERROR_REFERENCE } from "./reference.ts";
export { catalogue, grpcCodeOf, isErrorKey, type ErrorKey } from "./catalogue.ts";
export {
  duplicate,
  inUse,
  invalidPayload,
  notFound,
  ApiError,
  type ApiErrorOptions,
  type RelatedObjects,
  errorToProto,
} from "./api-error.ts";
export { toErrorResponse, type ErrorResponse, errorFromProto, toConnectError } from "./wire.ts";
