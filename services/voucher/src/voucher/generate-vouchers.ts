import { setImmediate as yieldToRequests } from "node:timers/promises";

import {
  allCodesOf,
  capacityOf,
  type CodeMask,
  generateCode,
  randomIndex,
  sampleOf,
} from "@scrip/codes";
import { ApiError } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";

import type { Deps } from "../deps.ts";
import { codeKeyOf } from "../domain/voucher.ts";
import { findTakenKeys, insertGenerated } from "../store/generated-vouchers.ts";
import type { VoucherIdentity } from "../store/voucher-writes.ts";
import { isUsableCode } from "./check-request.ts";
import type { VoucherDraft } from "./new-voucher.ts";

/** Draws of one code that may hit existing codes before the job fails. */
const MAX_ROUNDS = 100;

/** Up to this capacity, the free codes are listed instead of drawing until one is free. */
const MAX_LISTED_CODES = 65_536n;

/** Rows of one statement. The next ones are prepared concurrently. */
const CHUNK = 500;

/**
 * Steps of the preparation, between which requests have their turn: a redemption waits for about ten of them. Sorting the
 * codes and sending a statement take one to three milliseconds, and listing the codes of a small mask some more.
 */
const STEP_MS = 0.5;

/** After half a second in a busy process, steps are longer: the transaction holds locks. */
const PATIENCE_MS = 500;
const LATE_STEP_MS = 5;

export type Generation = {
  readonly draft: VoucherDraft;
  readonly mask: CodeMask;
  readonly count: number;
  readonly caseSensitive: boolean;
};

/** Inserts `count` vouchers with generated codes that are unique in the project, or throws `invalid_code_config`. */
export async function generateVouchers(
  tx: Queryable,
  deps: Pick<Deps, "assets" | "newId">,
  generation: Generation,
): Promise<void> {
  const { count, mask } = generation;
  const isListed = capacityOf(mask) <= MAX_LISTED_CODES;
  const steps = createSteps();
  let missing = count;
  for (let round = 0; round < MAX_ROUNDS && missing > 0; round += 1) {
    const codes = isListed
      ? await pickFreeCodes(tx, generation, missing)
      : await drawCodes(generation, missing, steps);
    if (codes.size === 0) break;
    missing -= await insert(tx, deps, { generation, codes, steps });
  }
  if (missing === 0) return;
  throw new ApiError("invalid_code_config", {
    details: `Code config allows to generate up to ${capacityOf(mask)} unique codes, and no free one was found`,
  });
}

/** By key, each once. */
type Codes = ReadonlyMap<string, string>;

async function drawCodes(
  { mask, caseSensitive }: Generation,
  count: number,
  steps: Steps,
): Promise<Codes> {
  const codes = new Map<string, string>();
  while (codes.size < count) {
    const code = generateCode(mask, randomIndex);
    if (isUsableCode(code)) codes.set(codeKeyOf(code, caseSensitive), code);
    if (steps.isOver()) await steps.next();
  }
  return codes;
}

type Steps = ReturnType<typeof createSteps>;

/** Divides long work into steps, between which requests have their turn. */
function createSteps() {
  const late = performance.now() + PATIENCE_MS;
  let begun = performance.now();
  return {
    isOver() {
      const now = performance.now();
      return now - begun >= (now < late ? STEP_MS : LATE_STEP_MS);
    },
    async next() {
      await yieldToRequests();
      begun = performance.now();
    },
  };
}

/** Another transaction may take one of them before they are inserted; the next round picks others. */
async function pickFreeCodes(
  tx: Queryable,
  { mask, caseSensitive, draft }: Generation,
  count: number,
): Promise<Codes> {
  const usable = allCodesOf(mask).filter(isUsableCode);
  const all = new Map(usable.map((code) => [codeKeyOf(code, caseSensitive), code]));
  for (const key of await findTakenKeys(tx, draft.projectId, [...all.keys()])) all.delete(key);
  return new Map(sampleOf([...all], count, randomIndex));
}

/** Prepares the next rows while Postgres inserts the ones before. */
async function insert(
  tx: Queryable,
  { assets, newId }: Pick<Deps, "assets" | "newId">,
  {
    generation,
    codes,
    steps,
  }: { readonly generation: Generation; readonly codes: Codes; readonly steps: Steps },
): Promise<number> {
  const { draft: terms } = generation;
  const inserts: Promise<number>[] = [];
  // Sorted, so that concurrent slices wait for each other; only those in a later round can deadlock, and are repeated.
  const all = [...codes].toSorted(([one], [other]) => (one < other ? -1 : 1));
  await steps.next();
  for (let first = 0; first < all.length; first += CHUNK) {
    const identities: VoucherIdentity[] = [];
    for (const [codeKey, code] of all.slice(first, first + CHUNK)) {
      const assetId = assets.seal(terms.projectId, code);
      identities.push({ id: newId("v"), code, codeKey, assetId });
      if (steps.isOver()) await steps.next();
    }
    const inserted = insertGenerated(tx, { terms, identities });
    // Awaited below; a failure must not end the process before.
    inserted.catch(() => {});
    inserts.push(inserted);
    await steps.next();
  }
  const counts = await Promise.all(inserts);
  return counts.reduce((sum, count) => sum + count, 0);
}
