import { Client } from "pg";

import { exactTypes } from "./exact-types.ts";
import { NO_COMPILATION } from "./planning.ts";
import { withSession } from "./session-url.ts";
import { assertProjectId, PROJECT_SETTING, tenantRoleOf } from "./tenant-role.ts";

type BulkClientOptions = {
  readonly url: string;
  readonly schema: string;
  /** The role of the service. */
  readonly role: string;
  readonly applicationName?: string;
  /** Limit for short statements: a server that takes longer counts as unavailable. Default: no limit. */
  readonly queryTimeoutMs?: number;
};

const CONNECTION_TIMEOUT_MS = 2_000;
const KEEP_ALIVE_AFTER_MS = 60_000;

/** Statement timeout of reads of millions of rows, whose receiver may be slow. */
const BULK_TIMEOUT_MS = 60 * 60_000;

/** A connection that reads the rows of one project. */
export function createBulkClient(
  { url, schema, role, applicationName = schema, queryTimeoutMs }: BulkClientOptions,
  projectId: string,
): Client {
  assertProjectId(projectId);
  return new Client({
    connectionString: withSession(url, {
      role: tenantRoleOf(role),
      [PROJECT_SETTING]: projectId,
      search_path: schema,
      default_transaction_read_only: "on",
      // As the planning "hashJoins": exports join whole projects, whose size the statistics may not know yet.
      enable_nestloop: "off",
      statement_timeout: BULK_TIMEOUT_MS,
      idle_in_transaction_session_timeout: BULK_TIMEOUT_MS,
      ...NO_COMPILATION,
    }),
    application_name: `${applicationName} bulk`,
    connectionTimeoutMillis: CONNECTION_TIMEOUT_MS,
    query_timeout: queryTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    types: exactTypes,
  });
}
