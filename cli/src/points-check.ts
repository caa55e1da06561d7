import { type AuditedPointsHold, readPointsHolds } from "@scrip/loyalty/invariants";
import type { Queryable, Violation } from "@scrip/postgres";
import { type PointsRedemption, readPointsRedemptions } from "@scrip/voucher/invariants";

const CHUNK = 1_000;

type Ledgers = { readonly redemptions: Queryable; readonly points: Queryable };

/**
 * Compares the redemptions with the points ledger. References are read after the rows that refer to
 * them: a redemption may wait for its points to be deducted, while they are held; and points may
 * wait to be refunded, while refunded ones belong to a rolled back redemption.
 */
export async function checkPoints(
  ledgers: Ledgers,
  projectId: string,
): Promise<{ readonly checked: number; readonly violations: readonly Violation[] }> {
  const violations: Violation[] = [];
  let checked = 0;
  for (let after: string | undefined = ""; after !== undefined;) {
    const redemptions = await readPointsRedemptions(ledgers.redemptions, projectId, {
      after,
      limit: CHUNK,
    });
    const ids = redemptions.map(({ spendId }) => spendId);
    const holds = byId(await readPointsHolds(ledgers.points, projectId, { ids }));
    for (const one of redemptions) violations.push(...faultOf(one, holds.get(one.spendId)));
    checked += redemptions.length;
    after = redemptions.length < CHUNK ? undefined : redemptions.at(-1)?.id;
  }
  for (let after: string | undefined = ""; after !== undefined;) {
    const holds = await readPointsHolds(ledgers.points, projectId, { after, limit: CHUNK });
    const committed = holds.filter(({ status }) => status === "CONFIRMED");
    const ids = committed.flatMap(({ redemptionId }) => redemptionId ?? []);
    const redemptions = byId(await readPointsRedemptions(ledgers.redemptions, projectId, { ids }));
    for (const hold of committed) {
      violations.push(...orphanOf(hold, redemptions.get(hold.redemptionId ?? "")));
    }
    after = holds.length < CHUNK ? undefined : holds.at(-1)?.id;
  }
  return { checked, violations };
}

const byId = <Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.id, row]));

function faultOf(
  { id: subject, cardId, points }: PointsRedemption,
  hold: AuditedPointsHold | undefined,
): readonly Violation[] {
  const details =
    hold === undefined
      ? "deducted points without a points hold"
      : hold.status === "RETURNED"
        ? "deducted points whose hold was released"
        : hold.points !== points || hold.cardId !== cardId
          ? `deducted ${points} points of ${cardId}, but ${hold.points} of ${hold.cardId} were held`
          : hold.redemptionId !== null && hold.redemptionId !== subject
            ? `deducted points held for ${hold.redemptionId}`
            : undefined;
  return details === undefined ? [] : [{ subject, details }];
}

function orphanOf(
  { id: subject, refunded }: AuditedPointsHold,
  redemption: PointsRedemption | undefined,
): readonly Violation[] {
  if (redemption === undefined || redemption.spendId !== subject) {
    return [{ subject, details: "was committed without a redemption" }];
  }
  if (refunded && redemption.status !== "ROLLED_BACK") {
    return [{ subject, details: `was refunded, but ${redemption.id} was not rolled back` }];
  }
  return [];
}
