import { EVENTS_MIGRATIONS, EVENTS_ROLE, EVENTS_SCHEMA } from "@scrip/events";

/** Where the tables of a service, or of the event bus, are, as the service defines it. */
export type ServiceSchema = {
  readonly name: string;
  readonly schema: string;
  readonly role: string;
  readonly migrations: string;
};

const SERVICES = {
  gateway: () => import("@scrip/gateway/service"),
  campaign: () => import("@scrip/campaign/service"),
  export: () => import("@scrip/export/service"),
  loyalty: () => import("@scrip/loyalty/service"),
  validation: () => import("@scrip/validation/service"),
  voucher: () => import("@scrip/voucher/service"),
};

/** The services that accept calls over gRPC: the gateway serves HTTP only. */
export const CALLED_SERVICES: readonly string[] = Object.keys(SERVICES).filter(
  (name) => name !== "gateway",
);

/**
 * In the order of migration: the role of the event bus must exist when services grant it their outboxes. Imported on
 * demand: the services load much more than their names.
 */
export async function loadServiceSchemas(): Promise<readonly ServiceSchema[]> {
  const services: ServiceSchema[] = [];
  for (const [name, load] of Object.entries(SERVICES)) {
    const { SCHEMA, ROLE, MIGRATIONS } = await load();
    services.push({ name, schema: SCHEMA, role: ROLE, migrations: MIGRATIONS });
  }
  const bus = {
    name: "events",
    schema: EVENTS_SCHEMA,
    role: EVENTS_ROLE,
    migrations: EVENTS_MIGRATIONS,
  };
  return [bus, ...services];
}
