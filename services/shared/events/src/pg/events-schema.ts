import path from "node:path";

import type { TableReader } from "@scrip/postgres";

export const EVENTS_SCHEMA = "events";
export const EVENTS_ROLE = "scrip_events";
export const EVENTS_MIGRATIONS = path.join(import.meta.dirname, "../../migrations");

/** Consumers of the log read the outboxes of services in the same database. */
export const OUTBOX_READER: TableReader = { role: EVENTS_ROLE, tables: ["outbox"] };
