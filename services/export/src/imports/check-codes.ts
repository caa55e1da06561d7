import { ApiError } from "@scrip/errors";
import type { Call } from "@scrip/rpc";

import type { Clients } from "../clients.ts";

/** Codes that one call of the voucher service looks up. */
const CODES_PER_CALL = 10_000;

/** Rejects the request as a whole when codes are missing, repeated, or exist in the project. */
export async function requireNewCodes(
  { voucherImports }: Pick<Clients, "voucherImports">,
  call: Call,
  items: readonly { readonly code?: string | undefined }[],
): Promise<void> {
  const codes = items.flatMap(({ code }) => (code === undefined || code === "" ? [] : [code]));
  const missing = items.length - codes.length;
  if (missing > 0) {
    throw new ApiError("invalid_voucher", {
      details: `Found ${missing} voucher(s) without 'code' value`,
    });
  }
  const { caseSensitiveCodes } = call.project;
  const distinct = new Set(caseSensitiveCodes ? codes : codes.map((code) => code.toLowerCase()));
  let duplicates = BigInt(codes.length - distinct.size);
  const names = [...distinct];
  for (let at = 0; at < names.length; at += CODES_PER_CALL) {
    const { existing } = await voucherImports.countExistingCodes(
      { codes: names.slice(at, at + CODES_PER_CALL) },
      { ...call, idempotency: undefined },
    );
    duplicates += existing;
  }
  if (duplicates === 0n) return;
  throw new ApiError("duplicate_key", { details: `${duplicates} voucher codes(s) already exist.` });
}
