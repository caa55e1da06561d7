import path from "node:path";

export const EVENTS_SCHEMA = "events";
export const EVENTS_ROLE = "scrip_events";
export const EVENTS_MIGRATIONS = path.join(import.meta.dirname, "../../migrations");
