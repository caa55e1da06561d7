import { ApiError } from "@scrip/errors";

/**
 * An error whose response has no body: revoking an unknown token (docs/authentication.md#tokens).
 */
export class BodilessError extends ApiError {}
