/** What is left of a voucher: the row that a redemption locks. Amounts are minor units. */
export type VoucherUsage = {
  readonly projectId: string;
  readonly voucherId: string;
  readonly definitionVersion: bigint;
  readonly deleted: boolean;
  /** How often it may be redeemed; null means without limit. */
  readonly quantity: bigint | null;
  readonly redeemedQuantity: bigint;
  /** Gift vouchers only: what was put on the card, and what is left of it. */
  readonly amount: bigint | null;
  readonly balance: bigint | null;
  readonly redeemedAmount: bigint;
  /** Whether sessions may hold some of it; when not, nobody needs to look. */
  readonly reserved: boolean;
  /** Grows with every change of this row. */
  readonly version: bigint;
  /** The number of ledger entries. */
  readonly ledgerVersion: bigint;
};

/** One string for a row that is found by project and something else. */
export const rowKey = (projectId: string, id: string): string => `${projectId}\n${id}`;

/** The voucher after one more redemption that took these credits. */
export const takeFrom = (usage: VoucherUsage, credits: bigint, reserved: boolean): VoucherUsage =>
  move(usage, { uses: 1n, credits, reserved });

/** The voucher after a redemption that took these credits was rolled back. */
export const giveBackTo = (usage: VoucherUsage, credits: bigint): VoucherUsage =>
  move(usage, { uses: -1n, credits: -credits, reserved: usage.reserved });

type Move = { readonly uses: bigint; readonly credits: bigint; readonly reserved: boolean };

// Field by field: this is done for each redemption, and a spread costs several times as much.
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
    // An entry of nothing would say nothing.
    ledgerVersion: credits === 0n ? usage.ledgerVersion : usage.ledgerVersion + 1n,
  };
}
