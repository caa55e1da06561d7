import { randomBytes } from "node:crypto";

import { asAdmin } from "@scrip/testing";
import type { Client } from "pg";

import { type Name, NAMES } from "./compositions.ts";

/** Where each service, the gateway and the event log store their data. */
export type OwnDatabases = AsyncDisposable & {
  readonly urls: Readonly<Record<Name | "events", string>>;
  /** Variables with which commands of the CLI find them. */
  readonly env: Readonly<Record<string, string>>;
};

/**
 * A database and a user for each service, the gateway and the event log, set up as docs/operations.md describes: no user
 * may create roles, and each connects to its own database only.
 */
export async function createOwnDatabases(serverUrl: string): Promise<OwnDatabases> {
  const run = randomBytes(4).toString("hex");
  const parts = [...NAMES, "events" as const].map((schema) => ({
    schema,
    name: `own_${run}_${schema}`,
  }));
  await asAdmin(serverUrl, async (client) => {
    for (const { schema, name } of parts) await createOwn(client, schema, name);
  });
  const urls = Object.fromEntries(
    parts.map(({ schema, name }) => [schema, urlOf(serverUrl, name)]),
  ) as OwnDatabases["urls"];
  return {
    urls,
    env: Object.fromEntries(
      Object.entries(urls).map(([schema, url]) => [
        `SCRIP_${schema.toUpperCase()}_DATABASE_URL`,
        url,
      ]),
    ),
    [Symbol.asyncDispose]: () =>
      asAdmin(serverUrl, async (client) => {
        for (const { name } of parts) {
          await client.query(`drop database if exists ${name} with (force)`);
          await client.query(`drop role ${name}`);
        }
      }),
  };
}

async function createOwn(client: Client, schema: string, name: string): Promise<void> {
  await client.query(`create role ${name} login password '${name}'`);
  for (const role of [`scrip_${schema}`, `scrip_${schema}_tenant`]) {
    // The roles are those of all databases of the server.
    await client.query(
      `do $$ begin create role ${role} nologin; exception when duplicate_object or unique_violation then null; end $$`,
    );
    await client.query(`grant ${role} to ${name}`);
  }
  await client.query(`create database ${name} owner ${name}`);
  await client.query(`revoke connect, temporary on database ${name} from public`);
}

const urlOf = (serverUrl: string, name: string): string =>
  Object.assign(new URL(serverUrl), { pathname: `/${name}`, username: name, password: name }).href;
