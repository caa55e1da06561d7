/**
 * A minimal model of vouchers, campaigns, sessions and redemptions as an API caller sees them.
 * It stores no counters: all figures are derived from the redemptions that were not rolled back.
 */
export type State = {
  readonly campaigns: readonly Campaign[];
  readonly vouchers: readonly Voucher[];
  readonly locks: readonly Lock[];
  readonly redemptions: readonly Redemption[];
};

/** A validation rule allows `limit` redemptions in total. */
export type Campaign = { readonly limit: number };

export type Voucher = {
  /** An amount discount of `off`, or a gift card loaded with `loaded` credits. */
  readonly gives: { readonly off: number } | { readonly loaded: number };
  readonly quantity: number | null;
  readonly active: boolean;
  readonly campaign: number | null;
  /** Minimum order amount, enforced by a validation rule. */
  readonly minimum: number | null;
};

export type Lock = { readonly key: string; readonly voucher: number; readonly credits: number };
export type Part = { readonly voucher: number; readonly credits: number };
export type Redemption = { readonly parts: readonly Part[]; readonly rolledBack: boolean };

/** Vouchers and campaigns are identified by their position. */
export type Request = {
  readonly vouchers: readonly number[];
  readonly amount: number;
  readonly key: string | null;
  /** Requested from each gift card; null: as many as are available. */
  readonly credits: number | null;
};

export type Evaluation = {
  /** Error of the first voucher that does not apply; null when all apply. */
  readonly error: ErrorKey | null;
  /** The vouchers before it, as they would be redeemed. */
  readonly parts: readonly Part[];
  readonly discount: number;
};

export type ErrorKey =
  | "voucher_disabled"
  | "quantity_exceeded"
  | "order_rules_violated"
  | "redemption_rules_violated"
  | "gift_amount_exceeded";

export const EMPTY: State = { campaigns: [], vouchers: [], locks: [], redemptions: [] };

/** Evaluates the vouchers in order; all apply or none (docs/stacking.md#algorithm). */
export function evaluate(state: State, request: Request): Evaluation {
  let evaluation: Evaluation = { error: null, parts: [], discount: 0 };
  for (const voucher of request.vouchers) {
    evaluation = evaluateNext(state, request, { before: evaluation, voucher });
    if (evaluation.error !== null) return evaluation;
  }
  return evaluation;
}

function evaluateNext(
  state: State,
  { amount, key, credits }: Request,
  { before, voucher }: { readonly before: Evaluation; readonly voucher: number },
): Evaluation {
  const { gives, quantity, active, campaign, minimum } = state.vouchers[voucher]!;
  const fail = (error: ErrorKey): Evaluation => ({ ...before, error });
  const others = state.locks.filter((lock) => lock.voucher === voucher && lock.key !== key);
  const left = amount - before.discount;

  if (!active) return fail("voucher_disabled");
  if (quantity !== null && usesOf(state, voucher) + others.length >= quantity) {
    return fail("quantity_exceeded");
  }
  if (minimum !== null && left < minimum) return fail("order_rules_violated");
  if (campaign !== null && !hasRoom(state, campaign, before.parts)) {
    return fail("redemption_rules_violated");
  }
  if ("off" in gives) return apply(before, voucher, { credits: 0, off: Math.min(gives.off, left) });
  const free = balanceOf(state, voucher) - sum(others.map((lock) => lock.credits));
  if (credits !== null && credits > free) return fail("gift_amount_exceeded");
  const spent = Math.min(credits ?? free, left);
  return apply(before, voucher, { credits: spent, off: spent });
}

const apply = (
  { parts, discount }: Evaluation,
  voucher: number,
  { credits, off }: { readonly credits: number; readonly off: number },
): Evaluation => ({
  error: null,
  parts: [...parts, { voucher, credits }],
  discount: discount + off,
});

function hasRoom(state: State, campaign: number, parts: readonly Part[]): boolean {
  const isOfCampaign = ({ voucher }: Part): boolean =>
    state.vouchers[voucher]?.campaign === campaign;
  const uses = [...activePartsOf(state), ...parts].filter(isOfCampaign).length;
  return uses + 1 <= state.campaigns[campaign]!.limit;
}

const activePartsOf = (state: State): readonly Part[] =>
  state.redemptions.flatMap(({ parts, rolledBack }) => (rolledBack ? [] : parts));

export const usesOf = (state: State, voucher: number): number =>
  activePartsOf(state).filter((part) => part.voucher === voucher).length;

/** Zero for a voucher that is not a gift card. */
export function balanceOf(state: State, voucher: number): number {
  const { gives } = state.vouchers[voucher]!;
  const own = activePartsOf(state).filter((part) => part.voucher === voucher);
  return "loaded" in gives ? gives.loaded - sum(own.map(({ credits }) => credits)) : 0;
}

/** Replaces the locks of the session. */
export const lock = (state: State, key: string, parts: readonly Part[]): State => ({
  ...state,
  locks: [...withoutKey(state, key), ...parts.map((part) => ({ ...part, key }))],
});

export const redeem = (state: State, { key }: Request, parts: readonly Part[]): State => ({
  ...state,
  locks: key === null ? state.locks : withoutKey(state, key),
  redemptions: [...state.redemptions, { parts, rolledBack: false }],
});

export const change = <Item>(items: readonly Item[], at: number, to: Partial<Item>): Item[] =>
  items.map((item, position) => (position === at ? { ...item, ...to } : item));

const withoutKey = ({ locks }: State, key: string): Lock[] =>
  locks.filter((one) => one.key !== key);

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);
