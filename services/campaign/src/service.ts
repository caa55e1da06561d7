import path from "node:path";

import { newId } from "@scrip/ids";
import { createDatabase, migrate } from "@scrip/postgres";
import type { Service } from "@scrip/rpc";

import { routes } from "./routes.ts";

export const SCHEMA = "campaign";
export const ROLE = "scrip_campaign";
export const MIGRATIONS = path.join(import.meta.dirname, "../migrations");

export type CampaignOptions = {
  readonly databaseUrl: string;
  readonly poolSize: number;
  readonly onError: (error: Error) => void;
};

/** The service without a way to reach it: both compositions mount it. */
export async function createCampaignService(options: CampaignOptions): Promise<Service> {
  const { databaseUrl: url, poolSize, onError } = options;
  await migrate({ url, schema: SCHEMA, role: ROLE, folder: MIGRATIONS });
  const db = createDatabase({ url, schema: SCHEMA, role: ROLE, poolSize, onError });
  return {
    name: "campaign",
    implementations: routes({ db, newId }),
    ready: () =>
      db.query("select 1").then(
        () => true,
        () => false,
      ),
    [Symbol.asyncDispose]: () => db.close(),
  };
}
