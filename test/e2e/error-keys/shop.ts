import { asAdmin } from "@scrip/testing";

import {
  type Api,
  clientApi,
  type Json,
  managementApi,
  newCode,
  serverApi,
} from "../../stack/api.ts";
import { ok } from "../../stack/rule-builders.ts";
import type { Stack } from "../../stack/stack.ts";
import type { ProjectName } from "./project-name.ts";

/** A project, and builders of the resources that provoke errors in it. */
export type Shop = {
  readonly projectId: string;
  readonly api: Api;
  readonly client: Api;
  readonly management: Api;
  readonly keyHeaders: Readonly<Record<string, string>>;
  /** Creates a resource and returns it. */
  readonly create: (path: string, body?: Json) => Promise<Json>;
  readonly voucher: (fields?: Json) => Promise<string>;
  readonly campaign: (fields?: Json) => Promise<Json>;
  readonly promotion: (fields?: Json) => Promise<Json>;
  readonly tier: (fields?: Json, campaign?: Json) => Promise<Json>;
  /** The id of a validation rule with one condition. */
  readonly rule: (name: string, conditions: Json, property?: string) => Promise<string>;
  readonly product: (fields?: Json) => Promise<Json>;
  /** Does the work while another transaction locks the project's rows of the table. */
  readonly whileLocked: <Result>(table: string, work: () => Promise<Result>) => Promise<Result>;
  /** Runs a statement that changes at least one row. */
  readonly sql: (text: string, values: readonly unknown[]) => Promise<void>;
};

export const AMOUNT_OFF = { type: "AMOUNT", amount_off: 100 };
export const PAST = "2020-01-01T00:00:00.000Z";
export const FUTURE = "2999-01-01T00:00:00.000Z";

const SETTINGS: Readonly<Record<ProjectName, Json>> = {
  main: { client_redeem_enabled: true, client_publish_enabled: true },
  closed: { client_redeem_enabled: false, client_publish_enabled: false },
  partial: {},
  qualification: {},
  schemas: { client_redeem_enabled: true },
  sandbox: { sandbox: true },
};

const RESOURCES_WITH_METADATA = [
  "campaign",
  "customer",
  "earning_rule",
  "loyalty_tier",
  "order",
  "order_item",
  "product",
  "promotion_tier",
  "publication",
  "redemption",
  "reward",
  "voucher",
];

export async function createShop(stack: Stack, name: ProjectName): Promise<Shop> {
  const management = managementApi(stack);
  const project = await ok(
    management.post("/management/v1/projects", {
      name,
      client_trusted_domains: ["*"],
      ...SETTINGS[name],
    }),
  );
  const projectPath = `/management/v1/projects/${project["id"]}`;
  if (name === "partial") {
    const settings = { redeemables_application_mode: "PARTIAL" };
    await ok(management.post(`${projectPath}/stacking-rules`, settings));
  }
  for (const resource of name === "schemas" ? RESOURCES_WITH_METADATA : []) {
    const properties = { wrong: { type: "number", optional: true } };
    const schema = { related_object: resource, properties };
    await ok(management.post(`${projectPath}/metadata-schemas`, schema));
  }
  const { app_id: appId, app_token: appToken } = project["server_side_key"];
  const { app_id: clientAppId, app_token: clientToken } = project["client_side_key"];
  const access = { ...stack, keys: { ...stack.keys, appId, appToken, clientAppId, clientToken } };
  const api = await serverApi(access);
  const client = await clientApi(access, "https://shop.example");
  return {
    projectId: project["id"],
    api,
    client,
    management,
    keyHeaders: { "x-app-id": appId, "x-app-token": appToken },
    ...buildersFor(api),
    whileLocked: (table, work) =>
      asAdmin(stack.databaseUrl, async (database) => {
        await database.query("begin");
        const lock = `select 1 from ${table} where project_id = $1 for update`;
        await database.query(lock, [project["id"]]);
        const result = await work();
        await database.query("rollback");
        return result;
      }),
    sql: (text, values) =>
      asAdmin(stack.databaseUrl, async (database) => {
        const { rowCount } = await database.query(text, [...values]);
        if (rowCount === 0) throw new Error(`no row: ${text}`);
      }),
  };
}

function buildersFor(api: Api) {
  const create = (path: string, body: Json = {}): Promise<Json> => ok(api.post(path, body));
  const campaign = (fields: Json = {}): Promise<Json> =>
    create("/v1/campaigns", {
      name: newCode("campaign"),
      voucher: { type: "DISCOUNT_VOUCHER", discount: AMOUNT_OFF },
      ...fields,
    });
  const promotion = (fields: Json = {}): Promise<Json> =>
    campaign({ campaign_type: "PROMOTION", voucher: undefined, ...fields });
  return {
    create,
    campaign,
    promotion,
    async voucher(fields: Json = {}): Promise<string> {
      const defaults = { type: "DISCOUNT_VOUCHER", discount: AMOUNT_OFF };
      return (await create("/v1/vouchers", { code: newCode("CODE"), ...defaults, ...fields }))[
        "code"
      ];
    },
    async tier(fields: Json = {}, of?: Json): Promise<Json> {
      const { id } = of ?? (await promotion());
      const tier = { name: newCode("tier"), action: { discount: AMOUNT_OFF }, ...fields };
      return create(`/v1/promotions/${id}/tiers`, tier);
    },
    async rule(name: string, conditions: Json, property?: string): Promise<string> {
      const condition = { name, conditions, ...(property !== undefined && { property }) };
      const rules = { "1": condition, logic: "1" };
      return (await create("/v1/validation-rules", { name: newCode("rule"), rules }))["id"];
    },
    product: (fields: Json = {}): Promise<Json> =>
      create("/v1/products", { name: "Tea", source_id: newCode("product"), ...fields }),
  };
}
