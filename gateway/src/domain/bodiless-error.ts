import { ApiError } from "@scrip/errors";

/** A refusal that is answered by its status alone: a token that cannot be revoked (spec §1). */
export class BodilessError extends ApiError {}
