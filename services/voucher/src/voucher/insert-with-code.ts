import { capacityOf, type CodeMask, generateCode, randomIndex } from "@scrip/codes";
import { ApiError, duplicate } from "@scrip/errors";
import type { Queryable } from "@scrip/postgres";
import type { CreateVoucherRequest } from "@scrip/proto/scrip/voucher/v1/vouchers_pb";
import type { Call } from "@scrip/rpc";

import type { Deps } from "../deps.ts";
import { codeKeyOf } from "../domain/voucher.ts";
import { insertVoucher, type NewVoucher } from "../store/voucher-writes.ts";
import { isUsableCode, requireUsableCode } from "./check-request.ts";
import type { VoucherDraft } from "./new-voucher.ts";

/** Generated codes that may collide with existing ones before the config counts as exhausted. */
const MAX_ATTEMPTS = 100;

export type VoucherCreation = {
  readonly request: CreateVoucherRequest;
  readonly call: Call;
  readonly draft: VoucherDraft;
  /** The mask to generate a code from when the request has none. */
  readonly mask: () => CodeMask;
};

/** Stores the voucher with the requested code, or with a generated one (docs/campaigns.md#codes). */
export async function insertWithCode(
  db: Queryable,
  deps: Pick<Deps, "assets">,
  creation: VoucherCreation,
): Promise<NewVoucher> {
  const { code } = creation.request;
  if (code !== undefined) {
    requireUsableCode(code);
    const voucher = withCode(deps, creation, code);
    if ((await insertVoucher(db, voucher)) === "inserted") return voucher;
    throw duplicate("voucher", "id", code);
  }
  const mask = creation.mask();
  const capacity = capacityOf(mask);
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
    const generated = generateCode(mask, randomIndex);
    if (isUsableCode(generated)) {
      const voucher = withCode(deps, creation, generated);
      if ((await insertVoucher(db, voucher)) === "inserted") return voucher;
    }
    if (capacity === 1n) break;
  }
  throw new ApiError("invalid_code_config", {
    details: `Code config allows to generate up to ${capacity} unique codes, and no free one was found`,
  });
}

function withCode(
  { assets }: Pick<Deps, "assets">,
  { call, draft }: VoucherCreation,
  code: string,
): NewVoucher {
  const { quantity, amount, ...rest } = draft;
  return {
    codeKey: codeKeyOf(code, call.project.caseSensitiveCodes),
    quantity,
    amount,
    definition: { ...rest, code, assetId: assets.seal(call.project.id, code) },
  };
}
