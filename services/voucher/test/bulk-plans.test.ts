import type { ProjectQueryable, Queryable, Statement } from "@scrip/postgres";
import { asAdmin } from "@scrip/testing";
import { expect, test } from "vitest";

import { SCHEMA } from "../src/service.ts";
import {
  changeGiftAmounts,
  copyDefinitionVersions,
  markVouchersDeleted,
  mergeMetadata,
  purgeVouchers,
  updateTerms,
} from "../src/store/campaign-vouchers.ts";
import { updateVouchersTogether } from "../src/store/voucher-batch-updates.ts";
import { listVouchers } from "../src/store/voucher-lists.ts";
import { startTestService } from "./deps.ts";

const VOUCHERS = 500;
const ids = Array.from({ length: VOUCHERS }, (_, index) => `v_${index + 1}`).toSorted();
const at = Date.now();
const campaignUpdate = {
  projectId: "young",
  ids,
  now: at,
  change: {
    validity: {},
    metadata: { season: "spring" },
    unsetMetadataFields: [],
    categoryId: "cat_1",
    giftAmount: 5n,
    activityDuration: undefined,
    discount: undefined,
    giftEffect: undefined,
    loyaltyPoints: undefined,
  },
};

const statements: Readonly<Record<string, (tx: ProjectQueryable) => Promise<unknown>>> = {
  "terms of a campaign": (tx) => updateTerms(tx, campaignUpdate),
  "gift amounts": (tx) => changeGiftAmounts(tx, { ...campaignUpdate, amount: 5n }),
  metadata: (tx) => mergeMetadata(tx, campaignUpdate),
  "versions of definitions": (tx) => copyDefinitionVersions(tx, "young", ids),
  "changes of vouchers": (tx) =>
    updateVouchersTogether(tx, "young", { changes: ids.map((id) => ({ id, active: true })), at }),
  "list of vouchers": (tx) =>
    listVouchers(tx, {
      projectId: "young",
      conditions: ["v.campaign_id = $2"],
      values: ["young", "camp_1"],
      order: { by: "created_at", descending: true },
      page: { limit: 10, offset: 0 },
    }),
  deletion: (tx) => markVouchersDeleted(tx, { projectId: "young", ids, at }),
  removal: (tx) => purgeVouchers(tx, "young", ids),
};

// Postgres expects one row of a project that its statistics do not contain, and prefers nested loops.
test.each(Object.entries({ "no other vouchers": 0, "vouchers of other projects": 3_000 }))(
  "bulk writes and lists do not compare each voucher with each other where the statistics know %s",
  async (_, others) => {
    await using service = await startTestService();
    await fill(service.db.url, others, "'other' || n % 40");
    await asAdmin(service.db.url, (client) => client.query("analyze"));
    await fill(service.db.url, VOUCHERS, "'young'");
    const compared: Record<string, number> = {};
    for (const [name, run] of Object.entries(statements)) {
      compared[name] = await service.db.transaction((tx) => rowsCompared(tx, run));
    }
    const excessive = Object.entries(compared).filter(([, rows]) => rows > 10 * VOUCHERS);
    expect(excessive, "rows that joins compared in vain").toEqual([]);
  },
);

/** Runs the statements of `work`, which change the same rows as without explaining them, and adds up their joins. */
async function rowsCompared(
  tx: ProjectQueryable,
  work: (tx: ProjectQueryable) => Promise<unknown>,
): Promise<number> {
  let compared = 0;
  const explained = (own: Queryable): Queryable => ({
    async query(statement: string | Statement, values: readonly unknown[] = []) {
      const each = typeof statement === "string" ? { text: statement, values } : statement;
      const { rows } = await own.query<{ "QUERY PLAN": readonly [{ readonly Plan: PlanNode }] }>({
        ...(each.planning && { planning: each.planning }),
        text: `explain (analyze, format json) ${each.text}`,
        values: each.values,
      });
      const plan = rows[0]?.["QUERY PLAN"][0].Plan;
      if (plan === undefined) throw new Error("no plan");
      compared += comparedIn(plan);
      if (each.text.trimStart().startsWith("select")) return own.query(each);
      // What later statements need of a statement that has written.
      return {
        rows: ids.map((id) => ({ id, voucher_id: id, deleted: false })) as never[],
        rowCount: VOUCHERS,
      };
    },
  });
  await work({
    ...explained(tx),
    inProject: (projectId) => explained(tx.inProject(projectId)),
  });
  return compared;
}

type PlanNode = {
  readonly "Actual Loops": number;
  readonly "Rows Removed by Join Filter"?: number;
  readonly Plans?: readonly PlanNode[];
};

function comparedIn(node: PlanNode): number {
  const own = (node["Rows Removed by Join Filter"] ?? 0) * node["Actual Loops"];
  return (node.Plans ?? []).reduce((sum, child) => sum + comparedIn(child), own);
}

async function fill(url: string, rows: number, project: string): Promise<void> {
  await asAdmin(url, async (client) => {
    await client.query(
      `insert into ${SCHEMA}.voucher (project_id, id, code, code_key, type, campaign_id, discount, metadata,
              asset_id, is_referral_code, created_at, definition_version, publish_count)
       select ${project}, 'v_' || n, 'CODE' || n, 'CODE' || n, 'DISCOUNT_VOUCHER', 'camp_1', '{}', '{}',
              'a', false, now(), 1, 0
         from generate_series(1, ${rows}) n`,
    );
    await client.query(
      `insert into ${SCHEMA}.voucher_usage (project_id, voucher_id, definition_version, quantity,
              redeemed_quantity)
       select ${project}, 'v_' || n, 1, 1, 0 from generate_series(1, ${rows}) n`,
    );
  });
}
