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
    const made = await readPointsRedemptions(ledgers.redemptions, projectId, {
      after,
      limit: CHUNK,
    });
    const ids = made.map(({ spendId }) => spendId);
    const spends = byId(await readPointsHolds(ledgers.points, projectId, { ids }));
    for (const one of made) violations.push(...faultOf(one, spends.get(one.spendId)));
    checked += made.length;
    after = made.length < CHUNK ? undefined : made.at(-1)?.id;
  }
  for (let after: string | undefined = ""; after !== undefined;) {
    const spends = await readPointsHolds(ledgers.points, projectId, { after, limit: CHUNK });
    const taken = spends.filter(({ status }) => status === "CONFIRMED");
    const ids = taken.flatMap(({ redemptionId }) => redemptionId ?? []);
    const made = byId(await readPointsRedemptions(ledgers.redemptions, projectId, { ids }));
    for (const spend of taken) {
      violations.push(...orphanOf(spend, made.get(spend.redemptionId ?? "")));
    }
    after = spends.length < CHUNK ? undefined : spends.at(-1)?.id;
  }
  return { checked, violations };
}

const byId = <Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row> =>
  new Map(rows.map((row) => [row.id, row]));

function faultOf(
  { id: subject, cardId, points }: PointsRedemption,
  spend: AuditedPointsHold | undefined,
): readonly Violation[] {
  const details =
    spend === undefined
      ? "deducted points without a points hold"
      : spend.status === "RETURNED"
        ? "deducted points whose hold was released"
        : spend.points !== points || spend.cardId !== cardId
          ? `deducted ${points} points of ${cardId}, but ${spend.points} of ${spend.cardId} were held`
          : spend.redemptionId !== null && spend.redemptionId !== subject
            ? `deducted points held for ${spend.redemptionId}`
            : undefined;
  return details === undefined ? [] : [{ subject, details }];
}

function orphanOf(
  { id: subject, refunded }: AuditedPointsHold,
  made: PointsRedemption | undefined,
): readonly Violation[] {
  if (made === undefined || made.spendId !== subject) {
    return [{ subject, details: "was committed without a redemption" }];
  }
  if (refunded && made.status !== "ROLLED_BACK") {
    return [{ subject, details: `was refunded, but ${made.id} was not rolled back` }];
  }
  return [];
}
