/** The counters of a voucher: the row that a redemption locks. Amounts are minor units. */
export type VoucherUsage = {
  readonly projectId: string;
  readonly voucherId: string;
  readonly definitionVersion: bigint;
  readonly deleted: boolean;
  /** Maximum number of redemptions; null means unlimited. */
  readonly quantity: bigint | null;
  readonly redeemedQuantity: bigint;
  /** Gift vouchers only: the amount that was loaded, and the remaining balance. */
  readonly amount: bigint | null;
  readonly balance: bigint | null;
  readonly redeemedAmount: bigint;
  /** Whether sessions may hold locks on it; when false, their locks need not be read. */
  readonly reserved: boolean;
  /** Incremented with every change of this row. */
  readonly version: bigint;
  /** The number of ledger entries. */
  readonly ledgerVersion: bigint;
};

/** Map key of a row that is identified by its project and an id. */
export const rowKey = (projectId: string, id: string): string => `${projectId}\n${id}`;

/** The usage after one more redemption that took these credits. */
export const usageAfterRedemption = (
  usage: VoucherUsage,
  credits: bigint,
  reserved: boolean,
): VoucherUsage => move(usage, { uses: 1n, credits, reserved });

/** The usage after a redemption that took these credits was rolled back. */
export const usageAfterRollback = (usage: VoucherUsage, credits: bigint): VoucherUsage =>
  move(usage, { uses: -1n, credits: -credits, reserved: usage.reserved });

type Move = { readonly uses: bigint; readonly credits: bigint; readonly reserved: boolean };

// Field by field: this runs for each redemption, and a spread costs several times as much.
function move(usage: VoucherUsage, { uses, credits, reserved }: Move): VoucherUsage {
  return {
    projectId: usage.projectId,
    voucherId: usage.voucherId,
    definitionVersion: usage.definitionVersion,
    deleted: usage.deleted,
    quantity: usage.quantity,
    redeemedQuantity: usage.redeemedQuantity + uses,
    amount: usage.amount,
    balance: usage.balance === null ? null : usage.balance - credits,
    redeemedAmount: usage.redeemedAmount + credits,
    reserved,
    version: usage.version + 1n,
    // Zero credits write no ledger entry.
    ledgerVersion: credits === 0n ? usage.ledgerVersion : usage.ledgerVersion + 1n,
  };
}

/** The counters of a gift voucher. */
export type GiftUsage = VoucherUsage & { readonly amount: bigint; readonly balance: bigint };

/** The usage after credits were added, or removed when `change` is negative. */
export const usageAfterAdjustment = (usage: GiftUsage, change: bigint): GiftUsage => ({
  ...usage,
  amount: usage.amount + change,
  balance: usage.balance + change,
  version: usage.version + 1n,
  ledgerVersion: usage.ledgerVersion + 1n,
});
