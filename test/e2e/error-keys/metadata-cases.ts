import type { ErrorCase } from "./error-case.ts";
import { MINIMAL_BODIES } from "./minimal-bodies.ts";

const METADATA = { metadata: { wrong: "x" } };

/** Requests that read their metadata from the query. */
const QUERIES: Readonly<Record<string, object>> = {
  "ValidationService.ValidateCode": { code: "none", ...METADATA },
  "ValidationService.RedeemCode": { code: "none" },
};

/** A valid body, except that its metadata violates the schema of the resource. */
export const metadataCase = (rpc: string): ErrorCase => ({
  rpc,
  key: "metadata_validation_failed",
  project: "schemas",
  request: {
    query: { ...QUERIES[rpc] },
    body: { ...MINIMAL_BODIES[rpc], ...METADATA },
  },
});
