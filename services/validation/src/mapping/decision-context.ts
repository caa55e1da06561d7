import type { Category } from "@scrip/proto/scrip/common/v1/category_pb";
import type { Customer } from "@scrip/proto/scrip/common/v1/customer_pb";
import type { Order } from "@scrip/proto/scrip/common/v1/order_pb";
import type { StoredCustomer } from "@scrip/proto/scrip/loyalty/v1/customers_pb";
import type { CommitOutcome, LoadedVoucher } from "@scrip/proto/scrip/voucher/v1/redemptions_pb";

import type { CatalogueLine } from "../domain/catalogue/product-collections.ts";
import type { DecisionRequest, Omissions } from "../domain/decide.ts";
import type { StackingRules } from "../domain/stacking/stacking-rules.ts";
import type { RedeemableInput, DecisionInput } from "./decision-input.ts";
import type { Promotions } from "./promotions.ts";
import type { LoadedRedeemables } from "./redeemables.ts";

/** The redeemables of a request as they are stored: read again each time it is decided. */
export type ResolvedRedeemables = {
  /** Stacks are replaced by their tiers. */
  readonly refs: readonly RedeemableInput[];
  /** By the code or id that was sent. */
  readonly vouchers: ReadonlyMap<string, LoadedVoucher>;
  readonly promotions: Promotions;
  /** What the idempotency key was answered before. */
  readonly storedOutcome: CommitOutcome | undefined;
};

/** What stays the same however often a request is decided. */
export type RequestContext = {
  readonly input: DecisionInput;
  readonly requestedCustomer: Customer | undefined;
  readonly customer: StoredCustomer | undefined;
  readonly stored: Order | null;
  /** What the catalogue knows of the lines of the order. */
  readonly lines: readonly CatalogueLine[];
  readonly stacking: StackingRules;
  /** Whether to tell how it was decided. */
  readonly trace: boolean;
  /** What is not asked; nothing is counted then. */
  readonly omits?: Omissions;
};

/** What a decision was made on, and what its answer is written from. */
export type DecisionContext = RequestContext &
  ResolvedRedeemables & {
    readonly request: DecisionRequest;
    /** Of loyalty cards, by the ids of their vouchers. */
    readonly cards: LoadedRedeemables["cards"];
    /** Of the redeemables, by id; only where the answer shows them or their hierarchy counts. */
    readonly categories: ReadonlyMap<string, Category>;
  };
