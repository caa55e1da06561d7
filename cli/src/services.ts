import { EVENTS_MIGRATIONS, EVENTS_ROLE, EVENTS_SCHEMA } from "@scrip/events";

/** Where the tables of a service, or of the event bus, are, as the service defines it. */
export type ServiceSchema = {
  readonly name: string;
  readonly schema: string;
  readonly role: string;
  readonly migrations: string;
};

/**
 * In the order of migration: the role of the event bus must exist when services grant it their outboxes. Imported on
 * demand: the services load much more than their names.
 */
export async function loadServiceSchemas(): Promise<readonly ServiceSchema[]> {
  const modules = {
    gateway: await import("@scrip/gateway/service"),
    campaign: await import("@scrip/campaign/service"),
    export: await import("@scrip/export/service"),
    loyalty: await import("@scrip/loyalty/service"),
    validation: await import("@scrip/validation/service"),
    voucher: await import("@scrip/voucher/service"),
  };
  const services = Object.entries(modules).map(([name, { SCHEMA, ROLE, MIGRATIONS }]) => ({
    name,
    schema: SCHEMA,
    role: ROLE,
    migrations: MIGRATIONS,
  }));
  const bus = {
    name: "events",
    schema: EVENTS_SCHEMA,
    role: EVENTS_ROLE,
    migrations: EVENTS_MIGRATIONS,
  };
  return [bus, ...services];
}
